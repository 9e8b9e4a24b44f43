"""The k-means++ reference on a page, and what centres find of its clusters.

At once where it is quick, else from a worker while the page is already there.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, cast

import streamlit as st

from dpviz.arrays import Array
from dpviz.runs.evaluation import Reference, reference_for
from dpviz.runs.found import Found, found_in
from dpviz.runs.jobs import Job, JobState, ShelfFull
from dpviz.runs.open_table import OpenTable
from dpviz.runs.record import LookKind
from dpviz.runs.work import expected_reference_seconds, reference_work
from dpviz.ui.job_panel import job_shelf
from dpviz.ui.looks import judged, reveal_allowed
from dpviz.ui.session import once

_JOBS, _REFERENCES, _FOUND = "reference:jobs", "reference:computed", "reference:found"
_MOST_REFERENCES, _MOST_FOUND = 24, 200
_SECONDS_INLINE, _POLL_SECONDS = 0.25, 1.0
_NOTE = "k-means++ reference"

# A table, k, and the points that a row stands for.
_Key = tuple[str, int, int]


def reference_or_none(table: OpenTable, k: int, *, points_per_row: int = 1) -> Reference | None:
    """The reference if the owner allows it and it is there; where it takes long, a worker starts on it."""
    key = (table.key, k, points_per_row)
    known = _known(table, key)
    rows = judged(table, _NOTE, LookKind.REFERENCE, points_per_row=points_per_row) if known is None else None
    if rows is None:
        return known
    if expected_reference_seconds(len(rows.points), k, rows.points.shape[1]) <= _SECONDS_INLINE:
        return once(_REFERENCES, key, lambda: reference_for(rows, k), most=_MOST_REFERENCES)
    job = _job(key)
    if job is None:
        with suppress(ShelfFull):
            _jobs()[key] = job_shelf().submit(reference_work, rows, k)
        return None
    computed = next((item for item in job.items if isinstance(item, Reference)), None)
    return None if computed is None else once(_REFERENCES, key, lambda: computed, most=_MOST_REFERENCES)


def found_or_none(table: OpenTable, centers: Array, reference: Reference, *, points_per_row: int = 1) -> Found | None:
    """How many clusters of the reference ``centers`` find, if the owner allows looks; kept for the next rerun."""
    rows = judged(table, _NOTE, LookKind.REFERENCE, points_per_row=points_per_row)
    if rows is None:
        return None
    key = (table.key, points_per_row, reference.centers.tobytes(), centers.tobytes())
    return once(_FOUND, key, lambda: found_in(rows.points, centers, reference), most=_MOST_FOUND)


def reference_notice(table: OpenTable, k: int, *, points_per_row: int = 1) -> None:
    """A line while the reference is being computed; the page runs once more when it has come."""
    key = (table.key, k, points_per_row)
    job = _job(key)
    if job is None or _known(table, key) is not None:
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


def _known(table: OpenTable, key: _Key) -> Reference | None:
    """The reference if it was computed already and the owner still allows looks."""
    references = cast("dict[_Key, Reference]", st.session_state.get(_REFERENCES, {}))
    return references.get(key) if reveal_allowed(table) else None


def _job(key: _Key) -> Job[Any] | None:
    job_id = _jobs().get(key)
    return job_shelf().get(job_id) if job_id is not None else None


def _jobs() -> dict[_Key, str]:
    return cast("dict[_Key, str]", st.session_state.setdefault(_JOBS, {}))
