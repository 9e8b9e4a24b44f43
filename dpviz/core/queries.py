"""Deterministic questions over rows, each with the most that one row can change its answer: counts and sums.

Every answer adds up over row chunks: ``tally(a) + tally(b)`` is the tally of both, in whole numbers of a public quantum
and so in any order (``docs/proofs/exact-sums.md``). Sensitivities are for one row in ``region`` (unit coordinates)
after all rounding (``docs/proofs/sensitivities.md``); the session multiplies them by the rows of a person.

A residual is a row minus the released centre of its cell. Most are shortened to a released or public
``clipping_radius`` first, so that the noise of every answer is in proportion to that radius, not to the domain. Points
and centres are in unit coordinates, on the lattice of released points; what was shortened or divided is rounded towards
0 again.

What is counted of segments, the Voronoi cells of released centres, is asked here, too: a row is in one cell and in one
bin of it, so each of these answers is a histogram, whose noise does not grow with the number of cells or bins
(``docs/proofs/sensitivities.md``).

References
----------
Dwork & Roth 2014, Def. 3.1 (l1) and Def. 3.8 (l2). Dong, Durfee & Rogers 2020, §2 (bounded range). Balcan et al. 2017,
Alg. 5 (chosen coordinates) and §6.2 (k-median).
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache
from math import inf, sqrt, tau
from typing import Any, ClassVar, Protocol

import numpy as np
from scipy import sparse

from dpviz.core import check, lattice
from dpviz.core.arrays import Array, Codes
from dpviz.core.domain import CIRCLE, Region, Shape
from dpviz.core.lattice import ExactRows, OnLattice, borrow_scratch, count_quanta, multiply
from dpviz.core.partitions import DensePartition, Everything, Partition, ProjectedCells, SparsePartition, Voronoi
from dpviz.core.stored_rows import FEW_COLUMNS, compute_squared_norms, is_sparse, make_dense


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

    @property
    def width(self) -> int:
        """Temporary numbers that a row needs, which bounds the size of a chunk."""

    def tally(self, rows: ExactRows, cell: Codes) -> Any:
        """The answer on rows whose cells are known, in whole numbers of its quantum; those on chunks add up.

        Parameters
        ----------
        rows
        cell : int array of shape (rows,)
            The cell of each row.

        Returns
        -------
        object
        """

    def truth(self, total: Any, region: Region) -> Any:
        """The answer in unit coordinates, of rows in ``region`` whose tallies are added up in ``total``.

        Parameters
        ----------
        total
        region

        Returns
        -------
        object
            Of the shape that the query says.
        """

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """The most that one row in ``region`` changes the answer.

        Parameters
        ----------
        relation
        region

        Returns
        -------
        Sensitivity
            In unit coordinates, after all rounding.
        """


class InQuanta:
    """A question whose tallies are whole numbers of a public ``quantum``."""

    def quantum(self, region: Region) -> float | Array:
        """What one of the tally is in unit coordinates."""
        return 1.0

    def truth(self, total: Any, region: Region) -> Any:
        """The answer in unit coordinates."""
        return total * self.quantum(region)


class InParts(InQuanta):
    """A question about parts of a public length, which are counted in millionths."""

    def quantum(self, region: Region) -> float:
        """Of that length."""
        return 2.0**-lattice.ROW_BITS


class InRowQuanta(InQuanta):
    """A question about sums of rows, or of their residuals: both lie on the lattice of rows."""

    def quantum(self, region: Region) -> float:
        """That of rows."""
        return float(2.0**-region.row_bits)


class OfCells(InQuanta):
    """A question that needs no more temporary numbers than its partition."""

    @property
    def width(self: Query) -> int:
        return self.over.width


class AsAsked:
    """A question whose answer is a bag of rows, which knows its own order."""

    def truth(self, total: Any, region: Region) -> Any:
        """The bag in an order that follows from the rows, not from where they stand."""
        return total.order_by_content()


class OfOneBin:
    """A question that counts each row once: what it counts is whole numbers of rows."""

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """A row is in one bin at most; under replace it may move to another one."""
        return Sensitivity.of_counts(relation)


class OfAllRows(OfCells):
    """A question about all rows together."""

    over: ClassVar[Everything] = Everything()


@dataclass(frozen=True, eq=False)
class OfBox(OfAllRows):
    """A question about all rows, clipped to a box ``lower`` to ``upper`` (d,), public or released before."""

    lower: Array
    upper: Array

    def __post_init__(self) -> None:
        if not (np.isfinite(self.lower).all() and np.isfinite(self.upper).all() and (self.lower < self.upper).all()):
            raise check.RequestError("A box needs width: give a finite lower bound below each upper bound.")

    @property
    def width(self) -> int:
        return 2 * len(self.lower)


@dataclass(frozen=True, eq=False)
class Count(OfOneBin, OfCells):
    """Rows per cell, shape (n_cells,)."""

    over: DensePartition

    def tally(self, rows: ExactRows, cell: Codes) -> Codes:
        # A sum over the same cells has found them already.
        last, counts = rows.shared.get("counts", (None, None))
        return counts if last is cell else np.bincount(cell, minlength=self.over.n_cells)


@dataclass(frozen=True, eq=False)
class Sum(InRowQuanta, OfCells):
    """Coordinate sums per cell, shape (n_cells, d), unit coordinates."""

    over: DensePartition

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
    """Sums of the coordinates over each of ``n_cells`` cells.

    Parameters
    ----------
    rows
    cell : int array of shape (rows,)
        The cell of each row.
    n_cells

    Returns
    -------
    int array of shape (n_cells, d)
        In quanta of rows.
    """
    if rows.padded is None or rows.values.shape[1] <= FEW_COLUMNS:
        return count_quanta(sum_by_cell(rows.values, cell, n_cells), rows.bits)
    # The product wants rows that lie close together, so it takes the ones behind them too: their sums are counts.
    sums = sum_by_cell(rows.padded, cell, n_cells)
    rows.shared["counts"] = (cell, sums[:, -1].astype(np.int64))
    return count_quanta(sums[:, :-1], rows.bits)


def sum_by_cell(values: Any, cell: Codes, n_cells: int, *, weights: Array | None = None) -> Array:
    """Weighted sums of ``values`` over each of ``n_cells`` cells; exact for whole numbers up to 2^53.

    Parameters
    ----------
    values : array of shape (rows, m)
        Dense or sparse.
    cell : int array of shape (rows,)
        The cell of each row.
    n_cells
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
        return np.asarray((indicator.tocsr() @ values).toarray())
    return np.asarray(indicator @ values)


