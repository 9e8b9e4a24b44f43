"""What is proved of the privacy loss of a draw, and what the losses of many draws compose to.

The kind of a loss decides what a draw costs, and where it may be paid at all (``docs/proofs/accounting.md``).

Totals of Laplace and Gaussian noise and of choices are composed from their privacy loss distributions numerically. Such
totals do not add up: the least noise for an (ε, δ) is found by solving for one scale of all draws together. What they
compose to is the ε of a list that was fixed beforehand (``DrawList``).

References
----------
Bun & Steinke 2016, Prop. 1.6 (ρ of Gaussian noise). Dong, Durfee & Rogers 2020 (bounded range). Dong, Roth & Su 2022,
Cor. 3.3 (μ² of Gaussian noise). Koskela, Jälkö & Honkela 2020; Doroshenko et al. 2022 (how distributions are rounded up
to a grid: dp-accounting). Zhu, Dong & Wang 2022, Theorem 10 (dominating pairs compose where queries are adaptive).
Smith & Thakurta 2022 (where the Gaussian noise is adaptive too).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache
from math import fsum, sqrt
from typing import Any, NamedTuple

from scipy.optimize import brentq

from dpviz.core.accounting import Accounting, Budget, gdp_epsilon, gdp_mu, zcdp_epsilon, zcdp_rho
from dpviz.core.check import RequestError
from dpviz.core.concentrated_costs import compute_choice_rho, compute_laplace_rho, compute_pure_rho, find_epsilon

_GRID = 1e-3  # Losses are rounded up to a grid of this part of the total.
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
            if left < -_SAME * 2 * draws.rho:
                raise _make_not_announced("Gaussian", draws, note)
            return replace(self, gaussian=max(0.0, left))
        # Of those with no more noise than is drawn the one with the most.
        last = bisect_right(self.laplace, draws.multiplier * (1 + _SAME))
        if last < draws.times:
            raise _make_not_announced("Laplace", draws, note)
        return replace(self, laplace=self.laplace[: last - draws.times] + self.laplace[last:])


def _make_not_announced(kind: str, draws: NoiseDraws, note: str) -> NotAnnounced:
    times = "" if draws.times == 1 else f" {draws.times} times"
    return NotAnnounced(
        f"The step {note!r} draws {kind} noise of {draws.multiplier:.6g} sensitivities{times}. That is not, or not any "
        "more, on the list of draws that was fixed before the first answer, and loss distributions add up no other: "
        "announce all draws at the start (calibrated, or the card's draws), or choose another accounting."
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

    if zcdp_epsilon(_sum_rho(draws), delta) > _LARGE:
        return _compose_basic_epsilon(draws, delta)
    rho = _sum_rho(draws if not whole or zcdp_epsilon(_sum_rho(whole), delta) > _LARGE else whole)
    # Where δ alone nearly pays for all, the ε left is small beside the losses themselves: these set the grid then.
    interval = _GRID * max(zcdp_epsilon(rho, delta), sqrt(2 * rho), 1e-6)
    losses = _compose_laplace(tuple(alike for alike in draws if not alike.gaussian), interval)
    # Gaussian draws compose exactly into one; rounding each of many up to the grid would add up to something.
    of_gaussians = _sum_gaussian_rho(draws)
    if of_gaussians:
        deviation = NoiseDraws.gaussian_of(of_gaussians).multiplier
        losses = losses.compose(
            privacy_loss_distribution.from_gaussian_mechanism(deviation, value_discretization_interval=interval)
        )
    return float(losses.get_epsilon_for_delta(delta))


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

    interval = _GRID * total / len(guarantees)
    losses = [
        from_privacy_parameters(
            DifferentialPrivacyParameters(*guarantee), value_discretization_interval=interval
        ).self_compose(times)
        for guarantee, times in Counter(guarantees).items()
    ]
    while len(losses) > 1:  # in pairs of like size: one after the other, each would be composed with all before it
        pairs = zip(losses[::2], losses[1::2], strict=False)
        losses = [*(one.compose(other) for one, other in pairs), *losses[len(losses) // 2 * 2 :]]
    return float(losses[0].get_epsilon_for_delta(delta))


def _sum_rho(draws: Sequence[NoiseDraws]) -> float:
    return fsum(alike.rho for alike in draws)


def _sum_gaussian_rho(draws: Sequence[NoiseDraws]) -> float:
    return _sum_rho([alike for alike in draws if alike.gaussian])


def _compose_basic_epsilon(draws: tuple[NoiseDraws, ...], delta: float) -> float:
    """The ε of pure draws added up, and of the Gaussian ones together: sound, and little more where both are large."""
    pure = fsum(alike.times / alike.multiplier for alike in draws if not alike.gaussian)
    rho = _sum_gaussian_rho(draws)
    return pure + (gdp_epsilon(sqrt(2 * rho), delta) if rho else 0.0)


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
    match share.accounting:
        case Accounting.GDP:
            return sqrt(share.amount)
        case Accounting.ZCDP if loss in _RHO:
            return find_epsilon(_RHO[loss], share.amount)
        case Accounting.ZCDP | Accounting.PLD:
            return sqrt(2 * share.amount)
        case Accounting.BASIC if loss is LossKind.GAUSSIAN:
            return gdp_mu(share.amount, share.delta)
        case _:
            return share.amount


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
