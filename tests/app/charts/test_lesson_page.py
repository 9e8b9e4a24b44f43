"""A lesson as one file: questions come before answers, nothing gives them away, and every part can be in it."""

import re
from functools import cache, partial

import pytest

from dpviz.app.charts.player.lesson_page import make_lesson_page, make_part_figures
from dpviz.app.charts.player.player_page import MOST_BYTES
from dpviz.app.lessons.facts import Computed
from dpviz.app.lessons.lesson import Lesson, Options
from dpviz.app.lessons.reading import PARTS, read_lessons
from dpviz.runs import Contender, Progress, Request, declare, membership
from dpviz.tables import sample

LESSONS = read_lessons().lessons


@pytest.fixture(autouse=True)
def quick_attacks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few runs tell as much of a page as many."""
    monkeypatch.setattr(membership, "attack_work", partial(membership.attack_work, number=8))


@cache
def page_of(lesson: Lesson) -> str:
    *on_the_way, page = make_lesson_page(lesson)
    assert all(isinstance(item, Progress) for item in on_the_way) and isinstance(page, str)
    return page


# Between them they have every kind of question, and of picture that answers it.
@pytest.mark.slow
@pytest.mark.parametrize("name", ["one-draw", "rich-person", "why-noise", "paint-the-town"])
def test_each_question_comes_before_its_answer(name: str) -> None:
    lesson = LESSONS[name]
    page = page_of(lesson)
    assert len(page.encode()) <= MOST_BYTES
    pages = iter(re.findall(r"<article.*?</article>", page, flags=re.DOTALL))
    for scene in lesson.scenes:
        if scene.question is None:
            assert scene.fill_text(scene.title) in next(pages)
            continue
        asked, answered = next(pages), next(pages)
        assert "Reveal</button>" in asked and "Reveal</button>" not in answered
        answer = " ".join(scene.fill_text(scene.answer).split("\n\n")[0].split()).replace("'", "&#39;")
        assert answer in answered and answer not in asked
        if isinstance(scene.question, Options):
            assert "□" in asked
        if scene.truth:
            assert f"It is: {scene.truth}".replace("'", "&#39;") in answered and "It is:" not in asked
    assert lesson.sentence in next(pages) and next(pages, None) is None


@pytest.mark.some(2)
@pytest.mark.parametrize("part", PARTS)
def test_every_part_of_what_epsilon_means_is_a_figure(part: str) -> None:
    computed = Computed(declare(*sample("outlier").load()))
    request = Request(Contender("dplloyd"), k=3, epsilon=1.0, seed=1)
    figures = make_part_figures(part, computed, request)
    assert figures and figures[0].title and figures[0].subtitle
    for figure in figures:
        assert figure.words and set(figure.drawn) == {"light", "dark"} and figure.drawn["light"]["data"]
    assert ("revealed" in figures[0].kinds) == (part in ("attack", "worlds"))
