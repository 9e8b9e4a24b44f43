"""What is proved of the privacy loss of a draw: it decides how a charge is priced, and where it may be paid at all."""

from __future__ import annotations

from enum import Enum

from dpviz.check import RequestError
from dpviz.privacy.accounting import Accounting


class LossKind(Enum):
    """The law of a draw's privacy loss, or the bound on it that is proved."""

    LAPLACE_LIKE = "laplace"
    """At most that of Laplace noise: Laplace noise and what is computed from it; and K-norm noise, which tells less.
    Given its part across the shift, its density along the shift has a logarithm of slope at most 1 / scale, so that its
    distribution function moves no faster than that of Laplace noise: no test tells two shifted ones apart better."""
    GAUSSIAN = "gaussian"
    """That of Gaussian noise, or of what is computed from it."""
    BOUNDED_RANGE = "bounded range"
    """ε-DP with a loss of range ε, not 2ε: the exponential mechanism."""
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
    Accounting.PLD: frozenset({LossKind.LAPLACE_LIKE, LossKind.GAUSSIAN}),
    Accounting.NONE: frozenset({LossKind.REVEALED}),
}


def refuse_unpriced(loss: object, accounting: Accounting, *, mechanism: str) -> None:
    """Only losses that the accounting can add up.

    Raises
    ------
    RequestError
        If ``loss`` is of another kind, or of none.
    """
    if not isinstance(loss, LossKind) or loss not in _ADDS_UP[accounting]:
        raise RequestError(f"A {mechanism} mechanism cannot be paid under {accounting.value} accounting.")
