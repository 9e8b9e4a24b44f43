"""A run and its ledger in a terminal and in a notebook."""

from __future__ import annotations

import numpy as np
import pytest

import dpviz
from dpviz.api.estimators import PrivateKMeans
from dpviz.core import reporting
from dpviz.core.reporting import Report, TextTable
from dpviz.words import PLUS_MINUS
from tests.contract.tables import make_blobs

HOSTILE = "<img src=x>"


@pytest.fixture(scope="module")
def finished() -> dpviz.Run:
    table = dpviz.PrivateTable(np.asarray(make_blobs(400)), dpviz.Domain.of([HOSTILE, "y"], -1, 1))
    return dpviz.run("dplloyd", table, k=3, epsilon=1.0, seed=1)


def test_a_run_prints_its_request_its_centres_and_what_to_expect(finished: dpviz.Run) -> None:
    first, _, header, *centres, note = str(finished).splitlines()
    assert first.startswith("DPLloyd: k = 3, steps: ")
    assert "ε = 1 (spent 1), δ = 0" in first
    assert repr(finished) == f"<{first}>"
    assert header.split() == [*HOSTILE.split(), "y", "rows"]
    *centres, reach, verdict = centres
    assert reach == PLUS_MINUS
    assert len(centres) == 3 and verdict.startswith("By released values: ")
    assert f"{finished.centers[2, 1]:.2f} ± " in centres[-1]
    assert "do not publish" in note


def test_a_ledger_prints_all_entries(finished: dpviz.Run) -> None:
    ledger = finished.ledger
    assert len(str(ledger).splitlines()) == 3 + len(ledger.entries)
    assert repr(ledger) == "<Ledger: ε = 1 of 1 spent, δ = 0, pure accounting, entries: " + f"{len(ledger.entries)}>"
    assert all(f"{entry.scale:.4g}" in str(ledger) for entry in ledger.entries)


def test_names_of_columns_are_text_in_a_notebook(finished: dpviz.Run) -> None:
    assert HOSTILE in str(finished)
    assert HOSTILE not in finished._repr_html_()
    assert "&lt;img" in finished._repr_html_()
    assert finished.ledger._repr_html_().count("<tr>") == 1 + len(finished.entries)


def test_a_step_says_what_was_spent_when_it_was_taken(finished: dpviz.Run) -> None:
    assert str(finished.frames[-1]).startswith("Round 2 of 2")
    assert str(finished.frames[-1]).endswith("(ε = 1 spent so far)")


def test_what_has_no_privacy_says_so() -> None:
    model = PrivateKMeans(n_clusters=2, algorithm="kmeans++", bounds=(-1, 1)).fit(np.asarray(make_blobs(50)))
    assert "no privacy" in str(model.ledger_)
    assert "Revealed centres" in str(model.run_)
    assert "Released" not in str(model.run_)


def test_a_long_table_says_how_much_it_leaves_out() -> None:
    table = TextTable("Numbers", ["n"], [[str(n)] for n in range(50)])
    assert table.to_text().endswith("39\n  and 10 more")
    assert "and 10 more" in table.to_html()


def test_a_step_is_shown(finished: dpviz.Run) -> None:
    first, last = dpviz.show(finished, 0), dpviz.show(finished)
    assert last.figure.data
    assert first.figure.layout.title.text != last.figure.layout.title.text
    with pytest.raises(dpviz.RequestError, match="step is 99"):
        dpviz.show(finished, 99)


def test_a_picture_that_fails_hides_no_number(finished: dpviz.Run, monkeypatch) -> None:
    def fail(value: object) -> str:
        raise ZeroDivisionError("a cell of the table")

    shown = finished.ledger._repr_html_()
    monkeypatch.setattr(reporting, "_PICTURES", {})
    Report.illustrate(type(finished.ledger).__name__, fail)
    failed = finished.ledger._repr_html_()
    assert "No picture: ZeroDivisionError." in failed and "a cell" not in failed
    assert failed.endswith(shown)
