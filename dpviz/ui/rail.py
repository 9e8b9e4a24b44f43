"""The rail at the left of every page: what is open at its head; at its foot whether truth is shown, and who looked.

Between the two, a page puts its own controls: ``with st.sidebar:``.
"""

from __future__ import annotations

import streamlit as st

from dpviz.table.declaration import FileKind
from dpviz.table.row_sample import MOST_SAMPLED
from dpviz.ui.badges import badge
from dpviz.ui.escape import plain
from dpviz.ui.looks import reveal_switch
from dpviz.ui.session import current_table, private_looks
from dpviz.ui.table_words import KIND_WORDS, size_words, unit_line

WIDTH = 264
"""Pixels."""


def rail_head() -> None:
    """Which table is open, of what kind and size, and whom ε protects."""
    table = current_table()
    with st.sidebar:
        if table is None:
            st.markdown("**No table is open**  \n:small[:gray[Open one on Home or Data.]]")
        else:
            st.markdown(
                f"**{plain(table.title)}**  \n:small[:gray[{KIND_WORDS[table.kind]} · {size_words(table)}]]  \n"
                f":small[:gray[protects {unit_line(table)}]]"
            )


def rail_foot(*, with_truth: bool = True) -> None:
    """The owner's switch ``with_truth``, the number of looks at private rows, and what the kinds of values are."""
    table = current_table()
    with st.sidebar:
        if with_truth and table is not None and reveal_switch(table) and not table.private.in_memory:
            st.caption(f"Rows, losses and k-means++ are those of {MOST_SAMPLED:,} rows that stand for all of them.")
        looks = len(private_looks())
        if looks or (table is not None and table.kind is FileKind.PRIVATE):
            st.caption(f":material/visibility: {looks:d} look{'' if looks == 1 else 's'} at private rows in this visit")
        with st.container(horizontal=True, gap="xsmall"):
            badge("public")
            badge("released")
            if with_truth:
                badge("revealed")
