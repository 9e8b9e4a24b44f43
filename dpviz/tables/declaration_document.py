"""The declaration file: what the owner of a table says about it, key by key."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Strict, Tag, create_model

from dpviz.core import check
from dpviz.tables.declarations import OWNER_WORDS, Declaration
from dpviz.tables.loaded_table import IntakeError
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
_Ends = documents.Number | Annotated[tuple[documents.Number, ...], Strict(False)] | None
_Columns = Annotated[documents.Names, Field(max_length=check.MOST_COLUMNS)]


class ScaledForm(documents.Document):
    """Numbers on a linear, logarithmic or root scale."""

    shown: ClassVar = '{"bounds": [1, 1000000], "scale": "log"}'
    bounds: documents.Pair = documents.key(..., "a pair of numbers", "smallest and largest number", shown=[1, 1000000])
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


_FORMS: dict[str, type[documents.Document]] = {
    "bounds": ScaledForm,
    "categories": CategoriesForm,
    "order": OrderForm,
    "dates": DatesForm,
    "cycle": CycleForm,
}


def _choose_form(said: Any) -> str | None:
    """The one form whose key is there; a value that is no object should have been a pair."""
    if isinstance(said, documents.Document):
        return type(said).__name__
    if not isinstance(said, Mapping):
        return "pair"
    keys = [one for one in _FORMS if one in said]
    return _FORMS[keys[0]].__name__ if len(keys) == 1 else None


ColumnForm = Annotated[
    Annotated[documents.Pair, Tag("pair")]
    | Annotated[ScaledForm, Tag("ScaledForm")]
    | Annotated[CategoriesForm, Tag("CategoriesForm")]
    | Annotated[OrderForm, Tag("OrderForm")]
    | Annotated[DatesForm, Tag("DatesForm")]
    | Annotated[CycleForm, Tag("CycleForm")],
    Discriminator(_choose_form),
]


if TYPE_CHECKING:
    _Words = documents.Document
else:
    _names = {
        name: (_Columns, documents.key((), "a list of names", word.meaning, shown=["a", "b"]))
        if word.several
        else (str, documents.key("", "text", word.meaning))
        for name, word in OWNER_WORDS.items()
    }
    _Words = create_model("_Words", __base__=documents.Document, **_names)


class WordsDocument(_Words):
    """The owner's words for the card and the dossier of a release."""

    shown: ClassVar = '{"intended_use": "..."}'


def _refuse_long(words: WordsDocument) -> WordsDocument:
    """A release may say more than its declaration file may."""
    for name, said in words.list_given().items():
        if isinstance(said, str) and len(said) > documents.LONGEST_TEXT:
            raise IntakeError.of("words_long", name=name, most=documents.LONGEST_TEXT)
    return words


@documents.with_keys_of(Declaration)
class DeclarationDocument(documents.Document):
    """A declaration file; everything in it is public, and what is left out is not declared."""

    called: ClassVar = "declaration file"
    shown: ClassVar = '{"bounds": {"x": [0, 1]}}'
    bounds: dict[str, ColumnForm] = documents.key(
        {},
        "an object of pairs by column",
        "a pair, or one of the forms of columns that are more than numbers; null is still open",
        each="a pair of numbers",
        shown={"x": [0, 1]},
        max_length=check.MOST_COLUMNS,
    )
    columns: _Columns = documents.key((), "a list of names", "of `lower` and `upper`", shown=["x"])
    lower: _Ends = documents.key(None, "a number or a list of them", "another form of `bounds`", shown=0)
    upper: _Ends = documents.key(None, "a number or a list of them", "another form of `bounds`", shown=1)
    origins: dict[str, documents.Text] = documents.key(
        {}, "an object of texts by column", "where the bounds of one column come from", each="text"
    )
    public: bool = documents.key(False, "true or false", "whether anybody may see the rows")
    release: Annotated[WordsDocument, AfterValidator(_refuse_long)] = documents.key(
        WordsDocument(), "an object", "the owner's words on the card"
    )
