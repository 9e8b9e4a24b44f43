"""What the owner declares about a table: public statements, which decide how every record is read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dpviz.tables.coding_forms import check_weight, read_coding
from dpviz.tables.codings import NUMBER, Coding, Stretched
from dpviz.tables.described import MOST_DESCRIBED, Described
from dpviz.tables.file_format import PLAIN_FORMAT, FileFormat
from dpviz.tables.loaded_table import USUAL_LABEL, FloatArray, IntakeError, list_names, quote_name

DEFAULT_UNIT = "one row"
LONGEST_UNIT = 12
"""Characters in the unit of a column: it stands beside numbers and on axes."""
ORIGINS = (
    "documentation",
    "law or physics",
    "earlier release",
    "public data",
    "a guess",
    "these rows (leaks!)",
)
"""Where a bound can come from; the last one is honest, and no release should rest on it."""

FROM_ROWS = ORIGINS[-1]

RELEASE_WORDS = (
    *("name", "description", "intended_use", "curators", "region", "publication_date", "sector"),
    *("justification", "authors", "chosen_after_looking"),
    *("several_rows", "agreed_by", "other_releases", "decision", "bounds_known_by", "raw_access", "storage"),
    *("columns_needed", "repeats"),
)
"""What the card and the dossier of a release ask their owner for; curators and authors are several."""

SEVERAL_WORDS = ("curators", "authors")

_BOUGHT = "bought, ε = "


def describe_bought_origin(epsilon: float) -> str:
    """The origin of bounds that were bought with a part of the budget: their owner did not look, and ε covers them.

    >>> describe_bought_origin(0.05)
    'bought, ε = 0.05'
    """
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

    Attributes
    ----------
    columns : tuple of str
        The columns to cluster, in order; empty where one pair of bounds serves every number column.
    lower, upper : tuples of float or None
        One number a column, data units; one number each where ``columns`` is empty; None where none is declared yet.
    bounds_origin : str
        Where the bounds come from, in words.
    origins : tuple of str
        One of ``ORIGINS`` a column, or what ``describe_bought_origin`` says, or "" where it is not stated; empty where
        none is: ``bounds_origin`` says all.
    units : mapping of str to str
        What the numbers of a column count, such as "years" or "k$", where that is stated; for eyes only.
    codings : mapping of str to Coding
        Columns that are more than a number between bounds: categories, ranks, dates, cycles, logarithms. Their
        ``lower`` and ``upper`` are the ends of what the coding makes of a cell.
    weights : mapping of str to float
        How much a column counts: half-width of numbers (1), how far two categories lie apart (√½), across a cycle (1).
    radius : float or None
        Largest distance from the middle of the bounds (see ``Domain``); it cuts no categories.
    scaling : "unit" or "common"
    relation : "add_remove" or "replace"
        How neighbouring tables differ.
    id_column : str or None
        Whose row each row is; None means one row a person.
    rows_per_person : int
        At most this many rows of a person are used.
    n_public : int or None
        The number of rows, where it is public; None means that a noisy one is bought.
    n_range : pair of int or None
        Where the number of rows is not public but a range of it is: advice and the check of δ rest on it. A noisy
        number is bought all the same.
    kind : FileKind
    label_column : str or None
        A known grouping, used only to judge results on revealed rows. None: a column named ``label`` where there is
        one; "": none at all.
    numbers : tuple of str
        The columns that hold numbers, clustered or not; empty: all but id and label.
    describe : mapping of str to Described
        Columns that are not clustered but described segment by segment, with their categories or bounds. Clustered
        columns always are.
    file : FileFormat
        How the bytes of the file are read.
    proposed : bool
        Whether a look at the rows proposed how to read the file.
    words : mapping of str to str or tuple of str
        What the card of a release says in the owner's words, by ``RELEASE_WORDS``.
    title, description, unit_of_privacy, source, licence : str
    """

    columns: tuple[str, ...] = ()
    lower: tuple[float | None, ...] = ()
    upper: tuple[float | None, ...] = ()
    bounds_origin: str = ""
    origins: tuple[str, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict, hash=False)
    codings: Mapping[str, Coding] = field(default_factory=dict, hash=False)
    weights: Mapping[str, float] = field(default_factory=dict, hash=False)
    radius: float | None = None
    scaling: str = "unit"
    relation: str = "add_remove"
    id_column: str | None = None
    rows_per_person: int = 1
    n_public: int | None = None
    n_range: tuple[int, int] | None = None
    kind: FileKind = FileKind.PRIVATE
    label_column: str | None = None
    numbers: tuple[str, ...] = ()
    describe: Mapping[str, Described] = field(default_factory=dict, hash=False)
    file: FileFormat = PLAIN_FORMAT
    proposed: bool = False
    words: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict, hash=False)
    title: str = ""
    description: str = ""
    unit_of_privacy: str = DEFAULT_UNIT
    source: str = ""
    licence: str = ""

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

        Parameters
        ----------
        columns : sequence of str
            Names of the columns.
        bounds : sequence of ColumnBounds
            One for each column, data units.

        Returns
        -------
        Declaration
            Checked when it is used.
        """
        lower, upper, origins = zip(*bounds, strict=True) if bounds else ((), (), ())
        others = {name: described for name, described in self.describe.items() if name not in columns}
        return replace(self, columns=tuple(columns), lower=lower, upper=upper, origins=origins, describe=others)

    def with_coding(self, name: str, form: Mapping[str, Any], weight: float | None = None) -> Declaration:
        """The same with what ``form`` says of a column, which is then clustered; see ``read_coding``.

        Parameters
        ----------
        name : str
            Of the column.
        form : mapping of str to object
            As in a declaration file.
        weight : float or None
            Of the column, where one is said.

        Returns
        -------
        Declaration

        Raises
        ------
        IntakeError
            If it cannot be declared.
        """
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
        """Itself.

        Raises
        ------
        IntakeError
            If something in it is not allowed, or contradicts something else. Missing bounds are allowed here.
        """
        self.check_values()
        if self.rows_per_person > 1 and self.id_column is None:
            raise IntakeError('"rows_per_person" needs "id_column", the column that says whose row it is; add it.')
        if self.file.several_lines and not self.kind.may_be_shown:
            raise IntakeError(
                "Records over several lines are declared for a private file; there one row could change how all rows "
                "below it are read, which no ε covers; write one record a line, or declare the file public."
            )
        self._check_roles()
        return self

    def check_values(self) -> None:
        """Refuse whatever is not allowed by itself, beside whatever else it stands.

        Raises
        ------
        IntakeError
            If something is not.
        """
        self._check_bounds()
        if self.scaling not in ("unit", "common"):
            raise IntakeError(f'The scaling is {quote_name(self.scaling)}; write "unit" or "common".')
        if self.relation not in ("add_remove", "replace"):
            raise IntakeError(f'The relation is {quote_name(self.relation)}; write "add_remove" or "replace".')
        if self.radius is not None and not (math.isfinite(self.radius) and self.radius > 0):
            raise IntakeError(f"The radius is {self.radius:g}; write a finite number above 0, or leave it out.")
        for key in ("n_public", "rows_per_person"):
            value = getattr(self, key)
            if value is not None and value < 1:
                raise IntakeError(f'"{key}" is {value}; write a whole number of at least 1, or leave it out.')
        self._check_range()
        if wrong := [name for name, unit in self.units.items() if len(unit) > LONGEST_UNIT or not unit.isprintable()]:
            raise IntakeError(
                f"The unit of {list_names(wrong)} is longer than {LONGEST_UNIT} characters or cannot be printed; "
                "write one "
                "such as years, km or k$."
            )
        if len(self.describe) > MOST_DESCRIBED:
            raise IntakeError(
                f'"describe" names {len(self.describe):,} columns, and at most {MOST_DESCRIBED} are allowed; keep '
                "those that tell segments apart."
            )
        for name, described in self.describe.items():
            described.check(name)
        for name, weight in self.weights.items():
            check_weight(name, weight)

    def _check_range(self) -> None:
        if self.n_range is None:
            return
        low, high = self.n_range
        if not 1 <= low <= high:
            raise IntakeError(
                f'"n_range" is {low:,} to {high:,}; write two whole numbers from 1 on, the smaller first.'
            )
        if self.n_public is not None:
            raise IntakeError('"n_public" and "n_range" both say how many rows there are; keep one of them.')

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
        """The same with other columns to cluster, whose bounds are declared already.

        Raises
        ------
        IntakeError
            If a column has no declared bounds.
        """
        return self.with_bounds(columns, self._list_declared(columns))

    def list_bounds(self, columns: Sequence[str]) -> Bounds:
        """The declared bounds of ``columns``, in their order.

        Raises
        ------
        IntakeError
            If a column has no declared bounds.
        """
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
    def undefended(self) -> tuple[str, ...]:
        """The columns to cluster on whose bounds no release may rest: open, of no stated origin, or from the rows.

        Bought bounds are defended: what they tell of the rows is paid for.
        """
        everywhere = self.bounds_origin.strip()
        return tuple(
            name
            for name, bounds in self.bounds.items()
            if None in bounds[:2] or not (bounds.origin or everywhere) or FROM_ROWS in (bounds.origin, everywhere)
        )

    @property
    def bounds_from_rows(self) -> bool:
        """Whether some bound was read from the rows: then no ε covers it."""
        return FROM_ROWS in self.origins or FROM_ROWS in self.bounds_origin

    @property
    def _pair(self) -> ColumnBounds:
        """Without ``columns``: what is declared of every column."""
        return next(map(ColumnBounds, self.lower, self.upper, self.origins or ("",)), NO_BOUNDS)

    def _list_declared(self, columns: Sequence[str]) -> list[ColumnBounds]:
        declared = self.bounds if self.columns else dict.fromkeys(columns, self._pair)
        known = {name: bounds for name, bounds in declared.items() if None not in bounds}
        if missing := [column for column in columns if column not in known]:
            raise IntakeError(
                f"No bounds are declared for {list_names(missing)}; they are for {list_names(tuple(known))}; "
                "declare a lower "
                "and an upper bound that are known without a look at the rows, or choose among these."
            )
        return [known[column] for column in columns]

    def _check_bounds(self) -> None:
        names = self.columns or ("every column",)
        if len(set(names)) < len(names):
            raise IntakeError(f"Columns {list_names(names)} repeat in the bounds; declare each once.")
        if not self.columns and not self.lower and not self.upper:
            return
        if not len(names) == len(self.lower) == len(self.upper):
            raise IntakeError(
                f"There are {len(self.lower)} lower and {len(self.upper)} upper bounds for {len(names)} column(s); "
                "declare one of each for every column."
            )
        for name, low, high in zip(names, self.lower, self.upper, strict=True):
            if low is None or high is None:
                self.codings.get(name, NUMBER).check_bounds(name, low, high)
                continue
            if not (math.isfinite(low) and math.isfinite(high) and low < high and math.isfinite(high - low)):
                raise IntakeError(
                    f"The bounds of {quote_name(name)} are {low:g} and {high:g}; both must be finite with lower < "
                    "upper; "
                    "declare other bounds."
                )
            if coding := self.codings.get(name):
                if coding.ends not in (None, (low, high)):
                    raise IntakeError(
                        f"{quote_name(name)} has declared values, and numbers as bounds besides; keep one of the two."
                    )
                coding.check_bounds(name, low, high)
        if strangers := [name for name in self.weights if self.columns and name not in self.columns]:
            raise IntakeError(
                f'{list_names(strangers)} in "weights" is no column to cluster; these are '
                f"{list_names(self.columns)}; weigh "
                "one of them."
            )

    def _check_roles(self) -> None:
        for role, name in (("label column", self.label_column), ("id column", self.id_column)):
            if name is not None and name in self.columns:
                raise IntakeError(
                    f"Column {quote_name(name)} is both the {role} and a column to cluster; it is one of the two; "
                    "drop one."
                )
        if twice := [name for name in self.describe if name in (*self.columns, self.id_column)]:
            raise IntakeError(
                f'{list_names(twice)} in "describe" is clustered, or says whose a row is; clustered columns are '
                "described "
                "anyway, and an id never is; leave it out there."
            )
        known = (*self.numbers, *self.textual)
        if self.numbers and (strangers := [name for name in self.columns if name not in known]):
            raise IntakeError(
                f"Columns {list_names(strangers)} are to be clustered, but number columns are "
                f"{list_names(self.numbers)}; "
                "cluster these, or declare the others as numbers."
            )


NOTHING_DECLARED = Declaration()
