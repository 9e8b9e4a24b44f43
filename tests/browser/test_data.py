"""The Data page in a browser: bounds typed in a hurry are all there, a reload keeps what it may, nothing is cut off."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.visitor import PATIENCE, Visitor

pytestmark = [pytest.mark.browser, pytest.mark.slow]

COLUMNS = [f"col{place}" for place in range(10)]


def _table() -> bytes:
    rows = "\n".join(",".join(str(row * place % 7) for place in range(len(COLUMNS))) for row in range(200))
    return f"{','.join(COLUMNS)}\n{rows}\n".encode()


def _box(visit: Visitor, column: str, what: str):
    return visit.page.get_by_label(f"{column}, {what}", exact=True)


def _typed(visit: Visitor) -> list[tuple[str, str, str]]:
    """What stands in the boxes of each column: lower bound, upper bound, unit."""
    whats = ("lower bound", "upper bound", "unit")
    return [tuple(_box(visit, column, what).input_value() for what in whats) for column in COLUMNS]


@pytest.mark.parametrize("delay", [0, pytest.param(40, marks=pytest.mark.slow)])
def test_twenty_bounds_typed_with_tab_are_all_there(visitor: Callable[..., Visitor], delay: int) -> None:
    visit = visitor(viewport={"width": 1440, "height": 900})
    visit.goes_to("/data")
    visit.uploads(_table(), "people.csv")
    expected = [(f"-{place + 1}", f"{place}.5", "km") for place in range(len(COLUMNS))]
    _box(visit, COLUMNS[0], "lower bound").click()
    for answers in expected:
        for answer in answers:
            visit.page.keyboard.type(answer, delay=delay)
            visit.page.keyboard.press("Tab")
        visit.page.keyboard.press("Tab")  # past the box that is ticked by typing
    visit.waits()
    assert _typed(visit) == expected
    visit.presses("Use this table")
    visit.sees("Explore this table")
    visit.turns_to("Ledger")
    visit.turns_to("Data")
    assert _typed(visit) == expected, "after another page"
    visit.is_content()


def test_a_reload_keeps_a_sample_and_forgets_a_file_and_says_so(visitor: Callable[..., Visitor]) -> None:
    visit = visitor(viewport={"width": 1440, "height": 900})
    visit.goes_to("/data")
    visit.presses("Open this sample")
    visit.sees("Explore this table")
    expect(visit.page.get_by_role("heading", level=3)).to_have_text("Fifteen clusters", timeout=PATIENCE)
    visit.page.reload()
    visit.waits()
    visit.sees("Explore this table")
    visit.uploads(_table(), "people.csv")
    visit.presses("Same bounds for all")
    visit.types("lower bound of every column", "0")
    visit.types("upper bound of every column", "7")
    visit.presses("Use for all columns")
    visit.presses("Use this table")
    visit.sees("A reload of the page forgets this file")
    expect(visit.page).to_have_url(re.compile(r"table=file"), timeout=PATIENCE)  # it is in use
    visit.page.reload()
    visit.waits()
    visit.sees("The table of this link is not open")
    visit.is_content()


@pytest.mark.parametrize("width", [1440, 390])
def test_the_first_screen_has_the_ways_in_and_the_columns(visitor: Callable[..., Visitor], width: int) -> None:
    visit = visitor(viewport={"width": width, "height": 900})
    visit.goes_to("/data")
    visit.uploads(_table(), "people.csv")
    assert visit.is_as_wide_as_its_window()
    if width == 1440:
        for words in ("Open this sample", "Your CSV file", "Simulate a stand-in", "Use this table"):
            expect(visit.text(words)).to_be_in_viewport(timeout=PATIENCE)
        expect(_box(visit, COLUMNS[6], "upper bound")).to_be_in_viewport()
    wide = [_box(visit, COLUMNS[0], what).bounding_box() for what in ("lower bound", "upper bound", "unit")]
    assert len({round(box["y"]) for box in wide}) == 1, "side by side"
    assert all(box["x"] + box["width"] <= width for box in wide)
