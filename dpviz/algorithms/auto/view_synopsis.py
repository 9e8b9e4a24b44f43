"""The synopsis of ``auto``: one noisy histogram of cube cells over a view of the rows, and what stands out of it."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dpviz.algorithms.auto.auto_plan import AutoPlan
from dpviz.algorithms.auto.denoise import onto_total, smoothed
from dpviz.algorithms.steps import GridStep
from dpviz.arrays import Array, Codes
from dpviz.privacy.accounting import Budget, Shares
from dpviz.privacy.mechanisms import Laplace
from dpviz.privacy.partitions import Grid, Projected, Zoomed
from dpviz.privacy.queries import Count, SparseCount
from dpviz.privacy.room import DataRoom
from dpviz.privacy.sparse_mechanisms import NoisyExcess, SparseLaplace
from dpviz.table.domain import Region

# Cells of the coarse grid: so many that their noise is this part of a cluster; no more for each cluster and axis, or
# in all; over at most so many axes.
_NOISE_PART, _FEWEST_CELLS, _CELLS_PER_CLUSTER = 0.3, 32, 4
_PER_AXIS_FLAT, _PER_AXIS_VIEW = 20.0, 12.0
_MOST_FLAT, _MOST_VIEW, _COARSE_AXES = 60_000, 20_000, 5
# The fine grid, how far its threshold lies beyond what chance gives, and the part of the rows that must exceed it.
_FINE_CELLS, _FINE_CAUTION, _FINE_ENOUGH = 3e6, 1.1, 0.3
_CAUTION_FLAT, _CAUTION_VIEW = 1.2, 1.0
# Zooming in: coarse cells along an axis, how clearly they are full, and how much of the rows the box must hold.
_ZOOM_CELLS, _ZOOM_CELLS_3D, _ZOOM_CLEAR = 16, 8, 3.0
_ZOOM_MOST, _ZOOM_ROWS, _ZOOM_SDS = 0.5, 0.93, 1.5
# A cell of no believable weight still has a place when there are hardly any others.
_LEAST_WEIGHT = 1e-3


@dataclass(frozen=True, eq=False, kw_only=True)
class ZoomStep(GridStep):
    """A coarse histogram of the domain, and the ``box`` (2, d) that holds nearly all rows, if one was found."""

    box: Array | None


@dataclass(frozen=True, eq=False, kw_only=True)
class SynopsisStep(GridStep):
    """A noisy histogram in the view and what denoising kept of it.

    The grid lies in the view's coordinates: those of the rows under ``frame`` (p, d); None where they are the rows'
    own. ``kept`` (m,) are indices into ``codes``, ``weights`` (m,) their denoised counts. Points ``outside`` (j, p),
    with ``outside_weights`` (j,), are the middles of the coarse cells around the grid's box that were kept.
    """

    frame: Array | None
    kept: Codes
    weights: Array
    outside: Array
    outside_weights: Array


class View(NamedTuple):
    """Where the grid lies: ``half`` widths (p,) around ``middle`` (p,), in coordinates of the rows under ``frame``."""

    middle: Array
    half: Array
    frame: Array | None


def zoom(room: DataRoom, share: Budget) -> ZoomStep:
    """A coarse histogram of the whole domain, and the box of its full cells if that is small and holds nearly all rows.

    **Guarantee.** ``share``; nothing is clipped to the box.
    """
    per_axis = _ZOOM_CELLS if room.dim <= 2 else _ZOOM_CELLS_3D
    grid = Grid.over(room.region, per_axis)
    coarse = room.ask(Count(grid), Laplace, share, note="zoom: coarse cells")
    box = _box(grid, coarse.value, coarse.mechanism.scale, room.n)
    where = "all rows may lie anywhere" if box is None else "nearly all rows lie in a box"
    return ZoomStep(
        title=f"{grid.n_cells:,} coarse cells: {where}",
        grid=grid,
        codes=np.arange(grid.n_cells),
        noisy_counts=coarse.value,
        sd=coarse.sd,
        box=box,
    )


def _box(grid: Grid, noisy: Array, scale: float, n: int) -> Array | None:
    places = grid.places(np.flatnonzero(noisy > (log(grid.n_cells) + _ZOOM_CLEAR) * scale))
    if len(places) == 0:
        return None
    first, end = places.min(axis=0), places.max(axis=0) + 1
    inside = ((grid.places(np.arange(grid.n_cells)) >= first) & (grid.places(np.arange(grid.n_cells)) < end)).all(
        axis=1
    )
    cells = int(inside.sum())
    held = float(noisy[inside].sum())
    if cells > _ZOOM_MOST * grid.n_cells or held <= _ZOOM_ROWS * n + _ZOOM_SDS * sqrt(2 * cells) * scale:
        return None
    edges: Array = (2 * np.stack([first, end]) / grid.cells_per_axis - 1) * grid.half
    return edges


def flat_synopsis(room: DataRoom, k: int, share: Budget, zoomed: ZoomStep) -> SynopsisStep:
    """The histogram over the rows' own columns: over the box, with coarse cells for what lies outside of it.

    **Guarantee.** ``share``.
    """
    low, high = zoomed.box if zoomed.box is not None else (-room.region.half, room.region.half)
    half, middle = (high - low) / 2, (high + low) / 2
    scale = room.mechanism(Count(zoomed.grid), Laplace, share).scale
    grid = cube_cells(half, coarse_cells(room.n, k, scale, room.dim, flat=True), middle)
    cells = Zoomed(grid, zoomed.grid) if zoomed.box is not None else grid
    noisy = room.ask(Count(cells), Laplace, share, note="grid cells").value
    inner, outer = noisy[: grid.n_cells], noisy[grid.n_cells :]
    sd = sqrt(2) * scale
    kept = np.flatnonzero(smoothed(inner.reshape(grid.cells_per_axis), sd, caution=_CAUTION_FLAT).ravel())
    far = (
        np.flatnonzero(_outside(zoomed) & (outer > _CAUTION_FLAT * log(grid.n_cells) * scale)) if len(outer) else _NONE
    )
    weights = np.r_[inner[kept], outer[far]]
    weights = onto_total(weights, float(room.n)) if len(weights) else weights
    around = _around(zoomed, outer, sd) if len(outer) else None
    return _synopsis(
        View(middle, half, None), grid, np.arange(grid.n_cells), inner, sd, kept, weights[: len(kept)], k,
        around=around, outside=zoomed.grid.centers(far), outside_weights=weights[len(kept) :],
    )  # fmt: skip


Flags = npt.NDArray[np.bool_]
_NONE: Codes = np.zeros(0, dtype=np.int64)


def _outside(zoomed: ZoomStep) -> Flags:
    """Flags of the coarse cells that do not lie in the box."""
    assert zoomed.box is not None
    middles = zoomed.grid.centers(np.arange(zoomed.grid.n_cells))
    flags: Flags = ~((middles > zoomed.box[0]) & (middles < zoomed.box[1])).all(axis=1)
    return flags


def _around(zoomed: ZoomStep, noisy: Array, sd: float) -> GridStep:
    codes = np.flatnonzero(_outside(zoomed))
    return GridStep(
        title="coarse cells around the box", grid=zoomed.grid, codes=codes, noisy_counts=noisy[codes], sd=sd
    )


def view_synopsis(room: DataRoom, k: int, plan: AutoPlan, shares: Shares, view: View) -> SynopsisStep:
    """The histogram over the axes of a view: fine, if a test says that enough rows would stand out, else coarse.

    **Guarantee.** The shares ``grid`` and, with many clusters, ``fine_test``. One row changes one cell by 1, and with
    it the sum of what exceeds a threshold. The test decides which one grid is bought; there is never a second one.
    """
    scale = room.mechanism(Count(Grid.over(room.region, 1)), Laplace, shares.grid).scale
    if plan.many:
        fine = cube_cells(view.half, _FINE_CELLS, view.middle)
        cutoff = _FINE_CAUTION * log(fine.n_cells)
        cells = SparseCount(_seen(room, fine, view))
        excess = room.ask(cells, NoisyExcess, shares.fine_test, note="would fine cells do?", threshold=cutoff * scale)
        if float(excess.value[0]) > _FINE_ENOUGH * room.n:
            listed = room.ask(cells, SparseLaplace, shares.grid, note="fine grid cells", cutoff_in_scales=cutoff)
            codes, counts = listed.value.codes, listed.value.values
            kept = np.flatnonzero(counts > 0)
            return _synopsis(
                view, fine, codes, counts, listed.sd, kept, counts[kept], k,
                cutoff=cutoff * scale,
            )  # fmt: skip
    half = view.half.copy()
    half[_COARSE_AXES:] = 0.0
    grid = cube_cells(half, coarse_cells(room.n, k, scale, len(half), flat=False), view.middle)
    used = grid.cells_per_axis > 1
    if not used.any():
        used[0] = True
    assert view.frame is not None
    seen = View(view.middle[used], view.half[used], view.frame[used])
    grid = Grid(seen.half, grid.cells_per_axis[used], seen.middle)
    noisy = room.ask(Count(_seen(room, grid, seen)), Laplace, shares.grid, note="grid cells").value
    sd = sqrt(2) * scale
    smooth = smoothed(noisy.reshape(grid.cells_per_axis), sd, caution=_CAUTION_VIEW).ravel()
    kept = np.flatnonzero(smooth)
    # Wide smoothing in a small grid leaves a floor everywhere: the counts have to add up to the rows.
    weights = onto_total(smooth[kept], float(room.n)) if len(kept) else smooth[kept]
    return _synopsis(seen, grid, np.arange(grid.n_cells), noisy, sd, kept, weights, k)


def coarse_cells(n: int, k: int, scale: float, axes: int, *, flat: bool) -> float:
    """Cells whose noise, in the mean of a cluster, is a part of the cluster: about (0.3 n / sd)² / k, within limits."""
    per_axis, most = (_PER_AXIS_FLAT, _MOST_FLAT) if flat else (_PER_AXIS_VIEW, _MOST_VIEW)
    wanted = (_NOISE_PART * n / (sqrt(2) * scale)) ** 2 / k
    least = max(_CELLS_PER_CLUSTER * k, _FEWEST_CELLS)
    return max(1.0, min(max(wanted, least), most, k * per_axis ** min(axes, 40)))


def cube_cells(half: Array, number: float, middle: Array) -> Grid:
    """At most about ``number`` cubes over ``middle ± half``; a narrow axis gets few of them, or one."""
    low, high = 1e-7 * float(half.max()), 2 * float(half.max())
    for _ in range(70):
        side = sqrt(low * high)
        too_many = np.log(_along(half, side)).sum() > log(number)
        low, high = (side, high) if too_many else (low, side)
    return Grid(np.maximum(half, 1e-9 * half.max()), _along(half, high), middle)


def _along(half: Array, side: float) -> Codes:
    cells: Codes = np.maximum(1, np.rint(2 * half / side)).astype(np.int64)
    return cells


def _seen(room: DataRoom, grid: Grid, view: View) -> Projected:
    assert view.frame is not None
    return Projected(grid, view.frame, Region.ball(len(view.frame), room.region.radius))


def _synopsis(
    view: View, grid: Grid, codes: Codes, noisy: Array, sd: float, kept: Codes, weights: Array, k: int, *,
    around: GridStep | None = None, outside: Array | None = None, outside_weights: Array | None = None,
    cutoff: float | None = None,
) -> SynopsisStep:  # fmt: skip
    """With hardly more cells than clusters, the largest noisy ones take part whether they stand out or not."""
    outside = np.zeros((0, len(view.half))) if outside is None else outside
    outside_weights = np.zeros(0) if outside_weights is None else outside_weights
    positive = weights > 0
    kept, weights = kept[positive], weights[positive]
    if len(kept) + len(outside) <= k < len(codes):
        kept = np.sort(np.argsort(-noisy, kind="stable")[: max(k, len(kept))])
        weights = np.maximum(noisy[kept], _LEAST_WEIGHT * max(float(noisy.max()), 1.0))
    size = " × ".join(f"{m:,}" for m in grid.cells_per_axis) if len(grid.cells_per_axis) <= 5 else f"{grid.n_cells:,}"
    kind = "" if cutoff is None else "fine "
    return SynopsisStep(
        title=f"{size} {kind}cells; denoising keeps {len(kept) + len(outside):,}",
        grid=grid,
        codes=codes,
        noisy_counts=noisy,
        sd=sd,
        cutoff=cutoff,
        around=around,
        frame=view.frame,
        kept=kept,
        weights=weights,
        outside=outside,
        outside_weights=outside_weights,
    )
