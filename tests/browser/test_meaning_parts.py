"""What ε means, in a real browser: every part is one screen, drawn, with its finding and the sentence to repeat."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import ViewportSize, expect

from dpviz.ui.meaning.parts import PARTS
from tests.browser.conftest import NARROW
from tests.browser.looks import LOOKS, WINDOW, takes_on
from tests.browser.visitor import PATIENCE, Visitor

pytestmark = [pytest.mark.slow, pytest.mark.browser]

FINDINGS = {
    "odds": "At ε = 1, a belief of 50 % becomes at most 73.1 %",
    "attack": "and none can gain more than 46 points",
    "worlds": "At ε = 1, one person moves the nearest centre by",
    "again": "64 releases: ",
    "others": "public deployments use a larger ε than 1",
}
_NAMES = {"light": "", "dark": "-dark", "telephone": "-narrow"}


def _is_drawn(visit: Visitor, part: str, window: ViewportSize) -> None:
    """Its picture is there, the page no wider than the window; and no higher, but on a telephone."""
    figures = visit.page.get_by_test_id("stMain").get_by_role("figure")
    expect(figures.first.locator("svg").first).to_be_visible(timeout=PATIENCE)
    assert visit.is_as_wide_as_its_window()
    if window["width"] > NARROW["width"]:
        ends = [box["y"] + box["height"] for one in figures.all() if (box := one.bounding_box())]
        assert max(ends) <= window["height"], f"{part} goes on below the window: {ends}"


@pytest.mark.parametrize("part", FINDINGS)
def test_every_part_is_one_screen(visitor: Callable[..., Visitor], pictures: Path, part: str) -> None:
    visit = visitor(viewport=WINDOW)
    visit.goes_to("/meaning", epsilon=1, part=part)
    if part == "worlds":
        visit.option("about as far as the noise").click()
    visit.sees(FINDINGS[part])
    if part in ("attack", "worlds", "again"):
        expect(visit.button("More runs")).to_be_visible(timeout=PATIENCE)
    for name, look in LOOKS.items():
        takes_on(visit, look)
        visit.sees(FINDINGS[part])
        _is_drawn(visit, part, look.window)
        if part == "attack":
            visit.photographs(pictures / f"meaning{_NAMES[name]}.png")


def test_every_part_is_looked_at() -> None:
    assert list(FINDINGS) == list(PARTS)
