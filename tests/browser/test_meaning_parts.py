"""What ε means, in a real browser: every part is one screen, drawn, with its finding and the sentence to repeat."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from dpviz.ui.meaning.parts import PARTS
from tests.browser.conftest import NARROW
from tests.browser.test_accessibility import WINDOW
from tests.browser.visitor import PATIENCE, Visitor

pytestmark = [pytest.mark.slow, pytest.mark.browser]

FINDINGS = {
    "odds": "At ε = 1, a belief of 50 % becomes at most 73.1 %",
    "attack": "and none can gain more than 46 points",
    "worlds": "At ε = 1, one person moves the nearest centre by",
    "again": "64 releases: ",
    "others": "public deployments use a larger ε than 1",
}
LOOKS = [("", "light", WINDOW), ("-dark", "dark", WINDOW), ("-narrow", "light", NARROW)]


@pytest.mark.parametrize(("name", "colors", "window"), LOOKS, ids=["light", "dark", "telephone"])
def test_every_part_is_one_screen(
    visitor: Callable[..., Visitor], pictures: Path, name: str, colors: str, window: dict[str, int]
) -> None:
    assert list(FINDINGS) == list(PARTS)
    visit = visitor(viewport=window, color_scheme=colors)
    for part, finding in FINDINGS.items():
        visit.goes_to("/meaning", epsilon=1, part=part)
        if part == "worlds":
            visit.option("about as far as the noise").click()
        visit.sees(finding)
        if part in ("attack", "worlds", "again"):
            expect(visit.button("More runs")).to_be_visible(timeout=6 * PATIENCE)
        visit.waits()
        figures = visit.page.get_by_test_id("stMain").get_by_role("figure")
        expect(figures.first.locator("svg").first).to_be_visible(timeout=PATIENCE)
        assert visit.is_as_wide_as_its_window()
        if window is WINDOW:
            ends = [box["y"] + box["height"] for one in figures.all() if (box := one.bounding_box())]
            assert max(ends) <= window["height"], f"{part} goes on below the window: {ends}"
        if part == "attack":
            visit.photographs(pictures / f"meaning{name}.png")
