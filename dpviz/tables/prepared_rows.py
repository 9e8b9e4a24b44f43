"""From batches of a table that memory does not hold to its rows in a file: each row by itself, as declared.

What a row becomes, and which rows of a person count, is the same as in memory; in which order they stand in the file
shows nowhere.
"""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpviz.core import Array, Codes, Domain, Region, allocate_rows, content, convert_to_unit, find_rows_in_use
from dpviz.tables.loaded_table import FloatArray, IntakeError, hash_ids


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


# Rows of persons are dealt into so many files: each of them has to fit into memory.
_PARTS = 128


# Rows with whose they are, and their lot among those.
Records: TypeAlias = NDArray[np.void]


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
        if batch.ids is None:
            self._file.append(make_lattice_rows(batch, self._domain, drop_incomplete=self._drop)[0])
            return
        self._dealt = self._dealt or _RowsOfPersons(self._domain.region)
        self._dealt.append(deal_rows(batch, domain=self._domain, drop_incomplete=self._drop, number=_PARTS))

    def finish(self) -> LatticeFile:
        """All rows that count."""
        if self._dealt is not None:
            persons = _RowsOfPersons(self._domain.region)
            for records in self._dealt.read():
                persons.append(deal_persons(draw_rows([records], most=self._most), _PARTS))
            for records in persons.read():
                self._file.append(cap_rows(records, self._most)["row"].astype(np.float64))
        return self._file


def make_lattice_rows(batch: Batch, domain: Domain, *, drop_incomplete: bool) -> tuple[Array, Codes | None]:
    """The rows (rows, dim) of a batch that count, in unit coordinates on the lattice, and whose, as ``hash_ids``."""
    ids = None if batch.ids is None else hash_ids(batch.ids)
    kept = find_rows_in_use(batch.values, ids, drop_incomplete=drop_incomplete)
    return convert_to_unit(batch.values[kept], domain), None if ids is None else ids[kept]


def deal_rows(batch: Batch, *, domain: Domain, drop_incomplete: bool, number: int) -> list[Records]:
    """The rows of a batch that count, on the lattice, in ``number`` parts: a person's equal ones lie in one.

    Whoever has very many rows has some in each part.
    """
    unit, ids = make_lattice_rows(batch, domain, drop_incomplete=drop_incomplete)
    assert ids is not None
    lots = content.hash_content(unit) ^ ids[:, 0].astype(np.uint64)
    return _deal(np.rec.fromarrays([ids, lots, unit], dtype=_make_record_type(domain.region)), lots, number)


def draw_rows(dealt: Sequence[Records], at: int = 0, *, most: int) -> Records:
    """Those of a part of ``deal_rows``, as it came together, that may count: at most ``most`` of a person."""
    records = np.concatenate(dealt)
    records["lot"] = content.draw_lots(records["row"], records["person"])
    return cap_rows(records, most)


def deal_persons(records: Records, number: int) -> list[Records]:
    """What ``draw_rows`` left in ``number`` parts: a person's rows lie in one."""
    return _deal(records, records["person"][:, 0], number)


def _deal(records: Records, by: NDArray[Any], number: int) -> list[Records]:
    part = by % number
    order = np.argsort(part, kind="stable")
    return np.split(records[order], np.searchsorted(part[order], np.arange(1, number)))


def cap_rows(records: Records, most: int) -> Records:
    """At most so many rows of each person, by their lots."""
    return records[content.keep_rows_per_person(records["lot"], records["person"], most)]


class _RowsOfPersons:
    """Rows with whose they are, dealt into files without names."""

    def __init__(self, region: Region) -> None:
        self._type = _make_record_type(region)
        with refuse_full_disk():
            self._files = [tempfile.TemporaryFile(prefix="dpviz-") for _ in range(_PARTS)]  # noqa: SIM115 (``read`` closes)

    def append(self, parts: list[Records]) -> None:
        """More rows, in as many parts as there are files."""
        with refuse_full_disk():
            for file, records in zip(self._files, parts, strict=True):
                file.write(records.tobytes())

    def read(self) -> Iterator[Records]:
        """All rows, file by file, each of which is given back then."""
        for file in self._files:
            with refuse_full_disk(), file:
                file.seek(0)
                records = np.frombuffer(file.read(), dtype=self._type)
            yield records


def _make_record_type(region: Region) -> np.dtype[Any]:
    return np.dtype([("person", "<i8", 2), ("lot", "<u8"), ("row", region.number_type, (region.dim,))])
