"""Tables whose columns have types of Arrow, wherever they lie: numbers, NaN for what is missing, ids as they stand.

The schema is the header: public. So is how many bytes the table takes where it lies: whether memory holds it
follows from both, and from a number of rows that is public. Row groups, files and batches say nothing else: a row is
read by itself, and borders show nowhere. One thing is left: equal cells pack to next to nothing, so that a small file
can hold more rows than any memory. Where their number is private, such a table is refused, before anything is charged.

Of Parquet files, and folders of them, it is told which state they have, and what reads a piece of one. What is packed
beyond memory is read part by part once it is written plainly, so that its size says what it holds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from dpviz.tables.file_format import MAX_COLUMNS
from dpviz.tables.loaded_table import (
    NO_CODINGS,
    TEXT,
    CellCoding,
    FloatArray,
    IntakeError,
    LoadedTable,
    StoredTable,
    demand,
    list_texts,
    make_table,
    read_size_and_time,
    refuse_repeats,
    refuse_unknown,
    split_by_coding,
    stack_columns,
)
from dpviz.tables.prepared_rows import Batch
from dpviz.words import foreign, quote_name

_TEXTS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
_NUMBERS = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean, pa.types.is_null)
# Read at a time, in numbers; a batch has at most so many rows.
_NUMBERS_AT_ONCE, _MOST_ROWS_AT_ONCE = 2**20, 2**16
# The largest table of which all columns are held in memory.
_MOST_BYTES = foreign.PARQUET.most_bytes
# What its columns may take there: numbers as floats, and texts roughly.
_MOST_UNPACKED, _OF_A_NUMBER = foreign.PARQUET.most_unpacked, 8


class ArrowTable(ABC):
    """A table with a schema of Arrow; nothing of its rows has been looked at."""

    packed: ClassVar[str]
    """The refusal of one that is packed so tightly that memory does not hold what its size promised."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What the table is called on screen."""

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """Tells tables apart, and two states of one."""

    @property
    @abstractmethod
    def size(self) -> int:
        """The bytes that it takes where it lies: public."""

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """How many rows there are: a private number under add/remove, neither shown nor used unpaid."""

    @abstractmethod
    def check_unchanged(self) -> None:
        """Refuse a table that has changed since it was first looked at: it would be of two states."""

    @abstractmethod
    def _read_schema(self) -> pa.Schema:
        """Names and types of the columns."""

    @abstractmethod
    def _read_parts(self, columns: Sequence[str], rows: int) -> Iterator[Any]:
        """All rows of some columns, at most so many at a time."""

    @abstractmethod
    def _read_whole(self, columns: Sequence[str]) -> list[pa.Table]:
        """All rows of some columns at once."""

    @abstractmethod
    def _refuse_damaged(self) -> AbstractContextManager[None]:
        """Errors of the reader as one sentence: their own may quote cells."""

    @cached_property
    def _schema(self) -> pa.Schema:
        schema = self._read_schema()
        refuse_repeats(schema.names)
        demand(len(schema.names) <= MAX_COLUMNS, "too_many_columns", most=MAX_COLUMNS)
        return schema

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns: public."""
        return tuple(self._schema.names)

    @property
    def numeric_columns(self) -> tuple[str, ...]:
        """The columns of numbers, in the order of the table."""
        return tuple(field.name for field in self._schema if holds_numbers(field.type))

    def fits(self, columns: int, *, n_public: int | None = None) -> bool:
        """Whether memory is to hold so many of its columns: by the bytes of the files and the schema, both public.

        The number of rows has no say in it unless it is public: what is refused beyond memory would tell whether one
        more is there.
        """
        size, unpacked = self.size, _OF_A_NUMBER * columns
        of_a_row = sum(map(_count_plain_bytes, self._schema.types))
        small = size * columns <= _MOST_BYTES * len(self.columns) and size * unpacked <= _MOST_UNPACKED * of_a_row
        return small and self._holds((n_public or 0) * columns)

    def _holds(self, cells: int) -> bool:
        return cells * _OF_A_NUMBER <= _MOST_UNPACKED and foreign.PARQUET.holds_cells(self.size, cells)

    def _refuse_packed(self, numbers: int, texts: int) -> None:
        """Refuse what memory cannot hold whatever its size promised, before a row is read."""
        if not self._holds(self.n_rows * (numbers + foreign.OF_TEXT * texts)):
            raise IntakeError.of(self.packed)

    def holds_text(self, column: str) -> bool:
        """Whether a column could say whose a row is, or to which group it belongs."""
        return _holds_text(self._schema.field(column).type)

    def read_batches(
        self, numbers: Sequence[str], *, id_column: str | None = None, codings: Mapping[str, CellCoding] = NO_CODINGS
    ) -> Iterator[Batch]:
        """All rows, a bounded number at a time, columns with a coding as numbers; other columns are not read.

        Yields data units, NaN where a number is missing, and ids as they stand.
        """
        self.check_coded(numbers, codings, id_column)
        wanted, done = list_wanted(numbers, id_column), 0
        rows = max(1, min(_MOST_ROWS_AT_ONCE, _NUMBERS_AT_ONCE // len(wanted)))
        with self._refuse_damaged():
            for part in self._read_parts(wanted, rows):
                done += part.num_rows
                yield make_batch(part, numbers, id_column, codings, read=done / max(1, self.n_rows))
        self.check_unchanged()

    def read(self, numbers: Sequence[str], *, text: Sequence[str] = (), coded: Sequence[str] = ()) -> LoadedTable:
        """The declared columns in memory, ``coded`` ones as text; see ``read_batches`` for what else is refused.

        Returns data units; NaN where a number is missing.
        """
        self._check(numbers, text, coded=coded)
        text = [*dict.fromkeys((*text, *coded))]
        floats = {one.name for one in self._schema if pa.types.is_floating(strip_type(one.type))}
        self._refuse_packed(len(numbers), len(text))
        with self._refuse_damaged():
            parts = self._read_whole([*numbers, *text])
        self.check_unchanged()
        chosen: dict[str, Any] = {}
        given: dict[str, Any] = {}
        for name in self.columns:
            cells = [part.column(name).combine_chunks() for part in parts] if name in (*numbers, *text) else []
            if cells and name not in floats:
                given[name] = pd.concat([_read_cells(part) for part in cells], ignore_index=True)
            if name in numbers or (cells and name in floats):  # text of floats is a label, never an id
                chosen[name] = np.concatenate([_read_numbers(part) for part in cells])
            elif cells:
                chosen[name] = pd.Series(list_texts(given[name]), dtype=TEXT)
        return make_table(chosen, name=self.name, given=given)

    def check_id(self, column: str) -> None:
        """Refuse an id column of floats."""
        if column in self.columns and pa.types.is_floating(strip_type(self._schema.field(column).type)):
            raise IntakeError.of("float_id", column=column)

    def check_coded(self, numbers: Sequence[str], codings: Mapping[str, CellCoding], id_column: str | None) -> None:
        """Refuse columns that are not there, or whose types do not hold what is asked of them."""
        plain, textual = split_by_coding(numbers, codings)
        self._check(plain, (), id_column, coded=textual)

    def _check(
        self, numbers: Sequence[str], text: Sequence[str], id_column: str | None = None, *, coded: Sequence[str] = ()
    ) -> None:
        if id_column is not None:
            text = (*text, id_column)
            self.check_id(id_column)
        refuse_unknown((*numbers, *text, *coded), self.columns)
        if wrong := [name for name in numbers if name not in self.numeric_columns]:
            kinds = ", ".join(f"{quote_name(name)} holds {self._schema.field(name).type}" for name in wrong[:3])
            raise IntakeError.of("wrong_types", kinds=kinds, numbers=self.numeric_columns)
        if wrong := [name for name in text if not _holds_text(self._schema.field(name).type)]:
            raise IntakeError.of("no_text", wrong=wrong)
        values = (_holds_text, pa.types.is_date, pa.types.is_timestamp)
        if wrong := [name for name in coded if not any(holds(self._schema.field(name).type) for holds in values)]:
            raise IntakeError.of("no_values", wrong=wrong)


def list_wanted(numbers: Sequence[str], id_column: str | None) -> list[str]:
    """The columns to read, each once."""
    return [*dict.fromkeys((*numbers, *([] if id_column is None else [id_column])))]


def make_batch(
    part: Any, numbers: Sequence[str], id_column: str | None, codings: Mapping[str, CellCoding], *, read: float
) -> Batch:
    """Some rows of Arrow as a batch: data units, NaN where a number is missing, ids as they stand."""
    _, textual = split_by_coding(numbers, codings)
    columns = {name: (_read_cells if name in textual else _read_numbers)(part.column(name)) for name in numbers}
    ids = None if id_column is None else _read_cells(part.column(id_column))
    return Batch(stack_columns(columns, numbers, codings), ids, read)


def strip_type(kind: pa.DataType) -> pa.DataType:
    """The type of the cells of a column, which may list the different ones and refer to them."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _count_plain_bytes(kind: pa.DataType) -> float:
    """What a cell takes where nothing is packed; of texts, which may be short, as much as a float."""
    fixed = pa.types.is_primitive(kind) or pa.types.is_decimal(kind)
    return kind.bit_width / 8 if fixed else float(_OF_A_NUMBER)


