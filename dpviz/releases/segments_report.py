"""What a release says of its segments: plain values, of which files, cards and charts are made, and words."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from math import inf, isfinite, sqrt
from typing import Any

import numpy as np

from dpviz.releases.missing_shares import MissingShare
from dpviz.releases.release_sentences import SENTENCES
from dpviz.releases.tallies import COVERED, Interval, SegmentTallies, format_finite
from dpviz.runs import profiles
from dpviz.tables import format_csv
from dpviz.words import NINE_IN_TEN, format_between, format_noisy, format_ratio, to_plain

TOO_SMALL = "too small to say"
"""Of a segment that noise drowns. Whether it does is read off its noisy size, never off the true one."""

RANGE = "known by its range only"
"""Of a quantile whose interval is wide beside the bounds."""


@dataclass(frozen=True)
class ReleasedHistogram:
    """Noisy counts of one column in one segment.

    ``counts`` (m,) have noise of standard deviation ``sd`` each. ``edges`` (m + 1,) are those of bins of numbers, data
    units; ``labels`` (m,) are names of categories: one of the two is empty. ``missing`` is the noisy count of missing
    cells of a column of numbers that may miss. ``kind`` is the scale on which they are even: "number", "log" or "root".
    """

    counts: tuple[float, ...]
    sd: float
    edges: tuple[float, ...] = ()
    labels: tuple[str, ...] = ()
    missing: float | None = None
    kind: str = "number"


@dataclass(frozen=True)
class NumbersSaid:
    """A column of numbers in one segment, data units; the quantiles are None where the segment is too small to say.

    ``first_day`` is the date of day 0 where its numbers are days, else "".
    """

    column: str
    unit: str
    lower_quartile: Interval | None
    median: Interval | None
    upper_quartile: Interval | None
    missing: Interval | None
    histogram: ReleasedHistogram
    first_day: str = ""


@dataclass(frozen=True)
class CategoryShare:
    """The share of one category in one segment."""

    label: str
    share: Interval


@dataclass(frozen=True)
class CategoriesSaid:
    """A column of categories in one segment; ``shares`` are empty where the segment is too small to say."""

    column: str
    unit: str
    shares: tuple[CategoryShare, ...]
    histogram: ReleasedHistogram


@dataclass(frozen=True)
class Segment:
    """The rows that lie nearest to one released centre.

    ``number`` counts from 1; ``center`` (d,) is in data units. ``size_sd`` is the standard deviation of the noise on
    its size, which all released tallies of its rows have a say in. ``words`` is "" or ``TOO_SMALL``. ``telling`` are
    the columns in which it differs most from all other segments, the most telling first.
    """

    number: int
    center: tuple[float, ...]
    size: Interval
    size_sd: float
    words: str
    columns: tuple[NumbersSaid | CategoriesSaid, ...]
    telling: tuple[str, ...]

    @property
    def size_words(self) -> str:
        """Its size as it is written everywhere."""
        return format_noisy(self.size.value, self.size.high - self.size.value, whole=True, within=(0.0, inf))


class QualityVerdict(StrEnum):
    """What the quality report makes of the clustering, from released values alone."""

    GOOD = "good"
    """Nothing released speaks against it."""
    POOR = "poor"
    """By released values, k centres exist whose loss is about half as large, or less."""
    CANNOT_TELL = "cannot tell"
    """A group that carries half of the loss could hide in the noise."""


@dataclass(frozen=True)
class QualityReport:
    """How near rows lie to the released centres, beside what one centre and what centres without any data would do.

    Losses are mean capped squared distances, unit coordinates squared. ``ratio`` is that to the released centres over
    that to one centre; ``ratio_blind`` that of centres which no row has a say in. ``distances`` are the distances,
    unit coordinates, within which half and nine tenths of the rows lie, from the noisy ``scales``.
    """

    released: Interval
    one_center: Interval
    blind: Interval
    caps: tuple[float, float, float]
    ratio: Interval
    ratio_blind: Interval
    distances: tuple[Interval, Interval]
    verdict: QualityVerdict
    words: tuple[str, ...]


@dataclass(frozen=True)
class SegmentsReport:
    """Everything that is said of the segments of a release, with what it cost.

    ``covered`` is how often an interval covers the true value, by itself. ``notes`` say what is left out, and why.
    ``tallies`` are the counts that all of it follows from.
    """

    segments: tuple[Segment, ...]
    quality_report: QualityReport
    epsilon: float
    covered: float = COVERED
    notes: tuple[str, ...] = ()
    tallies: SegmentTallies = field(default=SegmentTallies(()), compare=False, repr=False)

    @property
    def least_size(self) -> float:
        """The fewest rows, by its noisy size, of a segment of which something is described: below, noise drowns it."""
        noise = [column.histogram for segment in self.segments[:1] for column in segment.columns]
        least = min((one.sd * sqrt(len(one.counts) + (one.missing is not None)) for one in noise), default=0.0)
        return max(2 * least, max((one.size_sd for one in self.segments), default=0.0))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as JSON has them."""
        names = {"quality_report": "certificate"}  # what it was called in the first files
        plain = asdict(replace(self, tallies=SegmentTallies(())))
        return {names.get(name, name): value for name, value in to_plain(plain).items() if name != "tallies"}


