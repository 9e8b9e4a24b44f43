"""Rules of addition for privacy: pure ε, Gaussian DP μ², zero-concentrated DP ρ, and loss distributions.

In each of the first three a cost is one number, and costs add under (adaptive) sequential composition. A ``Budget`` is
such a number that can be divided; the ledger checks that the parts are not spent twice. The kind of a loss decides what
a draw costs, and where it may be paid at all. The rules are proved in ``docs/proofs/accounting.md``.

What noise of a known ε costs in ρ is a supremum of the Rényi divergence of order α over α, reached as α goes to 1, so
that a smaller constant is wrong and a larger one wastes noise (``docs/proofs/concentrated.md``).

Totals of Laplace and Gaussian noise and of choices are composed from their privacy loss distributions numerically. Such
totals do not add up: the least noise for an (ε, δ) is found by solving for one scale of all draws together. What they
compose to is the ε of a list that was fixed beforehand (``DrawList``).

References
----------
Dong, Roth & Su 2022, Cor. 2.13 and 3.3 (μ-GDP, and that of Gaussian noise). Bun & Steinke 2016 (zCDP; ε²/2 as the bound
of all that is ε-DP). Canonne, Kamath & Steinke 2020, Cor. 2.13 (its conversion to ε and δ). Cesar & Rogers 2021 (ε²/8
as the bound of choices). Harrison & Manurangsi 2026 (the same constants). Dong, Durfee & Rogers 2020 (bounded range).
Koskela, Jälkö & Honkela 2020; Doroshenko et al. 2022 (how distributions are rounded up to a grid: dp-accounting). Zhu,
Dong & Wang 2022, Theorem 10 (dominating pairs compose where queries are adaptive). Smith & Thakurta 2022 (where the
Gaussian noise is adaptive too).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache
from math import fsum, inf, isfinite, log, sqrt, tanh
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import exprel, hyp1f1, log_ndtr, ndtr

from dpviz.core.arrays import Array
from dpviz.core.check import RequestError, positive

# Powers of ε² of a choice's ρ: below this ε the closed form cancels.
_SERIES_BELOW = 0.5
_SERIES = (1 / 8, -1 / 576, 1 / 25_920, -1 / 1_075_200, 1 / 43_545_600, -691 / 1_207_084_032_000)
# What a ρ buys is rounded down by this, so that its price never exceeds the ρ.
_RHO_SOLVED = 1.0 - 1e-13


def compute_laplace_rho(epsilon: float) -> float:
    """ε + e^-ε - 1: of Laplace noise, and of all that it bounds; without cancellation where ε is small."""
    return epsilon**2 / 2 * float(hyp1f1(1, 3, -epsilon))


def compute_choice_rho(epsilon: float) -> float:
    """ln(sinh(h)/h) + h coth(h) - 1 with h = ε/2: of a loss of range ε. Hardly less than ε²/8 where ε is small."""
    if epsilon < _SERIES_BELOW:
        return sum(part * epsilon ** (2 * power) for power, part in enumerate(_SERIES, 1))
    half = epsilon / 2
    return half + log(exprel(-epsilon)) + half / tanh(half) - 1


def compute_pure_rho(epsilon: float) -> float:
    """ε tanh(ε/2): of whatever is ε-DP; randomised response needs it."""
    return epsilon * tanh(epsilon / 2)


@lru_cache(maxsize=4096)
def find_epsilon(cost: Callable[[float], float], rho: float) -> float:
    """The largest ε that ``cost``, one of the above, sells for ``rho``."""
    # No cost exceeds ε²/2, by more than it is rounded.
    most = sqrt(2 * rho)
    least = most / 2
    while cost(most) < rho:
        most *= 2
    return float(brentq(lambda epsilon: cost(epsilon) - rho, least, most, xtol=1e-300, rtol=1e-15)) * _RHO_SOLVED


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
        if self in (Accounting.PURE, Accounting.BASIC):
            return Unit("ε", "epsilon")
        if self in (Accounting.ZCDP, Accounting.PLD):
            return Unit("ρ", "rho")
        return Unit("μ²", "mu^2") if self is Accounting.GDP else Unit("none", "none")

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
        epsilon, delta = positive(epsilon=epsilon), float(delta)
        if self is Accounting.NONE:
            return inf
        if self is Accounting.PURE:
            return epsilon
        if delta <= 0:
            raise RequestError("This setting is approximate and needs delta > 0: give, say, delta = 1e-6.")
        if self is Accounting.BASIC:
            return epsilon * _GRID
        amount = gdp_mu(epsilon, delta) ** 2 if self is Accounting.GDP else zcdp_rho(epsilon, delta)
        if not amount > 0:
            raise RequestError(
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
        if name not in self:
            raise AttributeError(name)
        return self[name]


def compute_spent_epsilon(accounting: Accounting, amount: float, *, delta: float) -> float:
    """The ε at ``delta`` of a total ``amount``; under PLD only an upper bound, since it sees no mechanism."""
    if amount <= 0:
        return 0.0
    if accounting in (Accounting.PURE, Accounting.BASIC, Accounting.NONE):
        return inf if accounting is Accounting.NONE else amount
    return gdp_epsilon(sqrt(amount), delta) if accounting is Accounting.GDP else zcdp_epsilon(amount, delta)


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


_LOSS_GRID = 1e-3  # Losses are rounded up to a grid of this part of the total.
# How closely numbers are computed; what is rounded is rounded to the safe side.
_MARGIN, _CLOSE = 2e-5, 1e-5  # what a calibration leaves unspent, and how close it comes to that
_STEP = 0.8  # how fast the search goes down from a scale that is enough
# Two computations of one multiplier agree to this; a calibration leaves more unspent than so many of its draws take.
_SAME = 1e-9
# Beyond this ε, probabilities on a grid of losses under- and overflow; no such total protects anybody.
_LARGE = 200.0


class NoiseDraws(NamedTuple):
    """Noise of one kind, Laplace or Gaussian, drawn several times with ``multiplier`` = scale / sensitivity of each.

    What is bounded by Laplace noise counts as such: see ``LossKind``.
    """

    gaussian: bool
    multiplier: float
    times: int = 1

    @classmethod
    def gaussian_of(cls, rho: float) -> NoiseDraws:
        """The Gaussian draw that costs so much ρ."""
        return cls(True, 1 / sqrt(2 * rho))

    @property
    def rho(self) -> float:
        """What these draws cost in zCDP: a rough price in one currency."""
        return self.times / (2 * self.multiplier**2)


class NotAnnounced(RequestError):
    """A draw that is not on the list that was fixed before the first answer; nothing was computed or released."""


@dataclass(frozen=True)
class DrawList:
    """The draws that are left of a list that was fixed before the first answer.

    **Guarantee.** Questions, their order and whether all are asked may follow from answers: together the answers are
    (ε, δ)-DP for every (ε, δ) that the loss distributions of the whole list compose to.

    Gaussian noise may follow from answers, as long as the sum of μ² does not; a Laplace draw may have more noise than
    announced, never less. Which of the two is drawn may not follow from answers.
    """

    scale: float
    laplace: tuple[float, ...]
    gaussian: float

    @classmethod
    def of(cls, draws: Sequence[NoiseDraws], *, scale: float = 1.0) -> DrawList:
        """The list of these draws."""
        pure = (alike for alike in draws if not alike.gaussian)
        laplace = sorted(alike.multiplier for alike in pure for _ in range(alike.times))
        return cls(scale, tuple(laplace), 2 * _sum_gaussian_rho(draws))

    def subtract(self, draws: NoiseDraws, *, note: str) -> DrawList:
        """What is left after ``draws``, for the step of this ``note``.

        Raises ``NotAnnounced`` if they are not on the list: of the other kind, with less noise, or one too many.
        """
        if draws.gaussian:
            left = self.gaussian - 2 * draws.rho
            if left >= -_SAME * 2 * draws.rho:
                return replace(self, gaussian=max(0.0, left))
        else:
            # Of those with no more noise than is drawn the one with the most.
            last = bisect_right(self.laplace, draws.multiplier * (1 + _SAME))
            if last >= draws.times:
                return replace(self, laplace=self.laplace[: last - draws.times] + self.laplace[last:])
        kind = "Gaussian" if draws.gaussian else "Laplace"
        times = "" if draws.times == 1 else f" {draws.times} times"
        raise NotAnnounced(
            f"The step {note!r} draws {kind} noise of {draws.multiplier:.6g} sensitivities{times}. That is not, or not "
            "any more, on the list of draws that was fixed before the first answer, and loss distributions add up no "
            "other: announce all draws at the start (calibrated, or the card's draws), or choose another accounting."
        )


@lru_cache(maxsize=4096)
def compose_epsilon(draws: tuple[NoiseDraws, ...], delta: float, *, whole: tuple[NoiseDraws, ...] = ()) -> float:
    """The smallest ε for which all ``draws`` together are (ε, δ)-DP, rounded up by a grid.

    Where they are some of a ``whole`` the grid is that of the whole: what some compose to then serves for the next.

    Parameters
    ----------
    draws : tuple of NoiseDraws
        Scales over sensitivities, by kind of noise.
    delta : float
        At which ε is asked for.
    whole : tuple of NoiseDraws
        All draws that were calibrated together; empty: only these.

    Returns
    -------
    float
        Never below the true one.
    """
    from dp_accounting.pld import privacy_loss_distribution  # slow to import

    # Gaussian draws compose exactly into one; rounding each of many up to the grid would add up to something.
    of_gaussians = _sum_gaussian_rho(draws)
    if zcdp_epsilon(_sum_rho(draws), delta) > _LARGE:
        # Pure draws add up: sound, and little more where all are large.
        pure = fsum(alike.times / alike.multiplier for alike in draws if not alike.gaussian)
        return pure + (gdp_epsilon(sqrt(2 * of_gaussians), delta) if of_gaussians else 0.0)
    rho = _sum_rho(draws if not whole or zcdp_epsilon(_sum_rho(whole), delta) > _LARGE else whole)
    # Where δ alone nearly pays for all, the ε left is small beside the losses themselves: these set the grid then.
    interval = _LOSS_GRID * max(zcdp_epsilon(rho, delta), sqrt(2 * rho), 1e-6)
    losses = _compose_laplace(tuple(alike for alike in draws if not alike.gaussian), interval)
    if of_gaussians:
        deviation = NoiseDraws.gaussian_of(of_gaussians).multiplier
        alone = privacy_loss_distribution.from_gaussian_mechanism(deviation, value_discretization_interval=interval)
        losses = losses.compose(alone)
    found = float(losses.get_epsilon_for_delta(delta))
    # Tails of some 1e-15 are cut off and count as lost: below that only the sum of ρ says something.
    return found if isfinite(found) else zcdp_epsilon(_sum_rho(draws), delta)


@lru_cache(maxsize=256)
def _compose_laplace(draws: tuple[NoiseDraws, ...], interval: float) -> Any:
    """The loss distribution of Laplace draws: each added to that of those before it, which is kept."""
    from dp_accounting.pld import privacy_loss_distribution

    if not draws:
        return privacy_loss_distribution.identity(value_discretization_interval=interval)
    *before, last = draws
    alone = privacy_loss_distribution.from_laplace_mechanism(last.multiplier, value_discretization_interval=interval)
    return _compose_laplace(tuple(before), interval).compose(alone.self_compose(last.times))


def compose_guarantees(guarantees: Sequence[tuple[float, float]], delta: float) -> float:
    """An ε for which mechanisms of which nothing is known but (ε, δ) each are together (ε, ``delta``)-DP.

    Rounded up by the grid, so it may be above the sum of their ε, which it is where ``delta`` is 0 or the sum is large.
    It holds for parameters that were chosen before any of these mechanisms was run.

    Parameters
    ----------
    guarantees : sequence of pairs of float
        (ε, δ) of each mechanism.
    delta : float
        Of all together.

    Returns
    -------
    float
        Infinite where ``delta`` is less than the sum of theirs.
    """
    total = fsum(epsilon for epsilon, _ in guarantees)
    if not guarantees or not delta or total > _LARGE:
        return total
    from dp_accounting.pld.common import DifferentialPrivacyParameters  # slow to import
    from dp_accounting.pld.privacy_loss_distribution import from_privacy_parameters

    interval = _LOSS_GRID * total / len(guarantees)
    losses = []
    for guarantee, times in Counter(guarantees).items():
        each = DifferentialPrivacyParameters(*guarantee)
        losses.append(from_privacy_parameters(each, value_discretization_interval=interval).self_compose(times))
    while len(losses) > 1:  # in pairs of like size: one after the other, each would be composed with all before it
        pairs = zip(losses[::2], losses[1::2], strict=False)
        losses = [*(one.compose(other) for one, other in pairs), *losses[len(losses) // 2 * 2 :]]
    return float(losses[0].get_epsilon_for_delta(delta))


def _sum_rho(draws: Sequence[NoiseDraws]) -> float:
    return fsum(alike.rho for alike in draws)


def _sum_gaussian_rho(draws: Sequence[NoiseDraws]) -> float:
    return _sum_rho([alike for alike in draws if alike.gaussian])


@lru_cache(maxsize=4096)
def calibrate_scale(
    draws: tuple[NoiseDraws, ...], spent: tuple[NoiseDraws, ...] = (), *, epsilon: float, delta: float
) -> float:
    """The least number to multiply all multipliers of ``draws`` with, so that they and ``spent`` cost at most (ε, δ).

    Raises ``RequestError`` if what is spent leaves nothing.
    """
    target = epsilon * (1 - _MARGIN)
    left = zcdp_rho(epsilon, delta) - _sum_rho(spent)
    if not left > 0:
        raise RequestError("Nothing of this budget is left to draw noise with: give a larger epsilon.")

    def excess(scale: float) -> float:
        return compose_epsilon(spent + scale_draws(draws, scale), delta) - target

    # A sum of ρ is worth more than the distributions compose to, so that its scale is enough.
    enough = sqrt(_sum_rho(draws) / left)
    while excess(enough) > 0:
        enough /= _STEP
    less = enough * _STEP
    while excess(less) < 0:
        enough, less = less, less * _STEP
    least = float(brentq(excess, less, enough, rtol=_CLOSE))
    while excess(least) > 0:
        least *= 1 + _CLOSE
    return least


def scale_draws(draws: Sequence[NoiseDraws], scale: float) -> tuple[NoiseDraws, ...]:
    """The same draws with ``scale`` times the noise."""
    return tuple(alike._replace(multiplier=alike.multiplier * scale) for alike in draws)


class LossKind(Enum):
    """The law of a draw's privacy loss, or the bound on it that is proved."""

    LAPLACE_LIKE = "laplace"
    """At most that of Laplace noise: Laplace noise and what is computed from it; and K-norm noise, which tells less.
    Given its part across the shift, its density along the shift has a logarithm of slope at most 1 / scale, so that its
    distribution function moves no faster than that of Laplace noise: no test tells two shifted ones apart better."""
    GAUSSIAN = "gaussian"
    """That of Gaussian noise, or of what is computed from it."""
    BOUNDED_RANGE = "bounded range"
    """ε-DP with a loss of range ε, not 2ε: the exponential mechanism. No test tells two tables apart better than by
    Laplace noise of the same ε: (r - e^s)+ is convex in r, a ratio of probabilities of mean 1 within [e^(t - ε), e^t],
    so that its mean is largest where r is always at an end; the largest over all t is (1 - x)² / (1 - e^-ε), with
    x = e^((s - ε)/2). For Laplace noise it is 1 - x, and x >= e^-ε where s >= -ε; below, both are 1 - e^s."""
    PURE = "pure"
    """ε-DP, and nothing more is proved."""
    APPROXIMATE = "approximate"
    """(ε, δ)-DP, and nothing more is proved."""
    REVEALED = "revealed"
    """No guarantee."""


