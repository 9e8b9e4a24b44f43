"""The form of a run: algorithm, ε, δ, k, parameters; what to expect of it; and the one button that spends."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpviz.algorithms.card import Card, Guarantee, Knob
from dpviz.check import RequestError
from dpviz.runs.open_table import OpenTable
from dpviz.runs.record import LookKind
from dpviz.runs.request import Contender, Prospect, Request
from dpviz.ui.badges import badge_text
from dpviz.ui.controls import epsilon_control, k_delta_row, link_of
from dpviz.ui.escape import plain
from dpviz.ui.explore.algorithm_choice import algorithm_choice, badges, catalogue, chosen_card, needs
from dpviz.ui.explore.foresight import expectation, foresight
from dpviz.ui.looks import reveal, reveal_allowed
from dpviz.ui.runner import start
from dpviz.ui.session import remember
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


_FEW_CHOICES = 4
_BY_RULE = "by rule"


def params_form(card: Card) -> dict[str, Any]:
    """One widget for each parameter of ``card``; what is left to a rule, or at its default, is left out of the result.

    The values are kept for the visit, and ``request`` finds them again on any page.
    """
    knobs = card.params.knobs()
    if not knobs:
        st.caption("This algorithm has no parameters of its own.")
    chosen = {knob.name: _widget(card.id, knob) for knob in knobs}
    params = {knob.name: chosen[knob.name] for knob in knobs if chosen[knob.name] != knob.default}
    return remember(f"params:{card.id}", params)


def knob_label(name: str) -> str:
    """A parameter's name as a label.

    >>> knob_label("max_cells")
    'Max cells'
    """
    words = name.replace("_", " ").strip()
    return plain(words[:1].upper() + words[1:])


def _widget(card_id: str, knob: Knob) -> Any:
    key = f"{card_id}.{knob.name}"
    if knob.kind is bool:
        return _yes_or_no(key, knob)
    if knob.choices is not None:
        return _choice(key, knob)
    return _number(key, knob)


def _yes_or_no(key: str, knob: Knob) -> bool | None:
    if not knob.optional:
        return st.toggle(knob_label(knob.name), value=bool(knob.default), key=key, help=knob.help, bind="query-params")
    answers = {_BY_RULE: None, "yes": True, "no": False}
    first = next(name for name, value in answers.items() if value == knob.default)
    picked = st.segmented_control(
        knob_label(knob.name),
        list(answers),
        default=first,
        required=True,
        key=key,
        help=knob.help,
        bind="query-params",
    )
    return answers[picked or first]


def _choice(key: str, knob: Knob) -> str | None:
    assert knob.choices is not None
    options = ([_BY_RULE] if knob.optional else []) + list(knob.choices)
    first = _BY_RULE if knob.default is None else str(knob.default)
    if len(options) <= _FEW_CHOICES:
        picked = st.segmented_control(
            knob_label(knob.name),
            options,
            default=first,
            required=True,
            key=key,
            help=knob.help,
            bind="query-params",
        )
    else:
        picked = st.selectbox(
            knob_label(knob.name),
            options,
            index=options.index(first),
            key=key,
            help=knob.help,
            bind="query-params",
        )
    return None if picked in (None, _BY_RULE) else str(picked)


def _number(key: str, knob: Knob) -> float | int | None:
    number = int if knob.kind is int else float
    bounds = {"min_value": knob.low, "max_value": knob.high, "value": knob.default}
    typed: dict[str, Any] = {name: None if bound is None else number(bound) for name, bound in bounds.items()}
    value: float | int | None = st.number_input(
        knob_label(knob.name),
        **typed,
        step=1 if number is int else _step(knob),
        format="%d" if number is int else "%g",
        placeholder=_BY_RULE if knob.optional else None,
        key=key,
        help=f"{knob.help} Allowed: {knob.range_text}." if knob.range_text else knob.help,
        **link_of(key),
    )
    return value


def _step(knob: Knob) -> float:
    """A hundredth of a narrow range, else a tenth of the default's size."""
    if knob.low is not None and knob.high is not None and knob.high - knob.low <= 1:
        return 0.01
    return max(0.01, float(f"{abs(knob.default or 1.0) / 10:.0e}"))
