"""A declaration as JSON: the file ``x.json`` beside ``x.csv``, and what is given with ``--bounds``."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from dpviz import foreign
from dpviz.table.coding_forms import check_weight, read_coding
from dpviz.table.codings import NUMBER, Coding
from dpviz.table.declaration import (
    DEFAULT_UNIT,
    NOTHING_DECLARED,
    RELEASE_WORDS,
    SEVERAL_WORDS,
    Declaration,
    FileKind,
)
from dpviz.table.described import list_described_values, read_described
from dpviz.table.file_format import MAX_COLUMNS, PLAIN_FORMAT, PLAIN_STYLE, FileFormat, NumberStyle
from dpviz.table.loaded_table import IntakeError, list_names, quote_name

MAX_BYTES = 1_000_000
_LONGEST_TEXT = 2_000

_BOUNDS_FORMS = (
    'allowed are {"bounds": {"x": [0, 1]}} and {"lower": 0, "upper": 1, "columns": ["x"]}, finite numbers with '
    "lower < upper"
)


def find_declaration_path(csv_path: str | os.PathLike[str]) -> Path | None:
    """``x.json`` beside ``x.csv`` or ``x.csv.gz``, or None if there is none."""
    path = Path(csv_path)
    if not path.name:
        return None
    candidate = path.with_name(path.name.removesuffix(".gz")).with_suffix(".json")
    try:
        return candidate if candidate != path and candidate.is_file() else None
    except OSError:  # no file can have such a name
        return None


def read_declaration_file(path: str | os.PathLike[str]) -> Declaration:
    """The declaration in a JSON file, in its full form or with bounds only.

    Raises
    ------
    IntakeError
        If the file is missing, is not JSON, or declares something that is not allowed.
    """
    with foreign.refuse_as(IntakeError(f"The file declares nothing that can be used; {_BOUNDS_FORMS}; mend it.")):
        return apply_declaration_file(path).validate()


def apply_declaration_file(path: str | os.PathLike[str], onto: Declaration = NOTHING_DECLARED) -> Declaration:
    """``onto`` with everything that a JSON file declares in its place; see ``apply_declaration``.

    Parameters
    ----------
    path : str or PathLike
        Of a JSON file.
    onto : Declaration
        What holds where the file is silent.

    Returns
    -------
    Declaration
        Not checked yet against itself.
    """
    name = quote_name(Path(path).name)
    try:
        raw = foreign.read_bytes(Path(path), MAX_BYTES)
    except FileNotFoundError:
        raise IntakeError(f"There is no file {name} at that path; write LO,HI or the path of a JSON file.") from None
    except (OSError, ValueError):
        raise IntakeError(f"The file {name} cannot be read; give a JSON file you may open.") from None
    if len(raw) > MAX_BYTES:
        raise IntakeError(f"The file {name} is larger than 1 MB, the most allowed; give the JSON, not the data.")
    try:
        text = raw.decode("utf-8-sig")
    except ValueError:
        raise IntakeError(f"The file {name} is not JSON in UTF-8; {_BOUNDS_FORMS}; mend the file.") from None
    return apply_declaration(text, onto, what=f"The file {name}")


def apply_declaration(text: str, onto: Declaration = NOTHING_DECLARED, *, what: str = "The text") -> Declaration:
    """``onto`` with everything that JSON ``text`` declares in its place.

    One pair of bounds without columns is that of the columns of ``onto``, if it has any. The result may still
    contradict itself: see ``Declaration.validate``.

    Parameters
    ----------
    text : str
        JSON.
    onto : Declaration
        What holds where the text is silent.
    what : str
        What the text is called in a sentence.

    Returns
    -------
    Declaration
        Not checked yet against itself.

    Raises
    ------
    IntakeError
        If it is not JSON, or declares something that is not allowed.
    """
    if not isinstance(text, str):
        raise IntakeError(f"{what} is no text; give JSON as text; {_BOUNDS_FORMS}.")
    with foreign.refuse_as(IntakeError(f"{what} declares nothing that can be used; {_BOUNDS_FORMS}; mend it.")):
        return _apply_plain(text, onto, what)


def _apply_plain(text: str, onto: Declaration, what: str) -> Declaration:
    try:
        said = json.loads(text, object_pairs_hook=_refuse_repeats)
        json.dumps(said, ensure_ascii=False).encode()  # half of a character cannot be written anywhere
    except (ValueError, RecursionError):
        raise IntakeError(f"{what} is not JSON in UTF-8; {_BOUNDS_FORMS}; mend it.") from None
    if not isinstance(said, dict):
        raise IntakeError(f"The declaration file is not a JSON object; {_BOUNDS_FORMS}; mend the file.")
    fields = {_FIELDS.get(key, key): read(key, said[key]) for key, read in _READERS.items() if key in said}
    _refuse_unknown("declaration file", said, ("bounds", "origins", *_READERS, "columns", "lower", "upper"))
    if "id_column" in fields and fields["id_column"] is None:
        fields = {"rows_per_person": 1, **fields}
    declared = replace(onto, **fields, **_read_bounds(said, onto.columns))
    declared.check_values()
    return declared


def apply_bounds_option(text: str, onto: Declaration = NOTHING_DECLARED) -> Declaration:
    """``onto`` with what ``--bounds`` says: ``LO,HI`` for every column, or the path of a JSON file.

    Parameters
    ----------
    text : str
        As it stands on the command line.
    onto : Declaration
        What holds otherwise.

    Returns
    -------
    Declaration
        With those bounds.

    Raises
    ------
    IntakeError
        If it is neither, or the bounds are not allowed.
    """
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        return apply_declaration_file(text, onto)
    many = max(1, len(onto.columns))
    pair = replace(onto, lower=(low,) * many, upper=(high,) * many, codings={}, origins=(), radius=None)
    pair.check_values()
    return replace(pair, bounds_origin="declared with --bounds")


def to_json(declaration: Declaration) -> str:
    """The canonical text: one key a line, bounds by column, what is not declared left out.

    A pair of bounds for every column is written as ``lower`` and ``upper``.
    """
    values = {
        "title": declaration.title,
        "description": declaration.description,
        "file": list_file_values(declaration.file),
        "numbers": list(declaration.numbers),
        "bounds": None,
        "bounds_origin": declaration.bounds_origin,
        "origins": {name: bounds.origin for name, bounds in declaration.bounds.items() if bounds.origin},
        "weights": dict(declaration.weights),
        "units": dict(declaration.units),
        "describe": list_described_values(declaration.describe),
        "scaling": declaration.scaling,
        "radius": declaration.radius,
        "unit_of_privacy": declaration.unit_of_privacy,
        "relation": declaration.relation if declaration.relation != "add_remove" else None,
        "n_public": declaration.n_public,
        "n_range": None if declaration.n_range is None else list(declaration.n_range),
        "public": declaration.kind == FileKind.PUBLIC or None,
        "kind": declaration.kind.value if declaration.kind == FileKind.SIMULATED else None,
        "label": declaration.label_column,
        "id_column": declaration.id_column,
        "rows_per_person": declaration.rows_per_person if declaration.id_column is not None else None,
        "proposed": declaration.proposed or None,
        "source": declaration.source,
        "licence": declaration.licence,
        "release": {name: list(said) if isinstance(said, tuple) else said for name, said in declaration.words.items()},
    }
    lines = []
    for key, value in values.items():
        if key == "bounds":
            lines += _format_bounds(declaration)
        elif value not in ("", None, [], {}) or (key == "label" and value == ""):
            lines.append(f'  "{key}": {json.dumps(_shorten(value), ensure_ascii=False)}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _format_bounds(declaration: Declaration) -> list[str]:
    if not declaration.columns:
        both = [("lower", declaration.lower), ("upper", declaration.upper)]
        return [f'  "{key}": {json.dumps(_shorten(bound[0]))}' for key, bound in both if bound]
    said = {
        name: declaration.codings.get(name, NUMBER).to_plain(_shorten(low), _shorten(high))
        for name, (low, high, _) in declaration.bounds.items()
    }
    pairs = (f"    {_format_value(name)}: {_format_value(one)}" for name, one in said.items())
    return ['  "bounds": {\n' + ",\n".join(pairs) + "\n  }"]


def _format_value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def list_file_values(declared: FileFormat) -> dict[str, Any]:
    """What differs from the format that is read without any declaration."""
    plain = _list_plain_values(PLAIN_FORMAT)
    values: dict[str, Any] = {key: value for key, value in _list_plain_values(declared).items() if value != plain[key]}
    if declared.styles:
        values["columns"] = {name: style._asdict() for name, style in declared.styles.items()}
    return values


def _list_plain_values(declared: FileFormat) -> dict[str, Any]:
    return {
        "encoding": declared.encoding,
        "delimiter": declared.delimiter,
        "header": declared.header,
        "names": list(declared.names),
        **declared.style._asdict(),
        "several_lines": declared.several_lines,
        "skip": declared.skip,
        "units_line": declared.units_line,
    }


def _shorten(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


def _refuse_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    by_key = dict(pairs)
    if len(by_key) < len(pairs):
        raise ValueError("a key is repeated")
    return by_key


def _refuse_unknown(what: str, said: Mapping[str, Any], allowed: tuple[str, ...]) -> None:
    unknown = [key for key in said if key not in allowed]
    if unknown:
        allowed_keys = list_names(allowed, most=len(allowed))
        raise IntakeError(f"The {what} has unknown keys {list_names(unknown)}; allowed are {allowed_keys}; mend it.")


def _read_bounds(said: Mapping[str, Any], of: tuple[str, ...]) -> dict[str, Any]:
    """Columns, bounds and origins; one pair without columns is ``of`` these."""
    if "bounds" in said:
        read = _read_pairs(said)
    elif any(key in said for key in ("lower", "upper", "columns")):
        read = _read_lower_upper(said, of)
    elif "origins" in said:
        read = {"columns": of}
    else:
        return {}
    origins = said.get("origins", {})
    if not isinstance(origins, dict) or not set(origins) <= set(read["columns"]):
        raise IntakeError('"origins" is not an object of texts by column, each with bounds; mend it.')
    return {**read, "origins": tuple(_read_text("origins", origins.get(name, "")) for name in read["columns"])}


def _read_pairs(said: Mapping[str, Any]) -> dict[str, Any]:
    bounds = said["bounds"]
    if any(key in said for key in ("lower", "upper", "columns")):
        both = '"bounds" and "lower", "upper" or "columns"'
        raise IntakeError(f"The declaration file has both {both}; {_BOUNDS_FORMS}; keep one form.")
    if isinstance(bounds, dict) and len(bounds) > MAX_COLUMNS:
        raise IntakeError(f"There are bounds for more than {MAX_COLUMNS:,} columns, the most allowed; keep fewer.")
    if not isinstance(bounds, dict) or not bounds:
        raise IntakeError(f"The bounds are not an object of pairs by column; {_BOUNDS_FORMS}; mend them.")
    read = {name: _read_column(name, one) for name, one in bounds.items()}
    codings = {name: coding for name, (coding, _, _) in read.items() if coding != NUMBER}
    lower, upper = (tuple(one[end] for one in read.values()) for end in (1, 2))
    return {"columns": tuple(bounds), "lower": lower, "upper": upper, "codings": codings}


def _read_column(name: str, said: Any) -> tuple[Coding, float | None, float | None]:
    """The coding of a column, and the ends of its numbers."""
    if isinstance(said, dict):
        return read_coding(name, said)
    if not isinstance(said, list) or len(said) != 2:
        raise IntakeError(f"The bounds of a column are not a pair of numbers; {_BOUNDS_FORMS}; mend them.")
    return NUMBER, _read_bound(name, said[0]), _read_bound(name, said[1])


def _read_lower_upper(said: Mapping[str, Any], of: tuple[str, ...]) -> dict[str, Any]:
    if "lower" not in said or "upper" not in said:
        raise IntakeError(f"The declaration file declares no bounds; {_BOUNDS_FORMS}; add them.")
    columns = _read_names("columns", said.get("columns", [])) or of
    return {
        "columns": columns,
        "codings": {},
        **{key: _read_one_or_many(key, said[key], max(1, len(columns))) for key in ("lower", "upper")},
    }


def _read_one_or_many(key: str, value: Any, length: int) -> tuple[float | None, ...]:
    if isinstance(value, list):
        return tuple(_read_number(key, one) for one in value)
    return (_read_number(key, value),) * length


def _read_file(key: str, value: Any) -> FileFormat:
    if not isinstance(value, dict):
        raise IntakeError(f'"{key}" is not an object; write {{"delimiter": ";", "decimal": ","}}, or leave it out.')
    _refuse_unknown(f'"{key}"', value, (*_FILE_READERS, *_STYLE_KEYS, "columns"))
    columns = value.get("columns", {})
    if not isinstance(columns, dict):
        raise IntakeError(f'"columns" of "{key}" is not an object of number styles by column; mend it.')
    style = _read_style(value, PLAIN_STYLE)
    said = {name: read(name, value[name]) for name, read in _FILE_READERS.items() if name in value}
    return FileFormat(style=style, styles={name: _read_own(one, style) for name, one in columns.items()}, **said)


def _read_own(value: Any, usual: NumberStyle) -> NumberStyle:
    if not isinstance(value, dict):
        raise IntakeError('The style of a column is not an object; write {"decimal": ",", "grouping": "."}.')
    _refuse_unknown("number style", value, _STYLE_KEYS)
    return _read_style(value, usual)


def _read_style(value: Mapping[str, Any], usual: NumberStyle) -> NumberStyle:
    return usual._replace(**{key: _read_text(key, value[key]) for key in _STYLE_KEYS if key in value})


def _read_bound(key: str, value: Any) -> float | None:
    return None if value is None else _read_number(key, value)


def _read_number(key: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise IntakeError(f"{quote_name(key)} is not a number; {_BOUNDS_FORMS}; mend it.")
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _read_whole(key: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > 10**15:
        raise IntakeError(f'"{key}" is not a whole number; write a whole number of at least 1, or leave it out.')
    return value


def _read_range(key: str, value: Any) -> tuple[int, int]:
    if not isinstance(value, list) or len(value) != 2:
        raise IntakeError(f'"{key}" is no pair of whole numbers; write [8000, 12000], or leave it out.')
    return _read_whole(key, value[0]), _read_whole(key, value[1])


def _read_number_of_lines(key: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise IntakeError(f'"{key}" is not a number of lines; write a whole number, or leave it out.')
    return value


def _read_text(key: str, value: Any) -> str:
    if not isinstance(value, str):
        raise IntakeError(f'"{key}" is not text; write it between quotation marks.')
    if len(value) > _LONGEST_TEXT:
        raise IntakeError(f'"{key}" is longer than {_LONGEST_TEXT:,} characters, the most allowed; shorten it.')
    return value


def _read_units(key: str, value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        raise IntakeError(f'"{key}" is not an object of texts by column; write {{"income": "k$"}}, or leave it out.')
    if len(value) > MAX_COLUMNS:
        raise IntakeError(f'"{key}" has {len(value):,} entries, and at most {MAX_COLUMNS:,} are allowed; keep fewer.')
    return {name: _read_text(key, unit).strip() for name, unit in value.items() if _read_text(key, unit).strip()}


def _read_weights(key: str, value: Any) -> dict[str, float]:
    if not isinstance(value, dict):
        raise IntakeError(f'"{key}" is not an object of numbers by column; write {{"region": 0.7}}, or leave it out.')
    return {name: check_weight(name, weight) for name, weight in value.items()}


def _read_words(key: str, value: Any) -> dict[str, str | tuple[str, ...]]:
    if not isinstance(value, dict):
        raise IntakeError(f'"{key}" is not an object of texts; write {{"intended_use": "..."}}, or leave it out.')
    _refuse_unknown(f'"{key}"', value, RELEASE_WORDS)
    return {
        name: _read_names(name, said) if name in SEVERAL_WORDS else _read_text(name, said)
        for name, said in value.items()
    }


def _read_yes_or_no(key: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise IntakeError(f'"{key}" is not true or false; write one of them, without quotation marks.')
    return value


def _read_names(key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise IntakeError(f'"{key}" is not a list of names; write ["a", "b"]; mend it.')
    if len(value) > MAX_COLUMNS:
        raise IntakeError(f'"{key}" has {len(value):,} names, and at most {MAX_COLUMNS:,} are allowed; keep fewer.')
    return tuple(value)


def _read_public(key: str, value: Any) -> FileKind:
    return FileKind.PUBLIC if _read_yes_or_no(key, value) else FileKind.PRIVATE


def _read_kind(key: str, value: Any) -> FileKind:
    if value not in [kind.value for kind in FileKind]:
        raise IntakeError(f'"{key}" is none of {list_names([kind.value for kind in FileKind])}; write one of them.')
    return FileKind(value)


def _allow_none(read: Callable[[str, Any], Any], default: Any = None) -> Callable[[str, Any], Any]:
    return lambda key, value: default if value is None else read(key, value)


_STYLE_KEYS = NumberStyle._fields
_FILE_READERS: dict[str, Callable[[str, Any], Any]] = {
    "encoding": _read_text,
    "delimiter": _read_text,
    "header": _allow_none(_read_yes_or_no),
    "names": _read_names,
    "several_lines": _read_yes_or_no,
    "skip": _read_number_of_lines,
    "units_line": _read_yes_or_no,
}
_READERS: dict[str, Callable[[str, Any], Any]] = {
    "title": _read_text,
    "description": _read_text,
    "file": _read_file,
    "numbers": _read_names,
    "bounds_origin": _read_text,
    "weights": _read_weights,
    "units": _read_units,
    "describe": read_described,
    "scaling": _read_text,
    "radius": _allow_none(_read_number),
    "unit_of_privacy": _allow_none(_read_text, DEFAULT_UNIT),
    "relation": _allow_none(_read_text, "add_remove"),
    "n_public": _allow_none(_read_whole),
    "n_range": _allow_none(_read_range),
    "public": _read_public,
    "kind": _read_kind,
    "label": _allow_none(_read_text),
    "id_column": _allow_none(_read_text),
    "rows_per_person": _allow_none(_read_whole, 1),
    "proposed": _read_yes_or_no,
    "source": _read_text,
    "licence": _read_text,
    "release": _read_words,
}
# Where a key has another name than the field.
_FIELDS = {"public": "kind", "label": "label_column", "release": "words"}
