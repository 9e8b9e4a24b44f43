"""The whole of Alg. 4: what it pays, what its recovery noise is, what it may know, and what it finds."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import numpy as np
import pytest

from dpviz.algorithms.balcan2017.balcan import CARD, CandidatesStep, SwapStep
from dpviz.algorithms.balcan2017.projection import draw_gaussian_frame, draw_orthonormal_frame, project
from dpviz.algorithms.steps import CentersStep
from dpviz.core.domain import Domain
from dpviz.core.private_session import PrivateTable
from dpviz.runs.clipped_rows import clip_rows
from dpviz.runs.evaluation import find_reference, nicv
from dpviz.runs.one_run import Run, run
from tests.cases import for_each
from tests.contract.sessions import open_seeded
from tests.contract.tables import make_blobs, make_small_table
from tests.sequential import usually


def steps_of(made: Run, kind: type) -> list:
    return [frame.step for frame in made.frames if isinstance(frame.step, kind)]


def entries_of(made: Run, note: str) -> list:
    return [entry for entry in made.entries if entry.note.startswith(note)]


@for_each(
    ("dim", "n", "preset", "p"),
    [(6, 10**5, "practical", 6), (7, 10**5, "practical", 7), (100, 10**5, "practical", 8), (100, 1, "practical", 2),
     (5, 10**5, "paper", 5), (6, 10**5, "paper", 5), (100, 10**5, "paper", 5), (100, 2, "paper", 1)],
)  # fmt: skip
def test_dimensions_follow_the_rule(dim, n, preset, p):
    made = run(
        CARD, make_small_table(make_blobs(30, dim), n_public=n), k=1, epsilon=9, params={"preset": preset}, seed=0
    )
    step = steps_of(made, CandidatesStep)[0]
    assert step.candidates.shape[1] == p
    assert (step.frame is None) == (p == dim)


@for_each("frame_of", [draw_orthonormal_frame, draw_gaussian_frame])
def test_projections_keep_squared_norms_on_average(frame_of):
    rng = np.random.default_rng(0)
    x = np.r_[3.0, np.zeros(19)]
    squared = [((frame_of(5, 20, rng) @ x) ** 2).sum() for _ in range(2000)]
    assert np.mean(squared) == pytest.approx(9.0, rel=0.06)


def test_lifted_centres_project_back():
    session = open_seeded(make_small_table(make_blobs(10, 9)))
    view = project(session, draw_orthonormal_frame(3, 9, np.random.default_rng(1)))
    centers = np.random.default_rng(2).uniform(-0.3, 0.3, (4, 3))
    np.testing.assert_allclose(view.lift(centers, session.region) @ view.frame.T, centers, atol=1e-12)


def test_with_nothing_to_swap_the_means_get_the_share():
    # Four rows never reach a threshold: the root and sphere packing give exactly k candidates.
    table = make_small_table(np.zeros((4, 2)), n_public=5000)
    made = run(CARD, table, k=6, epsilon=0.2, seed=0)
    assert len(steps_of(made, CandidatesStep)[0].candidates) == 6
    assert not steps_of(made, SwapStep)
    start = steps_of(made, CentersStep)[0].previous
    np.testing.assert_array_equal(
        np.unique(start, axis=0), np.unique(steps_of(made, CandidatesStep)[0].candidates, axis=0)
    )
    means = sum(e.epsilon for name in ("recovery", "polishing") for e in entries_of(made, name))
    assert means == pytest.approx(0.2 * 0.7)


def test_more_rows_feed_more_polishing():
    def rounds(n: int, **params) -> int:
        return len(
            steps_of(run(CARD, make_small_table(n_public=n), k=3, epsilon=1.0, params=params, seed=0), CentersStep)
        )

    assert [rounds(10), rounds(10**6)] == [2, 4]
    assert rounds(10**6, polishing=0) == 1


def test_parameters_are_obeyed():
    asked = {"dimensions": 2, "shifts": 3, "levels": 4, "swaps": 5, "polishing": 1}
    made = run(CARD, make_small_table(make_blobs(500, 4), n_public=500), k=3, epsilon=50.0, params=asked, seed=0)
    assert [len(entries_of(made, name)) for name in ("tree 3", "tree 4", "swap", "polishing 1")] == [4, 0, 5, 2]
    assert steps_of(made, CandidatesStep)[0].candidates.shape[1] == 2
    assert not steps_of(run(CARD, make_small_table(), k=3, epsilon=50.0, params={"swaps": 0}, seed=0), SwapStep)


@pytest.mark.some(1)
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_fifteen_clusters_at_epsilon_two(delta):
    rows = np.loadtxt(Path(__file__).parents[3] / "sample_data" / "fifteen.csv", delimiter=",", skiprows=1)[:, :2]
    table = PrivateTable(rows, Domain.of(["x", "y"], 0, 1000), n_public=len(rows))
    revealed = clip_rows(table.reveal(note="test"), table.domain.region)
    best = find_reference(revealed, 15).nicv
    done = (run(CARD, table, k=15, epsilon=2, delta=delta, seed=seed) for seed in count())
    assert usually(nicv(revealed.points, made.unit_centers) / best < 2.0 for made in done)
