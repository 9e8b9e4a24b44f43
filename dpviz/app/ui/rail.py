"""The rail at the left of a page: what is open at its head; at its foot whether truth is shown, and who looked.

Between the two, a page puts its own controls: ``with st.sidebar:``.
"""

from __future__ import annotations

import streamlit as st

from dpviz.app.ui.data_access import draw_reveal_switch
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.session import find_table
from dpviz.app.ui.table_words import KIND_WORDS, describe_size, describe_unit
from dpviz.core import ACCESS_LOG, MOST_SAMPLED
from dpviz.tables import FileKind

WIDTH = 264
"""Pixels."""


def draw_rail_head() -> None:
    """Which table is open, of what kind and size, and whom ε protects."""
    table = find_table()
    with st.sidebar:
        if table is None:
            st.markdown("**No table is open**  \n:small[:gray[Open one on Home or Data.]]")
        else:
            st.markdown(
                f"**{escape_markdown(table.title)}**  \n:small[:gray[{KIND_WORDS[table.kind]} · "
                f"{describe_size(table)}]]  \n"
                f":small[:gray[protects {describe_unit(table)}]]"
            )


def draw_rail_foot(*, with_truth: bool = True) -> None:
    """The owner's switch ``with_truth``, and the number of looks at private rows."""
    table = find_table()
    with st.sidebar:
        if with_truth and table is not None and draw_reveal_switch(table) and not table.private.in_memory:
            st.caption(f"Rows, losses and k-means++ are those of {MOST_SAMPLED:,} rows that stand for all of them.")
        if table is not None and table.kind is FileKind.PRIVATE:
            looks = sum(ACCESS_LOG.count(table.source_key).looks.values())
            st.caption(
                f":material/visibility: {looks:d} look{'' if looks == 1 else 's'} at private rows in this process"
            )
