"""What ε means, in a real browser: every part is one screen, drawn, with its finding and the sentence to repeat."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import ViewportSize, expect

from dpviz.ui.meaning.parts import PARTS
from tests.browser.conftest import NARROW
from tests.browser.visitor import PATIENCE, Visitor

pytestmark = [pytest.mark.slow, pytest.mark.browser]

FINDINGS = {
    "odds": "At ε = 1, a belief of 50 % becomes at most 73.1 %",
    "attack": "and none can gain more than 46 points",
    "worlds": "At ε = 1, one person moves the nearest centre by",
    "again": "64 releases: ",
    "others": "public deployments use a larger ε than 1",
}
# Pictures are named after the look, which a visit takes on without what it has computed being computed again.
LOOKS: dict[str, tuple[Literal["light", "dark"], ViewportSize]] = {
    "": ("light", {"width": 1440, "height": 900}),
    "-dark": ("dark", {"width": 1440, "height": 900}),
    "-narrow": ("light", {"width": NARROW["width"], "height": NARROW["height"]}),
}


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
    visit = visitor(viewport=LOOKS[""][1])
    visit.goes_to("/meaning", epsilon=1, part=part)
    if part == "worlds":
        visit.option("about as far as the noise").click()
    visit.sees(FINDINGS[part])
    if part in ("attack", "worlds", "again"):
        expect(visit.button("More runs")).to_be_visible(timeout=6 * PATIENCE)
    for name, (colors, window) in LOOKS.items():
        visit.page.emulate_media(color_scheme=colors)
        visit.page.set_viewport_size(window)
        visit.page.wait_for_timeout(700)
        visit.waits()
        visit.sees(FINDINGS[part])
        _is_drawn(visit, part, window)
        if part == "attack":
            visit.photographs(pictures / f"meaning{name}.png")


def test_every_part_is_looked_at() -> None:
    assert list(FINDINGS) == list(PARTS)
