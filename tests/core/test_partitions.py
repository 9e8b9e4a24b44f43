"""Every row has exactly one cell, and cells lie where their centres say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.core import partitions
from dpviz.core.domain import Region
from dpviz.core.lattice import ExactRows
from dpviz.core.partitions import CubeTree, Grid, HashCodes, HashTree, ProjectedCells, UnevenGrid, Voronoi
from dpviz.core.rows import Rows
from tests.core.asked import exact

SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS)
def test_voronoi_is_the_nearest_centre(seed):
    rng = np.random.default_rng(seed)
    cells, rows = Voronoi(rng.normal(size=(5, 3))), exact(rng.normal(size=(40, 3)))
    nearest = ((rows.values[:, None] - cells.centers) ** 2).sum(axis=2).argmin(axis=1)
    for found in (cells.find_cells(rows), cells.assign(rows.values)):
        np.testing.assert_array_equal(found, nearest)
    seen = ProjectedCells(Voronoi(cells.centers[:, :2]), rng.normal(size=(2, 3)), Region.ball(2, 0.8))
    image = exact(rows.values @ seen.frame.T, seen.region)
    np.testing.assert_array_equal(seen.find_cells(rows), seen.inner.find_cells(image))


@given(SEEDS)
def test_without_room_for_marks_the_cells_are_the_same(seed):
    rng = np.random.default_rng(seed)
    centers, rows = rng.integers(-3, 4, (int(rng.integers(1, 300)), 2)) / 4, exact(rng.integers(-4, 5, (50, 2)) / 4)
    cells = Voronoi(centers)
    np.testing.assert_array_equal(cells.find_cells(rows), cells._find_first_of_largest(rows))


@pytest.mark.parametrize("k", [9, 300])
def test_short_floats_decide_no_cell(monkeypatch, k):
    """Rows on the border of two cells, a quantum beside it, and anywhere; centres that coincide, and close ones."""
    selected, select = [], ExactRows.select
    monkeypatch.setattr(partitions, "_DISTANCES_AT_ONCE", 1000 * k)
    monkeypatch.setattr(ExactRows, "select", lambda rows, some: selected.append(len(some)) or select(rows, some))
    rng, dim = np.random.default_rng(0), 40
    for spread in (1.0, 2.0**-6, 0.0):
        cells = Voronoi(spread * rng.uniform(-0.9, 0.9, (k, dim)))
        first, second = cells.centers[rng.integers(0, k, (2, 300))]
        between = (first + second) / 2
        rows = np.concatenate(
            [between, between + rng.integers(-1, 2, between.shape) * 2.0**-20, rng.uniform(-1, 1, between.shape)]
        )
        (chunk,) = Rows.of(rows, Region(np.ones(dim), np.sqrt(dim))).chunks(1)
        assert chunk.stored.dtype == np.float32
        whole_rows, whole_centers = (
            np.rint(points * 2**20).astype(np.int64) for points in (chunk.values, cells.centers)
        )
        squared = ((whole_rows[:, None] - whole_centers) ** 2).sum(axis=2)
        np.testing.assert_array_equal(cells.find_cells(chunk), squared.argmin(axis=1))
    assert selected[0] < 700 and selected[2] == 900, "all rows were measured twice, or some that had to be were not"


@given(SEEDS)
def test_grid_cells_hold_the_rows_around_their_centres(seed):
    rng = np.random.default_rng(seed)
    half = rng.uniform(0.1, 1, 3)
    grid = Grid(half, rng.integers(1, 6, 3))
    rows = rng.uniform(-half, half, (60, 3))
    codes = grid.assign(rows)
    assert codes.min() >= 0 and codes.max() < grid.n_cells
    assert (np.abs(rows - grid.centers(codes)) <= half / grid.cells_per_axis * (1 + 1e-12)).all()
    every = np.arange(grid.n_cells)
    np.testing.assert_array_equal(grid.assign(grid.centers(every)), every)
    np.testing.assert_array_equal(grid.places(every), np.stack(np.unravel_index(every, grid.cells_per_axis), axis=1))


@given(SEEDS)
def test_rows_lie_between_the_borders_of_their_uneven_cells(seed):
    rng = np.random.default_rng(seed)
    half, middle = rng.uniform(0.5, 1, 3), rng.uniform(-0.2, 0.2, 3)
    grid = UnevenGrid.between(
        half, [np.sort(rng.uniform(-one, one, m)) for one, m in zip(half, (0, 1, 5), strict=True)], middle
    )
    assert grid.cells_per_axis.tolist() == [1, 2, 6]
    rows = middle + rng.uniform(-half, half, (60, 3))
    places = grid.places(grid.assign(rows))
    for j in range(3):
        borders = grid.borders(j) + middle[j]
        assert (borders[places[:, j]] <= rows[:, j]).all() and (rows[:, j] <= borders[places[:, j] + 1]).all()
    every = np.arange(grid.n_cells)
    np.testing.assert_array_equal(grid.assign(grid.centers(every)), every)
    far = np.stack([middle - 9, middle + 9])
    np.testing.assert_array_equal(grid.assign(far), [0, grid.n_cells - 1])


def test_rows_on_and_beyond_the_rim_of_a_grid_have_a_cell():
    grid = Grid(np.ones(2), np.array([4, 4]))
    rows = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0 + 1e-9, -2.0], [1e9, -1e9]])
    np.testing.assert_array_equal(grid.assign(rows), [15, 0, 12, 12])


def test_a_grid_may_have_more_cells_than_a_64_bit_number_counts():
    assert Grid(np.ones(40), np.full(40, 10)).n_cells == 10**40


def test_a_tree_that_has_died_holds_nobody():
    tree = CubeTree(np.full(2, -2.0), 4.0).with_level(np.zeros(0, dtype=np.int64))
    assert tree.n_cells == 0 and (tree.assign(np.zeros((5, 2))) == -1).all() and len(tree.centers(1)) == 0


def _hashes(depth=7, dim=3, seed=0):
    rng = np.random.default_rng(seed)
    return HashCodes(rng.normal(size=(depth, dim)), rng.normal(0, 0.2, depth))


@pytest.mark.parametrize("depth", [7, 20])
def test_codes_are_the_sides_of_the_planes(depth):
    hashes, rows = _hashes(depth), exact(np.random.default_rng(1).normal(size=(500, 3)))
    sides = rows.values @ hashes.planes.T < hashes.offsets
    bits = ["".join("1" if side else "0" for side in row) for row in sides]
    for codes in (hashes.find_cells(rows), hashes.assign(rows.values)):
        np.testing.assert_array_equal(codes, [int(code, 2) for code in bits])
    assert hashes.n_cells == 2**depth


@pytest.mark.parametrize("leaves", [[1], [3, 4, 11], [7, 9, 130], []])
def test_a_row_is_in_the_leaf_whose_prefix_its_code_has(leaves):
    hashes, rows = _hashes(), exact(np.random.default_rng(2).normal(size=(400, 3)))
    tree = HashTree(hashes, np.array(leaves, dtype=np.int64))
    whole = hashes.find_cells(rows) + hashes.n_cells
    ancestors = [{int(node) >> up for up in range(hashes.depth + 1)} for node in whole]
    expected = [next((i for i, leaf in enumerate(leaves) if leaf in up), len(leaves)) for up in ancestors]
    np.testing.assert_array_equal(tree.find_cells(rows), expected)
    assert tree.n_cells == len(leaves) + 1


def test_even_borders_make_a_grid():
    half, cells, middle = np.array([1.0, 0.5]), np.array([4, 3]), np.array([0.1, 0.0])
    grid = Grid(half, cells, middle)
    uneven = UnevenGrid.between(half, [grid.borders(j)[1:-1] for j in (0, 1)], middle)
    every = np.arange(12)
    assert uneven.centers(every) == pytest.approx(grid.centers(every))
    assert uneven.spreads(every) == pytest.approx(grid.spread_in_cell)
    assert uneven.spread_in_cell == pytest.approx(grid.spread_in_cell)
