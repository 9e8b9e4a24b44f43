"""How released numbers are written: to the digit of their noise, and what stands behind a ±, everywhere the same.

How far a ± reaches is proved in ``docs/proofs/intervals.md``.
"""

from __future__ import annotations

from math import floor, isfinite, log10

from dpviz.words.wording import format_day, format_number

NINE_IN_TEN = 1.7507
"""What a ± says, in standard deviations of the noise: beyond it, up or down, lie 8 of 100 draws of Gaussian noise.

A single Laplace draw does so about as often, and a sum of many as often.
"""
PLUS_MINUS = "± is nine in ten: in nine of ten releases the noise on a number is no more."
"""What a document of a run with a ± in it says of it, once."""
PLUS_MINUS_RELEASED = "± is nine in ten: in nine of ten releases a size, or the mean of a segment, is off by no more."
"""The same of a release: how far off a centre is counts all that its algorithm cut or rounded, too."""
DRAWS_SAY = (
    "Draws differ by the noise of this release alone. They say what an exact answer about these rows, in these "
    "segments, would have been. Not in them: other people, other segments, another k, values beyond the bounds, rows "
    "without a value, bounds that were bought."
)
"""What is in the draws of a release, and what is not; whatever is told from them says it."""

_DIGITS = 2  # of what stands behind a ±: its rounding stays within what is covered beyond nine in ten
_WITHOUT_NOISE = 5  # digits of a number whose noise nobody can tell
_MOST_DECIMALS = 12


def format_noisy(value: float, reach: float, *, whole: bool = False) -> str:
    """A released number to the digit of its noise, which is ``reach``; by itself where that is 0 or not known.

    Parameters
    ----------
    value : float
        The number.
    reach : float
        Nine in ten, in the same unit; NaN where nobody can tell.
    whole : bool
        Whether it counts something.

    Returns
    -------
    str
        Words.

    >>> format_noisy(13.359, 0.0021), format_noisy(9412, 790.3, whole=True), format_noisy(412, 2.43, whole=True)
    ('13.3590 ± 0.0021', '9,410 ± 790', '412 ± 2.4')
    >>> format_noisy(-81, 127), format_noisy(13.4, 0.9), format_noisy(13.359, float("nan"))
    ('−80 ± 130', '13.4 ± 0.9', '13.359')
    """
    if not isfinite(reach) or reach <= 0:
        return format_value(value, reach, whole=whole)
    decimals = _find_decimals(reach)
    told, behind = _drop_noughts(_write(value, reach, whole=whole), _round_to(reach, decimals))
    return f"{told} ± {behind}"


def format_value(value: float, reach: float, *, whole: bool = False) -> str:
    """The same number alone, where a picture or a column beside it shows the noise.

    Parameters
    ----------
    value : float
        The number.
    reach : float
        Nine in ten, in the same unit; NaN where nobody can tell.
    whole : bool
        Whether it counts something.

    Returns
    -------
    str
        Words.

    >>> format_value(13.359, 0.21), format_value(2975.1, 170.0), format_value(13.359, 0.0)
    ('13.36', '2,980', '13.359')
    """
    return _drop_noughts(_write(value, reach, whole=whole))[0]


def format_between(low: float, high: float, value: float | None = None, *, unit: str = "", first_day: str = "") -> str:
    """The ends of an interval, behind the ``value`` that they lie around, if there is one.

    Parameters
    ----------
    low, high : float
        Ends that hold nine in ten.
    value : float or None
        None: that it lies between them is all that is known.
    unit : str
        Behind the value, or behind the ends where there is none.
    first_day : str
        The date of day 0 where numbers are days, else "".

    Returns
    -------
    str
        Words.

    >>> format_between(32, 36, 34, unit="%"), format_between(18, 60, unit="km"), format_between(4.3, 2000, 12)
    ('34 % (32 to 36)', '18 to 60 km', '12.0 (4.3 to 2,000)')
    >>> format_between(19, 31, 25, first_day="2020-01-01")
    '2020-01-26 (2020-01-20 to 2020-02-01)'
    """
    if first_day:
        told, *ends = (format_day(first_day, one) for one in ((low if value is None else value), low, high))
    elif value is None:
        half = (high - low) / 2
        told, *ends = _drop_noughts(*(_write(one, half) for one in (low, low, high)))
    else:
        gaps = value - low, high - value
        near = min((gap for gap in gaps if gap > 0), default=0.0)
        reaches = near, *(gap if gap > 0 else near for gap in gaps)
        numbers = zip((value, low, high), reaches, strict=True)
        told, *ends = _drop_noughts(*(_write(*one) for one in numbers))
    between = " to ".join(ends)
    return f"{between} {unit}".rstrip() if value is None else f"{f'{told} {unit}'.rstrip()} ({between})"


def format_reach(reach: float) -> str:
    """What stands behind a ± where the number before it is a date, a rank or an hour.

    >>> format_reach(12.34), format_reach(0.456)
    ('12', '0.46')
    """
    return format_number(float(f"{reach:.{_DIGITS}g}"))


def format_plus_minus(sd: float) -> str:
    """A ± and what stands behind it, of noise of that standard deviation.

    >>> format_plus_minus(10.0)
    '± 18'
    """
    return f"± {format_reach(NINE_IN_TEN * sd)}"


def _write(value: float, reach: float, *, whole: bool = False) -> str:
    if isfinite(reach) and reach > 0:
        decimals = _find_decimals(reach)
        return _round_to(value, min(decimals, 0) if whole else decimals)
    return f"{value:,.0f}".replace("-", "−") if whole else f"{value:,.{_WITHOUT_NOISE}g}".replace("-", "−")


def _find_decimals(reach: float) -> int:
    """Behind the point, those that the digits of ``reach`` have; below 0, digits before it that are noise."""
    return min(_DIGITS - 1 - floor(log10(float(f"{reach:.{_DIGITS}g}"))), _MOST_DECIMALS)


def _round_to(value: float, decimals: int) -> str:
    return f"{round(value, decimals) + 0.0:,.{max(decimals, 0)}f}".replace("-", "−")


def _drop_noughts(*texts: str) -> list[str]:
    """Numbers without the decimals that are 0 in each of them."""
    told = [*texts]
    while any("." in one for one in told) and all(one[-1] in "0." or "." not in one for one in told):
        told = [one[:-1] if "." in one else one for one in told]
    return told
