"""The editor of declared bounds: a table to type into, one pair for all columns, or the rows of a public file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from dpviz.table.declaration import FROM_ROWS, NO_BOUNDS, ORIGINS, ColumnBounds
from dpviz.ui.data.draft import Draft


def bounds_editor(draft: Draft, columns: Sequence[str], *, public: bool) -> None:
    """Let the owner type bounds for ``columns``; what was typed stays for the visit, until another file comes.

    Bounds of a private file come from declarations only; those that were filled in from the rows while it was said to
    be public are called what they are.
    """
    if draft.filled and not public:
        same = {name: read for name, read in draft.filled.items() if draft.bounds.get(name, read)[:2] == read[:2]}
        draft.set_bounds({name: read._replace(origin=FROM_ROWS) for name, read in same.items()})
        draft.filled = {}
    with st.container(horizontal=True, gap="small"):
        with st.popover("One pair for all", icon=":material/width:"):
            _one_pair(draft, columns)
        if public and st.button(
            "Fill from the rows",
            icon=":material/unfold_more:",
            key=draft.key("fill"),
            help="Least and largest value of each column: allowed because this file is public.",
        ):
            read = _from_rows(draft, columns)
            draft.set_bounds(read)
            draft.filled |= read
    origins = dict.fromkeys([*ORIGINS, *(bounds.origin for bounds in draft.bounds.values() if bounds.origin)])
    edited = draft.table(
        "bounds",
        as_frame(columns, draft.bounds),
        {
            "lower": st.column_config.NumberColumn("lower bound", help="The least a value can be, data units."),
            "upper": st.column_config.NumberColumn("upper bound", help="The most a value can be, data units."),
            "origin": st.column_config.SelectboxColumn(
                "where from?", options=list(origins), help="Where did this bound come from?"
            ),
        },
        draft.times_set,
        placeholder="not declared",
        alt=f"Declared bounds of {len(columns)} columns and where they come from.",
    )
    draft.bounds |= from_frame(edited)


def as_frame(columns: Sequence[str], bounds: Mapping[str, ColumnBounds]) -> pd.DataFrame:
    """The editor's table: one line a column."""
    lower, upper, origins = zip(*(bounds.get(column, NO_BOUNDS) for column in columns), strict=True)
    return pd.DataFrame(
        {
            "column": pd.Series(list(columns), dtype="str"),
            "lower": pd.Series(lower, dtype="float64"),
            "upper": pd.Series(upper, dtype="float64"),
            "origin": pd.Series([origin or None for origin in origins], dtype="object"),
        }
    )


def from_frame(frame: pd.DataFrame) -> dict[str, ColumnBounds]:
    """What the editor's table says."""
    said = frame.astype(object).where(frame.notna(), None)
    return {
        str(name): ColumnBounds(low, high, origin or "") for name, low, high, origin in said.itertuples(index=False)
    }


def _one_pair(draft: Draft, columns: Sequence[str]) -> None:
    with st.form(draft.key("pair"), border=False):
        low = st.number_input("lower bound of every column", value=None, format="%g")
        high = st.number_input("upper bound of every column", value=None, format="%g")
        origin = st.selectbox("where from?", ORIGINS, index=None, placeholder="choose")
        if st.form_submit_button("Use for all columns"):
            draft.set_bounds(dict.fromkeys(columns, ColumnBounds(low, high, origin or "")))


def _from_rows(draft: Draft, columns: Sequence[str]) -> dict[str, ColumnBounds]:
    """Least and largest values among the whole rows of a public source."""
    values = draft.rows(columns).columns(columns)
    whole = values[np.isfinite(values).all(axis=1)]
    if not len(whole):
        return {}
    pairs = zip(columns, whole.min(axis=0).tolist(), whole.max(axis=0).tolist(), strict=True)
    return {name: ColumnBounds(low, high, "public data") for name, low, high in pairs}
