"""Documents as models: what is wrong with one is said in one sentence that names the key and what to write there.

Pydantic and msgspec were both tried on the declaration file. Pydantic tells every fault with its place as data, knows
unions by a key and names all unknown keys, where msgspec has one text that hides the names of columns; it costs 95 ms
of import in place of 25, so that models are imported when the first document is read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import MISSING
from enum import Enum
from functools import cache
from math import inf
from types import UnionType
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, Strict, ValidationError, create_model
from pydantic.fields import FieldInfo

from dpviz.core import RequestError, check
from dpviz.words.foreign import list_names, quote_name
from dpviz.words.keys import INLINE, describe_type, list_fields

LONGEST_TEXT = 2_000


class Document(BaseModel):
    """A document, or an object in one: it is read strictly, unknown keys are refused, and no fault quotes a value."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, hide_input_in_errors=True)
    called: ClassVar[str] = "text"
    shown: ClassVar[str] = ""

    @classmethod
    def list_keys(cls) -> tuple[str, ...]:
        """Its keys, in the order in which it is written."""
        return tuple(field.alias or name for name, field in cls.model_fields.items())

    def list_given(self) -> dict[str, Any]:
        """What was given, by the names of the fields."""
        return {name: getattr(self, name) for name in type(self).model_fields if name in self.model_fields_set}


def key(default: Any, value: str, meaning: str, *, each: str = "", shown: Any = None, **more: Any) -> Any:
    """A field of a document."""
    examples = None if shown is None else [shown]
    extra: dict[str, Any] | None = {"each": each} if each else None
    return Field(default, title=value, description=meaning, examples=examples, json_schema_extra=extra, **more)


