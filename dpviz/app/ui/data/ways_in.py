"""Ways to a table: a sample, a CSV file, a synthetic table from public numbers, or what ``dpviz open`` named."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import streamlit as st

from dpviz.app.ui.controls import suggest_delta
from dpviz.app.ui.data.table_link import is_large, open_sample, open_synthetic_table, take_brought
from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.figure import say_refusal
from dpviz.app.ui.page_sentences import SENTENCES
from dpviz.app.ui.same_origin import may_name_paths
from dpviz.app.ui.session import find_table, open_table, set_aside
from dpviz.core import RequestError
from dpviz.tables import (
    GIVEN,
    SyntheticTable,
    find_sample,
    made_tables,
    open_csv,
    open_named,
)
from dpviz.words import foreign, glossary

_READ, _REFUSED = "ways_in:read", "ways_in:refused"
_UNREADABLE = "A defect of dpviz stopped the reading of this file: try it without the columns that you do not need."


def draw_csv_upload() -> None:
    """The uploader: a good file waits for its declarations, a bad one is refused and changes nothing."""
    file = st.file_uploader(
        "Your CSV file",
        type=["csv", "tsv", "txt", "gz"],
        key="csv",
        on_change=_forget_refusal,
        max_upload_size=foreign.CSV.most_bytes // 1_000_000,
        help=SENTENCES.fill("csv"),
    )
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
    help = SENTENCES.fill("file_here")
    popover = st.popover("A file on this machine", icon=":material/hard_drive:", help=help, key="here")
    with popover, st.form("file_here", border=False, enter_to_submit=False):
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
        of_all = glossary.explain_term("bounds", "Here: of every column, data units.")
        low = low_place.number_input("lower bound", value=0.0, format="%g", help=of_all)
        high = high_place.number_input("upper bound", value=100.0, format="%g", help=of_all)
        n_place, d_place = st.columns(2)
        n = n_place.number_input(
            "n, rows", 1, made_tables.MOST_ROWS, value=10_000, step=1000, help="Public, as all of this is."
        )
        d = d_place.number_input("d, columns", 1, made_tables.MOST_PARTS, value=2, help="Two can be seen whole.")
        k_place, spread_place = st.columns(2)
        k = k_place.number_input(
            "clusters put in", 1, made_tables.MOST_PARTS, value=5, help=glossary.explain_term("cluster")
        )
        wide = "Width of a cluster as a share of the bounds."
        spread = spread_place.number_input("spread", made_tables.LEAST_SPREAD, 1.0, value=0.05, step=0.01, help=wide)
        pressed = st.form_submit_button("Simulate and open", icon=":material/casino:")
    if not pressed:
        return False
    told = SyntheticTable(float(low), float(high), int(n), int(d), int(k), float(spread))
    with say_refusal():
        if not told.is_allowed:
            raise RequestError(
                "The bounds are not finite with lower < upper within ±1e100, or n x d is above "
                f"{made_tables.MAX_CELLS:,}: change one of them."
            )
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
    content = take_brought(content)
    declaration = replace(declared, title=declared.title or content.name)
    if not is_large(content):
        with suppress(RequestError):  # the sentence says what is missing
            open_table(content, declaration)
            suggest_delta()
            return
    set_aside(content, declaration)
