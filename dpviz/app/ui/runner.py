"""From what is asked to a result that stays, none repeated by a rerun; and k-means++ on the same rows beside it.

What is quick is computed at once, what is long in a worker while the page is already there.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import streamlit as st

from dpviz.app.ui.data_access import make_judged_table
from dpviz.app.ui.figure import draw_caption_with_badge
from dpviz.app.ui.job_panel import draw_job_panel, open_job_registry, poll
from dpviz.app.ui.server_log import log_defect
from dpviz.app.ui.session import book, make_once
from dpviz.core import ACCESS_LOG, AccessKind, Array, RequestError
from dpviz.runs import (
    ClippedRows,
    Job,
    JobState,
    OpenTable,
    Request,
    Run,
    RunSoFar,
    evaluation,
    find_sample_reference,
    forecast_reference_seconds,
    forecast_seconds,
    reference_work,
    run_request,
    run_work,
)

_RESULT, _PENDING, _FAILED = "run:result", "run:pending", "run:failed"
_NOWHERE = -1
"""The place of a run that stands in no books."""
_SECONDS_INLINE = 1.0
_MOST_EARLIER = 5


@dataclass(frozen=True, eq=False)
class Result:
    """A finished run and what was asked for; kept until another run takes its place."""

    request: Request
    table_key: str
    run: Run
    place: int
    """Where it stands in the books of this visit."""
    number: int
    """Counts the results of this visit."""
    live: bool = False
    """Whether a moved control asked for it, not a button."""
    earlier: tuple[Array, ...] = ()
    """Centres (k, d), unit coordinates, of the last draws of the same request, latest first."""


@dataclass(eq=False)
class _Pending:
    """A run that is under way."""

    request: Request
    table: OpenTable
    live: bool
    job: Job[Any]
    booked: bool = True
    is_booked: bool = False
    """Whether what its steps spent is in the books of this visit, because it was broken off."""

    @property
    def so_far(self) -> RunSoFar | None:
        """The steps that have arrived, as one run; None before the first."""
        steps = [item for item in self.job.items if not isinstance(item, Run)]
        return replace(steps[-1], frames=tuple(step.frames[0] for step in steps)) if steps else None


def start(table: OpenTable, request: Request, *, live: bool = False, booked: bool = True) -> None:
    """Run what is asked: at once if it takes a moment, else as a job that can be cancelled.

    What is not ``booked`` stands in no ledger: a run on a stand-in, in which nobody is.

    What fails in the middle is remembered (``find_failure``); the last result stays.
    """
    pending = _find_pending()
    if pending is not None:
        pending.job.cancel()
        _book_part(pending)
        del st.session_state[_PENDING]
    st.session_state.pop(_FAILED, None)
    request.check(table.private)
    if request.card.private and booked:  # counted before it draws: a run that breaks off may have shown its steps
        ACCESS_LOG.add_run(table.source_key, request.epsilon)
    # The true number of rows only decides where the run takes place, on its owner's machine.
    setting = replace(request.make_setting(table.private), n=table.loaded.n_rows)
    if forecast_seconds(request.card, setting, request.contender.settings) > _SECONDS_INLINE:
        job = open_job_registry().submit(run_work, request, table.private)
        st.session_state[_PENDING] = _Pending(request, table, live, job, booked=booked)
        return
    try:
        finished = run_request(request, table.private)
    except RequestError:
        raise
    except Exception as error:  # its message is not kept: it could quote the rows
        log_defect(error)
        st.session_state[_FAILED] = (table.key, request, type(error).__name__)
        return
    _finish(table, request, finished, live=live, booked=booked)


def is_asked(table: OpenTable, request: Request) -> bool:
    """Whether this very request is done, under way, or has failed."""
    pending, result = _find_pending(table), find_result(table)
    if pending is not None:
        return pending.request == request
    return bool(find_failure(table, request)) or (result is not None and result.request == request)


def find_failure(table: OpenTable, request: Request) -> str:
    """The kind of the error with which a request failed in the middle."""
    failed = st.session_state.get(_FAILED)
    return str(failed[2]) if failed is not None and failed[:2] == (table.key, request) else ""


def claim_finished() -> None:
    """Keep and book a run that has ended in its worker, whatever page is open."""
    pending = _find_pending()
    if pending is None:
        return
    for finished in (item for item in pending.job.items if isinstance(item, Run)):
        del st.session_state[_PENDING]
        _finish(pending.table, pending.request, finished, live=pending.live, booked=pending.booked)
        return
    if pending.job.state.final:
        _book_part(pending)


def draw_pending_panel(table: OpenTable) -> RunSoFar | None:
    """Show the job of a run on ``table`` that is under way or went wrong.

    Returns the steps that have arrived of it, if there are any; the page runs once more when the first ones have.
    """
    claim_finished()
    pending = _find_pending(table)
    if pending is None:
        return None
    job, so_far = pending.job, pending.so_far

    def look_for_steps() -> None:
        if pending.so_far is not None:
            st.rerun()

    title = f"{pending.request.card.title}, k = {pending.request.k}"
    draw_job_panel(job, label=title, key="run", live=None if so_far else look_for_steps)
    return so_far if so_far is not None and (so_far.entries or not job.state.final) else None


def read_steps() -> RunSoFar | None:
    """The steps that have arrived of a run under way by now, for a piece of a page that runs again by itself."""
    pending = _find_pending()
    return None if pending is None else pending.so_far


def is_under_way(table: OpenTable) -> bool:
    """Whether a run on ``table`` is being computed."""
    pending = _find_pending(table)
    return pending is not None and not pending.job.state.final


def is_pending(table: OpenTable) -> bool:
    """Whether a run on ``table`` is under way, or broke off and shows what had arrived."""
    return _find_pending(table) is not None


def find_result(table: OpenTable) -> Result | None:
    """The last result, if it is about ``table``."""
    result = cast("Result | None", st.session_state.get(_RESULT))
    return result if result is not None and result.table_key == table.key else None


def _find_pending(table: OpenTable | None = None) -> _Pending | None:
    """The run that is under way, or broke off; of a ``table``, only a run on that."""
    pending = cast("_Pending | None", st.session_state.get(_PENDING))
    return pending if pending is None or table is None or pending.table.key == table.key else None


def _book_part(pending: _Pending) -> None:
    """A run that was broken off has spent what its steps spent: they may have been seen."""
    so_far, unseen = pending.so_far, pending.live or pending.is_booked or not pending.booked
    if so_far is not None and so_far.entries and so_far.private and not unseen:
        pending.is_booked = True
        book(so_far, pending.table)


def _finish(table: OpenTable, request: Request, finished: Run, *, live: bool, booked: bool) -> None:
    before = find_result(table)
    again = before is not None and before.request == request
    earlier = (before.run.unit_centers, *before.earlier)[:_MOST_EARLIER] if before is not None and again else ()
    replaced = before.place if before is not None and before.live and live and not again else None
    place = book(finished, table, instead_of=replaced) if booked else _NOWHERE
    last = cast("Result | None", st.session_state.get(_RESULT))
    number = 1 if last is None else last.number + 1
    st.session_state[_RESULT] = Result(request, table.key, finished, place, number, live, earlier)


_REFERENCES, _KEPT_REFERENCES = "reference:computed", 24
_FOUND, _KEPT_FOUND = "reference:found", 200
_REFERENCE_SECONDS, _POLL_SECONDS = 0.25, 1.0

# A table, k, and the points that a row stands for.
_Key = tuple[str, int, int]


def fetch_reference(table: OpenTable, k: int, *, points_per_row: int = 1) -> evaluation.Reference | None:
    """k-means++ on the rows; where it takes long, a worker starts on it."""
    rows, key = _reveal_rows(table, points_per_row), (table.key, k, points_per_row)
    if rows is None:
        return None
    quick = forecast_reference_seconds(len(rows.points), k, rows.points.shape[1]) <= _REFERENCE_SECONDS
    if quick or _is_known(key):
        known = find_sample_reference(table, k) if points_per_row == 1 else None
        made = partial(evaluation.find_reference, rows, k, known=known)
        return make_once(_REFERENCES, key, made, most=_KEPT_REFERENCES)
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
    """How many clusters of the reference centres (k, d), unit coordinates, find; kept for the next rerun."""
    rows = _reveal_rows(table, points_per_row)
    if rows is None:
        return None
    given = (table.key, points_per_row, reference.centers.tobytes(), centers.tobytes())
    measure = partial(evaluation.measure_recovery, rows.points, centers, reference)
    return make_once(_FOUND, given, measure, most=_KEPT_FOUND)


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
    return cast("dict[_Key, Job[Any]]", st.session_state.setdefault("reference:jobs", {}))
