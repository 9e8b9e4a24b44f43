"""Rows on the lattice in a file without a name: prepared once, read in chunks by every pass, gone with its processes.

The file holds private rows. It never has a name that others could open (where the system allows: Linux, macOS), only
its owner may read it, and it is given back when the last process that has it open ends, even one that was killed.
"""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from dpviz.core import Array, Region, allocate_rows, choose_number_type
from dpviz.tables.loaded_table import IntakeError

_NO_ROOM = (
    "The rows do not fit into the folder for temporary files: free some room there, or name a larger disk in TMPDIR "
    "and start again; nothing was spent, and nothing is left behind."
)
_GONE = "The file of prepared rows ends too early: open the table again."


class LatticeFile:
    """Rows of ``region`` in a file, as ``allocate_rows`` holds them in memory; they are appended, then read.

    A file goes to a worker process as its descriptor, which the worker has to inherit.

    Raises
    ------
    IntakeError
        If no file can be made in the folder for temporary files.
    """

    def __init__(self, region: Region, *, inherited: tuple[int, int] | None = None) -> None:
        self.region, self._type = region, np.dtype(choose_number_type(float(region.half.max()), region.row_bits))
        self.fd, self._n = inherited or (_open_without_name(), 0)
        weakref.finalize(self, os.close, self.fd)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, and their columns with the one of ones."""
        return self._n, self.region.dim + 1

    def append(self, rows: Array) -> None:
        """More rows (m, d), on the lattice already.

        Raises
        ------
        IntakeError
            If the disk is full.
        """
        stored = allocate_rows(len(rows), self.region)
        stored[:, :-1] = rows
        left = _view_bytes(np.ascontiguousarray(stored))
        with refuse_full_disk():
            while left:
                left = left[os.write(self.fd, left) :]
        self._n += len(rows)

    def note_rows(self, rows: int) -> None:
        """Take note of ``rows`` in all, which another process has appended.

        Raises
        ------
        IntakeError
            If they are not there.
        """
        if os.fstat(self.fd).st_size != rows * (self.region.dim + 1) * self._type.itemsize:
            raise IntakeError(_GONE)
        self._n = rows

    def __getitem__(self, rows: slice) -> Any:
        start, end, _ = rows.indices(self._n)
        columns = self.region.dim + 1
        chunk = np.empty((max(0, end - start), columns), self._type)
        left, place = _view_bytes(chunk), start * columns * self._type.itemsize
        while left:
            read = os.preadv(self.fd, [left], place)
            if not read:
                raise IntakeError(_GONE)
            left, place = left[read:], place + read
        return chunk

    def __reduce__(self) -> tuple[Any, ...]:
        return _inherit, (self.region, self.fd, self._n)


def _view_bytes(rows: Any) -> memoryview:
    view: memoryview = rows.reshape(-1).view(np.uint8).data
    return view


@contextmanager
def refuse_full_disk() -> Iterator[None]:
    """An error of the disk as a sentence about room for rows."""
    try:
        yield
    except OSError:
        raise IntakeError(_NO_ROOM) from None


def _inherit(region: Region, fd: int, n: int) -> LatticeFile:
    return LatticeFile(region, inherited=(fd, n))


def _open_without_name() -> int:
    with refuse_full_disk(), tempfile.TemporaryFile(prefix="dpviz-", buffering=0) as file:
        return os.dup(file.fileno())
