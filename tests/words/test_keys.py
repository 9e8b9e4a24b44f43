"""A key is told once, at the field that it is: the document reads by it, what is written follows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, NamedTuple

import pytest

from dpviz.core import RequestError
from dpviz.words import INLINE, Key, list_fields, list_values
from dpviz.words.documents import list_key_meanings, make_document, read_document


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
    keys = [(one.name, one.value) for one in list_key_meanings(make_document(_Told))]
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