def _shorten_number(value: Any) -> Any:
    """A whole number that no float holds is read as infinite, which every bound refuses."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 10**300:
        return inf if value > 0 else -inf
    return value


Text = Annotated[str, Field(max_length=LONGEST_TEXT)]
Whole = Annotated[int, Field(ge=-(10**15), le=10**15)]
Number = Annotated[float, BeforeValidator(_shorten_number)]
Names = Annotated[tuple[str, ...], Strict(False)]
"""A list of texts."""
Pair = Annotated[tuple[Number | None, Number | None], Strict(False)]
"""Two numbers, each of which may still be open."""

_Model = TypeVar("_Model", bound=Document)


def with_keys_of(told: type, names: Collection[str] | None = None) -> Callable[[type[_Model]], type[_Model]]:
    """Adds to a document what the fields of a type say of themselves as keys, or those ``names`` of them.

    What was given is known by the names of the fields: see ``Document.list_given``.
    """

    def add(document: type[_Model]) -> type[_Model]:
        listed = _list_made_fields(told)
        made: dict[str, Any] = {name: field for name, field in listed if names is None or name in names}
        return create_model(document.__name__, __base__=document, __doc__=document.__doc__, **made)

    return add


@cache
def make_document(told: type) -> type[Document]:
    """The document of a type all of whose keys are fields."""
    fields = dict[str, Any](_list_made_fields(told))
    return create_model(told.__name__, __base__=Document, __doc__=told.__doc__, **fields)


def _list_made_fields(told: type) -> Iterator[tuple[str, tuple[Any, Any]]]:
    for name, kind, said, usual in list_fields(told):
        if said is INLINE:
            yield from _list_made_fields(kind)
        if said is None or said is INLINE:
            continue
        several = get_origin(kind) is Mapping and not list_fields(get_args(kind)[1])
        field = key(
            ... if usual is MISSING else usual,
            said.value or describe_type(kind),
            said.meaning,
            each=said.each or (describe_type(get_args(kind)[1]) if several else ""),
            shown=said.shown,
            alias=said.name or None,
            max_length=said.most,
        )
        yield name, (_make_type(kind) | None if said.null else _make_type(kind), field)


def _make_type(kind: Any) -> Any:
    """The type of a key: numbers and texts within reason, lists as JSON has them, a document of what tells of one."""
    if kind in _PLAIN_TYPES:
        return _PLAIN_TYPES[kind]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return Literal[tuple(one.value for one in kind)]
    if get_origin(kind) in (None, Literal):
        return make_document(kind) if kind is not ... and list_fields(kind) else kind
    # Type checkers do not follow types that are put together when the program runs.
    parts, form = tuple(map(_make_type, get_args(kind))), _FORMS[get_origin(kind)]
    return _FORMS[Annotated][form[parts], Strict(False)] if form is tuple else form[parts]


_FORMS: dict[Any, Any] = {tuple: tuple, Mapping: dict, UnionType: Union, Union: Union, Annotated: Annotated}
_PLAIN_TYPES: dict[Any, Any] = {str: Text, int: Whole, float: Number}


def read_document(
    model: type[_Model], said: Any, refuse: type[RequestError], *, whole: bool = False, at: str = ""
) -> _Model:
    """The document of plain values."""
    try:
        read = model.model_validate(said)
        faults: list[Any] = list(_list_missing(read)) if whole else []
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
    if faults:
        raise refuse(_describe_fault(model, faults, said, at)) from None
    return read


def _list_missing(document: Document, loc: tuple[int | str, ...] = ()) -> Iterator[dict[str, Any]]:
    """What was left out of a document and of the objects in it, as Pydantic tells of it."""
    for name in type(document).model_fields:
        value = getattr(document, name)
        if name not in document.model_fields_set:
            yield {"type": "missing", "loc": (*loc, name)}
        elif isinstance(value, Document):
            yield from _list_missing(value, (*loc, name))


class _FaultPlace(NamedTuple):
    """Where a fault is: the object, the key in it that is wrong, and whose it is where objects stand by name."""

    model: type[Document]
    name: str
    field: FieldInfo | None
    of: str

    @property
    def words(self) -> str:
        """What it is called at the beginning of a sentence."""
        if not self.name:
            return f"The {self.model.called}"
        return quote_name(self.name) + (f" of {quote_name(self.of)}" if self.of else "")


def _describe_fault(model: type[Document], faults: list[Any], said: Any, at: str) -> str:
    """The unknown keys of one object, else the first value that is wrong, else a key that is missing; a sentence."""
    unknown = [one["loc"] for one in faults if one["type"] in ("extra_forbidden", "invalid_key")]
    first = next((one for one in faults if one["type"] != "missing"), faults[0])
    told = first.get("ctx", {}).get("error")
    loc = first["loc"]
    if unknown:
        loc = unknown[0][:-1]
        keys = list_names([str(one[-1]) for one in unknown if one[:-1] == loc])
        owner = _find_model(model, loc)
        problem = f"has unknown keys {keys}; allowed are {list_names(owner.list_keys(), most=99)}; mend it"
    elif first["type"] == "missing" and isinstance(loc[-1], str):
        loc, lacking = loc[:-1], loc[-1]
        problem = f"has no {quote_name(lacking)}; add it"
    elif isinstance(told, RequestError):
        if not at:
            return str(told)
        problem = str(told).rstrip(".")
    else:
        place, owner = _follow(model, loc)[0], _find_model(model, loc)
        if place.field is None or first["type"] in ("model_type", "model_attributes_type"):
            here = f"is {_describe_kind(_find_value(said, loc))}, not a group of fields" if at else "is not an object"
            problem = f"{here}; write {owner.shown or _format_example(place.field)}"
        else:
            is_entry = bool(place.of) or (isinstance(loc[-1], int) and first["type"] != "missing")
            problem = _describe_value(first, place.field, said, at, each=is_entry)
    if not at:
        return f"{_follow(model, loc)[0].words} {problem}."
    return f"{', '.join([at, *_list_steps(said, loc)])}: {'' if told else 'it '}{problem}."


def _describe_value(fault: Any, field: FieldInfo, said: Any, at: str, *, each: bool) -> str:
    """What is wrong with the value of a field, or with one of its entries, and what to write."""
    match fault["type"]:
        case "string_too_long":
            most = fault["ctx"]["max_length"]
            return f"is longer than {most:,} characters, the most allowed; shorten it"
        case "string_too_short":
            return "is empty; write a text"
        # Where it may hold any number of entries up to a most; a pair holds two.
        case "too_long" if not each and any(getattr(one, "max_length", None) is not None for one in field.metadata):
            most = fault["ctx"]["max_length"]
            return f"has more than {most:,} entries, the most allowed; keep fewer"
        case "literal_error" | "enum":
            return f"is none of {fault['ctx']['expected'].replace(chr(39), chr(34))}; write one of them"
        case "union_tag_not_found":
            forms = [_format_example(field), *(one.shown for one in _list_models(field.annotation))]
            return f"is in no form that is known; write {', '.join(filter(None, forms))}"
    value = f"{_describe_each(field) if each else field.title}{_describe_range(field.annotation, field.metadata)}"
    example = _format_example(field)
    remedy = f"write {example}" if example else _REMEDIES.get(value, "change it")
    here = f"is {_describe_kind(_find_value(said, fault['loc']))}, " if at else "is "
    return f"{here}not {value}; {remedy}{'' if field.is_required() else ', or leave it out'}"


def _walk(said: Any, loc: tuple[int | str, ...]) -> Iterator[tuple[int | str, Any]]:
    """The way to a place with what stands on it; steps that only name a form are passed over."""
    for step in loc:
        named = isinstance(said, Mapping) and step in said
        counted = isinstance(said, list | tuple) and isinstance(step, int) and step < len(said)
        if named or counted:
            said = said[step]
            yield step, said


def _find_value(said: Any, loc: tuple[int | str, ...]) -> Any:
    """What stands at a place."""
    return [said, *(value for _, value in _walk(said, loc))][-1]


def _list_steps(said: Any, loc: tuple[int | str, ...]) -> list[str]:
    """The way to a value in words: the third of ``scenes`` is scene 3."""
    steps: list[str] = []
    for step, _ in _walk(said, loc):
        if isinstance(step, int) and steps:
            steps[-1] = f"{steps[-1].removesuffix('s')} {step + 1}"
        else:
            steps.append(str(step))
    return steps


def _describe_kind(value: Any) -> str:
    """A short value as it is, and of others what they are."""
    match value:
        case None:
            return "nothing"
        case bool():
            return f"{value}, a yes or no (so YAML reads yes, no, on and off)"
        case int() | float() | str():
            return check.format_value(value)
        case list():
            return f"a list of {len(value)}"
        case Mapping():
            return "a group of fields"
        case _:
            return "something else, such as a date"


def _format_example(field: FieldInfo | None) -> str:
    return ", ".join(json.dumps(one, ensure_ascii=False) for one in (field and field.examples) or ())


_REMEDIES = {"text": "write it between quotation marks", "true or false": "write one of them, without quotation marks"}


_ABSURD = 1e9


def _describe_range(annotation: Any, metadata: Sequence[Any] = ()) -> str:
    """The ends of a number, where it has both and they are no guards against absurd ones: " from 1 to 90"."""
    inside = [*metadata, *getattr(annotation, "__metadata__", ())]
    limits = [*inside, *(one for field in inside if isinstance(field, FieldInfo) for one in field.metadata)]
    low, high = (next((getattr(one, end) for one in limits if hasattr(one, end)), None) for end in ("ge", "le"))
    if low is not None and high is not None and high < _ABSURD:
        return f" from {low:,g} to {high:,g}"
    return next(filter(None, map(_describe_range, get_args(annotation))), "")


def _describe_each(field: FieldInfo) -> str:
    """What one entry is, of a field that holds several by name."""
    extra = field.json_schema_extra
    return str(extra["each"] if isinstance(extra, dict) else field.title)


def _find_model(model: type[Document], loc: tuple[int | str, ...]) -> type[Document]:
    """The object that stands at a place."""
    place, inner = _follow(model, loc)
    return inner[0] if len(inner) == 1 else place.model


def _follow(model: type[Document], loc: tuple[int | str, ...]) -> tuple[_FaultPlace, list[type[Document]]]:
    """Where a fault lies, and the models that could stand there; ``loc`` mixes keys, names of columns, places in lists
    and names of forms."""
    place, inner = _FaultPlace(model, "", None, ""), [model]
    for step in loc:
        owner = inner[0] if len(inner) == 1 else place.model
        fields = owner.model_fields if len(inner) == 1 else {}
        field = next((one for name, one in fields.items() if (one.alias or name) == step), None)
        if field is not None:
            place = _FaultPlace(owner, str(step), field, place.of)
            inner = _list_models(field.annotation)
        elif chosen := [one for one in inner if one.__name__ == step]:
            inner = chosen
        elif isinstance(step, str) and not place.of:
            # Only a field that holds several has said what each of its entries is.
            several = place.field is not None and isinstance(place.field.json_schema_extra, dict)
            place = place._replace(of=step) if inner or several else place
    return place, inner


def _list_models(annotation: Any) -> list[type[Document]]:
    """The models in a type, wherever they stand in it."""
    if isinstance(annotation, type) and issubclass(annotation, Document):
        return [annotation]
    return [one for part in get_args(annotation) for one in _list_models(part)]


def refuse_repeats(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    """The object of these keys, for a reader of JSON."""
    by_key = dict(pairs)
    if len(by_key) < len(pairs):
        raise ValueError("a key is repeated")
    return by_key
