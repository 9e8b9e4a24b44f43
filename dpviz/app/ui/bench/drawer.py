"""Drawers of the bench: what leaves, with its account and its one button; and what this visit has spent."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from dpviz.app.ui.addresses import is_asked_for
from dpviz.app.ui.bench.hand import Hand
from dpviz.runs import OpenTable

_RELEASE = "bench:releasing"


def open_release_drawer() -> None:
    """Open the release in the place of the picture."""
    st.session_state[_RELEASE] = True


def close_release_drawer() -> None:
    """Close it; call it from a callback."""
    st.session_state[_RELEASE] = False


def is_release_open() -> bool:
    """Whether the release stands in the place of the picture."""
    return bool(st.session_state.get(_RELEASE))


def draw_release_drawer(hand: Hand, table: OpenTable | None) -> None:
    """What leaves at the ε of the axis, what it rests on, and the press; then the zip, once it has verified."""
    # What makes releases is loaded by who releases: everybody else is there half a second sooner.
    from dpviz.app.ui.release.account_section import find_last_publication
    from dpviz.app.ui.release.page import Terms, ask_division, ask_smallest_group, draw_release_form
    from dpviz.app.ui.release.released_panel import draw_publication_panel
    from dpviz.app.ui.release.subject import ReleaseSubject

    st.button("Back to the picture", icon=":material/arrow_back:", key="bench:back", on_click=close_release_drawer)
    if (publication := find_last_publication()) is not None:
        draw_publication_panel(publication)
        return
    if not hand.is_complete:
        st.error("The sentence has gaps, or a red word: fill them, and mend it, first.", icon=":material/block:")
        return
    declared = hand.declaration if table is None else table.declaration
    asked_of = ReleaseSubject(hand.content, declared, table)
    with st.expander("How ε is divided", icon=":material/pie_chart:", key="bench:divided"):
        division = ask_division(buys=bool(declared.open_columns), public=not hand.is_private)
        smallest = ask_smallest_group(division)
    window = None if table is None else replace(hand, division=division).find_window()
    draw_release_form(asked_of, Terms(hand.request, division, smallest), window)


def draw_ledger_drawer() -> None:
    """What this visit has spent and seen, folded away unless a link asks for it."""
    asked = is_asked_for("ledger")
    drawer = st.expander("Ledger of this visit", asked, icon=":material/receipt_long:", key="ledger", on_change="rerun")
    if drawer.open:
        from dpviz.app.ui.ledger_panel import draw_ledger  # what adds up is loaded by whoever looks

        with drawer:
            draw_ledger()
