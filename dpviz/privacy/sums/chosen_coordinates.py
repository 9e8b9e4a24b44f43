"""Sums of rows with few entries that are not 0: which coordinates are large, and how large those are.

A row with at most s entries of size at most Λ changes a sum by no more than sΛ in the l1 norm, whatever the number of
columns. So the noise on a few chosen coordinates does not grow with the dimension.

References
----------
Balcan et al. 2017, Alg. 5. As printed it divides by the private size of a cluster, and its J selections and J releases
cost about 1.5 ε; here selection, sums and counts share the budget, and no n enters the selection.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt
from typing import Any

import numpy as np
from scipy import sparse

from dpviz.arrays import Array, Codes
from dpviz.privacy.partitions import Projected, Voronoi
from dpviz.privacy.queries import Relation, Sensitivity
from dpviz.table.domain import Region
from dpviz.table.sparse_rows import is_sparse


@dataclass(frozen=True, eq=False)
class Weights:
    """Coordinate sums of each cell, of which only magnitudes are compared, and within a cell, shape (n_cells, d)."""

    over: Voronoi | Projected

    @property
    def width(self) -> int:
        return self.over.width

    def tally(self, chunk: Any, cell: Codes) -> Array:
        """The signed sums of a chunk whose cells are known."""
        return _sums(chunk, cell, self.over.n_cells)

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """A row moves magnitudes of one cell up or down by at most the widest half-width; under replace of two."""
        cells = 1 if relation is Relation.ADD_REMOVE else 2
        return Sensitivity(l1=inf, l2=inf, range=2 * cells * float(region.half.max()))


@dataclass(frozen=True, eq=False)
class ChosenSum:
    """Sums of each cell at ``coordinates`` of its own, shape (n_cells, J)."""

    over: Voronoi | Projected
    coordinates: Codes

    @property
    def width(self) -> int:
        return self.over.width

    def tally(self, chunk: Any, cell: Codes) -> Array:
        """The answer on a chunk whose cells are known."""
        return np.take_along_axis(_sums(chunk, cell, self.over.n_cells), self.coordinates, axis=1)

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """A row has at most min(J, s) entries at any J coordinates, each at most the widest half-width."""
        rows = 1 if relation is Relation.ADD_REMOVE else 2
        few = min(self.coordinates.shape[1], region.nonzeros or region.dim)
        widest = float(region.half.max())
        l2 = min(sqrt(few) * widest, region.radius)
        return Sensitivity(l1=rows * min(few * widest, region.l1_radius), l2=rows * l2, block=rows * l2)


def _sums(chunk: Any, cell: Codes, n_cells: int) -> Array:
    rows = chunk.shape[0]
    indicator = sparse.csc_array((np.ones(rows), cell, np.arange(rows + 1)), shape=(n_cells, rows))
    if is_sparse(chunk):
        dense: Array = (indicator.tocsr() @ chunk).toarray()
        return dense
    return np.asarray(indicator @ chunk)
