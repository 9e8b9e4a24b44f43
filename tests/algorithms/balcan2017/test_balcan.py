"""The whole of Alg. 4: what it pays, what its recovery noise is, what it may know, and what it finds."""

from __future__ import annotations

from itertools import count
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from dpviz.algorithms.balcan2017.balcan import CARD, CandidatesStep, SwapStep, TreeStep
from dpviz.algorithms.balcan2017.projection import draw_gaussian_frame, draw_orthonormal_frame, project
from dpviz.algorithms.steps import CentersStep
from dpviz.algorithms.tools.lloyd_round import TYPICAL_OFFSET
from dpviz.core.domain import Domain
from dpviz.core.mechanisms import KNorm
from dpviz.core.partitions import ProjectedCells
from dpviz.core.private_session import PrivateTable
from dpviz.core.queries import Relation
from dpviz.runs.audits.contract import run_card
from dpviz.runs.clipped_rows import clip_rows
from dpviz.runs.evaluation import find_reference, nicv
from dpviz.runs.one_run import Run, run
from tests.cases import for_each
from tests.contract.sessions import Recording, open_seeded
from tests.contract.tables import make_blobs, make_small_table
from tests.sequential import usually

PRESETS = ["practical", "paper"]


def steps_of(made: Run, kind: type) -> list:
    return [frame.step for frame in made.frames if isinstance(frame.step, kind)]


def entries_of(made: Run, note: str) -> list:
    return [entry for entry in made.entries if entry.note.startswith(note)]


@for_each("delta", [0.0, 1e-6])
def test_the_budget_is_divided_as_planned(delta):
    made = run(CARD, make_small_table(make_blobs(3000, k=5), n_public=3000), k=5, epsilon=20, delta=delta, seed=0)
    whole = sum(entry.amount for entry in made.entries)
    part = {
        stage: sum(e.amount for name in names for e in entries_of(made, name)) / whole
        for stage, names in {"tree": ["tree"], "swaps": ["swap"], "means": ["recovery", "polishing"]}.items()
    }
    assert part == pytest.approx({"tree": 0.30, "swaps": 0.15, "means": 0.55}, abs=1e-9)
    assert len(entries_of(made, "tree")) == 6
    rounds = [
        sum(e.amount for e in entries_of(made, name)) / whole
        for name in ("recovery", *(f"polishing {t}" for t in (1, 2, 3)))
    ]
    assert rounds == pytest.approx([0.10, 0.12, 0.15, 0.18], abs=0.005)


def test_the_paper_has_two_shifts_at_half_the_share_and_k_swaps():
    made = run(CARD, make_small_table(n_public=400), k=3, epsilon=60.0, params={"preset": "paper"}, seed=1)
    levels = int(np.log(400))
    assert [len(entries_of(made, f"tree {shift}")) for shift in (1, 2, 3)] == [levels, levels, 0]
    np.testing.assert_allclose([e.epsilon for e in entries_of(made, "tree")], 60 * 0.2 / 2 / levels)
    assert len(entries_of(made, "swap")) == 3
    assert len(entries_of(made, "choice among iterates")) == 1
    assert len(steps_of(made, CentersStep)) == 9
    step = steps_of(made, TreeStep)[0]
    assert step.threshold == pytest.approx(2 * np.log(400) * step.noise_scale)


def recovered(delta: float, dim: int, k: int, recording: Recording) -> Run:
    table = make_small_table(make_blobs(500, dim), n_public=500, radius=1.5)
    return run_card(
        CARD,
        table,
        k=k,
        epsilon=3.0,
        delta=delta,
        params={"polishing": 0},
        seed=2,
        session=recording.make_recording_session(),
    )


