"""On whose rows ε is explained: a public or simulated table, one person in it, and what is run."""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

from dpviz.algorithms import AUTO, CARDS, list_private_cards
from dpviz.app.ui.controls import draw_epsilon_control, read_request
from dpviz.app.ui.session import find_table, read_setting, remember
from dpviz.core import RequestError
from dpviz.runs import OpenTable, Request, declare, membership
from dpviz.tables import LoadedTable, sample

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


def draw_stage_in_rail() -> Stage | str:
    """Draw the controls in the rail; what they come to, or why that cannot be run, in a sentence."""
    with st.sidebar:
        table = _ask_table()
        chosen = _ask_algorithm()
        draw_epsilon_control(with_link=False)
        row = _ask_person(table)
    asked = replace(read_request(chosen), seed=SEED)
    if table is open_public_sample(RICH):
        asked = replace(asked, k=sample(RICH).clusters)
    return open_stage(table, row, asked)


def open_stage(table: OpenTable, row: int, asked: Request) -> Stage | str:
    """What the parts of the page are about: a person of a table, and runs with and without that person."""
    stage = Stage(table, row, asked)
    try:
        asked.check(table.private)
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
    tables = {table.key: table for table in (mine, rich) if table is not None and _is_fitting(table)}
    chosen = st.selectbox(
        "Table", list(reversed(tables)), format_func=lambda key: tables[key].title, key="meaning:table"
    )
    return tables[chosen]


def _is_fitting(table: OpenTable) -> bool:
    return table.kind.may_be_shown and isinstance(table.loaded, LoadedTable) and table.loaded.n_rows <= _MOST_ROWS


def _ask_algorithm() -> str:
    names = [card.id for card in list_private_cards()]
    before = read_setting("algorithm", AUTO)
    chosen = st.selectbox(
        "Algorithm",
        names,
        index=names.index(before if before in names else AUTO),
        format_func=lambda name: f"{CARDS[name].does}: {CARDS[name].title}",
        key="meaning:algorithm",
    )
    return str(remember("algorithm", str(chosen)))


def _ask_person(table: OpenTable) -> int:
    number = st.number_input(
        "The person, by row",
        1,
        table.loaded.n_rows,
        value=membership.find_farthest_row(table) + 1,
        key=f"meaning:row:{table.source_key}",
        help="Whoever this row belongs to is in one of the two tables, and not in the other. At first: whoever lies "
        "farthest from all others, and is hardest to hide.",
    )
    return int(number) - 1
