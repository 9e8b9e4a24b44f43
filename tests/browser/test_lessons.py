"""Lessons in a real browser: on a wide screen and on a telephone, for a class by arrow keys; and on paper."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from dpviz.app.charts.player.lesson_page import make_printed_lesson
from dpviz.app.lessons.lesson import DrawsReveal, Lesson, RunReveal, StudyReveal
from dpviz.app.lessons.reading import read_lessons
from tests.browser.looks import LOOKS, WINDOW, offences, out_of_reach, takes_on
from tests.browser.visitor import Visitor

pytestmark = [pytest.mark.slow, pytest.mark.browser]

LESSONS = read_lessons().lessons


def _sees_answer(visit: Visitor, lesson: Lesson, place: int) -> None:
    """The answer stands there, and its picture is drawn."""
    scene = lesson.scenes[place - 1]
    visit.sees(scene.fill_text(scene.answer).split(".")[0].split(",")[0].split("\n")[0])
    if isinstance(scene.reveal, RunReveal):
        expect(visit.page.locator(".animation[data-whole]")).to_be_attached()
    elif isinstance(scene.reveal, DrawsReveal | StudyReveal):
        expect(visit.page.locator(".js-plotly-plot").first).to_be_attached()
    visit.waits()
    expect(visit.page.get_by_text("This lesson is not right any more")).to_have_count(0)


def test_a_lesson_begins_at_a_press_and_its_questions_are_for_everybody(visitor: Callable[..., Visitor]) -> None:
    visit, lesson = visitor(viewport=WINDOW), LESSONS["one-draw"]
    visit.goes_to("/lessons")
    visit.presses(lesson.title)
    visit.sees(f"1 of {len(lesson.scenes)}")
    visit.goes_to("/lessons", lesson=lesson.id, scene=3)
    assert not offences(visit) and not out_of_reach(visit)
    takes_on(visit, LOOKS["dark telephone"])
    assert not offences(visit)


def test_a_class_walks_by_arrow_keys(visitor: Callable[..., Visitor]) -> None:
    visit, lesson = visitor(viewport=WINDOW), LESSONS["rich-person"]
    visit.goes_to("/lessons", lesson=lesson.id)
    assert visit.downloads("Sheet to print (HTML)").read_bytes().startswith(b"<!")
    visit.presses("Present")
    expect(visit.page.get_by_test_id("stSidebar")).to_have_count(0)
    expect(visit.page.get_by_role("link", name="Bench", exact=True)).to_have_count(0)
    for place in range(1, len(lesson.scenes) + 1):
        visit.sees(f"{place} of {len(lesson.scenes)}")
        expect(visit.button("Reveal")).to_be_enabled()
        visit.waits()
        visit.page.keyboard.press("ArrowRight")
        _sees_answer(visit, lesson, place)
        if place < len(lesson.scenes):
            visit.page.keyboard.press("ArrowRight")
            visit.waits()
    visit.page.keyboard.press("ArrowLeft")
    visit.sees(f"{len(lesson.scenes) - 1} of")
    visit.waits()  # until then the picture of the scene before is there, too
    # Where the animation has the keys, they step through the animation and not through the lesson.
    visit.page.locator(".animation .cut.now").press("ArrowLeft")
    visit.waits()
    visit.sees(f"{len(lesson.scenes) - 1} of")
    visit.page.keyboard.press("Escape")
    expect(visit.page.get_by_role("link", name="Bench", exact=True)).to_be_visible()


def test_the_sheet_has_its_answers_on_the_second_page(browser: Browser, tmp_path: Path) -> None:
    paper, sheet = browser.new_page(), tmp_path / "sheet.html"
    for lesson in LESSONS.values():
        sheet.write_text(make_printed_lesson(lesson), encoding="utf-8")
        paper.goto(sheet.as_uri())
        pages = paper.pdf(format="A4").count(b"/Type /Page\n")
        assert pages == 2, f"{lesson.id} takes {pages} pages"
    paper.close()
