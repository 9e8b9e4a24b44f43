"""Drawers of the bench: what leaves, with its account and its one button; and what this visit has spent."""

from __future__ import annotations

import streamlit as st

from dpviz.app.ui.bench.hand import Hand
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.session import describe_accesses, list_booked
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
    from dpviz.app.ui.release.page import draw_release_form
    from dpviz.app.ui.release.released_panel import draw_publication_panel
    from dpviz.app.ui.release.subject import ReleaseSubject
    from dpviz.app.ui.release.words_form import Terms, ask_division

    st.button("Back to the picture", icon=":material/arrow_back:", key="bench:back", on_click=close_release_drawer)
    if (publication := find_last_publication()) is not None:
        draw_publication_panel(publication)
        return
    if gaps := [gap for gap in hand.gaps if gap != "origin"]:
        st.error(escape_markdown(f"The sentence has {len(gaps)} gaps: fill them first."), icon=":material/block:")
        return
    declared = hand.declaration if table is None else table.declaration
    asked_of = ReleaseSubject(hand.content, declared, table)
    with st.expander("How ε is divided", icon=":material/pie_chart:", key="bench:divided"):
        division = ask_division(buys=bool(declared.open_columns), public=not hand.is_private)
    draw_release_form(asked_of, Terms(hand.request, division))


def draw_ledger_drawer() -> None:
    """What this visit has spent and seen, folded away."""
    entries, accesses = list_booked(), describe_accesses()
    if not entries and not accesses:
        return
    drawer = st.expander("Ledger of this visit", icon=":material/receipt_long:", key="bench:ledger", on_change="rerun")
    if not drawer.open:
        return
    from dpviz.app.ui.ledger_panel import (
        draw_accesses_panel,
        draw_charges_panel,
        draw_together_panel,
        draw_totals_panel,
    )

    with drawer:
        if entries:
            draw_together_panel(entries)
            draw_totals_panel(entries)
            draw_charges_panel(entries)
        draw_accesses_panel(accesses)
