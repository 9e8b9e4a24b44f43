"""The controls of a run in the rail: algorithm, ε, k, δ, parameters, and what to expect; what runs it, and when.

On a public or simulated table a moved control runs by itself. On a private one only the button does: a run spends.
"""

from __future__ import annotations

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpviz.algorithms import Card, Guarantee, ParamField
from dpviz.app.ui.controls import bind_to_link, draw_epsilon_control, draw_k_and_delta
from dpviz.app.ui.data_access import is_reveal_allowed, reveal
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.explore.algorithm_choice import (
    describe_judgement,
    draw_algorithm_choice,
    foresee_outcome,
    format_light,
)
from dpviz.app.ui.figure import say_refusal
from dpviz.app.ui.runner import is_asked, start
from dpviz.app.ui.session import add_spending, remember
from dpviz.app.ui.tradeoff.window_section import draw_window_beside_slider
from dpviz.core import AccessKind
from dpviz.runs import Contender, Judgement, OpenTable, Request
from dpviz.words import format_number, glossary


def draw_setup_panel(table: OpenTable) -> Request:
    """Draw the controls, run what is to be run, and say what is asked for now."""
    with st.sidebar:
        card = draw_algorithm_choice()
        (epsilon,), beside = draw_epsilon_control()
        said = st.container(gap="xsmall")
        k, delta = draw_k_and_delta(delta_disabled=Guarantee.APPROX not in card.guarantees)
        with said:
            draw_window_beside_slider(table, k=k, delta=delta, epsilon=epsilon)
        params, seed = _draw_more(card)
    request = Request(Contender(card.id, params), k, epsilon, delta, seed)
    judgement = foresee_outcome(request, table)
    with said:
        _draw_expectation(request, table, judgement)
    _run(request, table, judgement, beside)
    with said:
        _draw_spending(request, table)
    return request


def is_run_at_once(table: OpenTable) -> bool:
    """Whether a moved control runs at once: nobody's privacy is spent on a public or a simulated table."""
    return table.kind.may_be_shown


def _draw_expectation(request: Request, table: OpenTable, judgement: Judgement) -> None:
    """The light, with its reason on demand; a refusal, and what a run would spend, are said outright."""
    shown = format_light(judgement)
    if judgement.refusal:
        st.caption(f"{shown} {escape_markdown(judgement.refusal)}")
    else:
        st.markdown(shown or ":small[:gray[What to expect]]", help=describe_judgement(judgement, request) or None)


def _draw_spending(request: Request, table: OpenTable) -> None:
    """What a run would spend, and what this visit has: after the press, so that it never lags behind it."""
    if request.card.private and not is_run_at_once(table):
        st.caption(
            f"Spends ε = {format_number(request.epsilon)}; this visit {format_number(add_spending(table))} so far."
        )


def _run(request: Request, table: OpenTable, judgement: Judgement, place: DeltaGenerator) -> None:
    """The button, and what is run without it."""
    by_itself, asked = is_run_at_once(table), is_asked(table, request)
    barred = bool(judgement.refusal) or not (request.card.private or is_reveal_allowed(table))
    about = glossary.explain_term("draw") if by_itself else None
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
    with say_refusal("This cannot run"):
        if not request.card.private:
            reveal(table, f"k-means++ run with k = {request.k}", AccessKind.REFERENCE)
        start(table, request, live=not pressed)


def _draw_more(card: Card) -> tuple[dict[str, Any], int | None]:
    """Parameters of the algorithm and, for studies, a seed, which is never kept in a link; folded away."""
    with st.popover("Parameters", icon=":material/tune:", width="stretch"):
        params = draw_params_form(card)
        seeded = st.toggle(
            "Repeatable noise (study only)",
            key="study_noise",
            persist_state="session",
            help=glossary.explain_term(
                "noise", "The same seed gives the same noise, and whoever knows the seed can take it off."
            ),
        )
        seed = st.number_input(
            "Seed", 0, 2**31 - 1, value=0, step=1, key="study_seed", persist_state="session", disabled=not seeded
        )
    if seeded:
        st.caption(f":violet-badge[:material/science: simulation, seed {seed:d}] Not a release.")
    return params, int(seed) if seeded else None


_FEW_CHOICES = 4
_BY_RULE = "by rule"


def draw_params_form(card: Card) -> dict[str, Any]:
    """One widget for each parameter of ``card``; what is left to a rule, or at its default, is left out of the result.

    The values are kept for the visit, and ``request`` finds them again on any page.
    """
    param_fields = card.params.param_fields()
    if not param_fields:
        st.caption("This algorithm has no parameters of its own.")
    chosen = [(one, _draw_widget(f"{card.id}.{one.name}", one)) for one in param_fields]
    return remember(f"params:{card.id}", {one.name: value for one, value in chosen if value != one.default})


def format_param_label(name: str) -> str:
    """A parameter's name as a label.

    >>> format_param_label("max_cells")
    'Max cells'
    """
    words = name.replace("_", " ").strip()
    return escape_markdown(words[:1].upper() + words[1:])


def _draw_widget(key: str, param_field: ParamField) -> Any:
    label, about = format_param_label(param_field.name), _describe_param(param_field)
    bound: dict[str, Any] = {"key": key, "help": about, "bind": "query-params"}
    if param_field.kind is not bool and param_field.choices is None:
        return _draw_number(key, param_field, label, about)
    if param_field.kind is bool and not param_field.optional:
        return st.toggle(label, value=bool(param_field.default), **bound)
    given = {one: one for one in param_field.choices} if param_field.choices else {"yes": True, "no": False}
    answers: dict[str, Any] = ({_BY_RULE: None} if param_field.optional else {}) | given
    first = next(name for name, value in answers.items() if value == param_field.default)
    if len(answers) <= _FEW_CHOICES:
        picked = st.segmented_control(label, list(answers), default=first, required=True, **bound)
    else:
        picked = st.selectbox(label, list(answers), index=list(answers).index(first), **bound)
    return answers[picked or first]


def _draw_number(key: str, param_field: ParamField, label: str, about: str) -> float | int | None:
    number = int if param_field.kind is int else float
    bounds = {"min_value": param_field.low, "max_value": param_field.high, "value": param_field.default}
    typed: dict[str, Any] = {name: None if bound is None else number(bound) for name, bound in bounds.items()}
    value: float | int | None = st.number_input(
        label,
        **typed,
        step=1 if number is int else _choose_step(param_field),
        format="%d" if number is int else "%g",
        placeholder=_BY_RULE if param_field.optional else None,
        key=key,
        help=f"{about} Allowed: {param_field.range_text}." if param_field.range_text else about,
        **bind_to_link(key),
    )
    return value


def _describe_param(param_field: ParamField) -> str:
    """What a parameter does, after the word of the glossary that it is named after, if it is."""
    term = glossary.find_term(format_param_label(param_field.name))
    return param_field.help if term is None else f"{term.first} {param_field.help}"


def _choose_step(param_field: ParamField) -> float:
    """A hundredth of a narrow range, else a tenth of the default's size."""
    if param_field.low is not None and param_field.high is not None and param_field.high - param_field.low <= 1:
        return 0.01
    return max(0.01, float(f"{abs(param_field.default or 1.0) / 10:.0e}"))
