"""What this visit has in hand: the open table, a file that still lacks bounds, and the books. Session-private."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import cast

import streamlit as st

from dpviz.runs.run import Run
from dpviz.table.csv_intake import LoadedTable
from dpviz.ui.declaration import Declaration, FileKind, OpenTable, declare

_TABLE, _UNDECLARED, _BOOKS = "visit:table", "visit:undeclared", "visit:books"

# The newest runs keep all their frames; of older ones only the last frame stays, and every ledger entry.
_RUNS_WITH_FRAMES = 24


@dataclass(frozen=True, eq=False)
class Booked:
    """A finished run and the table it was about."""

    run: Run
    table_title: str
    kind: FileKind
    fingerprint: str
    key: str


def current_table() -> OpenTable | None:
    """The table that this visit works on, if one is open."""
    return cast("OpenTable | None", st.session_state.get(_TABLE))


def require_table() -> OpenTable:
    """The open table; without one, say so, offer the way to the Data page, and stop the page."""
    table = current_table()
    if table is None:
        st.info(
            "Choose a sample, upload a CSV file, or simulate a stand-in first; then this page has something to show.",
            title="No table is open yet",
            icon="🗂️",
        )
        if st.button("Open a table", type="primary", key="open_a_table"):
            st.switch_page("data.py")
        st.stop()
    return table


def open_table(loaded: LoadedTable, declaration: Declaration) -> OpenTable:
    """Make ``loaded`` the table of this visit.

    Raises
    ------
    RequestError
        If the declaration is incomplete or contradictory; the table that was open stays open, and a file that waits
        for its declaration goes on waiting.
    """
    table = declare(loaded, declaration)
    st.session_state[_TABLE] = table
    set_aside(None)
    return table


def undeclared() -> LoadedTable | None:
    """A loaded file that still lacks declarations, if there is one."""
    return cast("LoadedTable | None", st.session_state.get(_UNDECLARED))


def set_aside(loaded: LoadedTable | None) -> None:
    """Keep a loaded file until it is declared; None forgets it."""
    if loaded is None:
        st.session_state.pop(_UNDECLARED, None)
    else:
        st.session_state[_UNDECLARED] = loaded


def book(run: Run, table: OpenTable | None = None) -> None:
    """Enter a finished run, on ``table`` or else the open one, into this visit's books, once."""
    table = table or current_table()
    entries = _entries()
    if any(booked.run is run for booked in entries):
        return
    if table is None:
        entries.append(Booked(run, "table", FileKind.PRIVATE, "", ""))
    else:
        entries.append(Booked(run, table.title, table.kind, table.loaded.fingerprint, table.key))
    _forget_old_frames(entries)


def booked() -> list[Booked]:
    """All finished runs of this visit with the tables they were about, oldest first."""
    return list(_entries())


def books() -> list[Run]:
    """All finished runs of this visit, oldest first."""
    return [entry.run for entry in _entries()]


def _entries() -> list[Booked]:
    return cast("list[Booked]", st.session_state.setdefault(_BOOKS, []))


def _forget_old_frames(entries: list[Booked]) -> None:
    place = len(entries) - 1 - _RUNS_WITH_FRAMES
    if place >= 0 and len(entries[place].run.frames) > 1:
        old = entries[place]
        slim = dataclasses.replace(old.run, frames=old.run.frames[-1:])
        entries[place] = dataclasses.replace(old, run=slim)
