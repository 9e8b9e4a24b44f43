"""Parquet files, and folders of them, as tables of Arrow: which state they have, and what reads a piece of one.

What is packed beyond memory is read part by part once it is written plainly, so that its size says what it holds.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dpviz.tables.arrow_intake import ArrowTable, list_wanted, make_batch, strip_type
from dpviz.tables.loaded_table import NO_CODINGS, CellCoding, IntakeError, StoredTable, read_size_and_time
from dpviz.tables.prepared_rows import Batch
from dpviz.words import doorways, foreign

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
        if not plain:
            raise IntakeError.of("no_parquet", name=self.path.name)
        return tuple(self.path / path for path in plain)

    @property
    def _files(self) -> list[Path]:
        """In the order of their names, as they were when the table was first looked at."""
        return [path for path, *_ in self.states]

    def _read_schema(self) -> pa.Schema:
        with self._refuse_damaged():
            schemas = [pq.read_schema(path) for path in self._files]
            names = schemas[0].names
        if any(schema.names != names for schema in schemas[1:]):
            raise IntakeError.of("parquet_columns")
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
    if len(told) > 1:
        raise IntakeError.of("parquet_columns")
    return next(iter(told), plain[0])


def _translate_errors() -> AbstractContextManager[None]:
    """Errors of the reader as one sentence: their own may quote cells."""
    missing = IntakeError.of("no_parquet_file")
    return foreign.refuse_as(IntakeError.of("parquet_damaged"), doorways.PARQUET, missing=missing)


def is_parquet(path: Path) -> bool:
    """Whether a path is that of a Parquet file, or of a folder of them."""
    return path.suffix == ENDING or os.path.isdir(path)  # noqa: PTH112 (a path too long to be one is none)
