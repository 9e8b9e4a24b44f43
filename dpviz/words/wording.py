"""How numbers, amounts and lists are written: a released number to the digit of its noise, nine in ten behind a ±.

How far a ± reaches is proved in ``docs/proofs/intervals.md``.

A whole sentence is filled here, and so is a template: whatever is put into markup is escaped, and a value that is
missing is an error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from functools import cache, cached_property
from math import ceil, floor, inf, isfinite, log10
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING, Any

import numpy as np

from dpviz.core import RequestError
from dpviz.words.foreign import list_names, quote_name
from dpviz.words.resources import read_toml

if TYPE_CHECKING:
    from jinja2 import Environment


class Sentences(Formatter):
    """The sentences of a TOML file beside a module, which is read when the first one is wanted.

    A name from elsewhere is quoted, a list of them is cut short; ``{...:s}`` is a text of our own, ``{_...:s}``
    another entry.
    """

    def __init__(self, module: str, name: str = "sentences.toml") -> None:
        self._beside = module, name

    @cached_property
    def by_key(self) -> Mapping[str, str]:
        """Each with its places still open."""
        return read_toml(*self._beside)

    def fill(self, key: str, /, **said: Any) -> str:
        """The sentence under that key, with what is ``said`` in its places."""
        return self.format(self.by_key[key], **said)

    def make_refusal(self, key: str, /, *, kind: type[RequestError] = RequestError, **said: Any) -> RequestError:
        """The refusal that stands under that key, with what is ``said`` in its places."""
        return kind(self.fill(key, **said))

    def get_value(self, key: int | str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """What stands in a place."""
        return self.by_key[key] if isinstance(key, str) and key.startswith("_") else kwargs[str(key)]

    def format_field(self, value: Any, format_spec: str) -> Any:
        """How it is written there."""
        if format_spec == "s":
            return str(value)
        if isinstance(value, str) and not format_spec:
            return quote_name(value)
        return list_names(value) if isinstance(value, list | tuple) else super().format_field(value, format_spec)


NINE_IN_TEN = 1.7507
"""What a ± says, in standard deviations of the noise: beyond it, up or down, lie 8 of 100 draws of Gaussian noise.

