"""The stored study on the page: an answer from declared numbers alone, for the rows that are spoken of, and no look."""

from __future__ import annotations

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.app.ui.studies.study_job import StudyQuestion
from dpviz.app.ui.studies.sweep_section import find_advice, read_stored_rows
from dpviz.core.check import RequestError
from dpviz.runs.advice.advice import Target
from dpviz.runs.open_table import OpenTable, declare
from dpviz.runs.request import Contender
from dpviz.runs.study.grid import StudyGrid
from dpviz.runs.synthetic_tables import make_synthetic_table
from dpviz.tables.csv_intake import CsvFile
from dpviz.tables.declarations import Declaration, FileKind
from tests.pages.tables import app_on, open_blobs, sound, text_of

USUAL = Target()
EVIDENCE = "What a stored study says of made-up tables like this"


def question(table: OpenTable, source: OpenTable | None = None, *, k: int = 3, delta: float = 1e-6) -> StudyQuestion:
    grid = StudyGrid((Contender("eugkm"), Contender("dplloyd", {"preset": "su"})), (k,), (0.3, 1.0, 3.0), (delta,))
    return StudyQuestion("sweep", table, source, grid)


def test_the_answer_reads_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    table = open_blobs(FileKind.PRIVATE, n=400)
    table.private.n_public = None
    for door in ("reveal", "open"):
        monkeypatch.setattr(table.private, door, None)
    asked = question(table)
    assert read_stored_rows(asked) is None
    with pytest.raises(RequestError, match="How many rows there are is not known"):
        find_advice(asked, USUAL)
    table.private.n_public = 10_000
    answer = find_advice(asked, USUAL)
    assert answer is not None and answer.few.best is not None
    assert table.private.accesses == []


def test_it_speaks_of_the_rows_of_the_stand_in_that_runs_are_judged_on() -> None:
    table = open_blobs(FileKind.PRIVATE, n=400)
    table.private.n_public = None
    few, many = (question(table, make_synthetic_table(table, n=n, k=3)) for n in (1_000, 100_000))
    assert (read_stored_rows(few), read_stored_rows(many)) == ((1_000, 1_000), (100_000, 100_000))
    answers = [answer.few.epsilon for asked in (few, many) if (answer := find_advice(asked, USUAL)) is not None]
    assert answers[0] > answers[1]


def test_a_stricter_target_needs_a_larger_epsilon() -> None:
    asked = question(open_blobs(n=20_000))
    loose, strict = (find_advice(asked, Target(loss)) for loss in (1.1, 1.01))
    assert loose is not None and strict is not None and strict.few.epsilon > loose.few.epsilon


@pytest.mark.parametrize(("k", "delta", "words"), [(3, 0.1, "delta is 0.1"), (401, 1e-6, "there may be 400 records")])
def test_what_cannot_be_asked_says_why(k: int, delta: float, words: str) -> None:
    with pytest.raises(RequestError, match=words):
        find_advice(question(open_blobs(n=400), k=k, delta=delta), USUAL)


def _evidence(question) -> None:
    from dpviz.app.ui.studies.sweep_section import draw_evidence, find_advice
    from dpviz.runs.advice.advice import Target

    draw_evidence(find_advice(question, Target()).few)


def test_its_evidence_says_how_sure_it_is_and_what_would_change_it() -> None:
    app = sound(AppTest.from_function(_evidence, args=(question(open_blobs(n=20_000)),)).run())
    said = text_of(app)
    assert "it held on" in said and "made-up tables of about this size" in said
    assert "60,000 rows instead of 20,000" in said and "k = 1 instead of 3" in said
    (table,) = app.dataframe
    assert {"Auto", "LSH coreset"} <= set(table.value["algorithm"])


def test_of_so_few_rows_it_has_no_table() -> None:
    answer = find_advice(question(open_blobs(n=8)), USUAL)
    assert answer is not None and not answer.is_studied
    app = app_on("compare.py", open_blobs(FileKind.PRIVATE, n=8), drawer="sweep")
    assert EVIDENCE not in [part.label for part in app.expander]


def test_what_it_says_is_folded_away_below_a_sweep_and_where_nobody_said_how_many_rows_it_says_nothing() -> None:
    """And the page makes no synthetic table of its own size."""
    raw = b"x,y\n" + b"0.5,0.5\n" * 20
    declared = Declaration(("x", "y"), (0.0, 0.0), (1.0, 1.0), n_range=(1_000, 30_000))
    for ends, evidence in (((1_000, 30_000), True), (None, False)):
        app = app_on("compare.py", declare(CsvFile("t", raw), replace(declared, n_range=ends)), drawer="sweep")
        assert (EVIDENCE in [part.label for part in app.expander]) == evidence
        (rows,) = (box for box in app.number_input if box.label == "Rows in the synthetic table")
        assert rows.value == (1_000 if evidence else None)