_PURE = frozenset({LossKind.LAPLACE_LIKE, LossKind.BOUNDED_RANGE, LossKind.PURE})
# What each accounting has a proof for; all else is refused.
_ADDS_UP = {
    Accounting.PURE: _PURE,
    Accounting.GDP: frozenset({LossKind.GAUSSIAN}),
    Accounting.ZCDP: _PURE | {LossKind.GAUSSIAN},
    Accounting.BASIC: _PURE | {LossKind.GAUSSIAN, LossKind.APPROXIMATE},
    Accounting.PLD: frozenset({LossKind.LAPLACE_LIKE, LossKind.GAUSSIAN, LossKind.BOUNDED_RANGE}),
    Accounting.NONE: frozenset({LossKind.REVEALED}),
}

# The exact ρ of an ε; that of Gaussian noise is μ²/2.
_RHO = {
    LossKind.LAPLACE_LIKE: compute_laplace_rho,
    LossKind.BOUNDED_RANGE: compute_choice_rho,
    LossKind.PURE: compute_pure_rho,
}


def refuse_unpriced(loss: object, accounting: Accounting, *, mechanism: str) -> None:
    """Refuse a ``loss`` that the accounting cannot add up: one of another kind, or of none."""
    if not isinstance(loss, LossKind) or loss not in _ADDS_UP[accounting]:
        raise RequestError(f"A {mechanism} mechanism cannot be paid under {accounting.value} accounting.")


