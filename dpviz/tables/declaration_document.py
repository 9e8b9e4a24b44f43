"""The declaration file: what the owner of a table says about it, key by key."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Strict, Tag

from dpviz.core import RequestError, check
from dpviz.words import documents


def _list_texts(said: Any) -> Any:
    """Texts of a list, an array or a column of a data frame; whole numbers are taken for texts."""
    values = said.tolist() if hasattr(said, "tolist") else said
    if not isinstance(values, list | tuple):
        return values
    return [str(one).strip() if isinstance(one, str | int) else one for one in values]


def _read_day(said: Any) -> Any:
    day = date.fromisoformat(said) if isinstance(said, str) else said
    return day.date() if isinstance(day, datetime) else day


_Values = Annotated[tuple[str, ...], Strict(False), BeforeValidator(_list_texts), Field(min_length=1)]
_Day = Annotated[date, BeforeValidator(_read_day)]
_Columns = Annotated[documents.Names, Field(max_length=check.MOST_COLUMNS)]


class ScaledForm(documents.Document):
    """Numbers on a linear, logarithmic or root scale."""

    shown: ClassVar = '{"bounds": [1, 1000000], "scale": "log"}'
    bounds: documents.Pair = documents.key(
        ..., "a pair of numbers", "smallest and largest number", shown=[1, 1_000_000]
    )
    scale: Literal["linear", "log", "root"] = documents.key("linear", "a scale", "on which distances are even")


class CategoriesForm(documents.Document):
    """Categories without an order."""

    shown: ClassVar = '{"categories": ["N", "S"]}'
    categories: _Values = documents.key(..., "a list of texts", "its values; any other shares one", shown=["N", "S"])
    closed: bool = documents.key(False, "true or false", "whether the two are all there is")


class OrderForm(documents.Document):
    """Values in an order, as ranks."""

    shown: ClassVar = '{"order": ["I", "II"]}'
    order: _Values = documents.key(..., "a list of texts", "its values, the lowest first", shown=["I", "II"])


class DatesForm(documents.Document):
    """Days from the first to the last."""

    shown: ClassVar = '{"dates": ["2015-01-01", "2024-12-31"]}'
    dates: Annotated[tuple[_Day, _Day], Strict(False)] = documents.key(
        ..., "the first and the last day", "the first and the last day", shown=["2015-01-01", "2024-12-31"]
    )
    written: Literal["ymd", "dmy", "mdy"] = documents.key(
        "ymd", "an order", "the order of day, month and year in a cell"
    )


class CycleForm(documents.Document):
    """Numbers that come round again, as hours do."""

    shown: ClassVar = '{"cycle": 24}'
    cycle: Annotated[documents.Number, Field(ge=1e-6, le=1e9)] = documents.key(
        ..., "a number above 0", "after how many it comes round again", shown=24
    )


class DescribedCategories(documents.Document):
    """Categories that a segment is described by."""

    shown: ClassVar = '{"region": {"categories": ["North", "South"]}}'
    categories: Annotated[documents.Names, Field(min_length=1)] = documents.key(
        ..., "a list of texts", "its values", shown=["N", "S"]
    )


class DescribedBounds(documents.Document):
    """Numbers that a segment is described by."""

    shown: ClassVar = '{"height": {"bounds": [0, 2.5]}}'
    bounds: Annotated[tuple[documents.Number, documents.Number], Strict(False)] = documents.key(
        ..., "a pair of numbers", "smallest and largest number", shown=[0, 2.5]
    )


_FORMS: dict[str, type[documents.Document]] = {
    "bounds": ScaledForm,
    "categories": CategoriesForm,
    "order": OrderForm,
    "dates": DatesForm,
    "cycle": CycleForm,
}
_DESCRIBED: dict[str, type[documents.Document]] = {"categories": DescribedCategories, "bounds": DescribedBounds}


def _choose_form(said: Any) -> str | None:
    """The one form whose key is there; a value that is no object should have been a pair."""
    if isinstance(said, documents.Document):
        return type(said).__name__
    if not isinstance(said, Mapping):
        return "pair"
    keys = [one for one in _FORMS if one in said]
    return _FORMS[keys[0]].__name__ if len(keys) == 1 else None


def _choose_described(said: Any) -> str | None:
    keys = [one for one in _DESCRIBED if isinstance(said, Mapping) and one in said]
    return _DESCRIBED[keys[0]].__name__ if len(keys) == 1 else None


ColumnForm = Annotated[
    Annotated[documents.Pair, Tag("pair")]
    | Annotated[ScaledForm, Tag("ScaledForm")]
    | Annotated[CategoriesForm, Tag("CategoriesForm")]
    | Annotated[OrderForm, Tag("OrderForm")]
    | Annotated[DatesForm, Tag("DatesForm")]
    | Annotated[CycleForm, Tag("CycleForm")],
    Discriminator(_choose_form),
]
_DescribedForm = Annotated[
    Annotated[DescribedCategories, Tag("DescribedCategories")] | Annotated[DescribedBounds, Tag("DescribedBounds")],
    Discriminator(_choose_described),
]


class StyleDocument(documents.Document):
    """How the numbers of a column are written."""

    shown: ClassVar = '{"decimal": ",", "grouping": "."}'
    decimal: documents.Text = documents.key(".", "text", "the decimal mark")
    grouping: documents.Text = documents.key("", "text", "what stands between groups of digits")
    sign: documents.Text = documents.key("", "text", "what is stripped from a number, such as %")
    negative: documents.Text = documents.key("", "text", "how negative numbers are written besides a minus in front")


class FormatDocument(StyleDocument):
    """How a CSV file is read."""

    shown: ClassVar = '{"delimiter": ";", "decimal": ","}'
    encoding: documents.Text = documents.key("utf-8", "text", "of its bytes")
    delimiter: documents.Text = documents.key("", "text", "what sets columns apart")
    header: bool | None = documents.key(None, "true or false", "whether the first line holds names")
    names: _Columns = documents.key((), "a list of names", "of its columns, in place of the header", shown=["a", "b"])
    several_lines: bool = documents.key(False, "true or false", "whether a quoted cell may go on over lines")
    skip: int = documents.key(0, "a number of lines", "above the header", shown=2)
    units_line: bool = documents.key(False, "true or false", "whether a line of units stands below the header")
    columns: dict[str, StyleDocument] = documents.key(
        {}, "an object of number styles by column", "columns that write numbers in another way"
    )


class WordsDocument(documents.Document):
    """The owner's words for the card and the dossier of a release."""

    shown: ClassVar = '{"intended_use": "..."}'
    name: str = documents.key("", "text", "of the release")
    description: str = documents.key("", "text", "what was released")
    intended_use: str = documents.key("", "text", "what it is meant for")
    curators: _Columns = documents.key((), "a list of names", "who holds the rows", shown=["a", "b"])
    region: str = documents.key("", "text", "where the people live")
    publication_date: str = documents.key("", "text", "the day")
    sector: str = documents.key("", "text", "of the registry")
    justification: str = documents.key("", "text", "why these bounds, this ε and this k")
    authors: _Columns = documents.key((), "a list of names", "of the card", shown=["a", "b"])
    chosen_after_looking: str = documents.key("", "text", "what was chosen because rows were seen")
    several_rows: str = documents.key("", "text", "whether a person may have several rows")
    agreed_by: str = documents.key("", "text", "who agreed to this ε")
    other_releases: str = documents.key("", "text", "what else is published of these people")
    decision: str = documents.key("", "text", "what is decided with it")
    bounds_known_by: str = documents.key("", "text", "how the bounds are known")
    raw_access: str = documents.key("", "text", "who may see the rows")
    storage: str = documents.key("", "text", "how the rows are kept, and until when")
    columns_needed: str = documents.key("", "text", "why each column is needed")
    repeats: str = documents.key("", "text", "whether it will be released again")


