"""Validators of public requests: the keyword is the message.

>>> positive(epsilon=1.0)
>>> positive(epsilon=-1.0)
Traceback (most recent call last):
    ...
dpviz.check.RequestError: epsilon is -1: give a finite number above 0.
"""

from __future__ import annotations

import math
from numbers import Integral


class RequestError(ValueError):
    """A request that cannot be served, in one sentence that says what is allowed and what to do."""

    # No message of this class, or of a subclass, holds a value of the data: a worker process may pass it on.
    safe_message = True


def positive(**named: float) -> None:
    """Refuse a number that is not finite and above 0."""
    for name, value in named.items():
        if not math.isfinite(value) or value <= 0:
            raise RequestError(f"{name} is {value:g}: give a finite number above 0.")


def at_least(minimum: int, **named: int) -> None:
    """Refuse a whole number below ``minimum``."""
    for name, value in named.items():
        if not _whole(value) or value < minimum:
            raise RequestError(f"{name} is {value}: give a whole number of at least {minimum}.")


def _whole(value: object) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, Integral) or (isinstance(value, float) and value.is_integer())


def within(low: float, high: float, **named: float) -> None:
    """Refuse a number outside ``[low, high]``."""
    for name, value in named.items():
        if not (math.isfinite(value) and low <= value <= high):
            raise RequestError(f"{name} is {value:g}: give a number from {low:g} to {high:g}.")


def delta_for(n: int | None, *, delta: float) -> None:
    """Refuse a δ outside ``[0, 1/n)``, or outside ``[0, 1)`` where no public ``n`` is known.

    At δ >= 1/n a mechanism that publishes one person's whole row would satisfy the definition.
    """
    ceiling = 1.0 if n is None or n <= 1 else 1.0 / n
    if not math.isfinite(delta) or not 0 <= delta < ceiling:
        usual = "; 1e-6 is usual" if ceiling > 1e-6 else ""
        raise RequestError(f"delta is {delta:g}: give 0 or a number below {ceiling:.3g} (1/n){usual}.")


def usual_delta(n: int | None) -> float:
    """The δ to start from: min(1e-6, 1/(10 n)) for a public ``n``, at most two digits; 1e-6 where n is private.

    >>> usual_delta(None), usual_delta(3_000_000)
    (1e-06, 3.3e-08)
    """
    return 1e-6 if n is None else float(f"{min(1e-6, 1 / (10 * n)):.1e}")


def one_of(allowed: tuple[object, ...], **named: object) -> None:
    """Refuse a value that is not in ``allowed``."""
    for name, value in named.items():
        if value not in allowed:
            listed = ", ".join(str(choice) for choice in allowed)
            raise RequestError(f"{name} is {value!r}: choose one of {listed}.")
