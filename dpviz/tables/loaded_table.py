"""A table in memory, before any privacy: what intake hands on, and the one error it raises."""

from __future__ import annotations

import hashlib
import stat
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpviz.core import RequestError
from dpviz.tables.cell_values import list_numbers, list_texts, take_frame
from dpviz.words import Sentences, foreign, list_names

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


REFUSALS = Sentences(Path(__file__).with_name("refusals.toml"))


class IntakeError(RequestError):
    """A file or table that cannot be used, and what to do about it; never a value of a cell."""

    @classmethod
    def of(cls, key: str, /, **said: Any) -> Self:
        """The refusal that ``refusals.toml`` has under that key, with what is ``said`` in its places."""
        return cls(REFUSALS.fill(key, **said))


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
        return cls(
            sum(part.empty for part in parts),
            sum(part.no_number for part in parts),
            sum(part.broken for part in parts),
            tuple(islice(cells, CELLS_KEPT)),
        )


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
        if not chosen:
            raise IntakeError.of("no_column", allowed=allowed)
        if len(set(chosen)) < len(chosen):
            raise IntakeError.of("column_twice", chosen=chosen)
        refuse_unknown(chosen, tuple(self.frame.columns))
        text = [name for name in chosen if name in self.text_columns]
        if any(name not in self.given for name in text):
            raise IntakeError.of("text_column", text=text, allowed=allowed)
        columns = [list_numbers(self.get_cells(name)) if name in text else self.frame[name] for name in chosen]
        return np.stack(columns, axis=1)

    def get_cells(self, column: str) -> pd.Series[Any]:
        """The cells of a column as they came in."""
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
        cells = {name: self.get_cells(name) for name in textual}
        return stack_columns({**numbers, **cells}, names, codings)

    def check_id(self, column: str) -> None:
        """Refuse an id column that its file holds as floats."""
        if column in self.numeric_columns and column not in self.given:
            raise IntakeError.of("float_id", column=column)

    def identifiers(self, column: str) -> NDArray[np.int64]:
        """Whose each row is: codes 0, 1, ... of shape (n,), -1 where the cell is empty.

        Two cells are the same if they are the same text (see ``find_text``): what a cell is called depends on that cell
        only.
        """
        self.check_id(column)
        return self.groups(column)

    def groups(self, column: str) -> NDArray[np.int64]:
        """To which group each row belongs, as ``identifiers``, of any column."""
        refuse_unknown([column], tuple(self.frame.columns))
        codes, _ = pd.factorize(list_texts(self.get_cells(column)))
        return codes.astype(np.int64)


LoadedTable.__module__ = "dpviz"


class StoredTable(ABC):
    """A table that lies in files is of one state: that in which they were when it was first looked at."""

    changed: ClassVar[str]
    """The refusal of one that somebody has written since it was first looked at."""

    @abstractmethod
    def _list_files(self) -> tuple[Path, ...]:
        """Where it lies."""

    @abstractmethod
    def _refuse_damaged(self) -> AbstractContextManager[None]:
        """Errors of the reader as one sentence: their own may quote cells."""

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


def make_numeric_table(
    values: Any, columns: Sequence[str] | None = None, *, name: str = "table", notes: tuple[str, ...] = ()
) -> LoadedTable:
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
    notes : tuple of str
        Sentences about the table, for its owner.

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
    if len(names) != frame.shape[1]:
        raise IntakeError.of("names_uneven", many=len(names), columns=frame.shape[1])
    refuse_repeats(names)
    cells = {new: frame.iloc[:, place].reset_index(drop=True) for place, new in enumerate(names)}
    kept = {new: _store_column(column) for new, column in cells.items()}
    # What is stored as floats already is not kept twice.
    given = {new: pd.Series(kept[new]) if column.dtype == np.float64 else column for new, column in cells.items()}
    return make_table(kept, name=name, notes=notes, given=given)


def make_table(
    columns: dict[str, FloatArray | pd.Series[Any]],
    *,
    name: str,
    notes: tuple[str, ...] = (),
    given: Mapping[str, pd.Series[Any]] | None = None,
    unread: Mapping[str, Unread] | None = None,
) -> LoadedTable:
    """A ``LoadedTable`` of finished columns, data units: float64 arrays are numeric, series are text; see there."""
    for values in columns.values():
        if isinstance(values, np.ndarray):
            values.flags.writeable = False
    return LoadedTable(
        name, pd.DataFrame(columns, copy=False), _hash_columns(columns), notes, given or {}, unread or {}
    )


def _make_frame(values: Any) -> pd.DataFrame:
    # Not by what NumPy would make of all cells of a list: one text among them would make text of every number.
    array = np.asarray(values, dtype=object if isinstance(values, list | tuple) else None)
    if array.ndim not in (1, 2):
        raise IntakeError.of("dimensions", ndim=array.ndim)
    table = array.reshape(len(array), -1) if array.size else array.reshape(len(array), max(array.shape[1:], default=1))
    names = [f"column_{place}" for place in range(1, table.shape[1] + 1)]
    return pd.DataFrame(list_numbers(table.ravel()).reshape(table.shape), columns=names, copy=False)


def _store_column(cells: pd.Series[Any]) -> FloatArray | pd.Series[Any]:
    if pd.api.types.is_numeric_dtype(cells.dtype):
        return list_numbers(cells)
    texts: pd.Series[Any] = pd.Series(list_texts(cells), dtype=TEXT)
    return texts


def _hash_columns(columns: dict[str, FloatArray | pd.Series[Any]]) -> str:
    digest = hashlib.sha256()
    for name, values in columns.items():
        digest.update(f"{len(name)}:{name}:{len(values)}:".encode("utf-8", "surrogatepass"))
        if isinstance(values, np.ndarray):
            digest.update(np.ascontiguousarray(values).data)
            continue
        codes, known = pd.factorize(values)
        digest.update(b"text" + codes.astype(np.int64).tobytes())
        lengths = known.str.len().to_numpy(dtype=np.int64)
        digest.update(lengths.tobytes() + "".join(known).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
