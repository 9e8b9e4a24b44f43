"""A piece that runs again by itself stands in a container of the page's own, which is there before it."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def _page() -> None:
    import streamlit as st

    from dpviz.ui.polled import polled

    polled(lambda: st.caption("again") and None, every=60.0, key="piece")
    st.caption("below")


def test_what_stands_below_keeps_its_place_whatever_the_server_drops_of_the_piece() -> None:
    main = AppTest.from_function(_page).run().main
    assert main.children[1].value == "below"
    place, piece = main.children[0], main.children[0].children[0]
    assert place.type == piece.type == "flex_container"
    assert piece.children[0].value == "again"
