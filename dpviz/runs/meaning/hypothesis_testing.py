"""The line that no attack on an (ε, δ)-DP release can pass: hits against false alarms."""

from __future__ import annotations

from math import expm1, tanh
from typing import overload

import numpy as np

from dpviz.core import Array


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

    Parameters
    ----------
    false_alarms : float or array of shape (m,)
        In [0, 1].
    epsilon : float
        Of the guarantee.
    delta : float
        Of the guarantee.

    Returns
    -------
    float or array
        Shape as ``false_alarms``.

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
        Of the guarantee.

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

    Parameters
    ----------
    epsilon, delta : float
        Of the guarantee.

    Returns
    -------
    float
        Between 0 and 1/2.

    >>> round(find_turning_point(epsilon=1.0), 3)
    0.269
    """
    return (1 - delta) * (1 - tanh(epsilon / 2)) / 2
