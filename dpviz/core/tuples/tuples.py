"""Tables of k-tuples, handed over to mechanisms that test them and release points of them.

A tuple is k points of a block of rows; one unit of privacy changes one tuple. Nothing of a tuple leaves a mechanism
but what it releases: a status, and noisy points.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, prod
from typing import Any, ClassVar, Self

import numpy as np

from dpviz.core.accounting import Accounting, Budget
from dpviz.core.arrays import Array, Codes
from dpviz.core.check import RequestError
from dpviz.core.content import order_by_content
from dpviz.core.domain import Region
from dpviz.core.lattice import ExactRows
from dpviz.core.loss_kinds import LossKind, refuse_unpriced
from dpviz.core.mechanisms import NoDensity
from dpviz.core.noise import NoiseSource
from dpviz.core.queries import AsAsked, OfAllRows, Relation, Sensitivity
from dpviz.core.tuples.partition_check import PartitionTest


@dataclass(frozen=True, eq=False)
class TupleTable:
    """Tuples as they came, shape (n_t, k, d); tables add up by standing below each other."""

    values: Array

    def __add__(self, other: TupleTable) -> TupleTable:
        return TupleTable(np.concatenate([self.values, other.values]))

    def __len__(self) -> int:
        return len(self.values)

    def order_by_content(self) -> TupleTable:
        """The tuples in an order that follows from what they are: that of the file has no say in a study's draw."""
        return TupleTable(self.values[order_by_content(self.values.reshape(len(self), prod(self.values.shape[1:])))])


@dataclass(frozen=True, eq=False)
class Tuples(AsAsked, OfAllRows):
    """The rows themselves, each a tuple of ``k`` points flattened: a question for mechanisms on tuples only."""

    k: int

    def tally(self, rows: ExactRows, cell: Codes) -> TupleTable:
        columns = rows.values.shape[1]
        return TupleTable(rows.values.copy().reshape(len(rows), self.k, columns // self.k))

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """One tuple is replaced, the unit here; where their number is private there is no bound."""
        changed = 1.0 if relation is Relation.REPLACE else inf
        return Sensitivity(l1=changed, l2=changed)


@dataclass(frozen=True, eq=False)
class NoisyTuple:
    """What a mechanism on tuples releases: k points (k, d) in lexicographic order, or ⊥ (None).

    ⊥ says that the tuples did not agree, or were too few to be asked. The order says nothing: that of the secret tuple
    would.
    """

    centers: Array | None = None

    @property
    def passed(self) -> bool:
        """Whether the test passed."""
        return self.centers is not None

    @classmethod
    def of(cls, centers: Array) -> NoisyTuple:
        """Noisy points (k, d), sorted."""
        ordered = centers[np.lexsort(centers.T[::-1])]
        ordered.flags.writeable = False
        return cls(ordered)


@dataclass(frozen=True, kw_only=True)
class TupleMechanism:
    """What mechanisms on tables of ``number`` k-tuples share: they test and release in one, (ε, δ)-DP as a whole.

    One of the tuples is replaced; ε is at most 1, and half of it pays for the test. The guarantee is (ε, δ), so that
    the log ratio of densities has no bound (``exact`` is False).

    Parameters
    ----------
    epsilon, delta : float
    k, number : int
        Points of a tuple; tuples.
    far : float
        Δ of the test.
    beta : float
        Chance of ⊥ for tuples that fit.
    printed : bool
        Whether ε₁ of the test is the paper's bound, and other constants are the paper's.
    """

    name: ClassVar[str]
    loss: ClassVar[LossKind] = LossKind.APPROXIMATE
    exact: ClassVar[bool] = False
    epsilon: float
    delta: float
    k: int
    number: int
    far: float
    beta: float
    printed: bool = False

    @classmethod
    def calibrated(cls, share: Budget, sensitivity: Sensitivity, **constants: Any) -> Self:
        """The mechanism that ``share`` buys where one tuple is replaced.

        Parameters
        ----------
        share : Budget
            Part of the session's budget.
        sensitivity : Sensitivity
            One tuple, whose number is public.
        **constants
            Δ, β and the like, by name; public.

        Returns
        -------
        Self
            With the test and the noise that the share pays for.
        """
        if share.accounting is not Accounting.BASIC or not 0 < share.delta < 1:
            raise RequestError(
                "Mechanisms on tuples are (ε, δ)-DP: pay for them under basic accounting with delta > 0."
            )
        if share.amount > 1:
            raise RequestError(f"A test of tuples takes at most ε = 1, not {share.amount:g}: spend the rest elsewhere.")
        if sensitivity.l1 != 1:
            raise RequestError("Mechanisms on tuples need a public number of tuples, of which one may be replaced.")
        return cls(epsilon=share.amount, delta=share.delta, **constants)

    @property
    def sensitivity(self) -> float:
        """One tuple."""
        return 1.0

    @property
    def scale(self) -> float:
        return 1 / self.epsilon

    @property
    def test(self) -> PartitionTest:
        """The test at ε/2, δ/4, β/2."""
        return PartitionTest(self.epsilon / 2, self.delta / 4, self.beta / 2, self.far, self.number, self.printed)

    @property
    def hopeless(self) -> bool:
        """Whether the answer is ⊥ whatever the tuples are, by public numbers alone."""
        return self.test.plan is None

    def cost(self, accounting: Accounting) -> float:
        refuse_unpriced(self.loss, accounting, mechanism=self.name)
        return self.epsilon

    def draw(self, truth: TupleTable, noise: NoiseSource) -> NoisyTuple:
        if len(truth) != self.number:
            raise RequestError("The number of tuples is not the public one that the noise was bought for.")
        if self.hopeless:
            return NoisyTuple()
        # One centre is far from nothing: it needs no test.
        centers = self.test.centers(truth.values, noise) if self.k > 1 else truth.values[0]
        return NoisyTuple() if centers is None else NoisyTuple.of(self.draw_noisy_points(centers, truth.values, noise))

    def draw_noisy_points(self, centers: Array, tuples: Array, noise: NoiseSource) -> Array:
        """Points (k, d) to release, given those (k, d) of a secret tuple with which ``tuples`` (n_t, k, d) agree.

        Parameters
        ----------
        centers : array of shape (k, d)
            Of a secret tuple, unit coordinates.
        tuples : array of shape (n_t, k, d)
            All of them, same coordinates.
        noise : NoiseSource
            Where randomness comes from.

        Returns
        -------
        array of shape (k, d)
            Unit coordinates.
        """
        raise NotImplementedError

    def log_density(self, released: NoisyTuple, truth: TupleTable) -> float:
        if self.hopeless:
            return 0.0
        raise NoDensity(f"{self.name} is (ε, δ)-DP.")
