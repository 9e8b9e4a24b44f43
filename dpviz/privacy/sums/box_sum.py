"""Sums of rows that are clipped to a public or released box first: noise in proportion to each side of the box."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from dpviz import check
from dpviz.arrays import Array
from dpviz.privacy.partitions import Everything
from dpviz.privacy.queries import Relation, Sensitivity
from dpviz.table.domain import Region


@dataclass(frozen=True, eq=False)
class BoxSum:
    """Sum of all rows, clipped to a box and counted in its half-widths from its middle, shape (1, d).

    Parameters
    ----------
    lower, upper : arrays of shape (d,)
        The box, unit coordinates: public, or released before.
    """

    lower: Array
    upper: Array

    def __post_init__(self) -> None:
        if not (np.isfinite(self.lower).all() and np.isfinite(self.upper).all() and (self.lower < self.upper).all()):
            raise check.RequestError("A box needs width: give a finite lower bound below each upper bound.")

    @property
    def over(self) -> Everything:
        return Everything()

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
        """The answer on a chunk."""
        total: Array = np.clip((chunk - self.middle) / self.half, -1.0, 1.0).sum(axis=0, keepdims=True)
        return total

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """A row adds a point of the cube [-1, 1]^d; exchanged, it moves from one corner to the opposite one."""
        rows, dim = 1 if relation is Relation.ADD_REMOVE else 2, len(self.lower)
        return Sensitivity(l1=rows * dim, l2=rows * sqrt(dim), block=rows * sqrt(dim))
