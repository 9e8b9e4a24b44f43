"""What was decided while a file was read, said loudly where it changes the result."""

from __future__ import annotations

import streamlit as st

from dpviz.table.csv_intake import LoadedTable
from dpviz.ui.escape import plain
from dpviz.ui.table_words import columns_words

_NOTES_SHOWN = 12


def intake_notes(loaded: LoadedTable) -> None:
    """Columns by kind, and every note of the intake; neither counts nor values."""
    text = f"; {columns_words(loaded.text_columns, 4, of_kind='text')}" if loaded.text_columns else ""
    st.caption(f"{columns_words(loaded.numeric_columns, of_kind='numeric')}{text}")
    if loaded.constant_columns:
        st.warning(
            f"{columns_words(loaded.constant_columns)}. A constant column tells no groups apart but costs noise: "
            "leave it out.",
            title="Constant columns",
            icon=":material/horizontal_rule:",
        )
    if loaded.skipped_lines:
        st.warning(
            "Some lines hold more fields than the header has names. They were left out.",
            title="Lines left out",
            icon=":material/content_cut:",
        )
    if loaded.notes:
        shown = loaded.notes[:_NOTES_SHOWN]
        rest = len(loaded.notes) - len(shown)
        lines = [*map(plain, shown), *([f"and {rest} more notes"] if rest > 0 else [])]
        st.warning("\n".join(f"- {line}" for line in lines), title="How the file was read", icon=":material/info:")
    st.caption(
        "Rows with a missing cell in a chosen column are left out where people may be added or removed; where they are "
        "replaced, the middle of the bounds stands in for them."
    )
