"""From batches of a table that memory does not hold to its rows in a file: each row by itself, as declared.

What a row becomes, and which rows of a person count, is the same as in memory; in which order they stand in the file
shows nowhere.
"""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import IO, Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpviz.core import Array, Domain, Region, allocate_rows, convert_to_unit, find_complete, keep_rows_per_person
from dpviz.tables.loaded_table import FloatArray, IntakeError, list_texts


class LatticeFile:
    """Rows of ``region`` in a file, as ``allocate_rows`` holds them in memory; they are appended, then read.

    A file goes to a worker process as its descriptor, which the worker has to inherit.

    Raises
    ------
    IntakeError
        If no file can be made in the folder for temporary files.
    """

    def __init__(self, region: Region, inherited: tuple[int, int] | None = None) -> None:
        self.region = region
        self._type = np.dtype(region.number_type)
        self.fd, self._n = inherited or (_open_without_name(), 0)
        weakref.finalize(self, os.close, self.fd)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, and their columns with the one of ones."""
        return self._n, self.region.dim + 1

    def append(self, rows: Array) -> None:
        """More rows (m, d), on the lattice already."""
        stored = allocate_rows(len(rows), self.region)
        stored[:, :-1] = rows
        left: memoryview = np.ascontiguousarray(stored).reshape(-1).view(np.uint8).data
        with refuse_full_disk():
            while left:
                left = left[os.write(self.fd, left) :]
        self._n += len(rows)

    def note_rows(self, rows: int) -> None:
        """Take note of ``rows`` in all, which another process has appended."""
        if os.fstat(self.fd).st_size != rows * (self.region.dim + 1) * self._type.itemsize:
            raise IntakeError.of("rows_cut")
        self._n = rows

    def __getitem__(self, rows: slice) -> Any:
        start, end, _ = rows.indices(self._n)
        columns = self.region.dim + 1
        chunk = np.empty((max(0, end - start), columns), self._type)
        left, place = chunk.reshape(-1).view(np.uint8).data, start * columns * self._type.itemsize
        while left:
            read = os.preadv(self.fd, [left], place)
            if not read:
                raise IntakeError.of("rows_cut")
            left, place = left[read:], place + read
        return chunk

    def __reduce__(self) -> tuple[Any, ...]:
        return LatticeFile, (self.region, (self.fd, self._n))


@contextmanager
def refuse_full_disk() -> Iterator[None]:
    """An error of the disk as a sentence about room for rows."""
    try:
        yield
    except OSError:
        raise IntakeError.of("no_room") from None


def _open_without_name() -> int:
    with refuse_full_disk(), tempfile.TemporaryFile(prefix="dpviz-", buffering=0) as file:
        return os.dup(file.fileno())


# Rows of persons are dealt into so many files by whose they are: each of them has to fit into memory.
_PARTS = 256


# Rows with 128 bits of whose they are.
Records: TypeAlias = NDArray[np.void]
_Texts: TypeAlias = NDArray[np.object_]


@dataclass(frozen=True, eq=False, repr=False)
class Batch:
    """Some consecutive rows of a table; its ``repr`` shows none, since logs may hold it.

    ``values`` (m, d), data units, missing = NaN; ``ids`` (m,), whose each row is, as it stands in the table; None
    without an id column.
    """

    values: FloatArray
    ids: pd.Series[Any] | None
    read: float


class Preparation:
    """Rows in a file, batch by batch.

    * ``drop_incomplete``: whether a row with a missing cell is left out; else the middle of the domain stands in for
      that cell.
    * ``rows_per_person``: of batches with ids: so many rows of a person are kept.
    * ``file``: an empty one, which somebody else reads afterwards; a new one by default.

    Raises
    ------
    IntakeError
        If the disk is full.
    """

    def __init__(
        self, domain: Domain, *, drop_incomplete: bool, rows_per_person: int = 1, file: LatticeFile | None = None
    ) -> None:
        self._domain, self._drop, self._most = domain, drop_incomplete, rows_per_person
        self._file = file or LatticeFile(domain.region)
        self._dealt: _RowsOfPersons | None = None

    def take(self, batch: Batch) -> None:
        """The next rows."""
        unit, ids = make_lattice_rows(batch, self._domain, drop_incomplete=self._drop)
        if ids is None:
            self._file.append(unit)
            return
        if self._dealt is None:
            self._dealt = _RowsOfPersons(self._domain.region, self._most)
        self._dealt.append(unit, ids)

    def finish(self) -> LatticeFile:
        """All rows that count."""
        if self._dealt is not None:
            for rows in self._dealt.read_kept():
                self._file.append(rows)
            self._dealt.close()
        return self._file


def make_lattice_rows(batch: Batch, domain: Domain, *, drop_incomplete: bool) -> tuple[Array, _Texts | None]:
    """The rows (rows, dim) of a batch that count, in unit coordinates on the lattice, and whose, as canonical texts."""
    values, ids = batch.values, None if batch.ids is None else list_texts(batch.ids)
    if drop_incomplete:
        kept = find_complete(values) if ids is None else find_complete(values) & pd.notna(ids)
        values, ids = values[kept], None if ids is None else ids[kept]
    return convert_to_unit(values, domain), ids


def deal_rows(unit: Array, ids: _Texts, region: Region, *, number: int, most: int) -> list[Records]:
    """Rows (n, dim) on the lattice with ``ids`` (n,) in ``number`` parts: a person's lie in one, at most ``most``."""
    halves = [pd.util.hash_array(ids, hash_key=f"dpviz, persons {i}", categorize=False) for i in (1, 2)]
    records = cap_rows(np.rec.fromarrays([np.stack(halves, axis=1), unit], dtype=_make_record_type(region)), most)
    part = records["person"][:, 0] % number
    order = np.argsort(part, kind="stable")
    return [records[order[first:end]] for first, end in pairwise(np.searchsorted(part[order], np.arange(number + 1)))]


