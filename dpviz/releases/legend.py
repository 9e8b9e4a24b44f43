"""What the arrays of a transcript are: the question that each answers, its axes and its unit, for whoever has no code.

All of it follows from the ledgers and from what was declared; ``verify`` makes it again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dpviz.core import SparseCounts
from dpviz.releases.release_parts import Parts
from dpviz.releases.release_request import OF_SEGMENTS
from dpviz.releases.segments_report import SegmentsReport
from dpviz.releases.transcript import AnswerRecording, Transcript

# Of each question: the axes of its answer, and the unit of its numbers.
_AXES: dict[str, tuple[tuple[str, ...], str]] = {
    "Count": (("cell",), "rows"),
    "SparseCount": (("cell",), "rows"),
    "Sum": (("cell", "column"), "unit coordinates, added up"),
    "ResidualSum": (("cell", "column"), "unit coordinates, added up"),
    "Radii": (("bin of distance",), "rows"),
    "SegmentHistogram": (("segment", "bin"), "rows"),
    "DistanceScales": (("segment", "half octave of squared distance"), "rows"),
    "CappedLosses": (("set of centres",), "unit coordinates squared, added up"),
    "SwapLoss": (("swap",), "unit coordinates squared, added up"),
    "Loss": (("set of centres",), "unit coordinates squared, added up"),
}


def make_legend(transcript: Transcript, parts: Parts) -> str:
    """The legend as JSON: an object for every answer, by the name of its arrays in the file.

    Each says ``part``, ``question``, ``for`` (what it was asked for), ``mechanism``, ``noise_scale`` in the mechanism's
    own norm, ``axes``, ``shape`` and ``unit``; a histogram of segments also says its ``column`` and the ``edges`` or
    ``labels`` of its bins.

    Parameters
    ----------
    transcript : Transcript
        Every released answer.
    parts : Parts
        What they come to.

    Returns
    -------
    str
        JSON.
    """
    report = None if parts.told is None else parts.told.report
    told = {
        name: one
        for part, recording in transcript.recordings.items()
        for name, one in _describe_part(
            part, recording, parts.entries.get(part, ()), report if part == OF_SEGMENTS else None
        )
    }
    return json.dumps(told, ensure_ascii=False, allow_nan=False)


def _describe_part(
    part: str, recording: AnswerRecording, entries: Sequence[Any], report: SegmentsReport | None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Questions stand in the ledger in the order of their answers."""
    columns = iter(report.segments[0].columns if report is not None and report.segments else ())
    for place, answer in enumerate(recording.answers):
        about: dict[str, Any] = {"part": part}
        if place < len(entries):
            entry = entries[place]
            axes, unit = _AXES.get(entry.query, ((), ""))
            about |= {"question": entry.query, "for": entry.note, "mechanism": entry.mechanism}
            about |= {"noise_scale": float(entry.scale), "axes": list(axes), "unit": unit}
            if entry.query == "SegmentHistogram" and (said := next(columns, None)) is not None:
                bins = said.histogram
                about |= {"column": said.column, "labels": list(bins.labels), "edges": list(bins.edges)}
        about["shape"] = _list_lengths(answer)
        yield f"{part}/{place:04d}", about


def _list_lengths(answer: Any) -> list[int]:
    if isinstance(answer, SparseCounts):
        return [len(answer.codes)]
    return [] if isinstance(answer, int) else list(np.shape(answer))
