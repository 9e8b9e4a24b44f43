"""The synopsis of ``auto``: one noisy histogram of cube cells over a view of the rows, and what stands out of it.

What stands out is free post-processing of released counts: without it a few spikes of noise, far away from all rows,
take a centre each. Over two and three columns trees of details tell it (``detail_tree``). Smoothing and one threshold
for all cells do better over one column, in a view with many clusters, and where clusters hold next to no rows; in a
view with few clusters either may be the better one, and the noisy counts themselves are asked which. Where nothing else
is said, constants were chosen by hand on the tuning families of ``benchmarks/families.py``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from math import log, pi, sqrt
from typing import NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter

from dpviz.algorithms.auto.auto_plan import (
    Cells,
    Paid,
    StagePart,
    count_smoothed_cells,
    count_tree_cells,
    count_widening_cells,
    list_finer_cells,
)
from dpviz.algorithms.auto.detail_tree import Details, denoise
from dpviz.algorithms.auto.private_projection import ProjectionStep, Tail
from dpviz.algorithms.auto.zooming import ZoomStep, lay_around_box, lay_around_core
from dpviz.algorithms.steps import GridStep
from dpviz.algorithms.tools.cubes import make_cube_grid
from dpviz.core import Array, Codes, PrivateSession, Region, lattice, mechanisms, partitions, queries

# How a synopsis is laid and read.
# Chosen by hand on the tuning families of ``benchmarks/families.py``.

_COARSE_AXES = 5  # axes of a view that carry the coarse grid, at most
# A grid that follows a tail covers the domain along its first axis, and so many standard deviations along others.
_TAIL_SDS = 5.0
# Others take part if beside the first there is more than so many times what k clusters leave of it, about its k²-th
# part, and each of them has at least so many times that: an axis of noise takes cells from the one that matters.
_TAIL_BESIDE = 2.0
_TAIL_WORTH = 0.5
# A finer grid does if this part of the rows exceeds so many times what chance gives in its cells.
_FINER_CAUTION = 1.1
_FINER_ENOUGH = 0.5
# Cells of the fine grid, how far its threshold lies beyond what chance gives, and the part of the rows that must
# exceed it.
_FINE_CELLS = 3e6
_FINE_CAUTION = 1.1
_FINE_ENOUGH = 0.3
_ELSEWHERE_POINTS = 4000  # points that stand for rows which no listed cell shows, at most
# How far the threshold of smoothed cells lies beyond what chance gives, over few columns and over a view.
_CAUTION_FLAT = 1.2
_CAUTION_VIEW = 1.0
_LEAST_WEIGHT = 1e-3  # a cell of no believable weight still has a place when there are hardly any others


# Widths of the smoothing, in cells. None wider than a sixth of the grid was tried and brought nothing
# (docs/findings.md).
WIDTHS = (0.0, 0.6, 1.0, 1.6, 2.5, 4.0)


@dataclass(frozen=True, eq=False, kw_only=True)
class SynopsisStep(GridStep):
    """A noisy histogram in the view and what denoising kept of it.

    The grid lies in the view's coordinates: those of the rows under ``frame`` (p, d); None where they are the rows'
    own. ``kept`` (m,) are indices into ``codes``, ``weights`` (m,) their denoised counts. Points ``outside`` (j, p),
    with ``outside_weights`` (j,), are the middles of the coarse cells ``around`` the grid's box that were kept; without
    any they stand for rows which no cell shows. ``details`` are what trees told apart, where the histogram was read
    through them.
    """

    frame: Array | None
    kept: Codes
    weights: Array
    outside: Array
    outside_weights: Array
    details: Details | None = None

    @property
    def told_apart(self) -> Details:
        """The details of a histogram that was read through trees."""
        assert self.details is not None
        return self.details

    @property
    def cells_kept(self) -> int:
        """Of the grid and around its box."""
        return len(self.kept) + (len(self.outside) if self.around is not None else 0)

    @property
    def rows_kept(self) -> float:
        """What these cells seem to hold."""
        return float(self.weights.sum() + (self.outside_weights.sum() if self.around is not None else 0.0))

    @property
    def spread_in_cell(self) -> float:
        """Mean squared distance of rows to the middle of their cell, as far as rows fill cells evenly."""
        if not isinstance(self.grid, partitions.UnevenGrid) or not self.weights.sum() > 0:
            return self.grid.spread_in_cell
        return float(self.weights @ self.spreads) / float(self.weights.sum())

    @property
    def spreads(self) -> Array:
        """The same in each of the cells that were ``kept`` (m,)."""
        if isinstance(self.grid, partitions.UnevenGrid):
            return self.grid.spreads(self.codes[self.kept])
        return np.full(len(self.kept), self.grid.spread_in_cell)

    def cloud(self) -> Cloud:
        """What k-means is solved on."""
        grid = self.grid
        middle = np.zeros(len(grid.half)) if grid.middle is None else grid.middle
        points = np.concatenate([grid.centers(self.codes[self.kept]), self.outside]) - middle
        half = np.maximum(grid.half, np.abs(points).max(axis=0, initial=0.0))
        region = Region(half, float(np.linalg.norm(half)))
        return Cloud(points, np.r_[self.weights, self.outside_weights], region, middle)


class Cloud(NamedTuple):
    """Released points (m, p) around the ``middle`` (p,) of their grid, their weights (m,), and a region of all."""

    points: Array
    weights: Array
    region: Region
    middle: Array


class GridPlace(NamedTuple):
    """Where the grid lies: ``half`` widths (p,) around ``middle`` (p,), in coordinates of the rows under ``frame``."""

    middle: Array
    half: Array
    frame: Array


# The axes of the view cover so many standard deviations.
COVERED_SDS = 3.0
_NONE = np.zeros(0)


def release_flat_synopsis(
    session: PrivateSession, k: int, stage: Cells, shares: Paid, zoomed: ZoomStep
) -> SynopsisStep:
    """The histogram over the rows' own columns: over the box, with coarse cells for what lies outside of it.

    Without a box cells are equal, but where most rows lie in a core: there they widen outwards, so that those near
    others are told apart and a few far away share a cell. Tests of finer cells are asked all the same, as what is
    bought does not hang on what was found, and decide nothing.

    **Guarantee.** The shares of the stage: one row changes one cell by 1, fine or coarse, and with it the sum of what
    exceeds a threshold. Borders of cells follow from releases, and a row is compared with a table of them.
    """
    low, high = zoomed.box if zoomed.box is not None else (-session.region.half, session.region.half)
    half, middle = (high - low) / 2, (high + low) / 2
    scale = session.mechanism(queries.Count(zoomed.grid), mechanisms.Laplace, shares[stage.grid]).scale
    grid, trees = _choose_flat_grid(session, k, stage, shares, scale, half, middle), stage.trees
    if zoomed.core is not None:
        few = count_widening_cells(session.n, k, scale, session.dim)
        grid, trees = lay_around_core(zoomed.grid.half, zoomed.core, few), True
    threshold = _CAUTION_FLAT * scale
    # Where noise is so small that one row stands out of the coarse cells they may stay narrow.
    shared = threshold * log(zoomed.grid.n_cells) > 1
    beyond = lay_around_box(zoomed) if shared else zoomed.grid
    cells = grid if zoomed.box is None else partitions.Zoomed(grid, beyond)
    noisy = session.ask(queries.Count(cells), mechanisms.Laplace, shares[stage.grid], note="grid cells")
    inner, outer = noisy.value[: grid.n_cells], noisy.value[grid.n_cells :]
    histogram = GridStep(title="cells", grid=grid, codes=np.arange(grid.n_cells), noisy_counts=inner, sd=noisy.sd)
    if zoomed.box is None:
        return _make_synopsis(histogram, None, _keep_cells(histogram, session.n, _NONE, trees=trees, flat=True), k)
    middles = beyond.centers(np.arange(beyond.n_cells))
    out = ~((middles > low) & (middles < high)).all(axis=1)
    far = np.flatnonzero(out & (outer > threshold * log(max(int(out.sum()), 2))))
    around = GridStep(
        title="coarse cells around the box",
        grid=beyond,
        codes=np.flatnonzero(out),
        noisy_counts=outer[out],
        sd=noisy.sd,
    )
    kept = _keep_cells(histogram, session.n, outer[far], trees=trees, flat=True)
    return _make_synopsis(replace(histogram, around=around), None, kept, k, outside=middles[far])


def _choose_flat_grid(
    session: PrivateSession, k: int, stage: Cells, shares: Paid, scale: float, half: Array, middle: Array
) -> partitions.Grid:
    """The finest grid up to which enough rows stand out; what is asked does not hang on the answers."""
    rule = count_tree_cells if stage.trees else partial(count_smoothed_cells, flat=True)
    grid, so_far = make_cube_grid(half, rule(session.n, k, scale, session.dim), middle), True
    for test, cells in zip(
        (stage.finer_test, stage.finest_test), list_finer_cells(session.n, k, scale, session.dim), strict=True
    ):
        if test is None:
            break
        finer = make_cube_grid(half, cells, middle)
        excess = session.ask(
            queries.SparseCount(finer),
            mechanisms.NoisyExcess,
            shares[test],
            note="would finer cells do?",
            threshold=_FINER_CAUTION * log(finer.n_cells) * scale,
        )
        so_far &= float(excess.value[0]) > _FINER_ENOUGH * session.n + excess.mechanism.once.scale
        grid = finer if so_far else grid
    return grid


def release_view_synopses(
    session: PrivateSession, k: int, stage: Cells, shares: Paid, view: GridPlace
) -> list[SynopsisStep]:
    """The histogram over the axes of a view: fine, if a test says that enough rows would stand out, else coarse.

    One histogram is bought; with few clusters there are two readings of it, smoothed and through trees of details.

    **Guarantee.** The shares of the stage. One row changes one cell by 1, and with it the sum of what exceeds a
    threshold. The test decides which one grid is bought; there is never a second one.
    """
    scale = session.mechanism(
        queries.Count(partitions.Grid.over(session.region, 1)), mechanisms.Laplace, shares[stage.grid]
    ).scale
    if stage.fine_test is not None:
        fine, cutoff, enough = _ask_for_fine_cells(session, stage.fine_test, shares, scale, view)
        if enough:
            cells = queries.SparseCount(_see_grid(session, fine, view))
            listed = session.ask(
                cells, mechanisms.SparseLaplace, shares[stage.grid], note="fine grid cells", cutoff_in_scales=cutoff
            )
            codes, counts = listed.value.codes, listed.value.values
            histogram = GridStep(title="cells", grid=fine, codes=codes, noisy_counts=counts, sd=listed.sd)
            return [_make_listed_synopsis(replace(histogram, cutoff=cutoff * scale), session.n, k, view)]
    half = view.half.copy()
    half[_COARSE_AXES:] = 0.0
    grid = make_cube_grid(half, count_smoothed_cells(session.n, k, scale, len(half), flat=False), view.middle)
    used = grid.cells_per_axis > 1
    used[0] |= not used.any()
    seen = GridPlace(view.middle[used], view.half[used], view.frame[used])
    grid = partitions.Grid(seen.half, grid.cells_per_axis[used], seen.middle)
    noisy = session.ask(
        queries.Count(_see_grid(session, grid, seen)), mechanisms.Laplace, shares[stage.grid], note="grid cells"
    )
    codes = np.arange(grid.n_cells)
    histogram = GridStep(title="cells", grid=grid, codes=codes, noisy_counts=noisy.value, sd=noisy.sd)
    return [
        _make_synopsis(histogram, seen.frame, _keep_cells(histogram, session.n, _NONE, trees=trees, flat=False), k)
        for trees in ([False, True] if stage.trees else [False])
    ]


class _FineCells(NamedTuple):
    """The fine ``grid``, the ``cutoff`` of its cells in scales of noise, and whether enough rows stand out of it."""

    grid: partitions.Grid
    cutoff: float
    enough: bool


def _ask_for_fine_cells(
    session: PrivateSession, test: StagePart, shares: Paid, scale: float, view: GridPlace
) -> _FineCells:
    fine = make_cube_grid(view.half, min(_FINE_CELLS, session.most_cells), view.middle)
    cutoff = _FINE_CAUTION * log(fine.n_cells)
    cells = queries.SparseCount(_see_grid(session, fine, view))
    excess = session.ask(
        cells, mechanisms.NoisyExcess, shares[test], note="would fine cells do?", threshold=cutoff * scale
    )
    # With few rows noise alone would reach that part of them.
    enough = float(excess.value[0]) > _FINE_ENOUGH * session.n + excess.mechanism.once.scale
    return _FineCells(fine, cutoff, enough)


def release_tail_synopsis(
    session: PrivateSession, k: int, stage: Cells, shares: Paid, seen: ProjectionStep, tail: Tail, view: GridPlace
) -> SynopsisStep:
    """The histogram where there is a tail: cells narrow near the middle of most rows, the wider the farther out.

    They are cubes in asinh of the distance over the median: alike within it, in proportion to the distance beyond. So
    rows far out have cells of their own instead of the last one of a box that most rows fill. Only trees of details
    read it: smoothing takes what is far out for noise (``docs/findings.md``).

    **Guarantee.** The shares of the stage. One row changes one cell by 1, and with it the sum of what exceeds a
    threshold: borders of cells follow from releases, and a row is compared with a table of them. The test of fine cells
    is asked as without a tail, and not needed: what is bought does not hang on what was seen.
    """
    scale = session.mechanism(
        queries.Count(partitions.Grid.over(session.region, 1)), mechanisms.Laplace, shares[stage.grid]
    ).scale
    if stage.fine_test is not None:
        _ask_for_fine_cells(session, stage.fine_test, shares, scale, view)
    captured, edge = seen.projection.captured[: min(seen.axes, _COARSE_AXES)], seen.noise_edge
    left, beside = captured[0] / k**2, seen.projection.spread - captured[0]
    several = beside > max(_TAIL_BESIDE * left, edge)
    clear = max(1, int((captured > max(edge, _TAIL_WORTH * left)).sum())) if several else 1
    frame, at = seen.projection.basis[:clear], seen.projection.basis[:clear] @ tail.middle
    # Nothing lies beyond the domain, which a column of amounts fills on one side only.
    farthest = np.minimum(np.abs(frame) @ session.region.half, session.region.radius)
    most = np.r_[np.inf, _TAIL_SDS * np.sqrt(captured[1:clear])]
    low, high = -np.minimum(farthest + at, most), np.minimum(farthest - at, most)
    first, last = np.arcsinh(low / tail.median), np.arcsinh(high / tail.median)
    number = count_smoothed_cells(session.n, k, scale, clear, flat=False)
    cells = make_cube_grid((last - first) / 2, number).cells_per_axis
    used = cells > 1
    used[0] |= not used.any()
    middle, half = (low + high) / 2, (high - low) / 2
    along = GridPlace((at + middle)[used], half[used], frame[used])
    steps = [np.linspace(*ends)[1:-1] for ends in zip(first[used], last[used], cells[used] + 1, strict=True)]
    borders = [tail.median * np.sinh(step) - shift for step, shift in zip(steps, middle[used], strict=True)]
    grid = partitions.UnevenGrid.between(
        along.half, [lattice.round_inward(one, lattice.ROW_BITS) for one in borders], along.middle
    )
    noisy = session.ask(
        queries.Count(_see_grid(session, grid, along)), mechanisms.Laplace, shares[stage.grid], note="grid cells"
    )
    histogram = GridStep(title="cells", grid=grid, codes=np.arange(grid.n_cells), noisy_counts=noisy.value, sd=noisy.sd)
    return _make_synopsis(histogram, along.frame, _keep_cells(histogram, session.n, _NONE, trees=True, flat=False), k)


def _make_listed_synopsis(listed: GridStep, n: int, k: int, view: GridPlace) -> SynopsisStep:
    """Of the fine cells that stand out. If these are fewer than ``k``, what they lack of ``n`` rows lies in the view.

    It is spread there like a normal distribution, as the view covers three standard deviations along each axis: without
    it all centres would share the narrow clusters that fill a cell.
    """
    filled = np.flatnonzero(listed.noisy_counts > 0)
    counts = listed.noisy_counts[filled]
    if len(filled) >= k:
        return _make_synopsis(listed, view.frame, CellContents(filled, counts), k)
    wide = make_cube_grid(view.half, _ELSEWHERE_POINTS, view.middle)
    middles = wide.centers(np.arange(wide.n_cells))
    likely = np.exp(-0.5 * (((middles - view.middle) / (view.half / COVERED_SDS)) ** 2).sum(axis=1))
    lacking = max(n - float(counts.sum()), 0.0) * likely / likely.sum()
    return _make_synopsis(listed, view.frame, CellContents(filled, np.r_[counts, lacking]), k, outside=middles)


def _see_grid(session: PrivateSession, grid: partitions.Grid, view: GridPlace) -> partitions.ProjectedCells:
    return partitions.ProjectedCells(grid, view.frame, Region.ball(len(view.frame), session.region.radius))


class CellContents(NamedTuple):
    """Indices (m,) of the cells that hold something, and what they seem to hold (m,), then what points outside hold.

    ``details`` are what trees of details told, where they did.
    """

    cells: Codes
    held: Array
    details: Details | None = None


def _keep_cells(histogram: GridStep, n: int, far: Array, *, trees: bool, flat: bool) -> CellContents:
    """What a histogram shows of ``n`` rows, some of which lie ``far`` (j,), outside of it."""
    noisy = histogram.noisy_counts.reshape(histogram.grid.cells_per_axis)
    if trees:
        counts, details = denoise(noisy, histogram.sd, max(n - float(far.sum()), 1.0))
        cells = np.flatnonzero(counts)
        return CellContents(cells, np.r_[counts.ravel()[cells], far], details)
    # Wide smoothing in a small grid leaves a floor everywhere: the counts have to add up to the rows, which is
    # measured (docs/findings.md: 1.021 instead of 1.027 over the tuning tables).
    cells, held, _ = find_standing_out(noisy, histogram.sd, flat=flat)
    return CellContents(cells, project_onto_total(np.r_[held, far], float(n)))


def _make_synopsis(
    cells: GridStep, frame: Array | None, found: CellContents, k: int, *, outside: Array | None = None
) -> SynopsisStep:
    """With hardly more cells than clusters, the largest noisy ones take part whether they stand out or not.

    What was ``found`` are cells, then the points ``outside``.
    """
    grid, noisy, kept = cells.grid, cells.noisy_counts, found.cells
    outside = np.zeros((0, len(grid.half))) if outside is None else outside
    weights, outside_weights = found.held[: len(kept)], found.held[len(kept) :]
    kept, weights = kept[weights > 0], weights[weights > 0]
    if len(kept) + len(outside) <= k < len(cells.codes):
        kept = np.sort(np.argsort(-noisy, kind="stable")[: max(k, len(kept))])
        weights = np.maximum(noisy[kept], _LEAST_WEIGHT * max(float(noisy.max()), 1.0))
    size = " × ".join(f"{m:,}" for m in grid.cells_per_axis) if len(grid.cells_per_axis) <= 5 else f"{grid.n_cells:,}"
    kind = "" if cells.cutoff is None else "fine "
    step = SynopsisStep(
        title="",
        grid=grid,
        codes=cells.codes,
        noisy_counts=noisy,
        sd=cells.sd,
        cutoff=cells.cutoff,
        around=cells.around,
        frame=frame,
        kept=kept,
        weights=weights,
        outside=outside,
        outside_weights=outside_weights,
        details=found.details,
    )
    return replace(step, title=f"{size} {kind}cells; denoising keeps {step.cells_kept:,}")


def find_standing_out(noisy_counts: Array, sd: float, *, flat: bool) -> CellContents:
    """The cells of a grid that stand out alone or with their neighbours, whose average is in a view what they hold."""
    smooth = smooth_counts(noisy_counts, sd, caution=_CAUTION_FLAT if flat else _CAUTION_VIEW).ravel()
    kept = np.flatnonzero(smooth)
    return CellContents(kept, noisy_counts.ravel()[kept] if flat else smooth[kept])


def smooth_counts(noisy_counts: Array, sd: float, *, caution: float) -> Array:
    """Each cell at the least width of smoothing at which it stands out of its noise; 0 where it never does."""
    dim = noisy_counts.ndim
    kept, undecided = np.zeros_like(noisy_counts), np.ones(noisy_counts.shape, dtype=bool)
    for width in WIDTHS:
        averaged = 1.0 if width == 0 else min(1.0, (2 * sqrt(pi) * width) ** -dim)
        level = noisy_counts if width == 0 else gaussian_filter(noisy_counts, width, mode="constant")
        noise = sd if width == 0 else sd * (2 * sqrt(pi) * width) ** (-dim / 2)
        clear = undecided & (level > caution * _compute_threshold(noisy_counts.size, dim, width, averaged) * noise)
        kept[clear] = level[clear]
        undecided &= ~clear
    return kept


def _compute_threshold(cells: int, dim: int, width: float, averaged: float) -> float:
    """In standard deviations: Gaussian where many cells are averaged, Laplace, whose tails are heavier, at width 0."""
    apart = max(log(max(cells / max(1.0, (2 * width) ** dim), 2.0)), 0.0)
    normal = sqrt(2 * apart)
    return normal + max(0.0, apart / sqrt(2) - normal) * sqrt(averaged)


def project_onto_total(noisy_counts: Array, total: float) -> Array:
    """The counts, none negative, that add up to ``total`` and lie nearest to ``noisy_counts`` (m,)."""
    if len(noisy_counts) == 0:
        return noisy_counts
    ordered = np.sort(noisy_counts)[::-1]
    surplus = ordered.cumsum() - total
    usable = np.flatnonzero(ordered > surplus / np.arange(1, len(ordered) + 1))
    if len(usable) == 0:
        return np.full(len(noisy_counts), total / len(noisy_counts))
    last = usable[-1]
    projected: Array = np.maximum(noisy_counts - surplus[last] / (last + 1), 0.0)
    return projected
