"""EUGkM: the size and shape of its grid, what it releases, which cells it believes, and how good it is."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz.algorithms.steps import CentersStep, GridStep
from dpviz.algorithms.su2016 import eugkm
from dpviz.algorithms.su2016.eugkm import (
    CARD,
    EUGkMParams,
    compute_cells_of_least_error,
    compute_cells_per_axis,
    describe_grid,
    find_clear_cells,
    list_all_cells,
    make_problem,
)
from dpviz.algorithms.tools.solvers import SignedPoints, StartsStep, make_cube_grid
from dpviz.core import check
from dpviz.core.domain import Region
from dpviz.core.partitions import MOST_CELLS, Grid
from dpviz.core.private_session import PrivateTable
from dpviz.core.queries import Relation
from dpviz.runs.clipped_rows import clip_rows
from dpviz.runs.evaluation import find_reference, nicv
from dpviz.runs.one_run import run
from tests.algorithms.published import CENSUS, S1, ratios
from tests.cases import for_each
from tests.contract.tables import make_blobs, make_small_table
from tests.examples import examples
from tests.sequential import usually


def cubes(region: Region, per_axis: float) -> Grid:
    return make_cube_grid(region.half, max(1, round(per_axis)) ** region.dim)


def box(*half: float) -> Region:
    return Region(np.array(half, dtype=float), float(np.linalg.norm(half)))


def grid_step_of(table: PrivateTable, **request) -> GridStep:
    step = run("eugkm", table, k=3, **request).frames[0].step
    assert isinstance(step, GridStep)
    return step


@for_each(
    ("n", "dim", "wanted"),
    [(1e4, 2, 31.6), (1e4, 6, 5.62), (1e4, 10, 3.2), (1e6, 2, 316), (1e6, 6, 17.8), (1e6, 10, 6.8)],
)
def test_the_papers_grid_sizes(n, dim, wanted):
    assert compute_cells_per_axis(int(n), 1.0, 10.0, dim) == pytest.approx(wanted, rel=0.02)
    assert compute_cells_per_axis(int(n) // 10, 1.0, 1.0, dim) == pytest.approx(wanted, rel=0.02)


@for_each(("per_axis", "wanted"), [(22.36, 22), (8.6, 9), (1.4, 1), (0.01, 1)])
def test_a_box_of_equal_sides_has_the_papers_cells(per_axis, wanted):
    np.testing.assert_array_equal(cubes(box(1, 1, 1), per_axis).cells_per_axis, [wanted] * 3)


def test_a_box_of_unequal_sides_has_as_many_cells_that_are_nearly_cubes():
    grid = cubes(box(1, 0.3, 0.1), 20)
    assert grid.n_cells == pytest.approx(20**3, rel=0.1)
    width = grid.half / grid.cells_per_axis
    assert width.max() / width.min() < 1.15
    np.testing.assert_array_equal(cubes(box(1, 1e-6), 5).cells_per_axis, [25, 1])


@settings(max_examples=examples(60))
@given(st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=70), st.floats(1e-6, 1e40))
def test_no_grid_has_more_cells_than_can_be_numbered(half, per_axis):
    grid = cubes(box(*half), per_axis)
    assert grid.cells_per_axis.min() >= 1
    assert grid.n_cells <= MOST_CELLS
    if len(half) == 1:
        assert grid.n_cells == pytest.approx(min(max(1, per_axis), MOST_CELLS), rel=0.5)


@pytest.mark.parametrize(("theta", "capped"), [(0.01, True), (1.0, False)])
def test_a_grid_that_is_capped_says_so(theta, capped, monkeypatch):
    monkeypatch.setattr(eugkm, "LISTED_CELLS", 1000.0)
    monkeypatch.setattr(check, "MOST_EPSILON", 1e18)  # no request that is allowed reaches the cap
    table = make_small_table(make_blobs(300, dim=1), n_public=10**9)
    step = grid_step_of(table, epsilon=1e18, params={"theta": theta, "starts": 1}, seed=0)
    assert ("As fine as cells can be numbered" in step.title) == capped
    assert (step.grid.n_cells > MOST_CELLS / 2) == capped


def test_a_grid_in_words():
    assert describe_grid(cubes(box(1), 0.1)) == "One cell, the whole box"
    assert describe_grid(cubes(box(1, 1), 1200)) == "1,200 × 1,200 cells"
    assert describe_grid(cubes(box(1, 1, 1, 1), 8)) == "8 cells along each of 4 axes, 4,096 in all"
    assert describe_grid(cubes(box(*[1.0] * 30), 1e6)) == "4 cells along each of 30 axes, 1.2e+18 in all"


def test_the_grid_uses_the_epsilon_that_a_row_has():
    """Half of it under replace, a third with three rows a person; and less n·ε means fewer cells."""
    values = make_blobs(900)
    persons = np.arange(900) // 3
    sizes, scales = [], []
    for declared in (
        {"n_public": 900},
        {"relation": Relation.REPLACE},
        {"n_public": 900, "persons": persons, "rows_per_person": 3},
    ):
        result = run("eugkm", make_small_table(values, **declared), k=3, epsilon=2.0, seed=0)
        sizes.append(result.frames[0].step.grid.n_cells)
        scales.append(result.entries[-1].scale)
    np.testing.assert_allclose(scales, [0.5, 1.0, 1.5])
    assert sizes == [13**2, 9**2, 8**2]  # √(nε/10): 13.4, 9.5, 7.7


@for_each("relation", Relation)
@for_each("n_public", [None, 400])
@for_each("dense_cells", [2**21, 4])
def test_the_whole_budget_and_no_more_goes_to_the_grid(relation, n_public, dense_cells, monkeypatch):
    monkeypatch.setattr(eugkm, "DENSE_CELLS", dense_cells)
    monkeypatch.setattr(eugkm, "LISTED_CELLS", 10.0)
    table = make_small_table(relation=relation, n_public=n_public)
    result = run("eugkm", table, k=3, epsilon=1.3, seed=1)
    bought = relation is Relation.ADD_REMOVE and n_public is None
    assert [entry.note for entry in result.entries] == ["number of rows"] * bought + ["grid cells"]
    assert result.entries[-1].mechanism == ("laplace" if dense_cells > 4 else "sparse laplace")
    assert sum(entry.epsilon for entry in result.entries) == pytest.approx(1.3, rel=1e-9)
    assert result.spent_epsilon <= 1.3


def test_steps_are_the_grid_the_starts_and_the_centres():
    result = run("eugkm", make_small_table(n_public=400), k=3, epsilon=5.0, params={"starts": 7}, seed=1)
    grid, starts, last = (frame.step for frame in result.frames)
    assert isinstance(grid, GridStep) and isinstance(starts, StartsStep) and isinstance(last, CentersStep)
    assert len(grid.codes) == grid.grid.n_cells == len(grid.noisy_counts)
    assert len(starts.losses) == 7
    assert starts.losses[starts.chosen] == starts.losses.min()
    np.testing.assert_array_equal(starts.centers, last.centers)
    assert last.title.startswith(f"Start {starts.chosen + 1} has the least loss")
    # Also cells that do not stand out are counted: sizes add up to the grid's total.
    assert last.noisy_counts.sum() == pytest.approx(grid.noisy_counts.sum())
    assert last.previous.shape == last.centers.shape == (3, 2)
    assert (last.center_noise_sd > 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("n", [0, 300])
def test_noisy_counts_add_up_to_n_on_average_and_negative_ones_are_kept(n):
    table = make_small_table(make_blobs(300)[:n], n_public=300)
    sums, negative = [], 0
    for seed in range(60):
        step = grid_step_of(table, epsilon=2.0, params={"starts": 1}, seed=seed)
        cells = list_all_cells(step, table.domain.region)
        sums.append(cells.weights.sum())
        negative += np.count_nonzero(cells.weights < 0)
    assert abs(np.mean(sums) - n) < 4 * step.sd * sqrt(step.grid.n_cells / 60)
    assert negative > 0


@pytest.mark.some(1)
@pytest.mark.parametrize(("preset", "dim", "theta"), [("tuned", 1, 10.0), ("su", 2, 1.0), ("tuned", 3, 10.0)])
def test_without_noise_and_with_small_cells_it_is_k_means(preset, dim, theta, monkeypatch):
    """At ε = 1e5 the grid is fine (and sparse for d > 1), so only the optimiser is left."""
    monkeypatch.setattr(eugkm, "DENSE_CELLS", 50_000)
    monkeypatch.setattr(eugkm, "LISTED_CELLS", 2_000.0)
    table = make_small_table(make_blobs(1000, dim=dim, k=4, seed=3), n_public=1000)
    revealed = clip_rows(table.reveal(note="test"), table.domain.region)
    result = run("eugkm", table, k=4, epsilon=1e5, params={"preset": preset, "theta": theta}, seed=0)
    step = result.frames[0].step
    assert step.grid.cells_per_axis.min() > 50
    assert (step.cutoff is None) == (dim == 1)
    assert nicv(revealed.points, result.unit_centers) <= 1.03 * find_reference(revealed, 4).nicv


def test_one_cell_gives_the_middle_of_the_box():
    table = make_small_table(make_blobs(50, dim=2) * 0.1 + 0.7, n_public=50)
    result = run("eugkm", table, k=1, epsilon=0.2, seed=0)
    assert result.frames[0].step.grid.n_cells == 1
    np.testing.assert_allclose(result.unit_centers, 0, atol=1e-7)


def test_a_sparse_grid_gives_the_centres_of_a_dense_one(monkeypatch):
    table = make_small_table(make_blobs(5000, dim=3, k=4, seed=2), n_public=5000)
    revealed = clip_rows(table.reveal(note="test"), table.domain.region)
    dense = run("eugkm", table, k=4, epsilon=2.0, seed=0)
    monkeypatch.setattr(eugkm, "DENSE_CELLS", 1)
    monkeypatch.setattr(eugkm, "LISTED_CELLS", 100.0)
    sparse = run("eugkm", table, k=4, epsilon=2.0, seed=0)
    assert dense.frames[0].step.cutoff is None
    assert sparse.frames[0].step.cutoff > 0
    assert len(sparse.frames[0].step.codes) < 0.5 * len(dense.frames[0].step.codes)
    losses = [nicv(revealed.points, r.unit_centers) for r in (dense, sparse)]
    assert losses[1] == pytest.approx(losses[0], rel=0.05)


def _step(true_counts: np.ndarray, grid: Grid, scale: float, seed: int) -> GridStep:
    noisy = true_counts + np.random.default_rng(seed).laplace(0, scale, grid.n_cells)
    return GridStep(title="", grid=grid, codes=np.arange(grid.n_cells), noisy_counts=noisy, sd=sqrt(2) * scale)


def test_only_noise_does_not_stand_out():
    region = box(1, 1, 1, 1)
    grid = cubes(region, 9)
    kept = [len(find_clear_cells(_step(np.zeros(grid.n_cells), grid, 2.0, seed), region)) for seed in range(20)]
    assert np.mean(kept) < 0.002 * grid.n_cells


def test_a_heavy_cell_stands_out_alone_and_a_thin_crowd_together():
    region, scale = box(1, 1, 1), 1.0
    grid = cubes(region, 20)
    true_counts = np.zeros(grid.n_cells)
    places = grid.places(np.arange(grid.n_cells))
    crowd = (places >= 10).all(axis=1) & (places < 14).all(axis=1)
    true_counts[crowd] = 6.0  # below ln 8000 = 9
    true_counts[0] = 100.0
    sums = []
    for seed in range(30):
        step = _step(true_counts, grid, scale, seed)
        cells = find_clear_cells(step, region)
        middles = {tuple(np.round(c, 4)) for c in cells.columns.T.astype(float)}
        assert tuple(np.round(grid.centers(np.array([0]))[0], 4)) in middles
        inside = sum(tuple(np.round(c, 4)) in middles for c in grid.centers(np.flatnonzero(crowd)))
        assert inside >= 0.9 * crowd.sum()
        assert len(cells) < 3 * crowd.sum()
        sums.append(cells.weights.sum() / true_counts.sum())
    assert np.mean(sums) == pytest.approx(1.0, abs=0.05)


def test_where_too_little_stands_out_all_cells_and_blind_starts_are_used():
    region = box(1, 1)
    step = _step(np.zeros(64), cubes(region, 8), 5.0, 0)
    problem = make_problem(step, 4, region, EUGkMParams(), np.random.default_rng(0))
    assert len(problem.cells) == 64
    assert len(problem.starts) == EUGkMParams().starts


def test_cells_beyond_the_ball_are_empty_and_others_stand_inside_it():
    region = Region(np.ones(3), 1.0)
    grid = cubes(region, 12)
    cells = list_all_cells(_step(np.zeros(grid.n_cells), grid, 1.0, 0), region)
    assert len(cells) < 0.75 * grid.n_cells  # the ball is π/6 of the box
    assert np.linalg.norm(cells.columns, axis=0).max() <= 1 + 1e-6
    rows = region.clip(np.random.default_rng(0).normal(size=(5000, 3)))
    held = np.unique(grid.assign(rows))
    everywhere = np.zeros(grid.n_cells)
    everywhere[held] = 1.0
    assert list_all_cells(_step(everywhere, grid, 1e-9, 0), region).weights.sum() == pytest.approx(len(held), abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("preset", "scaling", "n_is_public"), [("tuned", "unit", True), ("su", "common", False), ("tuned", "common", False)]
)
def test_fifteen_clusters_usually_cost_at_most_a_twentieth(preset, scaling, n_is_public):
    found = ratios(S1, "eugkm", n_is_public=n_is_public, scaling=scaling, preset=preset)
    assert usually(ratio <= 1.05 for ratio in found)


@pytest.mark.slow
def test_six_columns_of_the_census():
    pairs = zip(ratios(CENSUS, "eugkm"), ratios(CENSUS, "eugkm", preset="su", starts=8), strict=True)
    assert usually(tuned <= 1.25 and tuned < paper <= 1.5 for tuned, paper in pairs)


@pytest.mark.some(1)
@pytest.mark.parametrize("algorithm", ["eugkm", "hybrid"])
def test_more_columns_than_an_index_of_numpy_has_axes(algorithm):
    done = run(algorithm, make_small_table(make_blobs(300, 100), n_public=300), k=3, epsilon=5.0, seed=0)
    assert done.centers.shape == (3, 100)


def test_cells_of_least_error_are_where_noise_and_bias_of_the_paper_are_least_together():
    for n, epsilon, k, dim in ((5_000, 1.0, 15, 2), (50_000, 0.3, 5, 6), (1_000, 1.0, 3, 1)):

        def error(per_axis, n=n, epsilon=epsilon, k=k, dim=dim):
            noise = 2 * dim * per_axis**dim * k ** ((dim - 2) / dim) / (3 * (n * epsilon) ** 2)
            return noise + dim / per_axis**2

        best = compute_cells_of_least_error(n, epsilon, k, dim)
        assert error(best) < min(error(0.99 * best), error(1.01 * best))
    few, many = (compute_cells_of_least_error(5_000, 1.0, k, 6) for k in (2, 64))
    assert many < few


def test_whole_counts_pull_centres_towards_empty_cells():
    """One tight group in a corner: noise above 0 in the empty cells stays, that below 0 is lost."""
    rows = np.full((2_000, 2), 0.75)
    table = make_small_table(rows, n_public=2_000)

    def centre(counts):
        asked = {"preset": "su", "starts": 1, "theta": 0.1, "counts": counts}
        return np.mean([run(CARD, table, k=1, epsilon=0.05, params=asked, seed=s).unit_centers for s in range(20)])

    assert centre("whole") < 0.75 * centre("signed")


def test_whole_counts_are_the_nearest_ones_and_never_below_nothing():
    noisy = SignedPoints(np.zeros((4, 1)), np.array([0.6, -0.7, 1.4, 2.0]))
    read = CARD.params.parse({"counts": "whole"}).read_counts(noisy)
    assert read.weights.tolist() == [1.0, 0.0, 1.0, 2.0]
    assert CARD.params.parse({"counts": "signed"}).read_counts(noisy) is noisy
