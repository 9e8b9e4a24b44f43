"""How rows are stored, and how they are seen through a public map, a chunk at a time.

Dense ones lie on the lattice of their region, in small floats, with a column of ones behind them; those of which most
entries are 0 are kept sparse from the file to the sums.

"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse

from dpviz.core import check, lattice
from dpviz.core.arrays import Array, Codes, Flags
from dpviz.core.domain import Domain, Region


def is_sparse(values: Any) -> bool:
    """Whether a table is a SciPy sparse array or matrix."""
    return bool(sparse.issparse(values))


def make_dense(rows: Any) -> Array:
    """``rows`` with their zeros: for a chunk of few columns."""
    dense: Array = rows.toarray() if is_sparse(rows) else rows
    return dense


def compute_squared_norms(rows: Any) -> Array:
    """Squared Euclidean norm of each row, dense or sparse, shape (n,)."""
    if is_sparse(rows):
        return np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float64).ravel()
    return np.asarray(np.einsum("rd,rd->r", rows, rows))


def find_complete(values: Any) -> Flags:
    """Which rows of a dense or sparse table have only finite entries, shape (n,)."""
    if not is_sparse(values):
        return np.asarray(np.isfinite(values).all(axis=1))
    broken = np.repeat(np.arange(values.shape[0]), np.diff(values.indptr))[~np.isfinite(values.data)]
    whole = np.ones(values.shape[0], dtype=np.bool_)
    whole[broken] = False
    return whole


def move_sparse_into_region(values: Any, kept: Codes, domain: Domain) -> Any:
    """The ``kept`` rows of a sparse table (n, d), data units, in unit coordinates, clipped, on the lattice of rows.

    No zero becomes anything else: refused if the domain's middle is not at 0.
    """
    if np.any(domain.center != 0):
        raise check.RequestError(
            "The bounds of a sparse table must lie evenly around 0, so that a 0 stays a 0: declare -HI, HI."
        )
    unit = values[kept].astype(np.float64)
    if max(unit.shape[1], unit.nnz) < 2**31:  # what other libraries expect
        unit.indices, unit.indptr = unit.indices.astype(np.int32), unit.indptr.astype(np.int32)
    unit.data = np.where(np.repeat(find_complete(unit), np.diff(unit.indptr)), unit.data, 0.0)
    region = domain.region
    half = region.half[unit.indices]
    unit.data = lattice.round_inward(np.clip(unit.data / domain.scale[unit.indices], -half, half), region.row_bits)
    limit = region.radius * lattice.SHRINK
    norms = np.sqrt(compute_squared_norms(unit))
    shrink = np.repeat(np.where(norms > limit, limit / np.maximum(norms, limit), 1.0), np.diff(unit.indptr))
    unit.data = lattice.round_inward(unit.data * shrink, region.row_bits)
    unit.eliminate_zeros()
    return unit


def keep_largest_entries(values: Any, most: int) -> Any:
    """Each row (n, d) with its ``most`` entries of largest magnitude, the first of equals, and zeros elsewhere."""
    if values.shape[1] <= most:
        return values
    if not is_sparse(values):
        order = np.argsort(-np.abs(values), axis=1, kind="stable")[:, :most]
        kept = np.zeros_like(values)
        np.put_along_axis(kept, order, np.take_along_axis(values, order, axis=1), axis=1)
        return kept
    row = np.repeat(np.arange(values.shape[0]), np.diff(values.indptr))
    order = np.lexsort((values.indices, -np.abs(values.data), row))
    rank = np.arange(len(row)) - values.indptr[row]
    thinned = values.copy()
    thinned.data[order[rank >= most]] = 0.0
    thinned.eliminate_zeros()
    return thinned


# Rows of so few columns are stored column by column: copies and sums of a column are several times as fast.
FEW_COLUMNS = 2


def allocate_rows(n: int, region: Region) -> Any:
    """Memory for ``n`` rows of ``region``, in the smaller floats where they are exact; the ones are there.

    Parameters
    ----------
    n : int
    region : Region

    Returns
    -------
    array of shape (n, dim + 1)
        The last column is 1.
    """
    stored = np.empty((n, region.dim + 1), region.number_type, choose_order(region.dim))
    stored[:, -1] = 1.0
    return stored


def choose_order(dim: int) -> Literal["C", "F"]:
    """How rows of ``dim`` columns lie in memory."""
    return "F" if dim <= FEW_COLUMNS else "C"


@dataclass(frozen=True, eq=False)
class SeenRows:
    """Stored rows through a view: of each row, by itself, ``each`` rows of ``region`` are seen; nothing is kept of it.

    ``stored`` are rows wherever they lie: dense ones with ones behind them, shape (n, d + 1), or sparse ones, (n, d).
    ``view`` makes of some of them, without the ones, what is seen, on the lattice of ``region``.
    """

    stored: Any
    view: Callable[[Any], Array]
    region: Region
    each: int = 1

    @property
    def shape(self) -> tuple[int, int]:
        """Rows that are seen, and their columns with the one of ones."""
        return self.stored.shape[0] * self.each, self.region.dim + 1

    def __getitem__(self, rows: slice) -> Any:
        start, end, _ = rows.indices(self.shape[0])
        first, last = start // self.each, -(-end // self.each)
        given = self.stored[first:last]
        values = given if is_sparse(given) else given[:, :-1]
        seen = allocate_rows(end - start, self.region)
        seen[:, :-1] = self.view(values)[start - first * self.each : end - first * self.each]
        return seen
