"""What a visit holds: keys that tell neighbours apart, looks that are counted once, books that keep every charge."""

import dataclasses

import pytest
import streamlit as st

from dpviz.app.ui import data_access, session
from dpviz.app.ui.runner import fetch_reference
from dpviz.core import ACCESS_LOG, AccessKind
from dpviz.runs import OpenTable, declare, run
from dpviz.tables import Declaration, FileKind, make_numeric_table

ROWS = [[0.0, 0.0], [1.0, 1.0], [0.2, 0.9], [0.4, 0.1]]


@pytest.fixture(autouse=True)
def own_visit(monkeypatch):
    """A session of its own for each test, without a server."""
    state: dict[str, object] = {}
    monkeypatch.setattr(st, "session_state", state)
    return state


def _table(rows=ROWS, **changes) -> OpenTable:
    told = Declaration(columns=("x", "y"), lower=(0.0, 0.0), upper=(1.0, 1.0), kind=FileKind.PRIVATE)
    return declare(make_numeric_table(rows, ["x", "y"]), dataclasses.replace(told, **changes))


def test_neighbouring_tables_and_declarations_have_keys_of_their_own():
    keys = {_table().key, _table(ROWS[:-1]).key, _table(upper=(1.0, 2.0)).key, _table(relation="replace").key}
    assert len(keys) == 4 and _table().key == _table().key


def test_a_private_table_reveals_nothing_until_its_owner_says_so_of_this_very_table():
    table = _table()
    assert data_access.reveal(table, "dots") is None and fetch_reference(table, 2) is None
    assert session.describe_accesses() == [] and table.private.accesses == []
    data_access.allow_reveal(table)
    assert data_access.reveal(table, "dots") is not None
    assert not data_access.is_reveal_allowed(_table(ROWS[:-1]))


def test_each_distinct_look_counts_once_and_caches_of_revealed_rows_stay_small():
    table = _table(kind=FileKind.PUBLIC)
    for note in ("dots", "loss", "dots"):
        assert data_access.reveal(table, note) is not None
    assert session.describe_accesses() == ["table (public): dots", "table (public): loss"]
    assert ACCESS_LOG.count(table.source_key).looks == {AccessKind.ROWS: 2}, "the one that revealed them, and another"
    for kind in (FileKind.PUBLIC, FileKind.PRIVATE, FileKind.PRIVATE):  # whatever a file was said to be while it waited
        session.count_access(session.DataAccess("file", "file", "file", kind, AccessKind.PROPOSAL, "a proposal"))
    assert session.describe_accesses()[2:] == ["file (public): a proposal", "file (private): a proposal"]
    assert ACCESS_LOG.count("file").looks == {AccessKind.PROPOSAL: 1}
    for n in range(2, 6):
        data_access.reveal(_table([[0.1 * i, 0.5] for i in range(n)], kind=FileKind.PUBLIC), "dots")
    assert len(st.session_state["looks:revealed"]) <= 2


def test_looks_after_a_run_are_in_its_record_too_and_those_at_other_files_are_not():
    table = _table(kind=FileKind.PUBLIC, proposed=True)
    data_access.reveal(table, "dots before the run")
    place = session.book(run("dplloyd", table.private, k=1, epsilon=1.0), table)
    before = session.find_record(place)
    assert before.looks == {"rows": 1, "proposal": 1} and session.find_record(place) is before
    data_access.reveal(_table(kind=FileKind.PUBLIC, upper=(1.0, 2.0)), "the same rows under other bounds")
    data_access.reveal(table, "loss of a run", AccessKind.LOSS)
    fetch_reference(table, 2)
    data_access.reveal(_table(ROWS[:-1], kind=FileKind.PUBLIC), "other rows")
    after = session.find_record(place)
    assert after.looks == {"rows": 2, "loss": 1, "reference": 1, "proposal": 1}
    assert after.centers is before.centers and session.list_booked()[place].record is after


def test_a_study_on_the_rows_of_a_file_is_counted_once_in_each_visit(own_visit):
    for source, note in (("file", "4 runs"), ("file", "4 runs"), ("file", "9 runs"), ("another", "4 runs")):
        session.count_study(source, f"losses of {note}")
    assert [ACCESS_LOG.count(source).studies for source in ("file", "another", "none")] == [2, 1, 0]
    own_visit.clear()
    session.count_study("file", "losses of 4 runs")
    assert ACCESS_LOG.count("file").studies == 3


def test_what_a_widget_says_outlives_the_page_that_drew_it():
    assert session.read_setting("k", 5) == 5 == session.recall("k", 5)
    session.choose("k", 7)
    assert session.read_setting("k", 5) == 7 and st.session_state.pop("k") == 7, "as if another page had not drawn it"
    assert session.read_setting("k", 5) == 7
    st.session_state["k"] = 9
    assert session.read_setting("k", 5) == 9, "what is on the page comes first"
