"""The sidebar of every page: what is open, what was promised about it, who looked, and what the badges mean."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpviz.runs.open_table import OpenTable
from dpviz.table.declaration import FileKind
from dpviz.ui.badges import badge
from dpviz.ui.escape import plain
from dpviz.ui.looks import reveal_switch
from dpviz.ui.session import current_table, private_looks
from dpviz.ui.table_words import KIND_WORDS, columns_words, rows_line, unit_line


def sidebar() -> Callable[[], None]:
    """Draw the sidebar; call the result once the page has run, so that its own looks are counted too."""
    with st.sidebar:
        table = current_table()
        if table is None:
            st.markdown("**No table is open yet**")
            st.caption("Pick a sample on the Home page, or bring a file on the Data page.")
        else:
            _about(table)
        looks_place = st.empty()
        st.divider()
        st.caption("Everything shown is one of three kinds:")
        with st.container(horizontal=True, gap="xsmall"):
            badge("public")
            badge("released")
            badge("revealed")
    _count_looks(looks_place)
    return lambda: _count_looks(looks_place)


def _about(table: OpenTable) -> None:
    st.markdown(f"**{plain(table.title)}**")
    color = "orange" if table.kind == FileKind.PRIVATE else "gray"
    st.markdown(f":{color}-badge[{KIND_WORDS[table.kind]}]")
    st.caption(f"{columns_words(table.domain.columns)}  \n{rows_line(table)}  \nprotects {unit_line(table)}")
    reveal_switch(table)


def _count_looks(place: DeltaGenerator) -> None:
    looks, table = len(private_looks()), current_table()
    if looks or (table is not None and table.kind == FileKind.PRIVATE):
        place.caption(f":material/visibility: {looks:d} look{'' if looks == 1 else 's'} at private rows in this visit")
