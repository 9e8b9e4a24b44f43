"""The rows that a study reads losses from: the table's own where its owner allows it, else those of a synthetic table.

A synthetic table is a simulated twin of the open table: same columns, bounds and relation, nobody in it, free to look
at.
"""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from dpviz.app.ui.data_access import allow_reveal, is_reveal_allowed
from dpviz.app.ui.figure import SENTENCES, ask_one_of, draw_caption_with_badge, format_badge, look_of
from dpviz.app.ui.session import find_bought_rows, make_once, recall, remember
from dpviz.runs import KnownRows, OpenTable, make_synthetic_table

_TYPED = "judged:rows"
_SYNTHETIC, _ROWS = "a synthetic table", "the rows themselves"
_SAME, _LARGER = "the rows above", "a larger synthetic table"
_MOST_NUMBERS = 5_000_000
_MOST_ROWS, _MOST_ROWS_OF_A_LARGER = 1_000_000, 300_000


def ask_judged_rows(table: OpenTable, key: str, *, k: int) -> OpenTable | None:
    """Ask whose rows a study reads losses from.

    Choosing by true utility leaks: a private file is judged on a synthetic table unless its owner says otherwise.
    """
    if table.kind.may_be_shown:
        why = "Losses are read from the rows, and **Show truth** is off for this table."
        return _ask_own_rows(table, key, why, "Show truth for this table", "Losses are read from the rows.")
    if ask_one_of(options=[_SYNTHETIC, _ROWS], **look_of("judged_on", key=f"{key}:judged")) == _ROWS:
        about = "True losses of a private file: for your eyes, counted, never exported as a release."
        return _ask_own_rows(table, key, SENTENCES.fill("true_losses"), "I know: show truth, and count it", about)
    usual, known = guess_rows(table), find_known_rows(table)
    first = usual if usual is None else min(_MOST_ROWS, max(100, usual))
    kept = f"{key}:synthetic_rows:{'' if known is None else known.low}"
    typed = st.number_input(**look_of("synthetic_rows", max_value=_MOST_ROWS, value=first, key=kept))
    if typed is None:
        st.caption("How many rows your file has is not declared, so say about how many; nobody looks.")
        return None
    if known is None:  # for this page and the others
        remember(f"{_TYPED}:{table.source_key}", int(typed))
    unread = "Losses are those of a simulated table with your columns and bounds. No row of your file is read."
    draw_caption_with_badge("public", unread)
    return _keep_synthetic_table("study:synthetic_table", table, int(typed), k)


def ask_larger_rows(key: str, table: OpenTable, source: OpenTable | None, *, k: int) -> OpenTable | None:
    """Ask which rows are subsampled."""
    if ask_one_of(options=[_SAME, _LARGER], **look_of("subsamples", key=f"{key}:whose")) == _SAME:
        return source
    many = guess_rows(table) or (source.n_public if source is not None else None) or _MOST_ROWS_OF_A_LARGER // 10
    n = min(10 * many, max(_MOST_ROWS_OF_A_LARGER, table.n_public or 0))
    draw_caption_with_badge("public", f"A simulated table of {n:,} rows: no row of yours is read.")
    return _keep_synthetic_table("study:larger", table, n, k)


def guess_rows(table: OpenTable) -> int | None:
    """How many rows a synthetic table gets at first: as declared, bought, or typed on another page; else None."""
    known = find_known_rows(table)
    said = known.low if known is not None else recall(f"{_TYPED}:{table.source_key}", None)
    return None if said is None else min(said, max(1_000, _MOST_NUMBERS // table.domain.dim))


def find_known_rows(table: OpenTable) -> KnownRows | None:
    """What is publicly known of the number of rows: declared, bought by a run of this visit, or within a range."""
    if table.n_public is not None:
        return KnownRows(table.n_public, table.n_public)
    return KnownRows.read(replace(table.declaration, n_public=None), bought=find_bought_rows(table))


def _ask_own_rows(table: OpenTable, key: str, why: str, button: str, about: str) -> OpenTable | None:
    """The table itself; while its owner does not allow looks none, but ``why`` they are needed and a ``button``."""
    if is_reveal_allowed(table):
        draw_caption_with_badge("revealed", about)
        return table
    with st.container(border=True):
        st.markdown(f"{format_badge('revealed')} {why}")
        st.button(button, icon=":material/visibility:", key=f"{key}:allow", on_click=allow_reveal, args=(table,))
    return None


def _keep_synthetic_table(place: str, table: OpenTable, n: int, k: int) -> OpenTable:
    def make() -> OpenTable:
        with st.spinner("Making a synthetic table"):
            return make_synthetic_table(table, n=n, k=k)

    return make_once(place, (table.key, n, k), make)
