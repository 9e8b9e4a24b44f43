"""A first visit: ε and what it does share the first screen, a step asks nobody, and what is drawn is what it says.

How long a step takes is measured by ``benchmarks.page``.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from dpviz.words.glossary import read_glossary
from dpviz.words.theme import choose_palette
from tests.browser import quiet
from tests.browser.looks import LOOKS, takes_on
from tests.browser.visitor import NARROW, Visitor
from tests.waiting import eventually

pytestmark = [pytest.mark.slow, pytest.mark.browser]

LARGE: ViewportSize = {"width": 1920, "height": 1080}
TELEPHONE_TOP, MOST_TALL = 700, 2_500
LEAST_SHARE, MOST_BYTES = 0.4, 2_500_000
CLUSTERS = 15

# Numbers are compared as they are sent: as lists, or as arrays in base64.
_AS_THE_STEP_SAYS = """() => {
    const { animation, at, map } = document.querySelector(".animation").player;
    const sent = (traces) => JSON.stringify(traces.map(({ x, y, text, marker }) => [x, y, text, marker]));
    return sent(animation.steps[at].data) === sent(map.data);
}"""
# One step back, and how many marks are on their way when it has been drawn.
_ONE_BACK = """async () => {
    const { player } = document.querySelector(".animation"), { map, box } = player, drawn = box.dataset.drawn;
    player.walks(-1);
    while (box.dataset.drawn === drawn) await new Promise(requestAnimationFrame);
    return map.getAnimations({ subtree: true }).length;
}"""
# Steps of unlike pictures, each turned to while the one before is still under way.
_WALK = """async () => {
    const { player } = document.querySelector(".animation"), last = player.animation.steps.length - 1;
    for (let i = 0; i < 24; i++) {
        player.turns(last - ((7 * i) % 11));
        for (let frames = i % 4; frames >= 0; frames--) await new Promise(requestAnimationFrame);
    }
    const seen = player.box.dataset, drawn = () => Number(seen.at) === player.at && seen.whole === seen.drawn;
    while (!drawn()) await new Promise(requestAnimationFrame);
}"""
# ε, the button beside it and the whole picture are in the window, and the picture is large: what of it is not so.
_OUT_OF_SIGHT = """([slider, run, share]) => {
    const wrong = [], of = (name) => document.querySelector(".animation ." + name);
    for (const part of [slider, run, of("map"), of("sideplot"), of("steps")]) {
        const { left, right, top, bottom } = part.getBoundingClientRect();
        if (left < 0 || right > innerWidth || top < 0 || bottom > innerHeight) wrong.push(part.outerHTML.slice(0, 99));
    }
    const { width, height } = of("stage").getBoundingClientRect();
    if (width * height < share * innerWidth * innerHeight) wrong.push("the picture is small");
    return wrong;
}"""


def shares_a_screen(visit: Visitor, run: str = "Another draw") -> None:
    """ε, the button beside it and the picture are in the window, once it has followed its size."""
    assert visit.page.get_by_test_id("stMain").evaluate("main => main.scrollTop") == 0
    seen = [visit.slider("ε, the privacy budget").element_handle(), visit.button(run).element_handle(), LEAST_SHARE]
    assert eventually(lambda: not visit.page.evaluate(_OUT_OF_SIGHT, seen)), visit.page.evaluate(_OUT_OF_SIGHT, seen)


def comes_first(visit: Visitor) -> None:
    """On a narrow screen the picture is at its top, and all is as wide as it is."""
    picture = visit.page.locator(".animation .map")
    assert eventually(lambda: (picture.bounding_box() or {"y": TELEPHONE_TOP + 1})["y"] <= TELEPHONE_TOP)
    assert visit.is_as_wide_as_its_window()
    block = visit.page.get_by_test_id("stMainBlockContainer")
    assert eventually(lambda: block.evaluate("block => block.scrollHeight") < MOST_TALL)


def test_epsilon_is_five_stops_away_and_shares_every_screen_with_its_picture(fifteen: Visitor) -> None:
    visit, page = fifteen, fifteen.page
    shares_a_screen(visit)
    page.evaluate("document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute('tabindex')")
    stops = []
    for _ in range(9):
        page.keyboard.press("Tab")
        stops.append(page.evaluate("(e => e.getAttribute('aria-label') || e.innerText)(document.activeElement)"))
    place = next((i for i, stop in enumerate(stops) if "privacy budget" in stop and "Help" not in stop), None)
    assert place is not None and place < 5, stops
    assert any("Another draw" in stop for stop in stops[place + 1 : place + 4]), stops
    page.set_viewport_size(LARGE)
    shares_a_screen(visit)
    page.set_viewport_size(NARROW)
    comes_first(visit)


def test_words_of_a_run_are_explained_by_pointer_and_by_keyboard(fifteen: Visitor) -> None:
    visit, page, words = fifteen, fifteen.page, read_glossary()
    visit.chooses("Algorithm", "Everything: Auto")
    visit.sees_run("Auto")
    for place, term in ((".legend span", "kmeans"), (".numbers div", "loss"), (".legend b", "released")):
        titles = [part.get_attribute("title") or "" for part in page.locator(f".animation {place}").all()]
        assert any(words[term].first in title for title in titles), (place, titles)
    tooltip, question = page.get_by_role("tooltip"), page.get_by_role("button", name="Help for ε, the privacy budget")
    question.hover()
    expect(tooltip).to_contain_text(words["epsilon"].says)
    page.mouse.move(700, 5)
    expect(tooltip).to_be_hidden()
    visit.slider("ε, the privacy budget").focus()
    page.keyboard.press("Shift+Tab")  # the question mark stands before the slider
    expect(question).to_be_focused()
    expect(tooltip).to_contain_text(words["epsilon"].says)


def test_a_tree_is_walked_without_a_question_and_is_still_there_after_another_page(fifteen: Visitor) -> None:
    visit, page = fifteen, fifteen.page
    visit.chooses("Algorithm", "Grid: EUGkM")
    visit.sees_run("EUGkM")
    visit.sees_step("centres")
    visit.steps_to("Home")
    visit.sees_step("Noisy histogram")
    visit.chooses("Algorithm", "Tree: Balcan et al.")
    visit.sees_run("Balcan")
    expect(visit.text("is being computed for comparison")).to_be_hidden()
    visit.waits()
    asked = len(visit.requested), quiet.said(page)
    steps = page.locator(".animation .cut").count()
    visit.steps_to("Home")
    visit.sees_step("Private partition")
    visit.sees("At level 1")
    visit.presses_exactly("Next step")
    visit.sees("At level 2")
    for place in range(2, steps):
        visit.steps_to("ArrowRight")
        expect(page.locator(".animation")).to_have_attribute("data-at", str(place))
    visit.waits()
    assert (len(visit.requested), quiet.said(page)) == asked, "a step asked the server"
    title = page.get_by_role("heading", level=1).inner_text()
    visit.turns_to("Ledger")
    visit.sees("finds no run above its request")
    visit.turns_to("Explore")
    visit.sees_run("Balcan")
    assert page.get_by_role("heading", level=1).inner_text() == title


def test_pictures_follow_the_colours_of_an_open_page(fifteen: Visitor) -> None:
    for name in ("dark", "light"):
        look = LOOKS[name]
        takes_on(fifteen, look)
        _draws(fifteen.page, choose_palette(look.colors).text)


def test_centres_glide_to_where_they_are_drawn_at_once_or_jump_there(fifteen: Visitor) -> None:
    visit, page = fifteen, fifteen.page
    visit.chooses("Algorithm", "Rounds: DPLloyd")
    visit.sees_run("DPLloyd")
    # What is computed meanwhile is drawn, too, when it is there.
    expect(visit.text("is being computed for comparison")).to_be_hidden()
    visit.waits()
    visit.steps_to("End")
    assert page.evaluate(_ONE_BACK) > CLUSTERS  # each centre, and its number where it has one
    assert page.evaluate(_AS_THE_STEP_SAYS)
    page.evaluate(_WALK)  # whatever the browser's console says meanwhile is a complaint
    assert page.evaluate(_AS_THE_STEP_SAYS)
    visit.steps_to("End")
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate(_ONE_BACK) == 0
    assert page.evaluate(_AS_THE_STEP_SAYS)
    page.emulate_media(reduced_motion="no-preference")
    assert quiet.largest(page) <= MOST_BYTES


def test_a_link_leads_to_the_first_table_and_a_telephone_shows_its_picture_first(
    visitor: Callable[..., Visitor],
) -> None:
    visit = visitor(viewport=NARROW)
    page = visit.page
    visit.goes_to("/explore", algorithm="balcan", epsilon=3, k=4)
    visit.sees_animation()  # without a table a sample opens at once
    comes_first(visit)
    expect(page.locator(".animation .exact")).to_have_text("3")
    expect(page.locator(".animation .cut").last).to_have_attribute("aria-label", re.compile("4 noisy means"))
    # The picture follows ε, and the address says it, to be passed on.
    page.locator(".animation").evaluate("animation => animation.dataset.before = animation.dataset.drawn")
    drawn = page.locator(".animation").get_attribute("data-before") or "0"
    page.locator(".animation .range").press("ArrowLeft")
    as_before = f'[data-before="{drawn}"][data-drawn="{drawn}"]'
    expect(page.locator(f".animation[data-whole]:not({as_before})")).not_to_have_count(0)
    expect(page.locator(".animation .exact")).not_to_have_text("3")
    lower = page.locator(".animation .exact").inner_text()
    expect(page).to_have_url(re.compile(rf"[?&]epsilon={re.escape(lower)}(\.0)?(&|$)"))
    visit.turns_to("Glossary")
    visit.sees(read_glossary()["delta"].says)
    assert visit.is_as_wide_as_its_window()


def _draws(page: Page, ink: str) -> None:
    """Wait until the run that is played is drawn in ``ink``."""
    quiet.becomes(page, "ink => document.querySelector('.animation')?.style.getPropertyValue('--text') === ink", ink)
