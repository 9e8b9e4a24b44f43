"""Choosing an algorithm: from a list, or from a sheet of all of them that says what each is good for."""

from __future__ import annotations

import streamlit as st

from dpviz.algorithms import AUTO, CARDS, NOT_OURS, Card, Guarantee, find_card
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.explore.foresight import Foresee, format_light, format_warning, summarize_judgement
from dpviz.app.ui.session import recall, remember

# Two entries of the sheet beside each other on a desktop, one on a phone.
_LEAST_WIDTH = 330
_KEY = "algorithm"

GUARANTEE_WORDS = {
    Guarantee.PURE: ("ε-DP", "green", "Pure differential privacy: δ is 0."),
    Guarantee.APPROX: ("(ε, δ)-DP", "violet", "Approximate differential privacy: needs a small δ above 0."),
    Guarantee.NONE: ("no privacy", "gray", "Reads the rows themselves: for comparison only, never a release."),
}
_CENTRAL = ("central model", "gray", "One trusted curator holds the rows, and adds the noise to what is released.")
_LOCAL = ("local model", "blue", "Every user hides the own row before it is sent: nobody is trusted with the rows.")


def draw_algorithm_choice() -> Card:
    """One list of all algorithms, each after what it does; a link may name one."""
    start = _start()
    st.session_state.setdefault(_KEY, start)
    chosen = st.selectbox(
        "Algorithm",
        [card.id for _, _, cards in CARDS.list_kinds() for card in cards],
        format_func=lambda algorithm: f"{CARDS[algorithm].does}: {CARDS[algorithm].title}",
        key=_KEY,
        bind="query-params",
    )
    card = CARDS[str(chosen or start)]
    remember(_KEY, card.id)
    _draw_package(card)
    return card


def draw_catalogue(foresee: Foresee) -> None:
    """All algorithms on one sheet, folded away until it is asked for: what each needs and gives, and when to use it."""
    sheet = st.expander(
        f"All {len(CARDS)} algorithms: what each needs and gives, and what it would do with this table",
        icon=":material/menu_book:",
        key="catalogue",
        on_change="rerun",
    )
    if not sheet.open:
        return
    with sheet:
        for does, meaning, cards in CARDS.list_kinds():
            st.subheader(escape_markdown(does), divider="gray")
            st.caption(escape_markdown(meaning))
            with st.grid(min_column_width=_LEAST_WIDTH):
                for card in cards:
                    with st.container(border=True, height="stretch", gap="xsmall"):
                        _draw_entry(card, foresee)
        for sentence in CARDS.brought.left_out:
            st.warning(escape_markdown(sentence), icon=":material/extension_off:")


def _draw_entry(card: Card, foresee: Foresee) -> None:
    judgement = foresee(card)
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.markdown(f"**{card.title}**", width="content")
        st.button("Choose", key=f"catalogue:{card.id}", on_click=_choose, args=(card.id,), type="tertiary")
    _draw_badges(card, format_light(judgement))
    st.markdown(card.summary)
    st.caption(f"**When:** {card.when}")
    st.caption(describe_needs(card))
    caution = summarize_judgement(judgement)
    if caution:
        st.caption(format_warning(caution))


def _draw_badges(card: Card, expected: str = "") -> None:
    """Badges: each guarantee that it can give, who is trusted, whether it is ours; ``expected`` in front."""
    looks = [GUARANTEE_WORDS[guarantee] for guarantee in card.guarantees]
    if card.private:
        looks.append(_LOCAL if card.local else _CENTRAL)
    with st.container(horizontal=True, gap="xsmall"):
        if expected:
            st.markdown(expected, width="content")
        for words, color, help in looks:
            st.badge(words, color=color, help=help)  # type: ignore[arg-type]
        _draw_package(card)


def _draw_package(card: Card) -> None:
    """A badge where a package brings it."""
    if card.brought_by:
        by = (
            f"{escape_markdown(card.brought_by)} brings it: nobody here has proved what it does with rows. "
            f"It is never released."
        )
        st.badge(NOT_OURS, color="red", help=by)


def describe_needs(card: Card) -> str:
    """What has to be declared or given for it, as a sentence."""
    if not card.private:
        return "Needs the owner's leave to look at the rows."
    pure, approximate = (kind in card.guarantees for kind in (Guarantee.PURE, Guarantee.APPROX))
    delta = ("" if not approximate else "; with a δ above 0 other noise is used") if pure else "; a δ above 0"
    n = " and the number of rows (public, or bought)" if card.needs_n else ""
    return f"Needs bounds of every column{n}{delta}." + (" Takes sparse tables." if card.sparse else "")


def draw_description(card: Card) -> None:
    """The story of the algorithm, its formula and its paper, and whose it is."""
    _draw_package(card)
    st.markdown(card.story)
    if card.formula:
        st.latex(card.formula)
    st.caption(f"{describe_needs(card)} Paper: {card.paper}")


def _start() -> str:
    """The algorithm that the widget, the link or this visit names, by id or by title; else the default."""
    for named in (st.session_state.get(_KEY), st.query_params.get(_KEY), recall(_KEY, AUTO)):
        for card in CARDS.values():
            if named in (card.id, card.title):
                return card.id
    return find_card(AUTO).id


def _choose(algorithm: str) -> None:
    st.session_state[_KEY] = algorithm
