"""The k-means++ reference on a page: at once where it is quick, else from a worker while the page is already there."""

from __future__ import annotations

from typing import Any, cast

import streamlit as st

from dpviz.runs.evaluation import Reference
from dpviz.runs.jobs import Job, JobState, ShelfFull
from dpviz.runs.record import LookKind
from dpviz.runs.work import expected_reference_seconds, reference_work
from dpviz.ui.declaration import OpenTable
from dpviz.ui.job_panel import job_shelf
from dpviz.ui.looks import keep_reference, known_reference, reference, reveal

_JOBS = "reference:jobs"
_SECONDS_INLINE, _POLL_SECONDS = 0.25, 1.0

# A table, k, and the points that a row stands for.
_Key = tuple[str, int, int]


def reference_or_none(table: OpenTable, k: int, *, points_per_row: int = 1) -> Reference | None:
    """The reference if the owner allows it and it is there; where it takes long, a worker starts on it."""
    known = known_reference(table, k, points_per_row=points_per_row)
    if known is not None:
        return known
    revealed = reveal(table, "k-means++ reference", LookKind.REFERENCE)
    if revealed is None:
        return None
    points = revealed.unfolded(points_per_row)
    if expected_reference_seconds(len(points.points), k, points.points.shape[1]) <= _SECONDS_INLINE:
        return reference(table, k, points_per_row=points_per_row)
    key = (table.key, k, points_per_row)
    job = _job(key)
    if job is None:
        try:
            _jobs()[key] = job_shelf().submit(reference_work, points, k)
        except ShelfFull:
            return None
        return None
    found = [item for item in job.items if isinstance(item, Reference)]
    if not found:
        return None
    keep_reference(table, k, found[0], points_per_row=points_per_row)
    return found[0]


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
    job_id = _jobs().get(key)
    return job_shelf().get(job_id) if job_id is not None else None


def _jobs() -> dict[_Key, str]:
    return cast("dict[_Key, str]", st.session_state.setdefault(_JOBS, {}))
