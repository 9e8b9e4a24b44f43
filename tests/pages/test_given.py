"""What ``dpviz open DATA`` names is there when a visit begins."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.tables.named import GIVEN
from tests.command_line import write_points
from tests.pages.site import fine, press, visit

BOUNDS = {"bounds": {"x": [-1, 1], "y": [-1, 1]}, "bounds_origin": "known beforehand"}


def test_a_sample_is_open_and_the_visit_begins_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(GIVEN, "fifteen")
    at = visit()
    assert at.title[0].value == "Data"
    assert _is_open(at, "Fifteen clusters")
    assert at.session_state["k"] == 15
    at.switch_page("home.py")
    assert fine(at.run()).title[0].value != "Data"  # once a visit


def test_a_link_to_another_page_stays_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(GIVEN, "fifteen")
    assert visit("learn.py").title[0].value == "Predict, then see"


def test_a_file_with_its_sidecar_is_open(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(GIVEN, str(write_points(tmp_path / "points.csv", declaration_file=BOUNDS)))
    assert _is_open(visit(), "points")


def test_a_file_without_bounds_waits_and_its_form_says_what_the_sidecar_does(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = write_points(tmp_path / "points.csv", declaration_file={"n_public": 398})
    monkeypatch.setenv(GIVEN, str(path))
    at = visit()
    assert [part.value for part in at.subheader] == ["points"]
    assert 398 in [part.value for part in at.number_input]
    press(at, "Use this table")
    assert at.error


def test_a_file_that_went_away_is_named_and_nothing_breaks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(GIVEN, str(tmp_path / "gone.csv"))
    at = visit()
    assert "There is no file" in at.error[0].value
    path = write_points(tmp_path / "wrong.csv")
    path.with_suffix(".json").write_text(json.dumps({"bounds": [1, 2]}))
    monkeypatch.setenv(GIVEN, str(path))
    assert "bounds" in visit().error[0].value


def _is_open(at: AppTest, title: str) -> bool:
    """Whether the Data page shows that table, ready to be explored."""
    ready = any(button.key == "explore_table" for button in at.button)
    return ready and [part.value for part in at.subheader] == [title]