def test_the_recovery_noise_fits_a_ball_and_not_a_line():
    """Row norms follow Gamma(d, Λ/ε): √d times what a Laplace mechanism would add that takes Λ for an l1 bound."""
    dim, k = 20, 60
    recording = Recording()
    made = recovered(0.0, dim, k, recording)
    share = next(e for e in entries_of(made, "recovery") if e.query == "Sum").epsilon
    assert isinstance(recording.mechanisms[-1], KNorm)
    length = np.linalg.norm(recording.released[-1] - recording.truths[-1], axis=1)
    law = stats.gamma(dim, scale=1.5 / share)
    assert stats.kstest(length, law.cdf).pvalue > 1e-3
    for short in (sqrt(dim), 1.25, 0.8):
        assert stats.kstest(length / short, law.cdf).pvalue < 1e-3


def test_with_delta_the_recovery_noise_is_gaussian_for_the_radius():
    recording = Recording()
    made = recovered(1e-6, 20, 60, recording)
    entry = next(e for e in entries_of(made, "recovery") if e.query == "Sum")
    assert (entry.mechanism, entry.sensitivity) == ("gaussian", 1.5)
    noise = (recording.released[-1] - recording.truths[-1]).ravel()
    assert stats.kstest(noise, stats.norm(scale=1.5 / sqrt(2 * entry.amount)).cdf).pvalue > 1e-3


@for_each("dim", [2, 20])
def test_sums_get_the_larger_share_by_the_formula(dim):
    pure, gauss = recovered(0.0, dim, 4, Recording()), recovered(1e-6, dim, 4, Recording())

    def ratio(made: Run) -> float:
        counts, sums = (next(e for e in entries_of(made, "recovery") if e.query == q) for q in ("Count", "Sum"))
        return counts.amount / sums.amount

    assert ratio(pure) == pytest.approx((2 * TYPICAL_OFFSET**2 / (dim * (dim + 1))) ** (1 / 3))
    assert ratio(gauss) == pytest.approx(TYPICAL_OFFSET / sqrt(dim))
    assert max(ratio(pure), ratio(gauss)) < 1


@for_each("preset", PRESETS)
def test_the_plan_depends_on_the_declared_n_and_not_on_the_rows(preset):
    def plan(rows: int) -> list:
        made = run(
            CARD,
            make_small_table(make_blobs(rows, 8), n_public=2000),
            k=3,
            epsilon=50,
            params={"preset": preset},
            seed=0,
        )
        return [
            [(step.threshold, step.noise_scale, step.tree.dim, step.shift) for step in steps_of(made, TreeStep)],
            len(steps_of(made, CentersStep)),
        ]

    assert plan(40) == plan(4000)


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


def test_projected_rows_and_candidates_stay_in_the_ball():
    rng = np.random.default_rng(0)
    corner = np.ones((50, 30))
    table = make_small_table(np.r_[corner, -corner], radius=2.0)
    session = open_seeded(table, seed=rng)
    frame = np.zeros((2, 30))
    frame[0] = 1.0
    view = project(session, frame)
    assert np.linalg.norm(view.session._rows.values, axis=1).max() <= 2.0
    assert isinstance(view.cells(np.zeros((3, 2))), ProjectedCells)
    made = run(CARD, table, k=4, epsilon=50.0, params={"dimensions": 3}, seed=0)
    candidates = steps_of(made, CandidatesStep)[0].candidates
    assert len(candidates) > 4
    assert np.linalg.norm(candidates, axis=1).max() <= 2.0


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


@pytest.mark.some(1)
@pytest.mark.parametrize(
    ("dim", "delta", "relation"),
    [(2, 0.0, Relation.ADD_REMOVE), (12, 1e-6, Relation.REPLACE), (12, 0.0, Relation.ADD_REMOVE)],
)
def test_without_noise_it_finds_what_kmeans_finds(dim, delta, relation):
    table = make_small_table(make_blobs(2000, dim, k=5, seed=3), relation=relation, n_public=2000)
    revealed = clip_rows(table.reveal(note="test"), table.domain.region)
    reference = find_reference(revealed, 5)
    ratios = [
        nicv(revealed.points, run(CARD, table, k=5, epsilon=1e5, delta=delta, seed=seed).unit_centers) / reference.nicv
        for seed in range(3)
    ]
    assert min(ratios) < 1.05
    assert np.median(ratios) < 1.3


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
