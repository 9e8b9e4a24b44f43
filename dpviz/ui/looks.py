"""Looks at the rows themselves: allowed by the owner's switch, counted, never part of a release."""

from __future__ import annotations

import streamlit as st

from dpviz.privacy.room import Revealed
from dpviz.runs.clipped_rows import ClippedRows, clipped
from dpviz.runs.open_table import OpenTable
from dpviz.runs.record import LookKind
from dpviz.ui.session import Look, count_look, once

_REVEALED, _JUDGED, _KEPT = "looks:revealed", "looks:judged", 2


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
    kept = table.key in st.session_state.get(_REVEALED, ())
    revealed = once(_REVEALED, table.key, lambda: table.private.reveal(note=note), most=_KEPT)
    if count_look(Look(table.key, table.source_key, table.title, table.kind, what, note)) and kept:
        table.private.looks.append(note)
    return revealed


def judged(
    table: OpenTable, note: str, what: LookKind = LookKind.ROWS, *, points_per_row: int = 1
) -> ClippedRows | None:
    """What centres are judged on: the points that rows of ``table`` stand for, inside the bounds, clipped once.

    None unless the owner allows looks; the look is counted under ``note``, as one at ``what``.
    """
    revealed = reveal(table, note, what)
    if revealed is None:
        return None

    def inside() -> ClippedRows:
        return clipped(revealed, table.domain.region).unfolded(points_per_row)

    return once(_JUDGED, (table.key, points_per_row), inside, most=_KEPT)


def _switch(table: OpenTable) -> str:
    return f"truth:{table.key[:16]}"
