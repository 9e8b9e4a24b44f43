"""EUGkM: the size and shape of its grid, what it releases, which cells it believes, and how good it is."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz.algorithms.steps import GridStep
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
from dpviz.algorithms.tools.solvers import SignedPoints, make_cube_grid
from dpviz.core import check
from dpviz.core.domain import Region
from dpviz.core.partitions import MOST_CELLS, Grid
from dpviz.core.queries import Relation
from dpviz.runs.clipped_rows import clip_rows
from dpviz.runs.evaluation import nicv
from dpviz.runs.one_run import run
from tests.algorithms.fifteen import ratios
from tests.cases import for_each
from tests.contract.tables import make_blobs, make_small_table
from tests.examples import examples
from tests.sequential import usually


def cubes(region: Region, per_axis: float) -> Grid:
    return make_cube_grid(region.half, max(1, round(per_axis)) ** region.dim)


def box(*half: float) -> Region:
    return Region(np.array(half, dtype=float), float(np.linalg.norm(half)))


@for_each(
    ("n", "dim", "wanted"),
    [(1e4, 2, 31.6), (1e4, 6, 5.62), (1e4, 10, 3.2), (1e6, 2, 316), (1e6, 6, 17.8), (1e6, 10, 6.8)],
)
def test_the_papers_grid_sizes(n, dim, wanted):
    assert compute_cells_per_axis(int(n), 1.0, 10.0, dim) == pytest.approx(wanted, rel=0.02)
    assert compute_cells_per_axis(int(n) // 10, 1.0, 1.0, dim) == pytest.approx(wanted, rel=0.02)


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


def test_a_grid_in_words():
    assert describe_grid(cubes(box(1), 0.1)) == "One cell, the whole box"
    assert describe_grid(cubes(box(1, 1), 1200)) == "1,200 × 1,200 cells"
    assert describe_grid(cubes(box(1, 1, 1, 1), 8)) == "8 cells along each of 4 axes, 4,096 in all"
    assert describe_grid(cubes(box(*[1.0] * 30), 1e6)) == "4 cells along each of 30 axes, 1.2e+18 in all"


def test_the_grid_uses_the_epsilon_that_a_row_has():
    """Half of it under replace, a third with three rows a person; and less n·ε means fewer cells: √(nε/10) an axis."""
    persons = {"n_public": 900, "persons": np.arange(900) // 3, "rows_per_person": 3}
    for declared, scale, per_axis in (
        ({"n_public": 900}, 0.5, 13),
        ({"relation": Relation.REPLACE}, 1.0, 9),
        (persons, 1.5, 8),
    ):
        result = run("eugkm", make_small_table(make_blobs(900), **declared), k=3, epsilon=2.0, seed=0)
        assert result.entries[-1].scale == pytest.approx(scale)
        assert result.frames[0].step.grid.n_cells == per_axis**2


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
    cells, starts = make_problem(step, 4, region, EUGkMParams(), np.random.default_rng(0))
    assert len(cells) == 64 and len(starts) == EUGkMParams().starts


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
def test_fifteen_clusters_usually_cost_at_most_a_twentieth():
    assert usually(ratio <= 1.05 for ratio in ratios("eugkm", epsilon=1.0))


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


def test_whole_counts_are_the_nearest_ones_and_never_below_nothing():
    noisy = SignedPoints(np.zeros((4, 1)), np.array([0.6, -0.7, 1.4, 2.0]))
    read = CARD.params.parse({"counts": "whole"}).read_counts(noisy)
    assert read.weights.tolist() == [1.0, 0.0, 1.0, 2.0]
    assert CARD.params.parse({"counts": "signed"}).read_counts(noisy) is noisy


def test_a_grid_that_is_capped_says_so(monkeypatch):
    monkeypatch.setattr(eugkm, "LISTED_CELLS", 1000.0)
    monkeypatch.setattr(check, "MOST_EPSILON", 1e18)  # no request that is allowed reaches the cap
    table = make_small_table(make_blobs(300, dim=1), n_public=10**9)
    for theta, capped in ((0.01, True), (1.0, False)):
        params = {"theta": theta, "starts": 1}
        step = run("eugkm", table, k=3, epsilon=1e18, params=params, seed=0).frames[0].step
        assert ("As fine as cells can be numbered" in step.title) == capped == (step.grid.n_cells > MOST_CELLS / 2)
