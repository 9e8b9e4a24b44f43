"""A lesson's file is read as it is meant, or refused in a sentence that says where, what is allowed and what to do."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from dpviz.app.lessons.reading import FOLDER, LessonError, read_lesson, read_lesson_fields, read_lessons
from tests.cases import for_each

DRAW, PAINT = (FOLDER / f"{name}.yaml" for name in ("one-draw", "paint-the-town"))


def changed(file: Path, place: str, to: Any) -> Any:
    """The fields of a lesson that ships, one of them changed, or taken out where ``to`` is None."""
    said: Any = yaml.safe_load(file.read_text("utf-8"))
    *path, last = (int(step) if step.isdigit() else step for step in place.split())
    inner: Any = said
    for step in path:
        inner = inner[step]
    inner[last] = to
    return said


CURVE = {"title": "a", "text": "b", "answer": "c", "question": {"ask": "d", "curve": True}}
WRONG: Mapping[Path, tuple[tuple[str, Any, str], ...]] = {
    PAINT: (
        ("scenes 0 board drawing", None, "scene 1, board, drawing: it is nothing, not text"),
        ("scenes 0 board drawing", "empty", "board, drawing: nobody is on it"),
        ("scenes 0 board drawing", "ring of fire", "The names blobs, unlike, ring"),
        ("scenes 0 board epsilon", 1.7, "board, epsilon: it is 1.7; a board has 0.05, 0.1"),
        ("scenes 0 board k", 11, "board, k: it is 11; a board has 2 to 10"),
        ("scenes 0 board me", [256, 1], "board, me 1: it is 256, not a whole number from 0 to 255"),
        ("scenes 0 board algorithm", "sulq", "board, algorithm: 'sulq' is none of eugkm, balcan, dplloyd, auto"),
        ("scenes 0 board tools", ["brush", "gun"], "board, tools: 'gun' is none of brush, spray, erase, me"),
        ("scenes 0 board delta", 1e-6, 'board: it has unknown keys "delta"; allowed are "algorithm", "k"'),
        ("scenes 0 board", {"drawing": "blobs", "view": "worlds"}, "board, view: worlds is about me, and nobody"),
        ("scenes 0 shows", {"run": {}}, "scene 1, board: it stands in the place of `shows`"),
        ("scenes 0", {"title": "a", "text": "b"}, "mine.yaml, sample: None is none of"),
        ("settings", {"algorithm": "lsh-local", "delta": 1e-6}, "board, algorithm: a board runs eugkm"),
    ),
    DRAW: (
        ("colour", "red", 'mine.yaml: it has unknown keys "colour"; allowed are "title", "minutes"'),
        ("minutes", 0, "mine.yaml, minutes: it is 0, not a whole number from 1 to 90"),
        ("sample", "nobody", "mine.yaml, sample: 'nobody' is none of fifteen"),
        ("settings epsilon", -1, "mine.yaml, settings, epsilon: it is -1, not a number from 0.001"),
        ("settings algorithm", "sulq", "mine.yaml, settings, algorithm: SuLQ k-means needs delta > 0"),
        ("scenes 0", "x", "mine.yaml, scene 1: it is 'x', not a group of fields"),
        ("scenes 0 text", "{nothing}", "mine.yaml, scene 1, {nothing}: no number of this name"),
        ("scenes 0 answer", None, "mine.yaml, scene 1, answer: it is missing"),
        ("scenes 0 question number to", 7, "number, to: again is 8; the range must have it"),
        ("scenes 0 says found what", "luck", "says, found, what: 'luck' is none of rows"),
        ("scenes 0 says again times", 2, "says, again, times: it is no field of 'clusters found'"),
        ("scenes 0 says again what", "median loss", "epsilon: it is missing, and 'median loss' needs it"),
        ("scenes 0 reveal", {}, "scene 1, reveal: it has 0 kinds; one of run, draws, study, part"),
        ("scenes 2 reveal study epsilons", [1, 0.1], "epsilons: they do not rise"),
        ("scenes 2 reveal", {"part": "odds"}, "is about many runs, and the scene reveals no draws and no study"),
        ("scenes 2 reveal", {"part": {"name": "x"}}, "scene 3, reveal, part, name: 'x' is none of odds"),
        ("scenes 2", CURVE, "question, curve: the scene reveals no study"),
        ("scenes 3 question right", "c", "scene 4, question, right: 'c' is none of"),
        ("scenes 3 question options", ["a", "a"], "options: two of them are the same"),
        ("scenes 3 question curve", True, "question, ask: 2 kinds of answer are given"),
    ),
}


@for_each(("file", "place", "to", "sentence"), [(file, *row) for file, rows in WRONG.items() for row in rows])
def test_what_is_wrong_is_said_in_one_sentence(file: Path, place: str, to: Any, sentence: str):
    with pytest.raises(LessonError) as refused:
        read_lesson_fields("mine", changed(file, place, to), name="mine.yaml")
    message = str(refused.value)
    assert sentence in message and message.startswith("mine.yaml")
    assert "\n" not in message and len(message) < 600


def test_what_is_no_lesson_and_no_yaml_is_said_with_its_line_and_keeps_no_other_from_the_shelf(tmp_path: Path):
    for content, sentence in {
        b"title: a\nminutes: 3\nsentence: a: b\n": r"mine\.yaml, line 3: this is no YAML",
        b"\xff\xfe\x00": "this file cannot be read; a text in UTF-8 is allowed",
        b"[]": r"mine\.yaml: it is a list of 0, not a group of fields; write",
    }.items():
        (tmp_path / "mine.yaml").write_bytes(content)
        with pytest.raises(LessonError, match=sentence):
            read_lesson(tmp_path / "mine.yaml")
    (tmp_path / "good.yaml").write_bytes(DRAW.read_bytes())
    collection = read_lessons(tmp_path)
    assert list(collection.lessons) == ["good"] and len(collection.refused) == 1
    assert read_lessons(tmp_path / "nowhere").lessons == {}
