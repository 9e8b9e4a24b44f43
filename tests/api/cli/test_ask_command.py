"""``dpviz ask``: a question over several numbers of a release, in a sentence; of a forged one nothing is answered."""

from __future__ import annotations

from pathlib import Path

from dpviz.releases.asking import QUESTION_KINDS
from dpviz.releases.release_reader import read_release
from tests.command_line import told_by


def test_the_shell_answers_as_python_does(zips: Path) -> None:
    release = read_release(zips / "good.zip")
    for asked, answer in (
        (("larger", 1, 2), release.ask("larger", 1, 2)),
        (("mean", 1, 2, "--column", "age"), release.ask("mean", 1, 2, column="age")),
        (("at-least", 3, "--column", "income", "--value", 3e4), release.ask("at-least", 3, column="income", value=3e4)),
        (("largest",), release.ask("largest")),
    ):
        said = told_by("ask", zips / "good.zip", *asked)
        assert said.code == 0 and said.out == f"{answer.sentence}\n"
        told = told_by("ask", zips / "good.zip", *asked, "--json").json
        assert told["sentence"] == answer.sentence and told["question"]["kind"] == asked[0]


def test_what_cannot_be_asked_is_refused_in_a_sentence(zips: Path) -> None:
    for asked in (("mean", 1, 2, 3, "--column", "age"), ("size", 9), ("smallest",), ("size", "one")):
        said = told_by("ask", zips / "good.zip", *asked)
        assert said.code == 2 and said.err.count("\n") == 1 and not said.out


def test_nothing_is_answered_from_a_forged_release(zips: Path) -> None:
    said = told_by("ask", zips / "forged.zip", "larger", 1, 2)
    assert said.code == 2 and "not what it says" in said.err and not said.out


def test_help_tells_every_kind() -> None:
    told = " ".join(told_by("ask", "--help").out.split())
    assert all(f"{name}: {kind.words}." in told for name, kind in QUESTION_KINDS.items())
