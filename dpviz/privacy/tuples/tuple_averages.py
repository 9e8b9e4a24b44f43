"""Averages of the points that tuples have in each of k clusters, if a private test finds that they agree.

References
----------
Cohen, Kaplan, Mansour, Stemmer & Tsfadia 2021, Fig. 3 (PrivatekAverages) and Claim 4.6.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from typing import ClassVar

import numpy as np

from dpviz.privacy.accounting import Budget
from dpviz.privacy.noise import NoiseSource
from dpviz.privacy.queries import Sensitivity
from dpviz.privacy.tuples.partition_test import PartitionTest, nearest_of_each
from dpviz.privacy.tuples.private_average import PrivateAverage
from dpviz.privacy.tuples.tuples import NoisyTuple, TupleMechanism, TupleTable, tuple_budget

# Δ: balls so far apart that whatever two tuples that pass say, all but k (ℓ + 1) points get the same nearest ball.
FAR = 7.0


@dataclass(frozen=True)
class TupleAverages(TupleMechanism):
    """Test and averages in one: (ε, δ)-DP for tables of ``number`` tuples of which one is replaced; ε at most 1.

    Half of ε pays for the test. Given that it passes, at most k (ℓ + 1) points of neighbouring tables lie in another
    cluster, each of which changes two clusters: every average is paid for that often.

    Parameters
    ----------
    epsilon, delta : float
    k, number, dim : int
        Points of a tuple; tuples; columns of a point.
    finest : float
        Radius of the smallest cloud of points that is told apart, unit coordinates.
    bound : float
        Largest coordinate.
    beta : float
        Chance of ⊥ for tuples that fit.
    printed : bool
        Whether ε₁ of the test is the paper's bound, and averages are released even where their public constants say
        that they are noise; otherwise the answer is ⊥ there.
    """

    name: ClassVar[str] = "tuple averages"
    dim: int
    finest: float
    bound: float
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
        dim: int,
        finest: float,
        bound: float,
        beta: float,
        printed: bool = False,
    ) -> TupleAverages:
        share = tuple_budget(share, sensitivity)
        return cls(share.amount, share.delta, k, number, dim, finest, bound, beta, printed)

    @property
    def test(self) -> PartitionTest:
        """The test at ε/2, δ/4, β/2."""
        return PartitionTest(self.epsilon / 2, self.delta / 4, self.beta / 2, FAR, self.number, self.printed)

    @property
    def average(self) -> PrivateAverage | None:
        """The average of one cluster; None where the test cannot pass.

        2k(ℓ+1) changed points at ε/(4k(ℓ+1)) cost ε/2; with one point a tuple there is nothing to test, and a replaced
        tuple is one point less and one more.
        """
        if self.k == 1:
            epsilon, delta = self.epsilon / 2, self.delta / (1 + exp(self.epsilon / 2))
        else:
            plan = self.test.plan
            if plan is None:
                return None
            changed = self.k * (plan.misfits + 1)
            epsilon = self.epsilon / (4 * changed)
            delta = self.delta / (8 * changed * exp(self.epsilon / 2))
        return PrivateAverage(epsilon, delta, self.number, self.finest, self.bound, self.dim)

    @property
    def hopeless(self) -> bool:
        """Whether the answer is ⊥ whatever the tuples are, by public numbers alone."""
        average = self.average
        return average is None or (self.number < average.fewest and not self.printed)

    def draw(self, truth: TupleTable, noise: NoiseSource) -> NoisyTuple:
        self.refuse_other_number(truth)
        average = self.average
        if average is None or self.hopeless:
            return NoisyTuple.bottom()
        if self.k == 1:
            return NoisyTuple.of(average.draw(truth.values[:, 0], noise)[None])
        centers = self.test.centers(truth.values, noise)
        if centers is None:
            return NoisyTuple.bottom()
        clouds = nearest_of_each(truth.values, centers)
        return NoisyTuple.of(np.stack([average.draw(cloud, noise) for cloud in clouds]))