def _refuse_long(words: WordsDocument) -> WordsDocument:
    """A release may say more than its declaration file may."""
    for name, said in words.list_given().items():
        if isinstance(said, str) and len(said) > documents.LONGEST_TEXT:
            raise RequestError(
                f'"{name}" is longer than {documents.LONGEST_TEXT:,} characters, the most allowed; shorten it.'
            )
    return words


class DeclarationDocument(documents.Document):
    """A declaration file; everything in it is public, and what is left out is not declared."""

    called: ClassVar = "declaration file"
    shown: ClassVar = '{"bounds": {"x": [0, 1]}}'
    title: documents.Text = documents.key("", "text", "for people")
    description: documents.Text = documents.key("", "text", "for people")
    file: FormatDocument = documents.key(FormatDocument(), "an object", "how a CSV file is read")
    numbers: _Columns = documents.key(
        (), "a list of names", "columns that hold numbers, clustered or not; left out: all but id and label"
    )
    bounds: dict[str, ColumnForm] = documents.key(
        {},
        "an object of pairs by column",
        "a pair, or one of the forms of columns that are more than numbers; null is still open",
        each="a pair of numbers",
        shown={"x": [0, 1]},
        max_length=check.MOST_COLUMNS,
    )
    columns: _Columns = documents.key((), "a list of names", "of `lower` and `upper`", shown=["x"])
    lower: documents.Number | Annotated[tuple[documents.Number, ...], Strict(False)] | None = documents.key(
        None, "a number or a list of them", "another form of `bounds`", shown=0
    )
    upper: documents.Number | Annotated[tuple[documents.Number, ...], Strict(False)] | None = documents.key(
        None, "a number or a list of them", "another form of `bounds`", shown=1
    )
    bounds_origin: documents.Text = documents.key("", "text", "where all bounds come from")
    origins: dict[str, documents.Text] = documents.key(
        {}, "an object of texts by column", "where the bounds of one column come from", each="text"
    )
    weights: dict[str, documents.Number] = documents.key(
        {},
        "an object of numbers by column",
        "how much a column counts",
        each="a number from 0.1 to 4",
        shown={"region": 0.7},
    )
    units: dict[str, documents.Text] = documents.key(
        {},
        "an object of units by column",
        '"years", "k$": for eyes only',
        each="text",
        shown={"income": "k$"},
        max_length=check.MOST_COLUMNS,
    )
    describe: dict[str, _DescribedForm] = documents.key(
        {}, "an object by column", "columns that segments are described by and that are not clustered"
    )
    scaling: documents.Text = documents.key(
        "unit", "text", 'each column to [-1, 1] ("unit"), or one scale for all ("common")'
    )
    radius: documents.Number | None = documents.key(
        None, "a number", "largest distance from the middle of the bounds", shown=2.5
    )
    unit_of_privacy: documents.Text | None = documents.key(None, "text", "what is protected, in words")
    relation: documents.Text | None = documents.key(
        None, "text", 'how neighbouring tables differ: "add_remove" or "replace"'
    )
    n_public: documents.Whole | None = documents.key(
        None, "a whole number", "the number of rows, where it may be known", shown=1_000
    )
    n_range: Annotated[tuple[documents.Whole, documents.Whole], Strict(False)] | None = documents.key(
        None, "a pair of whole numbers", "where only a range may be known", shown=[8000, 12000]
    )
    public: bool = documents.key(False, "true or false", "whether anybody may see the rows")
    kind: Literal["public", "simulated", "private"] = documents.key(
        "private", "a kind", '"simulated": made from declared numbers alone'
    )
    label: documents.Text | None = documents.key(None, "text", "a known grouping, to judge results by")
    id_column: documents.Text | None = documents.key(None, "text", "whose row each is")
    rows_per_person: documents.Whole | None = documents.key(
        None, "a whole number", "how many rows of a person are used", shown=3
    )
    proposed: bool = documents.key(False, "true or false", "set by `declare`: a look at rows proposed this")
    source: documents.Text = documents.key("", "text", "of the file")
    licence: documents.Text = documents.key("", "text", "of the file")
    release: Annotated[WordsDocument, AfterValidator(_refuse_long)] = documents.key(
        WordsDocument(), "an object", "the owner's words on the card"
    )
