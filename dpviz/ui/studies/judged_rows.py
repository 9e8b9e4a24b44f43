"""The rows that a study reads losses from: the table's own where its owner allows it, else those of a stand-in."""

from __future__ import annotations

from typing import Any, cast

import streamlit as st

from dpviz.runs.open_table import OpenTable
from dpviz.table.declaration import FileKind
from dpviz.ui.badges import badge_text
from dpviz.ui.looks import allow_reveal, reveal_allowed
from dpviz.ui.studies.stand_in import rows_for, stand_in

_STAND_IN, _ROWS = "a stand-in", "the rows themselves"
_MOST_STAND_IN_ROWS = 1_000_000


def judged_rows(table: OpenTable, key: str, *, k: int) -> OpenTable | None:
    """The table whose rows a study reads losses from, or None while the owner has not decided.

    Choosing by true utility leaks: a private file is judged on a stand-in unless its owner says otherwise.
    """
    if table.kind.may_be_shown:
        if not reveal_allowed(table):
            _ask_for_truth(table, key, "Losses are read from the rows, and **Show truth** is off for this table.")
            return None
        st.caption(f"{badge_text('revealed')} Losses are read from the rows of this {table.kind.value} table.")
        return table
    choice = st.segmented_control(
        "Judge the results on",
        [_STAND_IN, _ROWS],
        default=_STAND_IN,
        required=True,
        key=f"{key}:judged",
        persist_state="session",
        help="A stand-in is simulated from the declared bounds; nobody is in it. The rows themselves tell more, but "
        "an algorithm, k or ε that was chosen by its true loss carries some of the rows into the release, unpaid.",
    )
    if choice == _ROWS:
        return _rows_themselves(table, key)
    n = st.number_input(
        "Rows in the stand-in",
        100,
        _MOST_STAND_IN_ROWS,
        value=rows_for(table),
        step=1_000,
        width=320,
        key=f"{key}:stand_in_rows",
        help="About as many as your file has, if the picture is to carry over: more rows make privacy cheaper.",
    )
    st.caption(
        f"{badge_text('public')} Losses below are those of a simulated table with the declared columns and bounds, "
        f"{n:,} rows and {k} clusters. No row of your file is read."
    )
    return _kept_stand_in(table, int(n), k, key)


def _rows_themselves(table: OpenTable, key: str) -> OpenTable | None:
    if not reveal_allowed(table):
        _ask_for_truth(
            table,
            key,
            "This reads true losses from a private file. Whatever is chosen by them (the algorithm, k, ε) leaks "
            "something that no ledger pays for. Each study is counted as a look and listed on the Ledger page.",
        )
        return None
    st.caption(
        f"{badge_text('revealed')} True losses of a private file: for your eyes, counted, never exported as a release."
    )
    return table


def _ask_for_truth(table: OpenTable, key: str, why: str) -> None:
    with st.container(border=True):
        st.markdown(f"{badge_text('revealed')} {why}")
        st.button(
            "Show truth for this table" if table.kind is not FileKind.PRIVATE else "I know: show truth, and count it",
            icon=":material/visibility:",
            key=f"{key}:allow",
            on_click=allow_reveal,
            args=(table,),
        )


def _kept_stand_in(table: OpenTable, n: int, k: int, key: str) -> OpenTable:
    wanted = (table.key, n, k)
    kept = cast("tuple[Any, OpenTable] | None", st.session_state.get("study:stand_in"))
    if kept is None or kept[0] != wanted:
        with st.spinner("Simulating a stand-in"):
            kept = (wanted, stand_in(table, n=n, k=k))
        st.session_state["study:stand_in"] = kept
    return kept[1]
