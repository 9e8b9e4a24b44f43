"""The open table in the page's link, so that a reload opens it again: a sample by its id, a stand-in by its numbers, a
drawing by its text.

A public file is kept for a while under a word that only the link holds. Of a private file a link says only that there
was one: a reload forgets it.
"""

from __future__ import annotations

from contextlib import suppress

import streamlit as st

from dpviz.check import RequestError
from dpviz.table.csv_intake import CsvFile
from dpviz.table.drawing import decode_drawing
from dpviz.table.samples import SAMPLES
from dpviz.ui.controls import USUAL_CLUSTERS, suggest_delta
from dpviz.ui.data.kept_files import SHELF, KeptFile
from dpviz.ui.data.ways_in import PAINTED, StandIn, named_in_links, open_painted, open_sample, open_stand_in
from dpviz.ui.session import (
    TABLE_LINK,
    current_source,
    current_table,
    open_table,
    remember,
    remembered,
    undeclared,
)

_FILE, _KEPT = "file", "file."
_WORD = "table_link:word"
_STAND_IN = "stand-in"


def follow_table_link() -> None:
    """Open the table that the link names, once a visit has none; name the open one in the link of every page."""
    named = st.query_params.get(TABLE_LINK, "")
    if current_table() is None and undeclared() is None:
        _open(named)
    if (now := _name_of_open()) and now != st.query_params.get(TABLE_LINK):
        st.query_params[TABLE_LINK] = now


def is_own_file() -> bool:
    """Whether what is in hand is a file of the owner's, which no link can open again."""
    return undeclared() is not None or _name_of_open() == _FILE


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
    elif named.startswith(PAINTED):
        with suppress(RequestError):
            drawing = decode_drawing(named.removeprefix(PAINTED))
            open_painted(drawing, remembered("k", USUAL_CLUSTERS))
    elif named.startswith(_KEPT) and (kept := SHELF.find(named.removeprefix(_KEPT))) is not None:
        open_table(kept.file, kept.declaration)
        _remember_word(named.removeprefix(_KEPT))
        suggest_delta()


def _name_of_open() -> str:
    """The open table, or the file that waits, as a link names it; "" if there is none."""
    if current_table() is None:
        return "" if undeclared() is None else _FILE
    told = named_in_links(current_source())
    if isinstance(told, StandIn):
        return ",".join((_STAND_IN, *(f"{value:.12g}" for value in told)))
    return told or _kept_file() or _FILE


def _kept_file() -> str:
    """The open file as a link names it, kept as it is declared now; "" if it may not be kept."""
    table, source = current_table(), current_source()
    if table is None or source is None or not isinstance(source.content, CsvFile):
        return ""
    number, word = remembered(_WORD, (0, ""))
    mine = word if number == source.number else ""
    if not table.kind.may_be_shown:
        SHELF.forget(mine)
        return ""
    found = SHELF.put(KeptFile(source.content, table.declaration), mine or None)
    if found is None:
        return ""
    _remember_word(found)
    return f"{_KEPT}{found}"


def _remember_word(word: str) -> None:
    source = current_source()
    assert source is not None
    remember(_WORD, (source.number, word))
