"""Accesses to the rows themselves: allowed by the owner's switch, counted, never part of a release."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from dpviz.app.charts.canvas import RevealedView
from dpviz.app.ui.session import DataAccess, count_access, make_once
from dpviz.core import AccessKind, Revealed
from dpviz.runs import ClippedRows, OpenTable, clip_rows
from dpviz.words import glossary

_REVEALED, _JUDGED, _DRAWN = "looks:revealed", "looks:judged", "looks:drawn"
_KEPT_REVEALED = 2


def draw_reveal_switch(table: OpenTable) -> bool:
    """The owner's switch, one for each table: drawn above the picture, off at first for a private file."""
    help = f"Shows rows, true counts, losses and the k-means++ reference. {glossary.explain_term('look')}"
    first, key = table.kind.may_be_shown, _switch_key(table)
    return bool(st.toggle("Show truth", first, key=key, persist_state="session", help=help))


def is_reveal_allowed(table: OpenTable) -> bool:
    """Whether the owner lets this visit show rows: at first yes for public and simulated files, no for private ones."""
    return bool(st.session_state.get(_switch_key(table), table.kind.may_be_shown))


def allow_reveal(table: OpenTable) -> None:
    """Turn the owner's switch on: for a button on a page that cannot do without; call it from the button's callback."""
    st.session_state[_switch_key(table)] = True


def reveal(table: OpenTable, note: str, what: AccessKind = AccessKind.ROWS) -> Revealed | None:
    """Read the rows without privacy, if the owner allows it."""
    if not is_reveal_allowed(table):
        return None
    kept = table.key in st.session_state.get(_REVEALED, ())  # else it is counted where it is revealed
    revealed = make_once(_REVEALED, table.key, lambda: table.private.reveal(note=note, kind=what), most=_KEPT_REVEALED)
    count_access(DataAccess(table.key, table.source_key, table.title, table.kind, what, note), revealed=not kept)
    return revealed


def make_judged_table(
    table: OpenTable, note: str, what: AccessKind = AccessKind.ROWS, *, points_per_row: int = 1
) -> ClippedRows | None:
    """What centres are judged on: points that rows stand for, clipped, unit coordinates; None if no look is allowed."""
    revealed = reveal(table, note, what)
    if revealed is None:
        return None

    def inside() -> ClippedRows:
        return clip_rows(revealed, table.domain.region).unfold(points_per_row)

    return make_once(_JUDGED, (table.key, points_per_row), inside, most=_KEPT_REVEALED)


def reveal_view(table: OpenTable, note: str, *, points_per_row: int = 1) -> RevealedView | None:
    """What pictures show of the points that rows stand for."""
    rows = make_judged_table(table, note, points_per_row=points_per_row)
    if rows is None:
        return None
    given = (table.key, points_per_row)
    view = make_once(_DRAWN, given, lambda: RevealedView.of(rows.points, note), most=_KEPT_REVEALED)
    # True counts are those of all rows: of a sample none are shown.
    return view if table.private.in_memory else replace(view, everyone=None)


def _switch_key(table: OpenTable) -> str:
    return f"truth:{table.key[:16]}"
