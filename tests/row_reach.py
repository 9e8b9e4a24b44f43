"""Who gets a value that rows can be reached from, read from annotations, imports and what functions do with them.

A type reaches rows if it is one of ``ROWS``, or has a field, a property or a base that does. A module holds rows if it
imports such a type, or a parameter, a result or a field in it is of one. On the way from an order to the files of a
release those that do are listed here, and no others: what makes the files cannot be given a row. What is read of such a
value is listed too, whatever it is called on its way through a function, and whether or not it is named in doing so.
(Rows stand behind attributes such as ``LoadedTable.frame`` that notebooks and packages use. A door of another name
would break these, and only this walk could say who opens it.)
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache

from dpviz.runs.audits.auditing import find_home, format_dotted
from tests.house_rules import Source

ROWS = {
    *("dpviz.tables.loaded_table.LoadedTable", "dpviz.tables.csv_intake.CsvFile", "dpviz.tables.csv_intake.CsvOnDisk"),
    *("dpviz.tables.arrow_intake.ArrowTable", "dpviz.tables.duckdb_intake.DuckTable"),
    "dpviz.tables.spark_intake.SparkTable",
    *("dpviz.tables.arrow_intake.ParquetTable", "dpviz.tables.sparse_intake.SparseTable", "dpviz.core.rows.Rows"),
    *(
        "dpviz.core.rows.RowSource",
        "dpviz.core.engine_rows.EngineRows",
        "dpviz.tables.given_rows.ClusterRows",
        "dpviz.tables.prepared_rows.LatticeFile",
    ),
    *(
        "dpviz.core.private_session.PrivateTable",
        "dpviz.core.private_session.PrivateSession",
        "dpviz.core.revealed_rows.Revealed",
    ),
    *("dpviz.core.exact_noise.WholeTruth", "pandas.DataFrame"),
}
"""The types that hold rows, or answers about them without noise."""

HOLDERS = {
    "dpviz.releases.bought_bounds": "asks a session for histograms of single columns",
    "dpviz.releases.segments": "asks a session for what segments are, and for distances",
    "dpviz.releases.release_reader": "gives released numbers as data frames; no row is near",
    "dpviz.releases.described_table": "makes private tables: of codes, and the one that segments are asked of",
    "dpviz.releases.continuing": "opens the session that counts the segments of an earlier release",
    "dpviz.releases.missing_shares": "asks a session for missing cells",
    "dpviz.releases.publishing": "keeps what is pressed until it has left",
    "dpviz.releases.release_parts": "opens a session for each part, over rows or over none",
    "dpviz.releases.releasing": "reads the table, and hands its transcript on",
    "dpviz.releases.two_releases": "gives released numbers as data frames; no row is near",
    "dpviz.releases.transcript": "answers a session in place of noise, whatever the truth is, and remembers it",
    "dpviz.api.cli.release_command": "opens the table that is released",
    "dpviz.app.ui.release.page": "is told which table is open, or which file waits, and hands it over",
    "dpviz.app.ui.release.released_notice": "is told which table is open",
    "dpviz.app.ui.release.released_panel": "shows a press, which holds its table until it has left",
}
"""The modules on the way of a release that hold rows, and what for. Whatever makes or checks a file is not here."""

READERS = {
    "dpviz.api.cli.declared_table": "opens the table of a command",
    "dpviz.api.cli.open_command": "refuses what the pages cannot show",
    "dpviz.api.commands": "opens tables for commands, and proposes how a file is read, a look",
    "dpviz.api.estimators": "opens the table that is fitted",
    "dpviz.runs.meaning.membership": "a table with and without one of its rows, public or made",
    "dpviz.app.ui.bench.forms": "asks a file for its header; proposes values of a column to its owner, a counted look",
    "dpviz.app.ui.data.table_link": "opens samples and made-up tables, keeps public files, prepares large tables",
    "dpviz.app.ui.data.table_summary": "shows rows to their owner, a counted look",
    "dpviz.app.ui.data_access": "shows rows to their owner, a counted look",
    "dpviz.app.ui.meaning": "takes a public table for a simulation",
    "dpviz.app.ui.playground.board": "makes a public table of what was painted",
    "dpviz.app.ui.bench.bench_page": "tells files in memory apart",
    "dpviz.app.ui.bench.in_hand": "proposes how a file is read, a counted look, and counts rows that anybody may see",
}
"""The modules above the core, beside those of a release, that name a type of rows itself."""

CORE = ("core", "tables", "algorithms", "runs")
"""The rooms that make tables and sessions; of rows in them ``house_rules`` speaks, but for what is shown of ε there."""

READS = {
    "dpviz.api.cli.run_command: unfold": "labels of rows whose losses were asked for, a counted look",
    "dpviz.releases.transcript: query": "what was asked, which is public",
    "dpviz.releases.transcript: region": "of rows that lie where, which is public",
    "dpviz.releases.transcript: total": "how many numbers were asked for",
    "dpviz.releases.described_table: read": "columns that bounds or missing cells are bought of, into a private table",
    "dpviz.releases.described_table: encode_columns": "clustered columns beside them, into the same private table",
    "dpviz.releases.described_table: frame": "whether a column to describe is there, by its name",
    "dpviz.releases.described_table: get_cells": "columns that segments are described by, into a private table",
    "dpviz.releases.described_table: identifiers": "whose rows they are, into a private table",
    "dpviz.app.ui.bench.in_hand: read_beginning": "the first lines, for a proposal, a counted look",
    "dpviz.app.ui.bench.in_hand: read": "how many rows a file has that anybody may see",
    "dpviz.app.ui.bench.in_hand: n_rows": "how many rows a table has that anybody may see",
    "dpviz.app.ui.bench.in_hand: getattr()": "how many rows a sparse file has that anybody may see",
    "dpviz.app.ui.data.table_link: holds_text": "columns of a Parquet file, by its head",
    "dpviz.app.ui.data.table_link: read": "a table that memory does not hold, into a private one",
    "dpviz.runs.meaning.membership: encode_columns": "of a public or made table",
    "dpviz.runs.meaning.membership: identifiers": "of a public or made table",
    "dpviz.app.ui.data.table_link: raw": "how long a public file is",
    "dpviz.app.ui.data.table_link: n_rows": "of a synthetic table: nobody is in it",
    "dpviz.app.ui.data.table_link: note_rows": "tells rows that were prepared on this machine how many they are",
    "dpviz.app.ui.bench.forms: find_texts": "after a counted look",
    "dpviz.app.ui.bench.forms: read": "of a public file, or after a counted look",
    "dpviz.app.ui.data.table_summary: inside": "after a counted look",
    "dpviz.app.ui.data.table_summary: n_rows": "after a counted look",
    "dpviz.app.ui.data.table_summary: points": "after a counted look",
    "dpviz.app.ui.meaning: n_rows": "of a table that may be shown",
    "dpviz.app.ui.runner: n_rows": "where a run takes place, on its owner's machine",
    "dpviz.app.ui.session: file": "the file of the open table, to be declared anew",
    "dpviz.app.ui.studies.study_job: n_rows": "of a table that may be shown",
}
"""What is read of a value that holds rows, other than what is public, where its type is written."""

PUBLIC = {
    *("domain", "relation", "n_public", "unit", "rows_per_person", "has_persons", "in_memory", "sparse", "accesses"),
    *("name", "fingerprint", "notes", "columns", "numeric_columns", "text_columns", "header", "fits", "reveal", "open"),
}
"""Attributes of such values that are public, or doors of their own that count or charge."""


def is_above(source: Source) -> bool:
    """Whether a module only uses tables and sessions that others make."""
    return source.room not in CORE or source.inside.startswith("runs/meaning/")


UNDONE = {"getattr", "vars", "asdict", "astuple", "dumps", "attrgetter", "repr", "len", "iter", "list", "dict", "set"}
"""Calls that take such a value apart without naming an attribute."""

_HANDED_ON = 4
"""So often a value goes from name to name in one function, at most."""

GUARDED = ("dpviz.releases.", "dpviz.app.ui.release.", "dpviz.api.cli.release_command", "dpviz.api.cli.verify_command")


@dataclass
class Types:
    """Classes and aliases of the package by their full names, with the full names that each is made of."""

    made_of: dict[str, set[str]] = field(default_factory=dict)
    attributes: dict[str, dict[str, set[str]]] = field(default_factory=dict)
    returned: dict[str, set[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, sources: Iterable[Source]) -> Types:
        types = cls()
        for source in sources:
            known = names_in(source)
            for node in source.tree.body:
                if isinstance(node, ast.ClassDef):
                    types.made_of[f"{source.module}.{node.name}"] = set(_parts_of(node, known))
                    types.attributes[f"{source.module}.{node.name}"] = _attributes_of(node, known)
                elif isinstance(node, ast.FunctionDef):
                    types.returned[f"{source.module}.{node.name}"] = set(_named(node.returns, known))
                elif isinstance(node, ast.AnnAssign | ast.Assign) and node.value is not None:
                    target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
                    if isinstance(target, ast.Name) and isinstance(node.value, ast.BinOp | ast.Subscript | ast.Name):
                        types.made_of[f"{source.module}.{target.id}"] = set(_named(node.value, known))
        return types

    def beside(self, other: Types) -> Types:
        """Both together; what ``other`` says of a class goes first."""
        return Types(self.made_of | other.made_of, self.attributes | other.attributes, self.returned | other.returned)

    def reaching(self) -> set[str]:
        """All that rows can be reached from."""
        found = set(ROWS)
        while more := {name for name, parts in self.made_of.items() if name not in found and parts & found}:
            found |= more
        return found

    def of_expression(self, node: ast.expr, named: Mapping[str, set[str]]) -> set[str]:
        """The types that an expression can be of, as far as annotations say; of a part, those of the whole, too."""
        match node:
            case ast.Name(id=name):
                return self._spelled_out(named.get(name, set()))
            case ast.Attribute(value=owner, attr=attribute):
                owners = self.of_expression(owner, named)
                found = {one for owner in owners for one in self.attributes.get(owner, {}).get(attribute, set())}
                return self._spelled_out(found)
            case ast.Call(func=ast.Name(id=name)):
                called = named.get(f"{name}()", set())
                return self._spelled_out({one for each in called for one in self.returned.get(each, {each})})
            case ast.Call(func=called):
                return self.of_expression(called, named)
            case ast.Subscript(value=whole) | ast.Starred(value=whole) | ast.NamedExpr(value=whole):
                return self.of_expression(whole, named)
            case ast.IfExp(body=one, orelse=other):
                return self.of_expression(one, named) | self.of_expression(other, named)
            case ast.BoolOp(values=parts) | ast.Tuple(elts=parts) | ast.List(elts=parts):
                return {one for part in parts for one in self.of_expression(part, named)}
            case _:
                return set()

    def _in_function(self, function: ast.FunctionDef, owner: str, known: Mapping[str, str]) -> dict[str, set[str]]:
        """The types that names can be of in a function: of what is imported, given, put or looped over there."""
        named = {f"{name}()": {full} for name, full in known.items()} | {"self": {owner}}
        put: list[tuple[ast.expr, ast.expr]] = []
        for node in ast.walk(function):
            match node:
                case ast.arg(arg=name, annotation=ast.expr() as annotation):
                    named[name] = set(_named(annotation, known))
                case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
                    named[name] = set(_named(annotation, known))
                case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                    put += zip(targets, values, strict=False)
                case ast.Assign(targets=targets, value=value):
                    put += [(target, value) for target in targets]
                case ast.NamedExpr(target=target, value=value):
                    put.append((target, value))
                case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
                    put.append((target, value))
                case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
                    put.append((target, value))
        for _ in range(_HANDED_ON):
            for target, value in put:
                types = self.of_expression(value, named)
                for part in ast.walk(target):
                    if isinstance(part, ast.Name) and types:
                        named[part.id] = named.get(part.id, set()) | types
        return named

    def _spelled_out(self, types: set[str]) -> set[str]:
        """With what an alias stands for in its place."""
        aliases = {one for one in types if one in self.made_of and one not in self.attributes}
        return types | {part for alias in aliases for part in self.made_of[alias]}

    def reads(self, source: Source) -> Iterator[str]:
        """What a file reads of values that hold rows, as ``module: attribute``; a session answers by its doors."""
        known, rows = names_in(source), ROWS - {"pandas.DataFrame", "dpviz.core.private_session.PrivateSession"}
        for function, owner in _functions(source):
            named = self._in_function(function, owner, known)
            for node in ast.walk(function):
                match node:
                    case ast.Attribute(value=value, attr=read) if read not in PUBLIC:
                        pass
                    case ast.Call(func=ast.Name(id=called), args=[value, *_]) if called in UNDONE:
                        read = f"{called}()"
                    case ast.Call(func=ast.Attribute(attr=called), args=[value, *_]) if called in UNDONE:
                        read = f"{called}()"
                    case _:
                        continue
                if self.of_expression(value, named) & rows:
                    yield f"{source.module}: {read}"


def holders(sources: Iterable[Source], reaching: set[str]) -> Mapping[str, set[str]]:
    """Of each guarded module that holds rows, by which types it does."""
    found = {}
    for source in sources:
        if source.module.startswith(GUARDED):
            held = set(_held(source)) & reaching
            if held:
                found[source.module] = held
    return found


def readers(sources: Iterable[Source]) -> set[str]:
    """The modules above the core, beside those of a release, that name a type of rows itself."""
    return {
        source.module
        for source in sources
        if is_above(source)
        and source.room != "releases"
        and not source.module.startswith(GUARDED)
        and set(_held(source)) & ROWS - {"pandas.DataFrame"}
    }


@cache
def names_in(source: Source) -> dict[str, str]:
    """Full names by what they are called in a file."""
    mine = (node for node in source.tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef))
    known = {node.name: f"{source.module}.{node.name}" for node in mine}
    for node in source.all(ast.AST):
        if isinstance(node, ast.ImportFrom) and node.module:
            known |= {name.asname or name.name: find_home(f"{node.module}.{name.name}") for name in node.names}
        elif isinstance(node, ast.Import):
            known |= {name.asname or name.name: name.name for name in node.names}
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            known.setdefault(node.targets[0].id, f"{source.module}.{node.targets[0].id}")
    return known


def _functions(source: Source) -> Iterator[tuple[ast.FunctionDef, str]]:
    """Every function of a file, with the class that it is a method of."""
    for node in source.all(ast.ClassDef):
        yield from ((part, f"{source.module}.{node.name}") for part in node.body if isinstance(part, ast.FunctionDef))
    yield from ((node, "") for node in source.tree.body if isinstance(node, ast.FunctionDef))


def _held(source: Source) -> Iterator[str]:
    known = names_in(source)
    for node in source.all(ast.AST):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (find_home(f"{node.module}.{name.name}") for name in node.names)
        elif isinstance(node, ast.FunctionDef):
            given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            for annotation in (*(one.annotation for one in given), node.returns):
                yield from _named(annotation, known)
        elif isinstance(node, ast.AnnAssign):
            yield from _named(node.annotation, known)
        elif isinstance(node, ast.Attribute):  # of a module that was imported as a whole
            yield from (name for name in _named(node, known) if name.startswith("dpviz."))


def _parts_of(node: ast.ClassDef, known: Mapping[str, str]) -> Iterator[str]:
    """What a class is made of: bases, fields, what it is made with, properties."""
    for base in node.bases:
        yield from _named(base, known)
    for part in node.body:
        if isinstance(part, ast.AnnAssign):
            yield from _named(part.annotation, known)
        elif isinstance(part, ast.FunctionDef):
            decorated = {one.id for one in part.decorator_list if isinstance(one, ast.Name)}
            if decorated & {"property", "cached_property"}:
                yield from _named(part.returns, known)
            if part.name == "__init__":
                for one in (*part.args.args, *part.args.kwonlyargs):
                    yield from _named(one.annotation, known)


def _attributes_of(node: ast.ClassDef, known: Mapping[str, str]) -> dict[str, set[str]]:
    """The types of the fields and properties of a class, by their names."""
    found = {}
    for part in node.body:
        if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
            found[part.target.id] = set(_named(part.annotation, known))
        elif isinstance(part, ast.FunctionDef):
            found[part.name] = set(_named(part.returns, known))
    return found


def _named(annotation: ast.expr | None, known: Mapping[str, str]) -> Iterator[str]:
    """The full names in an annotation; what a function is given it does not hold, what it returns it does."""
    match annotation:
        case None:
            return
        case ast.Constant(value=str(text)):
            with suppress(SyntaxError):  # a text that is no annotation
                yield from _named(ast.parse(text, mode="eval").body, known)
        case ast.Name(id=name):
            yield known.get(name, name)
        case ast.Attribute() if not (dotted := format_dotted(annotation)).startswith("."):
            first, _, rest = dotted.partition(".")
            yield find_home(f"{known.get(first, first)}.{rest}")
        case ast.Subscript(value=ast.Name(id="Callable"), slice=ast.Tuple(elts=[_, result])):
            yield from _named(result, known)
        case _:
            for inner in ast.iter_child_nodes(annotation):
                if isinstance(inner, ast.expr):
                    yield from _named(inner, known)
