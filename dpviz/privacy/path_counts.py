"""Noisy counts of a binary tree of code prefixes that grows where it finds many rows: one mechanism, one histogram.

References
----------
Chang, Ghazi, Kumar & Manurangsi 2021 and the blog post on practical differentially private clustering (2021): prefix
trees of hashes.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from dpviz import check
from dpviz.arrays import Array, Codes
from dpviz.privacy.accounting import Accounting, Budget
from dpviz.privacy.hash_partitions import code_range
from dpviz.privacy.loss_kinds import LossKind
from dpviz.privacy.mechanisms import Gaussian, Laplace
from dpviz.privacy.noise import NoiseSource
from dpviz.privacy.queries import Sensitivity
from dpviz.privacy.sparse import SparseCounts


@dataclass(frozen=True)
class PathCounts:
    """Releases noisy counts of the two children of the root, then of both children of every node that is heavy enough.

    A node is split when its noisy count is at least ``min_branch``, on ``levels`` levels in all; its children are asked
    alike whether they hold rows or not, and every count that was asked is released. What is asked depends on noisy
    counts only, and one row changes one count on each level: the cost is ``levels`` times that of one count. Under
    replace two paths change, which the sensitivity of one level's counts says.

    Parameters
    ----------
    of_one : Laplace or Gaussian
        The noise of one count; its sensitivity is that of all counts of one level together.
    levels : int
    min_branch : float
        Rows.
    """

    of_one: Laplace | Gaussian
    levels: int
    min_branch: float

    @property
    def draws(self) -> int:
        """Times that one row meets noise."""
        return self.levels

    @classmethod
    def bought(cls, share: Budget, sensitivity: Sensitivity, *, levels: int, min_branch: float) -> PathCounts:
        check.at_least(1, levels=levels)
        kind = Laplace if share.accounting in (Accounting.PURE, Accounting.PLD) else Gaussian
        return cls(kind.bought(share.fraction(1 / levels), sensitivity), levels, min_branch)

    @property
    def name(self) -> str:
        return f"{self.of_one.name} path"

    @property
    def loss(self) -> LossKind:
        return self.of_one.loss

    @property
    def sensitivity(self) -> float:
        """Of all asked counts together, in the norm of the noise."""
        times = sqrt(self.levels) if isinstance(self.of_one, Gaussian) else self.levels
        return times * self.of_one.sensitivity

    @property
    def scale(self) -> float:
        return self.of_one.scale

    def sd_in(self, width: int) -> float:
        """Standard deviation of one count."""
        return self.of_one.sd_in(width)

    def cost(self, accounting: Accounting) -> float:
        return self.levels * self.of_one.cost(accounting)

    def draw(self, truth: SparseCounts, noise: NoiseSource) -> SparseCounts:
        asked = np.array([2, 3], dtype=np.int64)
        nodes, noisy = [], []
        for _ in range(self.levels):
            counted = self.of_one.draw(counts_at(asked, truth), noise)
            nodes.append(asked)
            noisy.append(counted)
            asked = children_of(asked[counted >= self.min_branch])
        return SparseCounts(np.concatenate(nodes), np.concatenate(noisy), 2 * truth.universe)

    def log_density(self, released: SparseCounts, truth: SparseCounts) -> float:
        return self.of_one.log_density(released.values, counts_at(released.codes, truth))


def children_of(nodes: Codes) -> Codes:
    """Heap numbers of both children of each node, sorted if ``nodes`` are."""
    return (2 * nodes[:, None] + np.arange(2)).ravel()


def counts_at(nodes: Codes, histogram: SparseCounts) -> Array:
    """Rows below each node, by heap number, from the histogram of whole codes; shape (m,)."""
    depth = histogram.universe.bit_length() - 1
    before = np.r_[0.0, np.cumsum(histogram.values)]
    first, end = (np.searchsorted(histogram.codes, edge) for edge in code_range(nodes, depth))
    counts: Array = before[end] - before[first]
    return counts
