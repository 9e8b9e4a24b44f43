"""A page follows its reader: what the browser's colours, or a wish for less motion, change is drawn again at once."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from dpviz.charts.theme import palette
from tests.browser.visitor import PATIENCE, Visitor

pytestmark = [pytest.mark.slow, pytest.mark.browser]


def _draws(page: Page, ink: str) -> None:
    """Wait until the run that is played is drawn in ``ink``."""
    page.wait_for_function(
        "ink => document.querySelector('.film')?.style.getPropertyValue('--text') === ink", arg=ink, timeout=PATIENCE
    )


def test_pictures_follow_the_colours_and_motion_follows_the_wish_while_a_page_is_open(
    visitor: Callable[..., Visitor],
) -> None:
    visit = visitor()
    visit.goes_to("/")
    visit.opens_sample("Fifteen clusters")
    visit.sees_run("Auto")
    _draws(visit.page, palette("light").text)
    for colors in ("dark", "light"):
        visit.page.emulate_media(color_scheme=colors)
        _draws(visit.page, palette(colors).text)
    visit.turns_to("Trade-off")
    visit.picks("Draws")
    visit.slider("Draws").press("Home")
    visit.waits()
    visit.page.get_by_test_id("stMain").get_by_role("button", name="Compute").click()  # beside it, the rail has one
    expect(visit.button("Play")).to_be_visible(timeout=PATIENCE)
    visit.page.emulate_media(reduced_motion="reduce")
    visit.sees("Your system asks for less motion")
    expect(visit.button("Play")).to_have_count(0)
