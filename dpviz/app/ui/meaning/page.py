"""One part at a time, chosen above the title; the settings that all parts share stand in the rail."""

from __future__ import annotations

import streamlit as st

from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.meaning.parts import PARTS
from dpviz.app.ui.meaning.stage import Stage, draw_stage_in_rail

_KEY = "part"


def draw_meaning_page() -> None:
    """The chosen part, on the stage that the rail sets; a link may name it."""
    stage = draw_stage_in_rail()
    linked = st.query_params.get(_KEY)
    if linked in PARTS and _KEY not in st.session_state:
        st.session_state[_KEY] = linked
    first = st.session_state.setdefault(_KEY, next(iter(PARTS)))
    chosen = st.segmented_control(
        "Part",
        list(PARTS),
        required=True,
        format_func=lambda name: PARTS[name].label,
        key=_KEY,
        label_visibility="collapsed",
        wrap=True,
    )
    name = str(chosen or first)
    st.query_params[_KEY] = name
    if not isinstance(stage, Stage):
        st.title("This cannot be run", anchor=False)
        st.info(escape_markdown(stage), icon=":material/info:")
        return
    PARTS[name].draw(stage)
