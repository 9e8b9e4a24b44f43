"""What a field is as a key of a document, told in the annotation of the field, once.

A type of the domain says so how a file has it: ``documents.make_document`` makes the model that reads, explains and
documents such a file, and ``list_values`` gives what is written. Nothing here is slow to import.
"""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from enum import Enum, EnumType
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints


@dataclass(frozen=True)
class Key:
    """What a key means, and what of its value the type does not say; a plain text beside a type is a key's meaning.

    Attributes
    ----------
    value : str
        What it holds, in words; by default those of its type.
    name : str
        What the document calls the field, where that is another name.
    each : str
        What one entry is, of a key that holds several by name.
    shown : object
        An example.
    most : int or None
        Entries that are allowed.
    null : bool
        Whether null stands for the usual value.
    """

    meaning: str
    value: str = ""
    name: str = ""
    each: str = ""
    shown: Any = field(default=None, hash=False)  # types are looked up by their hash, and a list has none
    most: int | None = None
    null: bool = False


INLINE = Key("the keys of this object are keys of the whole")


class TypedField(NamedTuple):
    """A field with its type, what it is as a key if it is one, and its usual value; ``MISSING``: it has to be given."""

    name: str
    type: Any
    key: Key | None
    usual: Any


@cache
def list_fields(told: Any) -> tuple[TypedField, ...]:
    """The fields of a type that tells of a document, in their order; none of any other."""
    hints = get_type_hints(told, include_extras=True) if isinstance(told, type) else {}
    keys = {
        name: Key(said) if isinstance(said, str) else said
        for name, hint in hints.items()
        for said in getattr(hint, "__metadata__", ())
        if isinstance(said, Key | str)
    }
    if not keys:
        return ()
    usual = _list_usual(told)
    return tuple(
        TypedField(name, getattr(hint, "__origin__", hint) if name in keys else hint, keys.get(name), usual[name])
        for name, hint in hints.items()
        if name in usual
    )


def _list_usual(told: Any) -> Mapping[str, Any]:
    if not is_dataclass(told):
        return {name: told._field_defaults.get(name, MISSING) for name in told._fields}
    return {one.name: one.default if one.default_factory is MISSING else one.default_factory() for one in fields(told)}


def list_values(one: Any, by_hand: Mapping[str, Mapping[str, Any]] = MappingProxyType({})) -> dict[str, Any]:
    """What is not as usual, by key, as JSON has it.

    Parameters
    ----------
    one : object
        Of a type whose fields say what they are as keys.
    by_hand : mapping
        What stands in place of some fields, by field: none, one or several keys.

    Returns
    -------
    dict
        In the order of the fields.
    """
    values: dict[str, Any] = {}
    told: Any = type(one)
    for name, _, key, usual in list_fields(told):
        value = getattr(one, name)
        if name in by_hand:
            values |= by_hand[name]
        elif key is INLINE:
            values |= list_values(value)
        elif key is not None and value != usual:
            values[key.name or name] = _make_plain(value)
    return values


def _make_plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {name: _make_plain(one) for name, one in value.items()}
    told: Any = type(value)
    if list_fields(told):
        return list_values(value)
    return [*map(_make_plain, value)] if isinstance(value, tuple) else value


def describe_type(hint: Any) -> str:
    """What a value of a type is, in words: "a pair of numbers", "an object of texts by column"."""
    parts = get_args(hint)
    match get_origin(hint):
        case None:
            return "a kind" if isinstance(hint, EnumType) else _WORDS.get(hint, "an object")
        case origin if origin is tuple:
            number = "a list" if parts[-1] is ... else "a pair"
            return f"{number} of {_SEVERAL.get(parts[0], 'objects')}"
        case origin if origin is Mapping:
            return f"an object of {_SEVERAL[parts[1]]} by column" if parts[1] in _SEVERAL else "an object by column"
    return describe_type(parts[0])


_WORDS = {str: "text", bool: "true or false", int: "a whole number", float: "a number"}
_SEVERAL = {str: "names", int: "whole numbers", float: "numbers"}
