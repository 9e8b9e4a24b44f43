"""Every page, for everybody: nothing that axe-core calls serious, names that tell buttons apart, figures in words.

Studies fill while they compute, stay when the page changes, and stop when told to; words are found in the glossary.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from dpviz.words.glossary import read_glossary
from tests.browser.looks import LOOKS, offences, takes_on
from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.slow]

WORK = ("Home", "Data", "Compare", "Trade-off", "Ledger", "Release", "Read")
PAGES = (*WORK, "Lessons", "What ε means", "Papers", "Glossary", "Explore")


def test_explore_and_the_table_which_a_reload_keeps(fifteen: Visitor) -> None:
    assert not offences(fifteen)
    fifteen.turns_to("Data")
    assert not offences(fifteen)
    fifteen.page.reload()
    fifteen.waits()
    fifteen.sees("Explore this table")
    expect(fifteen.page.get_by_role("heading", level=3)).to_have_text("Fifteen clusters")


def test_two_algorithms_are_compared_and_the_result_outlives_a_change_of_page(fifteen: Visitor) -> None:
    visit = fifteen
    visit.turns_to("Compare")
    visit.keeps("DPLloyd", "EUGkM")
    _computes(visit)
    assert not offences(visit)
    visit.page.get_by_role("tab", name="Take away").click()
    visit.sees("All 20 runs (CSV)")
    first = visit.page.get_by_role("figure").first
    expect(first).to_be_visible()
    said = first.get_attribute("aria-label")
    for name in ("DPLloyd", "EUGkM"):
        visit.sees(name)
    visit.turns_to("Ledger")
    visit.sees("compare: losses of 20 study runs")
    assert not offences(visit)
    visit.turns_to("Compare")
    visit.sees("matches the settings")
    expect(visit.page.get_by_role("figure").first).to_have_attribute("aria-label", said or "")


def test_a_trade_off_is_drawn_live_goes_on_elsewhere_and_is_cancelled_in_the_middle(fifteen: Visitor) -> None:
    visit = fifteen
    visit.turns_to("Trade-off")
    visit.keeps("DPLloyd", "Balcan et al.")
    visit.slider("Runs of each at every ε").press("End")
    visit.waits()
    visit.sees("900 runs")
    visit.presses("Compute")
    figure = visit.page.get_by_role("figure").first
    expect(figure).to_be_visible()
    expect(visit.button("Cancel")).to_be_visible()
    visit.turns_to("Ledger")
    visit.turns_to("Trade-off")
    expect(figure).to_be_visible()
    visit.presses("Cancel")
    visit.sees("what had arrived is kept")
    expect(figure).to_be_visible()
    expect(visit.button("Compute")).to_be_enabled()
    assert not offences(visit)

    visit.picks("Draws")
    visit.slider("Draws").press("Home")
    visit.waits()
    visit.presses("Draw again and again")
    expect(visit.page.locator(".animation[data-whole]")).to_have_count(1)
    assert not offences(visit)
    visit.picks("Choose ε")


def test_pages_to_read_lie_behind_one_word_of_the_menu_and_the_table_stays_open(fifteen: Visitor) -> None:
    visit, words = fifteen, read_glossary()
    visit.page.set_viewport_size({"width": 1024, "height": 900})
    expect(visit.page.get_by_role("link", name="Release", exact=True)).to_be_visible()
    expect(visit.page.get_by_test_id("stTopNavSection")).to_have_text("More")
    visit.turns_to("Papers")
    assert not offences(visit)
    visit.turns_to("Glossary")
    assert not offences(visit)
    # The list follows what is typed before Enter is pressed.
    visit.sees(words["epsilon"].says)
    search = visit.page.get_by_role("searchbox")
    search.press_sequentially("voron")
    expect(visit.text(words["epsilon"].says)).to_be_hidden()
    visit.sees(words["voronoi"].says)
    visit.sees_figure("Three centres")
    search.fill("")
    # A word that is pressed comes to the top.
    pages = len(visit.page.context.pages)
    visit.page.get_by_role("link", name="coreset", exact=True).click()
    visit.page.wait_for_url("**/glossary?term=coreset*")
    expect(visit.page.get_by_test_id("stMain").get_by_role("link").first).to_have_text("coreset")
    visit.sees(words["coreset"].says)
    assert len(visit.page.context.pages) == pages, "not in a window of its own"
    visit.turns_to("Explore")
    visit.sees_animation()


def test_every_page_is_read_in_the_dark_on_a_telephone(fifteen: Visitor) -> None:
    takes_on(fifteen, LOOKS["dark"])  # where there is a rail, which a telephone folds away
    found = {"Explore": offences(fifteen)}
    takes_on(fifteen, LOOKS["dark telephone"])
    for page in PAGES:
        fifteen.turns_to(page)
        found[f"{page} on a telephone"] = offences(fifteen)
    assert not {place: wrong for place, wrong in found.items() if wrong}


def _computes(visit: Visitor) -> None:
    """The study that the page offers, until it is whole."""
    visit.presses("Compute")
    expect(visit.page.get_by_test_id("stProgress")).to_have_count(0)
    expect(visit.button("Cancel")).to_be_hidden()
    visit.sees("matches the settings")
    visit.waits()
