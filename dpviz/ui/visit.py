"""What this visit has in hand: the open table, a file that waits to be declared, and the books. Session-private."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TypeAlias, cast

import streamlit as st

from dpviz.runs.open_table import OpenTable, declare
from dpviz.runs.run import Run
from dpviz.table.csv_intake import CsvFile
from dpviz.table.declaration import Declaration, FileKind
from dpviz.table.loaded_table import LoadedTable
from dpviz.table.sparse_intake import SparseTable

_TABLE, _UNDECLARED, _BOOKS = "visit:table", "visit:undeclared", "visit:books"
_SOURCE, _SOURCES = "visit:source", "visit:sources"

# The newest runs keep all their frames; of older ones only the last frame stays, and every ledger entry.
_RUNS_WITH_FRAMES = 24


Content: TypeAlias = CsvFile | LoadedTable | SparseTable


@dataclass(frozen=True, eq=False)
class Source:
    """What a table is made of, with the number under which the widgets of this visit ask about it.

    The number tells any two uploads apart and depends on nothing in them.
    """

    content: Content
    number: int

    @property
    def key(self) -> str:
        """Its number as a text that no table's key can be."""
        return f"source {self.number}"


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


def open_table(content: Content, declaration: Declaration) -> OpenTable:
    """Make ``content``, read as it is declared, the table of this visit.

    Raises
    ------
    RequestError
        If the declaration is incomplete or contradictory; the table that was open stays open, and a file that waits
        for its declaration goes on waiting.
    """
    table = declare(content, declaration)
    known = (undeclared(), st.session_state.get(_SOURCE))
    source = next((one for one in known if one is not None and one.content is content), None)
    st.session_state[_TABLE] = table
    st.session_state[_SOURCE] = source or _numbered(content)
    set_aside(None)
    return table


def current_source() -> Source | None:
    """What the open table was made of: it can be declared anew."""
    table = current_table()
    if table is None:
        return None
    source = cast("Source | None", st.session_state.get(_SOURCE))
    if source is None:
        source = st.session_state[_SOURCE] = _numbered(table.loaded)
    return source


def undeclared() -> Source | None:
    """A file that waits to be declared, if there is one."""
    return cast("Source | None", st.session_state.get(_UNDECLARED))


def set_aside(content: Content | None) -> None:
    """Keep a file until it is declared; None forgets it."""
    if content is None:
        st.session_state.pop(_UNDECLARED, None)
    else:
        st.session_state[_UNDECLARED] = _numbered(content)


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


def _numbered(content: Content) -> Source:
    number = st.session_state[_SOURCES] = st.session_state.get(_SOURCES, 0) + 1
    return Source(content, number)


def _entries() -> list[Booked]:
    return cast("list[Booked]", st.session_state.setdefault(_BOOKS, []))


def _forget_old_frames(entries: list[Booked]) -> None:
    place = len(entries) - 1 - _RUNS_WITH_FRAMES
    if place >= 0 and len(entries[place].run.frames) > 1:
        old = entries[place]
        slim = dataclasses.replace(old.run, frames=old.run.frames[-1:])
        entries[place] = dataclasses.replace(old, run=slim)
