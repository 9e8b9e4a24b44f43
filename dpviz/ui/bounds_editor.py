"""The editor of declared bounds: a table to type into, one pair for all columns, or pasted JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import pandas as pd
import streamlit as st

from dpviz.table.csv_intake import LoadedTable
from dpviz.table.loaded_table import IntakeError
from dpviz.ui.bounds import ORIGINS, BoundsByColumn, ColumnBounds, as_frame, from_frame, pasted
from dpviz.ui.escape import plain

_STATE = "bounds_editor"
_ROW_PIXELS, _MOST_PIXELS = 35, 388


@dataclass
class _Typed:
    """What was typed for one file; ``version`` and ``key`` tell the editor's widget when to start afresh."""

    fingerprint: str
    bounds: BoundsByColumn
    version: int = 0
    key: str = ""
    frame: pd.DataFrame | None = None


def bounds_editor(
    loaded: LoadedTable, columns: Sequence[str], start: Mapping[str, ColumnBounds], *, public: bool
) -> BoundsByColumn:
    """Let the owner type bounds for ``columns``; what was typed stays for the visit, until another file comes.

    ``start`` fills the editor at first; for a private file it holds what a sidecar or an earlier declaration said,
    never anything read from the rows. Only for a ``public`` file may the rows themselves be asked.
    """
    typed = _typed_for(loaded, start)
    _quick_ways(loaded, columns, typed, public=public)
    key = f"bounds:{loaded.fingerprint[:12]}:{typed.version}:{hash(tuple(columns))}"
    if key not in st.session_state or typed.key != key:
        # The editor is new on the page: start it from what is known. While it lives, its input must not change.
        typed.key, typed.frame = key, as_frame(columns, typed.bounds)
    edited = st.data_editor(
        typed.frame,
        key=key,
        hide_index=True,
        num_rows="fixed",
        placeholder="not declared",
        disabled=["column"],
        height=min(_MOST_PIXELS, _ROW_PIXELS * (len(columns) + 1) + 3),
        column_config={
            "column": st.column_config.TextColumn("column", width="medium"),
            "lower": st.column_config.NumberColumn("lower bound", help="The least a value can be, data units."),
            "upper": st.column_config.NumberColumn("upper bound", help="The most a value can be, data units."),
            "origin": st.column_config.SelectboxColumn(
                "where from?", options=_origins(typed.bounds), help="Where did this bound come from?"
            ),
        },
        alt=f"Declared bounds of {len(columns)} columns and where they come from.",
    )
    typed.bounds |= from_frame(edited)
    return dict(typed.bounds)


def _quick_ways(loaded: LoadedTable, columns: Sequence[str], typed: _Typed, *, public: bool) -> None:
    with st.container(horizontal=True, gap="small"):
        with st.popover("One pair for all", icon=":material/width:"):
            _one_pair(loaded, columns, typed)
        with st.popover("Paste JSON", icon=":material/data_object:"):
            _paste(loaded, columns, typed)
        if public and st.button(
            "Fill from the rows",
            icon=":material/unfold_more:",
            key=f"bounds:{loaded.fingerprint[:12]}:fill",
            help="Least and largest value of each column: allowed because this file is public.",
        ):
            values = loaded.frame[list(columns)]
            low, high = values.min().to_list(), values.max().to_list()
            pairs = zip(columns, low, high, strict=True)
            _change(typed, {name: ColumnBounds(float(a), float(b), "public data") for name, a, b in pairs})


def _one_pair(loaded: LoadedTable, columns: Sequence[str], typed: _Typed) -> None:
    with st.form(f"bounds:{loaded.fingerprint[:12]}:pair", border=False):
        low = st.number_input("lower bound of every column", value=None, format="%g")
        high = st.number_input("upper bound of every column", value=None, format="%g")
        origin = st.selectbox("where from?", ORIGINS, index=None, placeholder="choose")
        if st.form_submit_button("Use for all columns"):
            _change(typed, {name: ColumnBounds(low, high, origin or "") for name in columns})


def _paste(loaded: LoadedTable, columns: Sequence[str], typed: _Typed) -> None:
    with st.form(f"bounds:{loaded.fingerprint[:12]}:json", border=False):
        text = st.text_area(
            "bounds as JSON",
            placeholder='{"bounds": {"age": [18, 100]},\n "bounds_origin": "law"}',
            help="The sidecar format of the command line; or one pair for all: lower, upper.",
            key="bounds_json",
        )
        if st.form_submit_button("Use these"):
            try:
                _change(typed, pasted(text or "", columns))
            except IntakeError as error:
                st.error(plain(error), icon=":material/block:")


def _change(typed: _Typed, bounds: Mapping[str, ColumnBounds]) -> None:
    typed.bounds |= bounds
    typed.version += 1


def _typed_for(loaded: LoadedTable, start: Mapping[str, ColumnBounds]) -> _Typed:
    typed = cast("_Typed | None", st.session_state.get(_STATE))
    if typed is None or typed.fingerprint != loaded.fingerprint:
        typed = st.session_state[_STATE] = _Typed(loaded.fingerprint, dict(start))
    return typed


def _origins(bounds: BoundsByColumn) -> list[str]:
    """The usual origins, and those that a sidecar brought along."""
    return list(dict.fromkeys([*ORIGINS, *(one.origin for one in bounds.values() if one.origin)]))