@lru_cache(maxsize=8)
def _make_blank_indicator(n_cells: int, rows: int) -> Any:
    """Which row lies in which cell, apart from that: checking and making it would take as long as the product."""
    blank: Any = sparse.csc_array((n_cells, rows))
    ones, counts = _make_ones_and_counts(rows.bit_length())
    blank.data, blank.indptr = ones[:rows], counts[: rows + 1]
    return blank


@lru_cache(maxsize=2)
def _make_ones_and_counts(bits: int) -> tuple[Array, Codes]:
    return np.ones(2**bits), np.arange(2**bits + 1)


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
        counts = np.bincount(place, np.r_[self.values, other.values], len(codes))
        return SparseCounts(codes, counts.astype(np.float64), self.universe)

    def get_counts(self, codes: Codes) -> Array:
        """The number at each of ``codes``; 0 where a cell is not listed."""
        if len(self.codes) == 0:
            return np.zeros(len(codes))
        place = np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)
        return np.where(self.codes[place] == codes, self.values[place], 0.0)


@dataclass(frozen=True, eq=False)
class SparseCount(OfOneBin, OfCells):
    """Rows per non-empty cell of a partition that may have up to 2^62 cells."""

    over: SparsePartition

    def tally(self, rows: ExactRows, cell: Codes) -> SparseCounts:
        return SparseCounts.of(cell, self.over.n_cells)

    def truth(self, total: SparseCounts, region: Region) -> SparseCounts:
        """The counts as they are."""
        return total


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


