"""What the owner declares about a table: public statements, which decide how every record is read.

What its owner says about a release, in the owner's words, is one list: the form, the declaration file, the head of a
transcript, the card and the dossier follow from its fields.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from datetime import date
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np

from dpviz.core import Codes, Domain, PrivateTable, RequestError
from dpviz.tables.codings import (
    DESCRIBED_EXAMPLE,
    MOST_DESCRIBED,
    NUMBER,
    Coding,
    Described,
    Stretched,
    check_ends,
    check_weight,
    make_coded_domain,
    read_coding,
)
from dpviz.tables.file_format import MAX_COLUMNS, PLAIN_FORMAT, FileFormat, NumberStyle
from dpviz.tables.loaded_table import USUAL_LABEL, FloatArray, IntakeError, demand
from dpviz.words import Key, foreign, list_fields, list_values, quote_name, read_toml

if TYPE_CHECKING:
    from dpviz.tables.declaration_document import DeclarationDocument


DEFAULT_UNIT = "one row"
LONGEST_UNIT = 12
"""Characters in the unit of a column: it stands beside numbers and on axes."""
ORIGINS = ("documentation", "law or physics", "earlier release", "public data", "a guess", "these rows (leaks!)")
"""Where a bound can come from; the last one is honest, and no release should rest on it."""

FROM_ROWS = ORIGINS[-1]

_BOUGHT = "bought, ε = "


def describe_bought_origin(epsilon: float) -> str:
    """The origin of bounds that were bought with a part of the budget: their owner did not look, and ε covers them."""
    return f"{_BOUGHT}{epsilon:g}"


def is_bought(origin: str) -> bool:
    """Whether an origin says so."""
    return origin.startswith(_BOUGHT)


class FileKind(StrEnum):
    """Whose eyes the rows are for; compared by value, so that code reloaded during development still knows it."""

    PUBLIC = "public"
    """Anybody may see the rows."""
    SIMULATED = "simulated"
    """Made from declared numbers alone: nobody is in it."""
    PRIVATE = "private"
    """Rows about people: shown to nobody unless their owner asks, and then counted."""

    @property
    def may_be_shown(self) -> bool:
        return self != FileKind.PRIVATE


class Bounds(NamedTuple):
    """Declared bounds in data units, arrays of shape (d,)."""

    lower: FloatArray
    upper: FloatArray


class ColumnBounds(NamedTuple):
    """Bounds of one column, data units, and where they come from; None and "" are still open."""

    lower: float | None = None
    upper: float | None = None
    origin: str = ""


NO_BOUNDS = ColumnBounds()


@dataclass(frozen=True)
class Declaration:
    """Public statements about one table; nothing in it may be computed from private rows.

    Its keys are those of a declaration file, but for columns and their bounds, which a file says in several forms.

    * ``columns``: the columns to cluster, in order; empty where one pair of bounds serves every number column.
    * ``lower``, ``upper``: one number a column, data units; one number each where ``columns`` is empty; None where none
      is declared yet.
    * ``codings``: columns that are more than a number between bounds: categories, ranks, dates, cycles, logarithms.
      Their ``lower`` and ``upper`` are the ends of what the coding makes of a cell.
    * ``origins``: one of ``ORIGINS`` a column, or what ``describe_bought_origin`` says, or "" where it is not stated;
      empty where none is: ``bounds_origin`` says all.
    * ``weights``: half-width of numbers (1), how far two categories lie apart (√½), across a cycle (1).
    * ``words``: what the card of a release says in the owner's words, by the names of ``OwnerWords``.
    """

    columns: tuple[str, ...] = ()
    lower: tuple[float | None, ...] = ()
    upper: tuple[float | None, ...] = ()
    _: KW_ONLY
    title: Annotated[str, "for people"] = ""
    description: Annotated[str, "for people"] = ""
    file: Annotated[FileFormat, Key("how a CSV file is read", shown={"delimiter": ";", "decimal": ","})] = PLAIN_FORMAT
    numbers: Annotated[
        tuple[str, ...],
        Key("columns that hold numbers, clustered or not; left out: all but id and label", most=MAX_COLUMNS),
    ] = ()
    codings: Mapping[str, Coding] = field(default_factory=dict, hash=False)
    bounds_origin: Annotated[str, "where all bounds come from"] = ""
    origins: tuple[str, ...] = ()
    weights: Annotated[
        Mapping[str, float], Key("how much a column counts", each="a number from 0.1 to 4", shown={"region": 0.7})
    ] = field(default_factory=dict, hash=False)
    units: Annotated[
        Mapping[str, str],
        Key('"years", "k$": for eyes only', "an object of units by column", shown={"income": "k$"}, most=MAX_COLUMNS),
    ] = field(default_factory=dict, hash=False)
    describe: Annotated[
        Mapping[str, Described],
        Key("columns that segments are described by and that are not clustered", shown=DESCRIBED_EXAMPLE),
    ] = field(default_factory=dict, hash=False)
    scaling: Annotated[str, 'each column to [-1, 1] ("unit"), or one scale for all ("common")'] = "unit"
    radius: Annotated[
        float | None, Key("largest distance from the middle of the bounds; it cuts no categories", shown=2.5)
    ] = None
    unit_of_privacy: Annotated[str, Key("what is protected, in words", null=True)] = DEFAULT_UNIT
    relation: Annotated[str, Key('how neighbouring tables differ: "add_remove" or "replace"', null=True)] = "add_remove"
    n_public: Annotated[
        int | None, Key("the number of rows, where it is public; else a noisy one is bought", shown=1_000)
    ] = None
    n_range: Annotated[
        tuple[int, int] | None,
        Key("a range of it, where only that may be known: advice rests on it, and the check of δ", shown=[8000, 12000]),
    ] = None
    kind: Annotated[FileKind, '"simulated": made from declared numbers alone'] = FileKind.PRIVATE
    label_column: Annotated[
        str | None,
        Key('a known grouping, to judge results by; left out: a column "label", if there is one', name="label"),
    ] = None
    id_column: Annotated[str | None, "whose row each is; left out: one row a person"] = None
    rows_per_person: Annotated[int, Key("how many rows of a person are used at most", shown=3, null=True)] = 1
    proposed: Annotated[bool, "set by `declare`: a look at rows proposed this"] = False
    source: Annotated[str, "of the file"] = ""
    licence: Annotated[str, "of the file"] = ""
    words: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if not any(self.origins):
            object.__setattr__(self, "origins", ())

    @cached_property
    def bounds(self) -> Mapping[str, ColumnBounds]:
        """What is declared column by column; empty where one pair of bounds serves every column."""
        if not self.columns:
            return {}
        lines = zip(self.columns, self.lower, self.upper, self.origins or ("",) * len(self.columns), strict=True)
        return {name: ColumnBounds(low, high, origin) for name, low, high, origin in lines}

    def with_bounds(self, columns: Sequence[str], bounds: Sequence[ColumnBounds]) -> Declaration:
        """The same with these columns to cluster, and the bounds of each; they are described as what they are then.

        ``bounds``: one for each column, data units.
        """
        lower, upper, origins = zip(*bounds, strict=True) if bounds else ((), (), ())
        others = {name: described for name, described in self.describe.items() if name not in columns}
        return replace(self, columns=tuple(columns), lower=lower, upper=upper, origins=origins, describe=others)

    def with_coding(self, name: str, form: Mapping[str, Any], weight: float | None = None) -> Declaration:
        """The same with what ``form`` says of a column, which is then clustered; see ``read_coding``."""
        coding, lower, upper = read_coding(name, form)
        ends = self.bounds.get(name, NO_BOUNDS)._replace(lower=lower, upper=upper)
        columns = tuple(dict.fromkeys((*self.columns, name)))
        codings = {other: one for other, one in self.codings.items() if other != name}
        if coding.ends is not None or isinstance(coding, Stretched):
            codings[name] = coding
        weights = {other: one for other, one in self.weights.items() if other != name}
        weights |= {} if weight is None else {name: float(weight)}
        coded = replace(self, codings=codings, weights=weights)
        changed = coded.with_bounds(columns, [ends if one == name else self.bounds[one] for one in columns])
        changed.check_values()
        return changed

    def validate(self) -> Declaration:
        """Itself."""
        self.check_values()
        demand(self.rows_per_person <= 1 or self.id_column is not None, "rows_without_id")
        demand(not self.file.several_lines or self.kind.may_be_shown, "several_lines_private")
        for role, name in (("label column", self.label_column), ("id column", self.id_column)):
            demand(name is None or name not in self.columns, "two_roles", name=name, role=role)
        if twice := [name for name in self.describe if name in (*self.columns, self.id_column)]:
            raise IntakeError.of("described_twice", twice=twice)
        known = (*self.numbers, *self.textual)
        if self.numbers and (strangers := [name for name in self.columns if name not in known]):
            raise IntakeError.of("clustered_no_numbers", strangers=strangers, numbers=self.numbers)
        return self

    def check_values(self) -> None:
        """Refuse whatever is not allowed by itself, beside whatever else it stands."""
        self._check_bounds()
        for key, (one, other) in {"scaling": ("unit", "common"), "relation": ("add_remove", "replace")}.items():
            if (said := getattr(self, key)) not in (one, other):
                raise IntakeError.of("one_of_two", key=key, said=said, one=one, other=other)
        demand(self.radius is None or (math.isfinite(self.radius) and self.radius > 0), "radius", radius=self.radius)
        for key in ("n_public", "rows_per_person"):
            value = getattr(self, key)
            demand(value is None or value >= 1, "at_least_one", key=key, value=value)
        demand(self.unit_of_privacy.strip(), "unit_of_privacy", usual=DEFAULT_UNIT)
        if self.n_range is not None and not 1 <= self.n_range[0] <= self.n_range[1]:
            raise IntakeError.of("n_range", low=self.n_range[0], high=self.n_range[1])
        demand(self.n_range is None or self.n_public is None, "n_twice")
        if wrong := [name for name, unit in self.units.items() if len(unit) > LONGEST_UNIT or not unit.isprintable()]:
            raise IntakeError.of("unit_long", columns=wrong, most=LONGEST_UNIT)
        demand(len(self.describe) <= MOST_DESCRIBED, "too_many_described", many=len(self.describe), most=MOST_DESCRIBED)
        for name, described in self.describe.items():
            described.check(name)
        for name, weight in self.weights.items():
            check_weight(name, weight)

    def over(self, names: Sequence[str]) -> Declaration:
        """The same for a table of columns ``names``, with the clustered columns and the label spelled out."""
        label = self.label_column
        if label is None and USUAL_LABEL in names and USUAL_LABEL not in (*self.columns, *self.numbers):
            label = USUAL_LABEL
        labelled = replace(self, label_column=label)
        if self.columns:
            return labelled
        others = (label, self.id_column, *self.describe)
        columns = [name for name in self.numbers or names if name not in others]
        return labelled.with_bounds(columns, [self._pair] * len(columns))

    def choose_columns(self, columns: Sequence[str]) -> Declaration:
        """The same with other columns to cluster, whose bounds are declared already."""
        return self.with_bounds(columns, self._list_declared(columns))

    def make_domain(self) -> Domain:
        """The domain of the columns to cluster, which are spelled out; refused where there is none, or no bound."""
        if not self.columns:
            raise RequestError("No column is chosen: choose at least one column of numbers to cluster.")
        said = {name: getattr(self, name) for name in ("weights", "radius", "scaling", "units")}
        return make_coded_domain(self.columns, *self.list_bounds(self.columns), codings=self.coded, **said)

    @property
    def facts(self) -> dict[str, Any]:
        """What a private table is told of its rows, beside their domain."""
        return {name: getattr(self, name) for name in ("relation", "n_public", "rows_per_person")}

    @property
    def drops_incomplete(self) -> bool:
        """Whether a row with a missing cell is left out."""
        return self.relation == "add_remove"

    def make_private_table(self, values: Any, domain: Domain, persons: Codes | None = None) -> PrivateTable:
        """Rows in memory, ``values`` (n, d), data units, with all that is declared; ``persons`` (n,), whose each is."""
        return PrivateTable(values, domain, persons=persons, **self.facts)

    def list_bounds(self, columns: Sequence[str]) -> Bounds:
        """The declared bounds of ``columns``, in their order."""
        pairs = [bounds[:2] for bounds in self._list_declared(columns)]
        lower, upper = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
        return Bounds(lower, upper)

    @property
    def textual(self) -> tuple[str, ...]:
        """The columns to cluster whose cells are read as text."""
        return tuple(name for name in self.columns if name in self.codings and self.codings[name].textual)

    @property
    def coded(self) -> Mapping[str, Coding]:
        """The codings of the columns to cluster."""
        return {name: self.codings[name] for name in self.columns if name in self.codings}

    def count_coordinates(self) -> tuple[int, int]:
        """How many coordinates the columns to cluster make, and how many of these categories and circles do."""
        codings = {name: self.codings.get(name, NUMBER) for name in self.columns}
        made = [(len(coding.labels(name)), coding.shape is not None) for name, coding in codings.items()]
        return sum(number for number, _ in made), sum(number for number, coded in made if coded)

    def describe_origin(self, column: str) -> str:
        """Where the bounds of ``column`` come from, in words; "not stated" where nobody said."""
        stated = self.bounds.get(column, NO_BOUNDS).origin
        if is_bought(stated):  # what is said of all others is not said of it
            return stated
        return ": ".join(filter(None, (stated, self.bounds_origin.strip()))) or "not stated"

    @property
    def bounds_from_rows(self) -> bool:
        """Whether some bound was read from the rows: then no ε covers it."""
        return FROM_ROWS in self.origins or FROM_ROWS in self.bounds_origin

    @property
    def open_columns(self) -> tuple[str, ...]:
        """The columns to cluster, spelled out, whose bounds are not declared."""
        return tuple(name for name, bounds in self.bounds.items() if None in bounds[:2])

    @property
    def unexplained(self) -> list[str]:
        """Columns with bounds of which nobody says where they come from."""
        closed = [name for name in self.columns if name not in self.open_columns]
        return [name for name in closed if self.describe_origin(name) == "not stated"]

    @property
    def _pair(self) -> ColumnBounds:
        """Without ``columns``: what is declared of every column."""
        return next(map(ColumnBounds, self.lower, self.upper, self.origins or ("",)), NO_BOUNDS)

    def _list_declared(self, columns: Sequence[str]) -> list[ColumnBounds]:
        declared = self.bounds if self.columns else dict.fromkeys(columns, self._pair)
        known = {name: bounds for name, bounds in declared.items() if None not in bounds}
        if missing := [column for column in columns if column not in known]:
            raise IntakeError.of("bounds_undeclared", missing=missing, known=tuple(known))
        return [known[column] for column in columns]

    def _check_bounds(self) -> None:
        names = self.columns or ("every column",)
        demand(len(set(names)) == len(names), "columns_repeat", names=names)
        if not self.columns and not self.lower and not self.upper:
            return
        if not len(names) == len(self.lower) == len(self.upper):
            raise IntakeError.of("bounds_uneven", lower=len(self.lower), upper=len(self.upper), columns=len(names))
        for name, low, high in zip(names, self.lower, self.upper, strict=True):
            if low is None or high is None:
                self.codings.get(name, NUMBER).check_bounds(name, low, high)
                continue
            check_ends(name, low, high)
            if coding := self.codings.get(name):
                demand(coding.ends in (None, (low, high)), "values_and_bounds", name=name)
                coding.check_bounds(name, low, high)
        if strangers := [name for name in self.weights if self.columns and name not in self.columns]:
            raise IntakeError.of("weighed_strangers", strangers=strangers, columns=self.columns)


NOTHING_DECLARED = Declaration()


MAX_DECLARATION_BYTES = foreign.DECLARATION.most_bytes


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


def read_declaration(
    declared: Declaration | Mapping[str, Any] | str | os.PathLike[str], onto: Declaration = NOTHING_DECLARED
) -> Declaration:
    """What is declared, in any form that Python takes: a declaration, what its JSON says, or the path of such JSON."""
    if isinstance(declared, Declaration):
        return declared.validate()
    if isinstance(declared, str | os.PathLike):
        return apply_declaration_file(declared, onto).validate()
    try:
        text = json.dumps(dict(declared))
    except (TypeError, ValueError):
        raise IntakeError.of("declared_how") from None
    return apply_declaration(text, onto, what="What is declared").validate()


def apply_declaration_file(path: str | os.PathLike[str], onto: Declaration = NOTHING_DECLARED) -> Declaration:
    """``onto`` with everything that a JSON file declares in its place; see ``apply_declaration``."""
    name, called = Path(path).name, f"The file {quote_name(Path(path).name)}"
    missing, unreadable = (IntakeError.of(key, name=name) for key in ("no_declaration", "declaration_unreadable"))
    with foreign.refuse_as(unreadable, foreign.DECLARATION, missing=missing, called=called):
        raw = foreign.read_bytes(Path(path), MAX_DECLARATION_BYTES)
    demand(len(raw) <= MAX_DECLARATION_BYTES, "declaration_large", name=name)
    try:
        text = raw.decode("utf-8-sig")
    except ValueError:
        raise IntakeError.of("declaration_no_utf_8", name=name) from None
    return apply_declaration(text, onto, what=called)


def apply_declaration(text: str, onto: Declaration = NOTHING_DECLARED, *, what: str = "The text") -> Declaration:
    """``onto`` with everything that JSON ``text`` declares in its place.

    One pair of bounds without columns is that of the columns of ``onto``, if it has any. The result may still
    contradict itself: see ``Declaration.validate``.
    """
    from dpviz.tables.declaration_document import DeclarationDocument  # slow to import
    from dpviz.words import documents

    demand(isinstance(text, str), "declaration_no_text", what=what)
    with foreign.refuse_as(IntakeError.of("declares_nothing", what=what), foreign.DECLARATION):
        try:
            said = json.loads(text, object_pairs_hook=documents.refuse_repeats)
            json.dumps(said, ensure_ascii=False).encode()  # half of a character cannot be written anywhere
        except (ValueError, RecursionError):
            raise IntakeError.of("declaration_no_json", what=what) from None
        demand(isinstance(said, dict), "declaration_no_object", what=what)
        document = documents.read_document(DeclarationDocument, said, IntakeError)
        declared = replace(onto, **_list_fields(document), **_list_bounds(document, onto.columns))
        declared.check_values()
        return declared


def apply_bounds_option(text: str, onto: Declaration = NOTHING_DECLARED) -> Declaration:
    """``onto`` with what ``--bounds`` says: ``LO,HI`` for every column, or the path of a JSON file."""
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
    own: dict[str, dict[str, Any]] = {
        "file": {"file": list_file_values(declaration.file)},
        "codings": _list_ends(declaration),
        "origins": {"origins": {name: bounds.origin for name, bounds in declaration.bounds.items() if bounds.origin}},
        "scaling": {"scaling": declaration.scaling},
        # With a column that says whose each row is, one row is not what is protected: the default says nothing then.
        "unit_of_privacy": {"unit_of_privacy": declaration.unit_of_privacy}
        if declaration.id_column is None or declaration.unit_of_privacy != DEFAULT_UNIT
        else {},
        "rows_per_person": {} if declaration.id_column is None else {"rows_per_person": declaration.rows_per_person},
        "words": {"release": dict(declaration.words)},
    }
    if declaration.kind == FileKind.PUBLIC:
        own["kind"] = {"public": True}
    lines = []
    for key, value in list_values(declaration, own).items():
        if key == "bounds":
            pairs = (f"    {_format_value(name)}: {_format_value(one)}" for name, one in value.items())
            lines.append('  "bounds": {\n' + ",\n".join(pairs) + "\n  }")
        elif value not in ({}, []):
            lines.append(f'  "{key}": {_format_value(_shorten(value))}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _list_ends(declaration: Declaration) -> dict[str, Any]:
    """The bounds, by column or as one pair for all."""
    if not declaration.columns:
        return {key: end[0] for key, end in (("lower", declaration.lower), ("upper", declaration.upper)) if end}
    said = {
        name: declaration.codings.get(name, NUMBER).to_plain(_shorten(low), _shorten(high))
        for name, (low, high, _) in declaration.bounds.items()
    }
    return {"bounds": said}


def _format_value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def list_file_values(declared: FileFormat) -> dict[str, Any]:
    """What differs from the format that is read without any declaration; what differs in a column, whole."""
    # A column of which nothing is said takes what the file says: where that has such cells, having none is said, too.
    silent = () if not declared.style.missing else None
    styles = {
        name: {
            mark: list(said) if mark == "missing" else said for mark, said in style._asdict().items() if said != silent
        }
        for name, style in declared.styles.items()
    }
    return list_values(declared, {"styles": {"columns": styles} if styles else {}})


def _shorten(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


def _list_fields(document: DeclarationDocument) -> dict[str, Any]:
    """What is declared beside columns and their bounds, by the names of a ``Declaration``."""
    usual = {one.name: one.usual for one in list_fields(Declaration) if one.key}
    fields = {name: said for name, said in document.list_given().items() if name in usual}
    fields |= {name: usual[name] for name in fields if fields[name] is None}
    if "units" in fields:
        fields["units"] = {name: unit.strip() for name, unit in fields["units"].items() if unit.strip()}
    if "file" in fields:
        given = fields["file"].list_given()
        style = NumberStyle(**{name: given.pop(name) for name in NumberStyle._fields if name in given})
        styles = {name: style._replace(**own.list_given()) for name, own in given.pop("styles", {}).items()}
        fields["file"] = FileFormat(style=style, styles=styles, **given)
    if "describe" in fields:
        fields["describe"] = {name: Described(**one.list_given()) for name, one in fields["describe"].items()}
    if "public" in document.model_fields_set:
        fields["kind"] = FileKind.PUBLIC if document.public else FileKind.PRIVATE
    if "kind" in fields:
        fields["kind"] = FileKind(fields["kind"])
    if "release" in document.model_fields_set:
        fields["words"] = document.release.list_given()
    return {"rows_per_person": 1, **fields} if fields.get("id_column", "") is None else fields


def _list_bounds(document: DeclarationDocument, of: tuple[str, ...]) -> dict[str, Any]:
    """Columns, bounds and origins; one pair without columns is ``of`` these."""
    given = document.list_given()
    other_form = not given.keys().isdisjoint(("lower", "upper", "columns"))
    if "bounds" in given:
        if other_form:
            raise IntakeError.of("both_forms", both='"bounds" and "lower", "upper" or "columns"')
        demand(document.bounds, "bounds_form")
        pairs = document.bounds.items()
        said = {name: (NUMBER, *one) if isinstance(one, tuple) else read_coding(name, one) for name, one in pairs}
        codings = {name: coding for name, (coding, _, _) in said.items() if coding != NUMBER}
        ends = {key: tuple(one[place] for one in said.values()) for key, place in (("lower", 1), ("upper", 2))}
        read: dict[str, Any] = {"columns": tuple(said), "codings": codings, **ends}
    elif other_form:
        if document.lower is None or document.upper is None:
            raise IntakeError.of("bounds_missing")
        read = {"columns": document.columns or of, "codings": {}}
        many = max(1, len(read["columns"]))
        both = {"lower": document.lower, "upper": document.upper}
        read |= {key: end if isinstance(end, tuple) else (end,) * many for key, end in both.items()}
    elif "origins" in given:
        read = {"columns": of}
    else:
        return {}
    demand(document.origins.keys() <= {*read["columns"]}, "origins_form")
    return {**read, "origins": tuple(document.origins.get(name, "") for name in read["columns"])}


SECTORS: tuple[str, ...] = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")
"""The sectors that the public registry of deployments knows."""
NOT_STATED = "Not stated."
"""What stands for words of the owner that nobody has said."""
LONGEST = 2_000
"""Characters of each."""


class OwnerWord(NamedTuple):
    """One thing that an owner says: what it means in a document, and how it is asked for.

    ``label`` and ``hint`` stand above and in its box on the page, which has some lines where it is ``long``; where it
    is empty, ``lack`` says what to do. ``question`` is what only the owner can answer of what an evaluator asks, in
    plain words; the dossier prints both. ``several`` are listed one a line.
    """

    meaning: str
    label: str = ""
    hint: str = ""
    lack: str = ""
    question: str = ""
    long: bool = False
    several: bool = False


@dataclass(frozen=True, kw_only=True)
class OwnerWords:
    """What the owner says about a release, in the owner's words."""

    name: str = ""
    description: str = ""
    intended_use: str = ""
    curators: tuple[str, ...] = ()
    region: str = ""
    publication_date: str = ""
    sector: str = ""
    justification: str = ""
    authors: tuple[str, ...] = ()
    chosen_after_looking: str = ""
    several_rows: str = ""
    agreed_by: str = ""
    other_releases: str = ""
    decision: str = ""
    bounds_known_by: str = ""
    raw_access: str = ""
    storage: str = ""
    columns_needed: str = ""
    repeats: str = ""

    def list_missing(self) -> tuple[str, ...]:
        """What is still to be said before anything is charged, a sentence each; empty where nothing is missing."""
        missing = []
        for name, word in sorted(OWNER_WORDS.items(), key=lambda one: one[1].several):
            said = getattr(self, name)
            if word.lack and not (said and all(one.strip() for one in (said if word.several else (said,)))):
                missing.append(f"{name} is empty: {word.lack}.")
        if self.sector and self.sector not in SECTORS:
            known = ", ".join(SECTORS)
            missing.append(f"sector is not one that the registry knows: choose one of {known}, or leave it out.")
        if not is_day(self.publication_date):
            missing.append("publication_date is no day: write it as YYYY-MM-DD.")
        return tuple(missing)


