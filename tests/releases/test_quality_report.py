"""The quality report says how near rows lie, and what released values say against the centres."""

from __future__ import annotations

import re

import numpy as np
import pytest

import dpviz.releases.segments
from dpviz.core.domain import Region
from dpviz.releases.segments import (
    Scales,
    _judge,
    ask_segments,
    compute_cost_of_sparing_one,
    draw_blind_centers,
    estimate_far_rows,
)
from dpviz.releases.segments_report import QualityVerdict, describe_quality
from dpviz.releases.tallies import bound_ratio
from tests.cases import about
from tests.contract.sessions import open_seeded
from tests.releases.segment_tables import clustered_only

MIDDLES = np.array([[-0.6, -0.6], [0.6, 0.6], [0.6, -0.6]])


def _groups(*sizes: int, width: float = 0.03) -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.concatenate(
        [middle + width * rng.normal(size=(size, 2)) for middle, size in zip(MIDDLES, sizes, strict=True)]
    )


def _report(rows, centers, *, epsilon=1.0, seed=0, **more):
    table = clustered_only(rows)
    return ask_segments(
        open_seeded(table.private, epsilon=epsilon, seed=seed), centers, table.description, **more
    ).quality_report


def _revealed(rows, centers):
    return ((rows[:, None] - centers) ** 2).sum(axis=2).min(axis=1).mean()


def test_the_ratio_is_near_the_revealed_one():
    rows = _groups(4000, 3000, 2000, width=0.15)
    revealed = _revealed(rows, MIDDLES) / _revealed(rows, rows.mean(axis=0)[None])
    for seed in range(4):
        said = _report(rows, MIDDLES, epsilon=0.5, seed=seed)
        with about(seed):
            assert said.ratio.value == pytest.approx(revealed, rel=0.1)
            assert said.verdict is QualityVerdict.GOOD
            assert sum("as far" in words for words in describe_quality(said)) == 2
            assert said.ratio_blind.value > said.ratio.value
            assert said.released.low < said.released.value < said.released.high


# Two of the centres share the largest group, and nobody serves the smallest one.
MISSED = np.array([[-0.62, -0.6], [-0.58, -0.6], [0.6, 0.6]])
RESOURCES = MIDDLES + np.array([[0, 0], [0, 0], [0.3, 0.1]])


@pytest.mark.parametrize(("centers", "word"), [(MISSED, "missed"), (RESOURCES, "beside")], ids=["missed", "beside"])
def test_a_missed_group_and_a_centre_beside_its_rows_are_flagged(centers, word):
    for seed in range(4):
        said = _report(_groups(9000, 3000, 600), centers, epsilon=0.5, seed=seed)
        with about(seed):
            assert said.verdict is QualityVerdict.POOR and any(word in words for words in said.words)


def test_noise_of_the_centres_themselves_is_flagged():
    rows, noise_sd = _groups(9000, 3000, 6000), np.full(3, 0.05)
    said = _report(rows, MIDDLES + 0.05, epsilon=2.0, center_noise_sd=noise_sd)
    # Of 2 · 0.05² + 2 · 0.03², which a row lies from its centre, squared, 0.005.
    assert said.verdict is QualityVerdict.POOR and re.match(
        "About 7. % of the loss is noise of the centres", said.words[0]
    )
    assert _report(rows, MIDDLES, epsilon=2.0, center_noise_sd=noise_sd / 50).verdict is QualityVerdict.GOOD


def test_rows_anywhere_are_no_missed_group():
    rng = np.random.default_rng(1)
    rows = np.r_[_groups(3000, 3000, 3000), rng.uniform(-1, 1, (4500, 2))]
    assert _report(rows, MIDDLES, epsilon=2.0).verdict is QualityVerdict.GOOD


def test_where_a_group_could_hide_nothing_is_said():
    for seed in range(4):
        said = _report(_groups(900, 300, 5), MIDDLES, epsilon=0.1, seed=seed)
        assert said.verdict is QualityVerdict.CANNOT_TELL
        assert (*describe_quality(said),) == said.words, "no ratio of noise is printed"


