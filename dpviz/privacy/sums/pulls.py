"""The subgradient of the k-median loss: every row pulls its centre with the same force, however far it is."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy import sparse

from dpviz.arrays import Array, Codes
from dpviz.privacy.partitions import Projected, Voronoi
from dpviz.privacy.queries import Relation, Sensitivity
from dpviz.table.domain import Region


@dataclass(frozen=True, eq=False)
class Pull:
    """Sum over the rows of each cell of the unit vector from the cell's point to the row, shape (n_cells, d).

    Minus the subgradient of the summed distances to ``at`` (n_cells, d), unit coordinates; a row on its point does not
    pull.
    """

    over: Voronoi | Projected
    at: Array

    @property
    def width(self) -> int:
        return int(self.over.width + 2 * self.at.shape[1])

    def tally(self, chunk: Array, cell: Codes) -> Array:
        """The answer on a chunk whose cells are known."""
        away = chunk - self.at[cell]
        length = np.sqrt(np.einsum("rd,rd->r", away, away))
        away /= np.where(length > 0, length, 1.0)[:, None]
        rows = len(chunk)
        indicator = sparse.csc_array((np.ones(rows), cell, np.arange(rows + 1)), shape=(self.over.n_cells, rows))
        return np.asarray(indicator @ away)

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """A unit vector in one cell, whatever the region; under replace one goes and one comes."""
        rows = 1 if relation is Relation.ADD_REMOVE else 2
        return Sensitivity(l1=rows * sqrt(region.dim), l2=float(rows), block=float(rows))
