"""A table in memory, before any privacy: what intake hands on, and the one error it raises.

What its cells are called stands here, too: a cell as a number or as text, by itself, whatever library holds the rows. A
program that makes a data frame chooses the type of a column by all of its cells: whole numbers beside a missing one
become floats, truths become objects, midnights are printed without an hour. Such a type is made of rows. So nothing
here depends on it: what a cell says follows from its value, which is the same in all types that can hold it
(``docs/proofs/doors.md``).
"""

from __future__ import annotations

import hashlib
import re
import stat
import unicodedata
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import islice
from math import isfinite, nan
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Protocol, Self
from uuid import UUID

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpviz.core import RequestError
from dpviz.words import Sentences, foreign, list_names

MISSING = frozenset(("", "NA", "N/A", "n/a", "#N/A", "NULL", "null", "nan", "NaN", "None"))
"""What people write for a missing cell, besides nothing."""

# From here on different whole numbers are one float, and which of them a frame holds depends on its other rows.
_FIRST_INEXACT = 2**53
_MOST_DIGITS = 400
# A whole number as spreadsheets and data frames write it where a cell of its column is empty.
_POINT_NOUGHT = re.compile(r"([+-]?\d+)\.0+")
_NUMBER = re.compile(r"[+\u2212-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
# To Python a truth is 1, and a column of categories keeps whichever of both came first.
_TRUTHS = {"True": "1", "true": "1", "TRUE": "1", "False": "0", "false": "0", "FALSE": "0"}
_NUMBERS = (int, float, np.number, np.bool_, Decimal, Fraction)


def find_text(cell: Any) -> str | None:
    """What a cell is called; None where it is missing, or holds something else than one value.

    Blanks around it are dropped, letters composed; a whole number has no point, a truth is 1 or 0, midnight no hour.

    >>> [find_text(cell) for cell in (" 7.0 ", 7, 7.0, 2.5, True, datetime(2024, 1, 2), "NA", [7], 2**53)]
    ['7', '7', '7', '2.5', '1', '2024-01-02', None, None, None]
    """
    text = _write_out(cell)
    if text is None:
        return None
    text = (text if text.isascii() else unicodedata.normalize("NFC", text)).strip()
    if text in MISSING:
        return None
    if text.endswith("0") and (whole := _POINT_NOUGHT.fullmatch(text)):
        return whole[1]
    return _TRUTHS.get(text, text)


def find_number(cell: Any) -> float:
    """The number that a cell holds, or writes with a decimal point; NaN for anything else.

    >>> [find_number(cell) for cell in (True, "True", 7, "7.0", Decimal("1.5"), "1e3", "1,5", 10**400, None)]
    [1.0, 1.0, 7.0, 7.0, 1.5, 1000.0, nan, nan, nan]
    """
    if isinstance(cell, bytes):
        cell = cell.decode(errors="replace")
    if isinstance(cell, str):
        text = cell.strip()
        value = float(text.replace("\u2212", "-")) if _NUMBER.fullmatch(text) else float(_TRUTHS.get(text, nan))
    elif isinstance(cell, complex | np.complexfloating):
        value = float(cell.real) if cell.imag == 0 else nan
    elif isinstance(cell, _NUMBERS) and not isinstance(cell, np.timedelta64):
        try:
            value = float(cell)
        except (OverflowError, ValueError):  # beyond all floats, or a signalling NaN
            value = nan
    else:
        value = nan
    return value if isfinite(value) else nan


def _write_out(cell: Any) -> str | None:
    """The text of a value, whichever of its types holds it."""
    if isinstance(cell, str):
        return str(cell)
    if cell is None or cell is pd.NA or cell is pd.NaT:
        return None
    if isinstance(cell, np.bool_):
        return str(int(cell))
    if isinstance(cell, timedelta | np.timedelta64):  # which NumPy counts among the whole numbers
        try:
            span: Any = pd.Timedelta(cell)
        except (OverflowError, ValueError):  # longer than a computer counts
            return None
        return None if pd.isna(span) else str(span)
    if isinstance(cell, int | np.integer):
        return str(int(cell)) if abs(int(cell)) < _FIRST_INEXACT else None
    if isinstance(cell, float | np.floating):
        value = float(cell)
        if not abs(value) < _FIRST_INEXACT:
            return None
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(cell, complex | np.complexfloating):
        return _write_out(float(cell.real)) if cell.imag == 0 else None
    if isinstance(cell, bytes):
        return cell.decode(errors="replace")
    if isinstance(cell, date | np.datetime64):
        moment = find_moment(cell)
        if not isinstance(moment, datetime):
            return None if moment is None else moment.isoformat()
        if moment.tzinfo is not None:  # two clocks may show one moment
            try:
                moment = moment.astimezone(UTC)
            except (OverflowError, ValueError):  # at the ends of the calendar
                return None
        text = moment.replace(tzinfo=None).isoformat(sep=" ")
        if "." in text:
            text = text.rstrip("0").rstrip(".")
        return text.removesuffix(" 00:00:00") if moment.tzinfo is None else text + "+00:00"
    if isinstance(cell, time):
        return cell.isoformat()
    if isinstance(cell, Decimal):
        return None if cell.is_nan() or abs(cell) >= _FIRST_INEXACT else _write_out_decimal(cell)
    return str(cell) if isinstance(cell, UUID | pd.Period | pd.Interval) else None


def _write_out_decimal(cell: Decimal) -> str | None:
    if not cell.is_finite() or abs(cell.adjusted()) > _MOST_DIGITS:
        return None
    text = format(cell, "f")
    return (text.rstrip("0").rstrip(".") if "." in text else text) if cell else "0"


def find_moment(cell: Any) -> date | None:
    """The date, or date and time, that a cell holds; None where it is of another type, or beyond the calendar."""
    if isinstance(cell, np.datetime64):
        cell = pd.Timestamp(cell)
    return cell if isinstance(cell, date) and cell is not pd.NaT and 1 <= cell.year <= 9999 else None


def map_cells(cells: Any, convert: Callable[[Any], Any], kind: Any) -> NDArray[Any]:
    """What ``convert`` makes of each cell of a column of shape (n,), as an array of that ``kind`` of shape (n,).

    Equal cells of a column of one type are asked about once.
    """
    column = cells if isinstance(cells, pd.Series) else pd.Series(cells)
    if isinstance(column.dtype, pd.SparseDtype):
        column = column.astype(column.dtype.subtype)
    if _may_hold_anything(column.dtype):
        return _collect([convert(cell) for cell in column.tolist()], kind)
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes, different = column.cat.codes.to_numpy(), column.cat.categories.to_series()
        made = map_cells(different, convert, kind)
    else:
        codes, values = pd.factorize(column)
        # Some types keep whole numbers whole beside a missing cell: floats never come between.
        exact = pd.api.types.is_integer_dtype(column.dtype) and pd.api.types.is_extension_array_dtype(column.dtype)
        exact = exact or (isinstance(column.dtype, pd.ArrowDtype) and column.dtype.type is Decimal)
        made = _collect([convert(str(cell) if exact else cell) for cell in values.tolist()], kind)
    # The last one is that of missing cells, whose code is -1.
    return np.concatenate([made, _collect([convert(None)], kind)])[codes]


def _may_hold_anything(kind: Any) -> bool:
    """Whether cells of a column may be of several types, so that equal ones may differ, or of one that has parts."""
    if isinstance(kind, pd.ArrowDtype):
        return kind.kind == "O" and kind.type not in (bytes, Decimal)
    return bool(kind == np.dtype(object))


def _collect(values: list[Any], kind: Any) -> NDArray[Any]:
    column = np.empty(len(values), dtype=kind)
    column[:] = values
    return column


def list_texts(cells: Any) -> NDArray[np.object_]:
    """``find_text`` of each cell of a column of shape (n,)."""
    return map_cells(cells, find_text, object)


def hash_ids(cells: Any) -> NDArray[np.int64]:
    """Whose each row is, shape (n, 2), of an id column of shape (n,), of any kind of frame; -1 where the cell is empty.

    126 bits of ``find_text`` of that cell alone: no two ids of any table have the same ones.
    """
    ids = list_texts(take_frame(cells))
    halves = [pd.util.hash_array(ids, hash_key=f"dpviz, persons {i}", categorize=False) >> 1 for i in (1, 2)]
    return np.where(pd.isna(ids)[:, None], -1, np.stack(halves, axis=1).astype(np.int64))


def list_numbers(cells: Any) -> FloatArray:
    """``find_number`` of each cell of a column of shape (n,), data units."""
    column = cells if isinstance(cells, pd.Series) else pd.Series(cells)
    kind = column.dtype
    if isinstance(kind, pd.SparseDtype):
        kind = kind.subtype
    if kind.kind not in "biuf":
        return map_cells(column, find_number, np.float64)
    # Numbers become floats one by one in any case.
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.where(np.isfinite(values), values, np.nan)


def take_frame(values: Any) -> Any:
    """A table or series of Arrow or Polars as one of pandas that keeps the types of its columns; all else as it is."""
    if hasattr(values, "to_arrow"):  # Polars
        values = values.to_arrow()
    if hasattr(values, "to_pandas") and not hasattr(values, "__dask_graph__"):
        values = values.to_pandas(types_mapper=pd.ArrowDtype)
    return values


# Before version 3 "str" made the text "nan" of a missing cell: rows of nobody would have been those of one person.
TEXT: Any = "str" if int(pd.__version__.partition(".")[0]) >= 3 else pd.StringDtype("pyarrow_numpy")


FloatArray = NDArray[np.float64]

USUAL_LABEL = "label"
"""The name of a column that is no coordinate but a known grouping, unless something else is declared."""


CELLS_KEPT = 500
"""Cells of a column that are no number, kept to find out how they are written."""


class CellCoding(Protocol):
    """What turns each cell of a column into a number, by itself (see ``codings``)."""

    @property
    def textual(self) -> bool:
        """Whether it takes text."""
        ...

    def numbers(self, cells: Any) -> FloatArray:
        """The number of each cell (n,)."""
        ...


REFUSALS = Sentences(__file__, "refusals.toml")


class IntakeError(RequestError):
    """A file or table that cannot be used, and what to do about it; never a value of a cell."""

    @classmethod
    def of(cls, key: str, /, **said: Any) -> Self:
        """The refusal that ``refusals.toml`` has under that key, with what is ``said`` in its places."""
        return cls(REFUSALS.fill(key, **said))


def demand(holds: object, key: str, /, **said: Any) -> None:
    """Refuse what does not hold, in the sentence of that key; see ``IntakeError.of``."""
    if not holds:
        raise IntakeError.of(key, **said)


NO_CODINGS: Mapping[str, CellCoding] = MappingProxyType({})


def refuse_unknown(names: Iterable[str], known: Sequence[str]) -> None:
    """Refuse columns that are not there.

    Parameters
    ----------
    names : iterable of str
    known : sequence of str
        The columns of the table.

    Raises
    ------
    IntakeError
        If one of the first is none of the second.
    """
    there = frozenset(known)
    if unknown := [name for name in names if name not in there]:
        raise IntakeError.of("unknown_columns", strangers=unknown, columns=[*known])


def refuse_repeats(names: Sequence[str]) -> None:
    """Refuse columns two of which have one name."""
    if twice := [name for name, many in Counter(names).items() if many > 1]:
        raise IntakeError.of("columns_of_one_name", name=twice[0])


def split_by_coding(names: Sequence[str], codings: Mapping[str, CellCoding]) -> tuple[list[str], list[str]]:
    """The columns whose cells are read as numbers, and those whose coding takes text."""
    textual = [name for name in names if name in codings and codings[name].textual]
    return [name for name in names if name not in textual], textual


@dataclass(frozen=True)
class Unread:
    """What a column lost on the way in: counts of rows, read without privacy, for the owner's eyes."""

    empty: int = 0
    no_number: int = 0
    broken: int = 0
    cells: tuple[bytes, ...] = field(default=(), repr=False)

    @classmethod
    def combine(cls, parts: Sequence[Unread]) -> Unread:
        """What several pieces of a column lost together."""
        cells = dict.fromkeys(cell for part in parts for cell in part.cells)
        empty, no_number, broken = (
            sum(getattr(part, name) for part in parts) for name in ("empty", "no_number", "broken")
        )
        return cls(empty, no_number, broken, tuple(islice(cells, CELLS_KEPT)))


@dataclass(frozen=True, eq=False)
class LoadedTable:
    """Rows and columns as they came in; nothing here is released.

    Attributes
    ----------
    name : str
        What the table is called on screen: the file name without its ending, or what the caller chose.
    frame : pandas.DataFrame, shape (n, number of columns)
        Every column that was kept: numeric ones as float64 (missing = NaN), the others as text.
    fingerprint : str
        SHA-256 of names and values, computed once at load: the key for caches.
    notes : tuple of str
        What the owner should know of the way in, by column name; neither cell values nor counts.
    given : mapping of str to series
        Columns as they came in: all of a data frame, whose types say nothing, and those of a file that tell more than
        the frame. What a column is declared to hold is read from here.
    unread : mapping of str to Unread
        What number columns lost on the way, where a file was read.
    """

    name: str
    frame: pd.DataFrame = field(repr=False)
    fingerprint: str
    notes: tuple[str, ...] = ()
    given: Mapping[str, pd.Series[Any]] = field(default_factory=dict, repr=False)
    unread: Mapping[str, Unread] = field(default_factory=dict, repr=False)

    @cached_property
    def numeric_columns(self) -> tuple[str, ...]:
        """The columns of numbers, in file order."""
        return tuple(str(name) for name, kind in self.frame.dtypes.items() if kind == np.float64)

    @cached_property
    def text_columns(self) -> tuple[str, ...]:
        """The other columns, in file order."""
        return tuple(str(name) for name, kind in self.frame.dtypes.items() if kind != np.float64)

    @property
    def n_rows(self) -> int:
        """How many rows there are: a private number under add/remove, neither shown nor used unpaid."""
        return len(self.frame)

    def columns(self, names: Sequence[str]) -> FloatArray:
        """The chosen columns as a new float64 array of shape (n, d), data units, missing = NaN.

        Those of a file have to be numbers there; of a data frame a cell that is none is a missing one.
        """
        chosen = [names] if isinstance(names, str) else list(names)
        allowed = f"numeric columns are {list_names(self.numeric_columns)}"
        demand(chosen, "no_column", allowed=allowed)
        demand(len(set(chosen)) == len(chosen), "column_twice", chosen=chosen)
        refuse_unknown(chosen, tuple(self.frame.columns))
        text = [name for name in chosen if name in self.text_columns]
        demand(all(name in self.given for name in text), "text_column", text=text, allowed=allowed)
        columns = [list_numbers(self.get_cells(name)) if name in text else self.frame[name] for name in chosen]
        return np.stack(columns, axis=1)

    def get_cells(self, column: str) -> pd.Series[Any]:
        """The cells of a column as they came in."""
        refuse_unknown([column], tuple(self.frame.columns))
        return self.given.get(column, self.frame[column])

    def encode_columns(self, names: Sequence[str], codings: Mapping[str, CellCoding]) -> FloatArray:
        """As ``columns``, with the columns that have a coding as the numbers that it makes of their cells.

        Returns (n, names), data units; NaN where a cell is missing.
        """
        if not codings:
            return self.columns(names)
        refuse_unknown(names, tuple(self.frame.columns))
        plain, textual = split_by_coding(names, codings)
        numbers = dict(zip(plain, self.columns(plain).T, strict=True)) if plain else {}
        return stack_columns({**numbers, **{name: self.get_cells(name) for name in textual}}, names, codings)

    def check_id(self, column: str) -> None:
        """Refuse an id column that its file holds as floats."""
        demand(column not in self.numeric_columns or column in self.given, "float_id", column=column)

    def identifiers(self, column: str) -> NDArray[np.int64]:
        """Whose each row is, by ``hash_ids``: what a cell is called depends on that cell only."""
        self.check_id(column)
        return hash_ids(self.get_cells(column))

    def groups(self, column: str) -> NDArray[np.int64]:
        """To which group each row belongs: codes 0, 1, ... of shape (n,), -1 where the cell is empty.

        Two cells are the same if they are the same text (see ``find_text``).
        """
        return pd.factorize(self.find_texts(column))[0].astype(np.int64)

    def find_texts(self, column: str) -> NDArray[np.object_]:
        """``find_text`` of each cell, (n,)."""
        return list_texts(self.get_cells(column))


LoadedTable.__module__ = "dpviz"


class StoredTable(ABC):
    """A table that lies in files is of one state: that in which they were when it was first looked at."""

    changed: ClassVar[str]
    """The refusal of one that somebody has written since it was first looked at."""

    @abstractmethod
    def _list_files(self) -> tuple[Path, ...]: ...

    # Errors of the reader as one sentence: their own may quote cells.
    @abstractmethod
    def _refuse_damaged(self) -> AbstractContextManager[None]: ...

    @property
    def part(self) -> str:
        """Which of the tables that lie there it is, where there may be several."""
        return ""

    @cached_property
    def states(self) -> tuple[tuple[Path, int, int], ...]:
        """Each file with its size and its time when the table was first looked at."""
        return self._read_states()

    def _read_states(self) -> tuple[tuple[Path, int, int], ...]:
        with self._refuse_damaged():
            return tuple((path, *read_size_and_time(path)) for path in self._list_files())

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(size for _, size, _ in self.states)

    @cached_property
    def fingerprint(self) -> str:
        """Tells tables apart, and two states of one: by place, size and time."""
        told = (self.part, *((str(path.resolve()), size, time) for path, size, time in self.states))
        return hashlib.sha256(repr(told).encode("utf-8", "surrogatepass")).hexdigest()

    def check_unchanged(self) -> None:
        """Refuse a table of which somebody has written a part since it was first looked at."""
        if self._read_states() != self.states:
            raise IntakeError.of(self.changed)


def read_size_and_time(path: Path) -> tuple[int, int]:
    """Of a regular file."""
    state = foreign.read_state(path)
    if not stat.S_ISREG(state.st_mode):
        raise OSError("not a regular file")
    return state.st_size, state.st_mtime_ns


def stack_columns(columns: Mapping[str, Any], names: Sequence[str], codings: Mapping[str, CellCoding]) -> FloatArray:
    """Columns side by side (n, names), coded ones as the numbers that their coding makes of cells; NaN is missing."""
    coded = (codings[name].numbers(columns[name]) if name in codings else columns[name] for name in names)
    return np.stack([np.asarray(column, dtype=np.float64) for column in coded], axis=1)


def make_numeric_table(values: Any, columns: Sequence[str] | None = None, *, name: str = "table") -> LoadedTable:
    """A table from numbers already in memory.

    Parameters
    ----------
    values : array-like of shape (n,) or (n, d), or a data frame of pandas, Polars or Arrow
        Data units. Types are no say in it: what a column of a frame holds is declared, and a cell that is something
        else is a missing one.
    columns : sequence of str, optional
        One name a column; ``column_1``, ``column_2``, ... for an array without names.
    name : str
        Of the table.

    Returns
    -------
    LoadedTable
        All columns numbers, but for those of a frame that are not stored as numbers.

    Raises
    ------
    IntakeError
        If the values do not have one or two dimensions, or the names do not fit.
    """
    values = take_frame(values)
    frame = values.copy(deep=False) if isinstance(values, pd.DataFrame) else _make_frame(values)
    names = [str(column) for column in frame.columns] if columns is None else [str(column) for column in columns]
    demand(len(names) == frame.shape[1], "names_uneven", many=len(names), columns=frame.shape[1])
    refuse_repeats(names)
    cells = {new: frame.iloc[:, place].reset_index(drop=True) for place, new in enumerate(names)}
    kept = {new: _store_column(column) for new, column in cells.items()}
    # What is stored as floats already is not kept twice.
    given = {new: pd.Series(kept[new]) if column.dtype == np.float64 else column for new, column in cells.items()}
    return make_table(kept, name=name, given=given)


def make_table(
    columns: dict[str, FloatArray | pd.Series[Any]],
    *,
    name: str,
    notes: tuple[str, ...] = (),
    given: Mapping[str, pd.Series[Any]] | None = None,
    unread: Mapping[str, Unread] | None = None,
) -> LoadedTable:
    """A ``LoadedTable`` of finished columns, data units: float64 arrays are numeric, series are text; see there."""
    digest = hashlib.sha256()
    for column, values in columns.items():
        digest.update(f"{len(column)}:{column}:{len(values)}:".encode("utf-8", "surrogatepass"))
        if isinstance(values, np.ndarray):
            values.flags.writeable = False
            digest.update(np.ascontiguousarray(values).data)
            continue
        codes, known = pd.factorize(values)
        digest.update(b"text" + codes.astype(np.int64).tobytes())
        lengths = known.str.len().to_numpy(dtype=np.int64)
        digest.update(lengths.tobytes() + "".join(known).encode("utf-8", "surrogatepass"))
    return LoadedTable(name, pd.DataFrame(columns, copy=False), digest.hexdigest(), notes, given or {}, unread or {})


def _make_frame(values: Any) -> pd.DataFrame:
    # Not by what NumPy would make of all cells of a list: one text among them would make text of every number.
    array = np.asarray(values, dtype=object if isinstance(values, list | tuple) else None)
    demand(array.ndim in (1, 2), "dimensions", ndim=array.ndim)
    table = array.reshape(len(array), -1) if array.size else array.reshape(len(array), max(array.shape[1:], default=1))
    names = [f"column_{place}" for place in range(1, table.shape[1] + 1)]
    return pd.DataFrame(list_numbers(table.ravel()).reshape(table.shape), columns=names, copy=False)


def _store_column(cells: pd.Series[Any]) -> FloatArray | pd.Series[Any]:
    if pd.api.types.is_numeric_dtype(cells.dtype):
        return list_numbers(cells)
    texts: pd.Series[Any] = pd.Series(list_texts(cells), dtype=TEXT)
    return texts
