"""Deterministic questions over rows, each with the most that one row can change its answer.

Every answer adds up over row chunks: ``answer(a) + answer(b)`` is the answer on both. Sensitivities are for one row in
``region`` (unit coordinates); the room multiplies them by the rows that one person may have.

References
----------
Dwork & Roth 2014, Def. 3.1 (l1) and Def. 3.8 (l2). Dong, Durfee & Rogers 2020, §2 (bounded range).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import inf, sqrt
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from dpviz.arrays import Array, Codes
from dpviz.privacy.hash_partitions import HashCodes, HashTree
from dpviz.privacy.partitions import CubeTree, Everything, Grid, Partition, Projected, Voronoi, Zoomed
from dpviz.privacy.sparse import SparseCounts
from dpviz.table.domain import Region
from dpviz.table.rows import scratch
from dpviz.table.sparse_rows import is_sparse, squared_norms


class Relation(Enum):
    """What neighbouring tables are."""

    ADD_REMOVE = "add_remove"
    """One has one unit of privacy more; the number of rows is private."""
    REPLACE = "replace"
    """One unit of privacy is exchanged; the number of rows is public."""


@dataclass(frozen=True)
class Sensitivity:
    """The most that one row changes an answer.

    Parameters
    ----------
    l1, l2 : float
        In the l1 and the Euclidean norm of the whole answer.
    block : float
        Sum over the answer's rows of their Euclidean norms: what K-norm noise per row is calibrated to.
    range : float
        Largest minus smallest change over the entries: what the exponential mechanism is calibrated to.
    """

    l1: float
    l2: float
    block: float = inf
    range: float = inf

    def times(self, rows_per_person: int) -> Sensitivity:
        """For a person with up to that many rows, who may put all of them in one cell."""
        m = rows_per_person
        return Sensitivity(m * self.l1, m * self.l2, m * self.block, m * self.range)


class Query(Protocol):
    """A deterministic question over rows, sorted into the cells of a partition first."""

    @property
    def over(self) -> Partition:
        """The cells."""
        ...

    @property
    def width(self) -> int:
        """Temporary numbers that a row needs, which bounds the size of a chunk."""
        ...

    def tally(self, chunk: Array, cell: Codes) -> Any:
        """The answer on a chunk whose cells are known; answers on chunks add up."""
        ...

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """The most that one row in ``region`` changes the answer."""
        ...


@dataclass(frozen=True, eq=False)
class Count:
    """Rows per cell, shape (n_cells,)."""

    over: Everything | Voronoi | Grid | Zoomed | Projected | HashTree

    @property
    def width(self) -> int:
        return self.over.width

    def tally(self, chunk: Array, cell: Codes) -> Array:
        """The answer on a chunk whose cells are known."""
        return np.bincount(cell, minlength=self.over.n_cells).astype(np.float64)

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """One cell moves by 1; under replace a second one may."""
        if relation is Relation.ADD_REMOVE:
            return Sensitivity(l1=1.0, l2=1.0, block=1.0)
        return Sensitivity(l1=2.0, l2=sqrt(2.0), block=2.0)


@dataclass(frozen=True, eq=False)
class Sum:
    """Coordinate sums per cell, shape (n_cells, d), unit coordinates."""

    over: Everything | Voronoi | Grid | Zoomed | Projected | HashTree

    @property
    def width(self) -> int:
        return self.over.width

    def tally(self, chunk: Array, cell: Codes) -> Array:
        """The answer on a chunk whose cells are known: one sparse indicator times the chunk."""
        rows = len(chunk)
        indicator = sparse.csc_array((np.ones(rows), cell, np.arange(rows + 1)), shape=(self.over.n_cells, rows))
        return np.asarray(indicator @ chunk)

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """One cell moves by a row; under replace one loses a row and one (perhaps the same) gains another."""
        rows = 1 if relation is Relation.ADD_REMOVE else 2
        return Sensitivity(l1=rows * region.l1_radius, l2=rows * region.radius, block=rows * region.radius)


@dataclass(frozen=True, eq=False)
class SparseCount:
    """Rows per non-empty cell of a partition that may have up to 2^62 cells."""

    over: Grid | Projected | CubeTree | HashCodes

    @property
    def width(self) -> int:
        return self.over.width

    def tally(self, chunk: Array, cell: Codes) -> SparseCounts:
        """The answer on a chunk whose cells are known."""
        return SparseCounts.of(cell, self.over.n_cells)

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """As for ``Count``: a row is in at most one cell."""
        if relation is Relation.ADD_REMOVE:
            return Sensitivity(l1=1.0, l2=1.0)
        return Sensitivity(l1=2.0, l2=sqrt(2.0))


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
        """All k x n_candidates gains from one chunk x n_candidates block of distances."""
        return swap_gains(chunk, np.ones(len(chunk)), cell, self.centers, self.candidates, order=self.order)

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """A row moves every entry's loss by something in [0, diameter^order]: one-signed under add/remove."""
        once = region.diameter**self.order
        return Sensitivity(l1=inf, l2=inf, range=once if relation is Relation.ADD_REMOVE else 2 * once)


@dataclass(frozen=True, eq=False)
class Loss:
    """Loss of each of several sets of centres, shape (n_sets,); ``sets`` has shape (n_sets, k, d).

    Of distances to the power ``order``: 2 for k-means, 1 for k-median.
    """

    sets: Array
    order: int = 2

    @property
    def over(self) -> Everything:
        return Everything()

    @property
    def width(self) -> int:
        return int(self.sets.shape[0] * self.sets.shape[1])

    @property
    def points(self) -> Array:
        """All points whose distances to rows make the loss."""
        flat: Array = self.sets.reshape(-1, self.sets.shape[-1])
        return flat

    def tally(self, chunk: Array, cell: Codes) -> Array:
        """The answer on a chunk."""
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
        once = region.diameter**self.order
        return Sensitivity(l1=inf, l2=inf, range=once if relation is Relation.ADD_REMOVE else 2 * once)


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
    rows = len(points)
    own = sparse.csc_array((weights, cell, np.arange(rows + 1)), shape=(len(centers), rows))
    for_all = weights @ closer
    np.minimum(closer, gap[:, None], out=closer)
    saved: Array = np.asarray(own @ closer)
    shared = saved.sum(axis=0) - for_all
    gains: Array = np.subtract(np.asarray(own @ gap[:, None]), saved, out=saved)
    gains += shared
    return gains


def _squared_distances(chunk: Array, points: Array) -> Array:
    """Squared Euclidean distances, shape (rows, m), never below 0."""
    squared = chunk @ points.T
    squared *= -2.0
    squared += squared_norms(chunk)[:, None]
    squared += np.einsum("md,md->m", points, points)
    np.maximum(squared, 0.0, out=squared)
    return squared


def _two_nearest(chunk: Array, centers: Array) -> tuple[Array, Array]:
    """Squared distance to the nearest and the second nearest centre of each row; infinite where there is none."""
    distance = _squared_distances(chunk, centers)
    if len(centers) == 1:
        return distance[:, 0], np.full(len(chunk), np.inf)
    distance.partition(1, axis=1)
    return distance[:, 0], distance[:, 1]
