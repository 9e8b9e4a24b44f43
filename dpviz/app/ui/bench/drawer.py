"""The drawer of the bench that stands in the place of the picture: what leaves, its account and its one button."""

from dataclasses import replace
from functools import partial

import streamlit as st

from dpviz.app.ui.bench.hand import Hand
from dpviz.runs import OpenTable

RELEASING = "bench:releasing"


def hold_release_open(is_open: bool) -> None:
    """Whether the release stands in the place of the picture."""
    st.session_state[RELEASING] = is_open


def draw_release_drawer(hand: Hand, table: OpenTable | None) -> None:
    """What leaves at the ε of the axis, what it rests on, and the press; then the zip, once it has verified."""
    # What makes releases is loaded by who releases: everybody else is there half a second sooner.
    from dpviz.app.ui.release import page
    from dpviz.app.ui.release.released_panel import draw_publication_panel

    back, icon = partial(hold_release_open, False), ":material/arrow_back:"
    st.button("Back to the picture", icon=icon, key="bench:back", on_click=back)
    if (publication := page.find_last_publication()) is not None:
        draw_publication_panel(publication)
        return
    if not hand.is_complete:
        st.error("The sentence has gaps, or a red word: fill them, and mend it, first.", icon=":material/block:")
        return
    declared = hand.declaration if table is None else table.declaration
    with st.expander("How ε is divided", icon=":material/pie_chart:", key="bench:divided"):
        division = page.ask_division(buys=bool(declared.open_columns), public=not hand.is_private)
        smallest = page.ask_smallest_group(division)
    # Of rows that anybody may see the headline tells what draws on them keep: made-up ones may keep less.
    window = None if table is None or not hand.is_private else replace(hand, division=division).find_window()
    page.draw_release_form(page.ReleaseSubject(hand.content, declared, table), hand.request, division, smallest, window)