def choose_shares(made: profiles.Profile, report: SegmentsReport) -> profiles.Profile:
    """The profile with one value of each share and one half-width of all of a column: those of the centre, or of the
    histogram where these are nearer, as they are where a centre never moved."""
    values, sd = made.centers.copy(), made.center_sd.copy()
    step = np.zeros(values.shape) if made.step is None else made.step.copy()
    for name, places in made.shared.items():
        sd[:, places] = sd[:, places].max(axis=1, keepdims=True)
        for at, segment in enumerate(report.segments):
            said = next((one for one in segment.columns if one.column == name), None)
            if not isinstance(said, CategoriesSaid) or not said.shares:
                continue
            value, *ends = np.array([(one.share.value, one.share.low, one.share.high) for one in said.shares]).T
            counted_sd = np.abs(ends - value).max() / NINE_IN_TEN
            if not sd[at, places[0]] <= counted_sd:
                # Of two values that are all there is, the second one has the coordinate.
                values[at, places], sd[at, places], step[at, places] = value[-len(places) :], counted_sd, 0.0
    return replace(made, centers=values, center_sd=sd, step=step)


def repeat_shares(report: SegmentsReport, made: profiles.Profile) -> SegmentsReport:
    """The report with the shares of clustered columns that its profile has."""
    return replace(report, segments=tuple(_repeat_shares(one, made) for one in report.segments))


def _repeat_shares(segment: Segment, made: profiles.Profile) -> Segment:
    columns = []
    for said in segment.columns:
        if isinstance(said, CategoriesSaid) and said.column in made.shared and not made.lost[segment.number - 1]:
            shares, reach, _ = made.read_shares(segment.number - 1, said.column)
            told = (Interval(one, max(one - reach, 0.0), min(one + reach, 1.0)) for one in shares.values())
            if isfinite(reach):
                said = replace(said, shares=tuple(map(CategoryShare, shares, told)))
        columns.append(said)
    told_of = any(isinstance(one, CategoriesSaid) and one.shares for one in columns)
    return replace(segment, columns=tuple(columns), words="" if told_of else segment.words)


_HEADER = ("segment", "column", "statistic", "value", "low", "high", "noise_sd", "unit", "words")


def format_segments(report: SegmentsReport | None, missing: Sequence[MissingShare] = ()) -> str:
    """The report as a tidy table: a line for each number that is said, with its interval.

    Columns ``segment``, ``column``, ``statistic``, ``value``, ``low``, ``high``, ``noise_sd``, ``unit``, ``words``;
    lines about the whole table (the quality report, shares of missing cells) have no segment. Numbers stand in columns
    of numbers alone, and words in ``words``: there a segment is said to be too small, and a quantile to be known by its
    range only, which has no value.
    """
    lines: list[tuple[object, ...]] = [_HEADER]
    for share in missing:
        numbers = _list_numbers(Interval(share.share, share.low, share.high))
        lines.append(("", share.column, "share of missing cells", *numbers, "", "", ""))
    if report is None:
        return format_csv(lines)
    for segment in report.segments:
        size = (*_list_numbers(segment.size), f"{segment.size_sd:.6g}")
        lines.append((segment.number, "", "size", *size, "rows", segment.words))
        for place, column in enumerate(segment.telling, start=1):
            lines.append((segment.number, column, "place among the columns that tell it apart", place, *[""] * 5))
        for said in segment.columns:
            for statistic, value, unit, words in list_statistics(said):
                cells = ("", "", "") if value is None else _list_numbers(value)
                lines.append((segment.number, said.column, statistic, *cells, "", unit, words))
    quality_report = report.quality_report
    for statistic, value, unit in (
        ("mean capped squared distance, released centres", quality_report.released, "unit coordinates squared"),
        ("mean capped squared distance, one centre", quality_report.one_center, "unit coordinates squared"),
        ("mean capped squared distance, centres without data", quality_report.blind, "unit coordinates squared"),
        ("ratio of mean capped squared distances, released centres over one", quality_report.ratio, ""),
        ("ratio of mean capped squared distances, centres without data over one", quality_report.ratio_blind, ""),
        ("half of the rows lie within", quality_report.distances[0], "unit coordinates"),
        ("nine tenths of the rows lie within", quality_report.distances[1], "unit coordinates"),
    ):
        lines.append(("", "", statistic, *_list_numbers(value), "", unit, ""))
    lines.append(("", "", "verdict", "", "", "", "", "", quality_report.verdict.value))
    return format_csv(lines)


