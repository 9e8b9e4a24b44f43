"""Validators of public requests: the keyword is the message, and what comes back is a plain number.

A number of NumPy may be a short one, whose arithmetic rounds: a share of ε = float16(0.1) is none of 0.09998. So
whoever checks a number goes on with the ``float`` or ``int`` that a validator returns, which is exactly as large (of
several numbers, the last).

>>> positive(epsilon=1)
1.0
>>> positive(epsilon=-1.0)
Traceback (most recent call last):
    ...
dpviz.RequestError: epsilon is -1: give a finite number above 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from numbers import Integral, Real
from typing import Any

# Within these, nothing that is computed from a request overflows, and every algorithm serves or says why it does not.
LEAST_EPSILON, MOST_EPSILON = 1e-3, 1e9
LEAST_DELTA = 1e-100
MOST_CLUSTERS = 10_000
MOST_COLUMNS = 2_000  # as many bounds as somebody may still declare, and a page show
MOST_ROWS_PER_PERSON = 10_000
MOST_RECORDS = 10**12
MOST_REPEATS = 10_000
MOST_SEED = 2**64 - 1
_LONGEST = 40


class RequestError(ValueError):
    """A request that cannot be served, in one sentence that says what is allowed and what to do."""

    # No message of this class, or of a subclass, holds a value of the data: a worker process may pass it on.
    safe_message = True


class PrivacyWarning(UserWarning):
    """What several fits of one process cost together, and nothing has counted."""


class ChoiceWarning(UserWarning):
    """A choice by true scores of private rows, which no ε pays for."""


for _exported in (RequestError, PrivacyWarning, ChoiceWarning):
    _exported.__module__ = "dpviz"


# Libraries that a light install leaves out, each with the extra that brings it.
_EXTRAS = {
    "streamlit": "app",
    "plotly": "app",
    "opendp": "release",
    "cryptography": "release",
    "dask": "cluster",
    "distributed": "cluster",
    "duckdb": "duckdb",
    "pyspark": "spark",
    "grpc": "spark",
}


def import_extra(name: str, load: Callable[[str], Any] = import_module) -> Any:
    """What ``load`` makes of a ``name``, which may need a library of an extra.

    Parameters
    ----------
    name : str
        Of a module, or of what ``load`` finds by it.
    load : callable
        Given the name.

    Returns
    -------
    object

    Raises
    ------
    RequestError
        If such a library is not installed; it says which command brings it.
    """
    try:
        return load(name)
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library not in _EXTRAS:
            raise
        raise RequestError(f'{library} is not installed: pip install "dpviz[{_EXTRAS[library]}]" brings it.') from None


def format_value(value: object) -> str:
    """``value`` as a sentence can hold it: numbers short, whatever else cut where it gets long.

    >>> format_value(0.25), format_value(10**400), format_value("x" * 100)
    ('0.25', 'a number of 401 digits', "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…")
    """
    if isinstance(value, Integral) and not isinstance(value, bool) and abs(value) >= 10**_LONGEST:
        digits = int(int(value).bit_length() * math.log10(2)) + 1  # Python refuses to write very long numbers
        return f"a number of {digits} digits"
    if isinstance(value, float) and not isinstance(value, Integral):
        return f"{value:g}"
    text = str(value) if isinstance(value, Real) else repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def to_plain(value: Any) -> Any:
    """``value`` as a number of Python where it is a finite one of any kind; whatever else as it is."""
    if isinstance(value, bool):
        return value
    if isinstance(value, Integral):
        return int(value)
    return float(value) if _finite(value) else value


def positive(**named: float) -> float:
    """Refuse a number that is not finite and above 0."""
    return float(_demand(lambda value: _finite(value) and value > 0, "give a finite number above 0", named))


def epsilon(**named: float) -> float:
    """Refuse an ε that is no number, or one that no noise can be calibrated to.

    >>> epsilon(epsilon=0.0)
    Traceback (most recent call last):
        ...
    dpviz.RequestError: epsilon is 0: give a number from 0.001 to 1e+09.
    """
    return within(LEAST_EPSILON, MOST_EPSILON, **named)


def seed(**named: int) -> int:
    """Refuse what is no whole number, or too long to be a seed."""
    _demand(lambda value: not isinstance(value, float), "give a whole number, without a point", named)
    return _whole_within(0, MOST_SEED, **named)


def at_least(minimum: int, **named: int) -> int:
    """Refuse a whole number below ``minimum``.

    Parameters
    ----------
    minimum, **named : int
        The least that is allowed; the number, by the name that a sentence calls it.

    Returns
    -------
    int
        The number.
    """
    wish = f"give a whole number of at least {minimum}"
    return int(_demand(lambda value: _whole(value) and value >= minimum, wish, named))


def _demand(holds: Callable[[Any], bool], wish: str, named: Mapping[str, Any]) -> Any:
    """Refuse what does not hold of a number, by its name, with what is wished for; the last number."""
    for name, value in named.items():
        if not holds(value):
            raise RequestError(f"{name} is {format_value(value)}: {wish}.")
    return value


def _whole(value: object) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, Integral) or (isinstance(value, float) and value.is_integer())


def within(low: float, high: float, **named: float) -> float:
    """Refuse a number outside ``[low, high]``.

    Parameters
    ----------
    low, high, **named : float
        What is allowed; the number, by the name that a sentence calls it.

    Returns
    -------
    float
        The number.
    """
    wish = f"give a number from {low:g} to {high:g}"
    return float(_demand(lambda value: _finite(value) and low <= float(value) <= high, wish, named))


def _whole_within(low: int, high: int, **named: int) -> int:
    wish = f"give a whole number from {low:,} to {high:,}"
    return int(_demand(lambda value: _whole(value) and low <= value <= high, wish, named))


# What these refuse is no whole number, or far too large: a k that nobody looks at, rows that no person or no table has,
# repetitions that nobody would wait for.
clusters = partial(_whole_within, 1, MOST_CLUSTERS)
rows_per_person = partial(_whole_within, 1, MOST_ROWS_PER_PERSON)
records = partial(_whole_within, 1, MOST_RECORDS)
repeats = partial(_whole_within, 1, MOST_REPEATS)


def _finite(value: object) -> bool:
    """Whether it is a number that a float can hold."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def check_delta(n: int | None, *, delta: float) -> float:
    """Refuse a δ outside ``[0, 1/n)``, or outside ``[0, 1)`` where no public ``n`` is known.

    At δ >= 1/n a mechanism that publishes one person's whole row would satisfy the definition.

    Parameters
    ----------
    n : int or None
        Rows, where their number is public.
    delta : float
        By the name that a sentence calls it.

    Returns
    -------
    float
    """
    ceiling = 1.0 if n is None or n <= 1 else 1 / int(n)
    if not _finite(delta) or not (delta == 0 or LEAST_DELTA <= float(delta) < ceiling):
        usual = "; 1e-6 is usual" if ceiling > 1e-6 else ""
        raise RequestError(f"delta is {format_value(delta)}: give 0 or a number below {ceiling:.3g} (1/n){usual}.")
    return float(delta)


def choose_usual_delta(n: int | None) -> float:
    """The δ to start from: min(1e-6, 1/(10 n)) for a public ``n``, at most two digits; 1e-6 where n is private.

    >>> choose_usual_delta(None), choose_usual_delta(3_000_000)
    (1e-06, 3.3e-08)
    """
    return 1e-6 if n is None else float(f"{min(1e-6, 1 / (10 * n)):.1e}")


def one_of(allowed: tuple[object, ...], **named: object) -> None:
    """Refuse a value that is not in ``allowed``.

    Parameters
    ----------
    allowed
        What may be given.
    **named
        The value, by the name that a sentence calls it.
    """
    _demand(lambda value: value in allowed, f"choose one of {', '.join(map(str, allowed))}", named)


class Broken(AssertionError):
    """A promise of the contract that did not hold, in a sentence."""
