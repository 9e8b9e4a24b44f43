"""A lesson's file is read as it is meant, or refused in a sentence that says where, what is allowed and what to do."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from dpviz.app.lessons.lesson import (
    TOOLS,
    CurveGuess,
    DrawsReveal,
    NumberGuess,
    Options,
    PartReveal,
    RunReveal,
    StudyReveal,
)
from dpviz.app.lessons.reading import LessonError, read_lesson, read_lesson_fields, read_lessons
from dpviz.tables.drawings import decode_drawing
from tests.cases import for_each

GOOD: dict[str, Any] = {
    "title": "A lesson",
    "minutes": 5,
    "sample": "outlier",
    "settings": {"algorithm": "eugkm", "k": 3, "epsilon": 1, "seed": 4},
    "sentence": "Remember me.",
    "scenes": [
        {
            "title": "One",
            "text": "It has {cells} cells.",
            "question": {"ask": "Which?", "options": ["a", "b"], "right": "b"},
            "reveal": {"run": {"step": 1}},
            "answer": "So it is.",
            "says": {"cells": {"what": "cells", "is": 9}},
        },
        {
            "title": "Two",
            "text": "Many.",
            "question": {"ask": "How many?", "number": {"from": 0, "to": 3, "unit": "of 3"}, "right": "found"},
            "shows": {"run": {"epsilon": "1e-1"}},
            "reveal": {"draws": {"times": 5, "epsilon": 2}},
            "answer": "{found}.",
            "says": {"found": {"what": "most found", "epsilon": 2, "is": 1}},
        },
        {
            "title": "Three",
            "text": "A curve.",
            "question": {"ask": "Draw it.", "curve": True},
            "reveal": {"study": {"epsilons": [0.1, 1], "repeats": 3, "set": {"theta": 5}}},
            "answer": "There.",
        },
        {"title": "Four", "text": "Look.", "reveal": {"part": "odds"}},
    ],
}


BOARD: dict[str, Any] = {
    "title": "Painted",
    "minutes": 5,
    "sentence": "Remember me.",
    "scenes": [
        {
            "title": "One",
            "text": "From {needed} on.",
            "board": {"drawing": "blobs", "me": [226, 34], "algorithm": "balcan", "epsilon": 2, "view": "crowd"},
            "says": {"needed": {"what": "people to be noticed", "is": 54}},
        },
        {
            "title": "Two",
            "text": "Look.",
            "board": {"drawing": "rich", "k": 2, "step": "Round", "tools": ["erase"], "preview": False, "guess": False},
        },
    ],
}


def on_board(field: str, value: Any) -> dict[str, Any]:
    """The lesson with a board, one of its fields changed."""
    said = deepcopy(BOARD)
    said["scenes"][0]["board"][field] = value
    return said


def changed(*path: str | int, to: Any) -> dict[str, Any]:
    """The good lesson with one value changed, or taken out where it is None."""
    said = deepcopy(GOOD)
    place: Any = said
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    return said


def test_a_file_is_read_as_it_is_meant(tmp_path: Path):
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(GOOD, allow_unicode=True), encoding="utf-8")
    lesson = read_lesson(path)
    one, two, three, four = lesson.scenes
    assert (lesson.id, lesson.minutes, lesson.request.algorithm, lesson.request.seed) == ("mine", 5, "eugkm", 4)
    assert one.question == Options("Which?", ("a", "b"), "b") and one.fill_text(one.text) == "It has 9 cells."
    assert isinstance(one.reveal, RunReveal) and one.reveal.step == 1 and one.reveal.request == lesson.request
    assert two.question == NumberGuess("How many?", 0.0, 3.0, 1.0, "found", "of 3") and two.truth == "1 of 3"
    assert isinstance(two.shows, RunReveal) and two.shows.request.epsilon == 0.1
    assert isinstance(two.reveal, DrawsReveal) and (two.reveal.grid.repeats, two.reveal.grid.epsilons) == (5, (2.0,))
    assert isinstance(three.question, CurveGuess) and isinstance(three.reveal, StudyReveal)
    assert three.reveal.grid.contenders[0].params == {"theta": 5.0} and three.reveal.grid.seed == 4
    assert four.reveal == PartReveal("odds", lesson.request) and four.question is None


def test_a_board_is_read_as_it_is_meant_and_needs_no_sample():
    lesson = read_lesson_fields("painted", BOARD, name="painted.yaml")
    first, second = (scene.board for scene in lesson.scenes)
    assert lesson.sample == "" and first is not None and second is not None
    assert lesson.find_subject(lesson.scenes[0]) == first.drawing
    drawing = decode_drawing(first.drawing)
    assert drawing.me == (226, 34) and len(drawing.points) == 900
    assert (first.request.algorithm, first.request.epsilon, first.request.delta) == ("balcan", 2.0, 0.0)
    assert (first.view, first.tools, first.preview, first.guess) == ("crowd", TOOLS, True, True)
    assert (second.tools, second.preview, second.guess, second.step) == (("erase",), False, False, "Round")
    assert decode_drawing(second.drawing).me == (243, 243) and second.request.k == 2
    mixed = deepcopy(GOOD)
    mixed["scenes"].append(BOARD["scenes"][1])
    lesson = read_lesson_fields("mixed", mixed, name="mixed.yaml")
    assert (
        lesson.find_subject(lesson.scenes[0]) == "outlier" and lesson.find_subject(lesson.scenes[-1]) == second.drawing
    )


@for_each(
    ("said", "sentence"),
    [
        (on_board("drawing", None), "scene 1, board, drawing: it is nothing, not text"),
        (on_board("me", [256, 1]), "board, me 1: it is 256, not a whole number from 0 to 255"),
        (on_board("algorithm", "sulq"), "board, algorithm: 'sulq' is none of eugkm, balcan, dplloyd, auto"),
        (on_board("tools", ["brush", "gun"]), "board, tools: 'gun' is none of brush, spray, erase, me"),
        (on_board("delta", 1e-6), 'board: it has unknown keys "delta"; allowed are "algorithm", "k"'),
        (
            {**BOARD, "scenes": [{**BOARD["scenes"][0], "shows": {"run": {}}}]},
            "scene 1, board: it stands in the place of `shows`",
        ),
        (
            {**BOARD, "scenes": [{"title": "a", "text": "b", "board": {"drawing": "empty"}}]},
            "board, drawing: nobody is on it",
        ),
        (
            {**BOARD, "scenes": [{"title": "a", "text": "b", "board": {"drawing": "blobs", "view": "worlds"}}]},
            "board, view: worlds is about me, and nobody on the board is me",
        ),
        ({**BOARD, "scenes": [*BOARD["scenes"], {"title": "a", "text": "b"}]}, "mine.yaml, sample: None is none of"),
        ({**BOARD, "settings": {"algorithm": "lsh-local", "delta": 1e-6}}, "board, algorithm: a board runs eugkm"),
    ],
)
def test_what_is_wrong_with_a_board_is_said_in_one_sentence(said: Any, sentence: str):
    with pytest.raises(LessonError) as refused:
        read_lesson_fields("mine", said, name="mine.yaml")
    assert sentence in str(refused.value) and "\n" not in str(refused.value)


@for_each(
    ("said", "sentence"),
    [
        ([], "mine.yaml: it is a list of 0, not a group of fields; write"),
        (changed("colour", to="red"), 'mine.yaml: it has unknown keys "colour"; allowed are "title", "minutes"'),
        (changed("minutes", to=0), "mine.yaml, minutes: it is 0, not a whole number from 1 to 90"),
        (changed("sample", to="nobody"), "mine.yaml, sample: 'nobody' is none of fifteen"),
        (changed("settings", "epsilon", to=-1), "mine.yaml, settings, epsilon: it is -1, not a number from 0.001"),
        (changed("settings", "algorithm", to="sulq"), "mine.yaml, settings, algorithm: SuLQ k-means needs delta > 0"),
        (changed("scenes", 0, to="x"), "mine.yaml, scene 1: it is 'x', not a group of fields"),
        (changed("scenes", 0, "text", to="{nothing}"), "mine.yaml, scene 1, {nothing}: no number of this name"),
        (changed("scenes", 0, "answer", to=None), "mine.yaml, scene 1, answer: it is missing"),
        (changed("scenes", 0, "question", "right", to="c"), "scene 1, question, right: 'c' is none of a, b"),
        (changed("scenes", 0, "question", "options", to=["a", "a"]), "options: two of them are the same"),
        (changed("scenes", 0, "question", "curve", to=True), "question, ask: 2 kinds of answer are given"),
        (changed("scenes", 0, "reveal", to={}), "scene 1, reveal: it has 0 kinds; one of run, draws, study, part"),
        (changed("scenes", 0, "says", "cells", "what", to="luck"), "says, cells, what: 'luck' is none of rows"),
        (
            changed("scenes", 0, "says", "cells", "what", to="median loss"),
            "says, cells, epsilon: it is missing, and 'median loss' needs it",
        ),
        (changed("scenes", 1, "question", "number", "to", to=0.5), "number, to: found is 1; the range must have it"),
        (changed("scenes", 2, "reveal", "study", "epsilons", to=[1, 0.1]), "epsilons: they do not rise"),
        (changed("scenes", 2, "reveal", to={"part": "odds"}), "question, curve: the scene reveals no study"),
        (changed("scenes", 3, "reveal", "part", to={"name": "x"}), "scene 4, reveal, part, name: 'x' is none of odds"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(said: Any, sentence: str):
    with pytest.raises(LessonError) as refused:
        read_lesson_fields("mine", said, name="mine.yaml")
    message = str(refused.value)
    assert sentence in message and message.startswith("mine.yaml")
    assert "\n" not in message and len(message) < 600


def test_what_is_no_yaml_is_said_with_its_line(tmp_path: Path):
    path = tmp_path / "mine.yaml"
    path.write_text("title: a\nminutes: 3\nsentence: a: b\n", encoding="utf-8")
    with pytest.raises(LessonError, match=r"mine\.yaml, line 3: this is no YAML"):
        read_lesson(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(LessonError, match="this file cannot be read; a text in UTF-8 is allowed"):
        read_lesson(path)


def test_a_file_that_is_refused_keeps_no_other_from_the_shelf(tmp_path: Path):
    (tmp_path / "good.yaml").write_text(yaml.safe_dump(GOOD), encoding="utf-8")
    (tmp_path / "bad.yaml").write_text("title: 3", encoding="utf-8")
    collection = read_lessons(tmp_path)
    assert list(collection.lessons) == ["good"] and len(collection.refused) == 1
    assert read_lessons(tmp_path / "nowhere").lessons == {}
