"""Zooming in: a block of most rows is found where there is one, never by noise alone, and cells widen around it."""

from __future__ import annotations

import numpy as np
import pytest

from dpviz.algorithms.auto.zooming import ZoomStep, _find_core, _make_zoom_grid, lay_around_box, lay_around_core
from dpviz.core.partitions import UnevenGrid
from tests.cases import about, for_each

SQUARE = np.ones(2)


@for_each("scale", [1.0, 20.0, 60.0, 400.0, 1e5])
def test_noise_alone_fills_no_block(scale):
    grid, rng = _make_zoom_grid(SQUARE), np.random.default_rng(0)
    even = np.full(grid.n_cells, 1000 / grid.n_cells)
    assert (
        sum(_find_core(grid, even + rng.laplace(0, scale, grid.n_cells), scale, 1000) is not None for _ in range(50))
        <= 1
    )


def test_the_smallest_block_that_holds_most_rows_is_the_core():
    grid = _make_zoom_grid(SQUARE)
    counts = np.zeros((16, 16))
    counts[3, 5], counts[3, 6], counts[12] = 500, 420, 5
    core = _find_core(grid, counts.ravel(), 1.0, 1000)
    assert core is not None
    np.testing.assert_allclose(core, [[-0.625, -0.375], [-0.5, -0.125]])
    assert _find_core(grid, counts.ravel(), 100.0, 1000) is None


def test_where_the_domain_is_thin_coarse_cells_are_as_long_as_elsewhere_and_all_of_them_are_in_the_core():
    grid = _make_zoom_grid(np.array([1.0, 0.1, 0.5]))
    assert grid.cells_per_axis.tolist() == [8, 1, 8]
    grid = _make_zoom_grid(np.array([1.0, 0.1]))
    assert grid.cells_per_axis.tolist() == [16, 2]
    counts = np.zeros((16, 2))
    counts[4] = 450
    core = _find_core(grid, counts.ravel(), 1.0, 1000)
    np.testing.assert_allclose(core, [[-0.5, -0.1], [-0.375, 0.1]])
    along, across = (np.diff(lay_around_core(grid.half, core, 100).borders(axis)) for axis in (0, 1))
    assert along.max() > 10 * along.min() and across == pytest.approx(np.full(len(across), across[0]), rel=1e-4)


def test_cells_around_a_core_are_no_more_than_asked_for_and_end_with_the_domain():
    for core in (np.array([[-0.25, 0.0], [0.0, 0.25]]), np.array([[0.875, -1.0], [1.0, -0.875]])):
        with about(core):
            grid = lay_around_core(SQUARE, core, 150)
            assert 75 <= grid.n_cells <= 150
            for axis in (0, 1):
                borders = grid.borders(axis)
                assert (np.diff(borders) > 0).all() and borders[0] == -1 and borders[-1] == 1


@for_each("low", [-1.0, -0.125, 0.75])
def test_cells_around_a_small_box_widen_and_it_is_one_of_them(low):
    box = np.array([[low, -0.125], [low + 0.25, 0.125]])
    grid = _make_zoom_grid(SQUARE)
    nothing = {"title": "", "codes": np.arange(256), "noisy_counts": np.zeros(256), "sd": 1.0}
    around = lay_around_box(ZoomStep(**nothing, grid=grid, box=box))
    assert isinstance(around, UnevenGrid)
    borders = around.borders(0)
    assert (np.diff(borders) > 0).all() and set(box[:, 0]) <= set(borders.tolist())
    right = np.diff(borders[borders >= low + 0.25])
    assert (right[1:] > right[:-1]).all() or len(right) < 3
    wide = np.array([[low, -0.75], [low + 0.25, 0.75]])
    assert lay_around_box(ZoomStep(**nothing, grid=grid, box=wide)) is grid
