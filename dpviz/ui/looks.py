"""Looks at the rows themselves: allowed by the owner's switch, counted, never part of a release."""

from __future__ import annotations

from typing import cast

import streamlit as st

from dpviz.privacy.room import Revealed
from dpviz.runs.clipped_rows import ClippedRows, clipped
from dpviz.runs.evaluation import Reference, reference_for
from dpviz.runs.open_table import OpenTable
from dpviz.runs.record import LookKind
from dpviz.ui.session import Look, count_look, once

_REVEALED, _JUDGED, _REFERENCES = "looks:revealed", "looks:judged", "looks:references"
_KEPT_REVEALED, _KEPT_REFERENCES = 2, 24


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
    revealed = once(_REVEALED, table.key, lambda: table.private.reveal(note=note), most=_KEPT_REVEALED)
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

    return once(_JUDGED, (table.key, points_per_row), inside, most=_KEPT_REVEALED)


def reference(table: OpenTable, k: int, *, points_per_row: int = 1) -> Reference | None:
    """The non-private k-means++ of the points that rows of ``table`` stand for, computed once for each k.

    None unless the owner allows looks.
    """
    rows = judged(table, "k-means++ reference", LookKind.REFERENCE, points_per_row=points_per_row)
    if rows is None:
        return None
    return once(_REFERENCES, (table.key, k, points_per_row), lambda: reference_for(rows, k), most=_KEPT_REFERENCES)


def known_reference(table: OpenTable, k: int, *, points_per_row: int = 1) -> Reference | None:
    """The reference if it was computed already and the owner still allows looks."""
    known = st.session_state.get(_REFERENCES, {}).get((table.key, k, points_per_row))
    return cast("Reference | None", known) if reveal_allowed(table) else None


def keep_reference(table: OpenTable, k: int, computed: Reference, *, points_per_row: int = 1) -> None:
    """Keep a reference that was computed elsewhere: in a worker, say."""
    once(_REFERENCES, (table.key, k, points_per_row), lambda: computed, most=_KEPT_REFERENCES)


def _switch(table: OpenTable) -> str:
    return f"truth:{table.key[:16]}"
