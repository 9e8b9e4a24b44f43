"""The editor of declared bounds: a table to type into, or one pair for all columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import pandas as pd
import streamlit as st

from dpviz.table.declaration import FROM_ROWS, ORIGINS, Declaration
from dpviz.ui.data.begun import Begun
from dpviz.ui.data.bounds import BoundsByColumn, ColumnBounds, as_frame, from_frame

_STATE = "bounds_editor"
_ROW_PIXELS, _MOST_PIXELS = 35, 388


@dataclass
class _Typed:
    """What was typed for one source; ``version`` and ``key`` tell the editor's widget when to start afresh.

    ``begun`` is the version of the form that was taken over; ``filled`` are bounds that were read from the rows.
    """

    source: int
    begun: int
    bounds: BoundsByColumn
    filled: BoundsByColumn
    version: int = 0
    key: str = ""
    frame: pd.DataFrame | None = None


def bounds_editor(begun: Begun, columns: Sequence[str], *, fill: Callable[[], BoundsByColumn] | None) -> BoundsByColumn:
    """Let the owner type bounds for ``columns``; what was typed stays for the visit, until another file comes.

    What the form begins with fills the editor at first. ``fill`` reads bounds from the rows: for a file that anybody
    may see; None for a private one, whose bounds come from declarations only. Bounds that were filled in while a
    file was said to be public are called what they are once it is private.
    """
    typed = _typed_for(begun)
    if fill is None and typed.filled:
        read = {name: one for name, one in typed.filled.items() if typed.bounds.get(name, one)[:2] == one[:2]}
        _change(typed, {name: one._replace(origin=FROM_ROWS) for name, one in read.items()})
        typed.filled = {}
    number = begun.source.number
    _quick_ways(number, columns, typed, fill)
    key = f"bounds:{number}:{typed.version}:{hash(tuple(columns))}"
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


def _quick_ways(number: int, columns: Sequence[str], typed: _Typed, fill: Callable[[], BoundsByColumn] | None) -> None:
    with st.container(horizontal=True, gap="small"):
        with st.popover("One pair for all", icon=":material/width:"):
            _one_pair(number, columns, typed)
        if fill is not None and st.button(
            "Fill from the rows",
            icon=":material/unfold_more:",
            key=f"bounds:{number}:fill",
            help="Least and largest value of each column: allowed because this file is public.",
        ):
            found = fill()
            _change(typed, found)
            typed.filled |= found


def _one_pair(number: int, columns: Sequence[str], typed: _Typed) -> None:
    with st.form(f"bounds:{number}:pair", border=False):
        low = st.number_input("lower bound of every column", value=None, format="%g")
        high = st.number_input("upper bound of every column", value=None, format="%g")
        origin = st.selectbox("where from?", ORIGINS, index=None, placeholder="choose")
        if st.form_submit_button("Use for all columns"):
            _change(typed, {name: ColumnBounds(low, high, origin or "") for name in columns})


def _change(typed: _Typed, bounds: Mapping[str, ColumnBounds]) -> None:
    typed.bounds |= bounds
    typed.version += 1


def _typed_for(begun: Begun) -> _Typed:
    typed = cast("_Typed | None", st.session_state.get(_STATE))
    if typed is None or typed.source != begun.source.number:
        typed = st.session_state[_STATE] = _Typed(begun.source.number, begun.version, _bounds_of(begun.start), {})
    elif typed.begun != begun.version:
        typed.begun = begun.version
        _change(typed, _bounds_of(begun.start))
    return typed


def _bounds_of(start: Declaration) -> BoundsByColumn:
    origins = start.origins or ("",) * len(start.columns)
    lines = zip(start.columns, start.lower, start.upper, origins, strict=True)
    return {name: ColumnBounds(low, high, origin) for name, low, high, origin in lines}


def _origins(bounds: BoundsByColumn) -> list[str]:
    """The usual origins, and those that a sidecar brought along."""
    return list(dict.fromkeys([*ORIGINS, *(one.origin for one in bounds.values() if one.origin)]))
