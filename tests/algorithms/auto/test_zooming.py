"""Zooming in: a block of most rows is found where there is one, never by noise alone, and cells widen around it."""

from __future__ import annotations

import numpy as np

from dpviz.algorithms.auto.zooming import _find_core, _make_zoom_grid
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
