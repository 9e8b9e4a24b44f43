"""The settings of a study, as the page Trade-off writes them into a file and somebody may change them by hand."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Discriminator, Field, Strict, Tag

from dpviz.words import Document, key

STUDY = "trade-off study"
MOST_VALUES = 100
"""Entries of one list of a study."""

# YAML takes 1e-6 for a text: what a number is, and which are allowed, is checked where links are read, too.
_Scalar = int | float | str


def _make_list(said: object) -> object:
    return said if isinstance(said, list | tuple | dict) else [said]


_Several = Annotated[tuple[_Scalar, ...], Strict(False), BeforeValidator(_make_list), Field(max_length=MOST_VALUES)]


class EntryDocument(Document):
    """An algorithm with the parameters that are not as usual."""

    shown: ClassVar = "eugkm or eugkm:preset=su"
    algorithm: str = key(..., "the id of an algorithm, see `dpviz algorithms`", "its id", shown="eugkm")
    params: dict[str, _Scalar | bool | None] = key(
        {},
        "a mapping of names to numbers or words",
        "its parameters",
        each="a number or a word",
        shown={"preset": "su"},
    )


def _choose_entry(said: object) -> str:
    return "EntryDocument" if isinstance(said, dict | EntryDocument) else "text"


_Entry = Annotated[
    Annotated[str, Tag("text")] | Annotated[EntryDocument, Tag("EntryDocument")], Discriminator(_choose_entry)
]
_Entries = Annotated[tuple[_Entry, ...], Strict(False), Field(max_length=MOST_VALUES)]


class StudyDocument(Document):
    """The settings of a study."""

    called: ClassVar = "study"
    shown: ClassVar = '{"dpviz": "trade-off study", "version": 2}'
    dpviz: Literal["trade-off study"] = key(..., STUDY, "what the file is")
    version: Literal[2] = key(..., "2", "of this form")
    algorithms: _Entries = key(..., "a list of algorithms", "what runs", shown=["auto", "eugkm:preset=su"])
    epsilons: _Several = key(..., "a list of numbers", "the budgets ε", shown=[0.1, 1])
    ks: _Several = key(..., "a list of whole numbers", "the numbers of clusters", shown=[5])
    deltas: _Several = key(..., "a list of numbers", "the δ; an algorithm of pure privacy takes the first", shown=[0])
    ns: _Several = key(
        ("all",), "a list of whole numbers", "rows of subsamples; `all` is the whole table", shown=["all"]
    )
    repeats: _Scalar = key(..., "a whole number", "draws of each point", shown=5)
    seed: _Scalar = key(0, "a whole number", "another draw of the whole study", shown=0)


class FirstStudyDocument(Document):
    """The settings as the first version wrote them: a range of ε, one k and one δ."""

    called: ClassVar = "study"
    shown: ClassVar = '{"dpviz": "trade-off study", "version": 1}'
    dpviz: Literal["trade-off study"] = key(..., STUDY, "what the file is")
    version: Literal[1] = key(..., "1", "of this form")
    algorithms: _Entries = key(..., "a list of algorithms", "what runs", shown=["auto", "eugkm:preset=su"])
    epsilon_from: _Scalar = key(..., "a number", "the smallest ε", shown=0.1)
    epsilon_to: _Scalar = key(..., "a number", "the largest ε", shown=10)
    k: _Scalar = key(..., "a number", "clusters", shown=5)
    delta: _Scalar = key(..., "a number", "δ", shown=0)
    repeats: _Scalar = key(..., "a whole number", "draws of each point", shown=5)
