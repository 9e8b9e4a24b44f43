"""Words: hovered, reached with the keyboard, found in the glossary, and the menu that leads there."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from dpviz.glossary import glossary
from tests.browser.conftest import NARROW
from tests.browser.visitor import PATIENCE, Visitor

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_a_word_on_a_label_is_explained_by_pointer_and_by_keyboard(visitor: Callable[..., Visitor]) -> None:
    visit = visitor()
    visit.goes_to("/")
    visit.opens_sample("Fifteen clusters")
    tooltip = visit.page.get_by_role("tooltip")
    question = visit.page.get_by_role("button", name="Help for ε, the privacy budget")
    question.hover()
    expect(tooltip).to_contain_text(glossary()["epsilon"].says, timeout=PATIENCE)
    visit.page.mouse.move(700, 5)
    expect(tooltip).to_be_hidden(timeout=PATIENCE)
    visit.slider("ε, the privacy budget").focus()
    visit.page.keyboard.press("Shift+Tab")  # the question mark stands before the slider
    expect(question).to_be_focused(timeout=PATIENCE)
    expect(tooltip).to_contain_text(glossary()["epsilon"].says, timeout=PATIENCE)
    visit.is_content()


def test_the_list_follows_what_is_typed_before_enter_is_pressed(visitor: Callable[..., Visitor]) -> None:
    visit = visitor()
    visit.goes_to("/glossary")
    visit.sees(glossary()["epsilon"].says)
    visit.page.get_by_role("searchbox").press_sequentially("voron")
    expect(visit.text(glossary()["epsilon"].says)).to_be_hidden(timeout=PATIENCE)
    visit.sees(glossary()["voronoi"].says)
    visit.sees_figure("Three centres")
    visit.is_content()


def test_a_word_in_the_list_comes_to_the_top_and_the_open_table_stays(visitor: Callable[..., Visitor]) -> None:
    visit = visitor()
    visit.goes_to("/")
    visit.opens_sample("Fifteen clusters")
    visit.turns_to("Glossary")
    visit.page.get_by_role("link", name="coreset", exact=True).click()
    visit.page.wait_for_url("**/glossary?term=coreset*")
    expect(visit.page.get_by_test_id("stMain").get_by_role("link").first).to_have_text("coreset", timeout=PATIENCE)
    visit.sees(glossary()["coreset"].says)
    assert len(visit.page.context.pages) == 1
    visit.turns_to("Explore")
    visit.sees_run("Auto")


@pytest.mark.parametrize("width", [1440, 1024])
def test_the_menu_stays_on_one_line(visitor: Callable[..., Visitor], width: int) -> None:
    visit = visitor(viewport={"width": width, "height": 900})
    visit.goes_to("/")
    expect(visit.page.get_by_role("link", name="Ledger", exact=True)).to_be_visible(timeout=PATIENCE)
    expect(visit.page.get_by_test_id("stTopNavSection")).to_have_text("Learn")
    for title in ("Papers", "Glossary", "Ledger"):
        visit.turns_to(title)


def test_on_a_telephone_the_glossary_is_one_column(visitor: Callable[..., Visitor]) -> None:
    visit = visitor(viewport=NARROW)
    visit.goes_to("/glossary", term="delta")
    visit.sees(glossary()["delta"].says)
    assert visit.is_as_wide_as_its_window()
    visit.turns_to("Home")
    visit.turns_to("Glossary")


def test_words_of_a_run_say_what_they_mean_when_they_are_pointed_at(visitor: Callable[..., Visitor]) -> None:
    visit = visitor()
    visit.goes_to("/")
    visit.opens_sample("Fifteen clusters")
    visit.sees_run("Auto")
    words = glossary()
    for place, term in ((".legend span", "kmeans"), (".numbers div", "loss"), (".legend b", "released")):
        titles = [part.get_attribute("title") or "" for part in visit.page.locator(f".film {place}").all()]
        assert any(words[term].first in title for title in titles), (place, titles)
    visit.is_content()
