"""What was released about segments in words: numbers with their intervals, whatever is left out."""

from __future__ import annotations

from collections.abc import Iterator

from dpviz.releases.intervals import Interval
from dpviz.releases.release_sentences import SENTENCES
from dpviz.releases.segments_report import CategoriesSaid, NumbersSaid, QualityReport, QualityVerdict, SegmentsReport
from dpviz.words import format_between, format_ratio


def format_interval(interval: Interval, first_day: str = "") -> str:
    """A number and the interval around it; the interval alone where that is all that was learned.

    >>> format_interval(Interval(34, 32, 36)), format_interval(Interval(34, 18, 60, range_only=True))
    ('34 (32 to 36)', '18 to 60')
    """
    value = None if interval.range_only else interval.value
    return format_between(interval.low, interval.high, value, first_day=first_day)


def split_interval(interval: Interval, first_day: str = "") -> tuple[str, str]:
    """The number, "" where its range is all that was learned, and behind it the interval.

    >>> split_interval(Interval(34, 32, 36)), split_interval(Interval(34, 18, 60, range_only=True))
    (('34', '(32 to 36)'), ('', '18 to 60'))
    """
    value, _, ends = format_interval(interval, first_day).rpartition(" (")
    return value, f"({ends}" if value else ends


def format_share(share: Interval) -> str:
    """A share with its interval.

    >>> format_share(Interval(0.61, 0.58, 0.64))
    '61 % (58 to 64)'
    """
    return format_between(100 * share.low, 100 * share.high, 100 * share.value, unit="%")


def list_half(said: NumbersSaid) -> Iterator[str]:
    """The lower and the upper quartile, each with its interval; none where one is known by its range only."""
    low, high = said.lower_quartile, said.upper_quartile
    if low is not None and high is not None and not (low.range_only or high.range_only):
        yield f"from {format_interval(low, said.first_day)}"
        yield f"to {format_interval(high, said.first_day)}"


def count_intervals(report: SegmentsReport | None) -> int:
    """How many intervals stand in the table of segments."""
    segments = () if report is None else report.segments
    return sum(1 + sum(map(_count_intervals, segment.columns)) for segment in segments)


def _count_intervals(said: NumbersSaid | CategoriesSaid) -> int:
    if isinstance(said, CategoriesSaid):
        return len(said.shares)
    return 0 if said.median is None else 3


def describe_quality(report: QualityReport) -> Iterator[str]:
    """The quality report in sentences; where it cannot tell, ratios of noise would say nothing either."""
    yield from report.words
    if report.verdict is not QualityVerdict.CANNOT_TELL:
        yield f"Squared, rows lie {_format_times(report.ratio)} as far from their centre as from a single one."
        yield SENTENCES.fill("beside_blind", times=_format_times(report.ratio_blind))


def _format_times(interval: Interval) -> str:
    """A ratio with its interval."""
    value, low, high = (format_ratio(max(end, 0.0)) for end in (interval.value, interval.low, interval.high))
    return f"{value} ({low} to {high})"
