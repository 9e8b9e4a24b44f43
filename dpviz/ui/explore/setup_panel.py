"""The controls of a run in the rail: algorithm, ε, k, δ, parameters, and what to expect; what runs it, and when.

On a public or simulated table a moved control runs by itself. On a private one only the button does: a run spends.
"""

from __future__ import annotations

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpviz.algorithms.card import Card, Guarantee, Knob
from dpviz.charts.wording import number
from dpviz.check import RequestError
from dpviz.glossary import explained, term_named
from dpviz.runs.advice.judgement import Judgement
from dpviz.runs.open_table import OpenTable
from dpviz.runs.record import LookKind
from dpviz.runs.request import Contender, Request
from dpviz.ui.controls import epsilon_control, k_delta_row, link_of
from dpviz.ui.escape import plain
from dpviz.ui.explore.algorithm_choice import algorithm_choice
from dpviz.ui.explore.foresight import judged, light, whole_sentence
from dpviz.ui.looks import reveal, reveal_allowed
from dpviz.ui.runner import is_asked, start
from dpviz.ui.session import remember, spent_on
from dpviz.ui.tradeoff.window_section import window_beside_slider


def setup_panel(table: OpenTable) -> Request:
    """Draw the controls, run what is to be run, and say what is asked for now."""
    with st.sidebar:
        card = algorithm_choice()
        (epsilon,), beside = epsilon_control()
        said = st.container(gap="xsmall")
        k, delta = k_delta_row(delta_disabled=Guarantee.APPROX not in card.guarantees)
        with said:
            window_beside_slider(table, k=k, delta=delta, epsilon=epsilon)
        params, seed = _more(card)
    request = Request(Contender(card.id, params), k, epsilon, delta, seed)
    judgement = judged(request, table)
    with said:
        _expected(request, table, judgement)
    _run(request, table, judgement, beside)
    with said:
        _spends(request, table)
    return request


def runs_by_itself(table: OpenTable) -> bool:
    """Whether a moved control runs at once: nobody's privacy is spent on a public or a simulated table."""
    return table.kind.may_be_shown


def _expected(request: Request, table: OpenTable, judgement: Judgement) -> None:
    """The light, with its reason on demand; a refusal, and what a run would spend, are said outright."""
    shown = light(judgement)
    if judgement.refusal:
        st.caption(f"{shown} {plain(judgement.refusal)}")
    else:
        st.markdown(shown or ":small[:gray[What to expect]]", help=whole_sentence(judgement, request) or None)


def _spends(request: Request, table: OpenTable) -> None:
    """What a run would spend, and what this visit has: after the press, so that it never lags behind it."""
    if request.card.private and not runs_by_itself(table):
        st.caption(f"Spends ε = {number(request.epsilon)}; this visit {number(spent_on(table))} so far.")


def _run(request: Request, table: OpenTable, judgement: Judgement, place: DeltaGenerator) -> None:
    """The button, and what is run without it."""
    by_itself, asked = runs_by_itself(table), is_asked(table, request)
    barred = bool(judgement.refusal) or not (request.card.private or reveal_allowed(table))
    about = explained("draw") if by_itself else None
    if barred and not judgement.refusal:
        about = "Show truth is off: k-means++ reads the rows as they are."
    pressed = place.button(
        "Another draw" if by_itself else "Run",
        type="secondary" if by_itself else "primary",
        icon=None if by_itself else ":material/play_circle:",
        width="stretch",
        key="run",
        disabled=barred or (by_itself and request.seed is not None),
        help=about,
    )
    if barred or not (pressed or (by_itself and not asked)):
        return
    try:
        if not request.card.private:
            reveal(table, f"k-means++ run with k = {request.k}", LookKind.REFERENCE)
        start(table, request, live=not pressed)
    except RequestError as error:
        st.error(plain(error), title="This cannot run", icon=":material/block:")


def _more(card: Card) -> tuple[dict[str, Any], int | None]:
    """Parameters of the algorithm and, for studies, a seed, which is never kept in a link; folded away."""
    with st.popover("Parameters", icon=":material/tune:", width="stretch"):
        params = params_form(card)
        seeded = st.toggle(
            "Repeatable noise (study only)",
            key="study_noise",
            persist_state="session",
            help=explained("noise", "The same seed gives the same noise, and whoever knows the seed can take it off."),
        )
        seed = st.number_input(
            "Seed", 0, 2**31 - 1, value=0, step=1, key="study_seed", persist_state="session", disabled=not seeded
        )
    if seeded:
        st.caption(f":violet-badge[:material/science: simulation, seed {seed:d}] Not a release.")
    return params, int(seed) if seeded else None


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
        return st.toggle(
            knob_label(knob.name), value=bool(knob.default), key=key, help=_about(knob), bind="query-params"
        )
    answers = {_BY_RULE: None, "yes": True, "no": False}
    first = next(name for name, value in answers.items() if value == knob.default)
    picked = st.segmented_control(
        knob_label(knob.name),
        list(answers),
        default=first,
        required=True,
        key=key,
        help=_about(knob),
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
            help=_about(knob),
            bind="query-params",
        )
    else:
        picked = st.selectbox(
            knob_label(knob.name),
            options,
            index=options.index(first),
            key=key,
            help=_about(knob),
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
        help=f"{_about(knob)} Allowed: {knob.range_text}." if knob.range_text else _about(knob),
        **link_of(key),
    )
    return value


def _about(knob: Knob) -> str:
    """What a parameter does, after the word of the glossary that it is named after, if it is."""
    term = term_named(knob_label(knob.name))
    return knob.help if term is None else f"{term.first} {knob.help}"


def _step(knob: Knob) -> float:
    """A hundredth of a narrow range, else a tenth of the default's size."""
    if knob.low is not None and knob.high is not None and knob.high - knob.low <= 1:
        return 0.01
    return max(0.01, float(f"{abs(knob.default or 1.0) / 10:.0e}"))
