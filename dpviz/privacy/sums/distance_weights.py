"""Every row with its squared distance to the nearest of some released centres: what D² seeding draws from."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from dpviz.arrays import Array, Codes
from dpviz.privacy.partitions import Everything
from dpviz.privacy.queries import Relation, Sensitivity
from dpviz.table.domain import Region


@dataclass(frozen=True)
class WeightSensitivity(Sensitivity):
    """How a person changes a weighted set of rows: ``l1`` is the weight that changes hands.

    Parameters
    ----------
    apart : float
        The farthest that two rows, or a row and the middle of the region, lie from each other. Does not grow with the
        number of rows of a person.
    exchanged : bool
        Whether rows come and go at once (replace); ``l1`` then is twice the weight of one.
    """

    apart: float = inf
    exchanged: bool = False

    def times(self, rows_per_person: int) -> WeightSensitivity:
        """For a person with up to that many rows, all of which may be drawn."""
        return WeightSensitivity(
            rows_per_person * self.l1, self.l2, self.block, self.range, apart=self.apart, exchanged=self.exchanged
        )


@dataclass(frozen=True, eq=False)
class WeightedRows:
    """Rows and their weights, chunk by chunk: the rows themselves are not copied."""

    rows: tuple[Array, ...]
    weights: tuple[Array, ...]

    def __add__(self, more: WeightedRows) -> WeightedRows:
        return WeightedRows(self.rows + more.rows, self.weights + more.weights)

    @property
    def dim(self) -> int:
        return int(self.rows[0].shape[1])

    def all_weights(self) -> Array:
        """Weights of all rows, shape (n,)."""
        return np.concatenate(self.weights)

    def column(self, axis: int) -> Array:
        """One coordinate of all rows, shape (n,)."""
        return np.concatenate([chunk[:, axis] for chunk in self.rows])

    def row(self, index: int) -> Array:
        """The row at that place, shape (d,)."""
        for chunk in self.rows:
            if index < len(chunk):
                found: Array = chunk[index]
                return found
            index -= len(chunk)
        raise IndexError("no such row")


@dataclass(frozen=True, eq=False)
class DistanceWeights:
    """Every row with its squared distance to the nearest of ``centers`` (m, d); without centres all weigh the same.

    ``centers`` must lie in the room's region, or a weight could exceed what is declared; the room checks it.
    """

    centers: Array

    @property
    def over(self) -> Everything:
        return Everything()

    @property
    def width(self) -> int:
        return 2 * int(self.centers.shape[1]) + 2

    @property
    def points(self) -> Array:
        return self.centers

    def tally(self, chunk: Array, cell: Codes) -> WeightedRows:
        """The answer on a chunk, one pass for each centre. O(rows m d)."""
        weights = np.ones(len(chunk))
        if len(self.centers):
            weights.fill(np.inf)
        for center in self.centers:
            gap = chunk - center
            np.minimum(weights, np.einsum("rd,rd->r", gap, gap), out=weights)
        return WeightedRows((chunk,), (weights,))

    def sensitivity(self, relation: Relation, region: Region) -> WeightSensitivity:
        """A row comes with a weight of at most the squared diameter (1 while there is no centre)."""
        once = region.diameter**2 if len(self.centers) else 1.0
        exchanged = relation is Relation.REPLACE
        return WeightSensitivity(2 * once if exchanged else once, inf, apart=region.diameter, exchanged=exchanged)
