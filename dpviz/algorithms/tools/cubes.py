"""Grids of cubes: about as many cells as are wanted, as near to cubes as whole numbers along each axis allow."""

from __future__ import annotations

from math import exp, log

import numpy as np

from dpviz.arrays import Array
from dpviz.privacy.known import MOST_CELLS
from dpviz.privacy.partitions import Grid

# A narrower axis than this part of the widest is as good as none.
_NARROWEST = 1e-9


def cube_grid(half: Array, log_cells: float, middle: Array | None = None) -> Grid:
    """A grid of about e^``log_cells`` cubes over ``middle`` ± ``half`` (d,); a narrow axis gets few of them, or one.

    Over a box of equal half-widths the number along each axis is the d-th root, rounded; otherwise it is in proportion
    to the half-width, and at least 1. There are at most 2^62 cells, the most that can be numbered.
    """
    half = np.maximum(half, _NARROWEST * half.max())
    log_cells = min(log_cells, log(MOST_CELLS))
    while True:
        widths = half / _half_cell(half, log_cells)
        grid = Grid(half, np.maximum(1, np.rint(widths)).astype(np.int64), middle)
        if grid.n_cells <= MOST_CELLS:
            return grid
        log_cells -= 0.1  # rounding up along many axes went over the top


def _half_cell(half: Array, log_cells: float) -> float:
    """The half-width h for which the product over the axes of max(1, half / h) has the logarithm ``log_cells``."""
    widest_first = np.sort(np.log(half))[::-1]
    axes = np.arange(1, len(half) + 1)
    log_h = (widest_first.cumsum() - log_cells) / axes
    # Of the solutions with 1, 2, ... divided axes, the one that divides just the axes wider than a cell.
    divided = np.flatnonzero(log_h <= widest_first)
    return exp(log_h[divided[-1] if len(divided) else 0])
