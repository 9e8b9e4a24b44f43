"""Tables of k-tuples, handed over to mechanisms that test them and release points of them.

A tuple is k points of a block of rows; one unit of privacy changes one tuple. Nothing of a tuple leaves a mechanism
but what it releases: a status, and noisy points.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar

import numpy as np

from dpviz.arrays import Array, Codes
from dpviz.check import RequestError
from dpviz.privacy.accounting import Accounting, Budget
from dpviz.privacy.loss_kinds import LossKind
from dpviz.privacy.mechanisms import NoDensity
from dpviz.privacy.partitions import Everything
from dpviz.privacy.queries import Relation, Sensitivity
from dpviz.table.domain import Region


@dataclass(frozen=True, eq=False)
class TupleTable:
    """Tuples as they came, shape (n_t, k, d); tables add up by standing below each other."""

    values: Array

    def __add__(self, more: TupleTable) -> TupleTable:
        return TupleTable(np.concatenate([self.values, more.values]))

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True, eq=False)
class Tuples:
    """The rows themselves, each a tuple of ``k`` points flattened: a question for mechanisms on tuples only."""

    k: int

    @property
    def over(self) -> Everything:
        return Everything()

    @property
    def width(self) -> int:
        return 1

    def tally(self, chunk: Array, cell: Codes) -> TupleTable:
        """The tuples of a chunk."""
        return TupleTable(chunk.reshape(len(chunk), self.k, chunk.shape[1] // self.k))

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """One tuple is replaced, the unit here; where their number is private there is no bound."""
        changed = 1.0 if relation is Relation.REPLACE else inf
        return Sensitivity(l1=changed, l2=changed)


@dataclass(frozen=True, eq=False)
class NoisyTuple:
    """What a mechanism on tuples releases: whether its test passed, and then k points (k, d) in lexicographic order.

    The order says nothing: that of the secret tuple would.
    """

    passed: bool
    centers: Array | None

    @classmethod
    def bottom(cls) -> NoisyTuple:
        """The answer ⊥: the tuples did not agree, or were too few to be asked."""
        return cls(False, None)

    @classmethod
    def of(cls, centers: Array) -> NoisyTuple:
        """Noisy points (k, d), sorted."""
        ordered = centers[np.lexsort(centers.T[::-1])]
        ordered.flags.writeable = False
        return cls(True, ordered)


def tuple_budget(share: Budget, sensitivity: Sensitivity) -> Budget:
    """``share``, if a mechanism on tuples can be bought with it.

    Raises
    ------
    RequestError
        Under another accounting than basic, with ε above 1, or where more than one tuple may change.
    """
    if share.accounting is not Accounting.BASIC or not 0 < share.delta < 1:
        raise RequestError("Mechanisms on tuples are (ε, δ)-DP: pay for them under basic accounting with delta > 0.")
    if share.amount > 1:
        raise RequestError(f"A test of tuples takes at most ε = 1, not {share.amount:g}: spend the rest elsewhere.")
    if sensitivity.l1 != 1:
        raise RequestError("Mechanisms on tuples need a public number of tuples, of which one may be replaced.")
    return share


@dataclass(frozen=True)
class TupleMechanism:
    """What mechanisms on tables of ``number`` k-tuples share: they test and release in one, (ε, δ)-DP as a whole.

    Their guarantee is (ε, δ), so that the log ratio of their densities has no bound (``exact`` is False).
    """

    name: ClassVar[str]
    loss: ClassVar[LossKind] = LossKind.APPROXIMATE
    exact: ClassVar[bool] = False
    epsilon: float
    delta: float
    k: int
    number: int

    @property
    def sensitivity(self) -> float:
        """One tuple."""
        return 1.0

    @property
    def scale(self) -> float:
        return 1 / self.epsilon

    @property
    def hopeless(self) -> bool:
        """Whether the answer is ⊥ whatever the tuples are, by public numbers alone."""
        return False

    def cost(self, accounting: Accounting) -> float:
        if accounting is not Accounting.BASIC:
            raise RequestError(f"{self.name} cannot be paid under {accounting.value} accounting.")
        return self.epsilon

    def log_density(self, released: NoisyTuple, truth: TupleTable) -> float:
        if self.hopeless:
            return 0.0
        raise NoDensity(f"{self.name} is (ε, δ)-DP.")

    def refuse_other_number(self, truth: TupleTable) -> None:
        """Noise is bought for a public number of tuples.

        Raises
        ------
        RequestError
            If there are more or fewer.
        """
        if len(truth) != self.number:
            raise RequestError("The number of tuples is not the public one that the noise was bought for.")
