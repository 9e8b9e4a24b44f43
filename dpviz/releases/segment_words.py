"""What was released about segments, read from plain values: numbers with their intervals, whatever is left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from dpviz.words import format_day, format_number, format_percent

_VALUES = ("value", "estimate", "share", "median", "size", "count")
_MOST_SHARES = 6


class WrittenInterval(NamedTuple):
    """A released number and the interval around it, where there is one; or the interval alone, told as a range.

    With a ``first_day`` it is a number of days from then on, and written as a date.
    """

    value: float
    low: float | None = None
    high: float | None = None
    range_only: bool = False
    first_day: str = ""

    @property
    def written(self) -> str:
        """The number, or the date.

        >>> WrittenInterval(34.0).written, WrittenInterval(31.0, first_day="2020-01-01").written
        ('34', '2020-02-01')
        """
        return self._write(self.value)

    @property
    def around(self) -> str:
        """The interval in brackets, if any.

        >>> WrittenInterval(34.0, 32.0, 36.0).around, WrittenInterval(34.0, 0.0, 31.0, first_day="2020-01-01").around
        ('(32–36)', '(2020-01-01 to 2020-02-01)')
        """
        if self.low is None or self.high is None:
            return ""
        return f"({self._write(self.low)}{' to ' if self.first_day else '–'}{self._write(self.high)})"

    def _write(self, number: float) -> str:
        return format_day(self.first_day, number) if self.first_day else format_number(number)

    def describe(self, *, share: bool = False) -> str:
        """In words: ``34 (32–36)``, or ``61 % (58–64)`` for a share.

        >>> WrittenInterval(34.0, 32.0, 36.0).describe(), WrittenInterval(0.61, 0.58, 0.64).describe(share=True)
        ('34 (32–36)', '61 % (58–64)')
        >>> WrittenInterval(34.0).describe()
        '34'
        >>> WrittenInterval(34.0, 18.0, 60.0, range_only=True).describe()
        '18–60'
        """
        if self.range_only:
            return self.around.strip("()")
        if not share:
            return f"{self.written} {self.around}".rstrip()
        low, high = (None if end is None else 100.0 * end for end in (self.low, self.high))
        return f"{format_percent(self.value)} {WrittenInterval(100.0 * self.value, low, high).around}".rstrip()


class ColumnTold(NamedTuple):
    """A column of a segment: its median and quartiles, or its shares by category, largest first."""

    name: str
    unit: str
    median: WrittenInterval | None
    quartiles: tuple[WrittenInterval, ...]
    shares: tuple[tuple[str, WrittenInterval], ...]
    tells_apart: bool

    @property
    def dated(self) -> bool:
        """Whether its numbers are days, which are written as dates."""
        return self.median is not None and bool(self.median.first_day)

    @property
    def largest(self) -> tuple[tuple[str, WrittenInterval], ...]:
        """The largest shares."""
        return self.shares[:_MOST_SHARES]

    @property
    def left_out(self) -> int:
        """Categories beyond the largest."""
        return max(0, len(self.shares) - _MOST_SHARES)

    @property
    def half(self) -> tuple[str, ...]:
        """The lower and the upper quartile, each with its interval; none where one is known by its range only."""
        if len(self.quartiles) < 2 or any(one.range_only for one in self.quartiles):
            return ()
        return f"from {self.quartiles[0].describe()}", f"to {self.quartiles[-1].describe()}"


class SegmentTold(NamedTuple):
    """A segment: its number from 1 on, the name that its owner gave it, its size, its columns."""

    number: int
    name: str
    size: WrittenInterval | None
    columns: tuple[ColumnTold, ...]


def describe_segments(segments: Mapping[str, Any] | None) -> tuple[SegmentTold, ...]:
    """The segments among plain values; none where there are none."""
    listed = (segments or {}).get("segments", ())
    return tuple(
        SegmentTold(
            int(one.get("number", place)),
            str(one.get("name") or ""),
            _make_beside(one, "size"),
            tuple(_list_columns(one.get("columns", ()))),
        )
        for place, one in enumerate(listed, start=1)
    )


def make_interval(said: Any) -> WrittenInterval | None:
    """A number with its interval, in any of the forms that plain values have.

    >>> make_interval(3) == WrittenInterval(3.0), make_interval(None)
    (True, None)
    >>> make_interval([3, 2, 4]) == make_interval({"value": 3, "low": 2, "high": 4}) == WrittenInterval(3.0, 2.0, 4.0)
    True
    """
    if isinstance(said, Mapping):
        value = next((said[name] for name in _VALUES if said.get(name) is not None), None)
        found = make_interval([value, said.get("low"), said.get("high")])
        return found and found._replace(range_only=bool(said.get("range_only")))
    if isinstance(said, Sequence) and not isinstance(said, str):
        value, low, high = (*said, None, None, None)[:3]
        bare = make_interval(value)
        return (
            bare
            if bare is None or low is None or high is None
            else WrittenInterval(bare.value, float(low), float(high))
        )
    return WrittenInterval(float(said)) if isinstance(said, int | float) and not isinstance(said, bool) else None


def _make_beside(said: Mapping[str, Any], name: str) -> WrittenInterval | None:
    """A number whose interval stands in it, or beside it."""
    found = make_interval(said.get(name))
    if found is None or found.low is not None:
        return found
    return make_interval({"value": found.value, "low": said.get("low"), "high": said.get("high")})


def _list_columns(said: Any) -> Iterator[ColumnTold]:
    named = ({"name": name, **one} for name, one in said.items()) if isinstance(said, Mapping) else said
    for one in named:
        first_day, median = str(one.get("first_day") or ""), _make_beside(one, "median")
        quartiles = one.get("quartiles") or ()
        ends = quartiles.values() if isinstance(quartiles, Mapping) else quartiles
        shares = sorted(_list_shares(one.get("shares") or ()), key=lambda pair: -pair[1].value)
        yield ColumnTold(
            str(one.get("name", "")),
            "" if first_day else str(one.get("unit") or ""),
            median and median._replace(first_day=first_day),
            tuple(end._replace(first_day=first_day) for end in map(make_interval, ends) if end is not None),
            tuple(shares),
            bool(one.get("tells_apart")),
        )


def _list_shares(said: Any) -> Iterator[tuple[str, WrittenInterval]]:
    if isinstance(said, Mapping):
        pairs = [(str(name), make_interval(share)) for name, share in said.items()]
    else:
        pairs = [(str(one.get("category", one.get("name", ""))), make_interval(one)) for one in said]
    yield from ((name, share) for name, share in pairs if share is not None)


def describe_quality(quality_report: Mapping[str, Any] | None) -> tuple[str, ...]:
    """What a reader without the rows learns about how good the segments are, a sentence each."""
    if not quality_report:
        return ()
    words = quality_report.get("words") or ()
    said = [words] if isinstance(words, str) else [str(one) for one in words]
    names = ("loss", "one_center", "data_independent")
    loss, alone, blind = (make_interval(quality_report.get(name)) for name in names)
    if loss is None:
        return tuple(said)
    unit = f" {quality_report['unit']}" if quality_report.get("unit") else ""
    said.append(
        f"The mean squared distance of a row to the nearest released centre is {loss.describe()}{unit}, with noise."
    )
    if alone is not None and alone.value > 0:
        said.append(
            f"A single centre would leave {alone.describe()}: the segments account for "
            f"{format_percent(max(0.0, 1 - loss.value / alone.value))} of it."
        )
    if blind is not None and blind.value > 0:
        said.append(f"Centres placed without looking at any row would leave {blind.describe()}.")
        if loss.value > _HARDLY * blind.value:
            said.append("That is hardly worse: these segments say little about the people in the table.")
    return tuple(said)


# Of the loss of centres that no row was asked for: beyond this part of it, segments say little.
_HARDLY = 0.85
