"""How dense rows are stored, and how they are seen through a public map, a chunk at a time.

They lie on the lattice of their region, in small floats, with a column of ones behind them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from dpviz.core.arrays import Array
from dpviz.core.domain import Region
from dpviz.core.lattice import choose_number_type
from dpviz.core.sparse_rows import is_sparse, keep_largest_entries

# Rows of so few columns are stored column by column: copies and sums of a column are several times as fast.
FEW_COLUMNS = 2


class Stored(Protocol):
    """Rows wherever they lie: dense ones with ones behind them, shape (n, d + 1), or sparse ones, shape (n, d)."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        ...

    def __getitem__(self, rows: slice) -> Any:
        """Some consecutive rows, in memory; not to be written to."""
        ...


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
    stored = np.empty(
        (n, region.dim + 1), choose_number_type(float(region.half.max()), region.row_bits), choose_order(region.dim)
    )
    stored[:, -1] = 1.0
    return stored


def choose_order(dim: int) -> Literal["C", "F"]:
    """How rows of ``dim`` columns lie in memory."""
    return "F" if dim <= FEW_COLUMNS else "C"


class RowView(Protocol):
    """What becomes of each row by itself: a row of ``region``, or several."""

    @property
    def region(self) -> Region:
        """Where what is seen lies."""
        ...

    @property
    def rows(self) -> int:
        """How many rows are seen of one."""
        ...

    def __call__(self, values: Any) -> Array:
        """What is seen of ``values`` (n, d), on the lattice of ``region``."""
        ...


@dataclass(frozen=True, eq=False)
class ProjectedRows:
    """The image under the linear map ``frame`` (p, d), on the lattice of points, clipped to ``region``."""

    frame: Array
    region: Region
    rows: int = 1

    def __call__(self, values: Any) -> Array:
        dense = values if is_sparse(values) else values.astype(np.float64)
        return self.region.rows(np.asarray(dense @ self.frame.T))


@dataclass(frozen=True, eq=False)
class Sparsified:
    """A row with its ``most`` largest entries; the others become 0."""

    most: int
    region: Region
    rows: int = 1

    def __call__(self, values: Any) -> Array:
        kept: Array = keep_largest_entries(values, self.most)
        return kept


@dataclass(frozen=True, eq=False)
class Unfolded:
    """The ``rows`` points of ``region`` that stand side by side in a row."""

    rows: int
    region: Region

    def __call__(self, values: Any) -> Array:
        return np.reshape(values, (len(values) * self.rows, self.region.dim))


@dataclass(frozen=True, eq=False)
class SeenRows:
    """Stored rows through a view: nothing is kept of what is seen."""

    stored: Stored
    view: RowView

    @property
    def shape(self) -> tuple[int, int]:
        """Rows that are seen, and their columns with the one of ones."""
        return self.stored.shape[0] * self.view.rows, self.view.region.dim + 1

    def __getitem__(self, rows: slice) -> Any:
        start, end, _ = rows.indices(self.shape[0])
        each = self.view.rows
        first, last = start // each, -(-end // each)
        given = self.stored[first:last]
        values = given if is_sparse(given) else given[:, :-1]
        seen = allocate_rows(end - start, self.view.region)
        seen[:, :-1] = self.view(values)[start - first * each : end - first * each]
        return seen
