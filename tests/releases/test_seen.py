"""The card tells what its process saw: looks, studies, runs on the rows, a k that was read; and whose word that is."""

from __future__ import annotations

import doctest
import json
import zipfile
from pathlib import Path

import yaml
from hypothesis import given
from hypothesis import strategies as st

from dpviz.api.cli import release_command
from dpviz.releases import promise
from dpviz.releases.promise import AccessCounts
from tests.command_line import call
from tests.releases.people import account_in, write_people

NOTHING_SEEN = "it showed no row, no true count and no loss"


def test_doctests() -> None:
    assert doctest.testmod(promise).failed == 0


def test_nothing_is_said_to_be_unseen_that_was_seen() -> None:
    for seen in (
        AccessCounts({"rows": 1}),
        AccessCounts(studies=1),
        AccessCounts(runs=50, runs_epsilon=50.0),
        AccessCounts(grids_read=1),
    ):
        assert NOTHING_SEEN not in seen.words
    assert NOTHING_SEEN in AccessCounts().words and NOTHING_SEEN in AccessCounts({"rows": 0}).words


def test_everything_that_was_seen_is_told() -> None:
    told, before = AccessCounts({"rows": 2, "loss": 1}, 3, 50, 12.5, 2).words.split(" What was seen ")
    assert told == (
        "The releasing process counted two looks at rows or at counts of them, one look at losses on the rows, "
        "three studies on them, 50 runs on the rows with study noise, ε = 12.5 in all, which no account has paid for "
        "and two readings of k from the grid of such a run. No ε covers what was chosen because of them."
    )
    assert before.endswith("only their owner can say.")


@given(st.permutations([("rows", 2), ("loss", 1), ("reference", 3), ("proposal", 1), ("a new kind", 4)]))
def test_the_order_of_a_visit_is_in_no_byte(looks) -> None:
    made = AccessCounts(dict(looks))
    assert list(made.looks) == ["rows", "loss", "reference", "proposal", "a new kind"]
    assert made.words == AccessCounts(json.loads(json.dumps(made.looks, sort_keys=True))).words


def released(capsys, desk: Path, *more: object) -> tuple[str, str]:
    """What the command said on stderr, and the card's words about what was seen and chosen."""
    out = desk / f"release{len(list(desk.glob('*.zip')))}.zip"
    asked = ("--k", 3, "--epsilon", 0.5, "--delta", 1e-6, "--segments", 0, "--account", desk / "people.sqlite")
    said = call(capsys, "release", desk / "people.json", desk / "people.csv", *asked, "--out", out, *more)
    assert said.code == 0, said.err
    with zipfile.ZipFile(out) as archive:
        card = yaml.safe_load(archive.read("card.yaml"))
    return said.err, card["deployment"]["implementation"]["preprocessing_and_hyperparameter_tuning"]


def test_a_command_says_what_it_knows_and_asks_whoever_is_there(capsys, tmp_path, monkeypatch) -> None:
    write_people(tmp_path, proposed=True)
    account_in(tmp_path)
    _, card = released(capsys, tmp_path, "--yes")
    assert "counted one look that proposed how to read the file" in card
    declared = json.loads((tmp_path / "people.json").read_text())
    del declared["proposed"]  # which hides that look from whoever reads the declaration alone
    (tmp_path / "people.json").write_text(json.dumps(declared))
    said, card = released(capsys, tmp_path, "--yes")
    assert NOTHING_SEEN in card and "only their owner can say" in card and "the owner has not said" in card
    assert "What was seen of these rows before" not in said
    answers = iter(["A proposal of the format.\n", "0.5\n"])
    monkeypatch.setattr(release_command.sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(release_command.sys.stdin, "readline", lambda: next(answers), raising=False)
    said, card = released(capsys, tmp_path)
    assert "What was seen of these rows before" in said
    assert "The owner, asked what was chosen after looking: A proposal of the format." in card
