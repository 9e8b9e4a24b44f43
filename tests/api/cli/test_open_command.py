"""``dpviz open`` refuses in one sentence what it could not serve; samples go by their names, as files go by theirs."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpviz.tables.named import FOLDER
from tests.cases import about
from tests.command_line import call

RUN = ("--k", 3, "--epsilon", 1, "--seed", 1, "--algorithm", "dplloyd", "--json")


def test_what_cannot_be_served_is_refused_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    ports, files = (["--port", port] for port in (0, 65_536, "x")), (["nowhere.csv"], [FOLDER / "words.npz"])
    for wrong in (*ports, *files, ["a", "b"]):
        said = call(capsys, "open", *wrong)
        with about(*wrong):
            assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)


def test_a_sample_by_its_name_is_the_sample_from_its_file(capsys: pytest.CaptureFixture[str]) -> None:
    by_name, by_path = (call(capsys, "run", data, *RUN).json for data in ("fifteen", FOLDER / "fifteen.csv"))
    assert by_name == by_path


def test_a_sample_that_no_file_holds_is_found_too(capsys: pytest.CaptureFixture[str]) -> None:
    columns = ("--columns", "pixel_2_2,pixel_5_5")
    assert call(capsys, "run", "digits", *columns, *RUN).json["columns"] == ["pixel_2_2", "pixel_5_5"]


def test_a_file_goes_before_a_sample_of_its_name(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "fifteen").write_text("height\n" + "1\n2\n3\n" * 20)
    monkeypatch.chdir(tmp_path)
    assert call(capsys, "run", "fifteen", "--bounds", "0,9", *RUN).json["columns"] == ["height"]


def test_a_sample_is_not_read_in_another_way(capsys: pytest.CaptureFixture[str]) -> None:
    said = call(capsys, "run", "fifteen", "--decimal", ",", *RUN)
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "A sample" in said.err
