"""What is taken away is opened from a disk, the network off: it plays, it fetches nothing, it fits a telephone."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

import dpviz
from dpviz.app.charts.player.lesson_page import make_lesson_page
from dpviz.app.charts.player.player_page import PlayerScene, animate, make_player_page
from dpviz.app.lessons.lesson import PartReveal, RunReveal
from dpviz.app.lessons.reading import read_lessons
from dpviz.runs.one_run import Run
from dpviz.runs.open_table import declare
from dpviz.runs.record import ReleaseRecord
from dpviz.tables.named import sample
from tests.app.charts.test_player_page import truth_of
from tests.browser import quiet
from tests.browser.visitor import NARROW, PATIENCE, WIDE
from tests.waiting import eventually

pytestmark = [pytest.mark.slow, pytest.mark.browser]


_WHOLE = (
    "[...document.querySelectorAll('.animation')].every(f => !f.offsetWidth || f.dataset.whole === f.dataset.drawn)"
)
_INK = {"light": "#ffffff", "dark": "#12171e"}
_SURFACE = {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 23, 30)"}


class Reader:
    """Somebody who opens a file with the network off, and notes whatever is asked for or goes wrong."""

    def __init__(self, browser: Browser, **options: Any) -> None:
        self.context = browser.new_context(**{"viewport": WIDE, "color_scheme": "light", **options})
        self.context.set_offline(True)
        self.asked: list[str] = []
        self.complaints: list[str] = []

    def opens(self, file: Path, *, clock: bool = False) -> Page:
        """A page of the file, where ``clock`` says so with a clock that a test can put forward."""
        page = self.context.new_page()
        page.set_default_timeout(PATIENCE)
        if clock:
            page.clock.install()
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        page.goto(file.as_uri())
        expect(page.locator(".sorry")).to_be_hidden()  # before that no key is heard
        return page

    def is_content(self, file: Path) -> None:
        strangers = [url for url in self.asked if not url.startswith(("blob:", "data:")) and url != file.as_uri()]
        assert (strangers, self.complaints) == ([], [])


@pytest.fixture
def reader(browser: Browser) -> Iterator[Callable[..., Reader]]:
    readers: list[Reader] = []

    def sits_down(**options: Any) -> Reader:
        readers.append(Reader(browser, **options))
        return readers[-1]

    yield sits_down
    for one in readers:
        one.context.close()


@pytest.fixture(scope="module")
def finished() -> Run:
    return dpviz.run("dplloyd", declare(*sample("fifteen").load()).private, k=15, epsilon=1.0, seed=1)


@pytest.fixture(scope="module")
def saved(finished: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    table = declare(*sample("fifteen").load())
    animation = animate(finished, replace(truth_of(table, 15)[0], ghosts=()))  # earlier draws are in no file
    file = tmp_path_factory.mktemp("taken") / "run.html"
    file.write_text(
        make_player_page([PlayerScene(animation=animation, run=ReleaseRecord.of(finished, table), table=table.title)]),
        "utf-8",
    )
    return file


def drawn(page: Page) -> None:
    """The step in sight is drawn, with what stands beside it."""
    expect(page.locator(".animation:visible[data-whole]")).to_have_count(1)
    # The page lets no text be run as a script, so that the browser cannot wait by itself.
    assert eventually(lambda: page.evaluate(_WHOLE)), "the step is not drawn to its end"


def at(page: Page) -> int:
    return int(page.locator(".animation:visible").get_attribute("data-at") or -1)


def everybody_can_read(page: Page) -> None:
    """In the light on a wide screen, and in the dark on a telephone."""
    page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8"))
    for colors, window in (("light", WIDE), ("dark", NARROW)):
        page.emulate_media(color_scheme=colors)
        page.set_viewport_size(window)
        if page.locator(".animation:visible").count():
            expect(page.locator(".animation:visible")).to_have_attribute(
                "style", re.compile(f"--surface: {_INK[colors]}")
            )
            drawn(page)
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == _SURFACE[colors]
        assert eventually(lambda: page.evaluate("document.documentElement.scrollWidth <= innerWidth"))
        found = page.evaluate("axe.run({resultTypes: ['violations']}).then(found => found.violations)")
        assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == [], colors


def test_a_run_is_walked_by_arrow_keys_without_a_network(reader, saved, finished) -> None:
    one = reader()
    page = one.opens(saved)
    drawn(page)
    last, titles = len(finished.frames) - 1, set()
    assert at(page) == last
    page.keyboard.press("Home")
    for step in range(last + 1):
        expect(page.locator(".animation")).to_have_attribute("data-at", str(step))
        drawn(page)
        titles.add(page.locator(".where").inner_text())
        expect(page.locator(".map svg").first).to_be_visible()
        page.keyboard.press("ArrowRight")
    assert len(titles) == last + 1
    expect(page.locator(".sorry")).to_be_hidden()
    everybody_can_read(page)
    one.is_content(saved)


def test_it_plays_by_itself_until_it_is_told_to_pause_and_keeps_its_step_in_other_colours(reader, saved) -> None:
    one = reader()
    page = one.opens(saved, clock=True)
    drawn(page)
    page.get_by_role("button", name="Play all steps").click()
    for step in (1, 2):
        page.clock.fast_forward("05")  # seconds of the page's own clock
        expect(page.locator(".animation")).to_have_attribute("data-at", str(step))
    page.get_by_role("button", name="Pause").click()
    step = at(page)
    page.clock.fast_forward("20")
    page.emulate_media(color_scheme="dark")
    expect(page.locator(".animation")).to_have_attribute("style", re.compile("--surface: #12171e"))
    drawn(page)
    assert at(page) == step, "it went on after Pause"
    one.is_content(saved)


def test_a_lesson_is_taken_without_a_network(reader, tmp_path) -> None:
    lesson = read_lessons().lessons["why-noise"]
    file = tmp_path / "lesson.html"
    *_, made = make_lesson_page(lesson)
    file.write_text(str(made), "utf-8")
    one = reader()
    page = one.opens(file)
    for scene in lesson.scenes:
        expect(page.get_by_role("heading", level=1, name=scene.fill_text(scene.title), exact=True)).to_be_visible()
        page.get_by_role("button", name="Reveal", exact=True).locator("visible=true").click()
        if scene.truth:
            expect(page.get_by_text(f"It is: {scene.truth}").locator("visible=true")).to_have_count(1)
        if isinstance(scene.reveal, RunReveal):
            drawn(page)
        elif isinstance(scene.reveal, PartReveal):
            expect(page.locator(".figure:visible svg").first).to_be_visible()
        if scene is lesson.scenes[1]:
            everybody_can_read(page)
        page.get_by_role("button", name="Next", exact=True).locator("visible=true").click()
    expect(page.get_by_text(lesson.sentence)).to_be_visible()
    one.is_content(file)


def test_a_notebook_plays_it_in_a_frame_once_there_is_session(reader, finished, tmp_path) -> None:
    file, shown = tmp_path / "notebook.html", finished._repr_html_()
    file.write_text(f"<meta charset=utf-8><div id=fold style='display:none;width:900px'>{shown}</div>", "utf-8")
    one = reader()
    page = one.opens(file)
    frame = page.frame_locator("iframe")
    expect(frame.locator(".sorry")).to_have_attribute("hidden", "")
    quiet.still(page)  # the first drawing has been tried by now
    page.evaluate("document.getElementById('fold').style.display = ''")
    expect(frame.locator(".animation[data-whole]")).to_have_count(1)
    frame.get_by_role("button", name="Previous step").click()
    expect(frame.locator(".animation")).to_have_attribute("data-at", str(len(finished.frames) - 2))
    expect(page.get_by_text("Released centres")).to_be_visible()
    one.asked[:] = [url for url in one.asked if url != "about:srcdoc"]
    one.is_content(file)
