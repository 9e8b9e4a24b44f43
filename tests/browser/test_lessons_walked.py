"""Every lesson in a real browser: on a wide screen, on a telephone, for a class by arrow keys; and on paper."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from dpviz.lessons.lesson import CurveGuess, DrawsReveal, Lesson, NumberGuess, Options, RunReveal, StudyReveal
from dpviz.lessons.reading import lessons_in
from tests.browser.conftest import NARROW
from tests.browser.looks import LOOKS, WINDOW, offences, takes_on
from tests.browser.visitor import PATIENCE, Visitor

pytestmark = [pytest.mark.slow, pytest.mark.browser]

LESSONS = lessons_in().lessons


def _guesses(visit: Visitor, lesson: Lesson, place: int) -> None:
    """Answer as somebody would who does not know."""
    match lesson.scenes[place - 1].question:
        case Options():
            visit.page.get_by_role("radiogroup").locator("label").first.click()
        case NumberGuess(low=low):
            box = visit.page.get_by_test_id("stNumberInputField")
            box.fill(f"{low:g}")
            box.press("Enter")
        case CurveGuess():
            visit.page.get_by_role("slider").first.press("ArrowRight")
    visit.waits()


def _sees_answer(visit: Visitor, lesson: Lesson, place: int) -> None:
    """The answer stands there, and its picture is drawn."""
    scene = lesson.scenes[place - 1]
    visit.sees(scene.told(scene.answer).split(".")[0].split(",")[0].split("\n")[0])
    match scene.reveal:
        case RunReveal():
            expect(visit.page.locator(".film[data-whole]")).to_be_attached(timeout=PATIENCE)
        case DrawsReveal() | StudyReveal():
            expect(visit.page.locator(".js-plotly-plot").first).to_be_attached(timeout=PATIENCE)
    visit.waits()
    expect(visit.page.get_by_text("This lesson is not right any more")).to_have_count(0)


# Each lesson on a wide screen, where each answer is looked at on a narrow one, too; the one with most kinds of answers
# is walked on a telephone from the start.
WALKS = [*((lesson, WINDOW) for lesson in LESSONS.values()), (LESSONS["one-draw"], NARROW)]


@pytest.mark.parametrize(
    ("lesson", "window"), WALKS, ids=[f"{lesson.id}-{'wide' if w is WINDOW else 'telephone'}" for lesson, w in WALKS]
)
def test_a_lesson_is_walked(visitor: Callable[..., Visitor], lesson: Lesson, window: dict[str, int]) -> None:
    visit = visitor(viewport=window)
    visit.goes_to("/lessons")
    visit.presses(lesson.title)
    for place in range(1, len(lesson.scenes) + 1):
        visit.sees(f"{place} of {len(lesson.scenes)}")
        _guesses(visit, lesson, place)
        visit.presses("Reveal")
        _sees_answer(visit, lesson, place)
        assert visit.is_as_wide_as_its_window()
        if window is WINDOW:
            visit.page.set_viewport_size(NARROW)  # type: ignore[arg-type]
            visit.waits()
            assert visit.is_as_wide_as_its_window()
            visit.page.set_viewport_size(WINDOW)  # type: ignore[arg-type]
        if place < len(lesson.scenes):
            visit.presses("Next")
    visit.sees(lesson.sentence)


def test_a_class_walks_by_arrow_keys(visitor: Callable[..., Visitor]) -> None:
    visit = visitor(viewport=WINDOW)
    lesson = LESSONS["rich-person"]
    visit.goes_to("/lessons", lesson=lesson.id, scene=1, present=1)
    expect(visit.page.get_by_test_id("stSidebar")).to_have_count(0)
    expect(visit.page.get_by_role("link", name="Explore", exact=True)).to_have_count(0)
    for place in range(1, len(lesson.scenes) + 1):
        visit.sees(f"{place} of {len(lesson.scenes)}")
        expect(visit.button("Reveal")).to_be_enabled(timeout=PATIENCE)
        visit.waits()
        visit.page.keyboard.press("ArrowRight")
        _sees_answer(visit, lesson, place)
        if place < len(lesson.scenes):
            visit.page.keyboard.press("ArrowRight")
            visit.waits()
    visit.page.keyboard.press("ArrowLeft")
    visit.sees(f"{len(lesson.scenes) - 1} of")
    visit.waits()  # until then the picture of the scene before is there, too
    # Where the film has the keys, they step through the film and not through the lesson.
    visit.page.locator(".film .cut.now").press("ArrowLeft")
    visit.waits()
    visit.sees(f"{len(lesson.scenes) - 1} of")
    visit.page.keyboard.press("Escape")
    expect(visit.page.get_by_role("link", name="Explore", exact=True)).to_be_visible(timeout=PATIENCE)


def test_the_sheet_has_its_answers_on_the_second_page(visitor: Callable[..., Visitor], tmp_path: Path) -> None:
    visit = visitor(viewport=WINDOW)
    for lesson in LESSONS.values():
        visit.goes_to("/lessons", lesson=lesson.id)
        sheet = tmp_path / f"{lesson.id}.html"
        sheet.write_bytes(visit.downloads("Sheet to print (HTML)").read_bytes())
        paper = visit.page.context.new_page()
        paper.goto(sheet.as_uri())
        pages = paper.pdf(format="A4").count(b"/Type /Page\n") if hasattr(paper, "pdf") else 2
        assert pages == 2, f"{lesson.id} takes {pages} pages"
        paper.close()


def test_nothing_serious_in_lessons(visitor: Callable[..., Visitor]) -> None:
    visit = visitor(viewport=WINDOW)
    visit.goes_to("/lessons")
    found = offences(visit, "list")
    for name, scene in (("rich-person", 3), ("one-draw", 3), ("one-draw", 2)):
        visit.goes_to("/lessons", lesson=name, scene=scene)
        found |= offences(visit, f"{name} {scene}, asked")
        _guesses(visit, LESSONS[name], scene)
        visit.presses("Reveal")
        _sees_answer(visit, LESSONS[name], scene)
        visit.page.wait_for_timeout(1500)
        found |= offences(visit, f"{name} {scene}, revealed")
    assert not found


def test_pictures_of_a_lesson(visitor: Callable[..., Visitor], pictures: Path) -> None:
    visit = visitor(viewport=WINDOW)
    visit.goes_to("/lessons", lesson="rich-person", scene=3)
    _guesses(visit, LESSONS["rich-person"], 3)
    visit.presses("Reveal")
    _sees_answer(visit, LESSONS["rich-person"], 3)
    for name, look in (("", "light"), ("-dark", "dark"), ("-narrow", "telephone")):
        takes_on(visit, LOOKS[look])
        visit.photographs(pictures / f"lesson{name}.png")
    takes_on(visit, LOOKS["light"])
    visit.goes_to("/lessons", lesson="rich-person", scene=3, present=1)
    visit.presses("Reveal")
    _sees_answer(visit, LESSONS["rich-person"], 3)
    visit.photographs(pictures / "lesson-presented.png")
