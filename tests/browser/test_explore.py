"""A first visit: ε and what it does share the first screen, a step asks nobody, and what is drawn is what it says.

How long a step takes is measured by ``benchmarks.page``.
"""

import pytest
from playwright.sync_api import Page, expect

from dpviz.words.theme import choose_palette
from tests.browser import quiet
from tests.browser.looks import LOOKS, takes_on
from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.slow, pytest.mark.browser]

MOST_BYTES, CLUSTERS, MOST_PIXELS = 2_500_000, 15, 6

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
# Where the words and the centres of the map and of what is beside it are seen, in pixels of their pictures.
_SEEN = """() => [...document.querySelectorAll(".animation .map, .animation .sideplot")].map((plot) => {
    const frame = plot.getBoundingClientRect(), marks = plot.querySelectorAll("svg text, .tracecentres .point");
    const seen = [...marks].map((mark) => [mark.textContent, mark.getBoundingClientRect()]);
    const shown = seen.filter(([, { width }]) => width).map(([words, { x, y, width, height }]) =>
        [words, x + width / 2 - frame.x, y + height / 2 - frame.y]);
    return shown.sort(([a, x], [b, z]) => (a < b ? -1 : a > b ? 1 : x - z));
})"""
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


def test_a_tree_is_walked_without_a_question_and_is_still_there_after_another_page(fifteen: Visitor) -> None:
    visit, page = fifteen, fifteen.page
    visit.opens_word("algorithm")
    visit.chooses("Algorithm", "Tree: Balcan et al.")
    visit.sees_run("Balcan")
    expect(visit.text("is being computed for comparison")).to_be_hidden()
    visit.waits()
    visit.steps_to("End")  # by now the library is there
    asked = len(visit.requested), quiet.asked(page)
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
    assert (len(visit.requested), quiet.asked(page)) == asked, "a step asked the server"
    title = page.locator(".animation .title").inner_text()
    visit.turns_to("Read")
    visit.turns_to("Bench")
    visit.sees_run("Balcan")
    expect(page.locator(".animation .title")).to_have_text(title)


def test_a_first_picture_needs_no_library_and_all_are_drawn_as_they_say_in_either_colours_gliding_or_not(
    fifteen: Visitor,
) -> None:
    visit, page = fifteen, fifteen.page
    visit.is_still()  # what stands above the picture has come, and its size is that of the next one
    assert not any("plotly" in url for url in visit.requested)
    sketched = page.evaluate(_SEEN)
    visit.steps_to("End")
    visit.is_still()
    drawn = page.evaluate(_SEEN)
    for before, after in zip(sketched, drawn, strict=True):
        assert [words for words, *_ in before] == [words for words, *_ in after]
        off = [max(abs(x - z), abs(y - w)) for (_, x, y), (_, z, w) in zip(before, after, strict=True)]
        assert max(off) <= MOST_PIXELS, dict(zip([words for words, *_ in before], off, strict=True))
    assert page.evaluate(_ONE_BACK) > CLUSTERS  # each centre, and its number where it has one
    assert page.evaluate(_AS_THE_STEP_SAYS)
    page.evaluate(_WALK)  # whatever the browser's console says meanwhile is a complaint
    assert page.evaluate(_AS_THE_STEP_SAYS)
    for name in ("dark", "light"):
        takes_on(visit, LOOKS[name])
        _draws(page, choose_palette(LOOKS[name].colors).text)
    visit.steps_to("End")
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate(_ONE_BACK) == 0
    assert page.evaluate(_AS_THE_STEP_SAYS)
    page.emulate_media(reduced_motion="no-preference")
    assert quiet.largest(page) <= MOST_BYTES


def _draws(page: Page, ink: str) -> None:
    """Wait until the run that is played is drawn in ``ink``."""
    quiet.becomes(page, "ink => document.querySelector('.animation')?.style.getPropertyValue('--text') === ink", ink)
