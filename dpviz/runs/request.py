"""Whether an algorithm can serve a request: one answer for runs, studies and forms, before any row is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dpviz import check
from dpviz.algorithms.card import Card, Params
from dpviz.algorithms.registry import private_cards
from dpviz.privacy.accounting import Accounting, capacity
from dpviz.privacy.room import PrivateTable


def check_request(
    card: Card,
    table: PrivateTable,
    *,
    k: int,
    epsilon: float,
    delta: float = 0.0,
    params: Params | Mapping[str, Any] | None = None,
) -> Params:
    """The checked parameters of a request that ``card`` can serve; arguments as for ``run``.

    Looks at public quantities only: what is refused, and in which words, tells nothing about a row.

    Raises
    ------
    RequestError
        If it cannot: why, and what would do.
    """
    chosen = params if isinstance(params, Params) else card.params.parse(params or {})
    check.clusters(k=k)
    check.epsilon(epsilon=epsilon)
    check.rows_per_person(rows_per_person=table.rows_per_person)
    if table.n_public:
        check.records(n_public=table.n_public)
    check.delta_for(table.n_public, delta=delta)
    if table.n_public is not None and k > table.n_public:
        raise check.RequestError(
            f"k is {k} but there are {table.n_public:,} records: ask for at most that many clusters."
        )
    if table.sparse and not card.sparse:
        able = " or ".join(f"{other.title} ({other.id})" for other in private_cards() if other.sparse)
        raise check.RequestError(
            f"{card.title} would write out all {table.domain.dim:,} columns of a sparse table: choose {able}."
        )
    refusal = chosen.refusal(table.relation)
    if refusal is not None:
        raise check.RequestError(refusal)
    table.domain.unfolded(chosen.points_per_row(k))
    check_budget(card, chosen, epsilon=epsilon, delta=delta, n=table.n_public)
    return chosen


def check_budget(card: Card, params: Params, *, epsilon: float, delta: float, n: int | None = None) -> None:
    """Refuse an ε and δ that ``card`` cannot divide, whatever the table; a public ``n`` makes the advice fit it.

    Raises
    ------
    RequestError
        If there is no δ where one is needed, or too little to calibrate noise with.
    """
    accounting = card.accounting(params, delta)
    if delta == 0 and accounting not in (Accounting.PURE, Accounting.NONE):
        pure = _pure_presets(card, params)
        instead = f", or choose the preset {' or '.join(pure)}" if pure else ""
        usual = f"{check.usual_delta(n):.2g}".replace("e-0", "e-")
        raise check.RequestError(f"{_named(card, params)} needs delta > 0: give, say, delta = {usual}{instead}.")
    capacity(accounting, epsilon=epsilon, delta=delta)


def _named(card: Card, params: Params) -> str:
    """The title, with its preset where that is not the usual one."""
    preset = getattr(params, "preset", None)
    return card.title if preset in (None, getattr(card.params(), "preset", None)) else f"{card.title} ({preset})"


def _pure_presets(card: Card, params: Params) -> list[str]:
    """The presets that need no δ."""
    choices = next((knob.choices or () for knob in card.params.knobs() if knob.name == "preset"), ())
    by_preset = {name: replace(params, **{"preset": name}) for name in choices}
    return [name for name, other in by_preset.items() if card.accounting(other, 0.0) is Accounting.PURE]
