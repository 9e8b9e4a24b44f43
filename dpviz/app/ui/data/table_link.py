"""The ways to a table: a file, a sample, made-up rows, what a link names or a job prepares; and the open one in links.

A reload opens it again: a sample by its id, a synthetic table by its numbers, a drawing by its text. A public file is
kept for a while under a word that only the link holds. Of a private file a link says only that there was one: a reload
forgets it. Whatever costs more than a moment waits until somebody presses.
"""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

import streamlit as st

from dpviz.app.ui import session
from dpviz.app.ui.controls import USUAL_CLUSTERS, suggest_delta, suggest_k
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.figure import SENTENCES, look_of, say_refusal
from dpviz.app.ui.job_panel import draw_job_panel, open_job_registry
from dpviz.app.ui.same_origin import may_name_paths
from dpviz.app.ui.session import find_table, open_table, set_aside
from dpviz.core import RequestError, Rows
from dpviz.runs import Job, Plan, Prepared, make_work, prepare_work
from dpviz.tables import (
    GIVEN,
    ArrowTable,
    Content,
    CsvFile,
    CsvOnDisk,
    Declaration,
    IntakeError,
    LatticeFile,
    LoadedTable,
    Sample,
    SparseTable,
    SyntheticTable,
    drawings,
    find_sample,
    list_samples,
    made_tables,
    make_painted_table,
    open_csv,
    open_named,
)
from dpviz.words import foreign, format_duration

PAINTED = "painted."
"""What the name of a drawing in a link begins with; its text follows."""

_NAMED, _MAKING, _PREPARING = "ways_in:named", "ways_in:making", "large_table:preparing"
# What may be opened without being asked for: a cell costs some 50 bytes until a page has shown it.
_MOST_CELLS, _MOST_SECONDS = 1_500_000, 0.7


@dataclass(frozen=True, eq=False)
class _Coming:
    """A table that a job makes or prepares: of what, what is said meanwhile, and what opens what comes of it."""

    of: SyntheticTable | Content
    label: str
    job: Job[Any]
    open: Callable[[Any], None]


def _find_coming(key: str) -> _Coming | None:
    return cast("_Coming | None", st.session_state.get(key))


def _leave(key: str) -> None:
    """Another table takes the place of the one that is under way."""
    if (coming := _find_coming(key)) is not None:
        coming.job.cancel()
        del st.session_state[key]


def claim_tables() -> None:
    """Open a synthetic table that is complete, or one whose file is, whatever page is shown."""
    for key, kind in ((_MAKING, tuple), (_PREPARING, Prepared)):
        coming = _find_coming(key)
        for done in (item for item in (coming.job.items if coming else ()) if isinstance(item, kind)):
            assert coming is not None
            del st.session_state[key]
            coming.open(done)


def is_cheap(named: Sample | SyntheticTable) -> bool:
    """Whether a link may open it by itself; told by numbers that are known before anything is made."""
    if isinstance(named, Sample):
        return named.cells <= _MOST_CELLS
    return named.n * named.d <= _MOST_CELLS and named.seconds <= _MOST_SECONDS


def open_sample(sample: Sample) -> None:
    """Make a sample the table of this visit, with what its declaration file declares."""
    session.open_table(*sample.load())
    _settle(sample.id, sample.clusters)


def open_synthetic_table(told: SyntheticTable) -> None:
    """Make a simulated table the table of this visit: at once, or as soon as a job has made it."""
    _leave(_MAKING)
    if is_cheap(told):
        _open_made(told, *told.make())
        return
    before = (session.find_table(), session.find_undeclared())

    def open_made(made: tuple[LoadedTable, Declaration]) -> None:
        """Another one that was opened meanwhile stays."""
        now = (session.find_table(), session.find_undeclared())
        if all(one is other for one, other in zip(now, before, strict=True)):
            _open_made(told, *made)

    job = open_job_registry().submit(make_work, told)
    st.session_state[_MAKING] = _Coming(told, "Making a synthetic table", job, open_made)


def open_painted(drawing: drawings.PointDrawing, k: int) -> None:
    """Make what was painted the table of this visit, as a link says it: after a reload it is the same."""
    text = drawings.encode_drawing(drawing)
    table, declared = make_painted_table(drawings.decode_drawing(text))
    session.open_table(table, replace(declared, n_public=table.n_rows))  # as of a synthetic table: nobody is in it
    _settle(f"{PAINTED}{text}", k)


def _open_made(told: SyntheticTable, loaded: LoadedTable, declared: Declaration) -> None:
    session.open_table(loaded, declared)
    _settle(told, told.k)


def _settle(name: str | SyntheticTable, k: int) -> None:
    """Name what was opened in links, and set k and δ for it."""
    _remember_word(_NAMED, name)
    suggest_k(k)
    suggest_delta()


def _remember_word(key: str, word: str | SyntheticTable) -> None:
    """Keep what stands in links for the open table."""
    source = session.find_source()
    assert source is not None
    session.remember(key, (source.number, word))


