"""What the declarations do to rows, said before they are used: rows that are dropped, values that are moved.

Of a public file in shares; of a private one as a rule only, because a share is read from the rows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from dpviz.arrays import Array
from dpviz.charts.wording import percent
from dpviz.runs.record import LookKind
from dpviz.table.csv_intake import CsvFile
from dpviz.table.declaration import NO_BOUNDS, Declaration
from dpviz.table.file_format import NumberStyle
from dpviz.table.loaded_table import LoadedTable
from dpviz.table.row_loss import RowLoss, row_loss
from dpviz.ui.badges import badge
from dpviz.ui.data.draft import Change, Draft
from dpviz.ui.escape import plain
from dpviz.ui.session import Look, count_look, once
from dpviz.ui.table_words import bullets

_COUNTED = "cells that are no numbers, and the rows that they cost"


def loss_of_rows(draft: Draft) -> None:
    """What the declarations do to rows, below the bounds: of a private file as a rule, and counted if that is asked."""
    declared = draft.declaration
    if not declared.columns:
        return
    if not isinstance(draft.source.content, CsvFile | LoadedTable):
        st.caption(_rule(declared))
        return
    if not draft.may_read_rows and not draft.counts_losses:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(_rule(declared), width="content")
            if st.button(
                "Count what drops out (counted)",
                icon=":material/visibility:",
                key=draft.key("count_lost"),
                help="How many cells of each column are empty or no numbers, and how many rows that costs. The rows "
                "are private: the look is listed on the Ledger page, and no file that leaves says what it found.",
            ):
                draft.counts_losses = True
                st.rerun()
        return
    if not draft.may_read_rows:
        seen = draft.source.content.fingerprint
        count_look(Look(seen, seen, draft.source.content.name, declared.kind, LookKind.ROWS, _COUNTED))
    kinds = tuple(declared.coded.items())
    given = (draft.source.number, declared.file, declared.columns, declared.relation, declared.id_column, kinds)
    loss = once("declare:loss", given, lambda: row_loss(draft.rows_read(), declared))
    said = "" if loss.is_none else bullets(loss.sentences)
    moved = ""
    if draft.may_read_rows:
        bounds = (declared.lower, declared.upper)
        values = draft.rows(declared.columns).coded
        moved = once(
            "declare:moved", (*given, bounds), lambda: moved_words(values(declared.columns, declared.coded), declared)
        )
    if said or moved or not draft.may_read_rows:
        badge("revealed")
        st.markdown(said or plain(" ".join(loss.sentences)))
        if moved:
            st.markdown(plain(moved))
    _mend(draft, loss)


def _mend(draft: Draft, loss: RowLoss) -> None:
    """A button for each column whose other cells another style would read."""
    with st.container(horizontal=True, gap="small"):
        for column in loss.columns:
            if column.style is not None and st.button(
                f"Read {plain(column.name)} like {plain(column.style)}",
                icon=":material/auto_fix_high:",
                key=draft.key("mend", column.name, column.style),
            ):
                draft.change = _reading(column.name, column.style)


def _reading(name: str, style: NumberStyle) -> Change:
    return lambda now: replace(now, file=replace(now.file, styles={**now.file.styles, name: style}))


def _rule(declared: Declaration) -> str:
    return f"A row without a number in a ticked column {fate(declared)}; values outside move to the bound."


def fate(declared: Declaration) -> str:
    """What becomes of a row that is not complete."""
    return "is dropped" if declared.relation == "add_remove" else "counts as the middle of the bounds"


def moved_words(values: Array, declared: Declaration) -> str:
    """What the bounds of ``declared`` do to whole rows (n, d) that anybody may see, data units; "" if nothing.

    >>> told = Declaration(columns=("age",), lower=(0.0,), upper=(50.0,))
    >>> moved_words(np.array([[31.0], [np.nan], [60.0], [40.0]]), told)
    '33.3 % of the whole rows move to the bounds.'
    """
    whole = values[np.isfinite(values).all(axis=1)]
    if len(whole) == 0:
        return ""
    ends = [declared.bounds.get(name, NO_BOUNDS) for name in declared.columns]
    low = np.array([-np.inf if end.lower is None else end.lower for end in ends])
    high = np.array([np.inf if end.upper is None else end.upper for end in ends])
    outside = ((whole < low) | (whole > high)).any(axis=1)
    return f"{percent(outside.mean())} of the whole rows move to the bounds." if outside.any() else ""
