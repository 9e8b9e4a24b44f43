"""Models of disjoint blocks of rows: what sample-and-aggregate algorithms build on.

Each row lies in one secret block; the model of a block is computed from that block's rows and public values alone. The
models are a table of their own, in which one row changes one line (``docs/proofs/blocks.md``).

References
----------
Nissim, Raskhodnikova & Smith 2007 (sample and aggregate).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpviz.core import lattice
from dpviz.core.arrays import Array, Codes, Flags
from dpviz.core.content import draw_content_waits
from dpviz.core.domain import Region

# Temporary numbers of one pass over rows.
_NUMBERS = 2**20


@dataclass(frozen=True, eq=False)
class BlockKMeans:
    """k-means++ and Lloyd's iteration on each block, all blocks at once; a line is its k centres, flattened.

    Parameters
    ----------
    anchors : array of shape (k, d)
        Public. A block with fewer than k distinct rows answers with them.
    match : bool
        Whether each block's centres are put in the order of the anchors that they are matched to one to one, block by
        block. Otherwise they come in lexicographic order.
    rounds : int
        Rounds of Lloyd's iteration.
    salt : int
        Public coin of the seeding.
    """

    anchors: Array
    match: bool = True
    rounds: int = 10
    salt: int = 0

    def fit(self, rows: Array, block: Codes, number: int) -> Array:
        """The models of ``number`` blocks of rows, empty ones included; a line is k centres, flattened.

        Parameters
        ----------
        rows : array of shape (m, d)
            Unit coordinates.
        block : int array of shape (m,)
            Where each row lies.
        number

        Returns
        -------
        array of shape (number, k d)
        """
        k, dim = self.anchors.shape
        order = np.argsort(block, kind="stable")
        rows, block = rows[order], block[order]
        centers, complete = _seed_blocks(rows, block, number, k, self.salt)
        for _ in range(self.rounds):
            centers = _run_lloyd_round(rows, block, centers)
        if self.match:
            centers = match_to(self.anchors, centers)
        else:
            order = np.lexsort(np.moveaxis(centers, 2, 0)[::-1], axis=-1)
            centers = np.take_along_axis(centers, order[:, :, None], axis=1)
        centers[~complete] = self.anchors
        return centers.reshape(number, k * dim)

    def region(self, region: Region) -> Region:
        """A product of k regions; its box and its ball."""
        k = len(self.anchors)
        return Region(np.tile(region.half, k), float(np.sqrt(k)) * region.radius)


def match_to(anchors: Array, centers: Array) -> Array:
    """Each line of ``centers`` (m, k, d) in the order of the ``anchors`` (k, d) that its points are matched to.

    Greedy: the closest pair first, then the closest of what is left. A line is matched on its own.
    """
    distance = ((centers[:, :, None, :] - anchors) ** 2).sum(axis=3)
    m, k = centers.shape[:2]
    line, ordered = np.arange(m), np.empty_like(centers)
    for _ in range(k):
        flat = distance.reshape(m, k * k).argmin(axis=1)
        point, anchor = flat // k, flat % k
        ordered[line, anchor] = centers[line, point]
        distance[line, point, :] = np.inf
        distance[line, :, anchor] = np.inf
    return ordered


def _seed_blocks(rows: Array, block: Codes, number: int, k: int, salt: int) -> tuple[Array, Flags]:
    """k-means++ seeds of each block (number, k, d), and which blocks have k distinct rows.

    A row is drawn with probability proportional to its squared distance: the one with the largest distance over its
    wait, a draw of the exponential law that comes from its own content, so that no other block's row can change it.
    """
    centers = np.zeros((number, k, rows.shape[1]))
    complete = np.ones(number, dtype=np.bool_)
    distance = np.ones(len(rows))
    for j in range(k):
        key = distance / draw_content_waits(rows, salt * k + j)
        first = _find_largest_of_each(key, block, number)
        complete &= first >= 0
        chosen = first[complete]
        complete[complete] = key[chosen] > 0
        chosen = first[complete]
        centers[complete, j] = rows[chosen]
        nearest = ((rows - centers[block, j]) ** 2).sum(axis=1)
        distance = nearest if j == 0 else np.minimum(distance, nearest)
    return centers, complete


def _find_largest_of_each(key: Array, block: Codes, number: int) -> Codes:
    """Index of the row with the largest ``key`` in each block, -1 where there is none; ``block`` is sorted."""
    order = np.lexsort((-key, block))
    sorted_blocks = block[order]
    first = np.r_[True, sorted_blocks[1:] != sorted_blocks[:-1]] if len(block) else np.zeros(0, dtype=np.bool_)
    largest = np.full(number, -1, dtype=np.int64)
    largest[sorted_blocks[first]] = order[first]
    return largest


def _run_lloyd_round(rows: Array, block: Codes, centers: Array) -> Array:
    """One round of Lloyd's iteration in every block, on the lattice of points; an empty cluster keeps its centre."""
    number, k, dim = centers.shape
    cell = np.empty(len(rows), dtype=np.int64)
    step = max(1, _NUMBERS // (k * dim))
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        distance = ((rows[part, None, :] - centers[block[part]]) ** 2).sum(axis=2)
        cell[part] = block[part] * k + distance.argmin(axis=1)
    counts = np.bincount(cell, minlength=number * k)
    sums = np.stack([np.bincount(cell, rows[:, j], number * k) for j in range(dim)], axis=1)
    means = lattice.round_points(sums / np.maximum(counts, 1)[:, None])
    return np.where((counts > 0)[:, None], means, centers.reshape(number * k, dim)).reshape(centers.shape)