_TOLD = read_toml(__file__, "owner_words.toml")
OWNER_WORDS: Mapping[str, OwnerWord] = {
    one.name: OwnerWord(**_TOLD[one.name], several=one.default == ()) for one in fields(OwnerWords)
}
"""Each by its name."""
OWNER_QUESTIONS: Mapping[str, str] = {name: word.question for name, word in OWNER_WORDS.items() if word.question}
"""What only the owner of a table can answer of what an evaluator asks."""


def list_said(*words: str) -> tuple[str, ...]:
    """Those of the owner's words that say something."""
    return tuple(one for one in words if one.strip() not in ("", NOT_STATED))


def is_day(text: str) -> bool:
    """Whether ``text`` is a day, written as YYYY-MM-DD."""
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def find_words(declaration: Declaration, *, today: str, **said: Any) -> OwnerWords:
    """The owner's words: what is declared for a release, and where nothing is, that it is not stated.

    ``said`` replaces what is declared. What is there and empty stays empty, so that it is asked for.
    """
    usual: dict[str, Any] = {
        **{name: (NOT_STATED,) if word.several else NOT_STATED for name, word in OWNER_WORDS.items() if word.lack},
        "name": declaration.title or "Cluster centres",
        "description": declaration.description or "Cluster centres of a table of persons.",
        "publication_date": today,
    }
    return OwnerWords(**{**usual, **declaration.words, **said})
