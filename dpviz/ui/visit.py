"""What this visit has in hand: the open table, a file that still lacks bounds, and the books. Session-private."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import cast

import streamlit as st

from dpviz.runs.record import ReleaseRecord, counted, record_of
from dpviz.runs.run import Run
from dpviz.table.csv_intake import LoadedTable
from dpviz.ui.declaration import Declaration, FileKind, OpenTable, declare
from dpviz.ui.looks import looks_at

_TABLE, _UNDECLARED, _BOOKS = "visit:table", "visit:undeclared", "visit:books"


@dataclass(frozen=True, eq=False)
class Booked:
    """The record of a finished run, and the file that it was about."""

    record: ReleaseRecord
    table_title: str
    kind: FileKind
    source_key: str


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


def book(run: Run, table: OpenTable) -> int:
    """Enter the record of a finished run on ``table`` into this visit's books; where it stands there."""
    entries = _entries()
    record = record_of(run, table, looks=looks_at(table.source_key))
    entries.append(Booked(record, table.title, table.kind, table.source_key))
    return len(entries) - 1


def booked() -> list[Booked]:
    """The records of all finished runs of this visit, oldest first, with the looks at their rows up to now."""
    entries = _entries()
    entries[:] = [_looked_at_since(entry) for entry in entries]
    return list(entries)


def record_at(place: int) -> ReleaseRecord:
    """The record at that place of the books."""
    return booked()[place].record


def _looked_at_since(entry: Booked) -> Booked:
    """Whoever takes a result away chose it after all looks, not only after those before the run."""
    looks = counted(looks_at(entry.source_key), entry.record.declaration)
    if looks == entry.record.looks:
        return entry
    return dataclasses.replace(entry, record=dataclasses.replace(entry.record, looks=looks))


def _entries() -> list[Booked]:
    return cast("list[Booked]", st.session_state.setdefault(_BOOKS, []))
