"""The open table in the page's link, so that a reload opens it again: a sample by its id, a stand-in by its numbers.

A link names nothing else: of a file it says only that there was one, and a reload forgets the file.
"""

from __future__ import annotations

from contextlib import suppress

import streamlit as st

from dpviz.check import RequestError
from dpviz.table.samples import SAMPLES
from dpviz.ui.data.ways_in import StandIn, named_in_links, open_sample, open_stand_in
from dpviz.ui.session import TABLE_LINK, current_source, current_table, undeclared

_FILE = "file"
_STAND_IN = "stand-in"


def follow_table_link() -> None:
    """Open the table that the link names, once a visit has none; name the open one in the link of every page."""
    named = st.query_params.get(TABLE_LINK, "")
    if current_table() is None and undeclared() is None:
        _open(named)
    if (now := _name_of_open()) and now != st.query_params.get(TABLE_LINK):
        st.query_params[TABLE_LINK] = now


def is_own_file() -> bool:
    """Whether the table in hand is a file of the owner's, which no link can open again."""
    return _name_of_open() == _FILE


def is_forgotten() -> bool:
    """Whether the link names a table that is not open, and that it cannot open."""
    return current_table() is None and undeclared() is None and TABLE_LINK in st.query_params


def stand_in_in(text: str) -> StandIn | None:
    """The stand-in that a link names, or None if it names none that the form could make.

    >>> stand_in_in("stand-in,0,100,5000,2,5,0.05")
    StandIn(low=0.0, high=100.0, n=5000, d=2, k=5, spread=0.05)
    >>> stand_in_in("stand-in,0,100,99999999,2,5,0.05") is None
    True
    """
    word, *numbers = text.split(",")
    if word != _STAND_IN or len(numbers) != len(StandIn._fields):
        return None
    try:
        low, high, n, d, k, spread = numbers
        told = StandIn(float(low), float(high), int(n), int(d), int(k), float(spread))
    except ValueError:
        return None
    return told if told.is_allowed() else None


def _open(named: str) -> None:
    sample = next((one for one in SAMPLES if one.id == named), None)
    if sample is not None:
        open_sample(sample)
    elif (told := stand_in_in(named)) is not None:
        with suppress(RequestError):  # then it is not open, which the page says
            open_stand_in(told)


def _name_of_open() -> str:
    """The open table, or the file that waits, as a link names it; "" if there is none."""
    if current_table() is None:
        return "" if undeclared() is None else _FILE
    told = named_in_links(current_source())
    if isinstance(told, StandIn):
        return ",".join((_STAND_IN, *(f"{value:.12g}" for value in told)))
    return told or _FILE