def compute_ratio(loss: LossKind, share: Budget, *, mechanism: str) -> float:
    """The sensitivity over the scale that ``share`` buys: ε of what is ε-DP, μ of Gaussian noise.

    Raises ``RequestError`` if the share's accounting cannot add up such a loss, or the share is 0.
    """
    refuse_unpriced(loss, share.accounting, mechanism=mechanism)
    if not share.amount:
        raise RequestError(f"A share of 0 buys no {mechanism} noise: give it a part of the budget, or do not ask.")
    if share.accounting is Accounting.GDP:
        return sqrt(share.amount)
    if share.accounting is Accounting.ZCDP and loss in _RHO:
        return find_epsilon(_RHO[loss], share.amount)
    if share.accounting in (Accounting.ZCDP, Accounting.PLD):
        return sqrt(2 * share.amount)
    gaussian = share.accounting is Accounting.BASIC and loss is LossKind.GAUSSIAN
    return gdp_mu(share.amount, share.delta) if gaussian else share.amount


def compute_amount(
    loss: LossKind, accounting: Accounting, *, sensitivity: float, scale: float, delta: float = 0.0
) -> float:
    """What a draw costs: the inverse of ``compute_ratio``. ``delta`` is its own part under basic composition."""
    if loss is LossKind.GAUSSIAN and accounting is Accounting.BASIC:
        return gdp_epsilon(sensitivity / scale, delta)
    if accounting in (Accounting.PURE, Accounting.BASIC):
        return sensitivity / scale
    if accounting is Accounting.ZCDP and loss in _RHO:
        return _RHO[loss](sensitivity / scale)
    # Among loss distributions ρ is only a currency: whatever is pure is priced as the Gaussian noise of its ratio.
    squared = (scale / sensitivity) ** -2 if loss is LossKind.GAUSSIAN else (sensitivity / scale) ** 2
    return squared if accounting is Accounting.GDP else squared / 2
