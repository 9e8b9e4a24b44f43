"""Forms that build themselves from an algorithm's card."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpviz.algorithms.card import Card, Knob
from dpviz.ui.controls import link_of
from dpviz.ui.escape import plain
from dpviz.ui.session import remember

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