def _take_brought(content: Content) -> Content:
    """``content`` as the pages have it: Parquet is read into memory at once where that holds all its numbers."""
    if isinstance(content, SparseTable):
        raise IntakeError("The pages open CSV and Parquet: use `dpviz run` for a sparse file.")
    if isinstance(content, ArrowTable) and content.fits(len(content.numeric_columns)):
        text = [name for name in content.columns if name not in content.numeric_columns and content.holds_text(name)]
        return content.read(content.numeric_columns, text=text)
    return content


def is_large(content: Content) -> bool:
    """Whether memory does not hold the table."""
    return isinstance(content, CsvOnDisk | ArrowTable)


def bring_to_use(content: Content, declaration: Declaration) -> None:
    """Open the table that is declared, or begin to prepare it: ``draw_preparation_panel`` shows how far that is."""
    plan = Plan.of(content, declaration)
    _leave(_PREPARING)
    if plan.in_memory:
        session.open_table(content, declaration)
        suggest_delta()
        return
    file = LatticeFile(plan.domain.region)

    def open_prepared(done: Prepared) -> None:
        file.note_rows(done.rows)
        session.put_to_use(content, plan.over(Rows(file, plan.domain.region), done.sample))
        suggest_delta()

    job = open_job_registry().submit(prepare_work, plan, file)
    st.session_state[_PREPARING] = _Coming(content, f"Preparing {content.name}", job, open_prepared)


def is_preparing(source: session.Source) -> bool:
    """Whether the rows of ``source`` are on their way."""
    preparing = _find_coming(_PREPARING)
    return preparing is not None and preparing.of is source.content and not preparing.job.state.final


def draw_preparation_panel(source: session.Source) -> bool:
    """Show the preparation of ``source`` if it is under way or went wrong; whether it is under way."""
    preparing = _find_coming(_PREPARING)
    if preparing is not None and preparing.of is source.content:
        draw_job_panel(preparing.job, label=preparing.label, key="preparation")
    return is_preparing(source)


_FILE, _KEPT = "file", "file."
_WORD = "table_link:word"
_SYNTHETIC = "stand-in"


def follow_table_link() -> None:
    """Open the table that the link names, if none is open and it costs little; name the open one in pages' links."""
    linked = _find_linked()
    if linked is not None and linked.cheap:
        with suppress(RequestError):  # then it is not open, which the page says
            linked.open()
    if (now := _name_open_table()) and now != st.query_params.get(session.TABLE_LINK):
        st.query_params[session.TABLE_LINK] = now


def draw_linked_table() -> None:
    """What is said above the page of a table that is on its way: that it waits for a press, or how far it is."""
    linked, making, coming = _find_linked(), _find_coming(_MAKING), False
    if making is not None:  # or why it was not made
        draw_job_panel(making.job, label=making.label, key="making")
        coming = not making.job.state.final
    elif linked is not None and not linked.cheap:
        coming = True
        st.info(escape_markdown(linked.about), title="The table of this link waits", icon=":material/hourglass_empty:")
        if st.button("Open it", type="primary", key="open_linked"):
            with st.spinner("Opening…"):
                linked.open()
            st.rerun()
    session.remember(session.COMING, coming)


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
    named = st.query_params.get(session.TABLE_LINK, "")
    if not named or session.find_table() is not None or session.find_undeclared() is not None:
        return None
    sample = next((one for one in list_samples() if one.id == named), None)
    if sample is not None:
        about = f"The rows of the sample “{sample.title}”, {sample.cells:,} numbers, are made when it is opened."
        return _Linked(is_cheap(sample), partial(open_sample, sample), about)
    if (told := read_synthetic_table(named)) is not None:
        about = SENTENCES.fill("made_of_numbers", n=told.n, d=told.d, lasts=format_duration(told.seconds))
        return _Linked(is_cheap(told), partial(open_synthetic_table, told), about)
    if named.startswith(PAINTED):
        text = named.removeprefix(PAINTED)
        return _Linked(True, lambda: open_painted(drawings.decode_drawing(text), session.recall("k", USUAL_CLUSTERS)))
    if named.startswith(_KEPT) and (kept := SHELF.find(named.removeprefix(_KEPT))) is not None:
        about = f"The file “{kept.file.name}” is read when it is opened."
        return _Linked(len(kept.file.raw) <= _MOST_AT_ONCE, partial(_open_kept, named, kept), about)
    return None


def _open_kept(named: str, kept: KeptFile) -> None:
    session.open_table(kept.file, kept.declaration)
    _remember_word(_WORD, named.removeprefix(_KEPT))
    suggest_delta()


def _name_open_table() -> str:
    """The open table, or the file that waits, as a link names it; "" if there is none."""
    if session.find_undeclared() is not None:
        return _FILE
    if session.find_table() is None:
        return ""
    source = session.find_source()
    number, name = session.recall(_NAMED, (0, None))
    told = name if source is not None and source.number == number else None
    if isinstance(told, SyntheticTable):
        return ",".join((_SYNTHETIC, *(f"{value:.12g}" for value in told)))
    return told or _name_kept_file() or _FILE


