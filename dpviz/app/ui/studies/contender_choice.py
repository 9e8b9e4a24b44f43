"""Whom to study: any number of algorithms, what each would do with the table, and all of them at one press."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import streamlit as st

from dpviz.algorithms import AUTO, list_private_cards
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.explore.algorithm_choice import format_warning, summarize_judgement
from dpviz.app.ui.session import choose, recall, remember
from dpviz.runs import Contender, Judgement, OpenTable, Request, StudyGrid
from dpviz.words import capitalize_first, format_things

# At first: of every way to go about it the algorithm that does well most widely. Those that would fail are left out.
_USUAL = (AUTO, "eugkm", "dplloyd", "balcan", "lsh-coreset", "sulq")
_FEWEST = 2


class Offer(NamedTuple):
    """An algorithm with its parameters, and what it would do with the table."""

    contender: Contender
    judgement: Judgement


def list_contenders() -> list[Contender]:
    """Every private algorithm with its defaults, then each of its other presets."""
    options = []
    for card in list_private_cards():
        usual = Contender(card.id)
        others = (name for name in card.params.list_presets() if name != usual.preset)
        options += [usual, *(Contender(card.id, {"preset": name}) for name in others)]
    return options


def draw_contender_picker(key: str, table: OpenTable, grid: StudyGrid) -> StudyGrid:
    """Ask for the algorithms to study."""
    offered = _list_offers(table, grid)
    widget = f"{key}:contenders"
    if widget not in st.session_state:
        kept: list[str] = recall(widget, [])
        before = [label for label in kept if label in offered]
        st.session_state[widget] = before or choose_usual(offered)
    picked = st.multiselect(
        "Algorithms",
        list(offered),
        key=widget,
        placeholder="Choose at least one",
        wrap=True,
        help="Each preset counts as an algorithm of its own. k-means++ is always drawn beside them.",
    )
    remember(widget, picked)
    with st.popover("Who can run here", icon=":material/playlist_add:", width="stretch"):
        _draw_shortcuts(widget, offered, picked)
        _draw_cautions(offered, picked)
    return replace(grid, contenders=tuple(offered[label].contender for label in picked))


def choose_usual(offered: Mapping[str, Offer]) -> list[str]:
    """A few good algorithms of different kinds that can serve the table; at worst whoever can run at all."""
    plain = {offer.contender.algorithm: label for label, offer in offered.items() if not offer.contender.params}
    able = [name for name in plain if not offered[plain[name]].judgement.refusal]
    good = [name for name in able if not offered[plain[name]].judgement.hopeless]
    first = [name for name in _USUAL if name in good]
    first += [name for name in good if name not in first][: max(0, _FEWEST - len(first))]
    return [plain[name] for name in first or [name for name in _USUAL if name in able] or able]


def _list_offers(table: OpenTable, grid: StudyGrid) -> dict[str, Offer]:
    """All that may be studied, by label: refused if any ε is, hopeless if the largest one is."""
    everyone = replace(grid, contenders=tuple(list_contenders()))
    refused = everyone.list_refusals(table.private)
    (k,), (delta,), highest = grid.ks, grid.deltas, max(grid.epsilons)

    def judgement(contender: Contender) -> Judgement:
        if contender.label in refused:
            return Judgement(refusal=refused[contender.label])
        return Judgement.of_request(Request(contender, k, highest, delta), table.private)

    return {contender.label: Offer(contender, judgement(contender)) for contender in everyone.contenders}


def _draw_shortcuts(widget: str, offered: Mapping[str, Offer], picked: Sequence[str]) -> None:
    """Buttons that change the choice as a whole."""
    able = [label for label, offer in offered.items() if not offer.judgement.refusal]
    everyone = [label for label in able if not offered[label].contender.params or label in picked]

    def shortcut(words: str, icon: str, labels: list[str]) -> None:
        done = set(labels) == set(picked)
        key = f"{widget}:{words}"
        st.button(words, icon=icon, key=key, on_click=choose, args=(widget, labels), type="tertiary", disabled=done)

    with st.container(gap="xsmall"):
        shortcut("Add all that can run", ":material/playlist_add:", everyone)
        shortcut("The usual few", ":material/restart_alt:", choose_usual(offered))
        still_able = [label for label in picked if label in able]
        if still_able != list(picked):
            shortcut("Leave out what cannot run", ":material/playlist_remove:", still_able)


def _draw_cautions(offered: Mapping[str, Offer], picked: Sequence[str]) -> None:
    """Who cannot run here, chosen or not, and of whom nothing but noise is to be expected."""
    refused = {
        label: offer.judgement.refusal
        for label, offer in offered.items()
        if offer.judgement.refusal and (label in picked or not offer.contender.params)
    }
    if refused:
        st.markdown(f"**{capitalize_first(format_things(len(refused), 'algorithm'))} cannot run here**")
        for reason in dict.fromkeys(refused.values()):
            st.caption(format_warning(reason))
    weak = [label for label in picked if offered[label].judgement.hopeless]
    if weak:
        st.markdown(f"**Too few records for {format_things(len(weak), 'algorithm')}: expect noise**")
        for label in weak:
            st.caption(
                f"**{escape_markdown(label)}**: {escape_markdown(summarize_judgement(offered[label].judgement))}"
            )
