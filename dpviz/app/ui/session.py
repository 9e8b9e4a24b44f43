"""What this visit has in hand: the open table, a file that waits to be declared, settings, looks, and the books.

All of it lives in the session of one visit: nothing is global, nothing is written to disk. What is seen of a table is
counted once in a visit, and kept in the log of this process, which the cards of all visits read. The settings are the
one place that remembers what a widget was set to: Streamlit forgets a widget that the page does not draw.
"""

import dataclasses
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from math import fsum
from typing import Any, TypeVar, cast

import streamlit as st

from dpviz.core import ACCESS_LOG, AccessKind
from dpviz.runs import LargeTable, OpenTable, ReleaseRecord, RunSoFar, declare
from dpviz.tables import Content, Declaration, FileKind

_TABLE, _UNDECLARED, _BOOKS = "visit:table", "visit:undeclared", "visit:books"
_SOURCE, _SOURCES = "visit:source", "visit:sources"
_SETTINGS, _ACCESSES, _STUDIES, _CLUSTERS = "visit:settings", "looks:list", "looks:studies", "clusters:known"

TABLE_LINK = "table"
"""What names the open table in a link."""
COMING = "table:coming"
"""Whether the page says already that a table of a link is on its way, or waits for a press."""
LOST = "The table of this link is not open, because a reload forgets files: open it again."

Value = TypeVar("Value")


@dataclass(frozen=True, eq=False)
class Source:
    """What a table is made of, with the number under which the widgets of this visit ask about it.

    The number tells any two uploads apart and depends on nothing in them. ``declared`` is what came with it.
    """

    content: Content
    number: int
    declared: Declaration | None = None


@dataclass(frozen=True, eq=False)
class Booked:
    """The record of a finished run, and the file that it was about."""

    record: ReleaseRecord
    source_key: str


@dataclass(frozen=True)
class DataAccess:
    """One look at one table: what was seen, and why."""

    key: str
    source_key: str
    table_title: str
    kind: FileKind
    what: AccessKind
    note: str


def find_table() -> OpenTable | None:
    """The table that this visit works on, if one is open."""
    return cast("OpenTable | None", st.session_state.get(_TABLE))


def open_table(content: Content, declaration: Declaration) -> OpenTable:
    """Make a file, read as it is declared, the table of this visit."""
    return put_to_use(content, declare(content, declaration))


def put_to_use(content: Content, table: OpenTable) -> OpenTable:
    """Make a table the table of this visit."""
    sources = (find_undeclared(), st.session_state.get(_SOURCE))
    source = next((source for source in sources if source is not None and source.content is content), None)
    st.session_state[_TABLE] = table
    st.session_state[_SOURCE] = source or _number_source(content)
    set_aside(None)
    return table


def find_source() -> Source | None:
    """What the open table was made of: it can be declared anew."""
    table = find_table()
    if table is None:
        return None
    source = cast("Source | None", st.session_state.get(_SOURCE))
    if source is None:
        content = table.loaded.file if isinstance(table.loaded, LargeTable) else table.loaded
        source = st.session_state[_SOURCE] = _number_source(content)
    return source


def find_undeclared() -> Source | None:
    """A file that waits to be declared, if there is one."""
    return cast("Source | None", st.session_state.get(_UNDECLARED))


def set_aside(content: Content | None, declared: Declaration | None = None) -> None:
    """Keep a file until it is declared, with what came with it; None forgets it."""
    if content is None:
        st.session_state.pop(_UNDECLARED, None)
    else:
        st.session_state[_UNDECLARED] = _number_source(content, declared)


def remember(name: str, value: Value) -> Value:
    """Keep what a widget says, for every page and for the next time that it is drawn."""
    st.session_state.setdefault(_SETTINGS, {})[name] = value
    return value


def recall(name: str, usual: Value) -> Value:
    """What was remembered in this visit."""
    return cast("Value", st.session_state.get(_SETTINGS, {}).get(name, usual))


def read_setting(name: str, usual: Value) -> Value:
    """What a widget says where this page draws it, else what was last remembered."""
    return cast("Value", st.session_state.get(name, recall(name, usual)))


def know_clusters(k: int) -> None:
    """The open table is publicly known to hold ``k`` clusters: a sample or a synthetic table was made with so many."""
    table = find_table()
    if table is not None:
        remember(_CLUSTERS, (table.source_key, k))


