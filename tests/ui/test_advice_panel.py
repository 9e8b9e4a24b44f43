"""The advice panel: an answer from declared numbers alone, a question where n is private, a button that hands it on."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.runs.open_table import OpenTable
from dpviz.table.declaration import FileKind
from tests.pages.tables import open_blobs, sound, text_of


def _page(table, settings, taken) -> None:
    from dpviz.ui.tradeoff.advice_panel import advice_panel

    advice_panel(table, take=None if taken is None else taken.append, **settings)


def panel(table: OpenTable, *, k: int = 3, delta: float = 1e-6, taken: list[Any] | None = None) -> AppTest:
    return sound(AppTest.from_function(_page, args=(table, {"k": k, "delta": delta}, taken)).run())


def test_the_answer_is_given_with_its_certainty_and_what_would_change_it() -> None:
    app = panel(open_blobs(n=20_000))
    said = text_of(app)
    assert "**20,000** public rows" in said
    assert "should do on most tables like the study's: at most 10 % above" in said and "It held on" in said
    assert "60,000 rows instead of 20,000" in said and "k = 1 instead of 3" in said
    (table,) = app.dataframe
    assert {"Auto", "LSH coreset"} <= set(table.value["algorithm"])
    assert not app.button


def test_a_private_number_of_rows_is_asked_for_and_no_row_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    table = open_blobs(FileKind.PRIVATE, n=400)
    table.private.n_public = None
    for door in ("reveal", "open"):
        monkeypatch.setattr(table.private, door, None)
    app = panel(table)
    assert app.number_input(key="advice:rows").value == 10_000
    first = text_of(app)
    app.number_input(key="advice:rows").set_value(1_000_000)
    assert text_of(sound(app.run())) != first
    assert table.private.looks == []


def test_a_stricter_target_needs_a_larger_epsilon_and_the_answer_can_be_taken() -> None:
    taken: list[Any] = []
    app = panel(open_blobs(n=20_000), taken=taken)
    app.button(key="advice:take").click().run()
    app.number_input(key="advice:percent").set_value(1.0).run()
    app.button(key="advice:take").click().run()
    loose, strict = taken
    assert strict.epsilon > loose.epsilon and strict.median <= 1.01


def test_what_cannot_be_asked_says_why() -> None:
    assert "delta is 0.1" in panel(open_blobs(n=400), delta=0.1).error[0].value
    assert "n is 400" in panel(open_blobs(n=400), k=401).error[0].value
