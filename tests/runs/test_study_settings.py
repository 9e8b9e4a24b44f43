"""Settings of a study: as text and link they load back, and nothing else is taken for them."""

from __future__ import annotations

import datetime
import itertools

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from dpviz.check import RequestError
from dpviz.runs.study.study import Contender
from dpviz.runs.study.study_settings import StudySettings

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
        ({3: 4, None: 5}, "3 is no setting"),
        ({"algorithms": "auto"}, "not a list"),
        ({"algorithms": [{"algorithm": "nobody"}]}, "no algorithm"),
        ({"algorithms": [{"algorithm": "eugkm", "params": {"preset": "x"}}]}, "preset"),
        ({"algorithms": [{"algorithm": "eugkm", "params": 3}]}, "mapping"),
        ({"algorithms": [{"algorithm": ["eugkm"]}]}, "not the id"),
        ({"algorithms": [{"algorithm": {"a": 1}}]}, "not the id"),
        ({"algorithms": [{}]}, "not the id"),
        ({"algorithms": [{"algorithm": "eugkm", "rows": 3}]}, "An entry of algorithms has 'rows'"),
        ({"algorithms": [{"algorithm": "dplloyd", "params": {"rounds": [1]}}]}, "not a number or a word"),
        ({"algorithms": [{"algorithm": "dplloyd", "params": {"rounds": 10**400}}]}, "rounds is a number of 401 digits"),
        ({"algorithms": [{"algorithm": "dplloyd", "params": {"rounds": float("nan")}}]}, "rounds"),
        ({"algorithms": [{"algorithm": "dplloyd", "params": {"x" * 10_000: 1}}]}, "no parameter 'xxx"),
        ({"algorithms": [{"algorithm": "x" * 10_000}]}, "no algorithm 'xxx"),
        ({"algorithms": [{"algorithm": "eugkm"}] * 101}, "more than 100"),
        ({"epsilon_from": float("inf")}, "epsilon_from"),
        ({"epsilon_to": float("nan")}, "epsilon_to"),
        ({"epsilon_from": 10**400}, "epsilon_from is a number of 401 digits"),
        ({"k": 10**400}, "k is a number of 401 digits"),
        ({"k": float("nan")}, "k is nan"),
        ({"k": 2.5}, "k is 2.5"),
        ({"k": [5]}, "k is not a number"),
        ({"k": 10_001}, "k is 10001"),
        ({"repeats": float("inf")}, "repeats is inf"),
        ({"repeats": 10**9}, "repeats"),
        ({"delta": 1}, "delta is 1"),
        ({"delta": -0.1}, "delta"),
        ({"delta": 1e-200}, "delta"),
        ({"delta": None}, "delta is not a number"),
        ({"delta": datetime.date(2020, 1, 1)}, "delta is not a number"),
    ],
)
def test_what_is_wrong_is_said(change: dict[object, object], words: str) -> None:
    text = yaml.dump(yaml.safe_load(SETTINGS.to_text()) | change, Dumper=_WithoutNames)
    with pytest.raises(RequestError, match=words) as said:
        StudySettings.from_text(text)
    assert len(str(said.value)) < 600


BILLION = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in itertools.pairwise("abcdefghi")
)


@pytest.mark.parametrize(
    "text",
    [
        BILLION,
        "a: &a [*a]",
        "k: &k 5\nrepeats: *k",
        "<<: &a {k: 5}",
        "? [1]\n: 2",
        "k: 2020-13-45",
        "k: !!binary x",
        "\x00",
        "{" * 3000,
        "- " * 5000,
        "a: " * 3000,
        "k: !!float x",
        "k: !!int ''",
        "k: !!timestamp x",
        "9" * 6000,
        "k: " + "9" * 6000,
    ],
)
def test_no_text_takes_long_or_falls_over(text: str) -> None:
    with pytest.raises(RequestError):
        StudySettings.from_text(text)


@given(st.text(alphabet="{}[]:,&*!?|>-'\"%@#~<=. \nke0159inf_x\t", max_size=80))
def test_any_text_is_settings_or_a_sentence(text: str) -> None:
    with pytest.raises(RequestError):
        StudySettings.from_text(text)


_ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@given(
    st.dictionaries(
        st.sampled_from(["epsilon_from", "epsilon_to", "k", "delta", "repeats", "algorithms", "x"]), _ANY, min_size=1
    )
)
def test_any_values_are_settings_or_a_sentence(change: dict[str, object]) -> None:
    text = yaml.safe_dump({**yaml.safe_load(SETTINGS.to_text()), **change}, default_flow_style=None)
    try:
        found = StudySettings.from_text(text)
    except RequestError:
        return
    assert StudySettings.from_text(found.to_text()) == found


def test_an_algorithm_named_twice_counts_once() -> None:
    twice = yaml.safe_load(SETTINGS.to_text())
    twice["algorithms"] *= 2
    dumped = yaml.dump(twice, Dumper=_WithoutNames)
    assert StudySettings.from_text(dumped) == SETTINGS


class _WithoutNames(yaml.SafeDumper):
    def ignore_aliases(self, data: object) -> bool:
        return True


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
