"""The player of a run on the page. It is the one place with markup and style of our own; texts go in as text only."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from dpviz.charts.film import Film, Number
from dpviz.charts.plot import packed

_HERE = Path(__file__).parent


@st.cache_resource(show_spinner=False)
def _component() -> Any:
    html, css, js = ((_HERE / f"player.{kind}").read_text(encoding="utf-8") for kind in ("html", "css", "js"))
    return st.components.v2.component("dpviz_player", html=html, css=css, js=js, isolate_styles=False)


def play(film: Film, numbers: Sequence[Number], *, key: str, stamp: str, said: str = "") -> None:
    """Show a run: its last step first, or the step where the run before was left if it had the same steps."""
    _component()(data={"film": packed(film.data(numbers, stamp=stamp, said=said))}, key=key)