def _name_kept_file() -> str:
    """The open file as a link names it, kept as it is declared now; "" if it may not be kept."""
    table, source = session.find_table(), session.find_source()
    if table is None or source is None or not isinstance(source.content, CsvFile):
        return ""
    number, word = session.recall(_WORD, (0, ""))
    mine = word if number == source.number else ""
    if not table.kind.may_be_shown:
        SHELF.forget(mine)
        return ""
    found = SHELF.put(KeptFile(source.content, table.declaration), mine or None)
    if found is None:
        return ""
    _remember_word(_WORD, found)
    return f"{_KEPT}{found}"


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


_READ, _REFUSED = "ways_in:read", "ways_in:refused"
_UNREADABLE = "A defect of dpviz stopped the reading of this file: try it without the columns that you do not need."


def draw_csv_upload() -> None:
    """The uploader: a good file waits for its declarations, a bad one is refused and changes nothing."""
    most = foreign.CSV.most_bytes // 1_000_000
    file = st.file_uploader(**look_of("csv", key="csv", on_change=_forget_refusal, max_upload_size=most))
    if file is not None and st.session_state.get(_READ) != file.file_id:
        st.session_state[_READ] = file.file_id
        st.session_state[_REFUSED] = _UNREADABLE  # what stays said if a defect stops the reading
        name = file.name.removesuffix(".gz").rsplit(".", 1)[0]
        st.session_state[_REFUSED] = _find_problem(lambda: set_aside(open_csv(file.getvalue(), name=name)))
    if message := st.session_state.get(_REFUSED):
        table = find_table()
        stays = f" “{table.title}” stays open." if table is not None else ""
        st.error(escape_markdown(f"{message}{stays}"), title="This file cannot be used", icon=":material/block:")
        if file is None:  # another page was open meanwhile, and the uploader has let go of it
            st.button("Forget this file", key="forget_refused", on_click=_forget_refusal)


def draw_file_here() -> None:
    """A file by its path, where nobody else can name one: of any size, since nobody sends it anywhere."""
    if not may_name_paths():
        return
    with st.popover(**look_of("here", key="here")), st.form("file_here", border=False, enter_to_submit=False):
        path = st.text_input("Path", placeholder="/data/trips.parquet", key="file_here_path")
        if st.form_submit_button("Bring it") and path:
            st.session_state[_REFUSED] = _UNREADABLE
            named = str(Path(path.strip().strip('"')).expanduser())
            st.session_state[_REFUSED] = _find_problem(lambda: _open_file(named))
            if st.session_state[_REFUSED] is None:
                st.rerun()


def _find_problem(read: Callable[[], None]) -> str | None:
    """A sentence if the file cannot be read, unpacked or held."""
    try:
        with st.spinner("Reading the file…"):
            read()
    except RequestError as error:
        return str(error)
    return None


def _forget_refusal() -> None:
    """What was said of a file goes with it; the uploader also empties, without this, whenever the page changes."""
    if st.session_state.get("csv") is None:
        st.session_state.pop(_REFUSED, None)


def draw_synthetic_form() -> bool:
    """Bounds, n, d and k make a table; True if one was opened just now."""
    with st.form("synthetic_table", border=False):
        low_place, high_place = st.columns(2)
        low = low_place.number_input(**look_of("lower"))
        high = high_place.number_input(**look_of("upper"))
        n_place, d_place = st.columns(2)
        n = n_place.number_input(**look_of("made_rows", max_value=made_tables.MOST_ROWS))
        d = d_place.number_input(**look_of("made_columns", max_value=made_tables.MOST_PARTS))
        k_place, spread_place = st.columns(2)
        k = k_place.number_input(**look_of("made_clusters", max_value=made_tables.MOST_PARTS))
        spread = spread_place.number_input(**look_of("spread", min_value=made_tables.LEAST_SPREAD))
        pressed = st.form_submit_button("Simulate and open", icon=":material/casino:")
    if not pressed:
        return False
    told = SyntheticTable(float(low), float(high), int(n), int(d), int(k), float(spread))
    with say_refusal():
        if not told.is_allowed:
            raise SENTENCES.make_refusal("table_beyond", most=made_tables.MAX_CELLS)
        with st.spinner("Simulating…"):
            open_synthetic_table(told)
        return True
    return False


_BEGUN = "given:begun"


def begin_with_given() -> bool:
    """Once a visit, open the named sample or declared file, or set the file aside to be declared; True if it did."""
    word = os.environ.get(GIVEN)
    if word is None or _BEGUN in st.session_state or find_table() is not None:
        return False
    st.session_state[_BEGUN] = True
    with say_refusal("This file cannot be used"):  # it may have gone, or become another, since the command was given
        if (sample := find_sample(word)) is not None:
            open_sample(sample)
        elif may_name_paths():
            _open_file(word)
        else:
            raise RequestError(SENTENCES.fill("named_elsewhere"))
        return True
    return False


def _open_file(word: str) -> None:
    content, declared = open_named(word)
    content = _take_brought(content)
    declaration = replace(declared, title=declared.title or content.name)
    if not is_large(content):
        with suppress(RequestError):  # the sentence says what is missing
            open_table(content, declaration)
            suggest_delta()
            return
    set_aside(content, declaration)