def find_known_clusters(table: OpenTable) -> int | None:
    """How many clusters ``table`` is publicly known to hold, if that is known."""
    key, k = recall(_CLUSTERS, ("", 0))
    return k if key == table.source_key else None


def make_once(name: str, given: Hashable, make: Callable[[], Value], *, most: int = 1) -> Value:
    """A value of this visit that is made once for all that it depends on."""
    kept = cast("OrderedDict[Hashable, Value]", st.session_state.setdefault(name, OrderedDict()))
    if given not in kept:
        kept[given] = make()
    kept.move_to_end(given)
    while len(kept) > most:
        kept.popitem(last=False)
    return kept[given]


def choose(name: str, value: Any) -> None:
    """Set a widget; call it from a callback, or before the widget is drawn."""
    st.session_state[name] = remember(name, value)


def count_access(access: DataAccess, *, revealed: bool = False) -> None:
    """Count a look once in a visit: in words for the ledger, and in the log, which knows of rows just ``revealed``."""
    accesses = _list_accesses()
    if access in accesses:
        return
    # What a file that waits is said to be makes no other look of the same one.
    again = any(dataclasses.replace(one, kind=access.kind) == access for one in accesses)
    accesses.append(access)
    if not (revealed or again):
        ACCESS_LOG.add_look(access.source_key, access.what)


def describe_accesses() -> list[str]:
    """All looks of this visit in words, oldest first."""
    return [f"{access.table_title} ({access.kind.value}): {access.note}" for access in _list_accesses()]


def count_study(source_key: str, note: str) -> None:
    """Count a study that reads losses from the rows of one file, once in a visit."""
    if _is_new(_STUDIES, (source_key, note)):
        ACCESS_LOG.add_study(source_key)


def count_grid_read(place: int, number: int) -> None:
    """Count that a k was read from the grid of a run, for which no account has paid; once for each run."""
    if _is_new("looks:grids", number):
        ACCESS_LOG.add_grid_read(_list_entries()[place].source_key)


def book(run: RunSoFar, table: OpenTable, *, instead_of: int | None = None) -> int:
    """Enter the record of a run into the books of this visit."""
    entries = _list_entries()
    entry = Booked(ReleaseRecord.of(run, table, accesses=ACCESS_LOG.count(table.source_key).looks), table.source_key)
    if instead_of is not None:
        entries[instead_of] = entry
        return instead_of
    entries.append(entry)
    return len(entries) - 1


def list_booked() -> list[Booked]:
    """The records of all runs of this visit, oldest first, with the looks at their rows up to now."""
    entries = _list_entries()
    entries[:] = [_add_later_accesses(entry) for entry in entries]
    return list(entries)


def find_bought_rows(table: OpenTable) -> float | None:
    """The noisy number of rows that the last run of this visit bought on the file of ``table``; None if none did."""
    records = (entry.record for entry in reversed(_list_entries()) if entry.source_key == table.source_key)
    return next((record.n for record in records if record.n_origin == "bought" and record.n is not None), None)


def add_spending(table: OpenTable) -> float:
    """The ε of all runs of this visit on the file of ``table``, added up."""
    entries = (entry.record for entry in _list_entries() if entry.source_key == table.source_key)
    return fsum(record.spent_epsilon or 0.0 for record in entries if record.private)


def find_record(place: int) -> ReleaseRecord:
    """The record at that place of the books."""
    return list_booked()[place].record


def _add_later_accesses(entry: Booked) -> Booked:
    """Whoever takes a result away chose it after all looks, not only after those before the run."""
    accesses = AccessKind.tabulate(ACCESS_LOG.count(entry.source_key).looks, proposed=entry.record.declaration.proposed)
    if accesses == entry.record.looks:
        return entry
    return dataclasses.replace(entry, record=dataclasses.replace(entry.record, looks=accesses))


def _number_source(content: Content, declared: Declaration | None = None) -> Source:
    number = st.session_state[_SOURCES] = st.session_state.get(_SOURCES, 0) + 1
    return Source(content, number, declared)


def _is_new(name: str, what: Hashable) -> bool:
    """Whether this visit counts it for the first time."""
    counted = cast("set[Hashable]", st.session_state.setdefault(name, set()))
    new = what not in counted
    counted.add(what)
    return new


def _list_accesses() -> list[DataAccess]:
    return cast("list[DataAccess]", st.session_state.setdefault(_ACCESSES, []))


def _list_entries() -> list[Booked]:
    return cast("list[Booked]", st.session_state.setdefault(_BOOKS, []))
