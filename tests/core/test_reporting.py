"""A run and its ledger in a terminal and in a notebook."""

from pathlib import Path

import numpy as np
import pytest

import dpviz
from dpviz.api.estimators import PrivateKMeans
from dpviz.core import reporting
from dpviz.core.reporting import Report, TextTable
from tests.contract.tables import make_blobs
from tests.stored import compare_texts

HOSTILE = "<img src=x>"


@pytest.fixture(scope="module")
def finished() -> dpviz.Run:
    table = dpviz.PrivateTable(np.asarray(make_blobs(400)), dpviz.Domain.of([HOSTILE, "y"], -1, 1))
    return dpviz.run("dplloyd", table, k=3, epsilon=1.0, seed=1)


def test_runs_ledgers_and_steps_are_printed_as_they_were(finished: dpviz.Run, monkeypatch) -> None:
    monkeypatch.setattr(reporting, "_PICTURES", {})
    estimator = PrivateKMeans(n_clusters=2, algorithm="kmeans++", bounds=(-1, 1), random_state=0)
    bare = estimator.fit(np.asarray(make_blobs(50)))
    long = TextTable("Numbers", ["n"], [[str(n)] for n in range(50)])
    shown = {"a run": finished, "its ledger": finished.ledger, "no privacy": bare.run_, "no ledger": bare.ledger_}
    texts = {name: f"{value!r}\n{value}\n{value._repr_html_()}" for name, value in shown.items()}
    texts |= {"a step": str(finished.frames[-1]), "a long table": f"{long.to_text()}\n{long.to_html()}"}
    compare_texts(Path(__file__).parent / "stored" / "reporting.txt", texts.items())


def test_a_picture_that_fails_hides_no_number(finished: dpviz.Run, monkeypatch) -> None:
    def fail(value: object) -> str:
        raise ZeroDivisionError("a cell of the table")

    shown = finished.ledger._repr_html_()
    monkeypatch.setattr(reporting, "_PICTURES", {})
    Report.illustrate(type(finished.ledger).__name__, fail)
    failed = finished.ledger._repr_html_()
    assert "No picture: ZeroDivisionError." in failed and "a cell" not in failed
    assert failed.endswith(shown)
