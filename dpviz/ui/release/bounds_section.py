"""Where every bound comes from: blocked where it is the rows or nobody, and what a bought one costs."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from dpviz.charts.wording import number, things
from dpviz.check import RequestError
from dpviz.glossary import explained
from dpviz.release.bought_bounds import open_columns
from dpviz.release.order import Order, refuse_bounds
from dpviz.release.promise import plain_number
from dpviz.table.declaration import FROM_ROWS, Declaration
from dpviz.ui.escape import plain
from dpviz.ui.release.subject import Subject

_MOST_LINES = 12
_NOWHERE = "not stated"
_ALL, _SAID_OF_ALL = "Said of all bounds", "see below"


class Line(NamedTuple):
    """One column: what is declared of it, where that comes from, and what is wrong with it, or what it costs."""

    column: str
    bounds: str
    origin: str
    wrong: str = ""
    cost: str = ""


def bounds_section(order: Order, asked_of: Subject) -> list[str]:
    """Draw the table; what in it stands against the release, a sentence each."""
    declared = asked_of.declaration
    st.subheader("Where every bound comes from", divider="gray", anchor=False, help=explained("bounds"))
    against = _against(declared)
    lines = sorted(lines_of(order, declared), key=lambda line: not (line.wrong or line.cost))
    st.markdown(_table(lines[:_MOST_LINES]))
    if len(lines) > _MOST_LINES:
        with st.expander(f"{len(lines) - _MOST_LINES:d} more columns, all declared"):
            st.markdown(_table(lines[_MOST_LINES:]))
    if declared.bounds_origin.strip():
        st.caption(f"{_ALL}: {plain(declared.bounds_origin.strip())}")
    for words in against:
        st.markdown(f":red[:material/block: {plain(words)}]")
    st.page_link("data.py", label="Change bounds, or where they come from", icon=":material/edit:")
    return against


def lines_of(order: Order, declared: Declaration) -> list[Line]:
    """A line for each column; those of segments only come last."""
    to_buy = open_columns(declared)
    lines = []
    for name, bounds in declared.bounds.items():
        unit, origin, stated = declared.units.get(name, ""), declared.origin_of(name), bounds.origin or _SAID_OF_ALL
        if name in to_buy:
            cost = f"will be bought with ε = {number(order.request.epsilon * order.bounds)}"
            lines.append(Line(name, "open", "nobody knows them", cost=cost))
            continue
        wrong = "blocked: the rows" if FROM_ROWS in origin else "blocked: nobody says" if origin == _NOWHERE else ""
        span = f"{plain_number(bounds.lower or 0.0)} to {plain_number(bounds.upper or 0.0)} {unit}".rstrip()
        lines.append(Line(name, span, origin if origin == _NOWHERE else stated, wrong))
    for name, one in declared.describe.items():
        low, high = one.lower, one.upper
        said = (
            things(len(one.categories), "category", "categories")
            if low is None or high is None
            else (f"{plain_number(low)} to {plain_number(high)}")
        )
        lines.append(Line(name, said, "declared, for segments only"))
    return lines


def _against(declared: Declaration) -> list[str]:
    try:
        refuse_bounds(declared)
    except RequestError as error:
        return [str(error)]
    return []


def _table(lines: list[Line]) -> str:
    head = "| column | bounds | where from |\n|---|---|---|"
    rows = [f"| {plain(one.column)} | {plain(one.bounds)} | {_where_from(one)} |" for one in lines]
    return "\n".join([head, *rows])


def _where_from(line: Line) -> str:
    if line.wrong:
        said = f" ({plain(line.origin)})" if line.origin not in (_NOWHERE, FROM_ROWS) else ""
        return f":red[:material/block: **{plain(line.wrong)}**]{said}"
    return f"**{plain(line.cost)}**" if line.cost else plain(line.origin)
