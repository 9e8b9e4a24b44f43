"""Looks at the rows themselves: allowed by the owner's switch, counted, never part of a release."""

from __future__ import annotations

from collections import Counter, OrderedDict
from dataclasses import dataclass
from typing import Any, cast

import streamlit as st

from dpviz.privacy.room import Revealed
from dpviz.runs.clipped_rows import ClippedRows, clipped
from dpviz.runs.evaluation import Reference, reference_for
from dpviz.runs.open_table import OpenTable
from dpviz.runs.record import LookKind
from dpviz.table.declaration import FileKind

_LOOKS, _REVEALED, _JUDGED, _REFERENCES = "looks:list", "looks:revealed", "looks:judged", "looks:references"
_KEPT_REVEALED, _KEPT_REFERENCES = 2, 24


@dataclass(frozen=True)
class Look:
    """One look at one table: what was seen, and why."""

    key: str
    source_key: str
    table_title: str
    kind: FileKind
    what: LookKind
    note: str


def reveal_switch(table: OpenTable) -> bool:
    """The owner's switch, one for each table: drawn in the sidebar, off at first for a private file."""
    shown: bool = st.toggle(
        "Show truth (revealed)",
        value=table.kind.may_be_shown,
        key=_switch(table),
        persist_state="session",
        help="Shows rows, true counts, losses and the k-means++ reference. These are read without any privacy: "
        "every distinct look is counted, and none enters a release.",
    )
    return shown


def reveal_allowed(table: OpenTable) -> bool:
    """Whether the owner lets this visit show rows: at first yes for public and simulated files, no for private ones."""
    return bool(st.session_state.get(_switch(table), table.kind.may_be_shown))


def allow_reveal(table: OpenTable) -> None:
    """Turn the owner's switch on: for a button on a page that cannot do without; call it from the button's callback."""
    st.session_state[_switch(table)] = True


def reveal(table: OpenTable, note: str, what: LookKind = LookKind.ROWS) -> Revealed | None:
    """The rows of ``table`` if the owner allows it, else None; each distinct ``note`` is one look, at ``what``."""
    if not reveal_allowed(table):
        return None
    kept = _cache(_REVEALED)
    look = Look(table.key, table.source_key, table.title, table.kind, what, note)
    if table.key not in kept:
        _store(kept, table.key, table.private.reveal(note=note), _KEPT_REVEALED)
    elif look not in _looks():
        table.private.looks.append(note)
    if look not in _looks():
        _looks().append(look)
    kept.move_to_end(table.key)
    return cast("Revealed", kept[table.key])


def count_look(key: str, source_key: str, title: str, kind: FileKind, what: LookKind, note: str) -> None:
    """Count a look at rows outside of ``reveal``; each distinct look counts once."""
    look = Look(key, source_key, title, kind, what, note)
    if look not in _looks():
        _looks().append(look)


def judged(
    table: OpenTable, note: str, what: LookKind = LookKind.ROWS, *, points_per_row: int = 1
) -> ClippedRows | None:
    """What centres are judged on: the points that rows of ``table`` stand for, inside the bounds, clipped once.

    None unless the owner allows looks; the look is counted under ``note``, as one at ``what``.
    """
    revealed = reveal(table, note, what)
    if revealed is None:
        return None
    kept, key = _cache(_JUDGED), (table.key, points_per_row)
    if key not in kept:
        _store(kept, key, clipped(revealed, table.domain.region).unfolded(points_per_row), _KEPT_REVEALED)
    return cast("ClippedRows", kept[key])


def reference(table: OpenTable, k: int, *, points_per_row: int = 1) -> Reference | None:
    """The non-private k-means++ of the points that rows of ``table`` stand for, computed once for each k.

    None unless the owner allows looks.
    """
    rows = judged(table, "k-means++ reference", LookKind.REFERENCE, points_per_row=points_per_row)
    if rows is None:
        return None
    known = known_reference(table, k, points_per_row=points_per_row)
    found = known or reference_for(rows, k)
    if known is None:
        keep_reference(table, k, found, points_per_row=points_per_row)
    return found


def known_reference(table: OpenTable, k: int, *, points_per_row: int = 1) -> Reference | None:
    """The reference if it was computed already and the owner still allows looks."""
    kept = _cache(_REFERENCES).get((table.key, k, points_per_row))
    return cast("Reference | None", kept) if reveal_allowed(table) else None


def keep_reference(table: OpenTable, k: int, found: Reference, *, points_per_row: int = 1) -> None:
    """Keep a reference that was computed elsewhere: in a worker, say."""
    _store(_cache(_REFERENCES), (table.key, k, points_per_row), found, _KEPT_REFERENCES)


def looks() -> list[str]:
    """All looks of this visit in words, oldest first."""
    return [f"{look.table_title} ({look.kind.value}): {look.note}" for look in _looks()]


def looks_at(source_key: str) -> dict[LookKind, int]:
    """How many looks there were at the rows of one file, by kind, whatever was declared about it."""
    return dict(Counter(look.what for look in _looks() if look.source_key == source_key))


def private_looks() -> list[Look]:
    """The looks at private files only: the ones that weigh."""
    return [look for look in _looks() if look.kind == FileKind.PRIVATE]


def _switch(table: OpenTable) -> str:
    return f"truth:{table.key[:16]}"


def _looks() -> list[Look]:
    return cast("list[Look]", st.session_state.setdefault(_LOOKS, []))


def _cache(name: str) -> OrderedDict[Any, Any]:
    return cast("OrderedDict[Any, Any]", st.session_state.setdefault(name, OrderedDict()))


def _store(cache: OrderedDict[Any, Any], key: Any, value: Any, most: int) -> None:
    cache[key] = value
    while len(cache) > most:
        cache.popitem(last=False)
