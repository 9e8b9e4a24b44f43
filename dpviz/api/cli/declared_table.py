"""From a file and what is declared about it, on the command line or in its declaration file, to an open table."""

import argparse
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from dpviz.api.api_sentences import make_refusal
from dpviz.api.console import Parser, add_options, read_names, read_number, read_whole, read_wholes, read_yes_or_no
from dpviz.core import RequestError
from dpviz.runs import OpenTable, declare, declare_on_cluster, list_columns
from dpviz.tables import (
    Content,
    Declaration,
    FileKind,
    LoadedTable,
    RowLoss,
    SparseTable,
    connect,
    declarations,
    declare_nothing,
    file_format,
    open_named,
)
from dpviz.words import list_fields, list_names

# What a file given with --bounds replaces as a whole; whatever else it is silent about stays as the declaration file
# says.
_GEOMETRY = (*("columns", "lower", "upper", "codings", "weights", "origins", "bounds_origin", "radius", "scaling"),)
_TAB = "\\t"
# Keys of a declaration file that are options, and what stands for their values.
_FILE_OPTIONS = {
    **{"encoding": "NAME", "delimiter": f"C | {_TAB}", "header": "yes|no", "names": "A,B", "skip": "N"},
    **{"quote": "MARK"},
    "units_line": "yes|no",
}
_STYLE_OPTIONS = {"decimal": ". or ,", "grouping": "C", "sign": "TEXT", "negative": "() or -", "missing": "A,B"}
_TABLE_OPTIONS = {
    **{"scaling": "unit|common", "radius": "R", "relation": "add_remove|replace", "n_public": "N", "n_range": "LO,HI"},
    **{"label": 'NAME | ""', "id_column": 'NAME | ""', "rows_per_person": "M"},
}
_READERS: Mapping[str, Callable[[str], Any]] = {
    **{"yes|no": read_yes_or_no, "A,B": read_names, "LO,HI": read_wholes, "R": read_number},
    **{"N": read_whole, "M": read_whole},
}


class DeclaredTable(NamedTuple):
    """An open table, and what its owner should know of the way there.

    ``accesses`` counts what was told of private rows: whatever was found, so that the count itself tells nothing.
    """

    table: OpenTable
    notes: tuple[str, ...]
    accesses: int = 0


def add_table_options(command: Parser) -> None:
    """The table, and what may be said of it."""
    add_options(command, "table")
    declared = command.add_argument_group("what is declared about the table (DATA.json beside it may say it too)")
    add_options(declared, "declared of the table")
    add_key_options(declared, Declaration, _TABLE_OPTIONS)
    file = command.add_argument_group("how the file is read (never worked out from its rows; see dpviz declare)")
    add_key_options(file, file_format.FileFormat, _FILE_OPTIONS)
    add_key_options(file, file_format.NumberStyle, _STYLE_OPTIONS)


def add_key_options(group: Any, told: type, metavars: Mapping[str, str]) -> None:
    """Options for keys of a declaration file: each is explained as the key is."""
    for field in list_fields(told):
        if field.key is not None and (name := field.key.name or field.name) in metavars:
            usual = f" (default: {field.usual})" if isinstance(field.usual, str | int) and field.usual else ""
            group.add_argument(
                f"--{name.replace('_', '-')}",
                type=_READERS.get(metavars[name], str),
                metavar=metavars[name],
                help=f"{field.key.meaning}{usual}".replace("%", "%%"),
            )


_FOR_THE_OWNER = "For the eyes of the file's owner, never part of a release: "


