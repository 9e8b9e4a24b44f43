"""Zooming in: a block of most rows is found where there is one, never by noise alone, and cells widen around it."""

from types import SimpleNamespace

import numpy as np

from dpviz.algorithms.auto.zooming import ZoomStep, _find_core, _make_zoom_grid, count_rows, lay_around_box
from tests.cases import for_each

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


@for_each("low", [-1.0, -0.125, 0.75])
def test_cells_around_a_small_box_widen_and_it_is_one_of_them(low):
    box, grid = np.array([[low, -0.125], [low + 0.25, 0.125]]), _make_zoom_grid(SQUARE)
    nothing = {"title": "", "grid": grid, "codes": np.arange(256), "noisy_counts": np.zeros(256), "sd": 1.0, "rows": 1}
    borders = lay_around_box(ZoomStep(**nothing, box=box)).borders(0)
    assert (np.diff(borders) > 0).all() and {*box[:, 0]} <= {*borders}
    right = np.diff(borders[borders >= low + 0.25])
    assert (right[1:] > right[:-1]).all() or len(right) < 3
    assert lay_around_box(ZoomStep(**nothing, box=box * [1, 3])) is grid, "a wide one"


def test_rows_are_missed_only_where_counts_say_so_clearly():
    cells, public = np.r_[600.0, np.zeros(255)], SimpleNamespace(n=1000, n_is_public=True)
    assert count_rows(public, (cells, 1.0)) == 600.0
    assert count_rows(SimpleNamespace(n=1000, n_is_public=False), (cells, 1.0)) == 1000
    assert count_rows(public, (cells, 20.0)) == 1000, "the noise of all cells is 320 rows"
    assert count_rows(public, (cells, 20.0), (cells[:4], 1.0)) == 600.0
    assert count_rows(SimpleNamespace(n=9000, n_is_public=True), (0 * cells, 100.0)) == 1600.0, "no less than its noise"
    noisy = cells + np.r_[400.0, np.zeros(255)] + np.random.default_rng(0).laplace(size=(5000, 256))
    assert np.mean([count_rows(public, (one, np.sqrt(2))) < 1000 for one in noisy]) < 0.002
