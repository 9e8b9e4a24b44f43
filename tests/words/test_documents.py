"""Documents as models: each key says what it holds, and a fault is one sentence that names it and quotes no value."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, NamedTuple

import pytest

from docs.generators.key_pages import DOCUMENTS, list_models
from dpviz.core.check import RequestError
from dpviz.words import INLINE, Key, list_fields, list_values
from dpviz.words.documents import Document, make_document, read_document
from tests.cases import about

_SECRET = "4711-secret"


class _Refused(RequestError):
    pass


def _refuse(model: type[Document], said: Any) -> str:
    with pytest.raises(_Refused) as refused:
        read_document(model, said, _Refused)
    return str(refused.value)


def test_every_key_says_what_it_holds_and_what_it_means() -> None:
    for document in DOCUMENTS.values():
        for model in list_models(document):
            with about(model.__name__):
                assert model.__doc__ and all(one.title and one.description for one in model.model_fields.values())


def test_a_value_that_is_none_is_refused_by_its_key_and_is_not_quoted() -> None:
    for document in DOCUMENTS.values():
        for name in document.list_keys():
            wrong = ({_SECRET: {_SECRET: [_SECRET]}}, [[_SECRET]], [{_SECRET: True}])
            messages = [_refuse_or_read(document, {name: one}) for one in wrong]
            with about(document.__name__, name, messages):
                assert any(f'"{name}"' in message for message in messages), "some of them are none of any key"
                for message in messages:
                    assert ". " not in message and _SECRET not in message.replace(f'"{_SECRET}"', "")


def _refuse_or_read(model: type[Document], said: Any) -> str:
    """The refusal; "" where there is none: some objects hold anything."""
    try:
        read_document(model, said, _Refused)
    except _Refused as refused:
        return str(refused)
    return ""


def test_all_unknown_keys_of_an_object_are_named_with_those_that_are_allowed() -> None:
    for document in DOCUMENTS.values():
        message = _refuse(document, {"one wrong": 1, "another": 2})
        assert '"one wrong", "another"' in message
        assert all(json.dumps(name) in message for name in document.list_keys())


def test_what_is_no_object_is_told_how_one_is_written() -> None:
    for document in DOCUMENTS.values():
        for wrong in ([], "text", 3, None):
            with about(document.__name__, wrong):
                message = _refuse(document, wrong)
                assert document.called in message and document.shown in message
                assert {*json.loads(document.shown)} <= {*document.list_keys()}


# A key is told once, at the field that it is: the document reads by it, what is written follows it.


class _Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class _Mark(NamedTuple):
    point: Annotated[str, "what stands between"] = "."


_POINT = _Mark()


@dataclass(frozen=True)
class _Told:
    """A form that nobody uses."""

    title: Annotated[str, "for people"]
    colour: Annotated[_Colour, "of the whole"] = _Colour.RED
    number: Annotated[int | None, Key("how many", "a number of things", name="many", shown=3, null=True)] = None
    mark: Annotated[_Mark, INLINE] = _POINT
    pair: Annotated[tuple[float, float] | None, "from here to there"] = None
    names: Annotated[tuple[str, ...], Key("who", most=2)] = ()
    marks: Annotated[Mapping[str, _Mark], Key("of some", shown={"x": {"point": ","}})] = field(default_factory=dict)
    weights: Annotated[Mapping[str, float], "how much"] = field(default_factory=dict)
    hidden: int = 0


def test_the_document_has_the_keys_of_the_fields_in_their_order_with_words_for_their_types() -> None:
    keys = [(one.alias or name, one.title) for name, one in make_document(_Told).model_fields.items()]
    assert keys == [
        *(("title", "text"), ("colour", "a kind"), ("many", "a number of things"), ("point", "text")),
        *(("pair", "a pair of numbers"), ("names", "a list of names"), ("marks", "an object by column")),
        ("weights", "an object of numbers by column"),
    ]
    assert [one.name for one in list_fields(_Told) if one.key is None] == ["hidden"] and not list_fields(str)


def test_what_is_written_is_what_is_not_as_usual_and_is_read_as_the_same() -> None:
    told = _Told("t", _Colour.BLUE, 3, _Mark(","), (0.0, 1.5), ("a",), {"x": _Mark(";")}, {"x": 0.5}, hidden=7)
    written = list_values(told)
    assert written == {
        **{"title": "t", "colour": "blue", "many": 3, "point": ",", "pair": [0.0, 1.5], "names": ["a"]},
        **{"marks": {"x": {"point": ";"}}, "weights": {"x": 0.5}},
    }
    assert list_values(_Told("t")) == {"title": "t"}
    assert list(list_values(told, {"hidden": {"seen": 1}, "title": {}})) == [*written, "seen"][1:]
    given = read_document(make_document(_Told), written, RequestError).list_given()
    assert (given["number"], given["pair"], given["point"]) == (3, (0.0, 1.5), ",")


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({}, 'has no "title"'),
        ({"colour": "green"}, '"colour" is none of "red" or "blue"'),
        ({"many": "x"}, '"many" is not a number of things; write 3, or leave it out'),
        ({"pair": [1]}, '"pair" is not a pair of numbers'),
        ({"names": ["a", "b", "c"]}, '"names" has more than 2 entries'),
        ({"marks": {"y": 1}}, '"marks" of "y" is not an object; write {"x": {"point": ","}}'),
        ({"marks": {"y": {"dot": 1}}}, 'has unknown keys "dot"; allowed are "point"'),
        ({"weights": {"y": "1"}}, '"weights" of "y" is not a number'),
        ({"hidden": 1}, 'unknown keys "hidden"'),
    ],
)
def test_a_fault_is_told_by_the_words_of_the_field(said: dict[str, object], why: str) -> None:
    with pytest.raises(RequestError) as refused:
        read_document(
            make_document(_Told), said if not said or "title" in said else {"title": "t", **said}, RequestError
        )
    assert why in str(refused.value)