def open_declared_table(arguments: argparse.Namespace) -> DeclaredTable:
    """Read the file as declared; an option of the command line goes before the declaration file."""
    if arguments.cluster is not None:
        connect(arguments.cluster)
    content, of_file = open_named(arguments.data)
    declaration = _read_declaration(content, of_file, arguments)
    if isinstance(content, SparseTable):
        if arguments.columns is not None or arguments.id_column:
            raise RequestError("A sparse file has no named columns: leave out --columns and --id-column.")
        table = declare(content, declaration)
        return DeclaredTable(table, table.loaded.notes)
    declaration = replace(declaration, file=_read_format(declaration, arguments))
    if isinstance(content, LoadedTable) and declaration.file != of_file.file:
        raise RequestError("A sample is there already, however a file is read: leave out the options of a file.")
    header = list_columns(content, declaration)
    if arguments.columns is not None:  # they are coordinates, whatever the declaration file takes them for
        chosen = arguments.columns
        if declaration.id_column in chosen:
            raise make_refusal("id_no_coordinate", column=str(declaration.id_column))
        label = "" if declaration.label_column in chosen else declaration.label_column
        declaration = replace(declaration, label_column=label, numbers=()).choose_columns(chosen)
    notes = () if declaration.columns else _list_columns(declaration, header)
    table = declare(content, declaration) if arguments.cluster is None else declare_on_cluster(content, declaration)
    accesses = int(table.kind is FileKind.PRIVATE and isinstance(table.loaded, LoadedTable))
    return DeclaredTable(table, (*table.loaded.notes, *notes, *_describe_lost_rows(table)), accesses)


def _describe_lost_rows(table: OpenTable) -> tuple[str, ...]:
    """What the table lost on the way in; nothing where memory does not hold it, or nothing is lost."""
    if not isinstance(table.loaded, LoadedTable):
        return ()
    loss = RowLoss.of_table(table.loaded, table.declaration)
    if loss.is_none:
        return ()
    wrong = any(column.no_number for column in loss.columns)
    hint = ('"dpviz declare FILE" proposes how to read the file.',) if wrong else ()
    return tuple(f"{_FOR_THE_OWNER}{sentence}" for sentence in (*loss.sentences, *hint))


def _read_declaration(content: Content, declared: Declaration, arguments: argparse.Namespace) -> Declaration:
    """What is ``declared`` already, replaced by --bounds, replaced by single options."""
    if arguments.bounds is not None:
        if os.path.isfile(arguments.bounds):  # noqa: PTH113
            nothing = declare_nothing(content)
            declared = replace(declared, **{name: getattr(nothing, name) for name in _GEOMETRY})
        declared = declarations.apply_bounds_option(arguments.bounds, declared)
    elif not declared.lower:
        raise make_refusal("no_bounds", beside=Path(Path(arguments.data).name.removesuffix(".gz")).stem + ".json")
    single = {name: getattr(arguments, name) for name in ("radius", "scaling", "relation", "rows_per_person")}
    changes: dict[str, Any] = {name: value for name, value in single.items() if value is not None}
    within = None if arguments.n_range is None else tuple(arguments.n_range)
    if within is not None and len(within) != 2:
        raise RequestError("--n-range is no pair of whole numbers: write LO,HI, such as 8000,12000.")
    if arguments.n_public is not None or within is not None:
        changes |= {"n_public": arguments.n_public, "n_range": within}
    if arguments.id_column is not None and (arguments.id_column or None) != declared.id_column:
        changes = {"id_column": arguments.id_column or None, "rows_per_person": 1} | changes
    if arguments.label is not None:
        changes["label_column"] = arguments.label
    return replace(declared, **changes)


def _read_format(declaration: Declaration, arguments: argparse.Namespace) -> Any:
    """How the file is read: as the declaration file says, but for single options."""
    options = {name: getattr(arguments, name) for name in _FILE_OPTIONS}
    said: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    if "delimiter" in said:
        said["delimiter"] = said["delimiter"].replace(_TAB, "\t")
    if "names" in said:
        said["names"] = tuple(said["names"])
    style = {name: getattr(arguments, name) for name in _STYLE_OPTIONS if getattr(arguments, name) is not None}
    if style:
        style |= {"missing": tuple(style["missing"])} if "missing" in style else {}
        said |= {"style": declaration.file.style._replace(**style), "styles": {}}
    return replace(declaration.file, **said)


def _list_columns(declaration: Declaration, names: tuple[str, ...]) -> tuple[str, ...]:
    """The sentence that says which columns are clustered where nobody named them."""
    chosen = declaration.over(names).columns
    without = [name for name in names if name not in chosen]
    if not chosen:
        raise make_refusal("no_column_left", names=without)
    but = f" but {list_names(without)}" if without else ""
    return (f"No columns were named, so all columns{but} are read as numbers and used: {list_names(chosen)}.",)
