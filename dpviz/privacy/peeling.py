"""Several entries of little loss, drawn one after the other without replacement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import logsumexp

from dpviz import check
from dpviz.arrays import Array, Codes
from dpviz.privacy.accounting import Accounting, Budget
from dpviz.privacy.loss_kinds import LossKind
from dpviz.privacy.mechanisms import Exponential
from dpviz.privacy.noise import NoiseSource
from dpviz.privacy.queries import Sensitivity


@dataclass(frozen=True)
class Peeling:
    """``draws`` times the exponential mechanism ``once``, each time among the entries that are left; best one first.

    Given what was drawn before, each draw is an exponential mechanism over fewer entries, whose losses change by no
    larger range. So the cost is ``draws`` times that of one draw. Gumbel noise added once to all entries and sorted
    gives the same law. Lines of a matrix belong to disjoint cells and are peeled side by side, for the price of one.

    Parameters
    ----------
    once : Exponential
    draws : int
    magnitudes : bool
        Whether the entries of largest magnitude are drawn, instead of those of least loss.

    References
    ----------
    Durfee & Rogers 2019, Lemma 4.2 (one-shot Gumbel noise is peeling).
    """

    name: ClassVar[str] = "peeling"
    loss: ClassVar[LossKind] = LossKind.BOUNDED_RANGE
    once: Exponential
    draws: int
    magnitudes: bool = False

    @classmethod
    def bought(cls, share: Budget, sensitivity: Sensitivity, *, draws: int, magnitudes: bool = False) -> Peeling:
        check.at_least(1, draws=draws)
        return cls(Exponential.bought(share.fraction(1 / draws), sensitivity), draws, magnitudes)

    @property
    def sensitivity(self) -> float:
        """Of all draws together."""
        return self.draws * self.once.sensitivity

    @property
    def scale(self) -> float:
        return self.once.scale

    def cost(self, accounting: Accounting) -> float:
        return self.draws * self.once.cost(accounting)

    def draw(self, truth: Array, noise: NoiseSource) -> Codes:
        utility = self._utility(truth)
        order = np.argsort(-(utility + noise.gumbel(1.0, utility.shape)), axis=-1, kind="stable")
        return order[..., : self.draws]

    def log_density(self, released: Codes, truth: Array) -> float:
        left, total = np.atleast_2d(self._utility(truth)), 0.0
        line = np.arange(len(left))
        for entries in np.atleast_2d(released).T:
            total += float((left[line, entries] - logsumexp(left, axis=1)).sum())
            left[line, entries] = -np.inf
        return total

    def _utility(self, truth: Array) -> Array:
        loss = -np.abs(truth) if self.magnitudes else truth
        utility: Array = -(loss - loss.min(axis=-1, keepdims=True)) / self.scale
        return utility
