"""Deterministic questions over rows, each with the most that one row can change its answer.

Every answer adds up over row chunks: ``tally(a) + tally(b)`` is the tally of both, in whole numbers of a public quantum
and so in any order (``docs/proofs/exact-sums.md``). Sensitivities are for one row in ``region`` (unit coordinates)
after all rounding (``docs/proofs/sensitivities.md``); the session multiplies them by the rows of a person.

References
----------
Dwork & Roth 2014, Def. 3.1 (l1) and Def. 3.8 (l2). Dong, Durfee & Rogers 2020, §2 (bounded range).
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache
from math import inf, sqrt
from typing import Any, ClassVar, Protocol

import numpy as np
from scipy import sparse

from dpviz.core.arrays import Array, Codes
from dpviz.core.domain import Region
from dpviz.core.hash_partitions import HashCodes, HashTree
from dpviz.core.lattice import ExactRows, count_quanta
from dpviz.core.partitions import CubeTree, Everything, Grid, Partition, ProjectedCells, UnevenGrid, Voronoi, Zoomed
from dpviz.core.sparse_rows import is_sparse
from dpviz.core.stored_rows import FEW_COLUMNS


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


Relation.__module__ = "dpviz"


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
    one_way : float
        The most that the entries which rise do so together, or those which fall: what a sum is calibrated to in which
        each entry counts as itself or less.
    """

    l1: float
    l2: float
    block: float = inf
    range: float = inf
    one_way: float = inf

    def __post_init__(self) -> None:
        for norm in ("l1", "l2", "block", "range", "one_way"):
            object.__setattr__(self, norm, float(getattr(self, norm)))

    @classmethod
    def of_counts(cls, relation: Relation) -> Sensitivity:
        """Of a histogram: one cell moves by 1; under replace a second one may, the other way."""
        rows = float(relation.rows)
        return cls(l1=rows, l2=sqrt(rows), block=rows, one_way=1.0)

    def times(self, rows: int) -> Sensitivity:
        """For so many rows, which may all lie in one cell."""
        return Sensitivity(rows * self.l1, rows * self.l2, rows * self.block, rows * self.range, rows * self.one_way)


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

    def tally(self, rows: ExactRows, cell: Codes) -> Any:
        """The answer on rows whose cells are known, in whole numbers; those on chunks add up.

        Parameters
        ----------
        rows : ExactRows
            Some of the rows, on their lattice.
        cell : int array of shape (rows,)
            The cell of each row.

        Returns
        -------
        object
            Whole numbers of the query's quantum.
        """
        ...

    def truth(self, total: Any, region: Region) -> Any:
        """The answer in unit coordinates, of rows in ``region`` whose tallies are added up in ``total``.

        Parameters
        ----------
        total : object
            Tallies of all chunks, added up.
        region : Region
            Where rows live, unit coordinates.

        Returns
        -------
        object
            Of the shape that the query says.
        """
        ...

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """The most that one row in ``region`` changes the answer.

        Parameters
        ----------
        relation : Relation
            How neighbouring tables differ.
        region : Region
            Where rows live, unit coordinates.

        Returns
        -------
        Sensitivity
            In unit coordinates, after all rounding.
        """
        ...


class InQuanta:
    """A question whose tallies are whole numbers of a public ``quantum``."""

    def quantum(self, region: Region) -> float | Array:
        """What one of the tally is in unit coordinates."""
        return 1.0

    def truth(self, total: Any, region: Region) -> Any:
        """The answer in unit coordinates."""
        return total * self.quantum(region)


class OfCells(InQuanta):
    """A question that needs no more temporary numbers than its partition."""

    @property
    def width(self: Query) -> int:
        return self.over.width


class OfCoordinates(OfCells):
    """A question that adds up coordinates of rows."""

    def quantum(self, region: Region) -> float | Array:
        """That of rows."""
        return float(2.0**-region.row_bits)


class AsAsked:
    """A question whose answer is a bag of rows, which knows its own order."""

    def truth(self, total: Any, region: Region) -> Any:
        """The bag in an order that follows from the rows, not from where they stand."""
        return total.order_by_content()


class OfAllRows(OfCells):
    """A question about all rows together."""

    over: ClassVar[Everything] = Everything()


@dataclass(frozen=True, eq=False)
class Count(OfCells):
    """Rows per cell, shape (n_cells,)."""

    over: Everything | Voronoi | Grid | UnevenGrid | Zoomed | ProjectedCells | HashTree

    def tally(self, rows: ExactRows, cell: Codes) -> Codes:
        by_product = _find_counts(rows, cell)
        return np.bincount(cell, minlength=self.over.n_cells) if by_product is None else by_product

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """One cell moves by 1; under replace a second one may."""
        return Sensitivity.of_counts(relation)


@dataclass(frozen=True, eq=False)
class Sum(OfCoordinates):
    """Coordinate sums per cell, shape (n_cells, d), unit coordinates."""

    over: Everything | Voronoi | Grid | UnevenGrid | Zoomed | ProjectedCells | HashTree

    def tally(self, rows: ExactRows, cell: Codes) -> Codes:
        return sum_coordinates(rows, cell, self.over.n_cells)

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """One cell moves by a row; under replace one loses a row and one (perhaps the same) gains another.

        Two rows of one cell lie ``apart`` at most, which is less than twice the radius where categories differ; in two
        cells they are √2 radii long together, which is less still.
        """
        once = Sensitivity(region.l1_radius, region.radius, region.radius)
        return once if relation is Relation.ADD_REMOVE else replace(once.times(2), l2=region.apart)


