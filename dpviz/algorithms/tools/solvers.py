"""Non-private optimisers on public or released points: free post-processing, never shown a row.

Every function here sees what has already been released (cells of a grid with noisy counts, candidate centres) and may
look at it as often as it likes.

Their seeds are those of k-means++: drawn by their weighted squared distance to those before, from one start or from
many.

Points and cells that know nothing of the data are made here, too: centres packed far apart, uniform draws, and grids of
cubes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum, log, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist

from dpviz.algorithms.steps import Step
from dpviz.algorithms.tools.leaves import Leaves, split_into_leaves
from dpviz.core import Array, Codes, Region, lattice, partitions

_HALVINGS = 25
_REJECTIONS = 100
_BATCH = 128


def pack_spheres(k: int, region: Region, rng: np.random.Generator) -> Array:
    """``k`` centres in ``region``, unit coordinates, shape (k, d), pairwise as far apart as random packing finds.

    A radius a works if k successive uniform draws, a away from the walls, lie 2a apart from all before them, where
    100 rejections in a row fail. The largest such a is found by bisection. No row is read.

    Parameters
    ----------
    k : int
    region : Region
    rng : numpy Generator
        Public coins; what they decide may be known to everybody.

    Returns
    -------
    array of shape (k, d)
        Unit coordinates.

    References
    ----------
    Su et al. 2016, §4.1.1.
    """
    if k == 1:
        return region.settle_points(np.zeros((1, region.dim)))
    if region.blocks is not None:
        # Possible rows, each the farthest of fresh ones from those before it: no two categories lie closer than others.
        corners = draw_random_points(1, region, rng)
        for _ in range(k - 1):
            fresh = draw_random_points(_BATCH, region, rng)
            corners = np.concatenate([corners, fresh[[cdist(fresh, corners).min(axis=1).argmax()]]])
        return corners
    best = _pack(k, region, 0.0, rng)
    assert best is not None
    low, high = 0.0, float(region.half.min())
    for _ in range(_HALVINGS):
        radius = (low + high) / 2
        packed = _pack(k, region, radius, rng)
        if packed is None:
            high = radius
        else:
            low, best = radius, packed
    return best


def _pack(k: int, region: Region, radius: float, rng: np.random.Generator) -> Array | None:
    """Centres at least ``2 * radius`` apart by sequential rejection, or None; proposals come in batches."""
    inner = Region(np.maximum(region.half - radius, 0), max(region.radius - radius, 0.0))
    packed = np.empty((k, region.dim))
    placed = rejected = 0
    while placed < k:
        proposals = inner.clip(rng.uniform(-inner.half, inner.half, (_BATCH, region.dim)))
        gaps = cdist(proposals, packed[:placed], "sqeuclidean").min(axis=1, initial=np.inf)
        far, at = gaps >= 4 * radius**2, 0
        while placed < k and far[at:].any():
            near = int(far[at:].argmax())
            if rejected + near >= _REJECTIONS:
                return None
            at += near
            packed[placed] = proposals[at]
            far &= cdist(proposals, packed[placed : placed + 1], "sqeuclidean")[:, 0] >= 4 * radius**2
            placed, rejected, at = placed + 1, 0, at + 1
        rejected += _BATCH - at
        if placed < k and rejected >= _REJECTIONS:
            return None
    return packed


def draw_random_points(number: int, region: Region, rng: np.random.Generator) -> Array:
    """``number`` points uniform in the region's box, shape (number, d), unit coordinates; no row is read.

    Of categories each is a corner, as a row is: between there is nobody. Where a ball cuts the box, a point beyond it
    is drawn anew along its ray, as a point of the ball would be: a box of many dimensions is nearly all corners, and
    clipping would leave every point on the rim.

    Parameters
    ----------
    number : int
        How many.
    region : Region
    rng : numpy Generator
        Public coins; what they decide may be known to everybody.

    Returns
    -------
    array of shape (number, d)
        Unit coordinates.
    """
    points = rng.uniform(-region.half, region.half, (number, region.dim))
    norm = np.linalg.norm(points, axis=1)
    # Drawn whether needed or not, so that the coins that follow do not depend on where the points fell.
    radius = region.radius * rng.random(number) ** (1 / region.dim)
    beyond = norm > region.radius
    points[beyond] *= (radius[beyond] / norm[beyond])[:, None]
    return region.clip(points) if region.blocks is None else region.rows(points)


# A narrower axis than this part of the widest is as good as none.
_NARROWEST = 1e-9
# Halvings of the range of sides on a log scale: enough for 2^62 cells to the last bit.
_HALVINGS_OF_SIDES = 70


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
    for _ in range(_HALVINGS_OF_SIDES):
        side = sqrt(too_fine * coarse)
        fits = partitions.Grid(half, _count_along(half, side)).n_cells <= cells
        too_fine, coarse = (too_fine, side) if fits else (side, coarse)
    return partitions.Grid(half, _count_along(half, coarse), middle)


def _count_along(half: Array, side: float) -> Codes:
    return np.maximum(1, np.rint(2 * half / side)).astype(np.int64)


Single = npt.NDArray[np.float32]

ITERATIONS = 100
PATIENCE = 10
# Centres that move by less than this part of the radius stand still.
_STILL = 1e-6
# Losses closer than this part of the second moment are equal.
_EQUAL = 1e-9
# Points of one temporary block.
_BLOCK = 2**15
# Matrix products of at most this many multiplications run on one thread: BLAS threads cost more than they bring here.
_ONE_THREAD = 2**18
# From so many centres on they are compared in groups of so many, so many numbers at a time.
_MANY_CENTERS, _GROUP, _CACHED = 128, 32, 2**18
# Many centres over few columns: so many distances are worth boxes of so many points.
_FEW_COLUMNS, _WORTH_LEAVES, _LEAF = 3, 2**19, 128


@dataclass(frozen=True, eq=False)
class SignedPoints:
    """Released points with signed weights, laid out for many starts: ``columns`` (d, m), unit coordinates.

    Of the noisy counts ``weights`` (m,) negative ones are kept, or sums over many cells would be biased.
    """

    columns: Single
    weights: Array
    weight_sd: float = 0.0

    @classmethod
    def of(cls, points: Array, weights: Array, *, weight_sd: float = 0.0) -> SignedPoints:
        """From ``points`` (m, d), unit coordinates, with their ``weights`` (m,), which may be negative."""
        return cls(np.ascontiguousarray(points.T, dtype=np.float32), np.asarray(weights, np.float64), weight_sd)

    def __len__(self) -> int:
        return len(self.weights)

    @cached_property
    def leaves(self) -> Leaves:
        """Boxes of points that lie close together."""
        return Leaves.of(self.columns, _LEAF)

    @cached_property
    def norms(self) -> Single:
        """Squared lengths (m,)."""
        return np.asarray(np.einsum("dm,dm->m", self.columns, self.columns))

    @cached_property
    def second_moment(self) -> float:
        """Weighted sum of squared norms: the part of the loss that no centre changes."""
        blocks = (slice(start, start + _BLOCK) for start in range(0, len(self), _BLOCK))
        return fsum(float(self.weights[b] @ (self.columns[:, b].astype(np.float64) ** 2).sum(axis=0)) for b in blocks)


class Solution(NamedTuple):
    """Centres (k, d), the weight (k,) and the number of points (k,) nearest to each, and the weighted loss."""

    centers: Array
    mass: Array
    members: Array
    loss: float


class BestOf(NamedTuple):
    """The solution of least loss among several starts, its start (k, d) and index, and all losses and solutions."""

    solution: Solution
    start: Array
    chosen: int
    losses: Array
    solutions: Sequence[Solution]


def find_best_of_starts(data: SignedPoints, starts: Sequence[Array], region: Region) -> BestOf:
    """``run_signed_lloyd`` from each of ``starts`` (k, d): the solution of least loss on ``data``, first of equals."""
    solutions = [run_signed_lloyd(data, start, region) for start in starts]
    losses = np.array([solution.loss for solution in solutions])
    # The same solution met twice differs by rounding only.
    losses[losses <= losses.min() + _EQUAL * abs(data.second_moment)] = losses.min()
    chosen = int(losses.argmin())
    return BestOf(solutions[chosen], starts[chosen], chosen, losses, solutions)


def run_signed_lloyd(data: SignedPoints, start: Array, region: Region) -> Solution:
    """Lloyd's iteration from ``start`` (k, d) on signed weights; centres stay in ``region``.

    A centre whose mass is within two standard deviations of 0 keeps its place. With negative weights an iteration may
    raise the loss or go round in circles, so the best centres seen are returned, and it ends when nothing moves, when
    ``PATIENCE`` iterations brought nothing better, or after ``ITERATIONS``.

    References
    ----------
    Su et al. 2016, §4.2.1 and §5.1 (k-means on the synopsis).
    """
    centers = region.clip(start)
    clusters = _Clusters(data, centers)
    best, since_best = clusters.solution(centers), 0
    for _ in range(ITERATIONS):
        moved = _compute_means(clusters, centers, data.weight_sd, region)
        if np.abs(moved - centers).max() <= _STILL * region.radius:
            break
        clusters.follow(centers, moved)
        centers = moved
        now = clusters.solution(centers)
        best, since_best = (now, 0) if now.loss < best.loss else (best, since_best + 1)
        if since_best == PATIENCE:
            break
    return best


def sum_mass_near(data: SignedPoints, centers: Array) -> Array:
    """Weight of the points nearest to each of ``centers`` (k, d), shape (k,)."""
    labels, _ = _find_nearest(data.columns, centers)
    return np.bincount(labels, data.weights, len(centers)).astype(np.float64)


def compute_mean_noise_sd(data: SignedPoints, solution: Solution) -> Array:
    """Standard deviation that the noise of the weights gives one coordinate of each centre, shape (k,).

    To first order the noise moves a mean by the sum of noise times distance over the mass of its cluster.
    """
    k, dim = solution.centers.shape
    spread = np.zeros(k)
    for begin in range(0, len(data), _BLOCK):
        columns = data.columns[:, begin : begin + _BLOCK]
        labels, _ = _find_nearest(columns, solution.centers)
        spread += np.bincount(labels, ((columns - solution.centers.T[:, labels]) ** 2).sum(axis=0), k)
    least = np.maximum(2 * data.weight_sd * np.sqrt(solution.members), 1.0)
    return np.asarray(data.weight_sd * np.sqrt(spread / dim) / np.maximum(solution.mass, least))


def _compute_means(clusters: _Clusters, centers: Array, weight_sd: float, region: Region) -> Array:
    trusted = clusters.mass > 2 * weight_sd * np.sqrt(clusters.members)
    mass = np.where(trusted, clusters.mass, 1.0)
    return region.settle_points(np.where(trusted[:, None], clusters.moments / mass[:, None], centers))


class _Clusters:
    """Nearest centres of all points, kept up to date while the centres move.

    A point's nearest centre cannot change before the centres have moved by half the gap between its two smallest
    distances. Each point has such a date of expiry on the clock of total movement, and only expired points are
    measured again: exact, and most points are measured a few times in all (the idea of Hamerly 2010).
    """

    def __init__(self, data: SignedPoints, centers: Array) -> None:
        self._data = data
        self._clock = 0.0
        self._labels, self._expiry = _find_nearest_of(data, centers)
        k, dim = centers.shape
        self.members, self.mass, self.moments = np.zeros(k), np.zeros(k), np.zeros((k, dim))
        for begin in range(0, len(data), _BLOCK):
            block = slice(begin, begin + _BLOCK)
            self._tally(data.columns[:, block], data.weights[block], self._labels[block], +1)

    def follow(self, centers: Array, moved: Array) -> None:
        """Bring labels and sums up to date with ``centers`` that have become ``moved``."""
        self._clock += 2 * float(np.sqrt(((moved - centers) ** 2).sum(axis=1).max()))
        expired = np.flatnonzero(self._expiry <= self._clock)
        labels, gap = _find_nearest_of(self._data, moved, expired)
        self._expiry[expired] = gap + np.float32(self._clock)
        changed = labels != self._labels[expired]
        which = expired[changed]
        columns = self._data.columns.take(which, axis=1)
        weights = self._data.weights[which]
        self._tally(columns, weights, self._labels[which], -1)
        self._tally(columns, weights, labels[changed], +1)
        self._labels[which] = labels[changed]

    def solution(self, centers: Array) -> Solution:
        """The present state, with its loss from sums alone."""
        explained = 2 * float((centers * self.moments).sum()) - float(self.mass @ (centers**2).sum(axis=1))
        return Solution(centers, self.mass.copy(), self.members.copy(), self._data.second_moment - explained)

    def _tally(self, columns: Single, weights: Array, labels: Codes, sign: int) -> None:
        k = len(self.mass)
        self.members += sign * np.bincount(labels, minlength=k)
        self.mass += sign * np.bincount(labels, weights, k)
        for axis, column in enumerate(columns):
            self.moments[:, axis] += sign * np.bincount(labels, weights * column, k)


def _find_nearest_of(data: SignedPoints, centers: Array, some: Codes | None = None) -> tuple[Codes, Single]:
    """``_find_nearest`` of ``some`` points or of all; boxes of them rule most of many centres out."""
    (k, dim), m = centers.shape, len(data) if some is None else len(some)
    if dim > _FEW_COLUMNS or k < _MANY_CENTERS or m * k < _WORTH_LEAVES:
        return _find_nearest(data.columns if some is None else data.columns.take(some, axis=1), centers)
    if some is None:
        which = np.arange(len(data.leaves.members))
    else:
        asked = np.zeros(len(data), dtype=bool)
        asked[some] = True
        which = np.flatnonzero(asked[data.leaves.members].any(axis=1))
    single = centers.astype(np.float32)
    half_norms = np.einsum("kd,kd->k", single, single) / 2
    labels, gaps = np.empty(len(data), dtype=np.int64), np.empty(len(data), dtype=np.float32)
    for points, nearest, best, second in data.leaves.find_nearest(single, half_norms, which):
        labels[points], gaps[points] = nearest, _measure_gap(data.norms[points], best, second)
    return (labels, gaps) if some is None else (labels[some], gaps[some])


def _measure_gap(norms: Single, best: Single, second: Single) -> Single:
    """By how much the second centre is farther, from squared lengths and x·c - |c|²/2 of both."""
    near, far = (np.sqrt(np.maximum(norms - 2 * closeness, 0)) for closeness in (best, second))
    return np.asarray(far - near)


def _find_nearest(columns: Single, centers: Array) -> tuple[Codes, Single]:
    """Nearest centre of each point, and by how much the second is farther; blocks of one matrix product each."""
    (k, _), m = centers.shape, columns.shape[1]
    labels, gaps = np.empty(m, dtype=np.int64), np.empty(m, dtype=np.float32)
    single = centers.astype(np.float32)
    half_norms = np.einsum("kd,kd->k", single, single)[:, None] / 2
    size = min(_BLOCK, max(_BLOCK // 8, _ONE_THREAD // centers.size))
    few = k < _MANY_CENTERS
    # Of many, lines are added that no point is close to, so that they fall into groups.
    height = k if few else k + -k % _GROUP
    for begin in range(0, m, size):
        width = min(size, m - begin)
        block, lines = slice(begin, begin + width), lattice.borrow_scratch(height, width, "affinities", np.float32)
        # All of it is finite, yet now and then a product of few numbers raises the flag for lanes that it does not use.
        with np.errstate(invalid="ignore"):
            affinity = np.matmul(single, columns[:, block], out=lines[:k])
        affinity -= half_norms
        lines[k:] = -np.inf
        label, best, second = _compare_one_by_one(lines) if few else _compare_in_groups(lines)
        labels[block] = label
        gaps[block] = _measure_gap(np.einsum("dm,dm->m", columns[:, block], columns[:, block]), best, second)
    return labels, gaps


def _compare_one_by_one(affinity: Single) -> tuple[Codes, Single, Single]:
    """The largest number of each column, the first of equals: its place, itself and the second."""
    best, second = affinity[0].copy(), np.full(affinity.shape[1], -np.inf, np.float32)
    label = np.zeros(affinity.shape[1], np.int32)
    for j in range(1, len(affinity)):
        np.maximum(second, np.minimum(best, affinity[j]), out=second)
        # A product with a flag is several times faster than a masked assignment; j only grows.
        np.maximum(label, (affinity[j] > best) * np.int32(j), out=label)
        np.maximum(best, affinity[j], out=best)
    return label.astype(np.int64), best, second


def _compare_in_groups(affinity: Single) -> tuple[Codes, Single, Single]:
    """The same of many lines, a multiple of the size of a group: one pass over all, and one over the best group."""
    m = affinity.shape[1]
    label, best, second = np.empty(m, np.int64), np.empty(m, np.float32), np.empty(m, np.float32)
    width = max(64, _CACHED // len(affinity))
    for begin in range(0, m, width):
        at = slice(begin, begin + width)
        part = affinity[:, at].reshape(-1, _GROUP, len(label[at]))
        tops, each = np.maximum.reduce(part, axis=1), np.arange(part.shape[2])
        group = tops.argmax(axis=0)
        members = part[group, :, each]
        first = members.argmax(axis=1)
        label[at], best[at] = group * _GROUP + first, members[each, first]
        members[each, first] = -np.inf
        tops[group, each] = members.max(axis=1)
        np.maximum.reduce(tops, axis=0, out=second[at])
    return label, best, second


@dataclass(frozen=True, eq=False, kw_only=True)
class StartsStep(Step):
    """Many starts solved on a synopsis: their synopsis losses (m,), and the centres (k, d) of the chosen one."""

    losses: Array
    chosen: int
    centers: Array

    @classmethod
    def of(cls, best: BestOf, points: int, singular: str, plural: str = "", *, then: str = "") -> StartsStep:
        """The step after ``best`` was found on so many ``points``, which are called ``singular`` or ``plural``."""
        starts, called = len(best.losses), singular if points == 1 else plural or f"{singular}s"
        return cls(
            title=f"{starts:,} start{'' if starts == 1 else 's'} solved on {points:,} {called}{then}",
            losses=best.losses,
            chosen=best.chosen,
            centers=best.solution.centers,
        )


def choose_starts(
    points: Array, weights: Array, k: int, number: int, region: Region, rng: np.random.Generator
) -> list[Array]:
    """Where to start on a coreset: all of its ``points`` (m, d) and some without data if at most k, else k-means++."""
    if len(points) <= k:
        return [np.concatenate([points, pack_spheres(k, region, rng)])[:k]]
    return [points[seeds] for seeds in draw_many_kmeans_pp_seeds(points, weights, k, number, rng)]


# From so many distances on it pays to list the points near a proposal, if that leaves out three in four.
_WORTH_A_LIST, _SHORT, _TILE = 2**18, 4, 2**15
# Far more than the rounding of a difference, of a square and of their sums.
_ROUNDING = 1e-9
# Half of the last bit of a number.
_HALF_BIT = 2.0**-53
# Starts advance together where there are so many clusters over few columns: most points lie in boxes, of so many
# points, that a proposal cannot reach.
_MANY_CLUSTERS, _SEED_LEAF = 64, 64
# Masses are added up by parts of so many points.
_PART = 64
# Distances of points to boxes that are kept; and the part of all boxes from which on it pays to measure all points.
_MOST_APART, _MANY_BOXES = 2**23, 0.25


def draw_kmeans_pp_seeds(points: Array, weights: Array, k: int, rng: np.random.Generator) -> Codes:
    """Indices (k,) into ``points`` (m, d) of seeds drawn by greedy k-means++ with ``weights`` (m,).

    Negative weights count as 0; if none is positive, all points weigh the same. Of 2 + ln k proposals each seed takes
    the one that lowers the weighted loss most. Seeds are distinct points as long as there are k of positive weight.

    References
    ----------
    Arthur & Vassilvitskii 2007, §2.2 and §5 (the greedy variant).
    """
    weights = np.maximum(weights, 0.0)
    if not weights.any():
        weights = np.ones(len(points))
    trials = 2 + int(log(k))
    seeds = np.empty(k, dtype=np.int64)
    seeds[0] = _draw(weights, 1, rng)[0]
    field = _SeedField(points, seeds[0], trials)
    for i in range(1, k):
        proposals = _draw(weights * field.nearest, trials, rng)
        best = int(np.einsum("tm,m->t", field.propose(proposals), weights).argmin())
        field.accept(best)
        seeds[i] = proposals[best]
    return seeds


class _SeedField:
    """Squared distances of all points to the nearest seed, ``nearest`` (m,), while seeds are drawn.

    A proposal changes nothing for points farther along one axis than any point lies from its seed. With many seeds
    these are nearly all: only the others are measured, and the numbers are those that measuring all would give.
    """

    def __init__(self, points: Array, seed: int, trials: int) -> None:
        self._columns = np.ascontiguousarray(points.T)
        self._widest = int(np.ptp(self._columns, axis=1).argmax())
        line = self._columns[self._widest]
        self._order: Codes | None = None if (line[1:] >= line[:-1]).all() else np.argsort(line)
        self._line = line if self._order is None else line[self._order]
        self._rounding = _ROUNDING * float(np.abs(line).max())
        self.nearest: Array = _compute_squared_distances(self._columns, points[[seed]])[0]
        self._under: Array = np.empty((trials, len(points)))
        self._scratch: Array = np.empty((trials, max(1, _TILE // trials)))
        self._near: list[slice | Codes] = []
        self._in_step = False

    def propose(self, proposals: Codes) -> Array:
        """What ``nearest`` would be with each of ``proposals`` (t,); (t, m), overwritten by the next call."""
        at = self._columns.T[proposals]
        self._near = self._find_near(at[:, self._widest])
        if not self._near:
            self._measure_all(at)
            self._in_step = False
            return self._under
        if not self._in_step:
            self._under[:] = self.nearest
            self._in_step = True
        for under, some, point in zip(self._under, self._near, at, strict=True):
            (squared,) = _compute_squared_distances(self._columns[:, some], point[None])
            under[some] = np.minimum(squared, self.nearest[some])
        return self._under

    def _measure_all(self, at: Array) -> None:
        """Distances to points ``at`` (t, d), in memory that is there already: fresh one for each would take longer."""
        size = self._scratch.shape[1]
        for begin in range(0, len(self.nearest), size):
            part = slice(begin, begin + size)
            under = self._under[:, part]
            along = self._scratch[:, : under.shape[1]]
            for axis, (column, value) in enumerate(zip(self._columns, at.T, strict=True)):
                squared = along if axis else under
                np.subtract(column[part], value[:, None], out=squared)
                squared *= squared
                if axis:
                    under += squared
            np.minimum(under, self.nearest[part], out=under)

    def accept(self, best: int) -> None:
        """Take the proposal with this index."""
        if not self._near:
            self.nearest[:] = self._under[best]
            return
        changed = self._near[best]
        self.nearest[changed] = self._under[best, changed]
        self._under[:, changed] = self.nearest[changed]
        for under, some in zip(self._under, self._near, strict=True):
            under[some] = self.nearest[some]

    def _find_near(self, at: Array) -> list[slice | Codes]:
        """For each proposal, which lie ``at`` (t,) on the widest axis, the points that may lie nearer to it than to
        their seed; nothing where that is no short list."""
        if self._under.size < _WORTH_A_LIST:
            return []
        # Farther than that along one axis, rounding included, a squared distance is not below any of ``nearest``.
        reach = sqrt(float(self.nearest.max())) * (1 + _ROUNDING) + self._rounding
        first, last = np.searchsorted(self._line, at - reach), np.searchsorted(self._line, at + reach, side="right")
        if _SHORT * (last - first).sum() > self._under.size:
            return []
        ranges = [slice(*ends) for ends in zip(first.tolist(), last.tolist(), strict=True)]
        return [some if self._order is None else self._order[some] for some in ranges]


def _draw(mass: Array, size: int, rng: np.random.Generator) -> Codes:
    """Indices drawn in proportion to ``mass``, uniformly if there is none (fewer distinct points than seeds)."""
    cumulative = np.cumsum(mass)
    if cumulative[-1] <= 0:
        return rng.integers(0, len(mass), size)
    return _find_drawn(cumulative, rng.random(size))


def _find_drawn(cumulative: Array, coins: Array) -> Codes:
    """The places where ``coins``, uniform in [0, 1), fall among masses that add up to ``cumulative`` (m,)."""
    drawn: Codes = np.searchsorted(cumulative, coins * cumulative[-1], side="right")
    return np.minimum(drawn, len(cumulative) - 1)


def _compute_squared_distances(columns: Array, at: Array) -> Array:
    """Squared Euclidean distances of the points whose ``columns`` are (d, m) to those ``at`` (t, d); (t, m).

    Axis by axis: over few columns that is ten times as fast as a sum over the coordinates of each point.
    """
    squared: Array = columns[0] - at[:, :1]
    squared *= squared
    for column, value in zip(columns[1:], at.T[1:], strict=True):
        difference = column - value[:, None]
        difference *= difference
        squared += difference
    return squared


def draw_many_kmeans_pp_seeds(
    points: Array, weights: Array, k: int, starts: int, rng: np.random.Generator
) -> list[Codes]:
    """What ``draw_kmeans_pp_seeds`` draws, ``starts`` times over, from the same coins.

    Many clusters over few columns are drawn for all starts side by side: the same seeds, sooner.
    """
    if starts > 1 and k >= _MANY_CLUSTERS and points.shape[1] <= _FEW_COLUMNS:
        before = rng.bit_generator.state
        together = _SideBySide(points, weights, k, starts).draw(rng)
        if together is not None:
            return list(together)
        rng.bit_generator.state = before
    return [draw_kmeans_pp_seeds(points, weights, k, rng) for _ in range(starts)]


class _SideBySide:
    """Seeds of several starts, drawn one for each start at a time.

    What a proposal would save is added up over the boxes that it can reach. Where that leaves open which proposal
    saves most, since sums in another order are rounded otherwise, all points are measured as for a single start.
    """

    def __init__(self, points: Array, weights: Array, k: int, starts: int) -> None:
        weights = np.maximum(weights, 0.0)
        self._weights = weights if weights.any() else np.ones(len(points))
        self._k, self._starts, self._trials = k, starts, 2 + int(log(k))
        self._columns = np.ascontiguousarray(points.T)
        self._members = split_into_leaves(points.T, max(_SEED_LEAF, len(points) ** 2 // _MOST_APART))
        inside = self._columns[:, self._members]
        self._inside = np.ascontiguousarray(inside)
        # A point that fills up a second leaf saves nothing there.
        once = np.zeros(self._members.size)
        once[np.unique(self._members, return_index=True)[1]] = 1.0
        self._weights_inside = self._weights[self._members] * once.reshape(self._members.shape)
        self._apart = _measure_boxes(self._columns, inside.min(axis=2), inside.max(axis=2))

    def draw(self, rng: np.random.Generator) -> Codes | None:
        """Seeds of all starts, (starts, k); None where points ran out, as coins are then used otherwise."""
        m, starts, trials = len(self._weights), self._starts, self._trials
        coins = rng.random((starts, 1 + (self._k - 1) * trials))
        seeds = np.empty((starts, self._k), dtype=np.int64)
        seeds[:, 0] = _find_drawn(np.cumsum(self._weights), coins[:, 0])
        nearest = _compute_squared_distances(self._columns, self._columns.T[seeds[:, 0]])
        self._nearest: Array = nearest[:, self._members]
        self._farthest: Array = self._nearest.max(axis=2)
        # Zeros fill up the last part.
        self._mass: Array = np.zeros((starts, m + -m % _PART))
        self._mass[:, :m] = nearest * self._weights
        for i in range(1, self._k):
            sums = np.cumsum(self._mass.reshape(starts, -1, _PART) @ np.ones(_PART), axis=1)
            if not sums[:, -1].all():
                return None
            proposals = self._draw_proposals(sums, coins[:, 1 + (i - 1) * trials : 1 + i * trials])
            seeds[:, i] = self._take_best(proposals, sums[:, -1])
        return seeds

    def _draw_proposals(self, sums: Array, coins: Array) -> Codes:
        """Where ``coins`` (starts, trials) fall among masses, whose parts add up to ``sums`` (starts, parts).

        Where the rounding of sums in another order than that of one start might decide, they are added up in that.
        """
        each = np.arange(len(sums))[:, None]
        level = coins * sums[:, -1:]
        part = np.count_nonzero(sums[:, None] <= level[..., None], axis=2)
        np.minimum(part, sums.shape[1] - 1, out=part)
        # Sums before each point of the part, and after the last one.
        steps = np.empty((*part.shape, _PART + 1))
        steps[..., 0] = np.where(part > 0, sums[each, part - 1], 0.0)
        steps[..., 1:] = self._mass.reshape(len(sums), -1, _PART)[each, part]
        np.cumsum(steps, axis=2, out=steps)
        away = np.abs(steps - level[..., None]).min(axis=2)
        drawn: Codes = part * _PART + np.count_nonzero(steps <= level[..., None], axis=2) - 1
        for s in np.flatnonzero((away <= self._bound_rounding(sums[:, -1:])).any(axis=1)):
            drawn[s] = _find_drawn(np.cumsum(self._mass[s, : len(self._weights)]), coins[s])
        return drawn

    def _bound_rounding(self, totals: Array) -> Array:
        """More than the rounding of two sums of masses that add up to ``totals``, and of what is compared with them."""
        # A sum of m numbers, none negative, is wrong by at most m half bits of it (Higham 2002, §4.2).
        return 4 * (len(self._weights) + 8) * _HALF_BIT * totals

    def _take_best(self, proposals: Codes, totals: Array) -> Codes:
        """Of the ``proposals`` (starts, trials) those that save most, (starts,), which are seeds from now on."""
        starts, trials = proposals.shape
        reached = self._apart[proposals] < self._farthest[:, None]
        many = np.count_nonzero(reached.reshape(starts, -1), axis=1) > _MANY_BOXES * trials * len(self._members)
        reached[many] = False
        flat, box = np.divmod(np.flatnonzero(reached), len(self._members))
        start, at = flat // trials, self._columns[:, proposals.ravel()[flat]]
        squared = self._measure_inside(box, at)
        before = self._nearest[start, box]
        np.minimum(squared, before, out=squared)
        saved = np.einsum("pm,pm->p", np.subtract(before, squared, out=before), self._weights_inside[box])
        savings = np.bincount(flat, saved, proposals.size).reshape(starts, trials)
        best, each = savings.argmax(axis=1), np.arange(starts)
        taken: Codes = proposals[each, best]
        clear = savings[each, best] - self._bound_rounding(totals)
        open_ = many | ((savings >= clear[:, None]) & (proposals != taken[:, None])).any(axis=1)
        chosen = ~open_[start] & (flat % trials == best[start])
        self._update(start[chosen], box[chosen], squared[chosen])
        for s in np.flatnonzero(open_).tolist():
            taken[s] = self._take_best_of_one(s, proposals[s])
        return taken

    def _measure_inside(self, box: Codes, at: Array) -> Array:
        """Squared distances of the points of each ``box`` (p,) to a point ``at`` (d, p) each; (p, points in a box)."""
        squared: Array = self._inside[0][box]
        squared -= at[0][:, None]
        squared *= squared
        for inside, value in zip(self._inside[1:], at[1:], strict=True):
            difference = inside[box]
            difference -= value[:, None]
            difference *= difference
            squared += difference
        return squared

    def _update(self, start: Codes, box: Codes, nearest: Array) -> None:
        self._nearest[start, box] = nearest
        self._farthest[start, box] = nearest.max(axis=1)
        members = self._members[box]
        self._mass[start[:, None], members] = nearest * self._weights[members]

    def _take_best_of_one(self, start: int, proposals: Codes) -> int:
        """The same of one start, with all points measured and added up in their order."""
        nearest = np.empty(len(self._weights))
        nearest[self._members] = self._nearest[start]
        under = np.minimum(_compute_squared_distances(self._columns, self._columns.T[proposals]), nearest)
        best = int(np.einsum("tm,m->t", under, self._weights).argmin())
        self._nearest[start] = under[best][self._members]
        self._farthest[start] = self._nearest[start].max(axis=1)
        self._mass[start, : len(self._weights)] = under[best] * self._weights
        return int(proposals[best])


def _measure_boxes(columns: Array, low: Array, high: Array) -> Array:
    """At most the squared distance of each point to each box between corners ``low`` and ``high`` (d, b); (m, b)."""
    apart: Array = np.empty((columns.shape[1], low.shape[1]))
    for begin in range(0, len(apart), _TILE // 64):  # few points at a time, so that temporary numbers stay in the cache
        some = apart[begin : begin + _TILE // 64]
        some[:] = 0.0
        for column, least, most in zip(columns[:, begin : begin + len(some), None], low, high, strict=True):
            beyond = np.maximum(least - column, column - most)
            np.maximum(beyond, 0.0, out=beyond)
            beyond *= beyond
            some += beyond
        some *= 1 - _ROUNDING
    return apart
