"""What the browser says of its reader: dark or light, and whether the page is narrow.

A page is drawn in the colours that the browser named when it asked for it. Where they change while the page is
open, nobody would draw it again: the pictures would stay in colours that cannot be read.
"""

from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.components import v2

_KEY, _NARROW = "reader:seen", "reader:narrow"
_ASKS = Path(__file__).parent / "assets" / "reader.js"
# A colour that takes a moment to change says when it has changed, whoever changed it: the system or the page's menu.
_PROBE = ".probe { display: block; height: 1px; background: var(--st-background-color); transition: background 10ms; }"
# A finger hits what is 24 pixels high (WCAG 2.2); a line of a radio button or a switch is 22.4 by itself.
_TARGETS = ":is(.stRadio, .stCheckbox) label { min-height: 24px; }"


def follow_reader(place: str) -> None:
    """Run the page again when the browser's colours or width change, and begin another ``place`` at its top."""
    # Called once, after everything else that is on the page: there it takes no room.
    drawn = {"dark": st.context.theme.type == "dark", "narrow": is_narrow(), "place": place}
    _declare_component()(data=drawn, key=_KEY, on_seen_change=_remember, height=1)


def is_narrow() -> bool:
    """Whether the page is a telephone's; before the browser has answered, as its name says."""
    return bool(st.session_state.get(_NARROW, "Mobile" in (st.context.headers.get("User-Agent") or "")))


def _remember() -> None:
    st.session_state[_NARROW] = st.session_state[_KEY]["seen"]["narrow"]


@cache
def _declare_component() -> Any:
    html, js, css = '<i class="probe"></i>', _ASKS.read_text(encoding="utf-8"), _PROBE + _TARGETS
    return v2.component("dpviz_reader", html=html, css=css, js=js, isolate_styles=False)
