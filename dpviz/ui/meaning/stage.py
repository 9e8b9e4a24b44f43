"""On whose rows ε is explained: a public or simulated table, one person in it, and what is run."""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

from dpviz.algorithms.registry import AUTO, CARDS, private_cards
from dpviz.check import RequestError
from dpviz.meaning.worlds import Worlds, farthest, worlds
from dpviz.runs.open_table import OpenTable, declare
from dpviz.runs.request import Request
from dpviz.table.loaded_table import LoadedTable
from dpviz.table.samples import sample
from dpviz.ui.controls import epsilon_control, request
from dpviz.ui.session import current_table, remember, setting

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
    def worlds(self) -> Worlds:
        """The table with the person and without."""
        return worlds(self.table, self.row)


def rail_stage() -> Stage | str:
    """Draw the controls in the rail; what they come to, or why that cannot be run, in a sentence."""
    with st.sidebar:
        table = _table_choice()
        chosen = _algorithm_choice()
        epsilon_control(with_link=False)
        row = _person_choice(table)
    asked = replace(request(chosen), seed=SEED)
    if table is public_sample(RICH):
        asked = replace(asked, k=sample(RICH).clusters)
    return stage_on(table, row, asked)


def stage_on(table: OpenTable, row: int, asked: Request) -> Stage | str:
    """The stage, or why it cannot be run, in a sentence."""
    stage = Stage(table, row, asked)
    try:
        asked.check(table.private)
        _ = stage.worlds
    except RequestError as error:
        return str(error)
    return stage


@st.cache_resource(max_entries=8, show_spinner=False)
def public_sample(sample_id: str) -> OpenTable:
    """A sample, declared as it ships; the same for every visit."""
    return declare(*sample(sample_id).load())


def _table_choice() -> OpenTable:
    rich, mine = public_sample(RICH), current_table()
    tables = {table.key: table for table in (mine, rich) if table is not None and _fits(table)}
    chosen = st.selectbox(
        "Table", list(reversed(tables)), format_func=lambda key: tables[key].title, key="meaning:table"
    )
    return tables[chosen]


def _fits(table: OpenTable) -> bool:
    return table.kind.may_be_shown and isinstance(table.loaded, LoadedTable) and table.loaded.n_rows <= _MOST_ROWS


def _algorithm_choice() -> str:
    names = [card.id for card in private_cards()]
    before = setting("algorithm", AUTO)
    chosen = st.selectbox(
        "Algorithm",
        names,
        index=names.index(before if before in names else AUTO),
        format_func=lambda name: f"{CARDS[name].does}: {CARDS[name].title}",
        key="meaning:algorithm",
    )
    return str(remember("algorithm", str(chosen)))


def _person_choice(table: OpenTable) -> int:
    number = st.number_input(
        "The person, by row",
        1,
        table.loaded.n_rows,
        value=farthest(table) + 1,
        key=f"meaning:row:{table.source_key}",
        help="Whoever this row belongs to is in the table in one world, and not in the other. At first: whoever lies "
        "farthest from all others, and is hardest to hide.",
    )
    return int(number) - 1
