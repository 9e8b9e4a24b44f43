"""The player of a run on the page: its markup, style and script are those of ``charts/player``, as a component.

All of its steps are sent at once, and stepping asks no server.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import streamlit as st

from dpviz.app.charts.animation import TitleNumber
from dpviz.app.charts.player.player_page import read_asset
from dpviz.app.charts.plot import pack


class Dial(NamedTuple):
    """ε on a narrow screen, where the rail is folded away: round ``places``, where it stands, and who is told."""

    places: Sequence[float]
    at: float
    tell: Callable[[float], None]


class Room(NamedTuple):
    """Pixels that a picture leaves free below it, and takes at least; whether its titles are small."""

    below: int
    least: int
    small: bool = False


ROOM = Room(62, 400)
"""On a page that is about the picture alone."""


@st.cache_resource(show_spinner=False)
def _declare_component() -> Any:
    html, css, js = (read_asset(f"player.{kind}") for kind in ("html", "css", "js"))
    return st.components.v2.component("dpviz_player", html=html, css=css, js=js, isolate_styles=False)


def play(
    animation: str,
    numbers: Sequence[TitleNumber],
    dial: Dial | None,
    *,
    key: str,
    said: str = "",
    room: Room = ROOM,
) -> None:
    """Show an animation. Where the one before had steps alike, it goes on where that was left."""

    def turned() -> None:
        value = st.session_state[key].get("epsilon")
        if isinstance(value, int | float) and dial is not None:
            dial.tell(float(value))

    around = pack({"numbers": [number.to_data() for number in numbers], "said": said, **room._asdict()})
    turn = None if dial is None else {"places": sorted({*dial.places, dial.at}), "at": dial.at}
    _declare_component()(
        data={"animation": animation, "around": around, "dial": turn}, key=key, on_epsilon_change=turned
    )
