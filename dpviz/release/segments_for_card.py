"""A report on segments in the plain form that cards and pages read (see ``segment_words``)."""

from __future__ import annotations

from math import sqrt
from typing import Any

from dpviz.charts.wording import ratio
from dpviz.release.intervals import Interval
from dpviz.release.segments_report import CategoriesSaid, Certificate, NumbersSaid, Segment, SegmentsReport, Verdict


def segments_for_card(report: SegmentsReport) -> dict[str, Any]:
    """The segments, each with its size and its columns, those that tell it apart marked."""
    told = [_segment(one) for one in report.segments]
    return {"level": report.covered, "least_size": least_size(report), "segments": told}


def least_size(report: SegmentsReport) -> float:
    """The fewest rows, by its noisy size, of a segment that is described: below, noise drowns it."""
    noise = [column.histogram for segment in report.segments[:1] for column in segment.columns]
    worst = max((one.sd * sqrt(len(one.counts) + (one.missing is not None)) for one in noise), default=0.0)
    return max(2 * worst, max((one.size_sd for one in report.segments), default=0.0))


def certificate_for_card(certificate: Certificate) -> dict[str, Any]:
    """The certificate in words; where it cannot tell, ratios of noise would say nothing either."""
    words = list(certificate.words)
    if certificate.verdict is not Verdict.CANNOT_TELL:
        words += [
            f"Squared, rows lie {_times(certificate.ratio)} as far from their centre as from a single one.",
            "From centres that were placed without looking at any row they lie "
            f"{_times(certificate.ratio_blind)} as far as from a single one.",
        ]
    return {"words": words, "verdict": certificate.verdict.value}


def _times(interval: Interval) -> str:
    """A ratio with its interval."""
    value, low, high = (ratio(max(end, 0.0)) for end in (interval.value, interval.low, interval.high))
    return f"{value} ({low} to {high})"


def _segment(segment: Segment) -> dict[str, Any]:
    columns = [_column(one, tells_apart=one.column in segment.telling) for one in segment.columns]
    return {
        "number": segment.number,
        "name": segment.words,
        "size": segment.size.value,
        "low": segment.size.low,
        "high": segment.size.high,
        "columns": columns,
    }


def _column(said: NumbersSaid | CategoriesSaid, *, tells_apart: bool) -> dict[str, Any]:
    if isinstance(said, CategoriesSaid):
        numbers: dict[str, Any] = {
            "shares": [{"category": one.label, **_interval(one.share)} for one in said.shares],
        }
    elif said.median is None or said.lower_quartile is None or said.upper_quartile is None:
        numbers = {}
    else:
        quartiles = [_interval(said.lower_quartile), _interval(said.upper_quartile)]
        numbers = {"median": _interval(said.median), "quartiles": quartiles}
    return {"name": said.column, "unit": said.unit, "tells_apart": tells_apart, **numbers}


def _interval(interval: Interval) -> dict[str, float | bool]:
    return {"value": interval.value, "low": interval.low, "high": interval.high, "range_only": interval.range_only}
