"""Zooming in: where most rows lie, by a coarse noisy histogram of few columns, and cells that are laid around that.

Bounds are often far wider than nearly all rows lie. Where those outside are few cells have to follow them: narrow where
most rows lie, the wider the farther out, so that a few rows far away share one. Constants were chosen by hand on the
tuning families of ``benchmarks/families.py``.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import log, prod, sqrt

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from dpviz.algorithms.auto.auto_plan import Paid, Zoom
from dpviz.algorithms.card import FLAT_DIM
from dpviz.algorithms.steps import GridStep
from dpviz.algorithms.tools.solvers import make_cube_grid
from dpviz.core import Array, Flags, PrivateSession, lattice, mechanisms, partitions, queries

# When a block is small and full, and how cells widen around it.
# Chosen by hand on the tuning families of ``benchmarks/families.py``.

# Zooming in: coarse cells along an axis, along each of three, and along the longest of more.
_ZOOM_CELLS = 16
_ZOOM_CELLS_3D = 8
_ZOOM_CELLS_BOX = 4
# The domain is thin along an axis that is at most so many times as long as the longest one: there coarse cells are as
# long as along the longest.
_THIN_PART = 0.25
_ZOOM_CLEAR = 3.0  # how many scales of noise a coarse cell that is full holds
# The box that is zoomed into has at most such a part of the volume, and at least such a part of the rows, less so
# many standard deviations of their noise.
_ZOOM_MOST = 0.5
_ZOOM_ROWS = 0.93
_ZOOM_SDS = 1.5
# Most rows lie close together if a block of at most two coarse cells along each axis holds this part of them; over
# three columns, where such cells are twice as wide, the second.
_CORE_ROWS = 0.8
_CORE_ROWS_3D = 0.93
# And if it holds half of them beyond so many sds of its noise. All rows have to be so many of its scales: else noise
# alone would fill some block.
_CORE_SDS = 2.0
_CORE_SDS_3D = 3.0
_CORE_SCALES = 15.0
# Around such a block cells widen in proportion to the distance beyond so many times half of its side.
_NEAR_SIDES = 0.25
_SMALL_BOX = 0.25  # a box of at most such a part of the domain along each axis has cells around it that widen, too
# The first of them are so many sides of the box wide, and each so many times as wide as the one before.
_FIRST_WIDTH = 0.5
_GROWTH = 2.0
# Noisy counts speak of fewer rows than were declared where they hold so many sds of their own noise less.
_FEWER_SDS = 3.0


def count_rows(session: PrivateSession, *counted: tuple[Array, float]) -> float:
    """The declared number of rows, unless noisy counts of partitions, each with its sd, clearly hold fewer."""
    # Rows are left out where a cell is missing, or a person has too many; a number that was bought is one of rows that
    # are there. Several partitions are weighed by the inverse of their variance.
    precise, held = np.array([1 / (len(counts) * sd**2) for counts, sd in counted]), []
    for counts, sd in counted:
        full = counts > log(len(counts)) * sd / sqrt(2)
        # Cells that are not full hold no fewer than no rows together, whatever their noise says.
        held.append(float(counts[full].sum() + max(counts[~full].sum(), 0.0)))
    rows, off = float(precise @ held / precise.sum()), 1 / sqrt(precise.sum())
    # A number within its own noise says no more than that there are hardly more rows than that.
    return max(rows, off, 1.0) if session.n_is_public and rows < session.n - _FEWER_SDS * off else session.n


@dataclass(frozen=True, eq=False, kw_only=True)
class ZoomStep(GridStep):
    """A coarse histogram of the domain, and the ``box`` (2, d) that holds nearly all rows, if one was found.

    ``rows`` are how many its counts speak of. Where there is no box, most rows may still lie in a small ``core``
    (2, d), and the others far from it. Under a ``frame`` (p, d) it lies over some columns only; ``beside`` (d,) is the
    noisy middle of the rows along the others, 0 along these, where that was bought.
    """

    rows: float
    box: Array | None
    core: Array | None = None
    frame: Array | None = None
    beside: Array | None = None


def zoom(session: PrivateSession, stage: Zoom, shares: Paid) -> ZoomStep:
    """A coarse histogram of the whole domain, and the box of its full cells if that is small and holds nearly all rows.

    **Guarantee.** The share of the stage; nothing is clipped to the box. What is found follows from released counts.
    """
    grid = _make_zoom_grid(session.region.half)
    coarse = session.ask(queries.Count(grid), mechanisms.Laplace, shares[stage.zoom], note="zoom: coarse cells")
    rows = count_rows(session, (coarse.value, coarse.sd))
    box = _find_box(grid, coarse.value, coarse.mechanism.scale, rows)
    # Over one column smoothing reads the grid, which takes what is far out for noise.
    seek = box is None and session.dim > 1
    core = _find_core(grid, coarse.value, coarse.mechanism.scale, rows) if seek else None
    where = "all rows may lie anywhere" if core is None else "most rows lie close together"
    where = where if box is None else "nearly all rows lie in a box"
    return ZoomStep(
        title=f"{grid.n_cells:,} coarse cells: {where}",
        grid=grid,
        codes=np.arange(grid.n_cells),
        noisy_counts=coarse.value,
        sd=coarse.sd,
        rows=rows,
        box=box,
        core=core,
    )


def _make_zoom_grid(half: Array) -> partitions.Grid:
    """Equally many cells along all axes, but along those where the domain is thin; cubes where axes are many."""
    most = _ZOOM_CELLS if len(half) <= 2 else _ZOOM_CELLS_3D if len(half) <= FLAT_DIM else _ZOOM_CELLS_BOX
    cubes = most * half / half.max()
    along = most if len(half) <= FLAT_DIM else np.maximum(2, np.round(cubes))
    return partitions.Grid(half, np.where(_find_thin(half), np.ceil(cubes), along).astype(np.int64))


def _find_thin(half: Array) -> Flags:
    """The axes along which the domain is so short that no row is far from another one; (d,)."""
    return np.asarray(half <= _THIN_PART * half.max())


def _find_box(grid: partitions.Grid, noisy: Array, scale: float, n: float) -> Array | None:
    every = grid.places(np.arange(grid.n_cells))
    full = every[noisy > (log(grid.n_cells) + _ZOOM_CLEAR) * scale]
    if len(full) == 0:
        return None
    first, end = full.min(axis=0), full.max(axis=0) + 1
    inside = ((every >= first) & (every < end)).all(axis=1)
    cells, held = int(inside.sum()), float(noisy[inside].sum())
    if cells > _ZOOM_MOST * grid.n_cells or held <= _ZOOM_ROWS * n + _ZOOM_SDS * sqrt(2 * cells) * scale:
        return None
    return (2 * np.stack([first, end]) / grid.cells_per_axis - 1) * grid.half


def _find_core(grid: partitions.Grid, noisy: Array, scale: float, n: float) -> Array | None:
    """The smallest block of one or two cells along each axis that holds most rows, and surely half of them; (2, d).

    Along axes where the domain is thin it has all cells.
    """
    if n < _CORE_SCALES * scale:
        return None
    counts = noisy.reshape(grid.cells_per_axis)
    inner = tuple(range(counts.ndim, 2 * counts.ndim))
    most, sds = (_CORE_ROWS, _CORE_SDS) if counts.ndim <= 2 else (_CORE_ROWS_3D, _CORE_SDS_3D)
    along = [(m,) if thin else (1, 2) for m, thin in zip(counts.shape, _find_thin(grid.half), strict=True)]
    for sides in sorted(product(*along), key=prod):
        held = sliding_window_view(counts, sides).sum(axis=inner)
        if float(held.max()) >= max(most * n, n / 2 + sds * sqrt(2 * prod(sides)) * scale):
            first = np.array(np.unravel_index(int(held.argmax()), held.shape))
            return (2 * np.stack([first, first + sides]) / grid.cells_per_axis - 1) * grid.half
    return None


def lay_around_core(farthest: Array, core: Array, cells: float) -> partitions.UnevenGrid:
    """Cells up to ±``farthest`` (d,), the wider the farther from the released ``core`` (2, d), unit coordinates.

    They are cubes in asinh of the distance from its middle, over a part of its longest side; where the domain is thin
    they are equal, about as wide as at the end of the core.
    """
    middle, thin = core.mean(axis=0), _find_thin(farthest)
    half = float(np.ptp(core, axis=0)[~thin].max()) / 2
    near = np.where(thin, half, _NEAR_SIDES * half)
    first, last = (-farthest - middle) / near, (farthest - middle) / near
    first, last = np.where(thin, first, np.arcsinh(first)), np.where(thin, last, np.arcsinh(last))
    number = make_cube_grid((last - first) / 2, cells).cells_per_axis
    steps = [np.linspace(*ends)[1:-1] for ends in zip(first, last, number + 1, strict=True)]
    along = [step if equal else np.sinh(step) for step, equal in zip(steps, thin, strict=True)]
    borders = [unit * step + shift for unit, step, shift in zip(near, along, middle, strict=True)]
    borders = [lattice.round_inward(border, lattice.ROW_BITS) for border in borders]
    return partitions.UnevenGrid.between(farthest, borders, np.zeros(len(farthest)))


def lay_around_box(zoomed: ZoomStep) -> partitions.Grid:
    """Cells for what lies outside of a box: the coarse ones, but around a small box wider ones, of which it is one.

    So rows that lie far from it along one column share a cell, whatever the others say of them.
    """
    farthest, thin = zoomed.grid.half, _find_thin(zoomed.grid.half)
    # Over one column no other one divides rows that lie far out, and groups there would share a cell for nothing.
    if zoomed.box is None or len(farthest) == 1:
        return zoomed.grid
    if not (thin | (np.ptp(zoomed.box, axis=0) <= 2 * _SMALL_BOX * farthest)).all():
        return zoomed.grid
    low, high = zoomed.box
    width, borders = _FIRST_WIDTH * float((high - low)[~thin].max()), []
    for end, below, above in zip(farthest, low, high, strict=True):
        down = [-border for border in _list_widening(-float(below), float(end), width)]
        rising = [*down[::-1], *_list_widening(float(above), float(end), width)]
        borders.append(lattice.round_inward(np.array(rising), lattice.ROW_BITS))
    return partitions.UnevenGrid.between(farthest, borders, np.zeros(len(farthest)))


def _list_widening(start: float, end: float, width: float) -> Iterator[float]:
    """Borders from ``start`` on, each step wider than the one before, none of the end; nothing if it starts there."""
    while start < end:
        yield start
        start, width = start + width, width * _GROWTH
        if start + width / 2 >= end:
            return
