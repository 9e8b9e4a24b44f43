"""Choosing an algorithm by its family, and the card that says what it is good for."""

from __future__ import annotations

import streamlit as st

from dpviz.algorithms.card import Card, Guarantee, Level, Params, round_up
from dpviz.algorithms.registry import AUTO, CARDS, card_of
from dpviz.charts.wording import number
from dpviz.runs.run import setting_of
from dpviz.ui.declaration import OpenTable

_KEY, _KEPT, _FAMILY = "algorithm", "setting:algorithm", "family"

GUARANTEE_WORDS = {
    Guarantee.PURE: ("ε-DP", "green", "Pure differential privacy: δ is 0."),
    Guarantee.APPROX: ("(ε, δ)-DP", "violet", "Approximate differential privacy: needs a small δ above 0."),
    Guarantee.NONE: ("no privacy", "orange", "Reads the rows themselves: for comparison only, never a release."),
}
_LIGHTS = {
    Level.GREEN: ("enough records", "green", ":material/check_circle:"),
    Level.AMBER: ("borderline", "yellow", ":material/error:"),
    Level.RED: ("too few records", "red", ":material/cancel:"),
}


def algorithm_choice() -> Card:
    """A family, then one of its algorithms; a link may name the algorithm."""
    start = _start()
    families = list(dict.fromkeys(card.family for card in CARDS.values()))
    st.session_state[_FAMILY] = CARDS[start].family
    family = st.pills(
        "Family of algorithms", families, key=_FAMILY, required=True, on_change=_first_of_family, wrap=True
    )
    members = [card for card in CARDS.values() if card.family == family]
    st.session_state.setdefault(_KEY, start)
    chosen = st.radio(
        "Algorithm",
        [card.id for card in members],
        format_func=lambda algorithm: CARDS[algorithm].title,
        captions=[card.summary for card in members],
        key=_KEY,
        bind="query-params",
        label_visibility="collapsed",
    )
    card = CARDS[str(chosen or members[0].id)]
    st.session_state[_KEPT] = card.id
    return card


def guarantee_badges(card: Card) -> None:
    """One badge for each guarantee that the algorithm can give."""
    with st.container(horizontal=True, gap="xsmall"):
        for guarantee in card.guarantees:
            words, color, help = GUARANTEE_WORDS[guarantee]
            st.badge(words, color=color, help=help)  # type: ignore[arg-type]


def regime_light(card: Card, table: OpenTable, params: Params, *, k: int, epsilon: float, delta: float) -> None:
    """What to expect before a run, from public quantities only: green, amber or red, and a sentence."""
    setting = setting_of(table.private, k=k, epsilon=epsilon, delta=delta)
    regime = card.regime(setting, params)
    if regime is not None:
        words, color, icon = _LIGHTS[regime.level]
        st.markdown(f":{color}-badge[{icon} {words}] {regime.message}")
    elif not card.private:
        st.markdown(":orange-badge[:material/visibility: revealed] Its centres come from the rows themselves.")
    elif card.smallest_n is not None:
        needed = round_up(card.smallest_n(setting, params) * setting.rows_per_person)
        asked = f"k = {k}, d = {setting.dim}, ε = {epsilon:g}"
        st.markdown(
            f":gray-badge[:material/help: n is private] {asked} needs about {number(needed)} records; three times as "
            "many are better. Whether there are as many, only you know."
        )


def about(card: Card) -> None:
    """The story of the algorithm, its formula and its paper."""
    st.markdown(card.story)
    if card.formula:
        st.latex(card.formula)
    st.caption(f"Paper: {card.paper}")


def _start() -> str:
    """The algorithm that the widget, the link or this visit names, by id or by title; else the default."""
    for named in (st.session_state.get(_KEY), st.query_params.get(_KEY), st.session_state.get(_KEPT)):
        for card in CARDS.values():
            if named in (card.id, card.title):
                return card.id
    return card_of(AUTO).id


def _first_of_family() -> None:
    family = st.session_state[_FAMILY]
    st.session_state[_KEY] = next(card.id for card in CARDS.values() if card.family == family)
