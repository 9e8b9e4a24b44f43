"""However fast somebody walks through a film, what is drawn is what its step says; marks glide there, or jump."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.visitor import PATIENCE, Visitor

pytestmark = [pytest.mark.slow, pytest.mark.browser]

# Numbers are compared as they are sent: as lists, or as arrays in base64.
_AS_THE_STEP_SAYS = """() => {
    const { film, at, map } = document.querySelector(".film").player;
    const sent = (traces) => JSON.stringify(traces.map(({ x, y, text, marker }) => [x, y, text, marker]));
    return sent(film.steps[at].data) === sent(map.data);
}"""
# One step back, and how many marks are on their way when it has been drawn.
_ONE_BACK = """async () => {
    const { player } = document.querySelector(".film"), { map, box } = player, drawn = box.dataset.drawn;
    player.walks(-1);
    while (box.dataset.drawn === drawn) await new Promise(requestAnimationFrame);
    return map.getAnimations({ subtree: true }).length;
}"""
# Steps of unlike pictures, each turned to while the one before may still be under way.
_WALK = """async () => {
    const { player } = document.querySelector(".film"), last = player.film.steps.length - 1;
    for (let i = 0; i < 48; i++) {
        player.turns(last - ((7 * i) % 11));
        await new Promise((next) => setTimeout(next, 40 * (1 + (i % 4))));
    }
    const seen = player.box.dataset, drawn = () => Number(seen.at) === player.at && seen.whole === seen.drawn;
    while (!drawn()) await new Promise(requestAnimationFrame);
}"""


def _on_a_film(visit: Visitor, table: str) -> Page:
    visit.goes_to("/")
    visit.opens_sample(table)
    visit.sees_film()
    # What is computed meanwhile is drawn, too, when it is there.
    expect(visit.text("is being computed for comparison")).to_be_hidden(timeout=PATIENCE)
    visit.waits()
    return visit.page


def test_centres_glide_to_where_they_are_drawn_at_once(visitor: Callable[..., Visitor]) -> None:
    page = _on_a_film(visitor(), "64 Gaussians in 100 dimensions")
    assert page.evaluate(_ONE_BACK) > 64  # each centre, and its number where it has one
    assert page.evaluate(_AS_THE_STEP_SAYS)
    page.evaluate(_WALK)  # whatever the browser's console says meanwhile is a complaint
    assert page.evaluate(_AS_THE_STEP_SAYS)


def test_nothing_glides_for_whoever_wants_less_motion(visitor: Callable[..., Visitor]) -> None:
    page = _on_a_film(visitor(reduced_motion="reduce"), "Fifteen clusters")
    assert page.evaluate(_ONE_BACK) == 0
    assert page.evaluate(_AS_THE_STEP_SAYS)
