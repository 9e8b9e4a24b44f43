"""Non-private optimisers on public or released points: free post-processing, never shown a row.

Every function here sees what has already been released (cells of a grid with noisy counts, candidate centres) and may
look at it as often as it likes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from threading import local
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dpviz.algorithms.steps import Step
from dpviz.algorithms.tools.kmeans_pp import draw_many_kmeans_pp_seeds
from dpviz.algorithms.tools.leaves import Leaves
from dpviz.algorithms.tools.public_points import pack_spheres
from dpviz.core import Array, Codes, Region

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


class _Scratch(local):
    """Memory for products, of each thread its own."""

    products: Single = np.empty(0, np.float32)


_SCRATCH = _Scratch()


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
        norms: Single = np.einsum("dm,dm->m", self.columns, self.columns)
        return norms

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
        squared = ((columns - solution.centers.T[:, labels]) ** 2).sum(axis=0)
        spread += np.bincount(labels, squared, k)
    least = np.maximum(2 * data.weight_sd * np.sqrt(solution.members), 1.0)
    sd: Array = data.weight_sd * np.sqrt(spread / dim) / np.maximum(solution.mass, least)
    return sd


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
    gap: Single = far - near
    return gap


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
        block, lines = slice(begin, begin + width), _borrow_scratch(height, width)
        # All of it is finite, yet now and then a product of few numbers raises the flag for lanes that it does not use.
        with np.errstate(invalid="ignore"):
            affinity = np.matmul(single, columns[:, block], out=lines[:k])
        affinity -= half_norms
        lines[k:] = -np.inf
        label, best, second = _compare_one_by_one(lines) if few else _compare_in_groups(lines)
        labels[block] = label
        gaps[block] = _measure_gap(np.einsum("dm,dm->m", columns[:, block], columns[:, block]), best, second)
    return labels, gaps


def _borrow_scratch(height: int, width: int) -> Single:
    """An array that this thread uses again and again, not initialised: fresh memory costs as much as the product."""
    if _SCRATCH.products.size < height * width:
        _SCRATCH.products = np.empty(height * width, np.float32)
    return _SCRATCH.products[: height * width].reshape(height, width)


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
