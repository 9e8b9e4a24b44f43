"""The lessons that ship: what they say is what comes out, computed here again with their own settings and seeds."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest

from dpviz.app.lessons.facts import Computed, find_step, list_refusals, list_wrong_says
from dpviz.app.lessons.lesson import (
    PLACEHOLDER,
    DrawsReveal,
    Lesson,
    LessonBoard,
    Options,
    PartReveal,
    RunReveal,
    Scene,
    StudyReveal,
)
from dpviz.app.lessons.reading import read_lessons
from tests.cases import for_each

SHELVED = read_lessons()
LESSONS = SHELVED.lessons
_DIGITS = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")


@cache
def computed_on(subject: str) -> Computed:
    return Computed.open_subject(subject)


@pytest.mark.parametrize(
    "lesson",
    [
        pytest.param(lesson, id=lesson.id, marks=[pytest.mark.slow] if lesson.id == "one-draw" else [])
        for lesson in LESSONS.values()
    ],
)
def test_every_number_that_a_lesson_says_is_what_comes_out(lesson: Lesson):
    assert not list_refusals(lesson, computed_on)
    wrong = {
        place: list_wrong_says(scene, computed_on(lesson.find_subject(scene)))
        for place, scene in enumerate(lesson.scenes, start=1)
    }
    assert not {place: said for place, said in wrong.items() if said}


def test_a_lesson_that_lies_is_caught():
    lesson = LESSONS["rich-person"]
    scene = lesson.scenes[2]
    lie = replace(scene.says["found"], value=3)
    (said,) = list_wrong_says(replace(scene, says={**scene.says, "found": lie}), computed_on(lesson.sample))
    assert said == "found (clusters found) is said to be 3, and comes out as 2."


@for_each("lesson", LESSONS.values())
def test_no_number_stands_in_a_text_by_itself(lesson: Lesson):
    """But for ε and k, which are asked for, and 1, every number of a text is one of ``says``: it cannot rot there."""
    loose = {}
    for place, scene in enumerate(lesson.scenes, start=1):
        wrong = scene.question.options if isinstance(scene.question, Options) else ()
        asked = {"1", *(f"{number:g}" for number in _asked(lesson, scene))}
        for text in (text for text in scene.texts if text not in wrong):
            loose |= {f"scene {place}: {n}": text for n in _DIGITS.findall(PLACEHOLDER.sub("", text)) if n not in asked}
    assert not loose


def _asked(lesson: Lesson, scene: Scene) -> Iterator[float]:
    yield from (lesson.request.epsilon, lesson.request.k)
    for part in (scene.shows, scene.reveal, scene.board):
        if isinstance(part, RunReveal | PartReveal | LessonBoard):
            yield from (part.request.epsilon, part.request.k)
        if isinstance(part, DrawsReveal | StudyReveal):
            yield from part.grid.epsilons
    for say in scene.says.values():
        yield say.request.epsilon
        yield from (float(value) for value in say.options.values() if isinstance(value, int | float))


@for_each("lesson", LESSONS.values())
def test_a_lesson_teaches(lesson: Lesson):
    """Every number is quoted; the steps that are shown are there; what to remember is more than the title."""
    assert lesson.title not in lesson.sentence
    for scene in lesson.scenes:
        quoted = {name for text in scene.texts for name in PLACEHOLDER.findall(text)}
        assert set(scene.says) <= quoted | {getattr(scene.question, "right", "")}, "a number that nobody says"
        for part in (scene.shows, scene.reveal, scene.board):
            if isinstance(part, RunReveal | LessonBoard):
                find_step(computed_on(lesson.find_subject(scene)).run(part.request), part.step)
