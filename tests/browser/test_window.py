"""The window for ε as a visitor sees it: its cases, light and dark, on a desktop and a telephone."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.looks import ALL_IN_TWO, LOOKS, WINDOW, offences_in
from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.slow]

# Rows of *Fifteen clusters* that are said, and the title that they lead to.
CASES = {
    "20,000–30,000": r"^Choose ε between ",
    "500,000": r"^Choose ε = .*: less would lose more$",
    "800": r"^No ε (keeps both|up to)",
}


def test_a_window_a_wide_one_and_none(visitor: Callable[..., Visitor]) -> None:
    # A visit of its own: where a study was computed, the title is that of its runs.
    visit = visitor(viewport=WINDOW)
    visit.goes_to("/")
    visit.opens_sample("Fifteen clusters")
    visit.turns_to("Trade-off")
    for rows, title in CASES.items():
        field = visit.page.get_by_role("textbox", name="Rows, or a range")
        field.fill(rows)
        field.press("Enter")
        visit.waits()
        expect(visit.page.get_by_role("heading", level=1)).to_have_text(re.compile(title))
        visit.sees_figure("Belief about a person and loss against ε")
        assert not offences_in(visit, *ALL_IN_TWO), rows
    visit.turns_to("Explore")
    visit.sees("no window")


def test_the_front_page_before_a_table_is_open_in_every_look(visitor: Callable[..., Visitor]) -> None:
    visit = visitor(viewport=WINDOW)
    visit.goes_to("/")
    expect(visit.page.get_by_role("button", name="Open Fifteen clusters", exact=True)).to_be_visible()
    assert not offences_in(visit, *LOOKS)
