"""Noisy points of one tuple, if a private test finds that all tuples agree (PrivatekNoisyCenters).

References
----------
Cohen, Kaplan, Mansour, Stemmer & Tsfadia 2021, Fig. 4 and Claim 4.6. The printed λ is not private: see ``reach``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import exp, log, sqrt
from typing import ClassVar

import numpy as np
from scipy.optimize import brentq

from dpviz.arrays import Array
from dpviz.check import RequestError
from dpviz.privacy.accounting import Budget, gdp_mu
from dpviz.privacy.noise import NoiseSource
from dpviz.privacy.queries import Sensitivity
from dpviz.privacy.tuples.partition_test import PartitionTest
from dpviz.privacy.tuples.tuple_averages import classic_multiplier
from dpviz.privacy.tuples.tuples import NoisyTuple, TupleMechanism, TupleTable, tuple_budget

_MOST_LOG_REACH = 100.0


@dataclass(frozen=True)
class NoisyCenters(TupleMechanism):
    """Test and release in one: (ε, δ)-DP for tables of ``number`` tuples of which one is replaced; ε at most 1.

    Half of ε pays for the test. Given that it passes, the points c of a sampled tuple differ between neighbours by at
    most 2/Δ times their distance m to the nearest other one. A bound λ on that, itself private, scales Gaussian noise.

    Parameters
    ----------
    epsilon, delta : float
    k, number : int
        Points of a tuple; tuples.
    far : float
        Δ.
    beta : float
        Chance of ⊥ for tuples that fit.
    printed : bool
        Whether each point has Gaussian noise of its own with the paper's classic constant, and ε₁ its printed bound;
        otherwise all points share one exactly calibrated Gaussian, about √k better.
    """

    name: ClassVar[str] = "noisy centres"
    far: float
    beta: float
    printed: bool = False

    @classmethod
    def bought(
        cls,
        share: Budget,
        sensitivity: Sensitivity,
        *,
        k: int,
        number: int,
        far: float,
        beta: float,
        printed: bool = False,
    ) -> NoisyCenters:
        share = tuple_budget(share, sensitivity)
        if k < 2 or not far > 6:
            raise RequestError(f"A test of {k}-tuples at Δ = {far:g} says nothing: give k of at least 2 and Δ above 6.")
        return cls(share.amount, share.delta, k, number, far, beta, printed)

    @property
    def hopeless(self) -> bool:
        """Whether the test cannot be asked about so few tuples."""
        return self.test.plan is None

    @property
    def test(self) -> PartitionTest:
        """The test at ε/2, δ/4, β/2."""
        return PartitionTest(self.epsilon / 2, self.delta / 4, self.beta / 2, self.far, self.number, self.printed)

    @property
    def relative_sd(self) -> float:
        """Typical standard deviation of the noise on a coordinate, over the distance to the nearest other point."""
        return relative_sd(self.epsilon, self.delta, self.k, self.far, self.printed)

    def draw(self, truth: TupleTable, noise: NoiseSource) -> NoisyTuple:
        self.refuse_other_number(truth)
        centers = self.test.centers(truth.values, noise)
        if centers is None:
            return NoisyTuple.bottom()
        secret_reach = self.reach(centers, noise.laplace(4 * self.k / self.epsilon, (self.k,)))
        sd = gaussian_sd(self.epsilon, self.delta, self.k, self.printed) * secret_reach
        return NoisyTuple.of(centers + sd[:, None] * noise.normal(1.0, centers.shape))

    def reach(self, centers: Array, laplace: Array) -> Array:
        """λ (k,): how far each of ``centers`` (k, d) may be from its neighbour's; Laplace noise of scale 4k/ε inside.

        ln m moves by at most s = ln((Δ+2)/(Δ-2)) between neighbours, so that λ is ε/4k-DP for each point, and at least
        2/Δ times the neighbour's m but with probability δ/8k. The printed λ scales the noise and its offset with m
        itself, which costs more than it is paid for.
        """
        gaps = np.sqrt(((centers[:, None] - centers[None]) ** 2).sum(axis=2))
        np.fill_diagonal(gaps, np.inf)
        offset = 1 + 4 * self.k / self.epsilon * log(4 * self.k / self.delta)
        with np.errstate(divide="ignore"):
            log_reach = np.log(2 / self.far * gaps.min(axis=1)) + stretch(self.far) * (offset + laplace)
        # A cut of what is private already: beyond any distance, so that squares stay finite.
        reach: Array = np.exp(np.minimum(log_reach, _MOST_LOG_REACH))
        return reach


def stretch(far: float) -> float:
    """s: the most that the logarithm of a distance between neighbours' points may move."""
    return log((far + 2) / (far - 2))


def gaussian_sd(epsilon: float, delta: float, k: int, printed: bool) -> float:
    """Standard deviation of the noise on a coordinate for λ = 1.

    As printed each of k points moves by λ at (ε/4k, δ/8k); together they move by √k at (ε/4, δ/8).
    """
    if printed:
        return 4 * k / epsilon * sqrt(2 * log(10 * k / delta))
    return sqrt(k) / (gdp_mu(epsilon / 4, delta / 8) or 1 / classic_multiplier(epsilon / 4, delta / 8))


def relative_sd(epsilon: float, delta: float, k: int, far: float, printed: bool) -> float:
    """``gaussian_sd`` times the median of λ over m."""
    offset = 1 + 4 * k / epsilon * log(4 * k / delta)
    return gaussian_sd(epsilon, delta, k, printed) * 2 / far * exp(min(stretch(far) * offset, 600.0))


@lru_cache(maxsize=1024)
def far_for(relative: float, *, epsilon: float, delta: float, k: int, printed: bool) -> float:
    """Δ at which the noise is typically ``relative`` times the distance between points; from public numbers only."""

    def excess(log_far: float) -> float:
        return log(relative_sd(epsilon, delta, k, exp(log_far), printed) / relative)

    high = log(8.0)
    while excess(high) > 0:
        high += 1
    return exp(brentq(excess, log(6.5), high)) if excess(log(6.5)) > 0 else 6.5


def printed_far(*, epsilon: float, delta: float, k: int, beta: float) -> float:
    """Δ of the paper's experiments."""
    return max(7.0, 10 / epsilon * k * log(k / delta) * sqrt(log(k / beta)))
