"""The synopsis of ``auto``: one noisy histogram of cube cells over a view of the rows, and what stands out of it.

What stands out is free post-processing of released counts: without it a few spikes of noise, far away from all rows,
take a centre each. Over two and three columns trees of details tell it. Smoothing and one threshold for all cells do
better over one column, in a view with many clusters, and where clusters hold next to no rows; in a view with few
clusters either may be the better one, and the noisy counts themselves are asked which. Where nothing else is said,
constants were chosen by hand on the tuning families of ``benchmarks/families.py``.

A noisy histogram is read through trees of blocks. A block knows how many rows it holds better than each of its parts
does. A tree halves blocks of cells along every axis, down to single cells. The **detail** of a part is what it holds
beyond its share, by volume, of its block. Details that noise alone would hardly show are believed; others are dropped,
so that the parts share their block's rows evenly. No row is lost on the way: the parts of a block always add up to it,
and none is negative. So light clusters keep their rows where one threshold for all cells would take them away, and
noise far from all rows stays spread thinly. Where blocks begin is arbitrary: several trees, shifted against each other,
are averaged. All this is post-processing of released counts.

References
----------
Donoho & Johnstone 1994 (thresholds on wavelet coefficients), James & Stein 1961 (shrinking), Hay, Rastogi, Miklau &
Suciu 2010 (parts that add up to their block), Chan 1998 (shifted quadtrees).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log, pi, prod, sqrt
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.ndimage import gaussian_filter

from dpviz.algorithms.auto.auto_plan import (
    Cells,
    Paid,
    count_smoothed_cells,
    count_tree_cells,
    count_widening_cells,
    list_finer_cells,
)
from dpviz.algorithms.auto.private_projection import ProjectionStep, Tail, are_unlike
from dpviz.algorithms.auto.zooming import ZoomStep, count_rows, lay_around_box, lay_around_core
from dpviz.algorithms.steps import GridStep
from dpviz.algorithms.tools.solvers import make_cube_grid
from dpviz.core import Array, Budget, Codes, PrivateSession, Region, lattice, mechanisms, partitions, queries

# How far beyond what chance shows once a level a detail has to be, in its logarithm; and how far a lone part has to be
# from 0, so that it is not taken for empty.
_CAUTION, _FILLED = 1.5, 1.2
_TINY = 1e-300

Flags = npt.NDArray[np.bool_]
N = TypeVar("N", bound=np.generic)


@dataclass(frozen=True, eq=False)
class Details:
    """What became of the details of the first tree.

    ``sides`` (levels,) are those of the parts, in cells, from single cells upwards; of the blocks that have parts so
    large ``kept`` (levels,) keep their details, ``shrunk`` believe in a part of them, and ``shared`` share evenly.
    ``blocks`` has one axis for each axis of the grid: the side of the largest block around each cell that is shared
    evenly, in cells; 1 where the cell itself stands out.
    """

    sides: Codes
    kept: Codes
    shrunk: Codes
    shared: Codes
    blocks: Codes

    @property
    def all(self) -> Codes:
        """How many blocks have parts so large, (levels,)."""
        return self.kept + self.shrunk + self.shared


def denoise(noisy_counts: Array, sd: float, total: float) -> tuple[Array, Details]:
    """What the cells of a noisy histogram hold, together ``total``: the mean over d + 1 shifted trees (or d + 2, odd).

    And the details of the first tree. What cells hold is never negative, and of the shape of the counts; without noise
    these come back as they are, if they add up to the total. O(d m), m cells.
    """
    wide = noisy_counts.reshape([m for m in noisy_counts.shape if m > 1] or [1]).astype(np.float64)
    trees = wide.ndim + 1 + wide.ndim % 2
    top = 1 << (max(wide.shape) - 1).bit_length()
    first = _Tree.over(wide, 0, sd)
    mean = first.counts(total)
    for i in range(1, trees):
        mean += _Tree.over(wide, top * i // trees, sd).counts(total)
    return (mean / trees).reshape(noisy_counts.shape), first.details(noisy_counts.shape)


class _Fold(NamedTuple):
    """How the nodes of a level lie in the blocks above: ``shape`` of the nodes, and how many are missing ``before``.

    Missing nodes fill incomplete blocks at the rim; they have no cells.
    """

    shape: tuple[int, ...]
    before: tuple[int, ...]

    def parts(self, values: npt.NDArray[N]) -> npt.NDArray[N]:
        """Values of nodes, as an array of shape (2^d, *blocks): part by part. Missing ones are 0."""
        whole = [(m + b + 1) // 2 * 2 for m, b in zip(self.shape, self.before, strict=True)]
        padded = values
        if tuple(whole) != self.shape:
            padded = np.zeros(whole, dtype=values.dtype)
            padded[self._inside] = values
        halved = padded.reshape([size for m in padded.shape for size in (m // 2, 2)])
        axes, blocks = range(len(self.shape)), halved.shape[::2]
        return halved.transpose([2 * j + 1 for j in axes] + [2 * j for j in axes]).reshape(-1, *blocks)

    def nodes(self, parts: npt.NDArray[N]) -> npt.NDArray[N]:
        """Back to an array of the nodes."""
        dim, blocks = len(self.shape), parts.shape[1:]
        order = [axis for j in range(dim) for axis in (dim + j, j)]
        padded = parts.reshape([2] * dim + list(blocks)).transpose(order).reshape([2 * m for m in blocks])
        return padded[self._inside]

    @property
    def _inside(self) -> tuple[slice, ...]:
        return tuple(slice(b, b + m) for b, m in zip(self.before, self.shape, strict=True))


class _Level(NamedTuple):
    """The blocks of one level, part by part: arrays of shape (2^d, *blocks), or of the blocks alone.

    ``cells`` and ``details`` are those of the parts; ``part_stands`` says under which of them a detail stands out.
    ``belief`` in the details of a block lies between 0 and 1; ``several`` says which blocks have more than one part.
    """

    fold: _Fold
    cells: Array
    details: Array
    part_stands: Flags
    belief: Array
    several: Flags


@dataclass(frozen=True, eq=False)
class _Tree:
    """All levels, from single cells up to the block that holds everything."""

    levels: Sequence[_Level]
    sd: float

    @classmethod
    def over(cls, noisy: Array, shift: int, sd: float) -> _Tree:
        """The tree whose blocks begin ``shift`` cells before the grid does, along every axis."""
        sums, cells, stands = noisy, np.ones(noisy.shape), np.zeros(noisy.shape, dtype=bool)
        levels = []
        while sums.size > 1:
            fold = _Fold(sums.shape, (shift % 2,) * sums.ndim)
            shift //= 2
            nodes, parts, of_parts, part_stands = sums.size, fold.parts(sums), fold.parts(cells), fold.parts(stands)
            sums, cells, number = parts.sum(axis=0), of_parts.sum(axis=0), (of_parts > 0).sum(axis=0)
            details = parts - of_parts * (sums / cells)
            here, belief = _find_standing_out(details, of_parts, cells, number, nodes, sd)
            below = part_stands.any(axis=0)
            levels.append(_Level(fold, of_parts, details, part_stands, np.where(below, 1.0, belief), number > 1))
            stands = here | below
        return cls(levels, sd)

    def counts(self, total: float) -> Array:
        """What each cell holds, from the root down."""
        held: Array = np.full((1,) * len(self.levels[0].fold.shape) if self.levels else (1,), total)
        for level in reversed(self.levels):
            cells = level.cells
            expected = cells * (held / cells.sum(axis=0)) + level.belief * level.details
            least = _FILLED * _expect_by_chance(cells, log(max(prod(level.fold.shape), 2))) * self.sd * np.sqrt(cells)
            empty = ~level.part_stands & (level.belief > 0) & (expected < least)
            held = level.fold.nodes(_make_add_up(expected, cells, empty, held))
        return held

    def details(self, shape: tuple[int, ...]) -> Details:
        """What stood out and what was shared, over a grid of ``shape``."""
        numbers, blocks = [], np.zeros((1,) * len(self.levels[0].fold.shape) if self.levels else (1,))
        for height, level in reversed(list(enumerate(self.levels))):
            believed, several = level.belief[level.several], int(level.several.sum())
            whole, some = int((believed == 1).sum()), int((believed > 0).sum())
            numbers.append((2**height, whole, some - whole, several - some))
            # A block is shared evenly from the highest level on below which nothing is believed.
            told = (level.belief > 0) | level.part_stands.any(axis=0)
            within = np.where(told, 2.0**height, np.where(blocks > 0, blocks, 2.0 ** (height + 1)))
            blocks = level.fold.nodes(np.broadcast_to(within, level.cells.shape))
        sides, kept, shrunk, shared = np.array(numbers[::-1], dtype=np.int64).reshape(-1, 4).T
        return Details(sides, kept, shrunk, shared, np.maximum(blocks, 1.0).astype(np.int64).reshape(shape))


def _expect_by_chance(cells: Array, apart: float) -> Array:
    """In sds, what one of e^``apart`` sums over so many ``cells`` shows by chance: sums over few have Laplace tails."""
    return np.maximum(sqrt(2 * apart), apart / sqrt(2) / np.sqrt(np.maximum(cells, 1.0)))


def _find_standing_out(
    details: Array, of_parts: Array, cells: Array, number: Codes, nodes: int, sd: float
) -> tuple[Flags, Array]:
    """Whether the details of each block stand out, and how far they are to be believed.

    By the sum of their squares, against that of noise (Laurent & Massart 2000, lemma 1), or by one part alone.
    """
    volume, free = np.maximum(of_parts, 1.0), number - 1
    squares = (details**2 / volume).sum(axis=0) / sd**2
    apart = _CAUTION * log(max(cells.size, 2))
    normal = free + 2 * np.sqrt(free * apart) + 2 * apart
    laplace = apart**2 / 2 / np.maximum(1.0, cells / number)
    left = np.sqrt(volume * (1 - of_parts / cells))
    alone = details > _expect_by_chance(of_parts, _CAUTION * log(max(nodes, 2))) * sd * left
    here = ((squares > np.maximum(normal, laplace)) | (alone & (of_parts > 0)).any(axis=0)) & (free > 0)
    return here, np.where(here, np.maximum(0.0, 1 - free / np.maximum(squares, _TINY)), 0.0)


def _make_add_up(expected: Array, cells: Array, empty: Flags, held: Array) -> Array:
    """Parts that add up to what their blocks ``held``, none negative, nearest to what is ``expected`` of them.

    A surplus is taken from all parts in proportion to their cells, and those that would come out below 0 take no part
    any more: at least one is left. Empty parts hold nothing, unless all of a block are.
    """
    present = cells > 0
    active = present & ~empty
    active |= present & ~active.any(axis=0)
    while True:
        volume = np.where(active, cells, 0.0)
        surplus = np.where(active, expected, 0.0).sum(axis=0) - held
        parts = np.where(active, expected - surplus / np.maximum(volume.sum(axis=0), 1.0) * cells, 0.0)
        below = parts < 0
        # Rounding alone never empties a block.
        below &= ~(below | ~active).all(axis=0)
        if not below.any():
            return np.maximum(parts, 0.0)
        active &= ~below


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
_COVERED_SDS = 3.0
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
    grid, trees = _choose_flat_grid(session, k, stage, shares, scale, half, middle, zoomed.rows), stage.trees
    if zoomed.core is not None:
        few = count_widening_cells(session.n, k, scale, session.dim)
        grid, trees = lay_around_core(zoomed.grid.half, zoomed.core, few), True
    threshold = _CAUTION_FLAT * scale
    # Where noise is so small that one row stands out of the coarse cells they may stay narrow.
    shared = threshold * log(zoomed.grid.n_cells) > 1
    beyond = lay_around_box(zoomed) if shared else zoomed.grid
    cells = grid if zoomed.box is None else partitions.Zoomed(grid, beyond)
    noisy = session.ask(queries.Count(cells), mechanisms.Laplace, shares[stage.grid], note="grid cells")
    # Both partitions together know best how many rows there are.
    rows = count_rows(session, (zoomed.noisy_counts, zoomed.sd), (noisy.value, noisy.sd))
    inner, outer = noisy.value[: grid.n_cells], noisy.value[grid.n_cells :]
    histogram = GridStep(title="cells", grid=grid, codes=np.arange(grid.n_cells), noisy_counts=inner, sd=noisy.sd)
    if zoomed.box is None:
        return _make_synopsis(histogram, None, _keep_cells(histogram, rows, _NONE, trees=trees, flat=True), k)
    middles = beyond.centers(np.arange(beyond.n_cells))
    out = ~((middles > low) & (middles < high)).all(axis=1)
    far = np.flatnonzero(out & (outer > threshold * log(max(int(out.sum()), 2))))
    title, codes = "coarse cells around the box", np.flatnonzero(out)
    around = GridStep(title=title, grid=beyond, codes=codes, noisy_counts=outer[out], sd=noisy.sd)
    kept = _keep_cells(histogram, rows, outer[far], trees=trees, flat=True)
    return _make_synopsis(replace(histogram, around=around), None, kept, k, outside=middles[far])


def _choose_flat_grid(
    session: PrivateSession, k: int, stage: Cells, shares: Paid, scale: float, half: Array, middle: Array, n: float
) -> partitions.Grid:
    """The finest grid up to which enough rows stand out; what is asked does not hang on the answers."""
    if stage.trees:
        wanted = count_tree_cells(session.n, k, scale, half)
    else:
        wanted = count_smoothed_cells(session.n, k, scale, session.dim, flat=True)
    grid, so_far = make_cube_grid(half, wanted, middle), True
    finer_tests = (stage.finer_test, stage.finest_test)
    for test, cells in zip(finer_tests, list_finer_cells(session.n, k, scale, half), strict=True):
        if test is None:
            break
        finer = make_cube_grid(half, cells, middle)
        question, threshold = queries.SparseCount(finer), _FINER_CAUTION * log(finer.n_cells) * scale
        note = "would finer cells do?"
        excess = session.ask(question, mechanisms.NoisyExcess, shares[test], note=note, threshold=threshold)
        so_far &= float(excess.value[0]) > _FINER_ENOUGH * n + excess.mechanism.once.scale
        grid = finer if so_far else grid
    return grid


def release_view_synopses(
    session: PrivateSession, k: int, stage: Cells, shares: Paid, look: ProjectionStep
) -> list[SynopsisStep]:
    """The histogram over the axes of a view: fine, if a test says that enough rows would stand out, else coarse.

    One histogram is bought; with few clusters there are two readings of it, smoothed and through trees of details.

    **Guarantee.** The shares of the stage. One row changes one cell by 1, and with it the sum of what exceeds a
    threshold. The test decides which one grid is bought; there is never a second one. Where there is a tail it is asked
    as without one, and decides nothing: what is bought does not hang on what was seen. The axes and the cells of the
    grid follow from bounds, k, the number of rows and releases.
    """
    everywhere, share = queries.Count(partitions.Grid.over(session.region, 1)), shares[stage.grid]
    scale = session.mechanism(everywhere, mechanisms.Laplace, share).scale
    frame = look.projection.basis[: look.axes]
    half = np.minimum(look.projection.clipping_radius, _COVERED_SDS * np.sqrt(look.projection.variances[: look.axes]))
    view = GridPlace(frame @ look.projection.middle, half, frame)
    if stage.fine_test is not None:
        fine = make_cube_grid(view.half, min(_FINE_CELLS, session.most_cells), view.middle)
        cutoff, cells = _FINE_CAUTION * log(fine.n_cells), queries.SparseCount(_see_grid(session, fine, view))
        test, note = shares[stage.fine_test], "would fine cells do?"
        excess = session.ask(cells, mechanisms.NoisyExcess, test, note=note, threshold=cutoff * scale)
        # With few rows noise alone would reach that part of them.
        enough = float(excess.value[0]) > _FINE_ENOUGH * look.rows + excess.mechanism.once.scale
        if enough and look.tail is None:
            note = "fine grid cells"
            listed = session.ask(cells, mechanisms.SparseLaplace, share, note=note, cutoff_in_scales=cutoff)
            codes, counts = listed.value.codes, listed.value.values
            histogram = GridStep(title="cells", grid=fine, codes=codes, noisy_counts=counts, sd=listed.sd)
            return [_make_listed_synopsis(replace(histogram, cutoff=cutoff * scale), look.rows, k, view)]
    if look.tail is not None:
        return [_release_tail_synopsis(session, k, share, look, look.tail, scale)]
    half[_COARSE_AXES:] = 0.0
    number = count_smoothed_cells(session.n, k, scale, len(half), flat=False)
    if stage.trees and look.noise_edge > 0 and are_unlike(session.region):
        # An axis that noise alone may show takes cells from those that matter. In a cube, where more axes have their
        # part of the spread, leaving it out brings as much as it costs (docs/findings.md).
        half[1:] *= look.projection.captured[1 : look.axes] > look.noise_edge
        number = min(number, count_tree_cells(session.n, k, scale, half[half > 0]))
    grid = make_cube_grid(half, number, view.middle)
    used = grid.cells_per_axis > 1
    used[0] |= not used.any()
    seen = GridPlace(view.middle[used], view.half[used], view.frame[used])
    grid = partitions.Grid(seen.half, grid.cells_per_axis[used], seen.middle)
    histogram = _count_cells(session, grid, seen, share)
    return [
        _make_synopsis(histogram, seen.frame, _keep_cells(histogram, look.rows, _NONE, trees=trees, flat=False), k)
        for trees in ([False, True] if stage.trees else [False])
    ]


def _count_cells(session: PrivateSession, grid: partitions.Grid, seen: GridPlace, share: Budget) -> GridStep:
    noisy = session.ask(queries.Count(_see_grid(session, grid, seen)), mechanisms.Laplace, share, note="grid cells")
    return GridStep(title="cells", grid=grid, codes=np.arange(grid.n_cells), noisy_counts=noisy.value, sd=noisy.sd)


def _release_tail_synopsis(
    session: PrivateSession, k: int, share: Budget, seen: ProjectionStep, tail: Tail, scale: float
) -> SynopsisStep:
    """The histogram where there is a tail: cells narrow near the middle of most rows, the wider the farther out.

    They are cubes in asinh of the distance over the median: alike within it, in proportion to the distance beyond. So
    rows far out have cells of their own instead of the last one of a box that most rows fill. Only trees of details
    read it: smoothing takes what is far out for noise (``docs/findings.md``).

    **Guarantee.** ``share``. One row changes one cell by 1: borders of cells follow from releases, and a row is
    compared with a table of them.
    """
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
    borders = [lattice.round_inward(border, lattice.ROW_BITS) for border in borders]
    grid = partitions.UnevenGrid.between(along.half, borders, along.middle)
    histogram = _count_cells(session, grid, along, share)
    return _make_synopsis(histogram, along.frame, _keep_cells(histogram, seen.rows, _NONE, trees=True, flat=False), k)


def _make_listed_synopsis(listed: GridStep, n: float, k: int, view: GridPlace) -> SynopsisStep:
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
    likely = np.exp(-0.5 * (((middles - view.middle) / (view.half / _COVERED_SDS)) ** 2).sum(axis=1))
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


def _keep_cells(histogram: GridStep, n: float, far: Array, *, trees: bool, flat: bool) -> CellContents:
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
    return np.asarray(np.maximum(noisy_counts - surplus[last] / (last + 1), 0.0))
