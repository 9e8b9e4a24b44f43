"""Where rows and centres live: a box cut with a ball, and coordinates in it that belong together.

Categories are corners of a simplex, a yes or no two ends, hours points of a circle. A row is one corner of each
simplex, whatever was asked for, so that no row names two categories at once. A released point lies anywhere between:
what is nearest to it among mixtures of corners is its shares.

References
----------
Held, Wolfe & Crowder 1974, §4 (projection on a simplex).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from math import sqrt
from typing import NamedTuple

import numpy as np

from dpviz.core import lattice
from dpviz.core.arrays import Array, Flags

# Points of the stored circle: hours, weekdays, months, degrees and the minutes of a week are among them.
CIRCLE = 10_080


class Shape(StrEnum):
    """Where the coordinates of a block lie."""

    SIMPLEX = "simplex"
    """Rows are half-width times a unit vector; between are their mixtures."""
    PAIR = "pair"
    """One coordinate, from one end to the other."""
    CIRCLE = "circle"
    """Two coordinates, no longer than the half-width."""


class Block(NamedTuple):
    """Coordinates ``start`` to ``stop`` (exclusive), all of one half-width."""

    shape: Shape
    start: int
    stop: int

    @property
    def place(self) -> slice:
        """Its coordinates."""
        return slice(self.start, self.stop)


@dataclass(frozen=True, eq=False)
class Blocks:
    """The blocks of a region of ``dim`` coordinates; a ball of ``free_radius`` cuts the coordinates of none.

    A declared radius shortens no block: half a category means nothing.
    """

    parts: tuple[Block, ...]
    dim: int
    free_radius: float

    @cached_property
    def free(self) -> Flags:
        """Which coordinates belong to no block, shape (dim,)."""
        free = np.ones(self.dim, dtype=bool)
        for part in self.parts:
            free[part.place] = False
        return free

    def sides(self, half: Array) -> Array:
        """The half-width of each block, of those of all coordinates (dim,)."""
        return np.array([half[part.start] for part in self.parts])

    def of_shape(self, shape: Shape) -> list[Block]:
        """The blocks of that shape."""
        return [part for part in self.parts if part.shape is shape]

    def l1(self, half: Array) -> float:
        """The largest l1 norm of the coordinates in blocks; on a circle both are equal then."""
        longest = {Shape.SIMPLEX: 1.0, Shape.PAIR: 1.0, Shape.CIRCLE: sqrt(2.0)}
        return float(sum(half[part.start] * longest[part.shape] for part in self.parts))

    def compute_squared_apart(self, half: Array) -> float:
        """The largest squared distance between two rows, over coordinates in blocks."""
        apart = {Shape.SIMPLEX: 2.0, Shape.PAIR: 4.0, Shape.CIRCLE: 4.0}
        return float(sum(half[part.start] ** 2 * apart[part.shape] for part in self.parts))

    def bound_squared_distance(self, points: Array, half: Array) -> Array:
        """The largest squared distance of a row from each of ``points`` (..., dim), over coordinates in blocks.

        Of a simplex the farthest corner is that of the smallest coordinate; of an interval and a circle the far side.

        ``half`` (dim,), half-widths of the box, unit coordinates. Returns (...), squared unit coordinates.
        """
        reach = np.zeros(points.shape[:-1])
        for part in self.parts:
            inside, side = points[..., part.place], half[part.start]
            if part.shape is Shape.SIMPLEX:
                reach += (inside**2).sum(axis=-1) + side**2 - 2 * side * inside.min(axis=-1)
            else:
                reach += (side + np.sqrt((inside**2).sum(axis=-1))) ** 2
        return reach

    def onto_rows(self, rows: Array, wished: Array, half: Array, bits: int) -> None:
        """Make the blocks of ``rows`` (n, dim), which are on the lattice, what a row may have; ``wished`` is unrounded.

        Each simplex becomes the corner of its largest coordinate, the first of equal ones.

        ``rows`` (n, dim), on the lattice; changed in place; ``wished`` (n, dim), unit coordinates, not rounded;
        ``half`` (dim,), half-widths of the box, unit coordinates.
        """
        for part in self.parts:
            side = half[part.start]
            if part.shape is Shape.SIMPLEX:
                corner = wished[:, part.place].argmax(axis=1)
                rows[:, part.place] = 0.0
                rows[np.arange(len(rows)), part.start + corner] = side
            elif part.shape is Shape.CIRCLE:
                inside = rows[:, part.place]
                squared = np.einsum("nd,nd->n", inside, inside)
                far = np.flatnonzero(squared > side**2)
                shorter = inside[far] * (side * lattice.SHRINK / np.sqrt(squared[far]))[:, None]
                rows[far, part.place] = lattice.round_inward(shorter, bits)

    def settle(self, points: Array, half: Array) -> None:
        """Move the blocks of ``points`` (n, dim), which lie in the box, to the nearest mixtures of rows.

        ``points`` (n, dim), unit coordinates; changed in place; ``half`` (dim,), half-widths of the box, unit
        coordinates.
        """
        for part in self.parts:
            side = half[part.start]
            if part.shape is Shape.SIMPLEX:
                points[:, part.place] = project_on_simplex(points[:, part.place], side)
            elif part.shape is Shape.CIRCLE:
                inside = points[:, part.place]
                points[:, part.place] = inside * (side / np.maximum(np.linalg.norm(inside, axis=1), side))[:, None]


@dataclass(frozen=True, eq=False)
class Region:
    """The public set that rows and centres live in: a box around 0 cut with a ball, unit coordinates.

    ``half`` (d,), half-width of the box along each axis.
    """

    half: Array
    radius: float
    nonzeros: int | None = None
    blocks: Blocks | None = None

    @classmethod
    def of_blocks(cls, half: Array, blocks: Blocks) -> Region:
        """The region of a table whose coordinates are partly in ``blocks``, with the exact radius of its rows.

        ``half`` (dim,), half-widths of the box, unit coordinates.
        """
        return cls(half, sqrt(blocks.free_radius**2 + float((blocks.sides(half) ** 2).sum())), blocks=blocks)

    @classmethod
    def ball(cls, dim: int, radius: float) -> Region:
        """The ball of ``radius`` around 0 in ``dim`` dimensions, with its bounding box.

        ``radius``: unit coordinates.
        """
        return cls(np.full(dim, radius), radius)

    @property
    def dim(self) -> int:
        return len(self.half)

    @property
    def squared_corner(self) -> float:
        """The largest squared norm of a row that no ball cuts."""
        if self.blocks is None:
            return float((self.half**2).sum())
        return float((self.half[self.blocks.free] ** 2).sum() + (self.blocks.sides(self.half) ** 2).sum())

    @property
    def diameter(self) -> float:
        """Largest distance between two points of the box cut with the ball, rows or not."""
        return 2.0 * self.radius

    @cached_property
    def apart(self) -> float:
        """Largest distance between two rows: of two categories, that of their corners."""
        if self.blocks is None:
            return self.diameter
        return sqrt(4 * self.blocks.free_radius**2 + self.blocks.compute_squared_apart(self.half))

    @cached_property
    def l1_radius(self) -> float:
        """Largest l1 norm of a row: the sum of half-widths; of min(half-width, t) where a ball cuts the corners.

        The level t is where the norm of min(half-width, t) is the radius: short axes are full, the others are equal.
        Of a simplex it is that of one corner, of a circle √2 times its radius.
        """
        if self.blocks is None:
            return _compute_l1(self.half, self.radius)
        free = _compute_l1(self.half[self.blocks.free], self.blocks.free_radius)
        return free + self.blocks.l1(self.half)

    def unfold(self, points: int) -> Region:
        """Where each of ``points`` points lives that stand side by side in a row of this region."""
        half: Array = self.half.reshape(points, -1).max(axis=0)
        return Region(half, min(self.radius, float(np.linalg.norm(half))))

    def clip(self, points: Array) -> Array:
        """``points`` of shape (..., d) moved into the region: the box first, then towards 0 into the ball."""
        inside = np.clip(points, -self.half, self.half)
        if self.radius >= np.linalg.norm(self.half):
            return inside
        norm = np.sqrt(np.einsum("...i,...i->...", inside, inside))[..., None]
        shrink = np.where(norm > self.radius, self.radius * lattice.SHRINK / np.maximum(norm, self.radius), 1.0)
        return inside * shrink

    def settle_points(self, points: Array) -> Array:
        """Released ``points`` (k, d) moved to where means of rows can be: into the region, and in blocks between rows.

        Post-processing of what carries noise; without blocks it is ``clip``.
        """
        if self.blocks is None:
            return self.clip(points)
        settled = np.clip(points, -self.half, self.half)
        free = self.blocks.free
        within = Region(self.half[free], self.blocks.free_radius)
        settled[:, free] = within.clip(settled[:, free])
        self.blocks.settle(settled, self.half)
        return settled

    @cached_property
    def row_bits(self) -> int:
        """Rows of this region are multiples of 2^-row_bits."""
        return lattice.count_row_bits(self.radius)

    def rows(self, values: Array) -> Array:
        """``values`` (n, d) moved into the region and onto the lattice of rows, as a session holds them."""
        bits = self.row_bits
        inside = lattice.round_inward(np.clip(values, -self.half, self.half), bits)
        if self.blocks is None:
            return _shorten_into_ball(inside, self.half, self.radius, bits)
        free = self.blocks.free
        inside[:, free] = _shorten_into_ball(inside[:, free], self.half[free], self.blocks.free_radius, bits)
        self.blocks.onto_rows(inside, values, self.half, bits)
        return inside


def _compute_l1(half: Array, radius: float) -> float:
    """The largest l1 norm in the box of half-widths ``half`` cut with the ball of ``radius``."""
    half = np.sort(half)
    if radius >= np.linalg.norm(half):
        return float(half.sum())
    filled = np.r_[0.0, np.cumsum(half**2)[:-1]]
    free = np.arange(len(half), 0, -1)
    level = np.sqrt(np.maximum(radius**2 - filled, 0.0) / free)
    full = int(np.argmax(level <= half))
    return float(half[:full].sum() + free[full] * level[full])


def _shorten_into_ball(inside: Array, half: Array, radius: float, bits: int) -> Array:
    """Rows (n, d) of the box, on the lattice, shortened into the ball; each by itself."""
    if radius >= np.linalg.norm(half):
        return inside
    # Exact on the lattice, so that a row's neighbours in memory have no say in what it becomes.
    squared = np.einsum("nd,nd->n", inside, inside)
    far = np.flatnonzero(squared > (radius * lattice.SHRINK) ** 2)
    shorter = inside[far] * (radius * lattice.SHRINK / np.sqrt(squared[far]))[:, None]
    inside[far] = lattice.round_inward(shorter, bits)
    return inside


def project_on_simplex(points: Array, side: float) -> Array:
    """The nearest point of {x >= 0, sum x = ``side``} to each of ``points`` (n, m).

    >>> project_on_simplex(np.array([[0.75, 0.25], [2.0, 0.0], [0.5, 0.5]]), 0.5).tolist()
    [[0.5, 0.0], [0.5, 0.0], [0.25, 0.25]]
    """
    falling = -np.sort(-points, axis=1)
    surplus = (np.cumsum(falling, axis=1) - side) / np.arange(1, points.shape[1] + 1)
    last = (falling > surplus).sum(axis=1) - 1
    return np.maximum(points - np.take_along_axis(surplus, last[:, None], axis=1), 0.0)
