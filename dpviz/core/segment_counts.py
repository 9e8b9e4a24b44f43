"""What is counted of segments, the Voronoi cells of released centres: how a column falls, and how far rows lie.

A row is in one cell and in one bin of it, so each of these answers is a histogram, whose noise does not grow with the
number of cells or bins (``docs/proofs/sensitivities.md``).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import tau

import numpy as np

from dpviz.core.arrays import Array, Codes
from dpviz.core.domain import CIRCLE, Shape
from dpviz.core.lattice import ExactRows, borrow_scratch, multiply
from dpviz.core.partitions import ProjectedCells, Voronoi
from dpviz.core.queries import InQuanta, OfCells, OfOneBin
from dpviz.core.stored_rows import compute_squared_norms, make_dense

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
        stop = self.column + self._width
        place = self._choose_bins(make_dense(rows.values[:, self.column : stop]))
        counts: Codes = np.bincount(cell * self.bins + place, minlength=self.over.n_cells * self.bins)
        return counts.reshape(self.over.n_cells, self.bins)

    @property
    def _width(self) -> int:
        """How many coordinates say the bin."""
        return {Shape.SIMPLEX: self.bins, Shape.CIRCLE: 2}.get(self.shape or Shape.PAIR, 1)

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
            case _:
                return self._find_bins(values[:, 0] / self.half)

    def _find_bins(self, values: Array) -> Codes:
        """The bin of each of the values (n,) in [-1, 1]; the first one takes what lies before its start."""
        if not self.starts:
            return decode_bins(values, self.bins)
        place = np.searchsorted(self.starts, decode_bins(values, FINE_PARTS), side="right") - 1
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
    """Equal bins of unit coordinates in [-1, 1], any shape, from 0 to number - 1; the upper end is in the last one.

    >>> decode_bins(np.array([-1.0, -0.5, 0.5, 1.0]), 2).tolist()
    [0, 0, 1, 1]
    """
    place = np.floor((np.asarray(points) + 1) / 2 * number).astype(np.int64)
    return np.clip(place, 0, np.asarray(number) - 1)
