"""First and second moments of rows around released centres: what covariances are made of."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from dpviz.arrays import Array, Codes
from dpviz.privacy.partitions import Voronoi
from dpviz.privacy.queries import Relation, Sensitivity
from dpviz.table.domain import Region


@dataclass(frozen=True, eq=False)
class ResidualMoments:
    """Per cell of ``over``, sums of u and of u uᵀ with u = (row - centre) / ``radius``, shortened to length 1.

    Shape (n_cells, d + d(d+1)/2): the upper triangle of u uᵀ comes flat, its off-diagonal entries times √2, so that
    Euclidean distances are those of the matrices.
    """

    over: Voronoi
    radius: float

    @property
    def width(self) -> int:
        dim = int(self.over.centers.shape[1])
        return self.over.width + 2 * dim + dim * (dim + 1)

    def tally(self, chunk: Array, cell: Codes) -> Array:
        """The answer on a chunk whose cells are known."""
        residual = (chunk - self.over.centers[cell]) / self.radius
        norm = np.sqrt(np.einsum("rd,rd->r", residual, residual))
        residual /= np.maximum(norm, 1.0)[:, None]
        row, column = np.triu_indices(chunk.shape[1])
        weight = np.where(row == column, 1.0, sqrt(2.0))
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


def moments_of(answer: Array, dim: int, radius: float) -> PowerSums:
    """The moments in an (also noisy) answer to ``ResidualMoments``."""
    row, column = np.triu_indices(dim)
    weight = np.where(row == column, 1.0, sqrt(2.0))
    second = np.zeros((len(answer), dim, dim))
    second[:, row, column] = answer[:, dim:] / weight
    second[:, column, row] = answer[:, dim:] / weight
    return PowerSums(answer[:, :dim] * radius, second * radius**2)
