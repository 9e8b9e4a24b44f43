"""A piece of a page that runs again by itself, at a place that is there before it."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st


def poll(draw: Callable[[], None], *, every: float | None, key: str) -> None:
    """Draw a piece of a page that runs again by itself.

    The container around it belongs to the page, not to the piece. Where a piece runs again before the browser has heard
    of its first run, the server drops what that run had drawn, and everything below would arrive for places that do not
    exist: the browser would show an empty page.

    Parameters
    ----------
    draw : function
        Draws the piece.
    every : float or None
        Seconds until it runs again; None: it does not.
    key : str
        Its place on the page.
    """
    with st.container():
        st.fragment(draw, run_every=every, key=key)()
