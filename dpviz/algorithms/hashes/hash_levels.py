"""What a released tree of noisy counts says: which nodes are leaves, and how heavy they are. Free post-processing."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dpviz.arrays import Array, Codes, Flags
from dpviz.privacy.hash_partitions import level_of
from dpviz.privacy.queries import SparseCounts


@dataclass(frozen=True, eq=False)
class CountedTree:
    """The root and every node that was asked, in the order of heap numbers, level by level.

    Parameters
    ----------
    nodes : int64 array of shape (m,)
    noisy_counts : array of shape (m,)
        As they were released; the root's is the public or paid number of rows.
    kept : bool array of shape (m,)
        A node whose noisy count is too small is dropped: it was asked, but is no part of the tree.
    split : bool array of shape (m,)
        Whether its two children were asked.
    """

    nodes: Codes
    noisy_counts: Array
    kept: Flags
    split: Flags

    @classmethod
    def of(cls, released: SparseCounts, *, n: float, min_node: float) -> CountedTree:
        """From the counts of a ``PathCounts`` release; nodes below ``min_node`` rows are dropped, the root never is."""
        nodes, noisy = np.r_[1, released.codes], np.r_[float(n), released.values]
        kept = noisy >= min_node
        kept[0] = True
        return cls(nodes, noisy, kept, np.isin(2 * nodes, nodes))

    @property
    def depth(self) -> int:
        """The deepest level that was asked."""
        return int(level_of(self.nodes[-1:])[0])

    def levels(self) -> list[slice]:
        """Places of the nodes of level 0, 1, ..."""
        edges = np.searchsorted(level_of(self.nodes), np.arange(self.depth + 2))
        return [slice(int(first), int(end)) for first, end in pairwise(edges)]

    def children(self, level: slice) -> tuple[Codes, Codes]:
        """Places of the split nodes of a level, and of their first children; the second ones follow."""
        parents = np.flatnonzero(self.split[level]) + level.start
        return parents, np.searchsorted(self.nodes, 2 * self.nodes[parents]).astype(np.int64)

    @property
    def leaf(self) -> Flags:
        """Kept nodes that were not split, or lost both children; shape (m,)."""
        parents, first = self.children(slice(0, len(self.nodes)))
        leaf: Flags = self.kept & ~self.split
        leaf[parents[~(self.kept[first] | self.kept[first + 1])]] = True
        return leaf

    @property
    def leaves(self) -> Codes:
        """Heap numbers of the leaves, sorted."""
        return self.nodes[self.leaf]


def consistent_counts(tree: CountedTree) -> Array:
    """Counts of all nodes in which every split node is the sum of its children, shape (m,).

    From the bottom up a node's own count is averaged with the sum of its children by inverse variance; then, from the
    top down, what is missing to a node's count is shared by its children. All counts carry the same noise; the root is
    taken as exact.

    References
    ----------
    Hay, Rastogi, Miklau & Suciu 2010, §4.
    """
    best, variance = tree.noisy_counts.copy(), np.ones(len(tree.nodes))
    variance[0] = 0.0
    for level in reversed(tree.levels()):
        parents, first = tree.children(level)
        below, spread = best[first] + best[first + 1], variance[first] + variance[first + 1]
        weight = spread / (variance[parents] + spread)
        best[parents] = weight * best[parents] + (1 - weight) * below
        variance[parents] *= weight
    for level in tree.levels():
        parents, first = tree.children(level)
        part = variance[first] / (variance[first] + variance[first + 1])
        missing = best[parents] - best[first] - best[first + 1]
        best[first] += part * missing
        best[first + 1] += (1 - part) * missing
    return best


def leaf_weights(tree: CountedTree, counts: Array, *, reassign_lost: bool) -> Array:
    """What ``counts`` say about the leaves, never below 0, shape (leaves,).

    With ``reassign_lost``, where one of two children was dropped, all that is left of the other grows in proportion
    until it makes up its parent's count; nothing shrinks.
    """
    growth = np.ones(len(tree.nodes))
    if reassign_lost:
        for level in tree.levels():
            parents, first = tree.children(level)
            for one, other in ((first, first + 1), (first + 1, first)):
                alone = tree.kept[one] & ~tree.kept[other]
                more = np.maximum(counts[parents] / np.maximum(counts[one], 1.0), 1.0)
                growth[one] = growth[parents] * np.where(alone, more, 1.0)
    weights: Array = np.maximum((counts * growth)[tree.leaf], 0.0)
    return weights
