"""What ``dpviz open DATA`` names is there when a visit begins."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.tables.named import GIVEN
from tests.command_line import write_points
from tests.pages.site import visit

BOUNDS = {"bounds": {"x": [-1, 1], "y": [-1, 1]}, "bounds_origin": "known beforehand"}


def test_a_sample_is_open_and_the_visit_begins_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(GIVEN, "fifteen")
    at = visit()
    assert _is_open(at, "Fifteen clusters")
    assert at.session_state["k"] == 15


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
    hand = at.session_state["bench:hand"]
    assert hand.title == "points" and hand.rows.low == 398 and "low:x" in hand.gaps


def test_a_file_that_went_away_is_named_and_nothing_breaks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(GIVEN, str(tmp_path / "gone.csv"))
    at = visit()
    assert "There is no file" in at.error[0].value
    path = write_points(tmp_path / "wrong.csv")
    path.with_suffix(".json").write_text(json.dumps({"bounds": [1, 2]}))
    monkeypatch.setenv(GIVEN, str(path))
    assert "bounds" in visit().error[0].value


def _is_open(at: AppTest, title: str) -> bool:
    """Whether the bench has that table in hand, and it is open."""
    return at.session_state["bench:hand"].title == title == at.session_state["visit:table"].title
