"""Every page, for everybody: nothing that axe-core calls serious, names that tell buttons apart, figures in words.

Studies fill while they compute, stay when the page changes, and stop when told to; words are found in the glossary.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from dpviz.words.glossary import read_glossary
from tests.browser.looks import ALL_IN_TWO, LOOKS, WINDOW, offences, offences_in, out_of_reach, takes_on
from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_two_algorithms_are_compared_and_the_result_outlives_a_change_of_page(visitor: Callable[..., Visitor]) -> None:
    visit = visitor(viewport=WINDOW)
    visit.goes_to("/compare", table="fifteen")
    visit.keeps("DPLloyd", "EUGkM")
    visit.presses("Compute")
    expect(visit.page.get_by_test_id("stProgress")).to_have_count(0)
    visit.sees("matches the settings")
    visit.waits()
    assert not offences_in(visit, *ALL_IN_TWO)
    assert not out_of_reach(visit)
    visit.page.get_by_role("tab", name="Take away").click()
    visit.sees("All 20 runs (CSV)")
    first = visit.page.get_by_role("figure").first
    expect(first).to_be_visible()
    said = first.get_attribute("aria-label")
    visit.turns_to("Learn")
    visit.turns_to("Compare algorithms")
    visit.sees("matches the settings")
    expect(visit.page.get_by_role("figure").first).to_have_attribute("aria-label", said or "")


def test_a_sweep_is_drawn_live_goes_on_elsewhere_and_is_cancelled_in_the_middle(
    visitor: Callable[..., Visitor],
) -> None:
    visit = visitor(viewport=WINDOW)
    visit.goes_to("/tradeoff", table="fifteen")
    assert "/compare" in visit.page.url, "an old address"
    visit.keeps("DPLloyd", "Balcan et al.")
    visit.slider("Runs of each at every ε").press("End")
    visit.waits()
    visit.sees("900 runs")
    visit.presses("Try every ε")
    figure = visit.page.get_by_role("figure").first
    expect(figure).to_be_visible()
    expect(visit.button("Cancel")).to_be_visible()
    visit.turns_to("Learn")
    visit.turns_to("Compare algorithms")
    expect(visit.button("Cancel")).to_be_visible()
    visit.presses("Cancel")
    visit.sees("what had arrived is kept")
    expect(visit.button("Try every ε")).to_be_enabled()
    assert not offences(visit)
    visit.text("How much do draws differ?").click()
    visit.waits()
    visit.slider("Draws").press("Home")
    visit.waits()
    visit.presses("Draw again and again")
    expect(visit.page.locator(".animation[data-whole]")).to_have_count(1)
    assert not offences(visit)


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


def test_a_class_begins_at_the_top_and_every_dot_is_round(visitor: Callable[..., Visitor]) -> None:
    """On a projector of 1280 by 720, whatever had been scrolled before."""
    visit = visitor(viewport={"width": 1280, "height": 720})
    visit.goes_to("/lessons", lesson="tree-empty-cubes", scene=3)
    main = visit.page.get_by_test_id("stMain")
    main.evaluate("main => main.scrollTo(0, main.scrollHeight)")
    visit.presses("Present")
    visit.is_still()
    assert main.evaluate("main => main.scrollTop") == 0
    visit.presses("Reveal")
    visit.is_still()
    assert main.evaluate("main => main.scrollTop") == 0
    expect(visit.page.locator(".animation .cut.free").first).to_be_visible()
    for width, height in visit.page.evaluate(_DOTS):
        assert abs(width - height) < 0.5, (width, height)


_DOTS = """() => [...document.querySelectorAll(".animation .cut.free, .stRadio label > div:first-child")].map(part => {
  const look = getComputedStyle(part, part.matches(".cut") ? "::before" : null);
  return [parseFloat(look.width), parseFloat(look.height)];
})"""


def test_what_is_learned_is_for_everybody(visitor: Callable[..., Visitor]) -> None:
    """In two looks, those of Papers on a wide page and below; all other pages where something is done on them."""
    visit = visitor(viewport=WINDOW)
    visit.goes_to("/learn")
    assert not offences_in(visit, *ALL_IN_TWO)
    assert not out_of_reach(visit)
    visit.turns_to("Papers")
    assert not offences(visit)
    assert not out_of_reach(visit)


def test_a_telephone_turns_pages_by_a_drawer_that_closes_again(visitor: Callable[..., Visitor]) -> None:
    visit = visitor(viewport=WINDOW)
    visit.goes_to("/", table="fifteen")
    takes_on(visit, LOOKS["dark telephone"])
    visit.turns_to("Papers")  # by what Learn leads to
    assert not offences(visit)
