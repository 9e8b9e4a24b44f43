"""When an ε is enough: one definition for the stored study, for runs on a table, and for every page that tells.

At an ε the target is met if a given share of the runs lose at most so much. The answer is the least ε that was tried
from which on the target is met at every ε that was tried. Nothing is read between two ε.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, inf, isfinite, log10

import numpy as np

from dpviz.core import Array, RequestError, check

USUAL_LOSS, USUAL_SHARE = 1.1, 0.8
"""What is wanted where nobody says otherwise: 8 of 10 runs lose at most 10 % more than k-means++."""

_DIGITS = 3  # of an ε that is needed or allowed


@dataclass(frozen=True)
class Target:
    """What is good enough.

    * ``loss``: the most that a run may lose, over the loss of k-means++; above 1.
    * ``share``: the part of all runs that must keep to it.
    """

    loss: float = USUAL_LOSS
    share: float = USUAL_SHARE

    def __post_init__(self) -> None:
        if not self.loss > 1:
            raise RequestError(
                f"The target is {self.loss:g}: give a number above 1, such as 1.1 for 10 % above k-means++."
            )
        check.within(0.0, 1.0, share=self.share)

    @property
    def above(self) -> str:
        """How much may be lost beyond k-means++.

        >>> Target(1.1).above
        '10 %'
        """
        return f"{100 * (self.loss - 1):.3g} %"

    def describe_often(self, of: str = "runs") -> str:
        """In how many runs, in words.

        >>> Target(share=0.5).describe_often(), Target().describe_often("tables")
        ('half of all runs', '8 of 10 tables')
        """
        return f"half of all {of}" if self.share == 0.5 else f"{10 * self.share:.3g} of 10 {of}"

    def is_met(self, losses: Array) -> bool:
        """Whether enough runs keep to it, by their ``losses`` (runs,), over the loss of k-means++."""
        return find_reached_loss(losses, self.share) <= self.loss

    def find_least(self, losses: Mapping[float, Array]) -> float:
        """The least ε from which on it is met, by the ``losses`` (runs,) at each ε; infinite if they do not end so."""
        tried = sorted(losses)
        return find_start(tried, [self.is_met(losses[at]) for at in tried])


def find_reached_loss(losses: Array, share: float, weights: Array | None = None) -> float:
    """The least loss that at least ``share`` of the runs do not exceed; runs without a loss do not count.

    Parameters
    ----------
    losses : array of shape (runs,)
        Over the loss of k-means++.
    share : float
        Part of the runs, between 0 and 1.
    weights : array of shape (runs,) or None
        None: all alike.

    Returns
    -------
    float
        NaN where no run counts.

    >>> find_reached_loss(np.array([1.0, 3.0, 2.0, 9.0, 1.5]), 0.8)
    3.0
    """
    known = ~np.isnan(losses)
    if not known.any():
        return inf
    kept = losses[known]
    counts = np.ones(len(kept)) if weights is None else weights[known]
    order = np.argsort(kept, kind="stable")
    parts = np.cumsum(counts[order]) / counts.sum()
    return float(kept[order][min(int(np.searchsorted(parts, share - 1e-9)), len(kept) - 1)])


def find_start(epsilons: Sequence[float] | Array, met: Sequence[bool] | Array) -> float:
    """The least of ascending ``epsilons`` from which on all are ``met``; infinite if the last one is not.

    >>> find_start([0.1, 1.0, 3.0, 10.0], [True, False, True, True])
    3.0
    """
    everywhere = np.asarray(met, dtype=bool)[::-1].cumprod()[::-1].astype(bool)
    return float(np.asarray(epsilons)[everywhere.argmax()]) if everywhere.any() else inf


def count_steps_apart(one: float, other: float, tried: Sequence[float]) -> int:
    """How many of the ascending ε that were ``tried`` lie between two answers; each counts as the next one tried.

    >>> count_steps_apart(0.18, 2.0, (0.1, 0.2, 0.5, 1.0, 2.0)), count_steps_apart(5.0, float("inf"), (1.0, 2.0))
    (3, 0)
    """
    first, second = np.searchsorted(np.asarray(tried) * (1 + 1e-9), [one, other])
    return abs(int(first) - int(second))


def format_epsilon(epsilon: float, *, up: bool = False) -> str:
    """An ε in three digits, rounded to the safe side: down what is allowed, ``up`` what is needed.

    Parameters
    ----------
    epsilon : float
        Infinite where none will do.
    up : bool
        Whether it is needed, rather than allowed.

    Returns
    -------
    str
        In digits, or "∞".

    >>> format_epsilon(1.09861), format_epsilon(0.30001, up=True), format_epsilon(float("inf"))
    ('1.09', '0.301', '∞')
    """
    return f"{round_epsilon(epsilon, up=up):.{_DIGITS}g}" if isfinite(epsilon) else "∞"


def round_epsilon(epsilon: float, *, up: bool) -> float:
    """The same as a number."""
    if epsilon <= 0 or not isfinite(epsilon):
        return epsilon
    unit = 10.0 ** (floor(log10(epsilon)) - _DIGITS + 1)
    steps = ceil(epsilon / unit - 1e-9) if up else floor(epsilon / unit + 1e-9)
    return float(f"{steps * unit:.{_DIGITS}g}")


def describe_crossing(needed: float, allowed: float) -> str:
    """That no ε keeps the loss and the risk, as a title of at most fifty characters."""
    return f"No ε keeps both: {format_epsilon(needed, up=True)} needed, {format_epsilon(allowed)} allowed"
