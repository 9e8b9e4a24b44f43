"""The owner’s way: Data, Bounds, Choose ε, Release. What is missing at each, what was decided; no visit ticks it."""

from __future__ import annotations

from typing import Literal, NamedTuple

import streamlit as st

from dpviz.app.ui.data.draft import complete_draft
from dpviz.app.ui.data.table_link import is_preparing
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.release.released_notice import describe_released, has_left
from dpviz.app.ui.session import Source, find_bought_rows, find_table, find_undeclared, list_booked, recall, remember
from dpviz.runs import KnownRows, OpenTable
from dpviz.words import glossary

Here = Literal["home", "data", "tradeoff", "ledger", "release"]
State = Literal["done", "missing", "next", "later"]

_CHOSEN = "owner_path:chosen"
# Columns that are named where bounds are missing.
_NAMED = 3


class Stop(NamedTuple):
    """A place on the path: the page that serves it, how far it is, and one sentence about it."""

    title: str
    page: Here
    state: State
    said: str


_WORDS: dict[State, str] = {
    "done": ":green[✓] {}",
    "missing": ":red[**{}: missing**]",
    "next": "**{}: next**",
    "later": "{}",
}


def draw_owner_path(*, here: Here) -> None:
    """Draw it above what the page ``here`` has to say; each stop leads to its page."""
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="owner_path"):
        for place, stop in enumerate(list_stops()):
            st.page_link(
                f"{stop.page}.py",
                label=":gray[›] " * (place > 0) + _WORDS[stop.state].format(stop.title),
                help=escape_markdown(stop.said),
            )


def draw_guide() -> None:
    """The same as a guide: under each stop what is missing there, or what was decided."""
    with st.grid(min_column_width=200, key="owner_path"):
        for place, stop in enumerate(list_stops(), start=1):
            with st.container(gap="xsmall"):
                st.page_link(f"{stop.page}.py", label=f"{place}. {_WORDS[stop.state].format(stop.title)}")
                st.markdown(f":small[{escape_markdown(stop.said)}]", help=glossary.explain_words(stop.said))


def decide_epsilon(source_key: str, epsilon: float) -> None:
    """An owner chose ε for a table: that is what ticks the stop, and no visit of a page does."""
    remember(_CHOSEN, (source_key, epsilon))


def list_stops() -> list[Stop]:
    """The four places for what this visit has in hand."""
    table, waiting, chosen = find_table(), find_undeclared(), None
    data = Stop("Data", "data", "next", "Open a sample, your own file, or a synthetic table.")
    bounds = Stop("Bounds", "data", "later", "After the data: between which values each column lies.")
    epsilon = Stop("Choose ε", "tradeoff", "later", "After the bounds: the loss and the risk that you accept.")
    if waiting is not None:
        data = Stop("Data", "data", "done", f"{waiting.content.name} is read.")
        bounds = Stop("Bounds", "data", "missing", _describe_missing_bounds(waiting))
        if is_preparing(waiting):
            bounds = Stop("Bounds", "data", "done", "Declared; the rows are being prepared.")
    elif table is not None:
        data = Stop("Data", "data", "done", f"{table.title} is open.")
        bounds = Stop("Bounds", "data", "done", "Declared for every column.")
        chosen = _read_chosen_epsilon(table)
        known = table.n_public or KnownRows.read(table.declaration, bought=find_bought_rows(table))
        missing = "How many rows there are, " if known is None else "Missing: "
        epsilon = Stop("Choose ε", "tradeoff", "next", f"{missing}the loss and the risk that you accept.")
        if chosen:
            epsilon = Stop("Choose ε", "tradeoff", "done", f"ε = {chosen:g} is chosen.")
    return [data, bounds, epsilon, _make_release_stop(table, chosen=bool(chosen))]


def _describe_missing_bounds(waiting: Source) -> str:
    """Which columns have no bounds yet, as far as the form knows them."""
    declared = complete_draft(waiting)
    if declared is None or not declared.columns:
        return "Say between which bounds every column lies."
    bounds = zip(declared.columns, declared.lower, declared.upper, strict=True)
    without = [name for name, low, high in bounds if low is None or high is None]
    if not without:
        return "Put the table to use."
    few = ", ".join(without[:_NAMED]) + (" …" if len(without) > _NAMED else "")
    return f"{len(without)} of {len(declared.columns)} columns have no bounds: {few}."


def _make_release_stop(table: OpenTable | None, *, chosen: bool) -> Stop:
    """What has left of the open table; until then every result is a simulation."""
    if table is not None and (words := describe_released(table.source_key)):
        return Stop("Release", "release", "done" if has_left(table.source_key) else "next", words)
    said = "An account with a cap, and words for the card. Until then every result is a simulation."
    return Stop("Release", "release", "next" if chosen else "later", said)


def _read_chosen_epsilon(table: OpenTable) -> float | None:
    """The ε that was handed on from *Choose ε*, or that of the last run somebody pressed for on these rows.

    A public table runs by itself, which is no choice.
    """
    source_key, epsilon = recall(_CHOSEN, ("", 0.0))
    if source_key == table.source_key:
        return epsilon
    if table.kind.may_be_shown:
        return None
    runs = [one.record for one in list_booked() if one.record.private and one.source_key == table.source_key]
    return runs[-1].epsilon if runs else None
