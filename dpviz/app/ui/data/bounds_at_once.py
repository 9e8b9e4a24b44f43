"""Bounds of many columns at once: one pair for all, lines that are pasted, or what the rows of a public file span."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import streamlit as st

from dpviz.app.ui.data.draft import Draft
from dpviz.app.ui.escape import escape_markdown
from dpviz.tables import IntakeError, declarations
from dpviz.words import list_names

_MARKS = ("\t", ";", ",")


def draw_bounds_at_once(draft: Draft, *, public: bool) -> None:
    """The buttons for bounds of many columns.

    Bounds of a private file come from declarations only; those that were filled in from the rows while it was said to
    be public are called what they are.
    """
    if draft.filled and not public:
        still = {name: read for name, read in draft.filled.items() if _shares_a_bound(draft, name, read)}
        draft.set_bounds({name: draft.bounds[name]._replace(origin=declarations.FROM_ROWS) for name in still})
        draft.filled = {}
    with st.popover("Same bounds for all", icon=":material/width:"):
        _draw_one_pair(draft)
    with st.popover("Paste bounds", icon=":material/content_paste:"):
        _draw_paste_box(draft)
    chosen = [name for name in draft.columns if name in draft.numbers]
    if public and st.button(
        "Fill from the rows",
        icon=":material/unfold_more:",
        key=draft.make_key("fill"),
        disabled=not chosen,
        help="Least and largest value of each ticked column: allowed because this file is public.",
    ):
        read = _measure_bounds(draft, chosen)
        draft.set_bounds(read)
        draft.filled |= read


class Pasted(NamedTuple):
    """What lines say, by column."""

    bounds: dict[str, declarations.ColumnBounds]
    units: dict[str, str]


def read_bounds(text: str, names: Sequence[str]) -> Pasted:
    """Bounds and units by column in lines ``name,lower,upper,unit``; semicolons or tabs will do, and the unit may miss.

    A first line that holds no number is a heading.

    >>> read_bounds("age,0,120,years", ["age"]).bounds["age"].upper
    120.0
    """
    mark = next((mark for mark in _MARKS if mark in text), ",")
    records = csv.reader(io.StringIO(text), delimiter=mark, skipinitialspace=True)
    pasted = Pasted({}, {})
    try:
        lines = [(place, [cell.strip() for cell in record]) for place, record in enumerate(records, start=1)]
    except csv.Error:
        raise IntakeError("The lines cannot be taken apart; write name,lower,upper,unit, one column a line.") from None
    for place, (name, *cells) in ((place, cells) for place, cells in lines if any(cells)):
        low, high, unit, *rest = [*cells, "", "", ""]
        if place == 1 and name not in names and _read_number(low) is None and _read_number(high) is None:
            continue
        if name not in names:
            raise IntakeError(f"Line {place} names no column of the file; the columns are {list_names(names)}.")
        if any(rest) or (low and _read_number(low) is None) or (high and _read_number(high) is None):
            raise IntakeError(f"Line {place} is not name,lower,upper,unit; write numbers with a decimal point.")
        if len(unit) > declarations.LONGEST_UNIT or not unit.isprintable():
            raise IntakeError(
                f"The unit in line {place} is longer than {declarations.LONGEST_UNIT} characters; shorten it."
            )
        pasted.bounds[name] = declarations.ColumnBounds(_read_number(low), _read_number(high))
        if unit:
            pasted.units[name] = unit
    if not pasted.bounds:
        raise IntakeError("There is no line to read; write name,lower,upper,unit, one column a line.")
    return pasted


def _read_number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) else None


def _shares_a_bound(draft: Draft, name: str, read: declarations.ColumnBounds) -> bool:
    now = draft.bounds.get(name, read)
    return now.lower == read.lower or now.upper == read.upper


def _draw_one_pair(draft: Draft) -> None:
    with st.form(draft.make_key("pair"), border=False):
        low = st.number_input("lower bound of every column", value=None, format="%.12g")
        high = st.number_input("upper bound of every column", value=None, format="%.12g")
        origin = st.selectbox("where from?", declarations.ORIGINS, index=None, placeholder="choose")
        st.caption("For the ticked columns; for all, if none is.")
        if st.form_submit_button("Use for all columns"):
            chosen = [name for name in draft.columns if name in draft.numbers] or draft.numbers
            draft.use(*chosen)
            draft.set_bounds(dict.fromkeys(chosen, declarations.ColumnBounds(low, high, origin or "")))


def _draw_paste_box(draft: Draft) -> None:
    with st.form(draft.make_key("paste"), border=False):
        text = st.text_area("One column a line", placeholder="name,lower,upper,unit\nage,0,120,years", height=160)
        if not st.form_submit_button("Use these lines"):
            return
        try:
            pasted = read_bounds(text or "", draft.numbers)
        except IntakeError as error:
            st.error(escape_markdown(error), icon=":material/block:")
            return
        draft.use(*pasted.bounds)
        draft.units |= pasted.units
        draft.set_bounds(pasted.bounds)


def _measure_bounds(draft: Draft, columns: Sequence[str]) -> dict[str, declarations.ColumnBounds]:
    """Least and largest values among the whole rows of a public source."""
    values = draft.read_columns(columns).columns(columns)
    whole = values[np.isfinite(values).all(axis=1)]
    if not len(whole):
        return {}
    pairs = zip(columns, whole.min(axis=0).tolist(), whole.max(axis=0).tolist(), strict=True)
    return {name: declarations.ColumnBounds(low, high, "public data") for name, low, high in pairs}
