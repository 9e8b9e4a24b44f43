"""Where noise vanishes a private algorithm is its non-private twin."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from dpviz.algorithms.card import Level
from dpviz.runs.advice.judgement import Judgement
from dpviz.runs.audits.contract import run_card
from dpviz.runs.clipped_rows import clip_rows
from dpviz.runs.evaluation import find_reference, nicv
from dpviz.runs.request import Contender, Request
from tests.contract.checks import collect_frames
from tests.contract.tables import SETTINGS, NeighborSetting, in_turn, make_blobs, named

HUGE = 1e9


def _skip_what_is_hopeless(card, params, table, **request):
    """A twin is asked for where the card itself does not call its setting hopeless, and of what averages rows."""
    if (card.id, params.get("preset")) == ("kvariates", "local"):
        pytest.skip("a seed is a row under noise, and no mean: tests/algorithms/baselines has its twin")
    regime = Judgement.of(card, Request(Contender.of(card), **request).make_setting(table), card.params.parse(params))
    if regime.level is Level.RED:
        pytest.skip(f"hopeless by its own message: {regime.message}")


def plain_lloyd(rows: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """One round of Lloyd's iteration, written down naively; an empty cluster keeps its centre."""
    moved = centers.copy()
    nearest = [int(np.argmin(((row - centers) ** 2).sum(axis=1))) for row in rows]
    for j in range(len(centers)):
        mine = rows[np.array(nearest) == j]
        if len(mine):
            moved[j] = mine.mean(axis=0)
    return moved


LLOYDS = [setting for setting in SETTINGS if setting[0].id in ("dplloyd", "sulq")]


@pytest.mark.parametrize(("card", "params", "delta"), LLOYDS, ids=named)
def test_noisy_lloyd_is_lloyd(card, params, delta):
    table = NeighborSetting("ball", n_public=300, radius=0.9).table(make_blobs(300, k=4, seed=3))
    frames = collect_frames(card, table, k=4, epsilon=HUGE, delta=delta, params={**params, "rounds": 5}, seed=2)
    assert len([frame.step.centers for frame in frames]) == 6
    revives = card.id == "dplloyd" and params["preset"] != "su"
    for before, after in pairwise(frames):
        # ``previous`` is where a round starts: idle centres have been revived by then.
        start = after.step.previous
        np.testing.assert_allclose(after.step.centers, plain_lloyd(table._rows.values, start), atol=1e-3)
        busy = before.step.noisy_counts is None or before.step.noisy_counts.min() >= 0.1 * 300 / 4
        if busy or not revives:
            np.testing.assert_array_equal(start, before.step.centers)


@cache
def separated() -> tuple[np.ndarray, float]:
    """Rows in three far clusters, and the loss of k-means++ on them."""
    rng = np.random.default_rng(1)
    middles = np.array([[-0.6, -0.6], [0.6, 0.6], [-0.6, 0.6]])
    rows = middles[rng.integers(0, 3, 3000)] + rng.normal(0, 0.05, (3000, 2))
    table = NeighborSetting("public", n_public=3000).table(rows)
    return rows, find_reference(clip_rows(table.reveal(note="test"), table.domain.region), 3).nicv


@pytest.mark.parametrize(("card", "params", "delta"), in_turn(1), ids=named)
def test_without_noise_well_separated_clusters_are_found_at_the_best_of_some_starts(card, params, delta):
    rows, best = separated()
    table = NeighborSetting("public", n_public=3000).table(rows)
    _skip_what_is_hopeless(card, params, table, k=3, epsilon=50.0, delta=delta)
    runs = (run_card(card, table, k=3, epsilon=50.0, delta=delta, params=params, seed=seed) for seed in range(4))
    assert any(nicv(rows, run.centers) <= 1.3 * best for run in runs)
