"""The open table in the page's link, so that a reload opens it again: a sample by its id, a synthetic table by its
numbers, a drawing by its text.

A public file is kept for a while under a word that only the link holds. Of a private file a link says only that there
was one: a reload forgets it. Whatever costs more than a moment waits until somebody presses.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import NamedTuple

import streamlit as st

from dpviz.app.ui.controls import USUAL_CLUSTERS, suggest_delta
from dpviz.app.ui.data.named_tables import (
    PAINTED,
    draw_making_panel,
    find_making,
    find_named_in_links,
    is_cheap,
    open_painted,
    open_sample,
    open_synthetic_table,
)
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.session import (
    COMING,
    TABLE_LINK,
    find_source,
    find_table,
    find_undeclared,
    open_table,
    recall,
    remember,
)
from dpviz.core import RequestError
from dpviz.tables import SAMPLES, CsvFile, Declaration, SyntheticTable, drawings
from dpviz.words import format_duration

_FILE, _KEPT = "file", "file."
_WORD = "table_link:word"
_SYNTHETIC = "stand-in"


def follow_table_link() -> None:
    """Open the table that the link names, once a visit has none, if that costs little; name the open one in the link
    of every page.
    """
    linked = _find_linked()
    if linked is not None and linked.cheap:
        with suppress(RequestError):  # then it is not open, which the page says
            linked.open()
    if (now := _name_open_table()) and now != st.query_params.get(TABLE_LINK):
        st.query_params[TABLE_LINK] = now


def draw_linked_table() -> None:
    """What is said above the page of a table that is on its way: that it waits for a press, or how far it is."""
    linked, asked = _find_linked(), find_making() is not None
    coming = draw_making_panel()
    if linked is not None and not linked.cheap and not asked:
        coming = True
        st.info(escape_markdown(linked.about), title="The table of this link waits", icon=":material/hourglass_empty:")
        if st.button("Open it", type="primary", key="open_linked"):
            with st.spinner("Opening…"):
                linked.open()
            st.rerun()
    remember(COMING, coming)


def is_own_file() -> bool:
    """Whether what is in hand is a file of the owner's, which no link can open again."""
    return find_undeclared() is not None or _name_open_table() == _FILE


def is_forgotten() -> bool:
    """Whether the link names a table that is not open, and that it cannot open."""
    nothing = find_table() is None and find_undeclared() is None and not recall(COMING, usual=False)
    return nothing and TABLE_LINK in st.query_params


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
    return told if told.is_allowed else None


class _Linked(NamedTuple):
    """What a link names: whether it is there in a moment, what opens it, and what is said before that."""

    cheap: bool
    open: Callable[[], None]
    about: str = ""


def _find_linked() -> _Linked | None:
    """What the link names, where nothing is open or waits; nothing of it is opened or made."""
    named = st.query_params.get(TABLE_LINK, "")
    if not named or find_table() is not None or find_undeclared() is not None:
        return None
    sample = next((one for one in SAMPLES if one.id == named), None)
    if sample is not None:
        about = f"The rows of the sample “{sample.title}”, {sample.cells:,} numbers, are made when it is opened."
        return _Linked(is_cheap(sample), partial(open_sample, sample), about)
    if (told := read_synthetic_table(named)) is not None:
        about = (
            f"It is made of its numbers alone, {told.n:,} rows and {told.d:,} columns: about "
            f"{format_duration(told.seconds)}, once somebody asks for it."
        )
        return _Linked(is_cheap(told), partial(open_synthetic_table, told), about)
    if named.startswith(PAINTED):
        return _Linked(True, partial(_open_drawing, named))
    if named.startswith(_KEPT) and (kept := SHELF.find(named.removeprefix(_KEPT))) is not None:
        about = f"The file “{kept.file.name}” is read when it is opened."
        return _Linked(len(kept.file.raw) <= _MOST_AT_ONCE, partial(_open_kept, named, kept), about)
    return None


def _open_drawing(named: str) -> None:
    open_painted(drawings.decode_drawing(named.removeprefix(PAINTED)), recall("k", USUAL_CLUSTERS))


def _open_kept(named: str, kept: KeptFile) -> None:
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


_MOST_AT_ONCE = 4_000_000  # bytes of a file that a link opens by itself: read in half a second
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
