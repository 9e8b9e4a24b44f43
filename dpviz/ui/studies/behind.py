"""The numbers behind a picture: a table to unfold, and a file of it where its rows may leave."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dpviz.runs.export import REVEALED_NOTE, frame_csv, revealed_name
from dpviz.runs.open_table import OpenTable
from dpviz.ui.badges import badge_text
from dpviz.ui.figure import data_table


def numbers_behind(
    table: pd.DataFrame, source: OpenTable, *, key: str, stem: str, alt: str, growing: bool = False
) -> None:
    """An expander with ``table``, and its CSV unless it was read from a private file: that leaves by no door.

    A table that is still ``growing`` has no file yet: the next picture would replace it under the reader's hand.
    """
    behind = st.expander("The numbers behind it", icon=":material/table:", key=f"{key}:table", on_change="rerun")
    if not behind.open:
        return
    with behind:
        data_table(table, alt=alt, height="auto")
        if not source.kind.may_be_shown:
            st.caption(
                f"{badge_text('revealed')} Losses of a private file are for your eyes: there is no file of them."
            )
            return
        if growing:
            return
        st.download_button(
            "These numbers (CSV)",
            frame_csv(table, note=REVEALED_NOTE),
            revealed_name(stem),
            "text/csv",
            icon=":material/download:",
            on_click="ignore",
            key=f"{key}:csv",
        )
