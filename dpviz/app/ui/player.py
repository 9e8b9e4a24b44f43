"""The player of a run on the page: its markup, style and script are those of ``charts/player``, as a component.

All of its steps are sent at once, and stepping asks no server.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import streamlit as st

from dpviz.app.charts.animation import TitleNumber
from dpviz.app.charts.player.player_page import read_asset, read_script, zip_text
from dpviz.app.charts.plot import Data, pack


class Room(NamedTuple):
    """Pixels that a picture leaves free below it, and in a narrow window, and takes at least; has it small titles."""

    below: int
    narrow: int
    least: int
    small: bool = False


ROOM = Room(62, 62, 400)
"""On a page that is about the picture alone."""


@st.cache_resource(show_spinner=False)
def _declare_component() -> Any:
    html, css = (read_asset(f"player.{kind}") for kind in ("html", "css"))
    return st.components.v2.component("dpviz_player", html=html, css=css, js=read_script(), isolate_styles=False)


def zip_steps(animation: Data) -> str:
    """An animation as it goes to the page: more than half of it is saved, in a few milliseconds."""
    return zip_text(pack(animation), level=4)


def play(animation: str, numbers: Sequence[TitleNumber], *, key: str, said: str = "", room: Room = ROOM) -> None:
    """Show an animation, zipped. Where the one before had steps alike, it goes on where that was left."""
    around = pack({"numbers": [number.to_data() for number in numbers], "said": said, **room._asdict()})
    _declare_component()(data={"animation": animation, "around": around}, key=key)
