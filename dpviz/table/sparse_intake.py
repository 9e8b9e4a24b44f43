"""Sparse tables from files: SciPy's .npz, as ``scipy.sparse.save_npz`` writes it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from dpviz.table.loaded_table import IntakeError


@dataclass(frozen=True, eq=False)
class SparseTable:
    """Rows as they came in, most entries 0 and not written out; nothing here is released.

    Attributes
    ----------
    name : str
    values : sparse array of shape (n, d)
        Data units.
    notes : tuple of str
        What was decided on the way in.
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
    """Read a sparse matrix from an ``.npz`` file.

    Raises
    ------
    IntakeError
        If there is no such file, or it holds no sparse matrix of numbers with a row and a column.
    """
    if not path.is_file():
        raise IntakeError(f"There is no file {path.name!r}: give the path of an .npz file.")
    try:
        values = sparse.csr_array(sparse.load_npz(path))
        values = values.astype(np.float64)
    except Exception:
        raise IntakeError(
            f"{path.name!r} holds no sparse matrix: write one with scipy.sparse.save_npz, or give a CSV file."
        ) from None
    if values.ndim != 2 or 0 in values.shape:
        raise IntakeError(f"{path.name!r} has no row or no column: give a table with at least one of each.")
    values.sum_duplicates()
    return SparseTable(path.stem, values)
