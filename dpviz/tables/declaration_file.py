"""A declaration as JSON: the file ``x.json`` beside ``x.csv``, and what is given with ``--bounds``."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpviz.tables.coding_forms import read_coding
from dpviz.tables.codings import NUMBER
from dpviz.tables.declaration import DEFAULT_UNIT, NOTHING_DECLARED, Declaration, FileKind
from dpviz.tables.described import list_described_values, read_described
from dpviz.tables.file_format import PLAIN_FORMAT, FileFormat, NumberStyle
from dpviz.tables.loaded_table import IntakeError
from dpviz.words import foreign, quote_name

if TYPE_CHECKING:  # models are slow to import, and most processes read no declaration
    from dpviz.tables.declaration_document import DeclarationDocument, FormatDocument

MAX_DECLARATION_BYTES = 1_000_000

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


def read_declaration(
    declared: Declaration | Mapping[str, Any] | str | os.PathLike[str], onto: Declaration = NOTHING_DECLARED
) -> Declaration:
    """What is declared, in any form that Python takes: a declaration, what its JSON says, or the path of such a file.

    Parameters
    ----------
    declared : Declaration, mapping or path
    onto : Declaration
        What holds where a mapping or a file is silent.

    Returns
    -------
    Declaration

    Raises
    ------
    IntakeError
        If it is none of these, or declares something that is not allowed.
    """
    if isinstance(declared, Declaration):
        return declared.validate()
    if isinstance(declared, str | os.PathLike):
        return apply_declaration_file(declared, onto).validate()
    try:
        text = json.dumps(dict(declared))
    except (TypeError, ValueError):
        raise IntakeError(
            "What is declared is neither a declaration nor the path of one, nor what JSON can say: give a mapping of "
            "texts, numbers and lists."
        ) from None
    return apply_declaration(text, onto, what="What is declared").validate()


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
    missing = IntakeError(f"There is no file {name} at that path; write LO,HI or the path of a JSON file.")
    unreadable = IntakeError(f"The file {name} cannot be read; give a JSON file you may open.")
    with foreign.refuse_as(unreadable, missing=missing):
        raw = foreign.read_bytes(Path(path), MAX_DECLARATION_BYTES)
    if len(raw) > MAX_DECLARATION_BYTES:
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
    from dpviz.tables.declaration_document import DeclarationDocument
    from dpviz.words import read_document, refuse_repeats

    try:
        said = json.loads(text, object_pairs_hook=refuse_repeats)
        json.dumps(said, ensure_ascii=False).encode()  # half of a character cannot be written anywhere
    except (ValueError, RecursionError):
        raise IntakeError(f"{what} is not JSON in UTF-8; {_BOUNDS_FORMS}; mend it.") from None
    if not isinstance(said, dict):
        raise IntakeError(f"{what} is not a JSON object; {_BOUNDS_FORMS}; mend it.")
    document = read_document(DeclarationDocument, said, IntakeError)
    declared = replace(onto, **_list_fields(document), **_list_bounds(document, onto.columns))
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


def _list_fields(document: DeclarationDocument) -> dict[str, Any]:
    """What is declared beside columns and their bounds, by the names of a ``Declaration``."""
    given = document.list_given()
    fields = {name: given[name] for name in _SAME if name in given}
    fields |= {name: usual for name, usual in _USUAL.items() if name in fields and fields[name] is None}
    if "units" in given:
        fields["units"] = {name: unit.strip() for name, unit in document.units.items() if unit.strip()}
    if "file" in given:
        fields["file"] = _read_format(document.file)
    if "describe" in given:
        fields["describe"] = {name: read_described(one) for name, one in document.describe.items()}
    if "public" in given:
        fields["kind"] = FileKind.PUBLIC if document.public else FileKind.PRIVATE
    if "kind" in given:
        fields["kind"] = FileKind(document.kind)
    if "label" in given:
        fields["label_column"] = document.label
    if "release" in given:
        fields["words"] = document.release.list_given()
    return {"rows_per_person": 1, **fields} if fields.get("id_column", "") is None else fields


def _read_format(said: FormatDocument) -> FileFormat:
    given = said.list_given()
    style = NumberStyle(**{name: given.pop(name) for name in NumberStyle._fields if name in given})
    styles = {name: style._replace(**own.list_given()) for name, own in given.pop("columns", {}).items()}
    return FileFormat(style=style, styles=styles, **given)


def _list_bounds(document: DeclarationDocument, of: tuple[str, ...]) -> dict[str, Any]:
    """Columns, bounds and origins; one pair without columns is ``of`` these."""
    given = document.list_given()
    other_form = not given.keys().isdisjoint(("lower", "upper", "columns"))
    if "bounds" in given:
        if other_form:
            both = '"bounds" and "lower", "upper" or "columns"'
            raise IntakeError(f"There are both {both}; {_BOUNDS_FORMS}; keep one form.")
        read = _list_pairs(document)
    elif other_form:
        read = _list_lower_upper(document, of)
    elif "origins" in given:
        read = {"columns": of}
    else:
        return {}
    if not document.origins.keys() <= {*read["columns"]}:
        raise IntakeError('"origins" is not an object of texts by column, each with bounds; mend it.')
    return {**read, "origins": tuple(document.origins.get(name, "") for name in read["columns"])}


def _list_pairs(document: DeclarationDocument) -> dict[str, Any]:
    if not document.bounds:
        raise IntakeError(f"The bounds are not an object of pairs by column; {_BOUNDS_FORMS}; mend them.")
    read = {
        name: (NUMBER, *one) if isinstance(one, tuple) else read_coding(name, one)
        for name, one in document.bounds.items()
    }
    codings = {name: coding for name, (coding, _, _) in read.items() if coding != NUMBER}
    lower, upper = (tuple(one[end] for one in read.values()) for end in (1, 2))
    return {"columns": tuple(read), "lower": lower, "upper": upper, "codings": codings}


def _list_lower_upper(document: DeclarationDocument, of: tuple[str, ...]) -> dict[str, Any]:
    if document.lower is None or document.upper is None:
        raise IntakeError(f"No bounds are declared; {_BOUNDS_FORMS}; add them.")
    columns = document.columns or of
    many = max(1, len(columns))
    lower, upper = (end if isinstance(end, tuple) else (end,) * many for end in (document.lower, document.upper))
    return {"columns": columns, "codings": {}, "lower": lower, "upper": upper}


# Keys that are fields of a declaration as they are, and what null means for some of them.
_SAME = (
    *("title", "description", "numbers", "bounds_origin", "weights", "scaling", "radius", "unit_of_privacy"),
    *("relation", "n_public", "n_range", "id_column", "rows_per_person", "proposed", "source", "licence"),
)
_USUAL: dict[str, Any] = {"unit_of_privacy": DEFAULT_UNIT, "relation": "add_remove", "rows_per_person": 1}
