"""``dpviz read``: a release as tables with their noise, without its rows; what is wrong comes first."""

import csv
from pathlib import Path

import pytest

from dpviz.releases.package import CENTERS, make_zip
from dpviz.releases.release_reader import read_release
from tests.command_line import told_by
from tests.releases.forging import rehashed, released


@pytest.fixture(scope="module")
def zips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("zips")
    forged = rehashed({**released(), CENTERS: released()[CENTERS].replace(b"1", b"2")})
    for name, files in (("good", released()), ("forged", forged), ("none", {"a.txt": b"a"})):
        (folder / f"{name}.zip").write_bytes(make_zip(files))
    return folder


def test_a_good_release_is_told_in_tables_and_sentences(zips, tmp_path):
    out = tmp_path / "tidy.csv"
    said = told_by("read", zips / "good.zip", "--compare", zips / "good.zip", "--out", out)
    assert said.code == 0 and said.out.startswith("This release is what it says: ")
    for told in ("± is nine in ten", "What may be concluded", "What not", "Nothing differs", "Second less first"):
        assert told in said.out
    rows = list(csv.DictReader(out.read_text(encoding="utf-8").splitlines()))
    assert {"segment", "column", "statistic", "value", "low", "high", "error_sd"} <= set(rows[0]) and len(rows) > 9
    again = told_by("read", zips / "good.zip", "--out", out)
    assert again.code == 2 and "is there already" in again.err


def test_a_forged_one_says_first_what_is_wrong_and_ends_with_one(zips):
    said = told_by("read", zips / "forged.zip")
    assert said.code == 1 and said.out.startswith(
        "This release is NOT what it says: do not rely on it.\n  centers.csv: "
    )
    assert told_by("read", zips / "good.zip", "--compare", zips / "forged.zip").code == 1


def test_what_is_no_release_is_read_by_no_command(zips):
    for path in (zips / "none.zip", zips / "nothing.zip", zips):
        said = told_by("read", path)
        assert said.code == 2 and said.err.count("\n") == 1 and not said.out


# ``dpviz ask``: a question over several numbers of a release, in a sentence; of a forged one nothing is answered.


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
