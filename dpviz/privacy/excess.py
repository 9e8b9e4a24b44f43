"""How much of a huge histogram lies above a threshold, as one number that one row changes by at most 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpviz.arrays import Array
from dpviz.check import RequestError
from dpviz.privacy.accounting import Accounting, Budget
from dpviz.privacy.loss_kinds import LossKind
from dpviz.privacy.mechanisms import Laplace
from dpviz.privacy.noise import NoiseSource
from dpviz.privacy.queries import Sensitivity
from dpviz.privacy.sparse import SparseCounts


@dataclass(frozen=True)
class NoisyExcess:
    """Sum over all cells of max(count - ``threshold``, 0), with Laplace noise; shape (1,).

    The positive part moves no faster than the count: the sum has the l1 sensitivity of the histogram itself.
    """

    name: ClassVar[str] = "laplace excess"
    loss: ClassVar[LossKind] = LossKind.LAPLACE_LIKE
    noise: Laplace
    threshold: float

    @classmethod
    def bought(cls, share: Budget, sensitivity: Sensitivity, *, threshold: float) -> NoisyExcess:
        if not threshold >= 0:
            # Below 0 empty cells would count too: a row would bring its cell to more than one row's worth.
            raise RequestError("An excess is over a threshold of at least 0 rows: give one.")
        return cls(Laplace.bought(share, sensitivity), threshold)

    @property
    def sensitivity(self) -> float:
        return self.noise.sensitivity

    @property
    def scale(self) -> float:
        return self.noise.scale

    def cost(self, accounting: Accounting) -> float:
        return self.noise.cost(accounting)

    def draw(self, truth: SparseCounts, noise: NoiseSource) -> Array:
        return self.noise.draw(self._excess(truth), noise)

    def log_density(self, released: Array, truth: SparseCounts) -> float:
        return self.noise.log_density(released, self._excess(truth))

    def _excess(self, truth: SparseCounts) -> Array:
        return np.array([np.maximum(truth.values - self.threshold, 0.0).sum()])
