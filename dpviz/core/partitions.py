"""Public cells: how rows are sorted into disjoint groups by rules that see one row and released values only.

A partition is a public value used twice: the session counts over it (``find_cells`` rows on the lattice, exactly: see
``docs/proofs/exact-sums.md``), a chart draws it (``assign`` any points).

Of hash codes each bit says on which side of a public plane a row lies. A prefix of the code is a node of a binary tree.
Nodes are numbered as in a heap: the root is 1, the children of ``v`` are ``2v`` and ``2v + 1``, so that a node's number
is its prefix behind a leading 1.

References
----------
Charikar 2002 (hyperplane rounding).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np

from dpviz.core import lattice
from dpviz.core.arrays import Array, Codes, Flags, Short
from dpviz.core.domain import Region
from dpviz.core.lattice import ExactRows, OnLattice, borrow_scratch, multiply, multiply_plus
from dpviz.core.stored_rows import compute_squared_norms, make_dense


@dataclass(frozen=True, eq=False)
class HashCodes(OnLattice, rounded=("planes",)):
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

    def assign(self, points: Any) -> Codes:
        """Code of each of any ``points``, as exact as floats are, shape (rows,)."""
        return self._codes(self.offsets[:, None] > (points @ self.planes.T).T)

    def find_cells(self, rows: ExactRows) -> Codes:
        """Code of each row, shape (rows,): one product for all planes."""
        return self._codes(multiply(self.planes, rows) < self.offsets[:, None])

    def _codes(self, below: Flags) -> Codes:
        # Whole numbers of up to 53 bits: a product of floats adds them exactly.
        return (np.exp2(np.arange(self.depth - 1, -1, -1, dtype=np.float64)) @ below).astype(np.int64)


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
    return np.frexp(nodes.astype(np.float64))[1].astype(np.int64) - 1


def find_code_range(nodes: Codes, depth: int) -> tuple[Codes, Codes]:
    """The codes of ``depth`` bits that begin with each node's prefix: the first one and the end.

    Parameters
    ----------
    nodes : int array of shape (m,)
        Heap numbers.
    depth

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


# Codes of cells are 64-bit integers, and so are the trials of the binomial law of empty cells.
MOST_CELLS = 2**62

# From so many columns on, and so many centres, nearest centres are sought in short floats first: they take two thirds.
_MANY_COLUMNS, _FEW_CENTERS = 16, 8
# So many distances at a time stay near the processor. A chunk has more rows where there are many centres: its sums are
# as many as they, and would be added up for a few rows.
_DISTANCES_AT_ONCE, _MOST_WIDTH = 2**18, 2**7


class _AxisByAxis:
    """A partition that looks at each coordinate by itself: no rounding can tell rows on the lattice apart."""

    def find_cells(self: _Assigning, rows: ExactRows) -> Codes:
        """Cell of each row, shape (rows,)."""
        return self.assign(rows.values)


class _Assigning(Protocol):
    def assign(self, chunk: Any) -> Codes: ...


