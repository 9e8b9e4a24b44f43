"""The k-means++ reference on a page, and what centres find of its clusters.

At once where it is quick, else from a worker while the page is already there.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, cast

import streamlit as st

from dpviz.arrays import Array
from dpviz.runs.evaluation import Reference
from dpviz.runs.found import Found, found_in
from dpviz.runs.jobs import Job, JobState
from dpviz.runs.open_table import OpenTable
from dpviz.runs.record import LookKind
from dpviz.runs.shelf import ShelfFull
from dpviz.runs.work import expected_reference_seconds, reference_work
from dpviz.ui.job_panel import job_shelf
from dpviz.ui.looks import judged, keep_reference, known_reference, reference

_JOBS, _FOUND, _KEPT_FOUND = "reference:jobs", "reference:found", 200
_SECONDS_INLINE, _POLL_SECONDS = 0.25, 1.0

# A table, k, and the points that a row stands for.
_Key = tuple[str, int, int]


def reference_or_none(table: OpenTable, k: int, *, points_per_row: int = 1) -> Reference | None:
    """The reference if the owner allows it and it is there; where it takes long, a worker starts on it."""
    known = known_reference(table, k, points_per_row=points_per_row)
    if known is not None:
        return known
    rows = judged(table, "k-means++ reference", LookKind.REFERENCE, points_per_row=points_per_row)
    if rows is None:
        return None
    if expected_reference_seconds(len(rows.points), k, rows.points.shape[1]) <= _SECONDS_INLINE:
        return reference(table, k, points_per_row=points_per_row)
    key = (table.key, k, points_per_row)
    job = _job(key)
    if job is None:
        try:
            _jobs()[key] = job_shelf().submit(reference_work, rows, k)
        except ShelfFull:
            return None
        return None
    found = [item for item in job.items if isinstance(item, Reference)]
    if not found:
        return None
    keep_reference(table, k, found[0], points_per_row=points_per_row)
    return found[0]


def found_or_none(table: OpenTable, centers: Array, reference: Reference, *, points_per_row: int = 1) -> Found | None:
    """How many clusters of the reference ``centers`` find, if the owner allows looks; kept for the next rerun."""
    rows = judged(table, "k-means++ reference", LookKind.REFERENCE, points_per_row=points_per_row)
    if rows is None:
        return None
    kept = cast("OrderedDict[Any, Found]", st.session_state.setdefault(_FOUND, OrderedDict()))
    key = (table.key, points_per_row, reference.centers.tobytes(), centers.tobytes())
    if key not in kept:
        kept[key] = found_in(rows.points, centers, reference)
    while len(kept) > _KEPT_FOUND:
        kept.popitem(last=False)
    return kept[key]


def reference_notice(table: OpenTable, k: int, *, points_per_row: int = 1) -> None:
    """A line while the reference is being computed; the page runs once more when it has come."""
    job = _job((table.key, k, points_per_row))
    if job is None or known_reference(table, k, points_per_row=points_per_row) is not None:
        return
    if job.state in (JobState.FAILED, JobState.CANCELLED):
        st.caption(":orange-badge[:material/visibility: revealed] The k-means++ reference could not be computed.")
        return

    @st.fragment(run_every=_POLL_SECONDS, key="reference:poll")
    def wait() -> None:
        if job.state.final:
            st.rerun()
        st.caption(f":material/hourglass_empty: k-means++ with k = {k} is being computed for comparison …")

    wait()


def _job(key: _Key) -> Job[Any] | None:
    return _jobs().get(key)


def _jobs() -> dict[_Key, Job[Any]]:
    return cast("dict[_Key, Job[Any]]", st.session_state.setdefault(_JOBS, {}))
