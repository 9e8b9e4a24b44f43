"""Deterministic questions over rows, each with the most that one row can change its answer.

Every answer adds up over row chunks: ``answer(a) + answer(b)`` is the answer on both. Sensitivities are for one row in
``region`` (unit coordinates); the room multiplies them by the rows that one person may have.

References
----------
Dwork & Roth 2014, Def. 3.1 (l1) and Def. 3.8 (l2). Dong, Durfee & Rogers 2020, §2 (bounded range).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import inf, sqrt
from typing import Any, ClassVar, Protocol

import numpy as np
from scipy import sparse

from dpviz.arrays import Array, Codes
from dpviz.privacy.hash_partitions import HashCodes, HashTree
from dpviz.privacy.partitions import CubeTree, Everything, Grid, Partition, Projected, Voronoi, Zoomed
from dpviz.table.domain import Region
from dpviz.table.sparse_rows import is_sparse


class Relation(Enum):
    """What neighbouring tables are."""

    ADD_REMOVE = "add_remove"
    """One has one unit of privacy more; the number of rows is private."""
    REPLACE = "replace"
    """One unit of privacy is exchanged; the number of rows is public."""

    @property
    def rows(self) -> int:
        """Rows that come or go: under replace one goes and one comes."""
        return 1 if self is Relation.ADD_REMOVE else 2


@dataclass(frozen=True)
class Sensitivity:
    """The most that one row changes an answer.

    Parameters
    ----------
    l1, l2 : float
        In the l1 and the Euclidean norm of the whole answer.
    block : float
        Sum over the answer's rows of their Euclidean norms: what K-norm noise per row is calibrated to.
    range : float
        Largest minus smallest change over the entries: what the exponential mechanism is calibrated to.
    """

    l1: float
    l2: float
    block: float = inf
    range: float = inf

    @classmethod
    def of_counts(cls, relation: Relation) -> Sensitivity:
        """Of a histogram: one cell moves by 1; under replace a second one may."""
        rows = float(relation.rows)
        return cls(l1=rows, l2=sqrt(rows), block=rows)

    def times(self, rows: int) -> Sensitivity:
        """For so many rows, which may all lie in one cell."""
        return Sensitivity(rows * self.l1, rows * self.l2, rows * self.block, rows * self.range)


class Query(Protocol):
    """A deterministic question over rows, sorted into the cells of a partition first."""

    @property
    def over(self) -> Partition:
        """The cells."""
        ...

    @property
    def width(self) -> int:
        """Temporary numbers that a row needs, which bounds the size of a chunk."""
        ...

    def tally(self, chunk: Array, cell: Codes) -> Any:
        """The answer on a chunk whose cells are known; answers on chunks add up."""
        ...

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """The most that one row in ``region`` changes the answer."""
        ...


class OfCells:
    """A question that needs no more temporary numbers than its partition."""

    @property
    def width(self: Query) -> int:
        return self.over.width


class OfAllRows(OfCells):
    """A question about all rows together."""

    over: ClassVar[Everything] = Everything()


@dataclass(frozen=True, eq=False)
class Count(OfCells):
    """Rows per cell, shape (n_cells,)."""

    over: Everything | Voronoi | Grid | Zoomed | Projected | HashTree

    def tally(self, chunk: Array, cell: Codes) -> Array:
        return np.bincount(cell, minlength=self.over.n_cells).astype(np.float64)

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """One cell moves by 1; under replace a second one may."""
        return Sensitivity.of_counts(relation)


@dataclass(frozen=True, eq=False)
class Sum(OfCells):
    """Coordinate sums per cell, shape (n_cells, d), unit coordinates."""

    over: Everything | Voronoi | Grid | Zoomed | Projected | HashTree

    def tally(self, chunk: Array, cell: Codes) -> Array:
        return sums_by_cell(chunk, cell, self.over.n_cells)

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """One cell moves by a row; under replace one loses a row and one (perhaps the same) gains another."""
        return Sensitivity(region.l1_radius, region.radius, region.radius).times(relation.rows)


def sums_by_cell(values: Any, cell: Codes, n_cells: int, *, weights: Array | None = None) -> Array:
    """Weighted sums of ``values`` (rows, m) over each cell, shape (n_cells, m): one sparse indicator times them."""
    rows = values.shape[0]
    weights = np.ones(rows) if weights is None else weights
    indicator = sparse.csc_array((weights, cell, np.arange(rows + 1)), shape=(n_cells, rows))
    if is_sparse(values):
        dense: Array = (indicator.tocsr() @ values).toarray()
        return dense
    return np.asarray(indicator @ values)


@dataclass(frozen=True, eq=False)
class SparseCounts:
    """Sorted distinct ``codes`` of shape (m,) and a number for each, out of ``universe`` cells in all."""

    codes: Codes
    values: Array
    universe: int

    @classmethod
    def of(cls, assigned: Codes, universe: int) -> SparseCounts:
        """Rows per cell; a negative code is no cell."""
        codes, counts = np.unique(assigned[assigned >= 0], return_counts=True)
        return cls(codes, counts.astype(np.float64), universe)

    def __add__(self, other: SparseCounts) -> SparseCounts:
        if len(other.codes) == 0:
            return self
        codes, place = np.unique(np.r_[self.codes, other.codes], return_inverse=True)
        return SparseCounts(
            codes, np.bincount(place, np.r_[self.values, other.values], len(codes)).astype(np.float64), self.universe
        )

    def at(self, codes: Codes) -> Array:
        """The number at each of ``codes``; 0 where a cell is not listed."""
        if len(self.codes) == 0:
            return np.zeros(len(codes))
        place = np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)
        return np.where(self.codes[place] == codes, self.values[place], 0.0)


@dataclass(frozen=True, eq=False)
class SparseCount(OfCells):
    """Rows per non-empty cell of a partition that may have up to 2^62 cells."""

    over: Grid | Projected | CubeTree | HashCodes

    def tally(self, chunk: Array, cell: Codes) -> SparseCounts:
        return SparseCounts.of(cell, self.over.n_cells)

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """As for ``Count``: a row is in at most one cell."""
        return Sensitivity.of_counts(relation)
