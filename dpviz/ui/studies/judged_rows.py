"""The rows that a study reads losses from: the table's own where its owner allows it, else those of a stand-in.

A stand-in is a simulated twin of the open table: same columns, bounds and relation, nobody in it, free to look at.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import streamlit as st

from dpviz.glossary import explained
from dpviz.runs.advice.known_rows import KnownRows, rows_said
from dpviz.runs.open_table import OpenTable
from dpviz.runs.stand_ins import stand_in
from dpviz.ui.badges import badge_text, badged
from dpviz.ui.looks import allow_reveal, reveal_allowed
from dpviz.ui.session import bought_rows, remember, remembered

_TYPED = "judged:rows"
_STAND_IN, _ROWS = "a stand-in", "the rows themselves"
_SAME, _LARGER = "the rows above", "a larger stand-in"
_MOST_NUMBERS = 5_000_000
_MOST_ROWS, _MOST_ROWS_OF_A_LARGER = 1_000_000, 300_000


def judged_rows(table: OpenTable, key: str, *, k: int) -> OpenTable | None:
    """The table whose rows a study reads losses from, or None while the owner has not decided.

    Choosing by true utility leaks: a private file is judged on a stand-in unless its owner says otherwise.
    """
    if table.kind.may_be_shown:
        return _rows_themselves(
            table,
            key,
            why="Losses are read from the rows, and **Show truth** is off for this table.",
            button="Show truth for this table",
            about="Losses are read from the rows.",
        )
    choice = st.segmented_control(
        "Judge the results on",
        [_STAND_IN, _ROWS],
        default=_STAND_IN,
        required=True,
        key=f"{key}:judged",
        persist_state="session",
        help=explained(
            "stand-in",
            "The rows themselves tell more, but an algorithm, k or ε that was chosen by its true loss carries some of "
            "the rows into the release, unpaid.",
        ),
    )
    if choice == _ROWS:
        return _rows_themselves(
            table,
            key,
            why="This reads true losses from a private file. Whatever is chosen by them (the algorithm, k, ε) leaks "
            "something that no ledger pays for. Each study is counted as a look and listed on the Ledger page.",
            button="I know: show truth, and count it",
            about="True losses of a private file: for your eyes, counted, never exported as a release.",
        )
    usual, known = rows_for(table), known_rows_of(table)
    typed = st.number_input(
        "Rows in the stand-in",
        100,
        _MOST_ROWS,
        value=usual if usual is None else min(_MOST_ROWS, max(100, usual)),
        step=1_000,
        key=f"{key}:stand_in_rows:{'' if known is None else known.low}",
        placeholder="about how many your file has",
        help="About as many as your file has, if the picture is to carry over: more rows make privacy cheaper.",
    )
    n = _given(table, typed)
    if n is None:
        st.caption("How many rows your file has is not declared, so say about how many; nobody looks.")
        return None
    badged("public", "Losses are those of a simulated table with your columns and bounds. No row of your file is read.")
    return _kept_stand_in("study:stand_in", table, int(n), k)


def larger_or_same(key: str, table: OpenTable, source: OpenTable | None, *, k: int) -> OpenTable | None:
    """The rows that are subsampled: those of ``source``, or of a stand-in with more."""
    chosen = st.segmented_control(
        "Subsamples of",
        [_SAME, _LARGER],
        default=_SAME,
        required=True,
        key=f"{key}:whose",
        persist_state="session",
        help=explained("stand-in", "It says what more rows would bring; subsamples, what fewer would cost."),
    )
    if chosen == _SAME:
        return source
    many = rows_for(table) or (source.n_public if source is not None else None) or _MOST_ROWS_OF_A_LARGER // 10
    n = min(10 * many, max(_MOST_ROWS_OF_A_LARGER, table.n_public or 0))
    badged("public", f"A simulated table of {n:,} rows: no row of yours is read.")
    return _kept_stand_in("study:larger", table, n, k)


def rows_for(table: OpenTable) -> int | None:
    """How many rows a stand-in gets at first: as many as are declared, bought, or typed on another page; else None."""
    known = known_rows_of(table)
    said = known.low if known is not None else remembered(f"{_TYPED}:{table.source_key}", None)
    return None if said is None else min(said, max(1_000, _MOST_NUMBERS // table.domain.dim))


def known_rows_of(table: OpenTable) -> KnownRows | None:
    """What is publicly known of the number of rows: declared, bought by a run of this visit, or within a range."""
    if table.n_public is not None:
        return KnownRows(table.n_public, table.n_public)
    return rows_said(replace(table.declaration, n_public=None), bought=bought_rows(table))


def _given(table: OpenTable, typed: float | None) -> int | None:
    """What was typed, for this page and the others."""
    if typed is not None and known_rows_of(table) is None:
        remember(f"{_TYPED}:{table.source_key}", int(typed))
    return None if typed is None else int(typed)


def _rows_themselves(table: OpenTable, key: str, *, why: str, button: str, about: str) -> OpenTable | None:
    """The table itself; while its owner does not allow looks none, but ``why`` they are needed and a ``button``."""
    if reveal_allowed(table):
        badged("revealed", about)
        return table
    with st.container(border=True):
        st.markdown(f"{badge_text('revealed')} {why}")
        icon = ":material/visibility:"
        st.button(button, icon=icon, key=f"{key}:allow", on_click=allow_reveal, args=(table,))
    return None


def _kept_stand_in(place: str, table: OpenTable, n: int, k: int) -> OpenTable:
    wanted = (table.key, n, k)
    kept = cast("tuple[Any, OpenTable] | None", st.session_state.get(place))
    if kept is None or kept[0] != wanted:
        with st.spinner("Simulating a stand-in"):
            kept = st.session_state[place] = (wanted, stand_in(table, n=n, k=k))
    return kept[1]
