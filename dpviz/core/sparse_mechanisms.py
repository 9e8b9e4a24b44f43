"""Mechanisms on the histogram of a universe that is too large to write down.

What they draw has the law of noise on every cell (``docs/proofs/choices.md``).

References
----------
Balcan et al. 2017, Alg. 1 (noisy threshold). Cormode et al. 2012 (sparse release of noisy histograms).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log
from typing import Any, ClassVar

import numpy as np

from dpviz.core import check
from dpviz.core.accounting import Accounting, Budget
from dpviz.core.arrays import Array, Codes
from dpviz.core.check import RequestError
from dpviz.core.hash_partitions import find_code_range
from dpviz.core.mechanisms import DerivedMechanism, DrawnNoise, Gaussian, Laplace, choose_noise_kind
from dpviz.core.noise import NoiseSource
from dpviz.core.queries import Sensitivity, SparseCounts


@dataclass(frozen=True)
class NoisyThreshold(DerivedMechanism):
    """Releases which cells of a huge universe hold more than ``threshold`` rows after noise: sorted codes only.

    A cell of m rows is released with probability f(m) = Pr[m + noise > threshold], the empty cells included: their
    number is drawn from the exact binomial law, then that many distinct empty codes uniformly. Skipping the empty
    cells would make an output impossible on one of two neighbouring tables.
    """

    once: Laplace | Gaussian
    threshold: float

    @classmethod
    def calibrated(cls, share: Budget, sensitivity: Sensitivity, *, threshold: float) -> NoisyThreshold:
        """Noise on each cell for which the release costs ``share``.

        Parameters
        ----------
        share : Budget
            Part of the session's budget.
        sensitivity : Sensitivity
            The most that one unit of privacy changes the answer, in the answer's own units.
        threshold : float
            Rows that a noisy count has to exceed.

        Returns
        -------
        NoisyThreshold
            With the scale that the share buys.
        """
        return cls(choose_noise_kind(share.accounting).calibrated(share, sensitivity), threshold)

    @property
    def name(self) -> str:
        return f"{self.once.name} threshold"

    def log_active(self, count: Array) -> Array:
        """ln f(count)."""
        return self.once.log_above(self.threshold - count)

    def log_inactive(self, count: Array) -> Array:
        """ln (1 - f(count))."""
        return self.once.log_above(count - self.threshold)

    def draw(self, truth: SparseCounts, noise: NoiseSource) -> Codes:
        awake = noise.exponential(1.0, truth.values.shape) > -self.log_active(truth.values)
        empty_rate = float(np.exp(self.log_active(np.zeros(1))[0]))
        spurious = noise.binomial(truth.universe - len(truth.codes), empty_rate)
        return np.sort(np.r_[truth.codes[awake], draw_absent_codes(truth, spurious, noise)])

    def log_density(self, released: Codes, truth: SparseCounts) -> float:
        awake = np.isin(truth.codes, released, assume_unique=True)
        spurious = len(released) - int(awake.sum())
        asleep = truth.universe - len(truth.codes) - spurious
        none = np.zeros(1)
        return float(
            self.log_active(truth.values[awake]).sum()
            + self.log_inactive(truth.values[~awake]).sum()
            + spurious * self.log_active(none)[0]
            + asleep * self.log_inactive(none)[0]
        )


@dataclass(frozen=True)
class SparseLaplace(DrawnNoise):
    """Laplace noise on every cell of a huge universe, of which only |noisy count| > ``cutoff`` is released.

    Exactly the law of dense noise followed by the cut, at the cost of the non-empty and the released cells only. The
    cut is two-sided, so what is released of an empty region stays unbiased.
    """

    name: ClassVar[str] = "sparse laplace"
    once: Laplace
    cutoff: float

    @classmethod
    def calibrated(cls, share: Budget, sensitivity: Sensitivity, *, cutoff_in_scales: float) -> SparseLaplace:
        """Noise on each cell for which the release costs ``share``.

        Parameters
        ----------
        share : Budget
            Part of the session's budget.
        sensitivity : Sensitivity
            The most that one unit of privacy changes the answer, in the answer's own units.
        cutoff_in_scales : float
            Noisy counts nearer to 0 than this, in scales of the noise, are not shown.

        Returns
        -------
        SparseLaplace
            With the scale that the share buys.
        """
        once = Laplace.calibrated(share, sensitivity)
        return cls(once, cutoff_in_scales * once.scale)

    def draw(self, truth: SparseCounts, noise: NoiseSource) -> SparseCounts:
        noisy = self.once.draw(truth.values, noise)
        kept = np.abs(noisy) > self.cutoff
        beyond = noise.binomial(truth.universe - len(truth.codes), float(np.exp(-self.cutoff / self.scale)))
        codes = np.r_[truth.codes[kept], draw_absent_codes(truth, beyond, noise)]
        sign = np.where(noise.uniform((beyond,)) < 0.5, -1.0, 1.0)
        values = np.r_[noisy[kept], sign * (self.cutoff + noise.exponential(self.scale, (beyond,)))]
        order = np.argsort(codes)
        return SparseCounts(codes[order], values[order], truth.universe)

    def log_density(self, released: SparseCounts, truth: SparseCounts) -> float:
        shown = -np.abs(released.values - truth.get_counts(released.codes)).sum() / self.scale
        hidden = truth.values[~np.isin(truth.codes, released.codes, assume_unique=True)]
        n_hidden_empty = truth.universe - len(np.union1d(truth.codes, released.codes))
        log_empty = n_hidden_empty * self._log_hidden(np.zeros(1))[0] if n_hidden_empty else 0.0
        return float(shown + self._log_hidden(hidden).sum() + log_empty)

    def _log_hidden(self, count: Array) -> Array:
        """ln Pr[|count + noise| <= cutoff], in two forms so that neither cancels."""
        gap, cut = (np.abs(count) - self.cutoff) / self.scale, self.cutoff / self.scale
        with np.errstate(divide="ignore"):
            outside = -gap - log(2) + np.log(-np.expm1(-2 * cut))
            inside = np.log1p(-(np.exp(np.minimum(gap, 0)) + np.exp(-np.abs(count) / self.scale - cut)) / 2)
        hidden: Array = np.where(gap > 0, outside, inside)
        return hidden


def draw_absent_codes(truth: SparseCounts, number: int, noise: NoiseSource) -> Codes:
    """``number`` distinct codes drawn uniformly from the cells that ``truth`` does not list.

    Parameters
    ----------
    truth : SparseCounts
        The cells that hold rows, and the universe.
    number : int
        How many.
    noise : NoiseSource
        Where randomness comes from.

    Returns
    -------
    int array of shape (number,)
        Sorted.
    """
    if 2 * number > truth.universe - len(truth.codes):
        absent = np.setdiff1d(np.arange(truth.universe), truth.codes, assume_unique=True)
        return absent[np.argsort(noise.uniform(absent.shape))[:number]]
    drawn: Codes = np.zeros(0, dtype=np.int64)
    while len(drawn) < number:
        tried = noise.codes(truth.universe, 2 * (number - len(drawn)) + 16)
        # Keep first occurrences in the order drawn: sorting before the cut would favour small codes.
        pool = np.r_[drawn, tried[~np.isin(tried, truth.codes)]]
        first = np.sort(np.unique(pool, return_index=True)[1])
        drawn = pool[first]
    return drawn[:number]


@dataclass(frozen=True)
class NoisyExcess(DrawnNoise):
    """Sum over all cells of max(count - ``threshold``, 0), with Laplace noise; shape (1,).

    The positive part never falls where a count rises, and moves no faster than it. So the sum rises at most by what
    the counts that rise do so together, and falls at most by what those that fall do: by 1 for one row, also where it
    is exchanged, for then one count rises while another falls. A row in a cell above the threshold that goes, or moves
    below it, attains that.
    """

    name: ClassVar[str] = "laplace excess"
    once: Laplace
    threshold: float

    @classmethod
    def calibrated(cls, share: Budget, sensitivity: Sensitivity, *, threshold: float) -> NoisyExcess:
        """Noise on the sum of excesses that costs ``share``.

        Parameters
        ----------
        share : Budget
            Part of the session's budget.
        sensitivity : Sensitivity
            The most that one unit of privacy changes the answer, in the answer's own units.
        threshold : float
            Rows of a cell beyond which they count; at least 0.

        Returns
        -------
        NoisyExcess
            With the scale that the share buys.
        """
        if not threshold >= 0:
            # Below 0 empty cells would count too: a row would bring its cell to more than one row's worth.
            raise RequestError("An excess is over a threshold of at least 0 rows: give one.")
        return cls(Laplace.calibrated(share, replace(sensitivity, l1=sensitivity.one_way)), threshold)

    def draw(self, truth: SparseCounts, noise: NoiseSource) -> Array:
        return self.once.draw(self._excess(truth), noise)

    def log_density(self, released: Array, truth: SparseCounts) -> float:
        return self.once.log_density(released, self._excess(truth))

    def _excess(self, truth: SparseCounts) -> Array:
        return np.array([np.maximum(truth.values - self.threshold, 0.0).sum()])


@dataclass(frozen=True)
class PathCounts(DrawnNoise):
    """Noisy counts of a binary tree of code prefixes that grows where it finds many rows: one histogram answers all.

    Releases noisy counts of the two children of the root, then of both children of every node that is heavy enough. A
    node is split when its noisy count is at least ``min_branch``, on ``levels`` levels in all; its children are asked
    alike whether they hold rows or not, and every count that was asked is released. What is asked depends on noisy
    counts only, and one row changes one count on each level: the cost is ``levels`` times that of one count. Under
    replace two paths change, which the sensitivity of one level's counts says.

    References
    ----------
    Chang, Ghazi, Kumar & Manurangsi 2021 and the blog post on practical differentially private clustering (2021):
    prefix trees of hashes.
    """

    once: Laplace | Gaussian
    levels: int
    min_branch: float

    @classmethod
    def calibrated(cls, share: Budget, sensitivity: Sensitivity, *, levels: int, min_branch: float) -> PathCounts:
        """Noise on the counts of all levels that costs ``share`` together.

        Parameters
        ----------
        share : Budget
            Part of the session's budget.
        sensitivity : Sensitivity
            The most that one unit of privacy changes the answer, in the answer's own units.
        levels : int
            How many levels are asked about.
        min_branch : float
            The noisy count from which a node is split.

        Returns
        -------
        PathCounts
            With one scale for all levels.
        """
        check.at_least(1, levels=levels)
        kind = Laplace if share.accounting in (Accounting.PURE, Accounting.PLD) else Gaussian
        return cls(kind.calibrated(share.fraction(1 / levels), sensitivity), levels, min_branch)

    @property
    def name(self) -> str:
        return f"{self.once.name} path"

    @property
    def draws(self) -> int:
        return self.levels

    def draw(self, truth: SparseCounts, noise: NoiseSource) -> SparseCounts:
        nodes = np.array([2, 3], dtype=np.int64)
        levels, counts = [], []
        for _ in range(self.levels):
            noisy = self.once.draw(count_below(nodes, truth), noise)
            levels.append(nodes)
            counts.append(noisy)
            nodes = list_children(nodes[noisy >= self.min_branch])
        return SparseCounts(np.concatenate(levels), np.concatenate(counts), 2 * truth.universe)

    def log_density(self, released: SparseCounts, truth: SparseCounts) -> float:
        return self.once.log_density(released.values, count_below(released.codes, truth))


def list_children(nodes: Codes) -> Codes:
    """Heap numbers of both children of each node, sorted if ``nodes`` are."""
    return (2 * nodes[:, None] + np.arange(2)).ravel()


def count_below(nodes: Codes, histogram: SparseCounts) -> Any:
    """Rows below each node, by heap number, from the histogram of whole codes; shape (m,).

    Parameters
    ----------
    nodes : int array of shape (m,)
        Heap numbers.
    histogram : SparseCounts
        Rows by whole code.

    Returns
    -------
    int array of shape (m,)
        Rows.
    """
    depth = histogram.universe.bit_length() - 1
    before = np.r_[0, np.cumsum(histogram.values)]
    first, end = (np.searchsorted(histogram.codes, edge) for edge in find_code_range(nodes, depth))
    counts: Any = before[end] - before[first]
    return counts
