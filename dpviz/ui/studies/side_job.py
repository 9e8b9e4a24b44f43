"""A job of a page in a worker: what was asked, and what has arrived, kept for the visit."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import streamlit as st

from dpviz.check import RequestError
from dpviz.privacy.room import Revealed
from dpviz.runs.clipped_rows import JudgedTable
from dpviz.runs.jobs import Work
from dpviz.runs.open_table import OpenTable
from dpviz.runs.record import LookKind
from dpviz.runs.shelf import ShelfFull
from dpviz.runs.study.study import study_rows
from dpviz.ui.job_panel import job_shelf
from dpviz.ui.looks import reveal


@dataclass(eq=False)
class SideJob:
    """What was ``asked`` of which rows, and the items that have arrived."""

    asked: Hashable
    source: OpenTable
    asked_about: str
    job: Work[Any]
    items: list[Any] = field(default_factory=list)

    @property
    def running(self) -> bool:
        return not self.job.state.final

    def collect(self) -> None:
        """Take in what the worker has sent since the last time."""
        self.items += self.job.poll()

    def answers(self, asked: Hashable, source: OpenTable | None) -> bool:
        """Whether it is what is asked for now."""
        return source is not None and self.asked == asked and self.source.key == source.key


def send(
    key: str,
    table: OpenTable,
    source: OpenTable,
    asked: Hashable,
    work: Callable[..., Iterator[Any]],
    *arguments: Any,
    look: str,
    kind: type[SideJob] = SideJob,
    with_labels: bool = False,
    **options: Any,
) -> None:
    """Send ``work(rows, ...)`` to a worker in place of the job before; ``look`` is how it is counted.

    ``kind`` is what the job is kept as; ``with_labels`` sends the known groups of the revealed rows, too.

    Raises
    ------
    RequestError
        If the owner does not allow looks, or too many jobs wait already.
    """
    revealed: Revealed | None = reveal(source, look, LookKind.LOSS)
    if revealed is None:
        raise RequestError("A study reads losses from the rows: allow it with the switch Show truth.")
    before = sent(key, table)
    if before is not None:
        before.job.cancel()
    rows = JudgedTable.of(source.private, revealed, source.labels_of(revealed) if with_labels else None)
    try:
        job: Work[Any]
        if work is study_rows:
            job = job_shelf().study(rows, *arguments, key=source.key, **options)
        else:
            job = job_shelf().submit(work, rows, *arguments, **options)
    except ShelfFull as full:
        raise RequestError(f"{full}.") from None
    st.session_state[f"{key}:job"] = kind(asked, source, table.key, job)


def sent(key: str, table: OpenTable) -> SideJob | None:
    """The last job of that name, if it was asked about ``table``; with everything that has arrived."""
    side = cast("SideJob | None", st.session_state.get(f"{key}:job"))
    if side is None or side.asked_about != table.key:
        return None
    side.collect()
    return side
