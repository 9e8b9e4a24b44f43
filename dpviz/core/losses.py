"""Losses of sets of centres: mechanisms choose by them; where they are capped, they may be published with noise.

A row's distances are rounded down to whole numbers of a public quantum before they are combined, so that losses of any
rows add up exactly, and no loss exceeds the one that is not rounded.

The sets are public or released, so what any row of a region can lose at most under each of them is, too, before a row
is read: see ``bound_distance`` and ``docs/proofs/sensitivities.md``.

References
----------
Dong, Durfee & Rogers 2020, §2 (bounded range). Land & Doig 1960 (branch and bound).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from math import inf

import numpy as np
from scipy.spatial.distance import cdist, pdist

from dpviz.core import check, lattice
from dpviz.core.arrays import Array, Codes
from dpviz.core.domain import Blocks, Region
from dpviz.core.lattice import ExactRows, OnLattice, borrow_scratch
from dpviz.core.partitions import ProjectedCells, Voronoi
from dpviz.core.queries import InQuanta, OfAllRows, Relation, Sensitivity, sum_by_cell
from dpviz.core.stored_rows import compute_squared_norms, is_sparse, make_dense

# A bound is at most this part above the truth, where few boxes are enough to know that.
_CLOSE = 2.0**-8
# Numbers in one temporary block.
_NUMBERS = 2**16
# Sums of squares are rounded: a bound must not fall below what a row attains, nor a box out of a ball that it touches.
_UP, _SLACK = 1 + 2.0**-42, 1 + 1e-9


def bound_distance(sets: Array, region: Region, *, nearest: int = 1) -> float:
    """An upper bound on how far a row lies from the ``nearest``-th nearest point of any of ``sets`` (m, k, d).

    No row is farther from a point p than the corner of the box across, |x_j - p_j| <= half_j + |p_j|, or than the far
    side of the ball, |x - p| <= radius + |p|; the nearest-th smallest of such bounds over the points of a set bounds
    its nearest-th smallest distance. In a smaller box, of middle c and half-widths w, |x_j - p_j| <= |c_j - p_j| + w_j.
    So the region is halved again and again, and the largest bound of all boxes bounds the whole, boxes that are done
    with included. A box is done with where no row in it can be much farther than one that was found. Where there are
    too many boxes, as in many dimensions, what the last ones say stands: it is larger than need be, never too small.
    Of points that are not finite there is no bound. Of categories a row is a corner: coordinates of blocks add their
    own farthest squares, and where that is less than the bound of the whole box it holds.

    Parameters
    ----------
    sets : array of shape (m, k, d)
        Public or released points, unit coordinates.
    region
    nearest : int
        1 for the nearest point of a set, 2 for the second nearest.

    Returns
    -------
    float
        Unit coordinates; not finite where a point is not.
    """
    if not np.isfinite(sets).all():
        return inf
    if region.blocks is not None:
        anywhere = bound_distance(sets, Region(region.half, region.radius), nearest=nearest)
        return min(_bound_blocks(sets, region, region.blocks, nearest), anywhere)
    ball = region.radius + np.linalg.norm(sets, axis=2)
    # Each line is a box of one set: sets whose points are everywhere are soon done with.
    which, closed = np.arange(len(sets)), 0.0
    middle, half = np.zeros((len(sets), region.dim)), np.tile(region.half, (len(sets), 1))
    found = _search_across(sets, region, nearest)
    while True:
        corner = np.linalg.norm(np.abs(middle[:, None] - sets[which]) + half[:, None], axis=2)
        bound = _find_smallest(np.minimum(corner, ball[which]), nearest)
        found = max(found, _measure_largest(region.clip(middle), sets[which], nearest))
        beyond = bound > found * (1 + _CLOSE)
        if not beyond.any() or 2 * int(beyond.sum()) * sets[0].size > _NUMBERS:
            return max(closed, float(bound.max())) * _UP
        closed = max(closed, float(bound.max(where=~beyond, initial=0.0)))
        which, middle, half = _halve(which[beyond], middle[beyond], half[beyond])
        inside = np.linalg.norm(np.maximum(np.abs(middle) - half, 0.0), axis=1) <= region.radius * _SLACK
        which, middle, half = which[inside], middle[inside], half[inside]


def _bound_blocks(sets: Array, region: Region, blocks: Blocks, nearest: int) -> float:
    """The bound that takes the farthest of each block, and the corner or the ball of all other coordinates."""
    free = sets[..., blocks.free]
    corner = ((np.abs(free) + region.half[blocks.free]) ** 2).sum(axis=2)
    ball = (blocks.free_radius + np.linalg.norm(free, axis=2)) ** 2
    bound = np.sqrt(np.minimum(corner, ball) + blocks.bound_squared_distance(sets, region.half))
    return float(_find_smallest(bound, nearest).max()) * _UP


def _search_across(sets: Array, region: Region, nearest: int) -> float:
    """What the rows attain that lie across the points which matter if the region stays whole."""
    corner = np.linalg.norm(np.abs(sets) + region.half, axis=2)
    matters = np.argpartition(np.minimum(corner, region.radius + np.linalg.norm(sets, axis=2)), nearest - 1, axis=1)
    points = sets[np.arange(len(sets)), matters[:, nearest - 1]]
    length = np.linalg.norm(points, axis=1, keepdims=True)
    opposite = -points * (region.radius / np.where(length > 0, length, 1.0))
    corners = np.where(points > 0, -region.half, region.half)
    return max(_measure_largest(region.clip(rows), sets, nearest) for rows in (opposite, corners))


def _measure_largest(rows: Array, sets: Array, nearest: int) -> float:
    """The largest nearest-th smallest distance, each of ``rows`` (m, d) to its own one of ``sets`` (m, k, d)."""
    return float(_find_smallest(np.linalg.norm(rows[:, None] - sets, axis=2), nearest).max())


def _find_smallest(distances: Array, nearest: int) -> Array:
    """The nearest-th smallest of each line."""
    return np.partition(distances, nearest - 1, axis=1)[:, nearest - 1]


def _halve(which: Codes, middle: Array, half: Array) -> tuple[Codes, Array, Array]:
    """Both halves of each box, cut across its longest side."""
    line, longest = np.arange(len(half)), half.argmax(axis=1)
    half = half.copy()
    half[line, longest] /= 2
    step = np.zeros_like(half)
    step[line, longest] = half[line, longest]
    return np.tile(which, 2), np.concatenate([middle - step, middle + step]), np.tile(half, (2, 1))


# Swaps compare a block of rows with candidates: about so many numbers, of so many rows.
_CACHED, _FEWEST_ROWS, _MOST_ROWS = 2**16, 64, 512
# Temporary numbers of a row that swaps are asked of: few, for chunks of many rows.
_FEWEST_NUMBERS = 32
# More than the rounding of a sum of two square roots.
_ROUNDED_UP = 1 + 1e-9


class _InLossQuanta(InQuanta):
    """A question whose tallies are losses."""

    def quantum(self, region: Region) -> float:
        """That of losses."""
        return float(2.0 ** -lattice.count_loss_bits(region.radius))


@dataclass(frozen=True, eq=False)
class SwapLoss(OnLattice, _InLossQuanta, rounded=("centers", "candidates")):
    """Change of the loss for every swap of one centre against one candidate, shape (k, n_candidates).

    Entry (i, y) is the loss of ``centers`` with centre i replaced by candidate y, minus the loss of ``centers``. The
    loss of a row is its distance to the nearest centre to the power ``order``: 2 for k-means, 1 for k-median.
    Both point sets must lie in the session's region, or the declared range is wrong; the session checks it.
    """

    centers: Array
    candidates: Array
    order: int = 2

    @property
    def over(self) -> Voronoi:
        return Voronoi(self.centers)

    @property
    def width(self) -> int:
        """Candidates take blocks of their own, which pay where many rows of a centre are at hand."""
        return max(_FEWEST_NUMBERS, 2 * len(self.centers))

    @cached_property
    def _near_to_far(self) -> tuple[Codes, Array]:
        """For each centre, the candidates from near to far, and how far they lie from it; (k, n_candidates) each."""
        apart = cdist(self.centers, self.candidates)
        order = apart.argsort(axis=1)
        return order, np.take_along_axis(apart, order, axis=1)

    @property
    def points(self) -> Array:
        """All points whose distances to rows make the loss."""
        return np.concatenate([self.centers, self.candidates])

    def tally(self, rows: ExactRows, cell: Codes) -> Codes:
        """The gains as ``compute_swap_gains`` writes them, of losses that are rounded down to whole numbers of quanta.

        A candidate that is no closer to a row than its second nearest centre saves nothing. None is closer that lies as
        far from the nearest centre as both centres together lie from the row: so most rows, which lie close to their
        centre, are compared with few candidates. All is exact, whatever the order of rows and of sums.
        """
        k, unit = len(self.centers), 2.0 ** lattice.count_loss_bits(rows.radius)
        points = make_dense(rows.values)  # of few columns: those of many are projected before
        near, second = _find_two_nearest(points, self.centers)
        reach = (np.sqrt(near) + np.sqrt(second)) * _ROUNDED_UP
        near, second = (_count_in_units(squared, self.order, unit) for squared in (near, second))
        if k == 1:
            second = np.maximum(np.ceil(_bound_losses(points, self.candidates, self.order) * unit) + 1, near)
        lost = np.bincount(cell, second - near, k)[:, None]
        # By cells, and by reach within each. Sorting by one number takes a sixth of the time of sorting by two.
        farthest = float(self._near_to_far[1].max(initial=0.0))
        in_order = np.argsort(np.minimum(reach, farthest) + cell * (farthest + 1))
        border = np.searchsorted(cell[in_order], np.arange(k + 1))
        points, reach, near, second = (rows_of[in_order] for rows_of in (points, reach, near, second))
        gap, row_norms = (second - near)[:, None], compute_squared_norms(points)
        scale = unit if self.order == 2 else 1.0
        doubled, norms = 2 * scale * self.candidates, scale * compute_squared_norms(self.candidates)
        # What each candidate saves all rows, and what it saves those of each cell as long as their centre stays.
        for_all, saved = np.zeros(len(self.candidates)), np.zeros((k, len(self.candidates)))
        for i, (nearest_first, apart) in enumerate(zip(*self._near_to_far, strict=True)):
            some, their_norms = doubled[nearest_first], norms[nearest_first]
            of_all, of_cell = np.zeros(len(some)), np.zeros(len(some))
            for mine, within in _list_blocks(reach, border[i], border[i + 1], apart):
                closer = np.matmul(points[mine], some[:within].T, out=borrow_scratch(mine.stop - mine.start, within))
                closer -= their_norms[:within]
                _count_saved(closer, row_norms[mine], second[mine], self.order, unit)
                of_all[:within] += closer.sum(axis=0)
                np.minimum(closer, gap[mine], out=closer)
                of_cell[:within] += closer.sum(axis=0)
            for_all[nearest_first] += of_all
            saved[i, nearest_first] = of_cell
        gains: Array = lost - saved + (saved.sum(axis=0) - for_all)
        return gains.astype(np.int64)

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """A row moves entry (i, y) by what it loses under that swap, less what it loses without: the same for all.

        So the range is that of its losses after the swaps. None is below 0. Whichever centre goes, one of its two
        nearest stays: no loss exceeds the distance to the second nearest, nor that to the farthest candidate. With z
        the centre that is second closest to 0 and radius Λ this is at most (Λ + |z|)^order; the largest distance from
        any row to its second nearest centre is less, and a row that attains it does so where a candidate lies on it.
        Rounding down keeps all order, and the least loss at 0 or more: a range does not exceed the one not rounded.
        """
        farthest = bound_distance(self.candidates[:, None], region)
        if len(self.centers) > 1:
            farthest = min(farthest, bound_distance(self.centers[None], region, nearest=2))
        return Sensitivity(l1=inf, l2=inf, range=relation.rows * farthest**self.order)


@dataclass(frozen=True, eq=False)
class Loss(OnLattice, _InLossQuanta, OfAllRows, rounded=("sets",)):
    """Loss of each of several sets of centres, shape (n_sets,); ``sets`` has shape (n_sets, k, d).

    Of distances to the power ``order``: 2 for k-means, 1 for k-median.
    """

    sets: Array
    order: int = 2

    @property
    def width(self) -> int:
        return int(self.sets.shape[0] * self.sets.shape[1])

    @property
    def points(self) -> Array:
        """All points whose distances to rows make the loss."""
        return self.sets.reshape(-1, self.sets.shape[-1])

    def bound_distance(self, region: Region) -> float:
        """The most that a row of ``region`` lies from the nearest centre of any set."""
        return bound_distance(self.sets, region)

    def measure_nearest(self, rows: ExactRows) -> Array:
        """Squared distance of each row to the nearest centre of each set, shape (rows, n_sets)."""
        n_sets, k, dim = self.sets.shape
        # Centre by centre, so that the smallest over k is taken of runs of n_sets numbers: twice as fast.
        points = self.sets.transpose(1, 0, 2).reshape(-1, dim)
        if is_sparse(rows.values):
            closer = np.asarray(rows.values @ (-2.0 * points.T))
        else:
            closer = np.matmul(rows.values, -2.0 * points.T, out=borrow_scratch(len(rows), len(points)))
        closer += compute_squared_norms(points)
        nearest: Array = closer.reshape(-1, k, n_sets).min(axis=1)
        nearest += compute_squared_norms(rows.values)[:, None]
        return nearest

    def tally(self, rows: ExactRows, cell: Codes) -> Codes:
        unit = 2.0 ** lattice.count_loss_bits(rows.radius)
        return np.asarray(_count_in_units(self.measure_nearest(rows), self.order, unit).sum(axis=0), dtype=np.int64)

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """A row's losses lie between 0 and the most that any row lies from the nearest centre of any set.

        Rounded down they do too. Under replace one row's losses go as another's come: twice that.
        """
        return Sensitivity(l1=inf, l2=inf, range=relation.rows * self.bound_distance(region) ** self.order)


@dataclass(frozen=True, eq=False)
class MedianLoss(OnLattice, _InLossQuanta, rounded=("places",)):
    """Change of the summed distances of the rows of each cell if its centre moves, shape (n_cells, m).

    Entry (j, i) adds up, over the rows of cell j, the distance to ``places[j, i]`` minus that to ``places[j, 0]``;
    ``places`` has shape (n_cells, m, d) and is public or released.
    """

    over: Voronoi | ProjectedCells
    places: Array

    @property
    def width(self) -> int:
        return int(self.over.width + self.places.shape[1] + self.places.shape[2])

    def tally(self, rows: ExactRows, cell: Codes) -> Codes:
        """A matrix product for each cell that has rows of the chunk."""
        unit = 2.0 ** lattice.count_loss_bits(rows.radius)
        points = make_dense(rows.values)
        norms, order = compute_squared_norms(points), np.argsort(cell, kind="stable")
        border = np.searchsorted(cell[order], np.arange(len(self.places) + 1))
        moved = np.zeros(self.places.shape[:2], dtype=np.int64)
        for j in np.flatnonzero(np.diff(border)):
            held, places = order[border[j] : border[j + 1]], self.places[j]
            squared = points[held] @ (-2.0 * places.T) + norms[held][:, None] + compute_squared_norms(places)
            distances = _count_in_units(squared, 1, unit)
            moved[j] = (distances - distances[:, :1]).sum(axis=0)
        return moved

    @cached_property
    def spread(self) -> float:
        """The farthest that two places of one cell lie apart."""
        if not np.isfinite(self.places).all():
            return inf
        return max((float(pdist(places).max(initial=0.0)) for places in self.places), default=0.0)

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """A row is in one cell; what it adds to two entries there differs by at most the distance of their places.

        That is the triangle inequality: it holds for rows anywhere. Rounded down, two distances may be one quantum
        farther apart. Nor do they differ by more than the farthest that a row lies from any place. The first entry does
        not move, and neither does another cell: what is between two entries of a line is between any two of all. Under
        replace one row goes and another comes, in one cell or two: twice that.
        """
        most = self.spread + self.quantum(region)
        if most > region.radius:
            most = min(most, bound_distance(self.places.reshape(-1, 1, self.places.shape[2]), region))
        return Sensitivity(l1=inf, l2=inf, range=relation.rows * most)


def compute_swap_gains(
    points: Array, weights: Array, cell: Codes, centers: Array, candidates: Array, *, order: int = 2
) -> Array:
    """Change of the weighted loss of ``points`` for every swap, shape (k, n_candidates), as ``SwapLoss`` defines it.

    Let D be a point's loss at the candidate, d1 and d2 those at its nearest and second nearest centre. Its loss falls
    to D where D < d1; if its own centre is the one removed it rises to min(D, d2) instead. Written with (d2 - D)+ and
    min((d2 - D)+, d2 - d1), all swaps take one matrix product and a few passes over its result.

    Parameters
    ----------
    points : array of shape (n, d)
        Unit coordinates.
    weights : array of shape (n,)
        Rows that each point stands for.
    cell : int array of shape (n,)
        The nearest centre of each point.
    centers : array of shape (k, d)
    candidates : array of shape (n_candidates, d)
        Unit coordinates.
    order : int
        2 for squared distances, 1 for distances.

    Returns
    -------
    array of shape (k, n_candidates)
        Negative where the swap helps.
    """
    near, second = (_count_in_units(loss, order) for loss in _find_two_nearest(points, centers))
    if len(centers) == 1:
        second = np.maximum(_bound_losses(points, candidates, order), near)
    norms = compute_squared_norms(points)
    closer = np.matmul(points, 2 * candidates.T, out=borrow_scratch(len(points), len(candidates)))
    closer -= compute_squared_norms(candidates)
    _count_saved(closer, norms, second, order)
    gap = second - near
    for_all = weights @ closer
    np.minimum(closer, gap[:, None], out=closer)
    saved = sum_by_cell(closer, cell, len(centers), weights=weights)
    shared = saved.sum(axis=0) - for_all
    gains: Array = np.subtract(sum_by_cell(gap[:, None], cell, len(centers), weights=weights), saved, out=saved)
    gains += shared
    return gains


def _list_blocks(reach: Array, start: int, stop: int, apart: Array) -> Iterator[tuple[slice, int]]:
    """Some of the rows from ``start`` to ``stop``, sorted by ``reach``, and how many candidates are less ``apart``.

    As many as the cache holds; rows that reach no candidate are left out. Rows that reach all candidates, or that reach
    alike, come in any order.
    """
    while start < stop:
        likely = int(np.searchsorted(apart, reach[start]))
        block = slice(start, min(stop, start + min(_MOST_ROWS, max(_FEWEST_ROWS, _CACHED // max(1, likely)))))
        within = int(np.searchsorted(apart, reach[block].max(), side="right"))
        if within:
            yield block, within
        start = block.stop


def _bound_losses(points: Array, candidates: Array, order: int) -> Array:
    """More than any of the candidates loses at each point, for a centre that has no second one beside it; (points,)."""
    farthest = np.sqrt(compute_squared_norms(candidates).max(initial=0.0))
    return np.asarray((np.sqrt(compute_squared_norms(points)) + farthest) ** order)


def _count_in_units(squared: Array, order: int, unit: float | None = None) -> Array:
    """Losses from squared distances, in place: their root for order 1, rounded down to whole numbers of 1 / unit."""
    np.maximum(squared, 0.0, out=squared)
    if order == 1:
        np.sqrt(squared, out=squared)
    if unit is not None:
        squared *= unit
        np.floor(squared, out=squared)
    return squared


def _count_saved(closer: Array, norms: Array, second: Array, order: int, unit: float | None = None) -> None:
    """In place, from 2x·y - |y|²: by how much candidate y loses less at x than the second centre, or 0; in whole
    numbers of 1 / unit, for order 2 of products that are counted in it already."""
    if order == 2:
        closer += (second - (unit or 1.0) * norms)[:, None]
        if unit is not None:
            np.ceil(closer, out=closer)  # a whole number minus a distance that is rounded down
    else:
        np.subtract(norms[:, None], closer, out=closer)
        np.subtract(second[:, None], _count_in_units(closer, order, unit), out=closer)
    np.maximum(closer, 0.0, out=closer)


def _find_two_nearest(chunk: Array, centers: Array) -> tuple[Array, Array]:
    """Squared distance to the nearest and the second nearest centre of each row; infinite where there is none."""
    squared = chunk @ centers.T
    squared *= -2.0
    squared += compute_squared_norms(chunk)[:, None]
    squared += compute_squared_norms(centers)
    if len(centers) == 1:
        return squared[:, 0], np.full(len(chunk), np.inf)
    squared.partition(1, axis=1)
    return squared[:, 0], squared[:, 1]


@dataclass(frozen=True, eq=False)
class CappedLosses(Loss):
    """Sum over the rows of min(squared distance to the nearest centre, cap) for each of several sets, shape (n_sets,).

    ``caps`` (n_sets,) is a cap for each set, public or released. They bound what a row adds, so that the sums can be
    published with noise that is in proportion to a cap and not to the whole region.
    """

    caps: Array = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        caps = np.asarray(self.caps, dtype=np.float64)
        if caps.shape != (len(self.sets),) or not (np.isfinite(caps).all() and (caps > 0).all()) or self.order != 2:
            raise check.RequestError("Losses are capped at a finite number above 0: give one cap for each set.")
        object.__setattr__(self, "caps", caps)

    def tally(self, rows: ExactRows, cell: Codes) -> Codes:
        unit = 2.0 ** lattice.count_loss_bits(rows.radius)
        nearest = _count_in_units(self.measure_nearest(rows), self.order, unit)
        return np.asarray(np.minimum(nearest, np.floor(self.caps * unit)).sum(axis=0), dtype=np.int64)

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """A row adds something in [0, c] to the sum of a set of cap c, where c is no more than diameter².

        If it is exchanged for another one, a sum moves by the difference of two such numbers, which is no more than c
        either: so the norms are those of the caps, for either relation. What a row adds to two sets differs by at most
        the larger cap, which a row attains that lies on a centre of one set and far from the other; where one row goes
        and another comes, that is twice so much.
        """
        caps = np.minimum(self.caps, region.diameter**2)
        most, norm = float(caps.sum()), float(np.linalg.norm(caps))
        return Sensitivity(l1=most, l2=norm, block=most, range=relation.rows * float(caps.max()))


@dataclass(frozen=True, eq=False)
class PoolLoss(Loss):
    """k-means loss of each of several sets of centres, shape (n_sets,), with a range for how far the sets differ.

    The sets are public or released, so this range is too. Centre j of one set is compared with centre j of another:
    whoever matches them well gets the smaller range.
    """

    @cached_property
    def spread(self) -> float:
        """The farthest that centre j of one set lies from centre j of another, over all j."""
        if len(self.sets) < 2:
            return 0.0
        return max(float(pdist(self.sets[:, j]).max()) for j in range(self.sets.shape[1]))

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """A row's loss differs between two sets by at most h (2 r - h), with spread h and the reach r of a row.

        Rounded down, two losses may be one quantum farther apart.

        Let b_j be the centre of one set nearest to the row x, a_j that of the other set, and u the distance from x to
        the nearest centre of that other set: u <= r, and u <= |x - a_j| <= |x - b_j| + h. So the losses differ by at
        most u² - (u - h)² = h (2 u - h) (where u < h, by u² < h²). Where h >= r this is r², the range of ``Loss``.
        Distances themselves differ by at most h.
        """
        farthest = self.bound_distance(region)
        h = min(self.spread, farthest)
        once = h * (2 * farthest - h) if self.order == 2 else h
        most = min(once + self.quantum(region), farthest**self.order)
        return Sensitivity(l1=inf, l2=inf, range=relation.rows * most)
