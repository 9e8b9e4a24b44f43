"""Whether the reader has asked the system for less motion: the browser knows, and says so once a visit."""

from __future__ import annotations

from functools import cache
from typing import Any

import streamlit as st
from streamlit.components import v2

# It answers only where the answer has changed: every answer runs the page again.
_ASK = """
export default function ({ data, setStateValue }) {
  const less = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (less !== data.known) setStateValue("less", less);
}
"""
_KEY = "motion:asked"


def wants_less_motion() -> bool:
    """Whether less motion is asked for; at first, before the browser has answered, it is not."""
    known = bool((st.session_state.get(_KEY) or {}).get("less", False))
    found = _component()(data={"known": known}, key=_KEY, default={"less": known}, on_less_change=_nothing, height=1)
    return bool(found.less)


def _nothing() -> None:
    """The answer stands in the state already."""


@cache
def _component() -> Any:
    return v2.component("dpviz_motion", js=_ASK)
