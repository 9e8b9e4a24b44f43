"""ε and what it does share the first screen, and a step costs no request, in a window as people have it.

How long a step takes is measured by ``benchmarks.page``.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import NARROW
from tests.browser.visitor import PATIENCE, Visitor
from tests.contract.tables import blobs

pytestmark = [pytest.mark.slow, pytest.mark.browser]

DESK, TELEPHONE_TOP = {"width": 1440, "height": 900}, 700
LARGE = {"width": 1920, "height": 1080}
LEAST_SHARE, MOST_BYTES = 0.4, 2_500_000
PRIVATE = "a private file"
TABLES = ("Fifteen clusters", "People of a town", "64 Gaussians in 100 dimensions", PRIVATE)


def on_explore(visit: Visitor, table: str) -> Visitor:
    """Explore with the film of a run on ``table``."""
    if table == PRIVATE:
        visit.goes_to("/data")
        visit.uploads(
            "\n".join(["hours,meals", *(f"{x:.4f},{y:.4f}" for x, y in blobs(2_000, 2))]).encode(), "mine.csv"
        )
        visit.declares(low=-2, high=2)
        visit.presses("Use this table")
        visit.turns_to("Explore")
        visit.unfolded(lambda: visit.presses("Run"))
    else:
        visit.goes_to("/")
        visit.opens_sample(table)
    visit.sees_film()
    return visit


@pytest.mark.parametrize("table", TABLES)
def test_epsilon_and_the_whole_picture_share_a_screen_and_a_step_asks_nobody(
    visitor: Callable[..., Visitor], table: str
) -> None:
    visit = visitor(viewport=DESK)
    frames = _frames_sent(visit)
    on_explore(visit, table)
    _share_a_screen(visit, table, DESK)
    if table == TABLES[0]:
        visit.page.set_viewport_size(LARGE)  # type: ignore[arg-type]
        visit.waits()
        _share_a_screen(visit, table, LARGE)
        visit.page.set_viewport_size(DESK)  # type: ignore[arg-type]
        visit.chooses("Algorithm", "Tree: Balcan et al.")
        visit.sees_run("Balcan")
    _steps_ask_nobody(visit, frames)
    visit.page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    visit.waits()
    _comes_first(visit, table)


@pytest.mark.parametrize("table", [TABLES[0], PRIVATE])
def test_on_a_telephone_the_picture_comes_first(visitor: Callable[..., Visitor], table: str) -> None:
    _comes_first(on_explore(visitor(viewport=NARROW), table), table)


def _share_a_screen(visit: Visitor, table: str, window: dict[str, int]) -> None:
    """ε, the button beside it and the whole picture are in the window, and the picture is large."""
    assert visit.page.get_by_test_id("stMain").evaluate("main => main.scrollTop") == 0
    boxes = {
        name: visit.page.locator(f".film .{name}").bounding_box() for name in ("stage", "map", "sideplot", "steps")
    }
    slider = visit.slider("ε, the privacy budget").bounding_box()
    run = visit.button("Run" if table == PRIVATE else "Another draw").bounding_box()
    for box in (slider, run, boxes["map"], boxes["sideplot"], boxes["steps"]):
        assert box is not None
        assert box["x"] >= 0 and box["x"] + box["width"] <= window["width"]
        assert box["y"] >= 0 and box["y"] + box["height"] <= window["height"]
    stage = boxes["stage"]
    assert stage is not None
    assert stage["width"] * stage["height"] >= LEAST_SHARE * window["width"] * window["height"]


def _frames_sent(visit: Visitor) -> list[str]:
    """One entry for each time that the page says something to the server, from now on."""
    said: list[str] = []
    visit.page.on("websocket", lambda socket: socket.on("framesent", lambda _: said.append("frame")))
    return said


def _steps_ask_nobody(visit: Visitor, said: list[str]) -> None:
    film, steps = visit.page.locator(".film"), visit.page.locator(".film .cut").count() - 1
    expect(visit.text("is being computed for comparison")).to_be_hidden(timeout=PATIENCE)
    visit.page.wait_for_timeout(2_000)
    asked, frames = len(visit.requested), len(said)
    assert frames, "nobody listens to what the page says"
    for key in ("ArrowLeft",) * min(8, steps) + ("ArrowRight",) * min(8, steps):
        drawn = int(film.get_attribute("data-drawn") or 0)
        visit.steps_to(key)  # type: ignore[arg-type]
        expect(film).not_to_have_attribute("data-drawn", str(drawn))
        visit.page.wait_for_timeout(200)
    assert (len(visit.requested), len(said)) == (asked, frames), "a step asked the server"


def _comes_first(visit: Visitor, table: str) -> None:
    """On a narrow screen the picture is at its top, all is as wide as it is, and ε can be turned where it is seen."""
    picture = visit.page.locator(".film .map").bounding_box()
    assert picture is not None and picture["y"] <= TELEPHONE_TOP
    assert visit.is_as_wide_as_its_window()
    tall = visit.page.get_by_test_id("stMainBlockContainer").evaluate("block => block.scrollHeight")
    assert tall < 2_500
    # The picture follows ε. A run under way has a film of its own, beside the last one.
    visit.page.locator(".film").evaluate("film => film.dataset.before = film.dataset.drawn")
    number = json.loads(visit.page.locator(".film").get_attribute("data-before") or "0")
    visit.page.locator(".film .range").press("ArrowLeft")
    if table == PRIVATE:  # nothing is spent without a press
        expect(visit.page.locator(".film .said")).to_contain_text("press Run", timeout=PATIENCE)
        return
    as_before = f'[data-before="{number}"][data-drawn="{number}"]'
    expect(visit.page.locator(f".film[data-whole]:not({as_before})")).not_to_have_count(0, timeout=PATIENCE)


@pytest.mark.parametrize("algorithm", ["Everything: Auto", "Tree: Balcan et al."])
def test_a_film_is_small(visitor: Callable[..., Visitor], algorithm: str) -> None:
    visit = visitor(viewport=DESK)
    received: list[int] = []
    visit.page.on(
        "websocket", lambda socket: socket.on("framereceived", lambda frame: received.append(len(frame or b"")))
    )
    visit.goes_to("/", epsilon=7)
    visit.opens_sample("64 Gaussians in 100 dimensions")
    visit.chooses("Algorithm", algorithm)
    visit.sees_run(algorithm)
    assert max(received) <= MOST_BYTES


def test_five_stops_of_the_tab_key_lead_to_epsilon_and_run_is_next(visitor: Callable[..., Visitor]) -> None:
    visit = on_explore(visitor(viewport=DESK), "Fifteen clusters")
    visit.page.goto(visit.page.url)  # the page from its start: the link opens the sample again
    expect(visit.page.locator(".film[data-whole]")).to_be_visible(timeout=PATIENCE)
    visit.waits()
    stops = []
    for _ in range(9):
        visit.page.keyboard.press("Tab")
        stops.append(visit.page.evaluate("(e => e.getAttribute('aria-label') || e.innerText)(document.activeElement)"))
    place = next((i for i, stop in enumerate(stops) if "privacy budget" in stop and "Help" not in stop), None)
    assert place is not None and place < 5, stops
    assert any("Another draw" in stop for stop in stops[place + 1 : place + 4]), stops
