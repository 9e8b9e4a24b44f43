"""The five parts of the page, each to be drawn on a stage: by the page itself, or by a lesson."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import streamlit as st

from dpviz.arrays import Array
from dpviz.charts.meaning.asking_costs import AskingCosts
from dpviz.charts.meaning.attack_region import AttackRegion
from dpviz.charts.meaning.deployment_strip import DeploymentStrip
from dpviz.charts.meaning.icon_array import IconArray, percent
from dpviz.charts.meaning.twin_clouds import TwinClouds
from dpviz.charts.theme import palette
from dpviz.charts.view import view_of
from dpviz.glossary import words_of
from dpviz.meaning.deployments import SOURCE, deployments
from dpviz.runs.clipped_rows import clipped
from dpviz.runs.run import run_of
from dpviz.ui.escape import plain
from dpviz.ui.figure import show
from dpviz.ui.meaning.simulation import Simulation, simulated
from dpviz.ui.meaning.stage import Stage
from dpviz.ui.session import once

# Averages of sixteen, of which there must be two.
_KEPT, _LEAST = 4, 32


class Part(NamedTuple):
    """A part of the page: what it is called, and what draws it."""

    label: str
    icon: str
    draw: Callable[[Stage], None]


def odds(stage: Stage) -> None:
    """What can be believed of one person after a release."""
    place = st.container()
    words, picture = st.columns([1, 2], gap="large", vertical_alignment="center")
    with words:
        prior = st.slider("A belief about you before, %", 1, 99, 50, key="meaning:prior", help=_PRIOR_HELP)
        array = IconArray(prior / 100, stage.request.epsilon)
        _say_unit_and_slack(stage)
    with place:
        _head(array.title, array.sentence)
    with picture:
        show(array.draw(_colors()), alt=array.words(), key="meaning:odds", stem="odds", bare=True)
    st.caption(
        "What the release teaches about everybody, that smoking harms say, it teaches about you too: with or without "
        "your data. The promise is about what your data adds."
    )


def membership(stage: Stage) -> None:
    """The attack, run: was this person in the table?"""

    def draw(simulation: Simulation) -> None:
        region = AttackRegion.of(simulation.trials(), simulation.reference(), stage.request)
        _head(region.title, region.sentence)
        show(region.draw(_colors()), alt=region.words(), key="meaning:attack", stem="attack", bare=True)

    simulated(stage, draw)
    st.caption(
        "One attacker sees the centres: is one near the person? The other knows all other rows and reads every "
        "released answer. Each chose its threshold on one half of the runs; the mark is its record on the other half, "
        "the box holds the truth 19 times in 20. There may be better attackers: the line holds for all."
    )


def twins(stage: Stage) -> None:
    """Two worlds, one person apart."""
    guess = st.pills(
        "Take the person away: how far do the centres move?",
        ["not to be seen", "about as far as the noise", "much farther"],
        key="meaning:guess",
    )

    def draw(simulation: Simulation) -> None:
        view, person = view_of(stage.table.domain), stage.worlds.person
        clouds = TwinClouds.of(simulation.trials(), view, _rows(stage), person, stage.request.epsilon)
        if guess:
            told = f"You said: {guess}. It is {clouds.moved:.2g} times the noise."
            _head(clouds.title, f"{clouds.sentence} {told}")
        else:
            _head("The same table, with one person and without", "Guess first: then the second world appears.")
        figure = clouds.draw(_colors(), both=guess is not None)
        show(figure, alt=clouds.words(), key="meaning:twins", stem="twin-worlds", bare=True)

    simulated(stage, draw)


def again(stage: Stage) -> None:
    """What asking again buys, and what it costs."""

    def draw(simulation: Simulation) -> None:
        costs = _costs(stage, simulation)
        _head(costs.title, costs.sentence)
        for place, curve in zip(st.columns(len(costs.curves)), costs.curves, strict=True):
            with place:
                st.markdown(f"**{plain(curve.heading)}**")
                key = f"meaning:again:{curve.heading}"
                show(curve.draw(_colors()), alt=curve.words, key=key, stem="asking-again", bare=True)

    simulated(stage, draw, least=_LEAST)
    st.caption(
        "First: how far averages of t releases lie apart, in % of one release. Then: what t releases cost, added up "
        "and by the sharper composition; and what the attacker who reads all answers gains about the person, from "
        "sums of the runs' likelihoods drawn again, beside what none can pass."
    )


def others(stage: Stage) -> None:
    """Where others stand."""
    strip = DeploymentStrip(deployments(), stage.request.epsilon)
    _head(strip.title, strip.sentence)
    show(strip.draw(_colors()), alt=strip.words(), key="meaning:others", stem="deployments", bare=True)
    st.caption(f"Hollow: their ρ, told as ε at their δ or at 10⁻⁶. Source: {plain(SOURCE)}.")


PARTS: dict[str, Part] = {
    "odds": Part("Odds", ":material/casino:", odds),
    "attack": Part("The attack, run", ":material/person_search:", membership),
    "worlds": Part("Twin worlds", ":material/compare:", twins),
    "again": Part("Ask again", ":material/replay:", again),
    "others": Part("Where others stand", ":material/public:", others),
}

_PRIOR_HELP = "Anything about you: that you are ill, that you are rich, that you are in the table at all."


def _head(title: str, sentence: str) -> None:
    st.title(plain(title), anchor=False)
    st.markdown(f"**{plain(sentence)}**")


def _say_unit_and_slack(stage: Stage) -> None:
    """Who "you" is, and what δ adds to the factor."""
    delta = stage.request.delta
    st.markdown(f"“Your data” is **{plain(stage.table.private.unit)}** here.", help=words_of("unit of privacy"))
    if delta > 0:
        more = plain(percent(delta))
        st.markdown(
            f"δ = {delta:.1e} is slack: any result may be likelier by another {more}, beyond the factor.",
            help=words_of("δ"),
        )


def _colors() -> Any:
    return palette(st.context.theme.type)


def _rows(stage: Stage) -> Array:
    """Of a public table, unit coordinates."""
    table = stage.table
    return once(
        "meaning:rows",
        table.key,
        lambda: clipped(table.private.reveal(note="twin worlds of a public table"), table.domain.region).points,
        most=_KEPT,
    )


def _costs(stage: Stage, simulation: Simulation) -> AskingCosts:
    asked = stage.request
    entries = once("meaning:entries", stage.key, lambda: run_of(asked, stage.table.private).entries, most=_KEPT)
    return AskingCosts.of(simulation.trials(), entries, asked)
