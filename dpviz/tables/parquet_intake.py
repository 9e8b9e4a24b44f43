"""Parquet files as batches of declared columns: numbers with NaN for what is missing, ids as they stand.

The schema is the header: public. So is the size of the files in bytes, as that of every file: whether memory holds the
table follows from both, and from a number of rows that is public. Row groups and files say nothing else: a row is read
by itself, and borders show nowhere. One thing is left: equal cells pack to next to nothing, so that a small file can
hold more rows than any memory. Where their number is private, such a file is refused, before anything is charged;
written plainly, so that its size says what it holds, it is read part by part.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from dpviz.tables.cell_values import list_texts
from dpviz.tables.file_format import MAX_COLUMNS, TOO_MANY_COLUMNS
from dpviz.tables.loaded_table import (
    NO_CODINGS,
    TEXT,
    CellCoding,
    FloatArray,
    IntakeError,
    LoadedTable,
    make_float_id_error,
    make_table,
    refuse_repeats,
    refuse_unknown,
    split_by_coding,
    stack_columns,
)
from dpviz.tables.prepared_rows import Batch
from dpviz.words import doorways, foreign, list_names, quote_name

ENDING = ".parquet"
# Read at a time, in numbers; a batch has at most so many rows, and a piece for one process of several is larger. Row
# groups are not divided between pieces.
_NUMBERS_AT_ONCE, _MOST_ROWS_AT_ONCE, _NUMBERS_OF_A_PIECE = 2**20, 2**16, 2**22
# The largest file of which all columns are held in memory.
_MOST_BYTES = doorways.PARQUET.most_bytes
# What its columns may take there: numbers as floats, and texts roughly.
_MOST_UNPACKED, _OF_A_NUMBER = doorways.PARQUET.most_unpacked, 8
_PACKED = (
    "The Parquet file is packed so tightly that memory does not hold its columns, though its size promised that: write "
    "it again without compression and dictionaries, or declare the number of rows public; then it is read in parts."
)
_DAMAGED = (
    "The Parquet file cannot be read: it is damaged, encrypted or of a newer kind; write it again, or export it as CSV."
)
_CHANGED = "The Parquet files changed while they were read: open the table again when nobody writes to it."
_OTHER_COLUMNS = "The files of the folder have other columns or types than the first one; mend or move them."


@dataclass(frozen=True, eq=False)
class ParquetTable:
    """A Parquet file, or all of those in a folder; nothing of its rows has been looked at.

    Parameters
    ----------
    path : Path
    """

    path: Path

    @property
    def name(self) -> str:
        """What the table is called on screen."""
        return foreign.format_name(self.path).removesuffix(ENDING)

    @cached_property
    def files(self) -> tuple[Path, ...]:
        """In the order of their names, as they were when the table was first looked at."""
        return self._list_files()

    def _list_files(self) -> tuple[Path, ...]:
        if self.path.is_file():
            return (self.path,)
        inside = (path.relative_to(self.path) for path in self.path.rglob("*" + ENDING))
        plain = sorted(path for path in inside if not any(part.startswith(("_", ".")) for part in path.parts))
        if not plain:
            raise IntakeError(
                f"There is no Parquet file at {quote_name(self.path.name)}; name one, or a folder of them."
            )
        return tuple(self.path / path for path in plain)

    @cached_property
    def fingerprint(self) -> str:
        """Tells files apart, and two states of one file: by place, size and time."""
        states = [(str(path.resolve()), *state) for path, state in zip(self.files, self._states, strict=True)]
        return hashlib.sha256(repr(states).encode("utf-8", "surrogatepass")).hexdigest()

    @cached_property
    def _states(self) -> tuple[tuple[int, int], ...]:
        """Size and time of each file when it was first looked at."""
        return tuple(_read_state(path) for path in self.files)

    def check_unchanged(self) -> None:
        """Refuse a table of which somebody has written a part since it was first looked at:
        it would be of two states.
        """
        if self._list_files() != self.files or tuple(map(_read_state, self.files)) != self._states:
            raise IntakeError(_CHANGED)

    @cached_property
    def _schema(self) -> pa.Schema:
        with _translate_errors():
            _ = self._states  # before anything is read
            schemas = [pq.read_schema(path) for path in self.files]
            names = schemas[0].names
        if any(schema.names != names for schema in schemas[1:]):
            raise IntakeError(_OTHER_COLUMNS)
        refuse_repeats(names)
        if len(names) > MAX_COLUMNS:
            raise IntakeError(TOO_MANY_COLUMNS)
        types = zip(*(schema.types for schema in schemas), strict=True)
        return pa.schema([(name, _find_common_type(kinds)) for name, kinds in zip(names, types, strict=True)])

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns: public."""
        return tuple(self._schema.names)

    @property
    def numeric_columns(self) -> tuple[str, ...]:
        """The columns of numbers, in file order."""
        return tuple(field.name for field in self._schema if holds_numbers(field.type))

    @cached_property
    def n_rows(self) -> int:
        """How many rows there are: a private number under add/remove, neither shown nor used unpaid."""
        with _translate_errors():
            return sum(pq.read_metadata(path).num_rows for path in self.files)

    def fits(self, columns: int, *, n_public: int | None = None) -> bool:
        """Whether memory is to hold so many of its columns: by the bytes of the files and the schema, both public.

        The number of rows has no say in it unless it is public: what is refused beyond memory would tell whether one
        more is there.
        """
        size, unpacked = sum(size for size, _ in self._states), _OF_A_NUMBER * columns
        of_a_row = sum(map(_count_plain_bytes, self._schema.types))
        return (
            size * columns <= _MOST_BYTES * len(self.columns)
            and size * unpacked <= _MOST_UNPACKED * of_a_row
            and self._holds((n_public or 0) * columns)
        )

    def _holds(self, cells: int) -> bool:
        size = sum(size for size, _ in self._states)
        return cells * _OF_A_NUMBER <= _MOST_UNPACKED and doorways.PARQUET.holds_cells(size, cells)

    def _refuse_packed(self, numbers: int, texts: int) -> None:
        """Refuse what memory cannot hold whatever its size promised, before a row is read."""
        if not self._holds(self.n_rows * (numbers + doorways.OF_TEXT * texts)):
            raise IntakeError(_PACKED)

    def holds_text(self, column: str) -> bool:
        """Whether a column could say whose a row is, or to which group it belongs."""
        return _holds_text(self._schema.field(column).type)

    def read_batches(
        self, numbers: Sequence[str], *, id_column: str | None = None, codings: Mapping[str, CellCoding] = NO_CODINGS
    ) -> Iterator[Batch]:
        """All rows, a bounded number at a time, columns with a coding as numbers; other columns are not read.

        Yields data units, NaN where a number is missing, and ids as they stand.
        """
        self._check_coded(numbers, codings, id_column)
        wanted, done = [*dict.fromkeys((*numbers, *([] if id_column is None else [id_column])))], 0
        rows = max(1, min(_MOST_ROWS_AT_ONCE, _NUMBERS_AT_ONCE // len(wanted)))
        for path in self.files:
            with _translate_errors():
                # Not read ahead: that would hold whole files.
                for part in pq.ParquetFile(path, pre_buffer=False).iter_batches(batch_size=rows, columns=wanted):
                    done += part.num_rows
                    yield _make_batch(part, numbers, id_column, codings, read=done / max(1, self.n_rows))
        self.check_unchanged()

    def pieces(
        self, numbers: Sequence[str], *, id_column: str | None = None, codings: Mapping[str, CellCoding] = NO_CODINGS
    ) -> list[Piece]:
        """All rows as pieces that another process can read, where it finds the same files; each of some row groups."""
        self._check_coded(numbers, codings, id_column)
        pieces = []
        for path, state in zip(self.files, self._states, strict=True):
            with _translate_errors():
                held = pq.read_metadata(path)
            rows = np.array([held.row_group(i).num_rows for i in range(held.num_row_groups)], dtype=np.int64)
            place = (np.cumsum(rows) - rows) * len(numbers) // _NUMBERS_OF_A_PIECE
            for number in np.unique(place):
                groups = tuple(int(group) for group in np.flatnonzero(place == number))
                pieces.append(Piece(path.resolve(), groups, tuple(numbers), id_column, state, dict(codings)))
        return pieces

    def read(self, numbers: Sequence[str], *, text: Sequence[str] = (), coded: Sequence[str] = ()) -> LoadedTable:
        """The declared columns in memory, ``coded`` ones as text; see ``read_batches`` for what else is refused.

        Returns data units; NaN where a number is missing.
        """
        self._check(numbers, text, coded=coded)
        text = [*dict.fromkeys((*text, *coded))]
        self._refuse_packed(len(numbers), len(text))
        with _translate_errors():
            parts = [pq.read_table(path, columns=[*numbers, *text]) for path in self.files]
        self.check_unchanged()
        chosen: dict[str, Any] = {}
        given: dict[str, Any] = {}
        for name in self.columns:
            cells = [part.column(name).combine_chunks() for part in parts] if name in (*numbers, *text) else []
            if name in numbers:
                chosen[name] = np.concatenate([_read_numbers(part) for part in cells])
                if not pa.types.is_floating(_strip_type(self._schema.field(name).type)):
                    given[name] = pd.concat([_read_cells(part) for part in cells], ignore_index=True)
            elif pa.types.is_floating(_strip_type(self._schema.field(name).type)) and name in text:
                chosen[name] = np.concatenate([_read_numbers(part) for part in cells])  # a label; never an id
            elif name in text:
                given[name] = pd.concat([_read_cells(part) for part in cells], ignore_index=True)
                chosen[name] = pd.Series(list_texts(given[name]), dtype=TEXT)
        return make_table(chosen, name=self.name, given=given)

    def check_id(self, column: str) -> None:
        """Refuse an id column of floats."""
        if column in self.columns and pa.types.is_floating(_strip_type(self._schema.field(column).type)):
            raise make_float_id_error(column)

    def _check_coded(self, numbers: Sequence[str], codings: Mapping[str, CellCoding], id_column: str | None) -> None:
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
            raise IntakeError(
                f"{kinds}; numbers are in {list_names(self.numeric_columns)}; choose among these, or write it as "
                "numbers."
            )
        if wrong := [name for name in text if not _holds_text(self._schema.field(name).type)]:
            raise IntakeError(f"{list_names(wrong)} holds neither text nor numbers; choose another id or label column.")
        if wrong := [name for name in coded if not _holds_values(self._schema.field(name).type)]:
            raise IntakeError(f"{list_names(wrong)} holds neither text, numbers nor dates; write it as one of them.")


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
        ids = [] if self.id_column is None else [self.id_column]
        with _translate_errors():
            part = pq.ParquetFile(self.path).read_row_groups(
                self.groups, columns=[*dict.fromkeys((*self.numbers, *ids))]
            )
            batch = _make_batch(part.combine_chunks(), self.numbers, self.id_column, self.codings, read=1.0)
        if _read_state(self.path) != self.state:
            raise IntakeError(_CHANGED)
        return batch


def _make_batch(
    part: Any, numbers: Sequence[str], id_column: str | None, codings: Mapping[str, CellCoding], *, read: float
) -> Batch:
    _, textual = split_by_coding(numbers, codings)
    columns = {name: (_read_cells if name in textual else _read_numbers)(part.column(name)) for name in numbers}
    return Batch(
        stack_columns(columns, numbers, codings),
        None if id_column is None else _read_cells(part.column(id_column)),
        read,
    )


def _find_common_type(kinds: Sequence[pa.DataType]) -> pa.DataType:
    """The type of a column in all files: one that is empty in a file may have no type there, and no row tells."""
    plain = [_strip_type(kind) for kind in kinds]
    told = {kind for kind in plain if not pa.types.is_null(kind)}
    if len(told) > 1:
        raise IntakeError(_OTHER_COLUMNS)
    return next(iter(told), plain[0])


def _read_state(path: Path) -> tuple[int, int]:
    with _translate_errors():
        state = foreign.read_state(path)
        if not stat.S_ISREG(state.st_mode):
            raise OSError("not a regular file")
        return state.st_size, state.st_mtime_ns


def _translate_errors() -> AbstractContextManager[None]:
    """Errors of the reader as one sentence: their own may quote cells."""
    missing = IntakeError("There is no file at that path; check the path.")
    return foreign.refuse_as(IntakeError(_DAMAGED), doorways.PARQUET, missing=missing)


def _strip_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _count_plain_bytes(kind: pa.DataType) -> float:
    """What a cell takes where nothing is packed; of texts, which may be short, as much as a float."""
    fixed = pa.types.is_primitive(kind) or pa.types.is_decimal(kind)
    return kind.bit_width / 8 if fixed else float(_OF_A_NUMBER)


def holds_numbers(kind: pa.DataType) -> bool:
    """Whether a column of that type holds numbers, truths or nothing at all."""
    kind = _strip_type(kind)
    of = pa.types
    numbers = (of.is_integer, of.is_floating, of.is_decimal, of.is_boolean, of.is_null)
    return any(is_one(kind) for is_one in numbers)


def is_parquet(path: Path) -> bool:
    """Whether a path is that of a Parquet file, or of a folder of them."""
    return path.suffix == ENDING or os.path.isdir(path)  # noqa: PTH112 (a path too long to be one is none)


def _holds_text(kind: pa.DataType) -> bool:
    kind = _strip_type(kind)
    return _is_text(kind) or holds_numbers(kind)


def _holds_values(kind: pa.DataType) -> bool:
    return _holds_text(kind) or pa.types.is_date(kind) or pa.types.is_timestamp(kind)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


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