def holds_numbers(kind: pa.DataType) -> bool:
    """Whether a column of that type holds numbers, truths or nothing at all."""
    return any(is_one(strip_type(kind)) for is_one in _NUMBERS)


def _holds_text(kind: pa.DataType) -> bool:
    return _is_text(kind) or holds_numbers(kind)


def _is_text(kind: pa.DataType) -> bool:
    return any(is_one(strip_type(kind)) for is_one in _TEXTS)


def _write_out(cells: Any) -> Any:
    """The cells of a column in one piece, each written out: a file may list the different ones and refer to them."""
    if isinstance(cells, pa.ChunkedArray):
        cells = cells.combine_chunks()
    return cells.dictionary_decode() if pa.types.is_dictionary(cells.type) else cells


def _read_numbers(cells: Any) -> FloatArray:
    """Cells as numbers; what is missing or not finite is NaN."""
    values = _write_out(cells).cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.where(np.isfinite(values), values, np.nan)


def _read_cells(cells: Any) -> pd.Series[Any]:
    """Cells of an id, a label or a category, in the type that the schema says."""
    cells = _write_out(cells)
    if not _is_text(cells.type):
        typed: pd.Series[Any] = cells.to_pandas(types_mapper=pd.ArrowDtype)
        return typed
    try:
        cells = cells.cast(pa.large_string())
        cells.validate(full=True)
        texts: pd.Series[Any] = cells.to_pandas()
    except pa.ArrowInvalid:  # a cell is no UTF-8: it is read as in a file of lines, and no other cell knows of it
        raw = cells.cast(pa.large_binary()).to_pylist()
        words = [None if cell is None else cell.decode("utf-8", errors="replace") for cell in raw]
        texts = pd.Series(words, dtype=TEXT)
    return texts