_QUANTILES = ("lower quartile", "median", "upper quartile")


def list_statistics(said: NumbersSaid | CategoriesSaid) -> Iterator[tuple[str, Interval | None, str, str]]:
    """What is said of a column: its name, the interval, the unit, and words beside it."""
    if isinstance(said, CategoriesSaid):
        if not said.shares:
            yield "shares", None, "", TOO_SMALL
        yield from ((f"share of {one.label}", one.share, "", _describe_interval(one.share)) for one in said.shares)
        return
    for name, end in zip(_QUANTILES, (said.lower_quartile, said.median, said.upper_quartile), strict=True):
        yield name, end, said.unit, _describe_interval(end, said.first_day)
    if said.histogram.missing is not None:
        yield "share of missing cells", said.missing, "", _describe_interval(said.missing)


def _describe_interval(interval: Interval | None, first_day: str = "") -> str:
    """What a line says in words: that a segment is too small, that a range is all that is known, or which dates days
    are, counted from ``first_day``."""
    if interval is None:
        return TOO_SMALL
    value, dates = None if interval.range_only else interval.value, ""
    if first_day and isfinite(interval.low) and isfinite(interval.high):
        dates = format_between(interval.low, interval.high, value, first_day=first_day)
    return ": ".join(filter(None, (RANGE if interval.range_only else "", dates)))


def _list_numbers(interval: Interval) -> tuple[str, str, str]:
    """The value and its interval as they are written; "" for what is no number, and for a value known by its range."""
    value, low, high = map(format_finite, (interval.value, interval.low, interval.high))
    return "" if interval.range_only else value, low, high


# What is asked of distances and losses, and where a loss is called poor.
# Chosen by hand; ``benchmarks/quality_report.py`` says how many runs are flagged rightly.


def format_quantile(interval: Interval, said: NumbersSaid) -> str:
    """A quantile between ends of bins; the ends alone where these are all that was learned."""
    value = None if interval.range_only else interval.value
    return format_between(interval.low, interval.high, value, edges=said.histogram.edges, first_day=said.first_day)


def split_median(said: NumbersSaid) -> tuple[str, str]:
    """The median, "" where its range is all that was learned, and behind it the interval; of a column that has one."""
    assert said.median is not None
    value, _, ends = format_quantile(said.median, said).rpartition(" (")
    return value, f"({ends}" if value else ends


def format_share(share: Interval) -> str:
    """A share with its interval."""
    return format_between(100 * share.low, 100 * share.high, 100 * share.value, unit="%")


def list_half(said: NumbersSaid) -> Iterator[str]:
    """The lower and the upper quartile, each with its interval; none where one is known by its range only."""
    low, high = said.lower_quartile, said.upper_quartile
    if low is not None and high is not None and not (low.range_only or high.range_only):
        yield f"from {format_quantile(low, said)}"
        yield f"to {format_quantile(high, said)}"


def count_intervals(report: SegmentsReport | None) -> int:
    """How many intervals stand in the table of segments."""
    segments = () if report is None else report.segments
    every = [said for segment in segments for said in segment.columns]
    return len(segments) + sum(
        len(one.shares) if isinstance(one, CategoriesSaid) else 3 * (one.median is not None) for one in every
    )


def describe_quality(report: QualityReport) -> Iterator[str]:
    """The quality report in sentences; where it cannot tell, ratios of noise would say nothing either."""
    yield from report.words
    if report.verdict is not QualityVerdict.CANNOT_TELL:
        for key, one in (("beside_one", report.ratio), ("beside_blind", report.ratio_blind)):
            value, low, high = (format_ratio(max(end, 0.0)) for end in (one.value, one.low, one.high))
            yield SENTENCES.fill(key, times=f"{value} ({low} to {high})")
