"""Grids of cubes: as many cells as are wanted, as near to cubes as whole numbers along each axis allow."""

from __future__ import annotations

from math import sqrt

import numpy as np

from dpviz.core import Array, Codes, partitions

# A narrower axis than this part of the widest is as good as none.
_NARROWEST = 1e-9
# Halvings of the range of sides on a log scale: enough for 2^62 cells to the last bit.
_HALVINGS = 70


def make_cube_grid(half: Array, cells: float, middle: Array | None = None) -> partitions.Grid:
    """The finest grid of at most ``cells`` cubes over ``middle`` ± ``half`` (d,); a narrow axis gets few, or one.

    A side is sought for all axes alike, and each is divided by it, rounded. To round the numbers that a side would give
    for exactly so many cells is simpler, but their product misses what is wanted: by a factor of 0.3 to 1.6 over random
    boxes of up to ten columns, where this one stays between 0.5 and 1. The number of cells is what the noise that adds
    up over them, and memory, are planned with: it must not be exceeded. There are at most 2^62, which can be numbered.
    """
    half = np.maximum(half, _NARROWEST * half.max())
    cells = max(1, min(cells, partitions.MOST_CELLS))
    too_fine, coarse = 2 * float(half.max()) / (cells + 1), 2 * float(half.max())
    for _ in range(_HALVINGS):
        side = sqrt(too_fine * coarse)
        fits = partitions.Grid(half, _count_along(half, side)).n_cells <= cells
        too_fine, coarse = (too_fine, side) if fits else (side, coarse)
    return partitions.Grid(half, _count_along(half, coarse), middle)


def _count_along(half: Array, side: float) -> Codes:
    return np.maximum(1, np.rint(2 * half / side)).astype(np.int64)
