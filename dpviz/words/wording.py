"""How numbers and titles are written: three digits, words up to twelve."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from math import isfinite

_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
# Of a smaller share nobody wants the digits.
_LEAST_SHARE = 1e-5


def format_number(value: float) -> str:
    """Three significant digits, thousands grouped, no exponent between 0.001 and a billion.

    >>> [format_number(value) for value in (0.012345, 1234.5, 12345678.0, 2.0, 2.0**60)]
    ['0.0123', '1,230', '12,300,000', '2', '1.15e18']
    """
    if value == 0 or not isfinite(value):
        return "0" if value == 0 else str(value).replace("inf", "∞")
    if not 1e-3 <= abs(value) < 1e9:
        return f"{value:.2e}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e").replace("-", "−")
    digits = 3 - len(f"{abs(value):.0f}") if abs(value) >= 1 else 2 - int(f"{abs(value):.2e}".split("e")[1])
    text = f"{round(value, digits):,.{max(digits, 0)}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return text.replace("-", "−")


def list_words(words: Sequence[object]) -> str:
    """Words of ours, or numbers, in a sentence; at least one.

    >>> list_words([3]), list_words(["a", "b", "c"])
    ('3', 'a, b and c')
    """
    *others, last = map(str, words)
    return f"{', '.join(others)} and {last}" if others else last


def format_day(first: str, days: float) -> str:
    """The date so many days after the first one.

    Parameters
    ----------
    first : str
        A date, year-month-day.
    days : float
        Rounded to whole ones.

    Returns
    -------
    str
        Year-month-day.

    >>> format_day("2020-01-01", 30.6)
    '2020-02-01'
    """
    return (date.fromisoformat(first) + timedelta(days=round(days))).isoformat()


def format_ratio(value: float) -> str:
    """A ratio with its sign; its noughts stay, because 1.00 says more than 1.

    >>> format_ratio(1.0456), format_ratio(1.0), format_ratio(67.04), format_ratio(1234.0)
    ('1.05×', '1.00×', '67.0×', '1,230×')
    """
    if not 0.1 <= value < 100:
        return f"{format_number(value)}×"
    return f"{value:#.3g}×"


def format_count(value: int) -> str:
    """A count in words up to twelve, in digits beyond.

    >>> format_count(2), format_count(1500)
    ('two', '1,500')
    """
    return _WORDS[value] if 0 <= value < len(_WORDS) else f"{value:,}"


def format_things(value: int, singular: str, plural: str | None = None) -> str:
    """A count with its noun.

    Parameters
    ----------
    value : int
        How many.
    singular : str
        Of the noun.
    plural : str or None
        None: with an s.

    Returns
    -------
    str
        Words.

    >>> format_things(1, "centre"), format_things(15, "centre"), format_things(2, "box", "boxes")
    ('one centre', '15 centres', 'two boxes')
    """
    return f"{format_count(value)} {singular if value == 1 else plural or singular + 's'}"


def format_percent(share: float, *, least: float = _LEAST_SHARE) -> str:
    """A share in percent: three significant digits, more only where 100 % would be wrong.

    Parameters
    ----------
    share : float
        1 is the whole.
    least : float
        Of a smaller share no digits are written.

    Returns
    -------
    str
        With its sign.

    >>> format_percent(0.1234), format_percent(0.00012), format_percent(1.06e-6), format_percent(1.06e-6, least=0.001)
    ('12.3 %', '0.012 %', 'under 0.001 %', 'under 0.1 %')
    >>> format_percent(0.9999999), format_percent(1.0)
    ('99.99999 %', '100 %')
    """
    if 0 < abs(share) < least:
        return f"under {100 * least:g} %"
    if 0.999 < share < 1:
        return f"{100 - float(f'{100 * (1 - share):.1g}'):.10g} %"
    return f"{format_number(100 * share)} %"


def format_duration(seconds: float) -> str:
    """A time span as people say it, two units at most.

    >>> format_duration(0.3), format_duration(75), format_duration(3725)
    ('under 1 s', '1 min 15 s', '1 h 2 min')
    """
    if seconds < 1:
        return "under 1 s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes_left = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes_left} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def capitalize_first(text: str) -> str:
    """With a capital at the start."""
    return text[:1].upper() + text[1:]


def shorten(text: str, most: int) -> str:
    """``text`` cut to ``most`` characters.

    Parameters
    ----------
    text : str
        Any.
    most : int
        Letters.

    Returns
    -------
    str
        At most so many letters.

    >>> shorten("latitude", 8), shorten("longitude", 8)
    ('latitude', 'longitu…')
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def join_clauses(*parts: str) -> str:
    """The parts that are not empty, with dots that never begin a line.

    >>> join_clauses("round 2", "", "2 of 6 columns").replace(chr(160), "_")
    'round 2_· 2 of 6 columns'
    """
    return "\u00a0· ".join(part for part in parts if part)


def round_percent(share: float) -> str:
    """A share in whole percent, where more digits would say too much.

    >>> round_percent(0.349), round_percent(1.0)
    ('35 %', '100 %')
    """
    return f"{100 * share:.0f} %"
