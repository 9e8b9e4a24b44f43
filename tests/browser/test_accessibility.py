"""For everybody: nothing that axe-core calls serious on any page, names that tell buttons apart, figures in words."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.looks import WINDOW, offences
from tests.browser.visitor import PATIENCE, Visitor

pytestmark = [pytest.mark.browser, pytest.mark.slow]

# In two walks, which two processes can take at once; each opens its table itself.
WALKS = {
    "work": ("Home", "Data", "Explore", "Compare", "Release"),
    "read": ("Trade-off", "Ledger", "Lessons", "What ε means", "Papers", "Glossary"),
}
STUDIES = ("Compare", "Trade-off")


@pytest.mark.parametrize("walk", WALKS)
def test_nothing_serious_on_any_page(visitor: Callable[..., Visitor], walk: str) -> None:
    visit = visitor(viewport=WINDOW)
    visit.goes_to("/")
    found = offences(visit, "before a table is open") if walk == "work" else {}
    visit.opens_sample("Fifteen clusters")
    for page in WALKS[walk]:
        visit.turns_to(page)
        found |= offences(visit, page)
        if page in STUDIES:
            _computes(visit)
            found |= offences(visit, f"{page}, computed")
    assert not found


def _computes(visit: Visitor) -> None:
    """The study that the page offers, until it is whole."""
    visit.presses("Compute")
    visit.waits()  # until then the page is that of before, and nothing on it can be cancelled
    expect(visit.page.get_by_test_id("stProgress")).to_have_count(0, timeout=PATIENCE)
    expect(visit.button("Cancel")).to_be_hidden(timeout=PATIENCE)
    expect(visit.text("matches the settings")).to_be_visible(timeout=PATIENCE)
    visit.waits()
