"""The open table in the page's link, so that a reload opens it again: a sample by its id, a synthetic table by its
numbers, a drawing by its text.

A public file is kept for a while under a word that only the link holds. Of a private file a link says only that there
was one: a reload forgets it.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

import streamlit as st

from dpviz.app.ui.controls import USUAL_CLUSTERS, suggest_delta
from dpviz.app.ui.data.ways_in import (
    PAINTED,
    SyntheticTable,
    find_named_in_links,
    open_painted,
    open_sample,
    open_synthetic_table,
)
from dpviz.app.ui.session import TABLE_LINK, find_source, find_table, find_undeclared, open_table, recall, remember
from dpviz.core import RequestError
from dpviz.tables import SAMPLES, CsvFile, Declaration, drawings

_FILE, _KEPT = "file", "file."
_WORD = "table_link:word"
_SYNTHETIC = "stand-in"


def follow_table_link() -> None:
    """Open the table that the link names, once a visit has none; name the open one in the link of every page."""
    named = st.query_params.get(TABLE_LINK, "")
    if find_table() is None and find_undeclared() is None:
        _open(named)
    if (now := _name_open_table()) and now != st.query_params.get(TABLE_LINK):
        st.query_params[TABLE_LINK] = now


def is_own_file() -> bool:
    """Whether what is in hand is a file of the owner's, which no link can open again."""
    return find_undeclared() is not None or _name_open_table() == _FILE


def is_forgotten() -> bool:
    """Whether the link names a table that is not open, and that it cannot open."""
    return find_table() is None and find_undeclared() is None and TABLE_LINK in st.query_params


def read_synthetic_table(text: str) -> SyntheticTable | None:
    """The synthetic table that a link names, or None if it names none that the form could make.

    >>> read_synthetic_table("stand-in,0,100,5000,2,5,0.05")
    SyntheticTable(low=0.0, high=100.0, n=5000, d=2, k=5, spread=0.05)
    >>> read_synthetic_table("stand-in,0,100,99999999,2,5,0.05") is None
    True
    """
    word, *numbers = text.split(",")
    if word != _SYNTHETIC or len(numbers) != len(SyntheticTable._fields):
        return None
    try:
        low, high, n, d, k, spread = numbers
        told = SyntheticTable(float(low), float(high), int(n), int(d), int(k), float(spread))
    except ValueError:
        return None
    return told if told.is_allowed() else None


def _open(named: str) -> None:
    sample = next((one for one in SAMPLES if one.id == named), None)
    if sample is not None:
        open_sample(sample)
    elif (told := read_synthetic_table(named)) is not None:
        with suppress(RequestError):  # then it is not open, which the page says
            open_synthetic_table(told)
    elif named.startswith(PAINTED):
        with suppress(RequestError):
            drawing = drawings.decode_drawing(named.removeprefix(PAINTED))
            open_painted(drawing, recall("k", USUAL_CLUSTERS))
    elif named.startswith(_KEPT) and (kept := SHELF.find(named.removeprefix(_KEPT))) is not None:
        open_table(kept.file, kept.declaration)
        _remember_word(named.removeprefix(_KEPT))
        suggest_delta()


def _name_open_table() -> str:
    """The open table, or the file that waits, as a link names it; "" if there is none."""
    if find_table() is None:
        return "" if find_undeclared() is None else _FILE
    told = find_named_in_links(find_source())
    if isinstance(told, SyntheticTable):
        return ",".join((_SYNTHETIC, *(f"{value:.12g}" for value in told)))
    return told or _name_kept_file() or _FILE


def _name_kept_file() -> str:
    """The open file as a link names it, kept as it is declared now; "" if it may not be kept."""
    table, source = find_table(), find_source()
    if table is None or source is None or not isinstance(source.content, CsvFile):
        return ""
    number, word = recall(_WORD, (0, ""))
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
    source = find_source()
    assert source is not None
    remember(_WORD, (source.number, word))


MOST_BYTES, MOST_SECONDS = 300_000_000, 3_600.0


class KeptFile(NamedTuple):
    """A public file, and what is declared about it."""

    file: CsvFile
    declaration: Declaration


class KeptFiles:
    """A shelf of public files: the newest up to ``most_bytes``, each for ``most_seconds`` since it was last put there.

    ``clock``: the time in seconds.
    """

    def __init__(
        self,
        most_bytes: int = MOST_BYTES,
        most_seconds: float = MOST_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most_bytes, self._most_seconds, self._clock = most_bytes, most_seconds, clock
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, tuple[KeptFile, float]] = OrderedDict()

    def put(self, kept: KeptFile, word: str | None = None) -> str | None:
        """Keep a file for the links of this server."""
        if not kept.declaration.kind.may_be_shown or len(kept.file.raw) > self._most_bytes:
            return None
        word = word or secrets.token_urlsafe(16)
        with self._lock:
            self._kept[word] = (kept, self._clock())
            self._kept.move_to_end(word)
            self._make_room()
        return word

    def find(self, word: str) -> KeptFile | None:
        """The file that was kept under ``word``, if it is still there."""
        with self._lock:
            self._make_room()
            found = self._kept.get(word)
        return None if found is None else found[0]

    def forget(self, word: str) -> None:
        """Keep that file no longer."""
        with self._lock:
            self._kept.pop(word, None)

    def _make_room(self) -> None:
        oldest = self._clock() - self._most_seconds
        size = sum(len(kept.file.raw) for kept, _ in self._kept.values())
        for word, (kept, since) in list(self._kept.items()):
            if since >= oldest and size <= self._most_bytes:
                return
            del self._kept[word]
            size -= len(kept.file.raw)


SHELF = KeptFiles()
"""Of this server."""
