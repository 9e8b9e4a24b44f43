"""Whom to study: any number of algorithms, what each would do with the table, and all of them at one press."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import streamlit as st

from dpviz.algorithms.registry import AUTO, private_cards
from dpviz.charts.wording import things
from dpviz.runs.open_table import OpenTable
from dpviz.runs.request import Contender, Prospect, Request
from dpviz.runs.study.grid import Grid
from dpviz.ui.escape import plain
from dpviz.ui.explore.foresight import in_short, warned
from dpviz.ui.session import remember, remembered

# At first: of every way to go about it the algorithm that does well most widely. Those that would fail are left out.
_USUAL = (AUTO, "eugkm", "dplloyd", "balcan", "lsh-coreset", "sulq")
_FEWEST = 2


class Offer(NamedTuple):
    """An algorithm with its parameters, and what it would do with the table."""

    contender: Contender
    prospect: Prospect


def contender_options() -> list[Contender]:
    """Every private algorithm with its defaults, then each of its other presets."""
    found = []
    for card in private_cards():
        presets = next((knob for knob in card.params.knobs() if knob.name == "preset"), None)
        found.append(Contender(card.id))
        if presets is not None:
            found += [Contender(card.id, {"preset": name}) for name in presets.choices or () if name != presets.default]
    return found


def contender_picker(key: str, table: OpenTable, *, k: int, epsilons: Sequence[float], delta: float) -> list[Contender]:
    """The algorithms to study on ``table``, each of their presets on its own."""
    offered = _offers(table, k=k, epsilons=epsilons, delta=delta)
    widget = f"{key}:contenders"
    if widget not in st.session_state:
        kept: list[str] = remembered(widget, [])
        before = [label for label in kept if label in offered]
        st.session_state[widget] = before or usual(offered)
    picked = st.multiselect(
        "Algorithms",
        list(offered),
        key=widget,
        placeholder="Choose at least one",
        wrap=True,
        help="Each preset counts as an algorithm of its own. k-means++ is always drawn beside them.",
    )
    remember(widget, picked)
    _shortcuts(widget, offered, picked)
    _cautions(offered, picked)
    return [offered[label].contender for label in picked]


def usual(offered: Mapping[str, Offer]) -> list[str]:
    """A few good algorithms of different kinds that can serve the table; at worst whoever can run at all."""
    plain = {offer.contender.algorithm: label for label, offer in offered.items() if not offer.contender.params}
    able = [name for name in plain if not offered[plain[name]].prospect.refusal]
    good = [name for name in able if not offered[plain[name]].prospect.hopeless]
    found = [name for name in _USUAL if name in good]
    found += [name for name in good if name not in found][: max(0, _FEWEST - len(found))]
    return [plain[name] for name in found or [name for name in _USUAL if name in able] or able]


def _offers(table: OpenTable, *, k: int, epsilons: Sequence[float], delta: float) -> dict[str, Offer]:
    """All that may be studied, by label: refused if any ε is, hopeless if the largest one is."""
    contenders = contender_options()
    refused = Grid(tuple(contenders), (k,), tuple(epsilons), (delta,)).refusals(table.private)

    def prospect(contender: Contender) -> Prospect:
        if contender.label in refused:
            return Prospect(refusal=refused[contender.label])
        return Request(contender, k, max(epsilons), delta).prospect(table.private)

    return {contender.label: Offer(contender, prospect(contender)) for contender in contenders}


def _shortcuts(widget: str, offered: Mapping[str, Offer], picked: Sequence[str]) -> None:
    """Buttons that change the choice as a whole."""
    able = [label for label, offer in offered.items() if not offer.prospect.refusal]
    everyone = [label for label in able if not offered[label].contender.params or label in picked]
    with st.container(horizontal=True, gap="small"):
        _shortcut("Add all that can run", widget, everyone, picked, icon=":material/playlist_add:")
        _shortcut("The usual few", widget, usual(offered), picked, icon=":material/restart_alt:")
        if any(label not in able for label in picked):
            _shortcut(
                "Leave out what cannot run",
                *(widget, [label for label in picked if label in able], picked),
                icon=":material/playlist_remove:",
            )


def _shortcut(words: str, widget: str, labels: Sequence[str], picked: Sequence[str], *, icon: str) -> None:
    st.button(
        words,
        icon=icon,
        key=f"{widget}:{words}",
        on_click=_choose,
        args=(widget, labels),
        type="tertiary",
        disabled=set(labels) == set(picked),
    )


def _choose(widget: str, labels: Sequence[str]) -> None:
    st.session_state[widget] = list(labels)


def _cautions(offered: Mapping[str, Offer], picked: Sequence[str]) -> None:
    """Who cannot run here, chosen or not, and of whom nothing but noise is to be expected."""
    refused = {
        label: offer.prospect.refusal
        for label, offer in offered.items()
        if offer.prospect.refusal and (label in picked or not offer.contender.params)
    }
    if refused:
        number = len(refused)
        with st.expander(f"{number} algorithm{'s' if number > 1 else ''} cannot run here", icon=":material/block:"):
            for reason in dict.fromkeys(refused.values()):
                st.caption(warned(reason))
    weak = [label for label in picked if offered[label].prospect.hopeless]
    if weak:
        with st.expander(
            f"Too few records for {things(len(weak), 'algorithm')}: expect noise", icon=":material/warning:"
        ):
            for label in weak:
                st.caption(f"**{plain(label)}**: {plain(in_short(offered[label].prospect))}")
