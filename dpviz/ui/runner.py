"""From a press on Run to a result that stays: small runs at once, long ones in a worker, none repeated by a rerun."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import streamlit as st

from dpviz.runs.jobs import Job
from dpviz.runs.open_table import OpenTable
from dpviz.runs.request import Request
from dpviz.runs.run import Run, run_of
from dpviz.runs.work import expected_seconds, run_work
from dpviz.ui.job_panel import job_panel, job_shelf
from dpviz.ui.session import book

_RESULT, _PENDING = "run:result", "run:pending"
_SECONDS_INLINE = 0.5


@dataclass(frozen=True, eq=False)
class Result:
    """A finished run and what was asked for; kept until another run takes its place."""

    request: Request
    table_key: str
    run: Run
    place: int
    """Where it stands in the books of this visit."""

    @property
    def number(self) -> int:
        """Counts the results of this visit, so that each has widgets of its own."""
        return self.place + 1


@dataclass(frozen=True, eq=False)
class _Pending:
    """A run that is under way."""

    request: Request
    table: OpenTable
    job: Job[Any]


def start(table: OpenTable, request: Request) -> None:
    """Run what is asked: at once if it takes a moment, else as a job that can be cancelled.

    Raises
    ------
    RequestError
        If the request is outside what is allowed, or too many jobs wait already.
    """
    cancel_pending()
    # The true number of rows only decides where the run takes place, on its owner's machine.
    setting = replace(request.setting(table.private), n=table.loaded.n_rows)
    card = request.card
    if expected_seconds(card, setting, request.contender.settings) <= _SECONDS_INLINE:
        with st.spinner(f"{card.title} runs"):
            _finish(table, request, run_of(request, table.private))
        return
    st.session_state[_PENDING] = _Pending(request, table, job_shelf().submit(run_work, request, table.private))


def claim_finished() -> None:
    """Keep and book a run that has ended in its worker, whatever page is open."""
    pending = _pending()
    for finished in (item for item in (pending.job.items if pending else ()) if isinstance(item, Run)):
        assert pending is not None
        del st.session_state[_PENDING]
        _finish(pending.table, pending.request, finished)


def pending_panel(table: OpenTable) -> bool:
    """Show the job of a run that is under way or went wrong; whether one for ``table`` is under way."""
    claim_finished()
    pending = _pending()
    if pending is None or pending.table.key != table.key:
        return False
    card = pending.request.card
    job_panel(pending.job, label=f"{card.title}, k = {pending.request.k}", key="run")
    return not pending.job.state.final


def result_for(table: OpenTable) -> Result | None:
    """The last result, if it is about ``table``."""
    result = cast("Result | None", st.session_state.get(_RESULT))
    return result if result is not None and result.table_key == table.key else None


def cancel_pending() -> None:
    """Forget a run that is under way: another one takes its place."""
    pending = _pending()
    if pending is not None:
        pending.job.cancel()
        del st.session_state[_PENDING]


def _pending() -> _Pending | None:
    return cast("_Pending | None", st.session_state.get(_PENDING))


def _finish(table: OpenTable, request: Request, finished: Run) -> None:
    st.session_state[_RESULT] = Result(request, table.key, finished, book(finished, table))
