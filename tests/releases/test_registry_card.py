"""The registry's entry: valid by its schema where that lies beside the checkout, and by our own check without it."""

from __future__ import annotations

import doctest
from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from dpviz.releases import release_texts
from dpviz.releases.promise import AccessCounts
from dpviz.releases.release_texts import RegistryField, format_card, list_card_errors, make_registry_card, read_schema
from dpviz.tables.declarations import NOT_STATED, Described
from tests.cases import about
from tests.releases.made_played import people, played, reported, segment

_SCHEMA = Path(__file__).resolve().parents[2].parent / "shared" / "registry" / "deployments-schema.yaml"
_UNKNOWN = np.full((2, 2), np.nan)
_HOSTILE = "<b>`x`</b> $y$ _z_ [a](http://b.invalid)\nnew: line"


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    """The registry's own schema."""
    if not _SCHEMA.exists():
        pytest.skip(f"the registry's schema is not at {_SCHEMA}")
    read: dict[str, Any] = yaml.safe_load(_SCHEMA.read_text("utf-8"))
    return read


def _is_valid(schema: dict[str, Any], card: Any) -> bool:
    return Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER).is_valid(card)


_KINDS = {
    "approximate": played,
    "pure": lambda: played(request={"delta": 0.0}),
    "replace": lambda: played(declared={"id_column": "who", "rows_per_person": 3}, run={"relation": "replace"}),
    "bare": lambda: played(run={"n": None}, seen=AccessCounts(), profile={"sizes": None, "center_sd": _UNKNOWN}),
    "bought n": lambda: played(run={"n": 11_987.4, "n_origin": "bought"}, said={"chosen_after_looking": ""}),
    "segments": lambda: played(report=reported(segment(1), segment(2))),
    "hostile": lambda: played(
        declared={"title": _HOSTILE, "units": {"age": "k$"}, "describe": {_HOSTILE: Described(categories=(_HOSTILE,))}}
    ),
}


def list_unfilled(card: Mapping[str, Any], *, tier: int = 3) -> tuple[str, ...]:
    """The fields up to ``tier`` that a valid card leaves out or blank, by their paths; the registry only asks for
    them."""
    return tuple(_list_unfilled(read_schema(), card, "", tier))


def _list_unfilled(group: RegistryField, value: Mapping[str, Any], path: str, tier: int) -> Iterator[str]:
    for name, known in group.fields.items():
        place, inner = f"{path}.{name}".lstrip("."), value.get(name)
        if 1 <= known.tier <= tier and not (inner.strip() if isinstance(inner, str) else inner):
            yield place
        elif known.kind == "group":
            yield from _list_unfilled(known, inner or {}, place, tier)


@pytest.mark.parametrize("kind", _KINDS)
def test_a_card_is_valid_and_every_field_of_its_tier_is_filled(kind: str) -> None:
    card = make_registry_card(_KINDS[kind]())
    assert list_card_errors(card) == ()
    assert list_unfilled(card) == ()
    assert (card["tier"], card["status"]) == (3, "Draft")
    for place, text in _texts(card["deployment"]):
        with about(place, text):
            assert text == text.strip() and "  " not in text and ".." not in text and " ." not in text


@pytest.mark.parametrize("kind", _KINDS)
def test_the_registrys_schema_takes_it_and_so_does_its_file(schema: dict[str, Any], kind: str) -> None:
    made = _KINDS[kind]()
    card = make_registry_card(made)
    Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER).validate(card)
    read = yaml.safe_load(format_card(made))
    assert read == card and [*_texts(read)] == [*_texts(card)], "in the registry's order"


def test_a_real_run_makes_a_valid_card(schema: dict[str, Any]) -> None:
    made = people()
    card = make_registry_card(made)
    assert _is_valid(schema, card)
    assert (list_card_errors(card), list_unfilled(card)) == ((), ())
    said = card["deployment"]["implementation"]["mechanisms"]
    assert "Gaussian noise on sums of differences from the centres (round 1 … round 12; twelve charges" in said
    assert f"drawn by {made.asked.noise} on whole numbers" in said


def _texts(value: Any, place: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _texts(inner, f"{place}.{name}")
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, place)
    elif isinstance(value, str):
        yield place, value


def test_names_from_outside_stay_text_and_what_the_owner_says_is_verbatim() -> None:
    verbatim = "We saw *five* groups; <k> = 5, $1"
    deployed = make_registry_card(played(_KINDS["hostile"](), said={"chosen_after_looking": verbatim}))["deployment"]
    assert verbatim in deployed["implementation"]["preprocessing_and_hyperparameter_tuning"]
    escaped = r"\<b\>\`x\`\</b\> \$y\$ \_z\_ \[a\](http://b.invalid) new: line"
    variant = deployed["dp_variant"]
    assert f"those of “{escaped}”" in variant["data_domain"]
    assert f"{escaped}: {escaped} (declared)" in variant["data_domain"]
    assert r"k\$" in variant["data_domain"] and " $" not in variant["data_domain"]
    assert f"age, income, {escaped}: names and bounds" in variant["unprotected_quantities"]


