"""Lessons on their page: each is walked from its first question to its sentence; guesses, links, a board, lies."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.app.lessons import reading
from dpviz.app.lessons.lesson import CurveGuess, Lesson, NumberGuess, Options
from dpviz.app.lessons.reading import read_lessons
from dpviz.app.ui.escape import escape_markdown
from dpviz.tables.drawings import load_preset
from tests.app.ui.playground.test_board import said
from tests.pages.tables import app_on, board_in, read_animation, sound, text_of

LESSONS = read_lessons().lessons
RICH = LESSONS["rich-person"]


def opened(lesson: str, scene: int = 1, **more: str) -> AppTest:
    return app_on("lessons.py", None, lesson=lesson, scene=str(scene), **more)


def press(app: AppTest, key: str) -> AppTest:
    app.button(key=f"lesson:{key}").click()
    return sound(app.run())


def answers(app: AppTest, lesson: Lesson, place: int, *, rightly: bool = True) -> AppTest:
    """Answer the question of a scene."""
    scene = lesson.scenes[place - 1]
    match scene.question:
        case Options(options=options, right=right):
            wrong = next(at for at, option in enumerate(options) if option != right)
            app.radio[0].set_value(options.index(right) if rightly else wrong)
        case NumberGuess(right=right, low=low):
            app.number_input[0].set_value(scene.says[right].value if rightly else low)
        case CurveGuess():
            app.select_slider[0].set_value(10.0)
    return sound(app.run())


def walked(app: AppTest, lesson: Lesson) -> Iterator[tuple[int, AppTest]]:
    """Every scene of a lesson with its answer, one after the other."""
    for place, scene in enumerate(lesson.scenes, start=1):
        shown = text_of(app)
        assert (
            escape_markdown(scene.fill_text(scene.title)) in shown
            and escape_markdown(scene.fill_text(scene.answer)) not in shown
        )
        assert app.button(key="lesson:reveal").disabled, "a prediction comes first"
        press(answers(app, lesson, place), "reveal")
        yield place, app
        if place < len(lesson.scenes):
            press(app, "next")


def test_the_guess_stays_beside_the_truth():
    app = press(answers(opened("rich-person", 3), RICH, 3, rightly=False), "reveal")
    assert "You said" in text_of(app) and "It is · off by 2" in text_of(app)
    press(press(app, "next"), "back")
    assert "off by 2" in text_of(app) and not [button for button in app.button if button.key == "lesson:reveal"]
    press(app, "again")
    assert app.number_input[0].value is None and "off by" not in text_of(app)


def test_what_comes_later_is_not_given_away():
    """Before the answer an animation ends with the step that is shown, and no loss stands beside it."""
    app = opened("why-noise", 3)
    assert [step["name"] for step in read_animation(app)["steps"]] == ["grid"]
    assert all("loss" not in entry["of"] for entry in read_animation(app)["numbers"])
    press(answers(app, LESSONS["why-noise"], 3), "reveal")
    assert len(read_animation(app)["steps"]) == 3


def test_a_link_opens_a_scene_and_one_to_no_lesson_leads_to_the_list():
    for scene, seen in {"3": "3 of 5", "99": "5 of 5", "-1": "1 of 5", "x" * 500: "1 of 5", "": "1 of 5"}.items():
        (bar,) = app_on("lessons.py", None, lesson="rich-person", scene=scene).get("progress")
        assert seen in bar.proto.text
    app = app_on("lessons.py", None, lesson="![i](http://x.invalid)", present="1")
    assert "There is no lesson of this name" in text_of(app) and "x.invalid" not in text_of(app)
    assert {button.key for button in app.button} == {f"lesson:begin:{name}" for name in LESSONS}


def test_a_board_waits_for_the_prediction_and_begins_again_as_it_was():
    lesson = LESSONS["paint-the-town"]
    app = opened(lesson.id, 2)
    told = board_in(app)
    assert told["dress"]["locked"] and told["answer"] is None and told["start"]["me"] == [226, 34]
    press(answers(app, lesson, 2), "reveal")
    told = board_in(app)
    assert not told["dress"]["locked"] and told["answer"]["crowd"]["title"].startswith("Up to 108 people")
    assert told["answer"]["picture"]["title"].startswith("At level 4") and told["answer"]["link"] is None
    key = f"lesson:{lesson.id}:2:board"
    app.session_state[f"{key}:0"] = {"ask": said(load_preset("blobs").drawing)}
    sound(app.run())
    assert board_in(app)["answer"]["draw"] == 1
    press(app, "again")
    told = board_in(app)
    assert told["dress"]["locked"] and told["answer"] is None and told["start"]["me"] == [226, 34]


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of further lessons."""
    monkeypatch.setenv("DPVIZ_LESSONS", str(tmp_path))
    return tmp_path


@pytest.mark.some(1)
@pytest.mark.parametrize(
    ("lesson", "scene", "true", "said"),
    [
        ("rich-person", 3, "found: {what: clusters found, is: 2}", ("clusters found", "comes out as 2")),
        ("one-draw", 2, "best: {what: most found, epsilon: 0.3, is: 13}", ("most found", "comes out as 13")),
    ],
)
def test_a_lesson_whose_numbers_are_wrong_says_so(own: Path, lesson: str, scene: int, true: str, said: tuple[str, str]):
    """Of one run, and of many."""
    text = (reading.FOLDER / f"{lesson}.yaml").read_text(encoding="utf-8")
    lie = text.replace(true, re.sub(r"is: (\d+)", lambda found: f"is: {int(found[1]) + 1}", true))
    assert lie != text
    (own / "liar.yaml").write_text(lie, encoding="utf-8")
    app = press(answers(opened("liar", scene), LESSONS[lesson], scene), "reveal")
    assert all(words in app.error[0].value for words in said)
