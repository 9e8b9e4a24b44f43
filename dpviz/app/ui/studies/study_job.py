"""What a part of a page asks of many runs, and the job that answers it: kept for the visit, whatever page is open."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, cast

import pandas as pd
import streamlit as st

from dpviz.app.ui.data_access import reveal
from dpviz.app.ui.job_panel import open_job_registry
from dpviz.app.ui.session import count_study
from dpviz.core import AccessKind, RequestError
from dpviz.runs import JudgedTable, OpenTable, Row, StudyGrid, Work, Yardstick, forecast_seconds, tidy
from dpviz.words import capitalize_first, format_things

# Scores of a run, and its way to the page.
_SECONDS_AROUND_A_RUN = 0.02
# Of these a forecast is made where the number of rows is private.
_ROWS_NOT_TOLD = 10_000


@dataclass(frozen=True)
class StudyQuestion:
    """A grid of runs, about which open table, and on whose rows their losses are judged."""

    key: str
    table: OpenTable
    source: OpenTable | None
    grid: StudyGrid

    def narrow(self, key: str, **changes: Any) -> StudyQuestion:
        """The question of another part of the page.

        **changes : object
            Fields of the grid.
        """
        return replace(self, key=key, grid=replace(self.grid, **changes))

    @property
    def problem(self) -> str | None:
        """Why it cannot be computed, if it cannot: here, rather than in the worker."""
        if self.source is None:
            return "It is not decided yet on which rows losses are judged."
        if not self.grid.contenders:
            return "Choose at least one algorithm."
        refusals = self.grid.list_refusals(self.source.private)
        first, *others = dict.fromkeys(refusals.values()) or [None]
        if others:
            return f"{first} {capitalize_first(format_things(len(refusals) - 1, 'other'))} cannot run either."
        try:
            self.grid.list_trials()
        except RequestError as error:
            return first or str(error)
        return first

    @property
    def seconds(self) -> float:
        """How long the runs may take one after the other, roughly, if there is no problem; see ``provided``.

        A private number of rows has no say in it: the words on the page would change with a row.
        """
        assert self.source is not None
        once = 0.0
        for trial in (trial for trial in self.grid.list_trials() if trial.repeat == 0):
            setting = self.grid.make_request(trial).make_setting(self.source.private)
            setting = replace(setting, n=trial.n or self._told_n or _ROWS_NOT_TOLD)
            once += forecast_seconds(trial.contender.card, setting, trial.contender.settings) + _SECONDS_AROUND_A_RUN
        return self.grid.repeats * once

    @property
    def provided(self) -> str:
        """What a forecast of time takes for granted, to be put behind it: a number of rows where that is private."""
        told = self._told_n is not None or None not in self.grid.ns
        return "" if told else f" if it has {_ROWS_NOT_TOLD:,} rows"

    @property
    def _told_n(self) -> int | None:
        """The number of rows where it is public."""
        assert self.source is not None
        return self.source.loaded.n_rows if self.source.kind.may_be_shown else self.source.n_public


class _Seen(NamedTuple):
    """A job at one moment."""

    running: bool
    items: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class StudyJob:
    """What was asked, and the job that answers it."""

    question: StudyQuestion
    source: OpenTable
    job: Work[Any]
    origin: Work[Any] | None = None
    seen: _Seen | None = None

    @property
    def grid(self) -> StudyGrid:
        return self.question.grid

    @property
    def running(self) -> bool:
        return not self.job.state.final if self.seen is None else self.seen.running

    @property
    def items(self) -> list[Any]:
        """Everything that has arrived."""
        return self.job.items if self.seen is None else list(self.seen.items)

    def take_snapshot(self) -> StudyJob:
        """The same with what has arrived by now: a page that reads it twice while it runs finds the same runs."""
        running = self.running  # before the items: what has ended grows no more, and is whole
        return replace(self, seen=_Seen(running, tuple(self.items)))

    @cached_property
    def _places(self) -> dict[str, int]:
        return {trial.key: place for place, trial in enumerate(self.grid.list_trials())}

    @property
    def rows(self) -> list[Row]:
        """The runs so far, in the order of the grid, whichever came first."""
        rows = [item for item in self.items if isinstance(item, dict)]
        return sorted(rows, key=lambda row: self._places.get(row.get("trial", ""), 0))

    def make_frame(self, extra: Sequence[Row] = ()) -> pd.DataFrame:
        """The runs so far, and some ``extra`` ones; algorithms look the same whichever of them comes first."""
        frame = tidy([*self.rows, *extra])
        names = [contender.label for contender in self.grid.contenders]
        return frame.assign(contender=pd.Categorical(frame["contender"], names))

    @property
    def yardstick(self) -> Yardstick | None:
        """What losses are measured against: the last one that has arrived."""
        return next((item for item in reversed(self.items) if isinstance(item, Yardstick)), None)

    def refuse_to_export_private(self) -> None:
        """Losses read from a private file leave in no file."""
        if not self.source.kind.may_be_shown:
            raise RequestError(
                "Losses of a private file are not exported: study a synthetic table to take a file away."
            )

    def is_answer_to(self, question: StudyQuestion) -> bool:
        """Whether it is what is asked for now."""
        source = question.source
        return source is not None and self.grid == question.grid and self.source.key == source.key


def begin_study(question: StudyQuestion, *, with_centers: bool = False) -> None:
    """Begin a study in place of the one before, or go on with it: what has been found of it, by whomever, is there."""
    ks = ", ".join(map(str, question.grid.ks))
    source, judged = _judge(question, f"losses of {len(question.grid.list_trials())} study runs, k = {ks}")
    _keep(question, open_job_registry().start_study(judged, question.grid, key=source.key, with_centers=with_centers))


def send(
    question: StudyQuestion,
    work: Callable[..., Iterator[Any]],
    *arguments: Any,
    access: str,
    origin: Work[Any] | None = None,
    **options: Any,
) -> None:
    """Send work to a worker in place of the job before.

    **options : object
        Of ``work``.
    """
    _, judged = _judge(question, access)
    _keep(question, open_job_registry().submit(work, judged, question.grid, *arguments, **options), origin)


def _judge(question: StudyQuestion, access: str) -> tuple[OpenTable, JudgedTable]:
    """Whose rows losses are read from, and these rows; counted as a look at them."""
    source = question.source
    revealed = None if source is None else reveal(source, f"{question.key}: {access}", AccessKind.LOSS)
    if source is None or revealed is None:
        raise RequestError("A study reads losses from the rows: allow it with the switch Show truth.")
    count_study(source.source_key, f"{question.key}: {access}")
    return source, JudgedTable.of(source.private, revealed, source.read_labels(revealed))


def _keep(question: StudyQuestion, job: Work[Any], origin: Work[Any] | None = None) -> None:
    """In place of the job before, which ends now: a study that both read goes on."""
    before = find_job(question)
    if before is not None:
        before.job.cancel()
    assert question.source is not None
    st.session_state[f"{question.key}:job"] = StudyJob(question, question.source, job, origin)


def find_job(question: StudyQuestion) -> StudyJob | None:
    """The last job of that part of the page, if it was asked about the same table."""
    job = cast("StudyJob | None", st.session_state.get(f"{question.key}:job"))
    return job if job is not None and job.question.table.key == question.table.key else None
