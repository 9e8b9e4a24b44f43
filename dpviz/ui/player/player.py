"""The player of a run on the page. It is the one place with markup and style of our own; texts go in as text only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st

from dpviz.charts.film import Number
from dpviz.charts.plot import packed

_HERE = Path(__file__).parent


class Dial(NamedTuple):
    """ε on a narrow screen, where the rail is folded away: round ``places``, where it stands, and who is told."""

    places: Sequence[float]
    at: float
    tell: Callable[[float], None]


@st.cache_resource(show_spinner=False)
def _component() -> Any:
    html, css, js = ((_HERE / f"player.{kind}").read_text(encoding="utf-8") for kind in ("html", "css", "js"))
    return st.components.v2.component("dpviz_player", html=html, css=css, js=js, isolate_styles=False)


def play(film: str, numbers: Sequence[Number], dial: Dial, *, key: str, said: str = "") -> None:
    """Show a ``film`` as packed data: its last step first, or where the film before was left if its steps are alike.

    ``numbers`` stand beside the title, and a sentence that is ``said`` above the pictures.
    """

    def turned() -> None:
        value = st.session_state[key].get("epsilon")
        if isinstance(value, int | float):
            dial.tell(float(value))

    around = packed({"numbers": [number._asdict() for number in numbers], "said": said})
    turn = {"places": sorted({*dial.places, dial.at}), "at": dial.at}
    _component()(data={"film": film, "around": around, "dial": turn}, key=key, on_epsilon_change=turned)
