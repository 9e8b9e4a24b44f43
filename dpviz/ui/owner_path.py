"""The owner's path on one line: Data, Bounds, Choose ε, Release; what is done, what is missing, what comes next."""

from __future__ import annotations

from typing import Literal, NamedTuple

import streamlit as st

from dpviz.runs.open_table import OpenTable
from dpviz.ui.data.large_table import preparation_under_way
from dpviz.ui.escape import plain
from dpviz.ui.release.released_notice import has_left, released_words
from dpviz.ui.session import booked, current_table, remember, remembered, undeclared

Here = Literal["home", "data", "tradeoff", "ledger", "release"]
State = Literal["done", "missing", "next", "later"]

_SEEN = "owner_path:choice_seen"


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


def owner_path(*, here: Here) -> None:
    """Draw it above what the page ``here`` has to say; each stop leads to its page."""
    table = current_table()
    if here == "tradeoff" and table is not None:
        remember(_SEEN, table.source_key)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="owner_path"):
        for place, stop in enumerate(stops()):
            st.page_link(
                f"{stop.page}.py",
                label=":gray[›] " * (place > 0) + _WORDS[stop.state].format(stop.title),
                help=stop.said,
            )


def stops() -> list[Stop]:
    """The four places for what this visit has in hand."""
    table, waiting = current_table(), undeclared()
    if waiting is not None:
        name = plain(waiting.content.name)
        bounds = Stop("Bounds", "data", "missing", "Say between which bounds every column lies.")
        if preparation_under_way(waiting):
            bounds = Stop("Bounds", "data", "done", "Declared; the rows are being prepared.")
        return [
            Stop("Data", "data", "done", f"{name} is read."),
            bounds,
            Stop("Choose ε", "tradeoff", "later", "After the bounds."),
            _release(table, chosen=False),
        ]
    if table is None:
        return [
            Stop("Data", "data", "next", "Open a sample, your own file, or a stand-in."),
            Stop("Bounds", "data", "later", "After the data."),
            Stop("Choose ε", "tradeoff", "later", "After the bounds."),
            _release(table, chosen=False),
        ]
    tried = _tried(table)
    return [
        Stop("Data", "data", "done", f"{plain(table.title)} is open."),
        Stop("Bounds", "data", "done", "Declared for every column."),
        Stop("Choose ε", "tradeoff", "done", f"Last run at ε = {tried:g}.")
        if tried
        else Stop("Choose ε", "tradeoff", "next", "See what each ε buys, and choose one."),
        _release(table, chosen=bool(tried)),
    ]


def _release(table: OpenTable | None, *, chosen: bool) -> Stop:
    """What has left of the open table; until then every result is a simulation."""
    if table is not None and (words := released_words(table.source_key)):
        return Stop("Release", "release", "done" if has_left(table.source_key) else "next", words)
    said = "Until a release is charged to an account, every result is a simulation."
    return Stop("Release", "release", "next" if chosen else "later", said)


def _tried(table: OpenTable) -> float | None:
    """ε of the last private run on the rows of ``table``; None before there is one, or before the choice was seen.

    A public table runs by itself, which is no choice.
    """
    if remembered(_SEEN, "") != table.source_key:
        return None
    runs = [one.record for one in booked() if one.record.private and one.source_key == table.source_key]
    return runs[-1].epsilon if runs else None