ENDING = ".parquet"
# A piece for one process of several holds so many numbers. Row groups are not divided between pieces.
_NUMBERS_OF_A_PIECE = 2**22


@dataclass(frozen=True, eq=False)
class ParquetTable(StoredTable, ArrowTable):
    """A Parquet file, or all of those in a folder; nothing of its rows has been looked at.

    Parameters
    ----------
    path : Path
    """

    path: Path
    packed, changed = "parquet_packed", "parquet_changed"

    @property
    def name(self) -> str:
        """What the table is called on screen."""
        return foreign.format_name(self.path).removesuffix(ENDING)

    def _list_files(self) -> tuple[Path, ...]:
        if self.path.is_file():
            return (self.path,)
        inside = (path.relative_to(self.path) for path in self.path.rglob("*" + ENDING))
        plain = sorted(path for path in inside if not any(part.startswith(("_", ".")) for part in path.parts))
        demand(plain, "no_parquet", name=self.path.name)
        return tuple(self.path / path for path in plain)

    @property
    def _files(self) -> list[Path]:
        """In the order of their names, as they were when the table was first looked at."""
        return [path for path, *_ in self.states]

    def _read_schema(self) -> pa.Schema:
        with self._refuse_damaged():
            schemas = [pq.read_schema(path) for path in self._files]
            names = schemas[0].names
        demand(all(schema.names == names for schema in schemas[1:]), "parquet_columns")
        types = zip(*(schema.types for schema in schemas), strict=True)
        return pa.schema([(name, _find_common_type(kinds)) for name, kinds in zip(names, types, strict=True)])

    @cached_property
    def n_rows(self) -> int:
        """How many rows there are: a private number under add/remove, neither shown nor used unpaid."""
        with self._refuse_damaged():
            return sum(pq.read_metadata(path).num_rows for path in self._files)

    def _read_parts(self, columns: Sequence[str], rows: int) -> Iterator[Any]:
        for path in self._files:
            # Not read ahead: that would hold whole files.
            yield from pq.ParquetFile(path, pre_buffer=False).iter_batches(batch_size=rows, columns=[*columns])

    def _read_whole(self, columns: Sequence[str]) -> list[pa.Table]:
        return [pq.read_table(path, columns=[*columns]) for path in self._files]

    def _refuse_damaged(self) -> AbstractContextManager[None]:
        return _translate_errors()

    def pieces(
        self, numbers: Sequence[str], *, id_column: str | None = None, codings: Mapping[str, CellCoding] = NO_CODINGS
    ) -> list[Piece]:
        """All rows as pieces that another process can read, where it finds the same files; each of some row groups."""
        self.check_coded(numbers, codings, id_column)
        pieces = []
        for path, size, time in self.states:
            with _translate_errors():
                held = pq.read_metadata(path)
            rows = np.array([held.row_group(i).num_rows for i in range(held.num_row_groups)], dtype=np.int64)
            place = (np.cumsum(rows) - rows) * len(numbers) // _NUMBERS_OF_A_PIECE
            for number in np.unique(place):
                groups = tuple(int(group) for group in np.flatnonzero(place == number))
                pieces.append(Piece(path.resolve(), groups, tuple(numbers), id_column, (size, time), dict(codings)))
        return pieces


