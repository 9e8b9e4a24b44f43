"""A figure as wide as the page: what it found stands above it as text of the page, which wraps by itself."""

from __future__ import annotations

from collections.abc import Callable

import plotly.graph_objects as go
import streamlit as st

from dpviz.charts.canvas import without_head
from dpviz.ui.escape import plain
from dpviz.ui.figure import show


def show_wide(figure: go.Figure, *, alt: str, key: str, stem: str, on_click: Callable[[], None] | None = None) -> None:
    """Title and subtitle as text, and the figure below them: a figure itself breaks its lines for a phone."""
    title, subtitle, plot = without_head(figure)
    with st.container(gap="xsmall"):
        st.markdown(f"**{plain(title)}**")
        if subtitle:
            st.caption(plain(subtitle))
    show(plot, alt=alt, key=key, stem=stem, on_click=on_click)
