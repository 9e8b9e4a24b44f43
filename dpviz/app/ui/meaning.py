"""The page *What ε means*: a table that anybody may see, one person in it, and five looks at what is told of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, cast

import streamlit as st

from dpviz.algorithms import AUTO, list_private_cards
from dpviz.app.charts import meaning as pictures
from dpviz.app.charts.meaning import SOURCE, load_deployments
from dpviz.app.charts.view import make_view
from dpviz.app.ui.controls import draw_epsilon_control, read_request
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.figure import SENTENCES, look_of, show_plot
from dpviz.app.ui.job_panel import draw_job_panel, open_job_registry
from dpviz.app.ui.session import find_table, make_once, read_setting, remember
from dpviz.core import Array, RequestError
from dpviz.runs import AskingAgain, Job, OpenTable, Request, clip_rows, declare, membership, run_request
from dpviz.tables import LoadedTable, sample
from dpviz.words import format_small, glossary

RICH = "outlier"
"""The sample that shows best what a release may tell about one person."""
# The same draws for everybody who looks at the same settings.
SEED = 1
# Beyond, an attack of hundreds of runs would keep a class waiting.
_MOST_ROWS = 20_000


@dataclass(frozen=True, eq=False)
class Stage:
    """A table that anybody may look at, the row of the person in question, and what is run on it."""

    table: OpenTable
    row: int
    request: Request

    @property
    def key(self) -> tuple[str, int, Request]:
        """Tells any two stages apart."""
        return self.table.key, self.row, self.request

    @property
    def neighbors(self) -> membership.NeighboringTables:
        """The table with the person and without."""
        return membership.make_neighbors(self.table, self.row)


def open_stage(table: OpenTable, row: int, asked: Request) -> Stage | str:
    """What the parts of the page are about: a person of a table, and runs with and without that person."""
    try:
        asked.check(table.private)
        # What is ε-DP as it is set has no slack, whatever the page's δ.
        stage = Stage(table, row, replace(asked, delta=asked.spent_delta))
        _ = stage.neighbors
    except RequestError as error:
        return str(error)
    return stage


@st.cache_resource(max_entries=8, show_spinner=False)
def open_public_sample(sample_id: str) -> OpenTable:
    """A sample, declared as it ships; the same for every visit."""
    return declare(*sample(sample_id).load())


def _ask_table() -> OpenTable:
    rich, mine = open_public_sample(RICH), find_table()
    shown = [table for table in (mine, rich) if table is not None and table.kind.may_be_shown]
    tables = {one.key: one for one in shown if isinstance(one.loaded, LoadedTable) and one.loaded.n_rows <= _MOST_ROWS}
    title = {key: table.title for key, table in tables.items()}.__getitem__
    return tables[st.selectbox("Table", list(reversed(tables)), format_func=title, key="meaning:table")]


def _ask_algorithm() -> str:
    named = {card.id: f"{card.does}: {card.title}" for card in list_private_cards()}
    before, names = read_setting("algorithm", AUTO), list(named)
    first = names.index(before if before in named else AUTO)
    chosen = st.selectbox("Algorithm", names, first, lambda name: named[name], key="meaning:algorithm")
    return str(remember("algorithm", str(chosen)))


def _ask_person(table: OpenTable) -> int:
    most, first, key = table.loaded.n_rows, membership.find_farthest_row(table) + 1, f"meaning:row:{table.source_key}"
    return int(st.number_input(**look_of("person", max_value=most, value=first, key=key))) - 1


# Averages of four, of which there must be eight.
_KEPT, _LEAST = 4, 32


class PagePart(NamedTuple):
    """A part of the page: what it is called, and what draws it."""

    label: str
    draw: Callable[[Stage], None]


def draw_odds(stage: Stage) -> None:
    """What can be believed of one person after a release."""
    place = st.container()
    words, picture = st.columns([1, 2], gap="large", vertical_alignment="center")
    with words:
        prior = st.slider("A belief about you before, %", 1, 99, 50, key="meaning:prior", help=_PRIOR_HELP)
        array = pictures.draw_icon_array(prior / 100, stage.request.epsilon)
        # Who "you" is, and what δ adds to the factor.
        delta = stage.request.delta
        you = f"“Your data” is **{escape_markdown(stage.table.private.unit)}** here."
        st.markdown(you, help=glossary.explain_words("unit of privacy"))
        if delta > 0:
            # Too little for the digits of a share.
            slack = escape_markdown(format_small(delta))
            more = escape_markdown(f"{format_small(100 * delta)} %")
            beyond = f"δ = {slack} is slack: any result may be likelier by another {more}, beyond the factor."
            st.markdown(beyond, help=glossary.explain_words("δ"))
    with place:
        _draw_head(array.finding, array.note)
    with picture:
        show_plot(array, key="meaning:odds", bare=True)
    st.caption(SENTENCES.fill("odds"), help=glossary.explain_term("released"))


def draw_membership(stage: Stage) -> None:
    """The attack, run: was this person in the table?"""

    def draw(simulation: Simulation) -> None:
        attackers = pictures.list_attackers(simulation.list_trials(), simulation.list_reference_trials())
        region = pictures.draw_attack_region(attackers, stage.request.epsilon, stage.request.delta)
        _draw_head(region.finding, region.note)
        show_plot(region, key="meaning:attack", bare=True)

    _draw_simulation(stage, draw)
    st.caption(SENTENCES.fill("attack"))


def draw_twins(stage: Stage) -> None:
    """Two tables, one person apart."""
    answers = ["not to be seen", "about as far as the noise", "much farther"]
    guess = st.pills("Take the person away: how far do the centres move?", answers, key="meaning:guess")

    def draw(simulation: Simulation) -> None:
        view, person = make_view(stage.table.domain), stage.neighbors.person
        trials = simulation.list_trials()
        clouds, attackers = pictures.TwinClouds.of(trials, person), pictures.list_attackers(trials, ())
        rows, both = _read_points(stage), guess is not None
        drawn = pictures.draw_twin_clouds(clouds, view, rows, attackers, stage.request, both=both)
        if guess:
            _draw_head(drawn.finding, f"{drawn.note} You said: {guess}.")
        else:
            _draw_head("The same table, with one person and without", "Guess first: then the second table appears.")
        show_plot(drawn, key="meaning:twins", bare=True)

    _draw_simulation(stage, draw)


def draw_again(stage: Stage) -> None:
    """What asking again buys, and what it costs."""

    def draw(simulation: Simulation) -> None:
        run = partial(run_request, stage.request, stage.table.private)
        entries = make_once("meaning:entries", stage.key, lambda: run().entries, most=_KEPT)
        again = AskingAgain.of(simulation.list_trials(), entries, stage.request)
        _draw_head(pictures.describe_costs(again), pictures.SENTENCE)
        curves = pictures.draw_costs(again)
        for place, curve in zip(st.columns(len(curves)), curves, strict=True):
            with place:
                st.markdown(f"**{escape_markdown(curve.finding)}**")
                show_plot(curve, key=f"meaning:again:{curve.finding}", bare=True)

    _draw_simulation(stage, draw, least=_LEAST)
    st.caption(SENTENCES.fill("again"))


def draw_others(stage: Stage) -> None:
    """Where others stand."""
    strip = pictures.draw_deployments(load_deployments(), stage.request.epsilon)
    _draw_head(strip.finding, strip.note)
    show_plot(strip, key="meaning:others", bare=True)
    st.caption(f"Hollow: their ρ, told as ε at their δ or at 10⁻⁶. Source: {escape_markdown(SOURCE)}.")


PARTS: dict[str, PagePart] = {
    "odds": PagePart("Odds", draw_odds),
    "attack": PagePart("The attack, run", draw_membership),
    "worlds": PagePart("Neighbouring tables", draw_twins),
    "again": PagePart("Ask again", draw_again),
    "others": PagePart("Where others stand", draw_others),
}

_PRIOR_HELP = "Anything about you: that you are ill, that you are rich, that you are in the table at all."


def _draw_head(title: str, sentence: str) -> None:
    st.title(escape_markdown(title), anchor=False)
    st.markdown(f"**{escape_markdown(sentence)}**")


def _read_points(stage: Stage) -> Array:
    """Of a public table, unit coordinates."""
    table = stage.table

    def read() -> Array:
        return clip_rows(table.private.reveal(note="neighbours of a public table"), table.domain.region).points

    return make_once("meaning:rows", table.key, read, most=_KEPT)


@dataclass(eq=False)
class Simulation:
    """All jobs of one stage: the first runs, and more where they were asked for."""

    stage: Stage
    jobs: list[Job[Any]] = field(default_factory=list)

    @property
    def running(self) -> bool:
        return any(not job.state.final for job in self.jobs)

    def list_trials(self) -> list[membership.AttackTrial]:
        """Of the private algorithm, as far as they have arrived."""
        return [item for job in self.jobs for item in job.items if isinstance(item, membership.AttackTrial)]

    def list_reference_trials(self) -> list[membership.AttackTrial]:
        """Of k-means++ without privacy."""
        return [item.trial for job in self.jobs for item in job.items if isinstance(item, membership.ReferenceTrial)]

    def begin(self) -> None:
        """The first runs, or as many more."""
        asked = (self.stage.neighbors, self.stage.request, membership.PAIRS, len(self.list_trials()) // 2)
        self.jobs.append(open_job_registry().submit(membership.attack_work, *asked))


def _draw_simulation(stage: Stage, draw: Callable[[Simulation], None], *, least: int = 8) -> None:
    """Draw what is known of a stage, and go on drawing while runs arrive; they begin by themselves.

    Nobody's privacy is spent: the rows are public. ``least`` pairs are waited for before anything is drawn.
    """
    simulation = make_once("meaning:simulations", stage.key, lambda: Simulation(stage), most=6)
    # A moved control makes the runs for the settings before worthless, unless they have ended.
    kept = cast("dict[Any, Simulation]", st.session_state["meaning:simulations"])
    for other in [other for other in kept.values() if other is not simulation and other.running]:
        for begun in other.jobs:
            begun.cancel()
        other.jobs.clear()
    if not simulation.jobs:
        try:
            simulation.begin()
        except RequestError as error:
            st.info(escape_markdown(error), icon=":material/hourglass:")
            return

    def live() -> None:
        if len(simulation.list_trials()) // 2 >= least:
            draw(simulation)
        else:
            st.skeleton(height=440)

    label = f"{membership.PAIRS} runs with the person and {membership.PAIRS} without"
    draw_job_panel(simulation.jobs[-1], label=label, key=f"meaning:job:{len(simulation.jobs)}", live=live)
    if not simulation.running:
        pairs = len(simulation.list_trials()) // 2
        more, words = st.columns([1, 4], vertical_alignment="center")
        more.button("More runs", icon=":material/add:", key="meaning:more", on_click=simulation.begin)
        words.caption(f"{pairs} runs with the person and {pairs} without, of a public table: nothing is spent.")


_KEY = "part"


def draw_meaning_page() -> None:
    """The chosen part, on the stage that the controls set; a link may name it."""
    epsilon_place, table_place, algorithm_place, person_place = st.columns([4, 3, 3, 2], gap="medium")
    with table_place:
        table = _ask_table()
    with algorithm_place:
        algorithm = _ask_algorithm()
    with epsilon_place:
        draw_epsilon_control(beside=True)
    with person_place:
        row = _ask_person(table)
    asked = replace(read_request(algorithm), seed=SEED)
    if table is open_public_sample(RICH):
        asked = replace(asked, k=sample(RICH).clusters)
    # What the controls come to, or why that cannot be run, in a sentence.
    stage = open_stage(table, row, asked)
    linked = st.query_params.get(_KEY)
    if linked in PARTS and _KEY not in st.session_state:
        st.session_state[_KEY] = linked
    first = st.session_state.setdefault(_KEY, next(iter(PARTS)))
    look: dict[str, Any] = {"required": True, "label_visibility": "collapsed", "wrap": True}
    chosen = st.segmented_control("Part", list(PARTS), format_func=lambda name: PARTS[name].label, key=_KEY, **look)
    name = str(chosen or first)
    st.query_params[_KEY] = name
    if not isinstance(stage, Stage):
        st.title("This cannot be run", anchor=False)
        st.info(escape_markdown(stage), icon=":material/info:")
        return
    PARTS[name].draw(stage)
