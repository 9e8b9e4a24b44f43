"""A noisy histogram over equal cubes that stands in for the rows: the synopsis of EUGkM and Hybrid.

Only ``release_grid`` asks the room a question; everything else is post-processing of what it released.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, log, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from dpviz.algorithms.steps import GridStep
from dpviz.algorithms.tools.solvers import SignedPoints
from dpviz.arrays import Array
from dpviz.privacy.accounting import Budget
from dpviz.privacy.known import MOST_CELLS
from dpviz.privacy.mechanisms import noise_kind
from dpviz.privacy.partitions import Everything, Grid
from dpviz.privacy.queries import Count, SparseCount
from dpviz.privacy.room import DataRoom
from dpviz.privacy.sparse_mechanisms import SparseLaplace
from dpviz.table.domain import Region

# Up to this many cells all are listed; beyond, the cut leaves about LISTED_CELLS empty ones.
DENSE_CELLS = 2**21
LISTED_CELLS = 1e6

# Cells whose coordinates are in memory at a time.
_PART = 2**16

Flags = npt.NDArray[np.bool_]


def epsilon_per_row(room: DataRoom, budget: Budget) -> float:
    """1 over the scale of the noise on a cell that ``budget`` buys: ε, less for replace and for many rows a person."""
    return 1 / room.mechanism(Count(Everything()), noise_kind(room.accounting), budget).scale


def cells_per_axis(n: int, epsilon: float, theta: float, dim: int) -> float:
    """m = (nε/θ)^(2/(2+d)), before rounding; the grid has m^d cells.

    References
    ----------
    Su et al. 2016, Eq. 4.
    """
    return float((n * (epsilon / theta)) ** (2 / (2 + dim)))


def cube_grid(region: Region, per_axis: float) -> Grid:
    """A grid over the box of ``region`` of about ``per_axis``^d cells that are as near to cubes as whole numbers allow.

    On a box of equal half-widths that is ``per_axis``, rounded, along each axis. Otherwise the number along an axis is
    proportional to its half-width, and at least 1. There are at most 2^62 cells, the most that can be numbered.
    """
    log_cells = min(region.dim * log(max(per_axis, 1e-300)), log(MOST_CELLS))
    while True:
        widths = region.half / _half_cell(region.half, log_cells)
        grid = Grid(region.half, np.maximum(1, np.rint(widths)).astype(np.int64))
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


def release_grid(room: DataRoom, grid: Grid, budget: Budget, *, why: str, note: str) -> GridStep:
    """Noisy counts of all cells of ``grid``; of a large grid, the cells whose noisy count is beyond a public cut.

    **Guarantee.** ``budget``, for the room's relation. Every cell carries noise, empty ones included: a large grid is
    sampled exactly as if all its cells had been noised and the small ones then cut away.
    """
    scale = 1 / epsilon_per_row(room, budget)
    size = f"{why}{grid_in_words(grid)}"
    if grid.n_cells <= DENSE_CELLS:
        noisy = room.release(Count(grid), budget, note=note)
        return GridStep(
            title=f"{size}; every count carries noise of ±{noisy.sd:.3g}",
            grid=grid,
            codes=np.arange(grid.n_cells),
            noisy_counts=noisy.value,
            sd=noisy.sd,
        )
    cut = max(0.0, log(grid.n_cells / LISTED_CELLS))
    sparse = room.ask(SparseCount(grid), SparseLaplace, budget, note=note, cutoff_in_scales=cut)
    return GridStep(
        title=f"{size}; released are the {len(sparse.value.codes):,} whose noisy count is beyond ±{cut * scale:.3g}",
        grid=grid,
        codes=sparse.value.codes,
        noisy_counts=sparse.value.values,
        sd=sparse.sd,
        cutoff=cut * scale,
    )


def grid_in_words(grid: Grid) -> str:
    """Cells along the axes and in all."""
    sizes = [int(m) for m in grid.cells_per_axis]
    if grid.n_cells == 1:
        return "One cell, the whole box"
    if len(sizes) <= 3:
        return f"{' × '.join(f'{m:,}' for m in sizes)} cells"
    low, high = min(sizes), max(sizes)
    each = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    total = f"{grid.n_cells:,}" if grid.n_cells < 10**9 else f"{grid.n_cells:.2g}"
    return f"{each} cells along each of {len(sizes)} axes, {total} in all"


def all_cells(step: GridStep, region: Region) -> SignedPoints:
    """The middles of all listed cells that can hold a row, with their signed noisy counts."""
    return _points(step, np.ones(len(step.codes), dtype=bool), region)


def standing_out(step: GridStep, region: Region) -> SignedPoints:
    """The cells that stand out from the noise, alone or with their neighbours, with their signed noisy counts.

    A grid over many columns has far more empty cells than full ones, and their noise would drown the loss. A cell is
    kept if its noisy count is more than chance gives in any cell of the grid, or if the noisy count of the rest of its
    block of 2^d neighbours is. The rest is kept or dropped as a whole, negative counts included, so that a block that
    is kept has an unbiased sum.
    """
    grid, scale = step.grid, step.sd / sqrt(2)
    blocks = Grid(grid.half, (grid.cells_per_axis + 1) // 2)
    block = np.concatenate([blocks.numbered(grid.places(codes) // 2) for codes in _parts(step)])
    _, place = np.unique(block, return_inverse=True)
    alone = step.noisy_counts > scale * log(max(2, grid.n_cells))
    rest = np.bincount(place, np.where(alone, 0.0, step.noisy_counts))
    cut = _cut_in_scales(step)
    # Variance, in scales squared, of the noise that the cut leaves in a block of empty cells.
    variance = float(np.minimum(grid.cells_per_axis, 2).prod()) * exp(-cut) * (cut**2 + 2 * cut + 2)
    chance = log(max(2, blocks.n_cells))
    together = rest > scale * max(chance, sqrt(2 * chance * variance))
    return _points(step, alone | together[place], region)


def _points(step: GridStep, kept: Flags, region: Region) -> SignedPoints:
    """The middles of the kept cells within reach of the region's ball.

    A middle outside the ball stands for rows inside it and is moved to its surface; a cell beyond it is empty.
    """
    columns, weights = [], []
    half_cell = step.grid.half / step.grid.cells_per_axis
    for codes, counts, keep in zip(_parts(step), _parts(step, step.noisy_counts), _parts(step, kept), strict=True):
        middles = step.grid.centers(codes[keep])
        nearest = np.linalg.norm(np.maximum(np.abs(middles) - half_cell, 0), axis=1)
        in_reach = nearest <= region.radius
        columns.append(region.clip(middles[in_reach]).astype(np.float32))
        weights.append(counts[keep][in_reach])
    cut = _cut_in_scales(step)
    weight_sd = step.sd * sqrt((cut**2 + 2 * cut + 2) / 2)
    return SignedPoints.of(np.concatenate(columns), np.concatenate(weights), weight_sd=weight_sd)


def _cut_in_scales(step: GridStep) -> float:
    return 0.0 if step.cutoff is None else step.cutoff * sqrt(2) / step.sd


def _parts(step: GridStep, values: Any = None) -> Iterator[Any]:
    """The listed cells (or ``values``, one for each) in parts that bound memory; at least one part."""
    values = step.codes if values is None else values
    for begin in range(0, max(1, len(values)), _PART):
        yield values[begin : begin + _PART]