def sum_coordinates(rows: ExactRows, cell: Codes, n_cells: int) -> Codes:
    """Sums of the coordinates over each cell in quanta of rows, shape (n_cells, d).

    Parameters
    ----------
    rows : ExactRows
        Some of the rows, on their lattice.
    cell : int array of shape (rows,)
        The cell of each row.
    n_cells : int
        Cells in all.

    Returns
    -------
    int array of shape (n_cells, d)
        In quanta of rows.
    """
    if rows.padded is None or rows.values.shape[1] <= FEW_COLUMNS:
        return np.asarray(count_quanta(sum_by_cell(rows.values, cell, n_cells), rows.bits))
    # The product wants rows that lie close together, so it takes the ones behind them too: their sums are counts.
    sums = sum_by_cell(rows.padded, cell, n_cells)
    rows.shared["counts"] = (cell, sums[:, -1].astype(np.int64))
    return np.asarray(count_quanta(sums[:, :-1], rows.bits))


def _find_counts(rows: ExactRows, cell: Codes) -> Codes | None:
    """Rows of each cell, if a sum over the same cells has found them already."""
    last: tuple[Codes, Codes] = rows.shared.get("counts", (None, None))
    return last[1] if last[0] is cell else None


def sum_by_cell(values: Any, cell: Codes, n_cells: int, *, weights: Array | None = None) -> Array:
    """Weighted sums of ``values`` (rows, m) over each cell, shape (n_cells, m); exact for whole numbers up to 2^53.

    Parameters
    ----------
    values : array of shape (rows, m)
        Dense or sparse.
    cell : int array of shape (rows,)
        The cell of each row.
    n_cells : int
        Cells in all.
    weights : array of shape (rows,) or None
        None: all 1.

    Returns
    -------
    array of shape (n_cells, m)
        In the units of the values.
    """
    rows, columns = values.shape
    if not is_sparse(values) and columns <= FEW_COLUMNS:  # a histogram a column is faster than a product
        weighed = values if weights is None else values * weights[:, None]
        sums = np.stack([np.bincount(cell, column, n_cells) for column in weighed.T], axis=1)
        return sums.astype(np.float64, copy=False)  # of no rows they are whole numbers
    indicator = copy(_make_blank_indicator(n_cells, rows))
    indicator.indices = cell
    if weights is not None:
        indicator.data = weights
    if is_sparse(values):
        dense: Array = (indicator.tocsr() @ values).toarray()
        return dense
    return np.asarray(indicator @ values)


@lru_cache(maxsize=8)
def _make_blank_indicator(n_cells: int, rows: int) -> Any:
    """Which row lies in which cell, apart from that: checking and making it would take as long as the product."""
    blank: Any = sparse.csc_array((n_cells, rows))
    blank.data, blank.indptr = _make_ones(rows.bit_length())[:rows], _make_counts(rows.bit_length())[: rows + 1]
    return blank


@lru_cache(maxsize=2)
def _make_ones(bits: int) -> Array:
    return np.ones(2**bits)


@lru_cache(maxsize=2)
def _make_counts(bits: int) -> Codes:
    return np.arange(2**bits + 1)


@dataclass(frozen=True, eq=False)
class SparseCounts:
    """Sorted distinct ``codes`` of shape (m,) and a number for each, out of ``universe`` cells in all."""

    codes: Codes
    values: Array
    universe: int

    @classmethod
    def of(cls, assigned: Codes, universe: int) -> SparseCounts:
        """Rows per cell; a negative code is no cell.

        Parameters
        ----------
        assigned : int array of shape (rows,)
            The cell of each row, or a negative number.
        universe : int
            Cells in all.

        Returns
        -------
        SparseCounts
            Cells that hold rows, sorted, with their counts.
        """
        codes, counts = np.unique(assigned[assigned >= 0], return_counts=True)
        return cls(codes, counts.astype(np.float64), universe)

    def __add__(self, other: SparseCounts) -> SparseCounts:
        if len(other.codes) == 0:
            return self
        codes, place = np.unique(np.r_[self.codes, other.codes], return_inverse=True)
        return SparseCounts(
            codes, np.bincount(place, np.r_[self.values, other.values], len(codes)).astype(np.float64), self.universe
        )

    def get_counts(self, codes: Codes) -> Array:
        """The number at each of ``codes``; 0 where a cell is not listed."""
        if len(self.codes) == 0:
            return np.zeros(len(codes))
        place = np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)
        return np.where(self.codes[place] == codes, self.values[place], 0.0)


@dataclass(frozen=True, eq=False)
class SparseCount(OfCells):
    """Rows per non-empty cell of a partition that may have up to 2^62 cells."""

    over: Grid | ProjectedCells | CubeTree | HashCodes

    def tally(self, rows: ExactRows, cell: Codes) -> SparseCounts:
        return SparseCounts.of(cell, self.over.n_cells)

    def truth(self, total: SparseCounts, region: Region) -> SparseCounts:
        """The counts as they are."""
        return total

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """As for ``Count``: a row is in at most one cell."""
        return Sensitivity.of_counts(relation)


@dataclass(frozen=True, eq=False)
class Tallies:
    """What is asked of each chunk, as a plain value; questions over one partition share its cells."""

    queries: tuple[Query, ...]

    def __call__(self, rows: ExactRows) -> list[Any]:
        overs = [query.over for query in self.queries]
        cells = {id(over): over.find_cells(rows) for over in {id(over): over for over in overs}.values()}
        answers: list[Any] = [None] * len(overs)
        # Counts come last: a sum over the same cells finds them on its way.
        for at in sorted(range(len(overs)), key=lambda at: isinstance(self.queries[at], Count)):
            answers[at] = self.queries[at].tally(rows, cells[id(overs[at])])
        return answers