@dataclass(frozen=True, eq=False)
class Everything(_AxisByAxis):
    """One cell that holds every row."""

    n_cells: ClassVar[int] = 1
    width: ClassVar[int] = 1

    def assign(self, chunk: Array) -> Codes:
        """Cell of each row: 0, shape (rows,)."""
        return np.zeros(chunk.shape[0], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Voronoi(OnLattice, rounded=("centers",)):
    """Cells of the points that lie nearest to each of ``centers``, shape (k, d), unit coordinates.

    The centres are rounded to the lattice of released points, so that distances to rows are exact.
    """

    centers: Array
    # What is computed of the centres once, not for every chunk: that would cost as much as some of them.
    _short: dict[float, tuple[Short, Short, np.float32]] = field(default_factory=dict, init=False, repr=False)
    _marked: dict[tuple[float, int], Array | None] = field(default_factory=dict, init=False, repr=False)

    @property
    def n_cells(self) -> int:
        return len(self.centers)

    @property
    def width(self) -> int:
        return min(self.n_cells, _MOST_WIDTH)

    @cached_property
    def _norms(self) -> Array:
        return compute_squared_norms(self.centers)

    @cached_property
    def _doubled(self) -> Array:
        """Each centre twice, and -|c|² behind it: products with rows that are largest for the nearest one."""
        return np.concatenate([2 * self.centers, -self._norms[:, None]], axis=1)

    def assign(self, points: Any) -> Codes:
        """Index of the nearest centre of each of any ``points``, as near as floats tell; shape (rows,)."""
        return np.asarray((points @ self.centers.T - self._norms / 2).argmax(axis=1))

    def find_cells(self, rows: ExactRows) -> Codes:
        """Index of the nearest centre of each row (the first of equals), shape (rows,)."""
        many = self.centers.shape[1] >= _MANY_COLUMNS and self.n_cells >= _FEW_CENTERS
        if not many or rows.padded is None or rows.stored.dtype != np.float32:
            return self._find_in_blocks(self._find_exactly, rows)
        cell = self._find_in_blocks(self._find_in_short_floats, rows)
        undecided = np.flatnonzero(cell < 0)
        if len(undecided):
            cell[undecided] = self._find_in_blocks(self._find_exactly, rows.select(undecided))
        return cell

    def _find_in_blocks(self, find: Callable[[ExactRows], Codes], rows: ExactRows) -> Codes:
        step = max(1, _DISTANCES_AT_ONCE // self.n_cells)
        if len(rows) <= step:
            return find(rows)
        starts = range(0, len(rows), step)
        return np.concatenate([find(rows.select(slice(start, start + step))) for start in starts])

    def _find_exactly(self, rows: ExactRows) -> Codes:
        scale = (rows.radius, rows.bits)
        if scale not in self._marked:
            self._marked[scale] = self._mark_centers(*scale)
        marked = self._marked[scale]
        if marked is None:
            return self._find_first_of_largest(rows)
        gap = multiply_plus(marked, rows, out=borrow_scratch(self.n_cells, len(rows)))
        least = np.minimum.reduce(gap, axis=0, out=borrow_scratch(1, len(rows), "least")[0])
        cell: Codes = least.astype(np.int64)
        cell &= lattice.make_mark(self.n_cells)
        return cell

    def _find_in_short_floats(self, rows: ExactRows) -> Codes:
        """By products in floats of half the size, twice as fast; -1 where their rounding might decide.

        A row whose least value is less than all others by more than twice the largest error has its nearest centre
        there (``docs/proofs/exact-sums.md``).
        """
        shape = (self.n_cells, len(rows))
        if rows.radius not in self._short:
            self._short[rows.radius] = self._shorten(rows.radius)
        centers, norms, error = self._short[rows.radius]
        with np.errstate(all="ignore"):  # all of it is finite, but a product may raise flags for lanes it does not use
            value = np.matmul(centers, rows.stored.T, out=borrow_scratch(*shape, "short", np.float32))
        value += norms
        least = np.minimum.reduce(value, axis=0)
        least += 2 * error
        near = np.less_equal(value, least, out=borrow_scratch(*shape, "close", np.bool_))
        if self.n_cells >= 2**8:  # a list of the few that are near costs less than larger marks of all
            center, row = np.divmod(np.flatnonzero(near), len(rows))
            return np.where(np.bincount(row) == 1, np.bincount(row, center).astype(np.int64), np.int64(-1))
        close = near.view(np.uint8)
        alone = np.add.reduce(close, axis=0, dtype=np.uint8) == 1
        close *= np.arange(self.n_cells, dtype=np.uint8)[:, None]
        return np.where(alone, np.maximum.reduce(close, axis=0), np.int64(-1))

    def _shorten(self, radius: float) -> tuple[Short, Short, np.float32]:
        """-2 (c - m) for each centre c, with m near their middle; |c|² - |m|²; and by how much their sum may be wrong.

        A sum of s products is wrong by at most su / (1 - su) times the sum of their sizes, in any order, where u is
        half of the last bit (Higham 2002, §3.1). There are one more term and four roundings: of what is given, of a
        sum, and of what it is compared with. By Cauchy and Schwarz no row has larger sizes than one of that ``radius``.
        """
        middle = lattice.round_points(self.centers.mean(axis=0))
        around, norms = -2 * (self.centers - middle), self._norms - middle @ middle
        largest = float((radius * np.linalg.norm(around, axis=1) + np.abs(norms)).max())
        rounded = (len(middle) + 5) * 2.0**-24
        error = np.nextafter(np.float32(rounded / (1 - rounded) * largest), np.float32(np.inf))
        return around.astype(np.float32), norms.astype(np.float32)[:, None], error

    def _mark_centers(self, radius: float, bits: int) -> Array | None:
        """What a row's product with gives |c|² - 2x·c as whole numbers, the number of c in their lowest bits.

        The least of them says whose it is, and of equal ones it is the first centre's. None where there is no room.
        """
        marks = lattice.count_mark_bits(self.centers, radius, bits)
        if marks is None:
            return None
        unit = 2.0 ** (bits + lattice.POINT_BITS + marks)
        plus = np.arange(self.n_cells) + self._norms * unit
        return np.concatenate([self.centers * (-2 * unit), plus[:, None]], axis=1)

    def _find_first_of_largest(self, rows: ExactRows) -> Codes:
        k = self.n_cells
        affinity = multiply_plus(self._doubled, rows, out=borrow_scratch(k, len(rows)))
        # numpy's argmax over few centres pays a call a row: let the first of equals carry the greatest mark instead.
        marks = np.arange(k, 0, -1, dtype=np.min_scalar_type(k))
        marked = borrow_scratch(k, len(rows), kind=marks.dtype.type)
        np.equal(affinity, affinity.max(axis=0), out=marked, casting="unsafe")
        marked *= marks[:, None]
        return np.asarray(k - marked.max(axis=0).astype(np.int64))


@dataclass(frozen=True, eq=False)
class Grid(_AxisByAxis):
    """Equal boxes laid over ``middle ± half``: ``cells_per_axis`` of shape (d,); cells are numbered in C order.

    Points beyond the box belong to the cell at its edge, so every row has exactly one cell. ``middle`` None is 0.
    """

    half: Array
    cells_per_axis: Codes
    middle: Array | None = None

    @classmethod
    def over(cls, region: Region, cells_per_axis: int) -> Grid:
        """The same number of cells along every axis of ``region``.

        Parameters
        ----------
        region
        cells_per_axis

        Returns
        -------
        Grid
        """
        return cls(region.half, np.full(region.dim, cells_per_axis, dtype=np.int64))

    @property
    def n_cells(self) -> int:
        # Python integers: the product may exceed 2**63 before anyone decides that the grid is too fine.
        return int(np.prod([int(m) for m in self.cells_per_axis], dtype=object))

    @property
    def width(self) -> int:
        return 2 * len(self.half)

    @property
    def spread_in_cell(self) -> float:
        """Mean squared distance to the middle of a cell of rows that fill it evenly."""
        return float(((2 * self.half / self.cells_per_axis) ** 2).sum()) / 12

    @cached_property
    def _strides(self) -> Codes:
        return np.asarray(np.r_[self.cells_per_axis[1:][::-1].cumprod()[::-1], 1], dtype=np.int64)

    def assign(self, chunk: Array) -> Codes:
        """Cell number of each row, shape (rows,)."""
        offset = chunk if self.middle is None else chunk - self.middle
        position = (offset / self.half + 1) * (self.cells_per_axis / 2)
        return self.number_cells(np.clip(position.astype(np.int64), 0, self.cells_per_axis - 1))

    def number_cells(self, places: Codes) -> Codes:
        """Cell numbers from positions along each axis (m, d)."""
        return places @ self._strides

    def places(self, codes: Codes, axes: Sequence[int] | slice = slice(None)) -> Codes:
        """Position of each cell along each of ``axes``.

        Parameters
        ----------
        codes : int array of shape (m,)
            Of cells.
        axes

        Returns
        -------
        int array of shape (m, axes)
        """
        return codes[:, None] // self._strides[axes] % self.cells_per_axis[axes]

    def centers(self, codes: Codes) -> Array:
        """Middle of each cell, unit coordinates, shape (m, d)."""
        middle: Array = ((self.places(codes) + 0.5) / self.cells_per_axis * 2 - 1) * self.half
        return middle if self.middle is None else middle + self.middle

    def borders(self, axis: int) -> Array:
        """Borders of the cells along an axis, from the grid's middle; (cells + 1,)."""
        cells = int(self.cells_per_axis[axis])
        return np.asarray((2 * np.arange(cells + 1) / cells - 1) * self.half[axis])


@dataclass(frozen=True, eq=False)
class UnevenGrid(Grid):
    """Boxes of unlike sides over ``middle ± half``: along axis j cells meet at ``inner[j]`` (cells - 1,), which rise.

    The borders, counted from the middle, are a table of public or released numbers: whatever function made them, a row
    is only ever compared with them. Points beyond the box belong to the cell at its edge.
    """

    inner: tuple[Array, ...] = ()

    @classmethod
    def between(cls, half: Array, inner: Sequence[Array], middle: Array) -> UnevenGrid:
        """The grid over ``middle`` ± ``half``, the ends of which are the outer edges, whose cells meet at ``inner``.

        Parameters
        ----------
        half, middle : arrays of shape (d,)
            Unit coordinates.
        inner : sequence of arrays
            Edges inside the box along each axis, from its middle, sorted.

        Returns
        -------
        UnevenGrid
        """
        cells = np.array([len(one) + 1 for one in inner], dtype=np.int64)
        return cls(half, cells, middle, tuple(inner))

    def assign(self, chunk: Array) -> Codes:
        """Cell number of each row, shape (rows,)."""
        offset = chunk if self.middle is None else chunk - self.middle
        along = [np.searchsorted(one, offset[:, j], side="right") for j, one in enumerate(self.inner)]
        return self.number_cells(np.stack(along, axis=1))

    def borders(self, axis: int) -> Array:
        """Borders of the cells along an axis, from the grid's middle; (cells + 1,)."""
        return np.asarray(np.r_[-self.half[axis], self.inner[axis], self.half[axis]])

    def centers(self, codes: Codes) -> Array:
        """Middle of each cell, unit coordinates, shape (m, d)."""
        low, high = self._box(codes)
        middle: Array = (low + high) / 2
        return middle if self.middle is None else middle + self.middle

    def spreads(self, codes: Codes) -> Array:
        """For each cell, the mean squared distance to its middle of rows that fill it evenly; (m,)."""
        low, high = self._box(codes)
        return np.asarray(((high - low) ** 2).sum(axis=1) / 12)

    @property
    def spread_in_cell(self) -> float:
        """Mean of ``spreads`` over all cells."""
        along = [np.diff(self.borders(axis)) for axis in range(len(self.half))]
        return sum(float((sides**2).mean()) for sides in along) / 12

    def _box(self, codes: Codes) -> tuple[Array, Array]:
        """Lower and upper corners (m, d), from the grid's middle."""
        places = self.places(codes)
        along = [self.borders(axis) for axis in range(len(self.half))]
        low = np.stack([borders[place] for borders, place in zip(along, places.T, strict=True)], axis=1)
        high = np.stack([borders[place + 1] for borders, place in zip(along, places.T, strict=True)], axis=1)
        return low, high


@dataclass(frozen=True, eq=False)
class Zoomed(_AxisByAxis):
    """Cells of a fine grid for what lies in its box, and of a coarse grid for all else: nothing is cut off.

    The fine cells come first. Coarse cells that lie wholly in the box stay empty.
    """

    fine: Grid
    coarse: Grid

    @property
    def n_cells(self) -> int:
        return self.fine.n_cells + self.coarse.n_cells

    @property
    def width(self) -> int:
        return self.fine.width + self.coarse.width

    def assign(self, chunk: Array) -> Codes:
        """Cell number of each row, shape (rows,)."""
        middle = 0.0 if self.fine.middle is None else self.fine.middle
        inside = (np.abs(chunk - middle) <= self.fine.half).all(axis=1)
        return np.where(inside, self.fine.assign(chunk), self.fine.n_cells + self.coarse.assign(chunk))


@dataclass(frozen=True, eq=False)
class ProjectedCells(OnLattice, rounded=("frame",)):
    """The cells of ``inner`` seen through the public linear map ``frame`` of shape (p, d), clipped to ``region``."""

    inner: Voronoi | Grid | UnevenGrid
    frame: Array
    region: Region

    @property
    def n_cells(self) -> int:
        return self.inner.n_cells

    @property
    def width(self) -> int:
        return self.inner.width + 2 * len(self.frame)

    def find_cells(self, rows: ExactRows) -> Codes:
        """Cell of the projection of each row, shape (rows,)."""
        image = self.region.rows(multiply(self.frame, rows).T)
        return self.inner.find_cells(ExactRows.dense(image, self.region.row_bits, self.region.radius))


@dataclass(frozen=True, eq=False)
class CubeTree(_AxisByAxis):
    """A 2^p-tree of cubes: at each level, the children that were released as active.

    A child's key is ``(index of its parent among the active cubes of the level above) << p | bits``, where bit j
    says that the child lies in the upper half along axis j. Keys are sorted, so discovery order cannot show.

    Parameters
    ----------
    origin : array of shape (p,)
        Lower corner of the root cube, unit coordinates.
    side : float
        Edge of the root cube.
    levels : tuple of sorted int64 arrays
        Active child keys of levels 1, 2, ...; the root (level 0) is always active.
    """

    origin: Array
    side: float
    levels: tuple[Codes, ...] = ()

    @property
    def dim(self) -> int:
        return len(self.origin)

    @property
    def depth(self) -> int:
        return len(self.levels)

    @property
    def n_active(self) -> int:
        """Active cubes of the deepest level."""
        return len(self.levels[-1]) if self.levels else 1

    @property
    def n_cells(self) -> int:
        """Children of the deepest active cubes, the empty ones included: the universe of the next level."""
        return self.n_active << self.dim

    @property
    def width(self) -> int:
        return 4 * self.dim + 4

    def with_level(self, active: Codes) -> CubeTree:
        """The tree with one more level."""
        return CubeTree(self.origin, self.side, (*self.levels, active))

    def assign(self, chunk: Array) -> Codes:
        """Key of each row's child of its deepest active cube, -1 where an ancestor is not active; shape (rows,)."""
        chunk = make_dense(chunk)
        keys = np.full(len(chunk), -1, dtype=np.int64)
        row = np.arange(len(chunk))
        node = np.zeros(len(chunk), dtype=np.int64)
        bit = np.int64(1) << np.arange(self.dim, dtype=np.int64)
        corner, edge = np.broadcast_to(self.origin, chunk.shape), self.side
        for level in range(self.depth + 1):
            edge /= 2
            upper = chunk[row] >= corner + edge
            key = (node << self.dim) | (upper @ bit)
            if level == self.depth:
                keys[row] = key
                break
            node = np.searchsorted(self.levels[level], key)
            alive = node < len(self.levels[level])
            alive[alive] = self.levels[level][node[alive]] == key[alive]
            row, node = row[alive], node[alive]
            corner = (corner + upper * edge)[alive]
        return keys

    def corners(self, level: int) -> Array:
        """Lower corners of the active cubes of ``level``, unit coordinates, shape (m, p)."""
        corner = self.origin[None, :]
        for depth in range(1, level + 1):
            keys = self.levels[depth - 1]
            upper = (keys[:, None] >> np.arange(self.dim, dtype=np.int64)) & 1
            corner = corner[keys >> self.dim] + upper * self.edge(depth)
        return corner

    def edge(self, level: int) -> float:
        """Edge of a cube of ``level``."""
        return float(self.side / 2**level)

    def centers(self, level: int) -> Array:
        """Middle of the active cubes of ``level``, unit coordinates, shape (m, p)."""
        return self.corners(level) + self.edge(level) / 2

    def parents(self, level: int) -> Codes:
        """Index of each active cube's parent among the active cubes of the level above."""
        return self.levels[level - 1] >> self.dim


DensePartition = Everything | Voronoi | Grid | UnevenGrid | Zoomed | ProjectedCells | HashTree
"""Partitions of which every cell is answered for."""
SparsePartition = Grid | ProjectedCells | CubeTree | HashCodes
"""Those that may have too many cells to write down."""
Partition = DensePartition | SparsePartition
