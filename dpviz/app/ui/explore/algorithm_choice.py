"""Choosing an algorithm: a list, a sheet of what each is good for, and what each would do with the open table."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import streamlit as st

from dpviz.algorithms import AUTO, CARDS, NOT_OURS, Card, Guarantee, find_card, regime
from dpviz.app.ui.controls import read_request
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.session import recall, remember
from dpviz.app.ui.studies.judged_rows import find_known_rows
from dpviz.runs import OUT_OF_REACH, Judgement, OpenTable, Request

Foresee = Callable[[Card], Judgement]

_COLORS = {
    regime.Level.GREEN: ("green", ":material/check_circle:"),
    regime.Level.AMBER: ("yellow", ":material/error:"),
    regime.Level.RED: ("red", ":material/cancel:"),
}


def foresee_outcome(request: Request, table: OpenTable, tried: Sequence[float] = ()) -> Judgement:
    """What is to be expected of a request, from public numbers and a dry run; of a range of rows, at the fewest."""
    return Judgement.of_request(request, table.private, rows=find_known_rows(table), tried=tried)


def make_foresight(table: OpenTable) -> Foresee:
    """What each card would do with ``table`` under the shared settings as they stand."""

    def foresee(card: Card) -> Judgement:
        return foresee_outcome(read_request(card.id), table)

    return foresee


def format_light(judgement: Judgement) -> str:
    """A badge for what to expect; "" where nothing can be told."""
    if judgement.refusal:
        return ":red-badge[:material/block: cannot run]"
    if judgement.level is None:
        return ""
    color, icon = _COLORS[judgement.level]
    return f":{color}-badge[{icon} {escape_markdown(judgement.in_short)}]"


def summarize_judgement(judgement: Judgement) -> str:
    """Why it should not be run, as short as can be; "" if there is no such reason."""
    if judgement.refusal or not judgement.hopeless:
        return judgement.refusal
    if judgement.hides_categories:
        return "Its noise hides categories."
    if judgement.needed_n >= OUT_OF_REACH:
        return "No realistic number of records is enough at this k and ε."
    return f"Too few records at this k and ε: about {regime.round_up(judgement.needed_n):,} are needed."


def format_warning(words: str) -> str:
    """Words of caution behind a red sign; the number 1e-6 stays in one piece."""
    return f":red[:material/cancel:] {_join_number(escape_markdown(words))}"


def describe_judgement(judgement: Judgement, request: Request) -> str:
    """A light and what it means for this request, with the number of records that would do."""
    if judgement.refusal:
        return f"{format_light(judgement)} {_join_number(escape_markdown(judgement.refusal))}"
    if judgement.level is not None:
        return f"{format_light(judgement)} {escape_markdown(judgement.message)}"
    if not request.card.private:
        return ":orange-badge[:material/visibility: revealed] Its centres come from the rows themselves."
    if not judgement.message:
        return ""
    return f":gray-badge[:material/help: n is private] {escape_markdown(judgement.message)}"


def _join_number(words: str) -> str:
    """A browser may break a line behind any hyphen, but not before a word joiner."""
    return re.sub(r"(?<=\de-)(?=\d)", "\u2060", words)


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
