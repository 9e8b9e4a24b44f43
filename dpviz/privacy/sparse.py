"""Counts of the non-empty cells of a universe that is too large to write down."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpviz.arrays import Array, Codes


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
