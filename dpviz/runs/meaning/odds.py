"""What a release can teach about one person: what may be believed after it, and the line that no attack passes."""

from __future__ import annotations

from math import expm1, log, tanh
from typing import NamedTuple, overload

import numpy as np

from dpviz.core import Array, check


class Belief(NamedTuple):
    """Probabilities that somebody gives to one thing about one person, after a release: no lower, no higher."""

    least: float
    most: float

    @classmethod
    def bound(cls, prior: float, *, epsilon: float) -> Belief:
        """How far a pure ε-DP release can move a belief that was ``prior``: its odds change by a factor e^ε at most.

        With δ > 0 a release may go beyond this with a small probability; ``bound_hits`` has δ.

        >>> [round(100 * Belief.bound(0.5, epsilon=epsilon).most, 1) for epsilon in (0.1, 1, 2, 5)]
        [52.5, 73.1, 88.1, 99.3]
        >>> round(100 * Belief.bound(0.5, epsilon=1).least, 1)
        26.9
        >>> round(100 * Belief.bound(0.01, epsilon=1).most, 2)
        2.67

        References
        ----------
        Kasiviswanathan & Smith 2014, "On the 'semantics' of differential privacy", Theorem 2.1. Nanayakkara, Smart,
        Cummings, Kaptchuk & Redmiles 2023: odds explain ε better than samples of outputs (963 people).
        """
        epsilon = check.epsilon(epsilon=epsilon)
        if not 0 <= prior <= 1:
            raise check.RequestError(f"The prior is {prior:g}: give a probability from 0 to 1.")
        return cls(_move_odds(prior, -epsilon), _move_odds(prior, epsilon))


def compute_allowed_epsilon(prior: float, accepted: float) -> float:
    """The largest ε under which no belief that was ``prior`` can become more than ``accepted``; 0 where it is no more.

    The inverse of ``Belief.bound``: ln of the ratio of the odds. With δ > 0 a belief may go beyond it with that chance.

    >>> round(compute_allowed_epsilon(0.1, 0.25), 4), compute_allowed_epsilon(0.3, 0.2)
    (1.0986, 0.0)
    """
    for name, value in (("prior", prior), ("accepted posterior", accepted)):
        if not 0 < value < 1:
            raise check.RequestError(f"The {name} is {value:g}: give a probability between 0 and 1.")
    return max(0.0, log(accepted / (1 - accepted)) - log(prior / (1 - prior)))


def _move_odds(prior: float, log_factor: float) -> float:
    # p e^ε / (1 - p + p e^ε), from the smaller of the two sides, so that no power overflows.
    if log_factor > 0:
        return 1 - _move_odds(1 - prior, -log_factor)
    shrunk = prior * (1 + expm1(log_factor))
    return shrunk / (1 - prior + shrunk) if prior < 1 else 1.0


@overload
def bound_hits(false_alarms: float, *, epsilon: float, delta: float = 0.0) -> float: ...
@overload
def bound_hits(false_alarms: Array, *, epsilon: float, delta: float = 0.0) -> Array: ...
def bound_hits(false_alarms: float | Array, *, epsilon: float, delta: float = 0.0) -> float | Array:
    """The most that "this person is in" can be right where they are, if it is wrong so often where they are not.

    TPR ≤ min(e^ε FPR + δ, 1 - e^-ε (1 - δ - FPR), 1), whatever is known beside the release, for one release between two
    neighbouring tables.

    >>> [round(bound_hits(rate, epsilon=1.0), 3) for rate in (0.0, 0.05, 0.269, 0.5, 1.0)]
    [0.0, 0.136, 0.731, 0.816, 1.0]
    >>> round(bound_hits(0.05, epsilon=0.1, delta=0.01), 4)
    0.0653

    References
    ----------
    Kairouz, Oh & Viswanath 2015, "The composition theorem for differential privacy", Theorem 2.4.
    """
    rate = np.asarray(false_alarms, dtype=np.float64)
    # Beyond ε = 700 the factor is no longer a floating-point number; the line has been at 1 for long.
    steep = rate * (1 + expm1(min(epsilon, 700.0))) + delta
    flat = 1 - (1 + expm1(-epsilon)) * (1 - delta - rate)
    most = np.minimum(np.minimum(steep, flat), 1.0)
    return most if isinstance(false_alarms, np.ndarray) else float(most)


def bound_advantage(*, epsilon: float, delta: float = 0.0) -> float:
    """The most by which hits can exceed false alarms: (e^ε - 1 + 2δ) / (e^ε + 1).

    Parameters
    ----------
    epsilon, delta : float

    Returns
    -------
    float
        Between 0 and 1.

    >>> [round(bound_advantage(epsilon=epsilon), 3) for epsilon in (0.1, 0.3, 1, 5)]
    [0.05, 0.149, 0.462, 0.987]
    """
    return min(1.0, tanh(epsilon / 2) + delta * (1 - tanh(epsilon / 2)))


def find_turning_point(*, epsilon: float, delta: float = 0.0) -> float:
    """The share of false alarms at which the line is farthest above guessing: (1 - δ) / (1 + e^ε).

    >>> round(find_turning_point(epsilon=1.0), 3)
    0.269
    """
    return (1 - delta) * (1 - tanh(epsilon / 2)) / 2


def trace_bound(*, epsilon: float, delta: float = 0.0, reach: float = 0.0) -> Array:
    """The most that any attack can do, to be drawn, with both corners; or what its record reaches by chance.

    Parameters
    ----------
    epsilon, delta : float
        What is promised.
    reach : float
        How far chance moves a share that was counted; 0 is the line itself.

    Returns
    -------
    array of shape (m, 2)
        False alarms, and the most hits at so many.
    """
    turn = find_turning_point(epsilon=epsilon, delta=delta)
    across = np.unique(np.concatenate([np.linspace(0, 1, 101), [turn, 1 - turn]]))
    most = bound_hits(np.minimum(across + reach, 1.0), epsilon=epsilon, delta=delta) + reach
    return np.column_stack([across, np.minimum(most, 1.0)])
