"""The window for ε on pages: no headline before rows are said; it travels to Explore and to the card."""

from __future__ import annotations

import pytest

from dpviz.core.check import RequestError
from dpviz.runs.advice.known_rows import KnownRows
from dpviz.tables.declarations import FileKind
from tests.cases import for_each
from tests.pages.tables import app_on, open_blobs, sound, text_of


def choosing(rows: str = ""):
    table = open_blobs(FileKind.PRIVATE, n=400)
    table.private.n_public = None
    app = app_on("compare.py", table, drawer="sweep")
    app.number_input(key="k").set_value(3)
    sound(app.run())
    if rows:
        app.text_input(key=f"window:rows:{table.source_key}").set_value(rows)
        sound(app.run())
    return app


def test_without_a_number_of_rows_there_is_no_headline_and_no_epsilon() -> None:
    app = choosing()
    assert app.subheader[0].value == "Say how many rows first"
    assert "Choose ε" not in app.subheader[0].value
    assert not [button for button in app.button if button.key == "sweep:take"]


def test_a_range_answers_at_its_fewest_rows_and_travels_to_the_slider_of_explore() -> None:
    app = choosing("8,000–12,000")
    assert app.subheader[0].value.startswith("Choose ε = ") and "8,000 rows" in text_of(app)
    assert "dashed: 12,000 rows" in text_of(app)
    sound(app.switch_page("home.py").run())
    assert "your window: " in text_of(app)
    app.number_input(key="epsilon").set_value(5.0)
    assert "above your window: " in text_of(sound(app.run()))


def test_a_small_table_says_what_would_open_a_window_and_a_larger_risk_is_one_of_them() -> None:
    app = choosing("300")
    assert app.subheader[0].value.startswith("No ε keeps both: ") and "**More rows**" in text_of(app)
    app.select_slider(key="window:accepted").set_value(0.95)
    sound(app.run())
    assert app.subheader[0].value.startswith("Choose ε between ")


def test_sides_that_cross_by_themselves_are_no_window() -> None:
    app = choosing("8,000")
    app.select_slider(key="window:prior").set_value(0.5)
    app.select_slider(key="window:accepted").set_value(0.2)
    sound(app.run())
    assert app.subheader[0].value.startswith("No ε keeps both: ") and "0 allowed" in app.subheader[0].value


@for_each(
    ("text", "rows"),
    [
        ("800", KnownRows(800, 800)),
        ("12000 - 8.000", KnownRows(8_000, 12_000)),
        ("1,00,000", KnownRows(100_000, 100_000)),
        ("1 000 to 2’000 rows", KnownRows(1_000, 2_000)),
    ],
)
def test_rows_are_read_however_they_are_written(text: str, rows: KnownRows) -> None:
    assert KnownRows.from_text(text) == rows


@for_each("text", ["many", "-5", "1e6", "1.5", "1,000.5", "10–20–30", "99999999999999999999"])
def test_what_is_no_number_of_rows_is_refused(text: str) -> None:
    with pytest.raises(RequestError):
        KnownRows.from_text(text)
