"""From a press on Run to a result that stays: small runs at once, long ones in a worker, none repeated by a rerun."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, cast

import streamlit as st

from dpviz.algorithms.card import Card
from dpviz.algorithms.registry import card_of
from dpviz.check import RequestError
from dpviz.runs.jobs import Job
from dpviz.runs.open_table import OpenTable
from dpviz.runs.run import Run, run_of
from dpviz.runs.shelf import ShelfFull
from dpviz.runs.work import expected_seconds, run_work
from dpviz.ui.controls import Request
from dpviz.ui.job_panel import job_panel, job_shelf
from dpviz.ui.session import book

_RESULT, _PENDING = "run:result", "run:pending"
_SECONDS_INLINE = 0.5


@dataclass(frozen=True)
class Asked:
    """Everything that decides a run, apart from its noise."""

    request: Request
    seed: int | None
    table_key: str

    @property
    def card(self) -> Card:
        return card_of(self.request.algorithm)


@dataclass(frozen=True, eq=False)
class Result:
    """A finished run and what was asked for; kept until another run takes its place."""

    asked: Asked
    run: Run
    place: int
    """Where it stands in the books of this visit."""

    @property
    def number(self) -> int:
        """Counts the results of this visit, so that each has widgets of its own."""
        return self.place + 1


@dataclass(frozen=True, eq=False)
class _Pending:
    asked: Asked
    table: OpenTable
    job: Job[Any]


def start(table: OpenTable, asked: Asked) -> None:
    """Run what is asked: at once if it takes a moment, else as a job that can be cancelled.

    Raises
    ------
    RequestError
        If the request is outside what is allowed, or too many jobs wait already.
    """
    cancel_pending()
    if _forecast(table, asked) <= _SECONDS_INLINE:
        with st.spinner(f"{asked.card.title} runs"):
            _finish(table, asked, run_of(asked.request.asked(asked.seed), table.private))
        return
    try:
        job = job_shelf().submit(run_work, asked.request.asked(asked.seed), table.private)
    except ShelfFull as full:
        raise RequestError(f"{full}.") from None
    st.session_state[_PENDING] = _Pending(asked, table, job)


def claim_finished() -> None:
    """Keep and book a run that has ended in its worker, whatever page is open."""
    pending, job = _under_way()
    found = [item for item in job.items if isinstance(item, Run)] if job is not None else []
    if pending is not None and found:
        del st.session_state[_PENDING]
        _finish(pending.table, pending.asked, found[0])


def pending_panel(table: OpenTable) -> bool:
    """Show the job of a run that is under way or went wrong; whether one for ``table`` is under way."""
    claim_finished()
    pending, job = _under_way()
    if pending is None or job is None or pending.asked.table_key != table.key:
        return False
    job_panel(job, label=f"{pending.asked.card.title}, k = {pending.asked.request.k}", key="run")
    return not job.state.final


def result_for(table: OpenTable) -> Result | None:
    """The last result, if it is about ``table``."""
    result = cast("Result | None", st.session_state.get(_RESULT))
    return result if result is not None and result.asked.table_key == table.key else None


def cancel_pending() -> None:
    """Forget a run that is under way: another one takes its place."""
    _, job = _under_way()
    if job is not None:
        job.cancel()
    st.session_state.pop(_PENDING, None)


def _under_way() -> tuple[_Pending | None, Job[Any] | None]:
    pending = cast("_Pending | None", st.session_state.get(_PENDING))
    return pending, pending.job if pending is not None else None


def _forecast(table: OpenTable, asked: Asked) -> float:
    """Seconds, from the true number of rows: it only decides where the run takes place, on its owner's machine."""
    request = asked.request.asked()
    setting = dataclasses.replace(request.setting(table.private), n=table.loaded.n_rows)
    return expected_seconds(asked.card, setting, request.contender.settings)


def _finish(table: OpenTable, asked: Asked, finished: Run) -> None:
    st.session_state[_RESULT] = Result(asked, finished, book(finished, table))
