"""Every page, for everybody: nothing that axe-core calls serious, names that tell buttons apart, figures in words.

Studies fill while they compute, stay when the page changes, and stop when told to; words are found in the glossary.
"""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from dpviz.words.glossary import read_glossary
from tests.browser.looks import ALL_IN_TWO, LOOKS, WINDOW, offences, offences_in, out_of_reach, takes_on
from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_two_algorithms_and_a_sweep_are_compared_on_one_page_and_outlive_a_change_of_it(
    visitor: Callable[..., Visitor],
) -> None:
    """A study is drawn while it runs, goes on elsewhere, and is cancelled in the middle."""
    visit = visitor(viewport=WINDOW)
    visit.goes_to("/tradeoff", table="fifteen")
    assert "/compare" in visit.page.url, "an old address"
    visit.keeps("DPLloyd", "EUGkM")
    visit.presses("Compute")
    expect(visit.page.get_by_test_id("stProgress")).to_have_count(0)
    visit.sees("matches the settings")
    visit.waits()
    assert not offences_in(visit, *ALL_IN_TWO)
    assert not out_of_reach(visit)
    first = visit.page.get_by_role("figure").first
    expect(first).to_be_visible()
    said = first.get_attribute("aria-label") or ""
    visit.slider("Runs of each at every ε").press("End")
    visit.waits()
    visit.sees("900 runs")
    visit.presses("Try every ε")
    expect(visit.page.get_by_role("figure")).not_to_have_count(0)
    expect(visit.button("Cancel")).to_be_visible()
    visit.turns_to("Learn")
    visit.turns_to("Compare algorithms")
    expect(visit.page.get_by_role("figure").first).to_have_attribute("aria-label", said)
    visit.presses("Cancel")
    visit.sees("what had arrived is kept")
    expect(visit.button("Try every ε")).to_be_enabled()


def test_the_menu_has_three_places_and_the_glossary_is_a_fold_of_one(visitor: Callable[..., Visitor]) -> None:
    visit, words = visitor(viewport={"width": 1024, "height": 900}), read_glossary()
    visit.goes_to("/glossary")
    expect(visit.page.get_by_test_id("stTopNavLink")).to_have_text(["Bench", "Read", "Learn"])
    assert not offences_in(visit, *ALL_IN_TWO)
    assert not out_of_reach(visit)
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
    expect(visit.page.get_by_test_id("stMain").get_by_role("link").first).to_have_text("coreset")
    visit.sees(words["coreset"].says)
    assert len(visit.page.context.pages) == pages, "not in a window of its own"


def test_what_is_learned_is_for_everybody_and_a_telephone_turns_pages_by_a_drawer_that_closes_again(
    visitor: Callable[..., Visitor],
) -> None:
    """In two looks, those of Papers on a wide page and below; all other pages where something is done on them."""
    visit = visitor(viewport=WINDOW)
    visit.goes_to("/read")
    takes_on(visit, LOOKS["dark telephone"])
    visit.turns_to("Papers")  # by what Learn leads to
    assert not offences(visit)
    takes_on(visit, LOOKS["light"])
    assert not out_of_reach(visit)
    visit.turns_to("Learn")
    assert not offences_in(visit, *ALL_IN_TWO)
    assert not out_of_reach(visit)