@pytest.mark.parametrize(("rows", "idle"), [(5.0, True), (90.0, False)])
def test_an_idle_centre_is_named_where_a_group_may_have_been_missed(rows, idle):
    edges, counts, sizes = 2.0 ** (np.arange(-40, 5) / 2), np.zeros((3, 44)), np.array([900.0, 900.0, rows])
    counts[:, 20] = sizes
    centers = np.array([[-0.6, -0.6], [0.6, 0.6], [0.6, 0.5]])
    verdict, words = _judge(4.0, 3.0, Scales(counts, edges, 1.0, counts != 0), centers, sizes, 0.5, None)
    assert verdict is QualityVerdict.CANNOT_TELL and len(words) == 1 + idle


def test_a_bin_far_out_counts_where_it_stands_out_by_itself():
    edges, counts = np.arange(9.0), np.array([[90.0, 60, 9, 0, 0, 0, 55, 0]])
    found = Scales(np.where(counts == 0, 1e-9, counts), edges, 10.0, counts >= 0).mass
    np.testing.assert_allclose(found, [[90.0, 60, 0, 0, 0, 0, 0, 0]], atol=1e-6)
    counts[0, 6:] = 65.0, -9.0
    assert Scales(counts, edges, 10.0, counts != 0).mass[0, 6] == 65.0


def test_the_cheapest_centre_to_spare():
    centers = np.array([[0.0, 0], [0.1, 0], [1.0, 0]])
    assert compute_cost_of_sparing_one(np.array([100.0, 50, 1]), centers) == pytest.approx(50 * 100 / 150 * 0.01)
    assert compute_cost_of_sparing_one(np.array([100.0, 0, 50]), centers) == 0
    assert compute_cost_of_sparing_one(np.array([100.0]), centers[:1]) == np.inf


def test_far_rows_stand_apart_from_noise_alone():
    edges, rng, found = 2.0 ** (np.arange(-40, 5) / 2), np.random.default_rng(0), []
    for _ in range(200):
        counts = np.zeros((4, 44))
        counts[:, 18:23] = 500
        noisy = Scales(counts + rng.laplace(0, 20, counts.shape), edges, 20 * 2**0.5, counts >= 0)
        found.append(max(estimate_far_rows(noisy, np.full(4, 2500.0))))
    assert np.mean(np.array(found) > 0) < 0.1


def test_of_rows_that_lie_far_together_only_what_noise_leaves_sure_is_counted():
    edges, counts = 2.0 ** (np.arange(-40, 5) / 2), np.zeros((2, 44))
    counts[:, 20], counts[0, 40] = 2_000.0, 300.0
    beside, missed = estimate_far_rows(Scales(counts, edges, 10.0, counts != 0), np.array([2_300.0, 2_000.0]))
    assert beside == 0.0
    # Two bins have the noise of both; in nine of ten draws that is below 1.3 standard deviations.
    assert missed == pytest.approx((300 - 1.3 * np.sqrt(2) * 10) * edges[41])


def test_blind_centres_know_no_row_and_are_the_same_for_everybody():
    region = Region(np.ones(3), 1.2)
    one, other = draw_blind_centers(5, region), draw_blind_centers(5, region)
    np.testing.assert_array_equal(one, other)
    assert one.shape == (5, 3)


def test_the_verdict_is_about_the_loss_of_the_released_centres(monkeypatch):
    losses, judged = [], []
    ask, judge = dpviz.releases.segments.cap_losses, dpviz.releases.segments._judge
    monkeypatch.setattr("dpviz.releases.segments.cap_losses", lambda *a: losses.append(ask(*a)) or losses[-1])
    monkeypatch.setattr("dpviz.releases.segments._judge", lambda *a: judged.append(a[:2]) or judge(*a))
    quality_report = _report(_groups(900, 300, 300), MIDDLES)
    values, sds = losses[0].values, losses[0].sds
    assert len({*sds}) == 3
    assert judged == [(values[0], sds[0])]
    assert quality_report.ratio == bound_ratio(values[0], sds[0], values[1], sds[1])
    assert quality_report.ratio_blind == bound_ratio(values[2], sds[2], values[1], sds[1])
