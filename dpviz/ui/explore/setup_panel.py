"""The form of a run: algorithm, ε, δ, k, parameters; what to expect of it; and the one button that spends."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpviz.algorithms.card import Card, Guarantee
from dpviz.check import RequestError
from dpviz.runs.open_table import OpenTable
from dpviz.runs.record import LookKind
from dpviz.runs.request import Contender, Prospect, Request
from dpviz.ui.badges import badge_text
from dpviz.ui.controls import epsilon_control, k_delta_row
from dpviz.ui.escape import plain
from dpviz.ui.explore.algorithm_choice import algorithm_choice, badges, catalogue, chosen_card, needs
from dpviz.ui.explore.foresight import expectation, foresight
from dpviz.ui.explore.forms import params_form
from dpviz.ui.looks import reveal, reveal_allowed
from dpviz.ui.runner import start
from dpviz.ui.table_words import unit_line


def setup_panel(table: OpenTable) -> Request:
    """Draw the form, run on a press of the button, and say what is asked for now."""
    with st.container(border=True):
        choice, numbers = st.columns([1, 1], gap="medium")
        # The numbers first: what an algorithm can do with the table depends on them.
        with numbers:
            epsilon = epsilon_control()
            k, delta = k_delta_row(delta_disabled=Guarantee.APPROX not in chosen_card().guarantees)
            st.caption(f"ε and δ protect {unit_line(table)}.")
        foresee = foresight(table)
        with choice:
            card = algorithm_choice(foresee)
        with numbers:
            badges(card)
            st.caption(f"**When to use {card.title}:** {card.when}")
            st.caption(needs(card))
        left, right = st.columns(2)
        with left:
            params = _parameters(card)
        with right:
            seed = _advanced()
        request = Request(Contender(card.id, params), k, epsilon, delta, seed)
        expected, button = st.columns([5, 2], vertical_alignment="center")
        with expected:
            prospect = expectation(request, table)
        with button:
            _run_button(request, table, prospect)
    catalogue(foresee)
    return request


def _parameters(card: Card) -> dict[str, Any]:
    with st.expander(f"Parameters of {card.title}", icon=":material/tune:"):
        return params_form(card)


def _advanced() -> int | None:
    """A seed for studies; never kept in a link."""
    with st.expander("Advanced", icon=":material/science:"):
        seeded = st.toggle(
            "Repeatable noise (study only)",
            key="study_noise",
            persist_state="session",
            help="The same seed gives the same noise. Whoever knows the seed can take the noise off.",
        )
        seed = st.number_input(
            "Seed", 0, 2**31 - 1, value=0, step=1, key="study_seed", persist_state="session", disabled=not seeded
        )
        if seeded:
            st.warning(
                "A run with a seed is a simulation. A release needs fresh noise that nobody can repeat.",
                icon=":material/warning:",
            )
    return int(seed) if seeded else None


def _run_button(request: Request, table: OpenTable, prospect: Prospect) -> None:
    barred = not request.card.private and not reveal_allowed(table)
    pressed = st.button(
        "Run",
        type="primary",
        icon=":material/play_circle:",
        width="stretch",
        key="run",
        disabled=barred or bool(prospect.refusal),
    )
    if barred:
        st.caption(f"{badge_text('revealed')} k-means++ reads the rows as they are: turn on **Show truth** to run it.")
    if not pressed:
        return
    try:
        if not request.card.private:
            reveal(table, f"k-means++ run with k = {request.k}", LookKind.REFERENCE)
        start(table, request)
    except RequestError as error:
        st.error(plain(error), title="This cannot run", icon=":material/block:")
