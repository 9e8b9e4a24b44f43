"""The k-means++ reference on a page, and what centres find of its clusters.

At once where it is quick, else from a worker while the page is already there.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, cast

import streamlit as st

from dpviz.app.ui.data_access import make_judged_table
from dpviz.app.ui.figure import draw_caption_with_badge
from dpviz.app.ui.job_panel import open_job_registry, poll
from dpviz.app.ui.session import make_once
from dpviz.core import AccessKind, Array, RequestError
from dpviz.runs import (
    ClippedRows,
    Job,
    JobState,
    OpenTable,
    evaluation,
    forecast_reference_seconds,
    reference_work,
)

_REFERENCES, _KEPT_REFERENCES = "reference:computed", 24
_FOUND, _KEPT_FOUND = "reference:found", 200
_JOBS = "reference:jobs"
_SECONDS_INLINE, _POLL_SECONDS = 0.25, 1.0

# A table, k, and the points that a row stands for.
_Key = tuple[str, int, int]


def fetch_reference(table: OpenTable, k: int, *, points_per_row: int = 1) -> evaluation.Reference | None:
    """k-means++ on the rows; where it takes long, a worker starts on it."""
    rows, key = _reveal_rows(table, points_per_row), (table.key, k, points_per_row)
    if rows is None:
        return None
    quick = forecast_reference_seconds(len(rows.points), k, rows.points.shape[1]) <= _SECONDS_INLINE
    if quick or _is_known(key):
        return make_once(_REFERENCES, key, lambda: evaluation.find_reference(rows, k), most=_KEPT_REFERENCES)
    if key not in _list_jobs():
        # Where too many jobs wait already, the next rerun asks again.
        with suppress(RequestError):
            _list_jobs()[key] = open_job_registry().submit(reference_work, rows, k)
        return None
    computed = [item for item in _list_jobs()[key].items if isinstance(item, evaluation.Reference)]
    return make_once(_REFERENCES, key, lambda: computed[0], most=_KEPT_REFERENCES) if computed else None


def find_recovery(
    table: OpenTable, centers: Array, reference: evaluation.Reference, *, points_per_row: int = 1
) -> evaluation.ClusterRecovery | None:
    """How many clusters of the reference some centres find; kept for the next rerun.

    ``centers`` (k, d), unit coordinates.
    """
    rows = _reveal_rows(table, points_per_row)
    if rows is None:
        return None
    given = (table.key, points_per_row, reference.centers.tobytes(), centers.tobytes())
    return make_once(
        _FOUND, given, lambda: evaluation.measure_recovery(rows.points, centers, reference), most=_KEPT_FOUND
    )


def await_recovery(
    table: OpenTable, reference: evaluation.Reference, *, points_per_row: int = 1
) -> Callable[[Array], evaluation.ClusterRecovery] | None:
    """`find_recovery` for a file that is made when the page has long been drawn: it asks no session.

    Returns of centres (k, d), unit coordinates; None unless the owner allows looks.
    """
    rows = _reveal_rows(table, points_per_row)
    if rows is None:
        return None
    points = rows.points
    return lambda centers: evaluation.measure_recovery(points, centers, reference)


def draw_reference_notice(table: OpenTable, k: int, *, points_per_row: int = 1) -> None:
    """A line while the reference is being computed; the page runs once more when it has come."""
    key = (table.key, k, points_per_row)
    job = _list_jobs().get(key)
    if job is None or _is_known(key):
        return
    if job.state in (JobState.FAILED, JobState.CANCELLED):
        draw_caption_with_badge("revealed", "The k-means++ reference could not be computed.")
        return

    def wait() -> None:
        if job.state.final:
            st.rerun()
        st.caption(f":material/hourglass_empty: k-means++ with k = {k} is being computed for comparison …")

    poll(wait, every=_POLL_SECONDS, key="reference:poll")


def _reveal_rows(table: OpenTable, points_per_row: int) -> ClippedRows | None:
    """What the reference is computed on, if the owner allows it."""
    return make_judged_table(table, "k-means++ reference", AccessKind.REFERENCE, points_per_row=points_per_row)


def _is_known(key: _Key) -> bool:
    return key in st.session_state.get(_REFERENCES, ())


def _list_jobs() -> dict[_Key, Job[Any]]:
    return cast("dict[_Key, Job[Any]]", st.session_state.setdefault(_JOBS, {}))
