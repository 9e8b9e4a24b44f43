"""Settings of a study: as text and link they load back, and nothing else is taken for them."""

from __future__ import annotations

import pytest
import yaml

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
        ({3: 4, None: 5}, "'3' is no setting"),
        ({"algorithms": "auto"}, "not a list"),
        ({"algorithms": [{"algorithm": "nobody"}]}, "no algorithm"),
        ({"algorithms": [{"algorithm": "eugkm", "params": {"preset": "x"}}]}, "preset"),
        ({"algorithms": [{"algorithm": "eugkm", "params": 3}]}, "mapping"),
    ],
)
def test_what_is_wrong_is_said(change: dict[object, object], words: str) -> None:
    text = yaml.safe_dump(yaml.safe_load(SETTINGS.to_text()) | change)
    with pytest.raises(RequestError, match=words):
        StudySettings.from_text(text)


@pytest.mark.parametrize("text", ["", "[1]", "[" * 5000, "k: [", "a" * 200_000, "k: !!python/object:os.system x"])
def test_what_is_no_yaml_is_refused(text: str) -> None:
    with pytest.raises(RequestError, match="no YAML"):
        StudySettings.from_text(text)


def test_what_a_person_writes_is_read() -> None:
    lines = SETTINGS.to_text().replace("1.0e-06", "1e-6").replace("epsilon_to: 10.0", "epsilon_to: 10  # the most")
    assert "1e-6" in lines and "the most" in lines
    assert StudySettings.from_text(lines) == SETTINGS


def test_a_missing_setting_is_named() -> None:
    found = yaml.safe_load(SETTINGS.to_text())
    del found["delta"]
    with pytest.raises(RequestError, match="'delta' is missing"):
        StudySettings.from_text(yaml.safe_dump(found))
