"""What ε means, in a real browser: a part is one screen, drawn, with its finding and the sentence to repeat."""

from collections.abc import Callable
from math import inf

import pytest
from playwright.sync_api import expect

from dpviz.app.ui.meaning import PARTS
from tests.browser.looks import ALL_IN_TWO, WINDOW, offences, offences_in, out_of_reach
from tests.browser.visitor import NARROW, Visitor
from tests.waiting import eventually

pytestmark = [pytest.mark.slow, pytest.mark.browser]

# Of parts with a belief, with runs, and with what others do; those of all parts are in tests/pages/test_meaning.py.
FINDINGS = {
    "odds": "At ε = 1, a belief of 50 % becomes at most 73.2 %",
    "attack": "none can gain more than 46.3 points",
    "others": "public deployments use a larger ε than 1",
}


def test_a_part_is_one_screen_and_fits_a_telephone(visitor: Callable[..., Visitor]) -> None:
    visit = visitor(viewport=WINDOW)
    visit.goes_to("/meaning", epsilon=1, part="odds")
    found: list[object] = []
    for part, finding in FINDINGS.items():
        visit.picks(PARTS[part].label)
        visit.sees(finding)
        _is_drawn(visit)
        assert eventually(lambda: _lowest(visit) <= WINDOW["height"]), f"{part} goes on below the window"
        if part == "odds":
            found += [offences_in(visit, *ALL_IN_TWO), out_of_reach(visit)]
        elif part == "attack":
            expect(visit.button("More runs")).to_be_visible()
            found += offences(visit)
        visit.page.set_viewport_size(NARROW)
        _is_drawn(visit)
        visit.page.set_viewport_size(WINDOW)
    assert not any(found)


def _is_drawn(visit: Visitor) -> None:
    """The picture is there, the page no wider than the window."""
    figures = visit.page.get_by_test_id("stMain").get_by_role("figure")
    expect(figures.first.locator("svg").first).to_be_visible()
    assert visit.is_as_wide_as_its_window()


def _lowest(visit: Visitor) -> float:
    """Where the last of its figures ends."""
    figures = visit.page.get_by_test_id("stMain").get_by_role("figure")
    ends = (box["y"] + box["height"] for one in figures.all() if (box := one.bounding_box()))
    return max(ends, default=inf)  # while it is drawn anew there is none
