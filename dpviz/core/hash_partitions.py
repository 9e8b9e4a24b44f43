"""Cells between hyperplanes: which side of each of several public planes a row lies on, one bit a plane.

A prefix of the code is a node of a binary tree. Nodes are numbered as in a heap: the root is 1, the children of ``v``
are ``2v`` and ``2v + 1``, so that a node's number is its prefix behind a leading 1.

References
----------
Charikar 2002 (hyperplane rounding).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpviz.core import lattice
from dpviz.core.arrays import Array, Codes, Flags
from dpviz.core.lattice import ExactRows
from dpviz.core.rows import multiply


@dataclass(frozen=True, eq=False)
class HashCodes:
    """One cell for each of the 2^D codes of D planes, unit coordinates.

    Parameters
    ----------
    planes : array of shape (D, d)
        Normals of the planes, rounded to the lattice of points. The first plane is the highest bit: it divides the
        root.
    offsets : array of shape (D,)
        Bit j is 1 where the product with normal j is below ``offsets[j]``.
    """

    planes: Array
    offsets: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "planes", lattice.round_points(self.planes))

    @property
    def depth(self) -> int:
        return len(self.planes)

    @property
    def n_cells(self) -> int:
        return 1 << self.depth

    @property
    def width(self) -> int:
        depth, dim = self.planes.shape
        return int(dim + 2 * depth)

    @cached_property
    def _place_values(self) -> Array:
        # Whole numbers of up to 53 bits: a product of floats adds them exactly.
        values: Array = np.exp2(np.arange(self.depth - 1, -1, -1, dtype=np.float64))
        return values

    def assign(self, points: Any) -> Codes:
        """Code of each of any ``points``, as exact as floats are, shape (rows,)."""
        return self._codes(self.offsets[:, None] > (points @ self.planes.T).T)

    def find_cells(self, rows: ExactRows) -> Codes:
        """Code of each row, shape (rows,): one product for all planes."""
        return self._codes(multiply(self.planes, rows) < self.offsets[:, None])

    def _codes(self, below: Flags) -> Codes:
        codes: Codes = (self._place_values @ below).astype(np.int64)
        return codes


@dataclass(frozen=True, eq=False)
class HashTree:
    """The leaves of a released tree of code prefixes, and one last cell for the rows of all other codes.

    Parameters
    ----------
    hashes : HashCodes
    leaves : sorted int64 array of shape (m,)
        Heap numbers of nodes of which none lies below another; levels up to ``hashes.depth``.
    """

    hashes: HashCodes
    leaves: Codes

    @property
    def n_cells(self) -> int:
        return len(self.leaves) + 1

    @property
    def width(self) -> int:
        return self.hashes.width

    @cached_property
    def _by_code(self) -> tuple[Codes, Codes, Codes]:
        """First code and end of each leaf, by the first code, and which leaf it is."""
        first, end = find_code_range(self.leaves, self.hashes.depth)
        order = np.argsort(first)
        return first[order], end[order], order

    def find_cells(self, rows: ExactRows) -> Codes:
        """Index of each row's leaf, ``len(leaves)`` where it has none; shape (rows,)."""
        codes = self.hashes.find_cells(rows)
        if len(self.leaves) == 0:
            return np.zeros(len(codes), dtype=np.int64)
        first, end, order = self._by_code
        place = np.searchsorted(first, codes, side="right") - 1
        inside = (place >= 0) & (codes < end[place])
        return np.where(inside, order[place], len(self.leaves))


def find_level(nodes: Codes) -> Codes:
    """Level of each heap number; the root has level 0.

    >>> find_level(np.array([1, 2, 3, 7, 8])).tolist()
    [0, 1, 1, 2, 3]
    """
    # The exponent of a float is exact for integers below 2**53.
    levels: Codes = np.frexp(nodes.astype(np.float64))[1].astype(np.int64) - 1
    return levels


def find_code_range(nodes: Codes, depth: int) -> tuple[Codes, Codes]:
    """The codes of ``depth`` bits that begin with each node's prefix: the first one and the end.

    Parameters
    ----------
    nodes : int array of shape (m,)
        Heap numbers.
    depth : int
        Bits of a code.

    Returns
    -------
    int arrays of shape (m,)
        The first code, and the first one beyond.

    >>> [part.tolist() for part in find_code_range(np.array([1, 2, 3, 6]), 3)]
    [[0, 0, 4, 4], [8, 4, 8, 6]]
    """
    level = find_level(nodes)
    free = depth - level
    prefix = nodes - (np.int64(1) << level)
    return prefix << free, (prefix + 1) << free