A single Laplace draw does so about as often, and a sum of many as often.
"""
PLUS_MINUS = "± is nine in ten: in nine of ten releases the noise on a centre is no more, and a size is off by no more."
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


def format_noisy(
    value: float, reach: float, *, whole: bool = False, step: float = 0.0, within: tuple[float, float] = (-inf, inf)
) -> str:
    """A released number to the digit of its noise, which is ``reach``; by itself where that is 0 or not known.

    Parameters
    ----------
    value : float
        The number.
    reach : float
        Nine in ten, in the same unit; NaN where nobody can tell.
    whole : bool
        Whether it counts something.
    step : float
        Of the decimal grid on which it is released, beyond which it has no digits; 0: on none.
    within : tuple of float
        What the true number lies between for certain. An interval that would go beyond is told by its ends.

    Returns
    -------
    str
        Words.

    >>> format_noisy(13.359, 0.0021), format_noisy(9412, 790.3, whole=True), format_noisy(412, 2.43, whole=True)
    ('13.3590 ± 0.0021', '9,410 ± 790', '412 ± 2.4')
    >>> format_noisy(66.8, 88.6, within=(0, 110)), format_noisy(-0.81, 0.21, within=(-1, 1))
    ('67 (0 to 110)', '−0.81 (−1.00 to −0.60)')
    >>> [format_noisy(one, 0.4, step=0.1) for one in (60, 60.1)], format_noisy(54, 5.6, step=1, within=(0, 58))
    (['60.0 ± 0.4', '60.1 ± 0.4'], '54 (48.4 to 58.0)')
    >>> format_noisy(23.4, 0.86, step=0.1), format_noisy(23, 0.86, step=1)
    ('23.4 ± 0.86', '23 ± 0.86')
    >>> format_noisy(-81, 127), format_noisy(13.4, 0.9), format_noisy(13.359, float("nan"))
    ('−80 ± 130', '13.4 ± 0.9', '13.359')
    """
    if not isfinite(reach) or reach <= 0:
        return format_value(value, reach, whole=whole, step=step)
    low, high = max(value - reach, within[0]), min(value + reach, within[1])
    if low > value - reach or high < value + reach:
        # The true number lies on the grid only where it is whole.
        around = (_write(end, reach, float(whole)) for end in (low, high))
        told, *ends = _drop_noughts(_write(value, reach, max(step, whole)), *around)
        return f"{told} ({' to '.join(ends)})"
    told, behind = _drop_noughts(_write(value, reach, max(step, whole)), _round_to(reach, _find_decimals(reach)))
    return f"{told} ± {behind}"


def format_value(value: float, reach: float, *, whole: bool = False, step: float = 0.0) -> str:
    """The same number alone, where a picture or a column beside it shows the noise.

    Parameters
    ----------
    value : float
        The number.
    reach : float
        Nine in ten, in the same unit; NaN where nobody can tell.
    whole : bool
        Whether it counts something.
    step : float
        Of the decimal grid on which it is released, beyond which it has no digits; 0: on none.

    Returns
    -------
    str
        Words.

    >>> format_value(13.359, 0.21), format_value(2975.1, 170.0), format_value(13.359, 0.0), format_value(-0.0, 0.0)
    ('13.36', '2,980', '13.359', '0')
    """
    return _drop_noughts(_write(value, reach, max(step, whole)))[0]


def format_between(
    low: float,
    high: float,
    value: float | None = None,
    *,
    step: float = 0.0,
    edges: Sequence[float] = (),
    unit: str = "",
    first_day: str = "",
) -> str:
    """The ends of an interval, behind the ``value`` that they lie around, if there is one.

    Parameters
    ----------
    low, high : float
        Ends that hold nine in ten.
    value : float or None
        None: that it lies between them is all that is known.
    step : float
        Of the decimal grid on which the value is released; 0: on none.
    edges : sequence of float
        Of all bins of which these are ends: each is written as ``format_edges`` does.
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
    >>> format_between(2.27, 4.14, 3.19, edges=(2.27, 3.2, 4.14)), format_between(48.7, 59.9, 54, step=1)
    ('3.19 (2.27 to 4.14)', '54 (48.7 to 59.9)')
    >>> format_between(19, 31, 25, first_day="2020-01-01")
    '2020-01-26 (2020-01-20 to 2020-02-01)'
    """
    middle, half = low if value is None else value, (high - low) / 2
    if first_day:
        told, *ends = (format_day(first_day, one) for one in (middle, low, high))
    elif len(edges):
        written, among = format_edges(edges), np.asarray(edges)
        first, last = (int(np.abs(among - end).argmin()) for end in (low, high))
        ends = [written[first], written[last]]
        told, *_ = _drop_noughts(_write(middle, np.diff(among)[[first, last - 1]].min()), *written)
    else:
        gaps = (half, half) if value is None else (value - low, high - value)
        near = min((gap for gap in gaps if gap > 0), default=0.0)
        reaches = near, *(gap if gap > 0 else near for gap in gaps)
        told, *ends = _drop_noughts(*map(_write, (middle, low, high), reaches, (step, 0.0, 0.0)))
    between = " to ".join(ends)
    return f"{between} {unit}".rstrip() if value is None else f"{f'{told} {unit}'.rstrip()} ({between})"


def format_edges(edges: Sequence[float], first_day: str = "") -> list[str]:
    """The ends of the bins of a column, each in one way: to two digits of the narrower bin beside it, or as dates.

    Parameters
    ----------
    edges : sequence of float
        In order.
    first_day : str
        The date of day 0 where numbers are days, else "".

    Returns
    -------
    list of str
        A text for each edge.

    >>> format_edges([1.8, 2.274, 2.748, 3.222]), format_edges([0, 2.5, 5, 7.5]), format_edges([1, 10, 1000])
    (['1.80', '2.27', '2.75', '3.22'], ['0.0', '2.5', '5.0', '7.5'], ['1', '10', '1,000'])
    """
    if first_day:
        return [format_day(first_day, one) for one in edges]
    widths = np.diff(edges)
    beside = np.minimum(np.r_[widths[0], widths], np.r_[widths, widths[-1]])
    return _drop_noughts(*map(_write, edges, beside.tolist()))


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


def _write(value: float, reach: float, step: float = 0.0) -> str:
    """To the digit of its noise, or to that of its grid where this is coarser."""
    decimals = [_find_decimals(reach)] if isfinite(reach) and reach > 0 else []
    decimals += [_find_decimals(step, digits=1)] if step > 0 else []
    return _round_to(value, min(decimals)) if decimals else f"{value:z,.{_WITHOUT_NOISE}g}".replace("-", "−")


def _find_decimals(reach: float, *, digits: int = _DIGITS) -> int:
    """Behind the point, those that the digits of ``reach`` have; below 0, digits before it that are noise."""
    return min(digits - 1 - floor(log10(float(f"{reach:.{digits}g}"))), _MOST_DECIMALS)


def _round_to(value: float, decimals: int) -> str:
    return f"{round(value, decimals) + 0.0:,.{max(decimals, 0)}f}".replace("-", "−")


def _drop_noughts(*texts: str) -> list[str]:
    """Numbers without the decimals that are 0 in each of them that has so many."""
    decimals = [len(one.partition(".")[2]) for one in texts]
    last = [one for one, number in zip(texts, decimals, strict=True) if number == max(decimals)]
    if not max(decimals) or any(one[-1] != "0" for one in last):
        return [*texts]
    return _drop_noughts(*(one[:-1].rstrip(".") if one in last else one for one in texts))


_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
# Of a smaller share nobody wants the digits.
_LEAST_SHARE = 1e-5
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def format_number(value: float) -> str:
    """Three significant digits, thousands grouped, no exponent between 0.001 and a billion.

    >>> [format_number(value) for value in (0.012345, 9.97, 99.7, 1234.5, 12345678.0, 2.0, 2.0**60)]
    ['0.0123', '9.97', '99.7', '1,230', '12,300,000', '2', '1.15e18']
    """
    if value == 0 or not isfinite(value):
        return "0" if value == 0 else str(value).replace("inf", "∞")
    if not 1e-3 <= abs(value) < 1e9:
        return f"{value:.2e}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e").replace("-", "−")
    digits = 2 - int(f"{abs(value):.2e}".split("e")[1])
    text = f"{round(value, digits):,.{max(digits, 0)}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return text.replace("-", "−")


def format_at_most(value: float) -> str:
    """Three significant digits, rounded up: what is said to be an upper bound stays one.

    >>> format_at_most(2.01375), format_at_most(2.71828), format_at_most(20.0), format_at_most(1.0)
    ('2.02', '2.72', '20', '1')
    """
    unit = 10.0 ** (floor(log10(value)) - 2)
    return format_number(ceil(value / unit - 1e-9) * unit)


def format_small(chance: float) -> str:
    """A small number as it is written by hand.

    >>> format_small(1e-6), format_small(3.3e-8), format_small(0.0), format_small(0.25)
    ('10⁻⁶', '3.3 × 10⁻⁸', '0', '0.25')
    """
    if chance == 0 or chance >= 1e-3:
        return f"{chance:g}"
    digits, power = f"{chance:.3g}".split("e") if "e" in f"{chance:.3g}" else f"{chance:.2e}".split("e")
    raised = str(int(power)).translate(_SUPERSCRIPT)
    digits = digits.rstrip("0").rstrip(".") if "." in digits else digits
    return f"10{raised}" if digits == "1" else f"{digits} × 10{raised}"


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


def to_plain(value: Any) -> Any:
    """Numbers as JSON has them: whatever is not finite becomes None."""
    if isinstance(value, dict):
        return {key: to_plain(one) for key, one in value.items()}
    if isinstance(value, tuple | list):
        return [to_plain(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not isfinite(value) else value


_FOLDER = Path(__file__).with_name("templates")


def render(template: str, /, **values: Any) -> str:
    """The text of a template.

    Parameters
    ----------
    template : str
        Its name in ``templates/``.
    **values
        What it is filled with. Texts are escaped, also in attributes, but in a template of plain text; markup of our
        own has to be marked as such in the template, with ``safe``.

    Returns
    -------
    str
        The same values give the same text.
    """
    return _find_environment(markup=not template.endswith(".txt.j2")).get_template(template).render(**values)


@cache
def _find_environment(*, markup: bool) -> Environment:
    return make_environment(markup=markup)


def make_environment(*, markup: bool) -> Environment:
    """All templates, for filters that a room adds; into what is no ``markup`` values go as they are."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=markup,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
    made.filters |= {
        **{"number": format_number, "small": format_small, "reach": format_reach, "share_of": format_percent},
        **{"things": format_things, "in_words": format_count, "capital": capitalize_first},
    }
    return made