def cap_rows(records: Records, most: int) -> Records:
    """At most so many rows of each person, by that person's rows alone."""
    _, person = np.unique(records["person"], axis=0, return_inverse=True)
    return records[keep_rows_per_person(records["row"], person.astype(np.int64), most)]


class _RowsOfPersons:
    """Rows with whose they are, dealt into files without names: all rows of a person lie in one."""

    def __init__(self, region: Region, most: int) -> None:
        self._most, self._region, self._open = most, region, ExitStack()
        with refuse_full_disk():
            files = (tempfile.TemporaryFile(prefix="dpviz-") for _ in range(_PARTS))  # noqa: SIM115 (the stack closes)
            self._files: list[IO[bytes]] = [self._open.enter_context(file) for file in files]

    def append(self, unit: Array, ids: _Texts) -> None:
        """More rows. Of a person who has many of these, no more than may be kept in the end."""
        parts = deal_rows(unit, ids, self._region, number=_PARTS, most=self._most)
        with refuse_full_disk():
            for file, records in zip(self._files, parts, strict=True):
                file.write(records.tobytes())

    def read_kept(self) -> Iterator[Array]:
        """The rows that count, file by file."""
        for file in self._files:
            with refuse_full_disk():
                file.flush()
                file.seek(0)
            records = np.frombuffer(file.read(), dtype=_make_record_type(self._region))
            yield cap_rows(records, self._most)["row"].astype(np.float64)

    def close(self) -> None:
        """Give the files back."""
        self._open.close()


def _make_record_type(region: Region) -> np.dtype[Any]:
    return np.dtype([("person", "<u8", 2), ("row", region.number_type, (region.dim,))])


def _hash_ids(ids: _Texts) -> NDArray[np.uint64]:
    """128 bits for each id, shape (m, 2): no two of any table are the same."""
    halves = [pd.util.hash_array(ids, hash_key=f"dpviz, persons {i}", categorize=False) for i in (1, 2)]
    return np.stack(halves, axis=1)
