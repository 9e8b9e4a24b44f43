"""Rules of addition for privacy: pure ε, Gaussian DP μ², zero-concentrated DP ρ, and loss distributions.

In each of the first three a cost is one number, and costs add under (adaptive) sequential composition. A ``Budget`` is
such a number that can be divided; the ledger checks that the parts are not spent twice. The rules are proved in
``docs/proofs/accounting.md``.

References
----------
Dong, Roth & Su 2022, Cor. 2.13 (μ-GDP). Bun & Steinke 2016 (zCDP). Canonne, Kamath & Steinke 2020, Cor. 2.13 (its
conversion to ε and δ).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from math import fsum, inf, sqrt
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr

from dpviz.core import check
from dpviz.core.arrays import Array

# Parts of a budget are rounded down by this, so that no order of adding them up exceeds the whole.
_PART = 1.0 - 1e-12
# Numerical solutions of the conversions are rounded down by this.
_SOLVED = 1.0 - 1e-6
# The zCDP conversion is re-added by another library on a grid of orders: leave it this much room.
_ORDERS = 1.0 - 2e-4
# So much room for basic composition, which it re-adds on a grid of losses that it rounds upwards to.
_GRID = 1.0 - 1e-3


class Accounting(Enum):
    """How costs add up."""

    PURE = "pure"
    """Cost ε; total ε-DP."""
    GDP = "gdp"
    """Cost μ²; Gaussian mechanisms only; exact."""
    ZCDP = "zcdp"
    """Cost ρ; Gaussian, Laplace and exponential mechanisms together."""
    BASIC = "basic"
    """Cost (ε, δ), δ in proportion; for mechanisms that are (ε, δ)-DP without being of another kind."""
    PLD = "pld"
    """Privacy loss distributions of Laplace and Gaussian noise, and of choices, together. Amounts are ρ, a common
    currency in which shares are divided and shown; the total ε is composed numerically, and is less than their sum is
    worth."""
    NONE = "none"
    """No guarantee: the non-private reference."""

    @property
    def unit(self) -> Unit:
        """What adds up, or is shown where nothing does."""
        match self:
            case Accounting.PURE | Accounting.BASIC:
                return Unit("ε", "epsilon")
            case Accounting.GDP:
                return Unit("μ²", "mu^2")
            case Accounting.ZCDP | Accounting.PLD:
                return Unit("ρ", "rho")
            case Accounting.NONE:
                return Unit("none", "none")

    def compute_capacity(self, *, epsilon: float, delta: float) -> float:
        """The amount whose total guarantee is (ε, δ): ε, the exact μ², or the largest ρ.

        Parameters
        ----------
        epsilon, delta : float

        Returns
        -------
        float
            In its unit: ε, μ² or ρ.

        Raises
        ------
        RequestError
            If ε is not positive, or the accounting needs δ > 0.
        """
        epsilon, delta = check.positive(epsilon=epsilon), float(delta)
        if self is Accounting.NONE:
            return inf
        if self is Accounting.PURE:
            return epsilon
        if delta <= 0:
            raise check.RequestError("This setting is approximate and needs delta > 0: give, say, delta = 1e-6.")
        if self is Accounting.BASIC:
            return epsilon * _GRID
        amount = gdp_mu(epsilon, delta) ** 2 if self is Accounting.GDP else zcdp_rho(epsilon, delta)
        if not amount > 0:
            raise check.RequestError(
                f"epsilon = {epsilon:g} with delta = {delta:g} is too little to calibrate noise: give a larger one."
            )
        return amount


class Unit(NamedTuple):
    """Of a cost: its symbol on a page, and its name in a file."""

    symbol: str
    name: str


@dataclass(frozen=True)
class Budget:
    """An amount of privacy in one accounting (ε, μ² or ρ): the whole, or a share of it; ``delta`` under basic only."""

    accounting: Accounting
    amount: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        # Of NumPy's shorter floats, parts would be rounded up.
        object.__setattr__(self, "amount", float(self.amount))
        object.__setattr__(self, "delta", float(self.delta))

    def fraction(self, part: float) -> Budget:
        """That part of the budget, ``0 < part <= 1``."""
        part = float(part) * (_PART if part < 1 else 1.0)
        return Budget(self.accounting, self.amount * part, self.delta * part)

    def split(self, **weights: float) -> Shares:
        """Named shares in proportion to ``weights``; a weight of 0 gives a share that cannot be spent."""
        return Shares(zip(weights, self.rounds(len(weights), list(weights.values())), strict=True))

    def rounds(self, number: int, weights: Sequence[float] | None = None) -> list[Budget]:
        """One budget for each round, equal or in proportion to ``weights``.

        Parameters
        ----------
        number : int
            How many rounds.
        weights : sequence of float or None
            Shape (number,), in any unit; None: all alike.

        Returns
        -------
        list of Budget
            They add up to this budget, never above.
        """
        weights = [float(weight) for weight in weights] if weights is not None else [1.0] * number
        total = fsum(weights)
        return [self.fraction(weight / total) for weight in weights]


class Shares(dict[str, Budget]):
    """Named parts of a budget, read as attributes; as items where names are made up on the way, as those of rounds."""

    def __getattr__(self, name: str) -> Budget:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def compute_spent_epsilon(accounting: Accounting, amount: float, *, delta: float) -> float:
    """The ε at ``delta`` of a total ``amount``; under PLD only an upper bound, since it sees no mechanism."""
    if amount <= 0:
        return 0.0
    match accounting:
        case Accounting.NONE:
            return inf
        case Accounting.PURE | Accounting.BASIC:
            return amount
        case Accounting.GDP:
            return gdp_epsilon(sqrt(amount), delta)
        case Accounting.ZCDP | Accounting.PLD:
            return zcdp_epsilon(amount, delta)


def gdp_delta(mu: float, epsilon: float) -> float:
    """δ(ε) of μ-GDP: Φ(-ε/μ + μ/2) - e^ε Φ(-ε/μ - μ/2)."""
    return float(ndtr(-epsilon / mu + mu / 2) - np.exp(epsilon + log_ndtr(-epsilon / mu - mu / 2)))


@lru_cache(maxsize=4096)
def gdp_mu(epsilon: float, delta: float) -> float:
    """The largest μ whose μ-GDP implies (ε, δ)-DP; 0 if it is too small for floating-point numbers.

    Parameters
    ----------
    epsilon, delta : float

    Returns
    -------
    float
        Sensitivity over scale.
    """
    top = 1.0
    while gdp_delta(top, epsilon) < delta:
        top *= 2
    if gdp_delta(1e-9 * top, epsilon) >= delta:
        return 0.0
    return float(brentq(lambda mu: gdp_delta(mu, epsilon) - delta, 1e-9 * top, top, xtol=1e-15, rtol=1e-14)) * _SOLVED


@lru_cache(maxsize=4096)
def gdp_epsilon(mu: float, delta: float) -> float:
    """The smallest ε >= 0 for which μ-GDP implies (ε, δ)-DP."""
    if gdp_delta(mu, 0.0) <= delta:
        return 0.0
    top = 1.0
    while gdp_delta(mu, top) > delta:
        top *= 2
    return float(brentq(lambda epsilon: gdp_delta(mu, epsilon) - delta, 0.0, top, xtol=1e-13))


_ORDERS_LESS_ONE = np.geomspace(1e-3, 1e7, 40_001)
_ALL_ORDERS = 1 + _ORDERS_LESS_ONE
_ORDER_LOGS = np.log(_ORDERS_LESS_ONE / _ALL_ORDERS)


@lru_cache(maxsize=8)
def _compute_delta_costs(delta: float) -> Array:
    """ln(δα)/(α - 1) of all orders α. Kept, for the charges of a run share their δ, and so many logarithms are slow."""
    return np.log(delta * _ALL_ORDERS) / _ORDERS_LESS_ONE


@lru_cache(maxsize=4096)
def zcdp_epsilon(rho: float, delta: float) -> float:
    """min over α > 1 of ρα + ln(1 - 1/α) - ln(δα)/(α - 1), at least 0.

    Parameters
    ----------
    rho : float
        Of zero-concentrated privacy.
    delta : float
        At which ε is asked for.

    Returns
    -------
    float
        An upper bound.
    """
    epsilon = rho * _ALL_ORDERS + _ORDER_LOGS - _compute_delta_costs(delta)
    return max(0.0, float(epsilon.min()))


@lru_cache(maxsize=4096)
def zcdp_rho(epsilon: float, delta: float) -> float:
    """The largest ρ whose ρ-zCDP implies (ε, δ)-DP by the conversion of ``zcdp_epsilon``."""
    rho = (epsilon - _ORDER_LOGS + _compute_delta_costs(delta)) / _ALL_ORDERS
    return float(rho.max()) * _ORDERS
