"""Sparse tables from files: SciPy's .npz, as ``scipy.sparse.save_npz`` writes it.

A file says of itself how large it is: that is read, and checked, before any memory is taken for it. What is refused as
too large follows from the bytes of the file, unpacked, and from its columns: these are public, as the size of every
file is. A matrix that is not stored row by row may have more rows than bytes, and memory would limit these; it is not
read, whatever its size, as any limit would tell whether one more row is there.
"""

import hashlib
import os
import zipfile
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
from numpy.lib import format as npy
from scipy import sparse

from dpviz.tables.loaded_table import IntakeError, demand
from dpviz.words import foreign

MOST_COLUMNS = 200_000
_MOST_BYTES = foreign.SPARSE.most_unpacked
_LONGEST_HEADER = 10_000
_NUMBERS, _WHOLE_NUMBERS, _TEXT = "biuf", "iu", "SU"


@dataclass(frozen=True, eq=False)
class SparseTable:
    """Rows as they came in, most entries 0 and not written out; nothing here is released.

    * ``values`` (n, d): data units.
    * ``notes``: what was decided on the way in.
    """

    name: str
    values: Any = field(repr=False)
    notes: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """How many rows there are: a private number under add/remove."""
        return int(self.values.shape[0])

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the entries: the key for caches."""
        digest = hashlib.sha256(repr(self.values.shape).encode())
        for part in (self.values.indptr, self.values.indices, self.values.data):
            digest.update(np.ascontiguousarray(part).data)
        return digest.hexdigest()

    @property
    def columns(self) -> tuple[str, ...]:
        """Numbers as names: a sparse file has no others."""
        return tuple(f"column_{place}" for place in range(1, self.values.shape[1] + 1))


def load_sparse(path: Path) -> SparseTable:
    """Read a sparse matrix from an ``.npz`` file. An entry that is NaN or infinite makes its row an incomplete one."""
    if not os.path.isfile(path):  # noqa: PTH113 (a path too long to be one is no file, and no error)
        raise IntakeError.of("no_npz", name=path.name)
    with foreign.refuse_as(IntakeError.of("no_sparse", name=path.name), foreign.SPARSE):
        values = _read(path)
        values.sum_duplicates()
    return SparseTable(Path(foreign.format_name(path)).stem, values)


def _read(path: Path) -> Any:
    """The matrix, row by row; every size is known before it is read, every place is checked to be one of the matrix."""
    large = {"name": path.name, "most": MOST_COLUMNS}
    with foreign.open_file(path) as file, zipfile.ZipFile(file) as archive:
        given = os.fstat(file.fileno()).st_size
        unpacked = sum(member.file_size for member in archive.infolist())
        demand(max(given, unpacked) <= _MOST_BYTES, "sparse_large", **large)
        form = bytes(str(_read_array(archive, "format", _TEXT, 0).astype("U3")), "ascii")
        shape = _read_array(archive, "shape", _WHOLE_NUMBERS, 1)
        demand(form == b"csr", "sparse_by_column", name=path.name)
        demand(len(shape) == 2, "no_sparse", name=path.name)
        n, d = (int(size) for size in shape)
        demand(n >= 1 and d >= 1, "sparse_empty", name=path.name)
        demand(d <= MOST_COLUMNS, "sparse_large", **large)
        held = (foreign.SPARSE.holds_cells(given, _count(archive, one)) for one in ("data", "indices", "indptr"))
        demand(all(held), "sparse_large", **large)
        data = _read_array(archive, "data", _NUMBERS, 1).astype(np.float64)
        both = (_read_array(archive, name, _WHOLE_NUMBERS, 1) for name in ("indices", "indptr"))
        places, starts = (values.astype(np.int64) for values in both)
    matrix = sparse.csr_array((data, places, starts), shape=(n, d))
    if starts[-1] != len(data):  # SciPy would cut the rest off
        raise IntakeError.of("no_sparse", name=path.name)
    matrix.check_format(full_check=True)
    return matrix


def _count(archive: zipfile.ZipFile, name: str) -> int:
    """How many numbers an array says to hold; memory has eight bytes for each, whatever it takes in the file."""
    with archive.open(f"{name}.npy") as file:
        shape, _ = _read_header(file)
    return prod(shape)


def _read_array(archive: zipfile.ZipFile, name: str, kinds: str, dim: int) -> npt.NDArray[Any]:
    """An array of the archive, of ``dim`` axes and one of these ``kinds`` of numbers, none of them an object."""
    member = archive.getinfo(f"{name}.npy")
    with archive.open(member) as file:
        shape, dtype = _read_header(file)
        sound = len(shape) == dim and all(size >= 0 for size in shape) and dtype.kind in kinds and dtype.itemsize <= 16
        if not sound or file.tell() + prod(shape) * dtype.itemsize != member.file_size:
            raise ValueError("no array of this kind")
    with archive.open(member) as file:
        array: npt.NDArray[Any] = npy.read_array(file, allow_pickle=False, max_header_size=_LONGEST_HEADER)
    return array


def _read_header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    match npy.read_magic(file):
        case (1, 0):
            shape, _, dtype = npy.read_array_header_1_0(file, max_header_size=_LONGEST_HEADER)
        case (2, 0):
            shape, _, dtype = npy.read_array_header_2_0(file, max_header_size=_LONGEST_HEADER)
        case _:
            raise ValueError("a header that holds names: no array of numbers")
    return shape, dtype