@dataclass(frozen=True, eq=False)
class _FromPoints(OnLattice, InQuanta, rounded=("at",)):
    """A question about residuals from ``at`` (n_cells, d), of which a row needs so many ``copies`` at a time."""

    copies: ClassVar[int] = 1
    over: Everything | Voronoi | ProjectedCells
    at: Array

    @property
    def width(self) -> int:
        return int(self.over.width + self.copies * self.at.shape[1])


@dataclass(frozen=True, eq=False)
class Radii(OfOneBin, _FromPoints):
    """Histogram of the lengths of all residuals from ``at`` (n_cells, d), shape (finer + bins,).

    The bins are equal up to ``outer_radius``; the last one takes the rest. The first of them is cut ``finer`` times, at
    its width over √2, over 2, over 2√2 and so on: lengths of rows that lie close together are told apart there.
    """

    outer_radius: float
    bins: int = 40
    finer: int = 0

    @property
    def edges(self) -> Array:
        """Borders of all bins, from 0 to ``outer_radius``; (finer + bins + 1,)."""
        first = self.outer_radius / self.bins
        halves = np.arange(self.finer, 0, -1)
        # Powers of two and one square root: the same bits on any machine.
        cuts = first * np.ldexp(np.where(halves % 2, sqrt(0.5), 1.0), -(halves // 2))
        return np.asarray(np.r_[0.0, cuts, first * np.arange(1, self.bins + 1)])

    def tally(self, rows: ExactRows, cell: Codes) -> Codes:
        length = np.sqrt(_compute_residuals(rows, cell, self.at).squared)
        place = np.minimum(length * (self.bins / self.outer_radius), self.bins - 1).astype(np.int64)
        if self.finer:
            cuts = self.edges[1 : self.finer + 1]
            place = np.where(place > 0, place + self.finer, np.searchsorted(cuts, length, side="right"))
        return np.bincount(place, minlength=self.finer + self.bins)


@dataclass(frozen=True, eq=False)
class ResidualSum(InRowQuanta, _FromPoints):
    """Sum over the rows of each cell of their residuals, shortened to ``clipping_radius``; shape (n_cells, d)."""

    clipping_radius: float

    def tally(self, rows: ExactRows, cell: Codes) -> Codes:
        residuals = _compute_residuals(rows, cell, self.at)
        far, shorter = residuals.find_beyond(self.clipping_radius)
        near = np.ones(len(rows))
        near[far] = 0.0
        sums = sum_by_cell(residuals.values, cell, len(self.at), weights=near if len(far) else None)
        if len(far):
            sums += sum_by_cell(shorter, cell[far], len(self.at))
        return count_quanta(sums, rows.bits)

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """A vector of length ``clipping_radius`` in one cell; under replace one goes and one comes."""
        return _bound_vectors(self.clipping_radius * relation.rows, region.dim)


class _UnitVectorSum(InParts, _FromPoints):
    """A sum over the rows of each cell of residuals, divided so that none is longer than 1; shape (n_cells, d)."""

    copies: ClassVar[int] = 2

    def _choose_divisors(self, lengths: Array, cell: Codes) -> Array:
        """What residuals of these lengths (rows,) are divided by: no less."""
        raise NotImplementedError

    def tally(self, rows: ExactRows, cell: Codes) -> Codes:
        residuals = _compute_residuals(rows, cell, self.at)
        divisors = self._choose_divisors(np.sqrt(residuals.squared), cell)
        unit = lattice.round_inward(residuals.values * (lattice.SHRINK / divisors)[:, None], lattice.ROW_BITS)
        return count_quanta(sum_by_cell(unit, cell, len(self.at)), lattice.ROW_BITS)

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """A vector of length at most 1 in one cell, whatever the region; under replace one goes and one comes."""
        return _bound_vectors(float(relation.rows), region.dim)


@dataclass(frozen=True, eq=False)
class ScaledResidualSum(_UnitVectorSum):
    """Sum over the rows of each cell of their residuals over the cell's own clipping radius, shortened to length 1;
    (n_cells, d).

    The noise of a cell is in proportion to its radius, one of the released ``clipping_radii`` (n_cells,): where
    clusters are of unlike widths, the narrow ones do not take the noise of the wide ones.
    """

    clipping_radii: Array

    def _choose_divisors(self, lengths: Array, cell: Codes) -> Array:
        return np.asarray(np.maximum(lengths, self.clipping_radii[cell]))


@dataclass(frozen=True, eq=False)
class Pull(_UnitVectorSum):
    """Sum over the rows of each cell of the unit vector from the cell's point to the row, shape (n_cells, d).

    Minus the subgradient of the summed distances to ``at`` (n_cells, d): every row pulls with the same force, however
    far it is. A row on its point does not pull.
    """

    def _choose_divisors(self, lengths: Array, cell: Codes) -> Array:
        return np.where(lengths > 0, lengths, 1.0)


@dataclass(frozen=True, eq=False)
class Spread(_FromPoints, rounded=("frame",)):
    """Per cell, the sum of v vᵀ with v the residual shortened to ``clipping_radius``, seen along the axes ``frame`` (q,
    d).

    Shape (n_cells, q(q+1)/2), see ``unpack_symmetric``. ``frame`` None stands for all d axes.
    """

    clipping_radius: float
    frame: Array | None = None

    @property
    def axes(self) -> int:
        """q: how many axes a matrix has."""
        return int(self.at.shape[1] if self.frame is None else len(self.frame))

    @property
    def width(self) -> int:
        return int(self.over.width + 2 * self.at.shape[1] + 2 * self.axes)

    def quantum(self, region: Region) -> Array:
        """That of a product of two factors, times √2 off the diagonal."""
        return (self.clipping_radius * 2.0**-lattice.FACTOR_BITS) ** 2 * _index_triangle(self.axes)[2]

    def tally(self, rows: ExactRows, cell: Codes) -> Codes:
        """A matrix product for each centre that has rows of the chunk."""
        along = _compute_residuals(rows, cell, self.at).shorten(self.clipping_radius)
        if self.frame is not None:
            along = along @ self.frame.T
        order = np.argsort(cell, kind="stable")
        along = np.trunc(along[order] * (2.0**lattice.FACTOR_BITS / self.clipping_radius))
        border = np.searchsorted(cell[order], np.arange(len(self.at) + 1))
        row, column, _ = _index_triangle(self.axes)
        spread = np.zeros((len(self.at), len(row)), dtype=np.int64)
        for j in np.flatnonzero(np.diff(border)):
            part = along[border[j] : border[j + 1]]
            spread[j] = (part.T @ part)[row, column]
        return spread

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """v vᵀ has the Euclidean length |v|², which is at most radius² where the axes do not stretch.

        Under replace |v vᵀ - w wᵀ|² = |v|⁴ + |w|⁴ - 2 (v·w)² is at most 2 radius⁴, in one cell as in two. In the l1
        norm Σ v_i² + √2 Σ |v_i v_j| = |v|² + (|v|₁² - |v|²) / √2, and |v|₁² is at most q |v|².
        """
        stretch = 1.0 if self.frame is None else max(1.0, float(np.linalg.norm(self.frame, 2)))
        once = (self.clipping_radius * stretch) ** 2
        l1 = relation.rows * once * (1 + (self.axes - 1) / sqrt(2))
        return Sensitivity(l1, l2=sqrt(relation.rows) * once, block=relation.rows * once)


@dataclass(frozen=True, eq=False)
class ResidualMoments(InQuanta):
    """Per cell of ``over``, sums of u and of u uᵀ with u = (row - centre) / ``radius``, shortened to length 1.

    What covariances are made of. Shape (n_cells, d + d(d+1)/2): u, then u uᵀ, see ``unpack_symmetric``.
    """

    over: Voronoi
    radius: float

    @property
    def width(self) -> int:
        dim = int(self.over.centers.shape[1])
        return self.over.width + 2 * dim + dim * (dim + 1)

    def quantum(self, region: Region) -> Array:
        """That of a factor, then that of a product of two, times √2 off the diagonal."""
        dim, factor = self.over.centers.shape[1], 2.0**-lattice.FACTOR_BITS
        return np.concatenate([np.full(dim, factor), factor**2 * _index_triangle(dim)[2]])

    def tally(self, rows: ExactRows, cell: Codes) -> Codes:
        residual = _compute_residuals(rows, cell, self.over.centers)
        longest = np.maximum(np.sqrt(residual.squared), self.radius)
        factor = np.trunc(residual.values * (2.0**lattice.FACTOR_BITS * lattice.SHRINK / longest)[:, None])
        row, column, _ = _index_triangle(factor.shape[1])
        features = np.concatenate([factor, factor[:, row] * factor[:, column]], axis=1)
        return sum_by_cell(features, cell, self.over.n_cells).astype(np.int64)

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """A row adds u and u uᵀ of length at most 1 each: √2 together.

        Under replace two rows in different cells move 2. In one cell |u - v|² + |u uᵀ - v vᵀ|² = 4 - 2c - 2c² for unit
        vectors at cosine c: 4.5 at c = -1/2, which one column does not have.
        """
        if relation is Relation.ADD_REMOVE:
            return Sensitivity(l1=inf, l2=sqrt(2.0))
        return Sensitivity(l1=inf, l2=2.0 if region.dim == 1 else sqrt(4.5))


def read_power_sums(answer: Array, dim: int, radius: float) -> tuple[Array, Array]:
    """What an (also noisy) answer to ``ResidualMoments`` says.

    Parameters
    ----------
    answer : array of shape (n_cells, m)
        A line for each cell.
    dim
    radius : float
        What residuals were shortened to, unit coordinates.

    Returns
    -------
    arrays of shape (n_cells, d) and (n_cells, d, d)
        Sums of residuals, and of their outer products, unit coordinates.
    """
    return answer[:, :dim] * radius, unpack_symmetric(answer[:, dim:], dim) * radius**2


def unpack_symmetric(flat: Array, axes: int) -> Array:
    """The symmetric matrices whose upper triangles come ``flat``, as in (also noisy) answers.

    Entries off the diagonal come times √2, so that Euclidean distances are those of the matrices.

    Parameters
    ----------
    flat : array of shape (m, axes (axes + 1) / 2)
        A line for each matrix.
    axes

    Returns
    -------
    array of shape (m, axes, axes)
        In the units of the entries.
    """
    row, column, weight = _index_triangle(axes)
    matrices = np.zeros((len(flat), axes, axes))
    matrices[:, row, column] = matrices[:, column, row] = flat / weight
    return matrices


def _index_triangle(axes: int) -> tuple[Codes, Codes, Array]:
    row, column = np.triu_indices(axes)
    return row, column, np.where(row == column, 1.0, sqrt(2.0))


@dataclass(frozen=True, eq=False)
class Weights(Sum):
    """Coordinate sums of each cell, of which only magnitudes are compared, and within a cell, shape (n_cells, d)."""

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """A row moves magnitudes of one cell up or down by at most the widest half-width; under replace of two."""
        return Sensitivity(l1=inf, l2=inf, range=2 * relation.rows * float(region.half.max()))


@dataclass(frozen=True, eq=False)
class ChosenSum(InRowQuanta, OfCells):
    """Sums of each cell at ``coordinates`` of its own, shape (n_cells, J): for rows with few entries that are not 0.

    A row with at most s entries of size at most Λ changes a sum by no more than sΛ in the l1 norm, whatever the number
    of columns. So the noise on a few chosen coordinates does not grow with the dimension. As printed, Alg. 5 of Balcan
    et al. divides by the private size of a cluster, and its J selections and J releases cost about 1.5 ε; here
    selection, sums and counts share the budget, and no n enters the selection.
    """

    over: Voronoi | ProjectedCells
    coordinates: Codes

    def tally(self, rows: ExactRows, cell: Codes) -> Codes:
        return np.take_along_axis(sum_coordinates(rows, cell, self.over.n_cells), self.coordinates, axis=1)

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """A row has at most min(J, s) entries at any J coordinates, each at most the widest half-width."""
        few = min(self.coordinates.shape[1], region.nonzeros or region.dim)
        widest = float(region.half.max())
        l1, l2 = min(few * widest, region.l1_radius), min(sqrt(few) * widest, region.radius)
        return Sensitivity(l1, l2, l2).times(relation.rows)


@dataclass(frozen=True, eq=False)
class BoxSum(InParts, OfBox):
    """Sum of all rows, clipped to a box and counted in its half-widths from its middle, shape (1, d).

    So the noise is in proportion to each side of the box.
    """

    @property
    def middle(self) -> Array:
        """Middle of the box, shape (d,)."""
        return (self.lower + self.upper) / 2

    @property
    def half(self) -> Array:
        """Half-widths of the box, shape (d,)."""
        return (self.upper - self.lower) / 2

    def tally(self, rows: ExactRows, cell: object) -> Codes:
        part = lattice.round_inward(np.clip((rows.values - self.middle) / self.half, -1.0, 1.0), lattice.ROW_BITS)
        return count_quanta(part.sum(axis=0, keepdims=True), lattice.ROW_BITS)

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """A row adds a point of the cube [-1, 1]^d; exchanged, it moves from one corner to the opposite one."""
        dim = len(self.lower)
        return Sensitivity(dim, sqrt(dim), sqrt(dim)).times(relation.rows)


def _bound_vectors(length: float, dim: int) -> Sensitivity:
    """Of a sum of vectors of which one, or two together, have that length."""
    return Sensitivity(l1=length * sqrt(dim), l2=length, block=length)


@dataclass(frozen=True, eq=False)
class _Residuals:
    """Rows minus the points of their cells (rows, d), on the lattice of rows, with their exact squared lengths."""

    values: Array
    squared: Array
    bits: int

    def find_beyond(self, clipping_radius: float) -> tuple[Codes, Array]:
        """Which residuals are longer than ``clipping_radius``, and these shortened to it, rounded towards 0 again."""
        far = np.flatnonzero(self.squared > (clipping_radius * lattice.SHRINK) ** 2)
        return far, lattice.shorten(self.values[far], self.squared[far], clipping_radius, self.bits)

    def shorten(self, clipping_radius: float) -> Array:
        """All residuals, those that are longer than ``clipping_radius`` shortened to it."""
        far, shorter = self.find_beyond(clipping_radius)
        values = self.values.copy()
        values[far] = shorter
        return values


def _compute_residuals(rows: ExactRows, cell: Codes, at: Array) -> _Residuals:
    """Computed once for neighbouring questions about the same cells and points."""
    last: tuple[Codes, Array, _Residuals] | None = rows.shared.get("residuals")
    if last is not None and last[0] is cell and last[1] is at:
        return last[2]
    values: Array = borrow_scratch(len(rows), rows.values.shape[1], "residuals")
    np.take(at, cell, axis=0, out=values)
    np.subtract(rows.values, values, out=values)
    residuals = _Residuals(values, compute_squared_norms(values), rows.bits)
    rows.shared["residuals"] = (cell, at, residuals)
    return residuals


_HALF_OCTAVE = 0.5**0.5

FINE_PARTS = 512
"""Equal parts of a coordinate that bins of different widths are made of: a power of two, so that each edge is exact."""


@dataclass(frozen=True, eq=False)
class SegmentHistogram(OfOneBin, OfCells):
    """Rows per cell and bin of one column, shape (n_cells, bins).

    The bins are equal parts of ``-half`` to ``half`` along coordinate ``column`` of the rows; those at the ends take
    what lies beyond. Of a coded column they are its codes. With ``starts``, each bin takes the equal parts, of
    ``FINE_PARTS`` in all, from its own start to the next one: bins of any width, public like equal ones.

    With a ``shape``, coordinate ``column`` is the first of a block: of a simplex the bin of a row is its corner, and
    there are as many as the block has coordinates; of a circle bins are equal parts of a turn.
    """

    over: Voronoi | ProjectedCells
    column: int
    bins: int
    half: float = 1.0
    starts: tuple[int, ...] = ()
    shape: Shape | None = None

    def tally(self, rows: ExactRows, cell: Codes) -> Codes:
        # How many coordinates say the bin.
        width = {Shape.SIMPLEX: self.bins, Shape.CIRCLE: 2}.get(self.shape or Shape.PAIR, 1)
        place = self._choose_bins(make_dense(rows.values[:, self.column : self.column + width]))
        counts: Codes = np.bincount(cell * self.bins + place, minlength=self.over.n_cells * self.bins)
        return counts.reshape(self.over.n_cells, self.bins)

    def _choose_bins(self, values: Array) -> Codes:
        """The bin of each row, of its coordinates (n, width)."""
        match self.shape:
            case Shape.SIMPLEX:
                return np.asarray(values.argmax(axis=1))
            case Shape.CIRCLE:
                # Rows lie on a stored circle, whose points are so far apart that no rounding takes one for another.
                turns = np.arctan2(values[:, 1], values[:, 0]) / tau
                place = np.rint(turns * CIRCLE).astype(np.int64) % CIRCLE
                return place * self.bins // CIRCLE
        along = values[:, 0] / self.half
        if not self.starts:
            return decode_bins(along, self.bins)
        # The first bin takes what lies before its start.
        place = np.searchsorted(self.starts, decode_bins(along, FINE_PARTS), side="right") - 1
        return np.clip(place, 0, self.bins - 1)


@dataclass(frozen=True, eq=False)
class DistanceScales(OfOneBin, InQuanta):
    """Rows per cell and magnitude of their squared distance to its centre, shape (n_cells, bins).

    Bins are half octaves, each √2 times as wide as the one before; the last one ends at 2^``top`` and takes what lies
    beyond, the first one begins at 0. So a scale is found whatever it is, near or far.
    """

    over: Voronoi
    top: int
    bins: int

    @property
    def width(self) -> int:
        return 2 * self.over.n_cells

    @property
    def edges(self) -> Array:
        """Squared distances at which bins begin and end, shape (bins + 1,)."""
        edges = 2.0 ** (self.top + np.arange(-self.bins, 1) / 2)
        edges[0] = 0.0
        return edges

    def tally(self, rows: ExactRows, cell: Codes) -> Codes:
        k = self.over.n_cells
        norms = compute_squared_norms(self.over.centers)
        gap = multiply(-2 * self.over.centers, rows, plus=norms, out=borrow_scratch(k, len(rows)))
        squared = np.maximum(gap[cell, np.arange(len(rows))] + compute_squared_norms(rows.values), 0.0)
        # The exponent of a float is exact, where a logarithm is not.
        part, octave = np.frexp(squared)
        place = 2 * (octave.astype(np.int64) - self.top) + (part >= _HALF_OCTAVE) - 2 + self.bins
        place = np.where(squared > 0, np.clip(place, 0, self.bins - 1), 0)
        counts: Codes = np.bincount(cell * self.bins + place, minlength=k * self.bins)
        return counts.reshape(k, self.bins)


def decode_bins(points: Array, number: int | Codes) -> Codes:
    """Equal bins of unit coordinates in [-1, 1], from 0 to number - 1; the upper end is in the last one.

    Parameters
    ----------
    points : array of any shape
    number : int, or array that fits it
        Bins.

    Returns
    -------
    int array of that shape

    >>> decode_bins(np.array([-1.0, -0.5, 0.5, 1.0]), 2).tolist()
    [0, 0, 1, 1]
    """
    place = np.floor((np.asarray(points) + 1) / 2 * number).astype(np.int64)
    return np.clip(place, 0, np.asarray(number) - 1)
