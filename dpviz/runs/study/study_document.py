"""The forms of a study's files: its settings, and the manifest of its folder."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Discriminator, Field, Strict, Tag

from dpviz.core import check
from dpviz.runs.study.grid import MOST_VALUES, STUDY
from dpviz.words import documents

_Number = int | float
# YAML takes 1e-6 for a text: what a number is, and which are allowed, is checked where links are read, too.
_Scalar = int | float | str


def _make_list(said: object) -> object:
    return said if isinstance(said, list | tuple | dict) else [said]


_Several = Annotated[tuple[_Scalar, ...], Strict(False), BeforeValidator(_make_list), Field(max_length=MOST_VALUES)]


class EntryDocument(documents.Document):
    """An algorithm with the parameters that are not as usual."""

    shown: ClassVar = "eugkm or eugkm:preset=su"
    algorithm: str = documents.key(..., "the id of an algorithm, see `dpviz algorithms`", "its id", shown="eugkm")
    params: dict[str, _Scalar | bool | None] = documents.key(
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


class StudyDocument(documents.Document):
    """The settings of a study."""

    called: ClassVar = "study"
    shown: ClassVar = '{"dpviz": "trade-off study", "version": 2}'
    dpviz: Literal["trade-off study"] = documents.key(..., STUDY, "what the file is")
    version: Literal[2] = documents.key(..., "2", "of this form")
    algorithms: _Entries = documents.key(..., "a list of algorithms", "what runs", shown=["auto", "eugkm:preset=su"])
    epsilons: _Several = documents.key(..., "a list of numbers", "the budgets ε", shown=[0.1, 1])
    ks: _Several = documents.key(..., "a list of whole numbers", "the numbers of clusters", shown=[5])
    deltas: _Several = documents.key(
        ..., "a list of numbers", "the δ; an algorithm of pure privacy takes the first", shown=[0]
    )
    ns: _Several = documents.key(
        ("all",), "a list of whole numbers", "rows of subsamples; `all` is the whole table", shown=["all"]
    )
    repeats: _Scalar = documents.key(..., "a whole number", "draws of each point", shown=5)
    seed: _Scalar = documents.key(0, "a whole number", "another draw of the whole study", shown=0)


class FirstStudyDocument(documents.Document):
    """The settings as the first version wrote them: a range of ε, one k and one δ."""

    called: ClassVar = "study"
    shown: ClassVar = '{"dpviz": "trade-off study", "version": 1}'
    dpviz: Literal["trade-off study"] = documents.key(..., STUDY, "what the file is")
    version: Literal[1] = documents.key(..., "1", "of this form")
    algorithms: _Entries = documents.key(..., "a list of algorithms", "what runs", shown=["auto", "eugkm:preset=su"])
    epsilon_from: _Scalar = documents.key(..., "a number", "the smallest ε", shown=0.1)
    epsilon_to: _Scalar = documents.key(..., "a number", "the largest ε", shown=10)
    k: _Scalar = documents.key(..., "a number", "clusters", shown=5)
    delta: _Scalar = documents.key(..., "a number", "δ", shown=0)
    repeats: _Scalar = documents.key(..., "a whole number", "draws of each point", shown=5)


class StudyManifest(documents.Document):
    """What was asked of a study: by ``dpviz sweep``, or by a page, which writes its link down."""

    called: ClassVar = "manifest of a study"
    shown: ClassVar = '{"dpviz": "0.1.0", "seed": 0}'
    dpviz: str = documents.key("", "text", "the version of dpviz")
    study: str = documents.key("", "text", "the query of the page's link")
    libraries: dict[str, str] = documents.key(
        {}, "an object of texts", "versions that the numbers depend on", each="text"
    )
    python: str = documents.key("", "text", "the version of Python")
    what: str = documents.key("", "text", "that the results are measured on the rows")
    data: str = documents.key("", "text", "the name of the file or sample")
    columns: list[str] = documents.key([], "a list of names", "the clustered columns")
    lower: list[_Number] = documents.key([], "a list of numbers", "declared bounds")
    upper: list[_Number] = documents.key([], "a list of numbers", "declared bounds")
    radius: _Number | None = documents.key(None, "a number", "largest distance from the middle of the bounds")
    scaling: str = documents.key("", "text", "unit or common")
    relation: str = documents.key("", "text", "how neighbouring tables differ")
    unit: str = documents.key("", "text", "the unit of privacy")
    n_public: int | None = documents.key(None, "a whole number", "the number of rows, where it is public")
    delta: _Number | list[_Number] = documents.key(0.0, "a number or a list of them", "δ")
    seed: Annotated[int, Field(ge=0, le=check.MOST_SEED)] = documents.key(0, "a whole number", "of the whole study")
    algorithms: list[dict[str, Any]] = documents.key([], "a list of objects", "each with its id and its parameters")
    epsilons: list[_Number] = documents.key([], "a list of numbers", "the budgets ε")
    ks: list[int] = documents.key([], "a list of whole numbers", "the numbers of clusters")
    ns: list[int | None] | None = documents.key(None, "a list of whole numbers", "rows of subsamples")
    repeats: int = documents.key(0, "a whole number", "draws of each point")
