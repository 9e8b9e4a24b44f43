"""Validators of public requests: the keyword is the message.

>>> positive(epsilon=1.0)
>>> positive(epsilon=-1.0)
Traceback (most recent call last):
    ...
dpviz.check.RequestError: epsilon is -1: give a finite number above 0.
"""

from __future__ import annotations

import math
from numbers import Integral, Real

# Within these, nothing that is computed from a request overflows, and every algorithm serves or says why it does not.
LEAST_EPSILON, MOST_EPSILON = 1e-3, 1e9
LEAST_DELTA = 1e-100
MOST_CLUSTERS = 10_000
MOST_ROWS_PER_PERSON = 10_000
MOST_RECORDS = 10**12
MOST_REPEATS = 10_000
MOST_SEED = 2**64 - 1
_LONGEST = 40


class RequestError(ValueError):
    """A request that cannot be served, in one sentence that says what is allowed and what to do."""

    # No message of this class, or of a subclass, holds a value of the data: a worker process may pass it on.
    safe_message = True


def shown(value: object) -> str:
    """``value`` as a sentence can hold it: numbers short, whatever else cut where it gets long.

    >>> shown(0.25), shown(10**400), shown("x" * 100)
    ('0.25', 'a number of 401 digits', "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…")
    """
    if isinstance(value, Integral) and not isinstance(value, bool) and abs(value) >= 10**_LONGEST:
        digits = int(int(value).bit_length() * math.log10(2)) + 1  # Python refuses to write very long numbers
        return f"a number of {digits} digits"
    if isinstance(value, float) and not isinstance(value, Integral):
        return f"{value:g}"
    text = str(value) if isinstance(value, Real) else repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def positive(**named: float) -> None:
    """Refuse a number that is not finite and above 0."""
    for name, value in named.items():
        if not _finite(value) or value <= 0:
            raise RequestError(f"{name} is {shown(value)}: give a finite number above 0.")


def epsilon(**named: float) -> None:
    """Refuse an ε that is no number, or one that no noise can be calibrated to.

    >>> epsilon(epsilon=0.0)
    Traceback (most recent call last):
        ...
    dpviz.check.RequestError: epsilon is 0: give a number from 0.001 to 1e+09.
    """
    within(LEAST_EPSILON, MOST_EPSILON, **named)


def clusters(**named: int) -> None:
    """Refuse a k that is no whole number, or too large to be looked at."""
    _whole_within(1, MOST_CLUSTERS, named)


def rows_per_person(**named: int) -> None:
    """Refuse a largest number of rows of one person that is no whole number, or far too large."""
    _whole_within(1, MOST_ROWS_PER_PERSON, named)


def records(**named: int) -> None:
    """Refuse a number of rows that is no whole number, or larger than any table."""
    _whole_within(1, MOST_RECORDS, named)


def repeats(**named: int) -> None:
    """Refuse a number of repetitions that is no whole number, or that nobody would wait for."""
    _whole_within(1, MOST_REPEATS, named)


def seed(**named: int) -> None:
    """Refuse what is no whole number, or too long to be a seed."""
    for name, value in named.items():
        if isinstance(value, float):
            raise RequestError(f"{name} is {shown(value)}: give a whole number, without a point.")
    _whole_within(0, MOST_SEED, named)


def at_least(minimum: int, **named: int) -> None:
    """Refuse a whole number below ``minimum``."""
    for name, value in named.items():
        if not _whole(value) or value < minimum:
            raise RequestError(f"{name} is {shown(value)}: give a whole number of at least {minimum}.")


def _whole(value: object) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, Integral) or (isinstance(value, float) and value.is_integer())


def within(low: float, high: float, **named: float) -> None:
    """Refuse a number outside ``[low, high]``."""
    for name, value in named.items():
        if not (_finite(value) and low <= value <= high):
            raise RequestError(f"{name} is {shown(value)}: give a number from {low:g} to {high:g}.")


def _whole_within(low: int, high: int, named: dict[str, int]) -> None:
    for name, value in named.items():
        if not (_whole(value) and low <= value <= high):
            raise RequestError(f"{name} is {shown(value)}: give a whole number from {low:,} to {high:,}.")


def _finite(value: object) -> bool:
    """Whether it is a number that a float can hold."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def delta_for(n: int | None, *, delta: float) -> None:
    """Refuse a δ outside ``[0, 1/n)``, or outside ``[0, 1)`` where no public ``n`` is known.

    At δ >= 1/n a mechanism that publishes one person's whole row would satisfy the definition.
    """
    ceiling = 1.0 if n is None or n <= 1 else 1 / n
    if not _finite(delta) or not (delta == 0 or LEAST_DELTA <= delta < ceiling):
        usual = "; 1e-6 is usual" if ceiling > 1e-6 else ""
        raise RequestError(f"delta is {shown(delta)}: give 0 or a number below {ceiling:.3g} (1/n){usual}.")


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
            raise RequestError(f"{name} is {shown(value)}: choose one of {listed}.")
