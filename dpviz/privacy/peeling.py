"""Several entries of little loss, drawn one after the other without replacement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import logsumexp

from dpviz.privacy.accounting import Accounting, Budget
from dpviz.privacy.mechanisms import Exponential
from dpviz.privacy.noise import NoiseSource
from dpviz.privacy.queries import Sensitivity
from dpviz.table.domain import Array, Codes


@dataclass(frozen=True)
class Peeling:
    """``draws`` times the exponential mechanism ``once``, each time among the entries that are left; best one first.

    Given what was drawn before, each draw is an exponential mechanism over fewer entries, whose losses change by no
    larger range. So the cost is ``draws`` times that of one draw. Gumbel noise added once to all entries and sorted
    gives the same law.

    References
    ----------
    Durfee & Rogers 2019, Lemma 4.2 (one-shot Gumbel noise is peeling).
    """

    name: ClassVar[str] = "peeling"
    once: Exponential
    draws: int

    @classmethod
    def bought(cls, share: Budget, sensitivity: Sensitivity, *, draws: int) -> Peeling:
        return cls(Exponential.bought(share.fraction(1 / draws), sensitivity), draws)

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
        return np.argsort(-(utility + noise.gumbel(1.0, utility.shape)), kind="stable")[: self.draws]

    def log_density(self, released: Codes, truth: Array) -> float:
        left, total = self._utility(truth), 0.0
        for entry in released:
            total += float(left[entry] - logsumexp(left))
            left[entry] = -np.inf
        return total

    def _utility(self, truth: Array) -> Array:
        utility: Array = -(truth - truth.min()) / self.scale
        return utility
