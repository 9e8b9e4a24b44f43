"""What is proved of the privacy loss of a draw: it decides what the draw costs, and where it may be paid at all.

The theorems are those of ``docs/proofs/accounting.md``.

References
----------
Bun & Steinke 2016, Prop. 1.4 and Lemma 2.3 (ρ of what is ε-DP, and of Gaussian noise). Cesar & Rogers 2021 (ρ of
bounded range). Dong, Durfee & Rogers 2020 (bounded range). Dong, Roth & Su 2022, Cor. 3.3 (μ² of Gaussian noise).
"""

from __future__ import annotations

from enum import Enum
from math import sqrt

from dpviz.core.accounting import Accounting, Budget, gdp_epsilon, gdp_mu
from dpviz.core.check import RequestError


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


def refuse_unpriced(loss: object, accounting: Accounting, *, mechanism: str) -> None:
    """Only losses that the accounting can add up.

    Parameters
    ----------
    loss : object
        What is proved of the mechanism's privacy loss, or anything else.
    accounting : Accounting
        How costs add up.
    mechanism : str
        Its name, for the sentence.

    Raises
    ------
    RequestError
        If ``loss`` is of another kind, or of none.
    """
    if not isinstance(loss, LossKind) or loss not in _ADDS_UP[accounting]:
        raise RequestError(f"A {mechanism} mechanism cannot be paid under {accounting.value} accounting.")


def compute_ratio(loss: LossKind, share: Budget, *, mechanism: str) -> float:
    """The sensitivity over the scale that ``share`` buys: ε of what is ε-DP, μ of Gaussian noise.

    Parameters
    ----------
    loss : LossKind
        What is proved of the mechanism's privacy loss.
    share : Budget
        Part of the session's budget.
    mechanism : str
        Its name, for the sentence of a refusal.

    Returns
    -------
    float
        Positive.

    Raises
    ------
    RequestError
        If the share's accounting cannot add up such a loss.
    """
    refuse_unpriced(loss, share.accounting, mechanism=mechanism)
    match share.accounting:
        case Accounting.GDP:
            return sqrt(share.amount)
        case Accounting.ZCDP | Accounting.PLD:
            return sqrt(share.amount * _compute_per_rho(loss, share.accounting))
        case Accounting.BASIC if loss is LossKind.GAUSSIAN:
            return gdp_mu(share.amount, share.delta)
        case _:
            return share.amount


def compute_amount(
    loss: LossKind, accounting: Accounting, *, sensitivity: float, scale: float, delta: float = 0.0
) -> float:
    """What a draw costs: the inverse of ``compute_ratio``. ``delta`` is its own part under basic composition.

    Parameters
    ----------
    loss : LossKind
        What is proved of the mechanism's privacy loss.
    accounting : Accounting
        How costs add up.
    sensitivity : float
        The most that one unit of privacy changes the answer, in the answer's own units.
    scale : float
        Of the noise, in the units of the sensitivity.
    delta : float
        Under basic composition, the draw's own part.

    Returns
    -------
    float
        ε, μ² or ρ.
    """
    if loss is LossKind.GAUSSIAN and accounting is Accounting.BASIC:
        return gdp_epsilon(sensitivity / scale, delta)
    if accounting in (Accounting.PURE, Accounting.BASIC):
        return sensitivity / scale
    squared = (scale / sensitivity) ** -2 if loss is LossKind.GAUSSIAN else (sensitivity / scale) ** 2
    return squared if accounting is Accounting.GDP else squared / _compute_per_rho(loss, accounting)


def _compute_per_rho(loss: LossKind, accounting: Accounting) -> int:
    """The squared ε, or μ, that costs a ρ of 1: the loss of a choice has half the range of other ε-DP losses.

    Among loss distributions, where ρ is only a currency, a choice is priced as the Laplace noise that bounds it.
    """
    return 8 if loss is LossKind.BOUNDED_RANGE and accounting is Accounting.ZCDP else 2
