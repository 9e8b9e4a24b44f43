"""Sums over the rows of each cell: of what they say about released centres, of a box, of chosen coordinates.

A residual is a row minus the centre of its cell. Most are shortened to a released or public ``reach`` first, so that
the noise of every answer is in proportion to the reach, not to the domain. Points and centres are in unit coordinates.

References
----------
Balcan et al. 2017, Alg. 5 (chosen coordinates) and §6.2 (k-median).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dpviz import check
from dpviz.arrays import Array, Codes
from dpviz.privacy.partitions import Everything, Projected, Voronoi
from dpviz.privacy.queries import OfAllRows, OfCells, Relation, Sensitivity, sums_by_cell
from dpviz.table.domain import Region
from dpviz.table.rows import scratch

# A shortened residual must not exceed the reach by rounding.
_SHRINK = 1.0 - 1e-13


class _FromPoints:
    """A question about residuals from ``at`` (n_cells, d), of which a row needs so many ``copies`` at a time."""

    copies: ClassVar[int] = 1
    over: Everything | Voronoi | Projected
    at: Array

    @property
    def width(self) -> int:
        return int(self.over.width + self.copies * self.at.shape[1])


@dataclass(frozen=True, eq=False)
class Radii(_FromPoints):
    """Histogram of the lengths of all residuals from ``at`` (n_cells, d), shape (bins,).

    The bins are equal up to ``reach``; the last one takes the rest.
    """

    over: Everything | Voronoi
    at: Array
    reach: float
    bins: int = 40

    def tally(self, chunk: Array, cell: Codes) -> Array:
        length = np.sqrt(_squared_lengths(_residuals(chunk, cell, self.at)))
        place = np.minimum(length * (self.bins / self.reach), self.bins - 1).astype(np.int64)
        return np.bincount(place, minlength=self.bins).astype(np.float64)

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """A row is in one bin; under replace it may move to another one."""
        return Sensitivity.of_counts(relation)


@dataclass(frozen=True, eq=False)
class ResidualSum(_FromPoints):
    """Sum over the rows of each cell of their residuals, shortened to ``reach``; shape (n_cells, d)."""

    over: Voronoi | Projected
    at: Array
    reach: float

    def tally(self, chunk: Array, cell: Codes) -> Array:
        residual = _residuals(chunk, cell, self.at)
        return sums_by_cell(residual, cell, len(self.at), weights=_shortening(residual, self.reach))

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """A vector of length ``reach`` in one cell; under replace one goes and one comes."""
        return _of_vectors(self.reach * relation.rows, region.dim)


@dataclass(frozen=True, eq=False)
class Pull(_FromPoints):
    """Sum over the rows of each cell of the unit vector from the cell's point to the row, shape (n_cells, d).

    Minus the subgradient of the summed distances to ``at`` (n_cells, d): every row pulls with the same force, however
    far it is. A row on its point does not pull.
    """

    copies: ClassVar[int] = 2
    over: Voronoi | Projected
    at: Array

    def tally(self, chunk: Array, cell: Codes) -> Array:
        away = _residuals(chunk, cell, self.at)
        length = np.sqrt(_squared_lengths(away))
        away /= np.where(length > 0, length, 1.0)[:, None]
        return sums_by_cell(away, cell, self.over.n_cells)

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """A unit vector in one cell, whatever the region; under replace one goes and one comes."""
        return _of_vectors(float(relation.rows), region.dim)


@dataclass(frozen=True, eq=False)
class Spread:
    """Per cell, the sum of v vᵀ with v the residual shortened to ``reach``, seen along the axes ``frame`` (q, d).

    Shape (n_cells, q(q+1)/2), see ``symmetric``. ``frame`` None stands for all d axes.
    """

    over: Everything | Voronoi
    at: Array
    reach: float
    frame: Array | None = None

    @property
    def axes(self) -> int:
        """q: how many axes a matrix has."""
        return int(self.at.shape[1] if self.frame is None else len(self.frame))

    @property
    def width(self) -> int:
        return int(self.over.width + 2 * self.at.shape[1] + 2 * self.axes)

    def tally(self, chunk: Array, cell: Codes) -> Array:
        """A matrix product for each centre that has rows of the chunk."""
        residual = _residuals(chunk, cell, self.at)
        along = residual * _shortening(residual, self.reach)[:, None]
        if self.frame is not None:
            along = along @ self.frame.T
        order = np.argsort(cell, kind="stable")
        along = along[order]
        border = np.searchsorted(cell[order], np.arange(len(self.at) + 1))
        row, column, weight = _triangle(self.axes)
        spread = np.zeros((len(self.at), len(row)))
        for j in np.flatnonzero(np.diff(border)):
            part = along[border[j] : border[j + 1]]
            spread[j] = (part.T @ part)[row, column] * weight
        return spread

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """v vᵀ has the Euclidean length |v|², which is at most reach² where the axes do not stretch.

        Under replace |v vᵀ - w wᵀ|² = |v|⁴ + |w|⁴ - 2 (v·w)² is at most 2 reach⁴, in one cell as in two.
        """
        stretch = 1.0 if self.frame is None else max(1.0, float(np.linalg.norm(self.frame, 2)))
        once = (self.reach * stretch) ** 2
        return Sensitivity(l1=inf, l2=sqrt(relation.rows) * once, block=relation.rows * once)


@dataclass(frozen=True, eq=False)
class ResidualMoments:
    """Per cell of ``over``, sums of u and of u uᵀ with u = (row - centre) / ``radius``, shortened to length 1.

    What covariances are made of. Shape (n_cells, d + d(d+1)/2): u, then u uᵀ, see ``symmetric``.
    """

    over: Voronoi
    radius: float

    @property
    def width(self) -> int:
        dim = int(self.over.centers.shape[1])
        return self.over.width + 2 * dim + dim * (dim + 1)

    def tally(self, chunk: Array, cell: Codes) -> Array:
        residual = (chunk - self.over.centers[cell]) / self.radius
        residual /= np.maximum(np.sqrt(_squared_lengths(residual)), 1.0)[:, None]
        row, column, weight = _triangle(chunk.shape[1])
        features = np.concatenate([residual, residual[:, row] * residual[:, column] * weight], axis=1)
        sums = [np.bincount(cell, feature, self.over.n_cells) for feature in features.T]
        return np.stack(sums, axis=1).astype(np.float64)

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """A row adds u and u uᵀ of length at most 1 each: √2 together.

        Under replace two rows in different cells move 2. In one cell |u - v|² + |u uᵀ - v vᵀ|² = 4 - 2c - 2c² for unit
        vectors at cosine c: 4.5 at c = -1/2, which one column does not have.
        """
        if relation is Relation.ADD_REMOVE:
            return Sensitivity(l1=inf, l2=sqrt(2.0))
        return Sensitivity(l1=inf, l2=2.0 if region.dim == 1 else sqrt(4.5))


class PowerSums(NamedTuple):
    """Sums of residuals (k, d) and of their outer products (k, d, d), unit coordinates."""

    first: Array
    second: Array


def power_sums(answer: Array, dim: int, radius: float) -> PowerSums:
    """What an (also noisy) answer to ``ResidualMoments`` says."""
    return PowerSums(answer[:, :dim] * radius, symmetric(answer[:, dim:], dim) * radius**2)


def symmetric(flat: Array, axes: int) -> Array:
    """The symmetric matrices (m, axes, axes) whose upper triangles come ``flat``, as in (also noisy) answers.

    Entries off the diagonal come times √2, so that Euclidean distances are those of the matrices.
    """
    row, column, weight = _triangle(axes)
    matrices = np.zeros((len(flat), axes, axes))
    matrices[:, row, column] = matrices[:, column, row] = flat / weight
    return matrices


def _triangle(axes: int) -> tuple[Codes, Codes, Array]:
    row, column = np.triu_indices(axes)
    return row, column, np.where(row == column, 1.0, sqrt(2.0))


@dataclass(frozen=True, eq=False)
class Weights(OfCells):
    """Coordinate sums of each cell, of which only magnitudes are compared, and within a cell, shape (n_cells, d)."""

    over: Voronoi | Projected

    def tally(self, chunk: Any, cell: Codes) -> Array:
        return sums_by_cell(chunk, cell, self.over.n_cells)

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """A row moves magnitudes of one cell up or down by at most the widest half-width; under replace of two."""
        return Sensitivity(l1=inf, l2=inf, range=2 * relation.rows * float(region.half.max()))


@dataclass(frozen=True, eq=False)
class ChosenSum(OfCells):
    """Sums of each cell at ``coordinates`` of its own, shape (n_cells, J): for rows with few entries that are not 0.

    A row with at most s entries of size at most Λ changes a sum by no more than sΛ in the l1 norm, whatever the number
    of columns. So the noise on a few chosen coordinates does not grow with the dimension. As printed, Alg. 5 of Balcan
    et al. divides by the private size of a cluster, and its J selections and J releases cost about 1.5 ε; here
    selection, sums and counts share the budget, and no n enters the selection.
    """

    over: Voronoi | Projected
    coordinates: Codes

    def tally(self, chunk: Any, cell: Codes) -> Array:
        return np.take_along_axis(sums_by_cell(chunk, cell, self.over.n_cells), self.coordinates, axis=1)

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """A row has at most min(J, s) entries at any J coordinates, each at most the widest half-width."""
        few = min(self.coordinates.shape[1], region.nonzeros or region.dim)
        widest = float(region.half.max())
        l1, l2 = min(few * widest, region.l1_radius), min(sqrt(few) * widest, region.radius)
        return Sensitivity(l1, l2, l2).times(relation.rows)


@dataclass(frozen=True, eq=False)
class BoxSum(OfAllRows):
    """Sum of all rows, clipped to a box and counted in its half-widths from its middle, shape (1, d).

    So the noise is in proportion to each side of the box, ``lower`` to ``upper`` (d,), public or released before.
    """

    lower: Array
    upper: Array

    def __post_init__(self) -> None:
        if not (np.isfinite(self.lower).all() and np.isfinite(self.upper).all() and (self.lower < self.upper).all()):
            raise check.RequestError("A box needs width: give a finite lower bound below each upper bound.")

    @property
    def width(self) -> int:
        return 2 * len(self.lower)

    @property
    def middle(self) -> Array:
        """Middle of the box, shape (d,)."""
        middle: Array = (self.lower + self.upper) / 2
        return middle

    @property
    def half(self) -> Array:
        """Half-widths of the box, shape (d,)."""
        half: Array = (self.upper - self.lower) / 2
        return half

    def tally(self, chunk: Array, cell: object) -> Array:
        total: Array = np.clip((chunk - self.middle) / self.half, -1.0, 1.0).sum(axis=0, keepdims=True)
        return total

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """A row adds a point of the cube [-1, 1]^d; exchanged, it moves from one corner to the opposite one."""
        dim = len(self.lower)
        return Sensitivity(dim, sqrt(dim), sqrt(dim)).times(relation.rows)


def _of_vectors(length: float, dim: int) -> Sensitivity:
    """Of a sum of vectors of which one, or two together, have that length."""
    return Sensitivity(l1=length * sqrt(dim), l2=length, block=length)


def _residuals(chunk: Array, cell: Codes, at: Array) -> Array:
    """The chunk's rows minus the points of their cells; overwritten by the next call in this thread."""
    residual: Array = scratch(*chunk.shape)
    np.take(at, cell, axis=0, out=residual)
    return np.subtract(chunk, residual, out=residual)


def _squared_lengths(residual: Array) -> Array:
    squared: Array = np.einsum("rd,rd->r", residual, residual)
    return squared


def _shortening(residual: Array, reach: float) -> Array:
    """What each residual is to be multiplied with, at most 1."""
    squared = _squared_lengths(residual)
    over = squared > (reach * _SHRINK) ** 2
    factor = np.ones(len(squared))
    factor[over] = reach * _SHRINK / np.sqrt(squared[over])
    return factor
