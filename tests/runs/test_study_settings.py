"""Settings of a study: as text and link they load back, and nothing else is taken for them."""

from __future__ import annotations

import json

import pytest

from dpviz.check import RequestError
from dpviz.runs.study import Contender
from dpviz.runs.study_settings import StudySettings

SETTINGS = StudySettings((Contender("auto"), Contender("eugkm", {"preset": "su"})), 0.1, 10.0, 5, 1e-6, 7)


def test_text_and_link_load_back() -> None:
    assert StudySettings.from_text(SETTINGS.to_text()) == SETTINGS
    assert StudySettings.from_text(SETTINGS.to_query()) == SETTINGS
    assert "\n" not in SETTINGS.to_query()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"dpviz": "something else"}, "not the settings"),
        ({"version": 2}, "version 1"),
        ({"k": "five"}, "k is not a number"),
        ({"k": 0}, "k"),
        ({"epsilon_from": -1.0}, "epsilon_from"),
        ({"epsilon_to": 0.01}, "epsilon_to"),
        ({"rows": [[1.0, 2.0]]}, "'rows' is no setting"),
        ({"algorithms": "auto"}, "not a list"),
        ({"algorithms": [{"algorithm": "nobody"}]}, "no algorithm"),
        ({"algorithms": [{"algorithm": "eugkm", "params": {"preset": "x"}}]}, "preset"),
        ({"algorithms": [{"algorithm": "eugkm", "params": 3}]}, "mapping"),
    ],
)
def test_what_is_wrong_is_said(change: dict[str, object], words: str) -> None:
    text = json.dumps(json.loads(SETTINGS.to_text()) | change)
    with pytest.raises(RequestError, match=words):
        StudySettings.from_text(text)


@pytest.mark.parametrize("text", ["", "k: 5\nalgorithms:\n- auto\n", "[1]", "[" * 5000])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(RequestError, match="not JSON"):
        StudySettings.from_text(text)


def test_a_missing_setting_is_named() -> None:
    found = json.loads(SETTINGS.to_text())
    del found["delta"]
    with pytest.raises(RequestError, match="'delta' is missing"):
        StudySettings.from_text(json.dumps(found))
