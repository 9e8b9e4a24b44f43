"""Losses of sets of centres, from which mechanisms choose and never release a number.

References
----------
Dong, Durfee & Rogers 2020, §2 (bounded range).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np
from scipy.spatial.distance import pdist

from dpviz.arrays import Array, Codes
from dpviz.privacy.partitions import Voronoi
from dpviz.privacy.queries import OfAllRows, Relation, Sensitivity, sums_by_cell
from dpviz.table.domain import Region
from dpviz.table.rows import scratch
from dpviz.table.sparse_rows import is_sparse, squared_norms

# A pool of equal sets has no range at all, but its losses are computed in floating point.
_LEAST = 1e-9


@dataclass(frozen=True, eq=False)
class SwapLoss:
    """Change of the loss for every swap of one centre against one candidate, shape (k, n_candidates).

    Entry (i, y) is the loss of ``centers`` with centre i replaced by candidate y, minus the loss of ``centers``. The
    loss of a row is its distance to the nearest centre to the power ``order``: 2 for k-means, 1 for k-median.
    Both point sets must lie in the room's region, or the declared range is wrong; the room checks it.
    """

    centers: Array
    candidates: Array
    order: int = 2

    @property
    def over(self) -> Voronoi:
        return Voronoi(self.centers)

    @property
    def width(self) -> int:
        return len(self.candidates) + 3 * len(self.centers)

    @property
    def points(self) -> Array:
        """All points whose distances to rows make the loss."""
        return np.concatenate([self.centers, self.candidates])

    def tally(self, chunk: Array, cell: Codes) -> Array:
        return swap_gains(chunk, np.ones(len(chunk)), cell, self.centers, self.candidates, order=self.order)

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """A row moves every entry's loss by something in [0, diameter^order]: one-signed under add/remove."""
        return Sensitivity(l1=inf, l2=inf, range=relation.rows * region.diameter**self.order)


@dataclass(frozen=True, eq=False)
class Loss(OfAllRows):
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
        flat: Array = self.sets.reshape(-1, self.sets.shape[-1])
        return flat

    def tally(self, chunk: Array, cell: Codes) -> Array:
        n_sets, k, dim = self.sets.shape
        # Centre by centre, so that the smallest over k is taken of runs of n_sets numbers: twice as fast.
        points = self.sets.transpose(1, 0, 2).reshape(-1, dim)
        if is_sparse(chunk):
            closer = np.asarray(chunk @ (-2.0 * points.T))
        else:
            closer = np.matmul(chunk, -2.0 * points.T, out=scratch(len(chunk), len(points)))
        closer += np.einsum("md,md->m", points, points)
        nearest = closer.reshape(-1, k, n_sets).min(axis=1)
        nearest += squared_norms(chunk)[:, None]
        np.maximum(nearest, 0.0, out=nearest)
        losses: Array = (nearest if self.order == 2 else np.sqrt(nearest)).sum(axis=0)
        return losses

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """As for ``SwapLoss``."""
        return Sensitivity(l1=inf, l2=inf, range=relation.rows * region.diameter**self.order)


def swap_gains(
    points: Array, weights: Array, cell: Codes, centers: Array, candidates: Array, *, order: int = 2
) -> Array:
    """Change of the weighted loss of ``points`` for every swap, shape (k, n_candidates), as ``SwapLoss`` defines it.

    Let D be a point's loss at the candidate, d1 and d2 those at its nearest and second nearest centre. Its loss falls
    to D where D < d1; if its own centre is the one removed it rises to min(D, d2) instead. Written with (d2 - D)+ and
    min((d2 - D)+, d2 - d1), all swaps take one matrix product and a few passes over its result.
    """
    near, second = (loss if order == 2 else np.sqrt(loss) for loss in _two_nearest(points, centers))
    norms = np.einsum("rd,rd->r", points, points)
    candidate_norms = np.einsum("md,md->m", candidates, candidates)
    if len(centers) == 1:  # there is no second centre: any bound that no candidate exceeds stands in for it
        second = np.maximum((np.sqrt(norms) + np.sqrt(candidate_norms.max(initial=0.0))) ** order, near)
    closer = np.matmul(2 * points, candidates.T, out=scratch(len(points), len(candidates)))
    closer -= candidate_norms
    if order == 2:
        closer += (second - norms)[:, None]
    else:
        np.subtract(norms[:, None], closer, out=closer)
        np.sqrt(np.maximum(closer, 0.0, out=closer), out=closer)
        np.subtract(second[:, None], closer, out=closer)
    np.maximum(closer, 0.0, out=closer)
    gap = second - near
    for_all = weights @ closer
    np.minimum(closer, gap[:, None], out=closer)
    saved = sums_by_cell(closer, cell, len(centers), weights=weights)
    shared = saved.sum(axis=0) - for_all
    gains: Array = np.subtract(sums_by_cell(gap[:, None], cell, len(centers), weights=weights), saved, out=saved)
    gains += shared
    return gains


def _two_nearest(chunk: Array, centers: Array) -> tuple[Array, Array]:
    """Squared distance to the nearest and the second nearest centre of each row; infinite where there is none."""
    squared = chunk @ centers.T
    squared *= -2.0
    squared += squared_norms(chunk)[:, None]
    squared += np.einsum("md,md->m", centers, centers)
    np.maximum(squared, 0.0, out=squared)
    if len(centers) == 1:
        return squared[:, 0], np.full(len(chunk), np.inf)
    squared.partition(1, axis=1)
    return squared[:, 0], squared[:, 1]


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
        """A row's loss differs between two sets by at most h (2 D - h), with spread h and diameter D of the region.

        Let b_j be the centre of one set nearest to the row x, and a_j that of the other set. The row's loss under the
        other set is at most |x - a_j|², and |x - b_j| >= |x - a_j| - h. So the losses differ by at most u² - (u - h)²
        = h (2 u - h) with u = |x - a_j| <= D (where u < h, by u² < h²). Where h = D this is D², the range of
        ``Loss``. Distances themselves differ by at most h.
        """
        h = min(max(self.spread, _LEAST * region.diameter), region.diameter)
        once = h * (2 * region.diameter - h) if self.order == 2 else h
        return Sensitivity(l1=inf, l2=inf, range=relation.rows * once)
