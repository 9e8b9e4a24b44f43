"""What rows say about released centres: how far they lie from them, where they pull them, and how they spread.

A residual is a row minus the centre of its cell. It is shortened to a released or public ``reach`` first, so that the
noise of every answer is in proportion to the reach, not to the domain.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt

import numpy as np
from scipy import sparse

from dpviz.arrays import Array, Codes
from dpviz.privacy.partitions import Everything, Projected, Voronoi
from dpviz.privacy.queries import Relation, Sensitivity
from dpviz.table.domain import Region
from dpviz.table.rows import scratch

# A shortened residual must not exceed the reach by rounding.
_SHRINK = 1.0 - 1e-13


@dataclass(frozen=True, eq=False)
class Radii:
    """Histogram of the lengths of all residuals, shape (bins,): equal bins up to ``reach``, the last takes the rest.

    ``at`` (n_cells, d) are the points that residuals are taken from, unit coordinates.
    """

    over: Everything | Voronoi
    at: Array
    reach: float
    bins: int = 40

    @property
    def width(self) -> int:
        return int(self.over.width + self.at.shape[1])

    def tally(self, chunk: Array, cell: Codes) -> Array:
        """The answer on a chunk whose cells are known."""
        length = np.sqrt(_squared_lengths(_residuals(chunk, cell, self.at)))
        place = np.minimum(length * (self.bins / self.reach), self.bins - 1).astype(np.int64)
        return np.bincount(place, minlength=self.bins).astype(np.float64)

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """A row is in one bin; under replace it may move to another one."""
        if relation is Relation.ADD_REMOVE:
            return Sensitivity(l1=1.0, l2=1.0, block=1.0)
        return Sensitivity(l1=2.0, l2=sqrt(2.0), block=2.0)


@dataclass(frozen=True, eq=False)
class ResidualSum:
    """Sum over the rows of each cell of their residuals, shortened to ``reach``; shape (n_cells, d)."""

    over: Voronoi | Projected
    at: Array
    reach: float

    @property
    def width(self) -> int:
        return int(self.over.width + self.at.shape[1])

    def tally(self, chunk: Array, cell: Codes) -> Array:
        """The answer on a chunk whose cells are known: one sparse indicator times the shortened residuals."""
        residual = _residuals(chunk, cell, self.at)
        shorten = _shortening(residual, self.reach)
        rows = len(chunk)
        indicator = sparse.csc_array((shorten, cell, np.arange(rows + 1)), shape=(len(self.at), rows))
        return np.asarray(indicator @ residual)

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """A vector of length ``reach`` in one cell; under replace one goes and one comes."""
        moved = self.reach * (1 if relation is Relation.ADD_REMOVE else 2)
        return Sensitivity(l1=moved * sqrt(region.dim), l2=moved, block=moved)


@dataclass(frozen=True, eq=False)
class Spread:
    """Per cell, the sum of v vᵀ with v the residual shortened to ``reach``, seen along the axes ``frame`` (q, d).

    Shape (n_cells, q(q+1)/2): the upper triangle comes flat, its off-diagonal entries times √2, so that Euclidean
    distances are those of the matrices. ``frame`` None stands for all d axes.
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
        """The answer on a chunk whose cells are known: a matrix product for each centre that has rows in it."""
        residual = _residuals(chunk, cell, self.at)
        seen = residual * _shortening(residual, self.reach)[:, None]
        if self.frame is not None:
            seen = seen @ self.frame.T
        order = np.argsort(cell, kind="stable")
        seen = seen[order]
        border = np.searchsorted(cell[order], np.arange(len(self.at) + 1))
        row, column = np.triu_indices(self.axes)
        weight = np.where(row == column, 1.0, sqrt(2.0))
        spread = np.zeros((len(self.at), len(row)))
        for j in np.flatnonzero(np.diff(border)):
            part = seen[border[j] : border[j + 1]]
            spread[j] = (part.T @ part)[row, column] * weight
        return spread

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """v vᵀ has the Euclidean length |v|², which is at most reach² where the axes do not stretch.

        Under replace |v vᵀ - w wᵀ|² = |v|⁴ + |w|⁴ - 2 (v·w)² is at most 2 reach⁴, in one cell as in two.
        """
        stretch = 1.0 if self.frame is None else max(1.0, float(np.linalg.norm(self.frame, 2)))
        once = (self.reach * stretch) ** 2
        if relation is Relation.ADD_REMOVE:
            return Sensitivity(l1=inf, l2=once, block=once)
        return Sensitivity(l1=inf, l2=sqrt(2.0) * once, block=2 * once)


def spread_matrices(answer: Array, axes: int) -> Array:
    """The symmetric matrices (n_cells, axes, axes) in an (also noisy) answer to ``Spread``."""
    row, column = np.triu_indices(axes)
    entries = answer / np.where(row == column, 1.0, sqrt(2.0))
    matrices = np.zeros((len(answer), axes, axes))
    matrices[:, row, column] = matrices[:, column, row] = entries
    return matrices


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
