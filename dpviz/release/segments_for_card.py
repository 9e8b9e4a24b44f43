"""A report on segments in the plain form that cards and pages read (see ``segment_words``)."""

from __future__ import annotations

from typing import Any

from dpviz.release.intervals import Interval
from dpviz.release.segments_report import CategoriesSaid, Certificate, NumbersSaid, Segment, SegmentsReport


def segments_for_card(report: SegmentsReport) -> dict[str, Any]:
    """The segments, each with its size and its columns, those that tell it apart marked."""
    return {"level": report.covered, "segments": [_segment(one) for one in report.segments]}


def certificate_for_card(certificate: Certificate) -> dict[str, Any]:
    """The certificate in words and numbers."""
    return {
        "words": " ".join(certificate.words),
        "loss": _interval(certificate.released),
        "one_center": _interval(certificate.one_center),
        "data_independent": _interval(certificate.blind),
        "ratio": _interval(certificate.ratio),
        "verdict": certificate.verdict.value,
        "unit": "unit coordinates squared",
    }


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


def _interval(interval: Interval) -> dict[str, float]:
    return {"value": interval.value, "low": interval.low, "high": interval.high}