@given(st.text())
@example("\u2028\u0085\ufeff\x7f\x9f\uffff\U0001f600 {{ p }} {% if %}")
@example("- a: [b]\n'c' \"d\" \\N #")
def test_whatever_the_owner_says_comes_through(said: str) -> None:
    made = played(said={"description": said, "authors": (said, "A"), "justification": said})
    deployed = make_registry_card(made)["deployment"]
    assert (deployed["basic"]["description"], deployed["implementation"]["justification"]) == (said, said)
    assert deployed["administrative"]["registry_authors"] == [said, "A"]


def _paths(group: RegistryField, at: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, kind in group.fields.items():
        yield (*at, name)
        if kind.kind == "group":
            yield from _paths(kind, (*at, name))


_PLACES = list(_paths(read_schema()))
_VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-1, 4),
    st.floats(allow_nan=False),
    st.sampled_from([1.0, 2.5, 3.0, "Draft", "Central", "Dataset", "Pure DP", "Static", "2026-02-30", "20260201", ""]),
    st.text(max_size=5),
    st.lists(st.one_of(st.text(max_size=3), st.integers()), max_size=2),
    st.dictionaries(st.sampled_from(["epsilon", "name", "x"]), st.integers(), max_size=2),
)


@given(place=st.sampled_from(_PLACES), value=_VALUES)
def test_our_check_agrees_with_the_schema_on_any_other_value(
    schema: dict[str, Any], place: tuple[str, ...], value: Any
) -> None:
    card = _with(place, value)
    assert (list_card_errors(card) == ()) == _is_valid(schema, card), list_card_errors(card)


def test_our_check_agrees_with_the_schema_on_what_is_left_out_or_unknown(schema: dict[str, Any]) -> None:
    for place in _PLACES:
        for card in (_without(place), _with((*place[:-1], f"{place[-1]}_"), "a")):
            with about(*place):
                assert (list_card_errors(card) == ()) == _is_valid(schema, card), list_card_errors(card)
    for card in (None, [], "text", 3, {}):
        with about(card):
            assert list_card_errors(card) and not _is_valid(schema, card)


def _good() -> dict[str, Any]:
    return deepcopy(make_registry_card(played()))


def _inside(card: Any, place: tuple[str, ...]) -> dict[str, Any]:
    for name in place[:-1]:
        card = card.setdefault(name, {})
    return card


def _with(place: tuple[str, ...], value: Any) -> dict[str, Any]:
    card = _good()
    _inside(card, place)[place[-1]] = value
    return card


def _without(place: tuple[str, ...]) -> dict[str, Any]:
    card = _good()
    _inside(card, place).pop(place[-1], None)
    return card


def test_an_error_names_the_field_and_says_what_to_do() -> None:
    assert list_card_errors(_without(("deployment", "basic", "name"))) == (
        "deployment.basic.name is missing: the registry requires it.",
    )
    assert list_card_errors(_with(("status",), "done"))[0].startswith(
        "status is 'done': choose one of Converted, Draft, "
    )
    assert list_card_errors(_with(("tier",), True)) == ("tier is True: write a number.",)
    assert list_card_errors(_with(("deployment", "basic", "data_curators"), [])) == (
        "deployment.basic.data_curators is []: list at least one text.",
    )
    assert list_card_errors(_with(("deployment", "basic", "publication_date"), "July")) == (
        "deployment.basic.publication_date is no day: write it as YYYY-MM-DD.",
    )
    assert list_card_errors(_with(("extra",), 1)) == ("extra is no field of the registry: take it out.",)


def test_what_is_blank_is_not_filled() -> None:
    assert list_unfilled(_with(("deployment", "implementation", "justification"), " ")) == (
        "deployment.implementation.justification",
    )
    assert "deployment.privacy_loss.privacy_parameters" in list_unfilled(_without(("deployment", "privacy_loss")))
    assert list_unfilled(_without(("deployment", "privacy_loss")), tier=1) == ()


def test_the_tiers_and_choices_are_those_of_the_schema(schema: dict[str, Any]) -> None:
    def compare(ours: RegistryField, theirs: dict[str, Any], place: str) -> None:
        assert set(ours.fields) == set(theirs["properties"]), place
        assert set(ours.required) == set(theirs.get("required", ())), place
        for name, kind in ours.fields.items():
            one = theirs["properties"][name]
            with about(place, name):
                assert kind.tier == one.get("tier", 0)
                assert list(kind.allowed) == one.get("enum", [])
            if kind.kind == "group":
                compare(kind, one, f"{place}.{name}")

    # The registry's own tier is a field of an entry, and no tier of that field.
    compare(read_schema(), schema, "")


@pytest.mark.parametrize("module", [release_texts])
def test_doctests(module: Any) -> None:
    assert doctest.testmod(module).failed == 0


def test_a_card_whose_owner_left_something_unsaid_is_of_a_lower_tier() -> None:
    assert make_registry_card(played())["tier"] == 3
    for unsaid in ({"intended_use": NOT_STATED}, {"curators": (NOT_STATED,)}, {"justification": NOT_STATED}):
        assert make_registry_card(played(said=unsaid))["tier"] == 2
