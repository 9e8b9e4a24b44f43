"""Figures, tables and badges on a page: in the app's own colours, and nothing that would send them anywhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from dpviz.app.charts.canvas import TitledPlot
from dpviz.app.charts.plot import Plot, make_config
from dpviz.app.ui.escape import escape_markdown
from dpviz.words import Kind, glossary

_MOST_TABLE_ROWS, _TABLE_HEIGHT = 5_000, 480


def show(
    plot: Plot, *, alt: str, key: str, stem: str, bare: bool = False, on_click: Callable[[], None] | None = None
) -> None:
    """A plot, which the reader may download."""
    look: dict[str, Any] = {"theme": None, "key": key, "alt": alt, "config": make_config(stem)}
    if bare:
        look["config"] |= {"displayModeBar": False}
    if on_click is not None:
        look |= {"on_select": on_click, "selection_mode": "points"}
    st.plotly_chart(plot.figure(), **look)


def show_wide(
    shown: TitledPlot, *, alt: str, key: str, stem: str, first: bool = False, on_click: Callable[[], None] | None = None
) -> None:
    """A plot as wide as the page under its title and subtitle, as text, which wraps by itself."""
    title, subtitle, plot = shown
    with st.container(gap="xsmall"):
        if first:
            st.title(escape_markdown(title), anchor=False)
        else:
            st.markdown(f"**{escape_markdown(title)}**")
        if subtitle:
            st.caption(escape_markdown(subtitle), help=glossary.explain_words(subtitle))
    show(plot, alt=alt, key=key, stem=stem, on_click=on_click)


def draw_data_table(
    table: pd.DataFrame,
    *,
    alt: str,
    height: int | Literal["auto"] = _TABLE_HEIGHT,
    columns: Mapping[str, Any] | None = None,
) -> None:
    """A table of numbers with four digits, cut where a browser would choke on it."""
    if len(table) > _MOST_TABLE_ROWS:
        st.caption(f"The first {_MOST_TABLE_ROWS:,} of {len(table):,} rows.")
    st.dataframe(
        _round_columns(table.head(_MOST_TABLE_ROWS)), hide_index=True, height=height, alt=alt, column_config=columns
    )


def _round_columns(table: pd.DataFrame) -> pd.DataFrame:
    """Numbers with four significant digits: what a reader takes in; files carry all of them."""
    rounded = table.copy()
    for name in [name for name, kind in table.dtypes.items() if kind == np.float64]:
        values = table[name].to_numpy(dtype=np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            unit = 10.0 ** (np.floor(np.log10(np.abs(values))) - 3)
            rounded[name] = np.where(np.isfinite(unit) & (unit > 0), np.round(values / unit) * unit, values)
    return rounded


class _BadgeLook(NamedTuple):
    color: Literal["gray", "blue", "orange"]  # what these look like: .streamlit/config.toml
    icon: str


_LOOKS: dict[Kind, _BadgeLook] = {
    "public": _BadgeLook("gray", ":material/campaign:"),
    "released": _BadgeLook("blue", ":material/blur_on:"),
    "revealed": _BadgeLook("orange", ":material/visibility:"),
}


def draw_badge(kind: Kind, detail: str = "") -> None:
    """Mark what stands beside it as public, released or revealed."""
    look = _LOOKS[kind]
    st.badge(kind, icon=look.icon, color=look.color, help=glossary.explain_term(kind, escape_markdown(detail)))


def format_badge(kind: Kind) -> str:
    """The badge as Markdown, for labels, captions and titles."""
    look = _LOOKS[kind]
    return f":{look.color}-badge[{look.icon} {kind}]"


def draw_caption_with_badge(kind: Kind, text: str, *, help: str | None = None) -> None:
    """Fine print after a badge.

    Not a caption: that would fade the badge until it can hardly be read.
    """
    st.markdown(f":small[{format_badge(kind)} {text}]", help=help or glossary.explain_words(text))