@dataclass(frozen=True)
class Piece:
    """Some row groups of a Parquet file that had this size and time; copies of it have to keep both."""

    path: Path
    groups: tuple[int, ...]
    numbers: tuple[str, ...]
    id_column: str | None
    state: tuple[int, int]
    codings: Mapping[str, CellCoding] = field(default_factory=dict, hash=False)

    def batch(self) -> Batch:
        """Its rows."""
        with _translate_errors():
            wanted = list_wanted(self.numbers, self.id_column)
            part = pq.ParquetFile(self.path).read_row_groups(self.groups, columns=wanted)
            batch = make_batch(part.combine_chunks(), self.numbers, self.id_column, self.codings, read=1.0)
        if read_size_and_time(self.path) != self.state:
            raise IntakeError.of("parquet_changed")
        return batch


def _find_common_type(kinds: Sequence[pa.DataType]) -> pa.DataType:
    """The type of a column in all files: one that is empty in a file may have no type there, and no row tells."""
    plain = [strip_type(kind) for kind in kinds]
    told = {kind for kind in plain if not pa.types.is_null(kind)}
    demand(len(told) <= 1, "parquet_columns")
    return next(iter(told), plain[0])


def _translate_errors() -> AbstractContextManager[None]:
    """Errors of the reader as one sentence: their own may quote cells."""
    missing = IntakeError.of("no_parquet_file")
    return foreign.refuse_as(IntakeError.of("parquet_damaged"), foreign.PARQUET, missing=missing)
