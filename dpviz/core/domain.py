"""The public domain: what the data owner declares before any row is read; and its region in unit coordinates.

Where rows and centres live is a box cut with a ball, and coordinates in it that belong together: categories are corners
of a simplex, a yes or no two ends, hours points of a circle. A row is one corner of each simplex, whatever was asked
for, so that no row names two categories at once. A released point lies anywhere between: what is nearest to it among
mixtures of corners is its shares.

References
----------
Held, Wolfe & Crowder 1974, §4 (projection on a simplex).

"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import pairwise, takewhile
from math import prod, sqrt
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from dpviz.core import check, lattice
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
    """The blocks of a region; a ball of ``free_radius`` cuts the coordinates ``free`` (dim,), which belong to none.

    A declared radius shortens no block: half a category means nothing.
    """

    parts: tuple[Block, ...]
    free: Flags
    free_radius: float

    def sides(self, half: Array) -> Array:
        """The half-width of each block, of those of all coordinates (dim,)."""
        return np.array([half[part.start] for part in self.parts])

    def of_shape(self, shape: Shape) -> list[Block]:
        """The blocks of that shape."""
        return [part for part in self.parts if part.shape is shape]

    def bound_squared_distance(self, points: Array, half: Array) -> Array:
        """The largest squared distance of a row from each of ``points`` (..., dim), over coordinates in blocks.

        Of a simplex the farthest corner is that of the smallest coordinate; of an interval and a circle the far side.
        ``half`` (dim,) are half-widths of the box, unit coordinates.
        """
        reach = np.zeros(points.shape[:-1])
        for part in self.parts:
            inside, side = points[..., part.place], half[part.start]
            if part.shape is Shape.SIMPLEX:
                reach += (inside**2).sum(axis=-1) + side**2 - 2 * side * inside.min(axis=-1)
            else:
                reach += (side + np.sqrt((inside**2).sum(axis=-1))) ** 2
        return reach


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
    def ball(cls, dim: int, radius: float) -> Region:
        """The ball of ``radius`` around 0 in ``dim`` dimensions, with its bounding box.

        Parameters
        ----------
        dim : int
        radius : float
            Unit coordinates.

        Returns
        -------
        Region
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
        apart = {Shape.SIMPLEX: 2.0, Shape.PAIR: 4.0, Shape.CIRCLE: 4.0}
        squared = sum(self.half[part.start] ** 2 * apart[part.shape] for part in self.blocks.parts)
        return sqrt(4 * self.blocks.free_radius**2 + float(squared))

    @cached_property
    def l1_radius(self) -> float:
        """Largest l1 norm of a row: the sum of half-widths; of min(half-width, t) where a ball cuts the corners.

        The level t is where the norm of min(half-width, t) is the radius: short axes are full, the others are equal.
        Of a simplex it is that of one corner, of a circle √2 times its radius: both coordinates are equal then.
        """
        if self.blocks is None:
            return _compute_l1(self.half, self.radius)
        free = _compute_l1(self.half[self.blocks.free], self.blocks.free_radius)
        longest = {Shape.SIMPLEX: 1.0, Shape.PAIR: 1.0, Shape.CIRCLE: sqrt(2.0)}
        return free + float(sum(self.half[part.start] * longest[part.shape] for part in self.blocks.parts))

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
        for part in self.blocks.parts:  # to the nearest mixtures of rows
            inside, side = settled[:, part.place], self.half[part.start]
            if part.shape is Shape.SIMPLEX:
                settled[:, part.place] = project_on_simplex(inside, side)
            elif part.shape is Shape.CIRCLE:
                settled[:, part.place] = inside * (side / np.maximum(np.linalg.norm(inside, axis=1), side))[:, None]
        return settled

    @cached_property
    def row_bits(self) -> int:
        """Rows of this region are multiples of 2^-row_bits."""
        return lattice.count_row_bits(self.radius)

    @property
    def number_type(self) -> type[np.floating[Any]]:
        """Of the coordinates of rows: the smaller floats, where they are exact in them."""
        return np.float32 if float(self.half.max()) * 2.0**self.row_bits <= 2.0**lattice.WHOLE_SHORT else np.float64

    def rows(self, values: Array) -> Array:
        """``values`` (n, d) moved into the region and onto the lattice of rows, as a session holds them."""
        bits = self.row_bits
        inside = lattice.round_inward(np.clip(values, -self.half, self.half), bits)
        if self.blocks is None:
            return _shorten_into_ball(inside, self.half, self.radius, bits)
        free = self.blocks.free
        inside[:, free] = _shorten_into_ball(inside[:, free], self.half[free], self.blocks.free_radius, bits)
        for part in self.blocks.parts:
            side = self.half[part.start]
            if part.shape is Shape.SIMPLEX:  # the corner of its largest coordinate, unrounded, the first of equal ones
                corner = values[:, part.place].argmax(axis=1)
                inside[:, part.place] = 0.0
                inside[np.arange(len(inside)), part.start + corner] = side
            elif part.shape is Shape.CIRCLE:
                turned = inside[:, part.place]
                squared = np.einsum("nd,nd->n", turned, turned)
                far = np.flatnonzero(squared > side**2)
                inside[far, part.place] = lattice.shorten(turned[far], squared[far], side, bits)
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
    inside[far] = lattice.shorten(inside[far], squared[far], radius, bits)
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


# Widths and radii that squares neither overflow nor underflow on: outside, a norm would be computed as 0 or infinite.
_NARROWEST, _WIDEST = 1e-100, 1e100
# Columns narrower than this beside 1 are rounded to a few steps of the lattice; of a radius smaller than that too
# little would be left.
_NARROWEST_PART, _SMALLEST_RADIUS = 2.0**-16, 2.0**-8


class Scaling(StrEnum):
    """How data units become unit coordinates."""

    UNIT = "unit"
    """Each column by its own bounds, to [-1, 1] (Su et al. 2016)."""
    COMMON = "common"
    """One scale for all columns: distances keep their data-unit geometry."""


Scaling.__module__ = "dpviz"


@dataclass(frozen=True)
class CodedColumn(Protocol):
    """A declared column as its coding makes coordinates of it: what the domain asks of it.

    Numbers of cells lie in ``lower`` to ``upper``; ``side`` is the half-width of each of its coordinates, unit
    coordinates.
    """

    name: str
    coding: Any
    lower: float
    upper: float
    side: float

    @property
    def is_number(self) -> bool: ...

    @property
    def labels(self) -> tuple[str, ...]: ...

    @property
    def dim(self) -> int: ...

    @property
    def middle(self) -> Array: ...

    @property
    def scale(self) -> Array: ...

    @property
    def even_scale(self) -> Array: ...

    @property
    def placeholder(self) -> float: ...

    def encode(self, values: Array) -> Array: ...

    def decode(self, points: Array) -> Array: ...

    def to_unit_coordinates(self, coordinates: Array) -> Array: ...

    def read_numbers(self, points: Array) -> Array: ...

    def describe(self, coordinates: Array) -> Any: ...


@dataclass(frozen=True, eq=False)
class Domain:
    """Declared bounds of the chosen columns: public, never read from rows.

    Parameters
    ----------
    columns : tuple of str
    lower, upper : arrays of shape (d,)
        Declared bounds, data units.
    radius : float or None
        Largest distance of a row from the middle of the bounds: in data units under ``common`` scaling, in
        half-widths under ``unit`` scaling. None means that the bounds alone limit a row.
    scaling : Scaling
    units : tuple of str
        What the numbers of each column count, "" where nobody said; empty: of none.
    declared : tuple of CodedColumn
        Where a declared column is more than a number between bounds, all of them: then ``columns`` and bounds are those
        of coordinates, one for each category, and a row (n, ``width``) has one number a declared column.
    """

    columns: tuple[str, ...]
    lower: Array
    upper: Array
    radius: float | None = None
    scaling: Scaling = Scaling.UNIT
    units: tuple[str, ...] = ()
    declared: tuple[CodedColumn, ...] = ()

    @classmethod
    def of(
        cls,
        columns: Sequence[str],
        lower: npt.ArrayLike,
        upper: npt.ArrayLike,
        *,
        radius: float | None = None,
        scaling: Scaling | str = Scaling.UNIT,
        units: Mapping[str, str] | None = None,
    ) -> Domain:
        """A checked domain; scalar bounds serve every column.

        Parameters
        ----------
        columns : sequence of str
            Names of the columns.
        lower, upper : number or array of shape (d,)
            Declared bounds, data units.
        radius : float or None
            Largest distance from the middle of the bounds; None: the box alone.
        scaling : "unit" or "common"
            Each column to [-1, 1], or one scale for all.
        units : mapping of str to str or None
            What the numbers of a column count; for eyes only.

        Returns
        -------
        Domain
            Public: nothing in it comes from rows.

        Raises
        ------
        RequestError
            If a bound is missing, not finite, or not below its partner, the radius is not positive, or a width is
            beyond what arithmetic can square.
        """
        names = tuple(str(name) for name in columns)
        check.at_least(1, number_of_columns=len(names))
        check.one_of(tuple(scale.value for scale in Scaling), scaling=scaling)
        low, high = _expand_bound(lower, len(names), "lower"), _expand_bound(upper, len(names), "upper")
        for name, lo, hi in zip(names, low.tolist(), high.tolist(), strict=True):
            if not (np.isfinite(lo) and np.isfinite(hi) and np.isfinite(hi - lo)):
                raise check.RequestError(f"The bounds of column {name!r} are not finite: declare two finite numbers.")
            if lo >= hi:
                raise check.RequestError(
                    f"The lower bound of column {name!r} ({lo:g}) is not below its upper bound ({hi:g}): "
                    "declare lower < upper."
                )
            if not _NARROWEST <= hi - lo <= _WIDEST:
                raise check.RequestError(
                    f"The bounds of column {name!r} are {hi - lo:g} apart: give the column in units in which they are "
                    f"{_NARROWEST:g} to {_WIDEST:g} apart."
                )
        if radius is not None:
            radius = check.positive(radius=radius)
        stated = tuple((units or {}).get(name, "") for name in names)
        domain = cls(names, low, high, radius, Scaling(scaling), stated if any(stated) else ())
        domain.refuse_short_radius()
        return domain

    def refuse_short_radius(self) -> None:
        """Refuse a declared radius that leaves next to nothing of the bounds.

        Raises
        ------
        RequestError
            Where its ball has hardly any room in unit coordinates.
        """
        if self._free_radius < _SMALLEST_RADIUS and self.radius is not None:
            raise check.RequestError(
                f"radius is {self.radius:g}, {self._free_radius:.2g} of the half-width of the bounds: give a "
                "larger radius, or narrower bounds."
            )

    @cached_property
    def narrow(self) -> tuple[str, ...]:
        """Columns so much narrower than the widest one that the lattice of rows leaves a few steps of them."""
        sides = [column.side for column in self.declared] or self._half.tolist()
        return tuple(name for name, side in zip(self.names, sides, strict=True) if side < _NARROWEST_PART)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the owner should know of the declared columns beside each other."""
        return tuple(
            f"Column {name!r} is so much narrower than the widest one that it is rounded to a few steps and hardly "
            "counts: choose unit scaling, or give the columns in units of like size."
            for name in self.narrow
        )

    @property
    def dim(self) -> int:
        return len(self.columns)

    @cached_property
    def titles(self) -> tuple[str, ...]:
        """The columns with their units, as axes are called: ``income (k$)``."""
        units = self.units or ("",) * self.dim
        return tuple(f"{name} ({unit})" if unit else name for name, unit in zip(self.columns, units, strict=True))

    @property
    def width(self) -> int:
        """Numbers of a row as it is read: one a declared column."""
        return len(self.declared) or self.dim

    @property
    def names(self) -> tuple[str, ...]:
        """The declared columns."""
        return tuple(column.name for column in self.declared) or self.columns

    @cached_property
    def places(self) -> tuple[slice, ...]:
        """The coordinates of each declared column."""
        ends = np.cumsum([0, *([column.dim for column in self.declared] or [1] * self.dim)]).tolist()
        return tuple(slice(first, end) for first, end in pairwise(ends))

    @property
    def _parts(self) -> Iterator[tuple[CodedColumn, slice]]:
        """Each declared column with its coordinates."""
        return zip(self.declared, self.places, strict=False)

    @property
    def coded_dim(self) -> int:
        """Coordinates that blocks make: of categories and circles."""
        return sum(column.dim for column in self.declared if column.coding.shape is not None)

    @cached_property
    def different_rows(self) -> int | None:
        """How many different rows the declared values make; None where some column is a number between bounds."""
        numbers = [len(column.coding.values) for column in self.declared]
        return prod(numbers) if numbers and all(numbers) else None

    @cached_property
    def center(self) -> Array:
        """Middle of the bounds, data units, shape (d,)."""
        if self.declared:
            return np.concatenate([column.middle for column in self.declared])
        return self.lower + (self.upper - self.lower) / 2

    @cached_property
    def scale(self) -> Array:
        """Data units per unit coordinate, shape (d,); on a logarithmic scale around the middle."""
        if self.declared:
            return np.concatenate([column.scale for column in self.declared])
        half: Array = (self.upper - self.lower) / 2
        return half if self.scaling is Scaling.UNIT else np.full(self.dim, half.max())

    @cached_property
    def even_scale(self) -> Array:
        """The same on the scale on which each column is clustered: of a log scale natural logarithms, shape (d,)."""
        return np.concatenate([column.even_scale for column in self.declared]) if self.declared else self.scale

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """How each coordinate is spread between its bounds, shape (d,): "number" evenly, or "log" or "root"."""
        return tuple(column.coding.kind for column in self.declared for _ in column.labels) or ("number",) * self.dim

    @cached_property
    def _half(self) -> Array:
        """Half-width of each coordinate, unit coordinates."""
        if self.declared:
            return np.repeat([column.side for column in self.declared], [column.dim for column in self.declared])
        return (self.upper - self.lower) / 2 / self.scale

    @cached_property
    def _blocks(self) -> tuple[Block, ...]:
        shapes = ((column.coding.shape, place) for column, place in self._parts)
        return tuple(Block(shape, place.start, place.stop) for shape, place in shapes if shape is not None)

    @cached_property
    def _free(self) -> Flags:
        """Which coordinates belong to no block, shape (dim,)."""
        shapes = [column.coding.shape for column in self.declared for _ in range(column.dim)] or [None] * self.dim
        return np.array([shape is None for shape in shapes])

    @cached_property
    def _free_radius(self) -> float:
        """The longest that a row is in the coordinates of numbers, unit coordinates."""
        corner = float(np.linalg.norm(self._half[self._free]))
        if self.radius is None:
            return corner
        if self.scaling is Scaling.UNIT:
            return min(self.radius, corner)
        if not self.declared:
            return min(self.radius / float(self.scale[0]), corner)
        widths = [column.upper - column.lower for column in self.declared if column.is_number]
        return min(self.radius / (max(widths) / 2), corner) if widths else corner

    @cached_property
    def region(self) -> Region:
        """The domain in unit coordinates."""
        half, radius = np.maximum(self._half, _NARROWEST_PART), self._free_radius
        if not self._blocks:
            return Region(half, radius)
        blocks = Blocks(self._blocks, self._free, radius)
        return Region(half, sqrt(radius**2 + float((blocks.sides(half) ** 2).sum())), blocks=blocks)

    def unfold(self, points: int) -> Domain:
        """The domain of each of ``points`` points that a row holds: its columns are theirs, one point after the other.

        Raises
        ------
        RequestError
            If the columns cannot be shared out evenly, or the points have different bounds.
        """
        if points == 1:
            return self
        if self.declared:
            raise check.RequestError(
                "A row that holds several points has plain numbers only: leave out categories, scales and weights, or "
                "choose an algorithm that takes a row as a point, such as auto."
            )
        if self.dim % points:
            raise check.RequestError(
                f"A row of {self.dim} columns does not hold {points} points: choose a number of columns that k = "
                f"{points} divides, all columns of one point after those of the other, or another k."
            )
        dim = self.dim // points
        for bound in (self.lower.reshape(points, dim), self.upper.reshape(points, dim)):
            for point, axis in np.argwhere(bound != bound[0])[:1].tolist():
                raise check.RequestError(
                    f"Columns {self.columns[axis]!r} and {self.columns[point * dim + axis]!r} are the same coordinate "
                    "of two points of a row, with different bounds: declare the same bounds for every point, and give "
                    "all columns of one point after those of the other."
                )
        names = tuple(_find_shared_name(self.columns[axis::dim]) for axis in range(dim))
        names = names if len({*names}) == dim and all(names) else self.columns[:dim]
        return Domain(names, self.lower[:dim], self.upper[:dim], self.radius, self.scaling, self.units[:dim])

    @cached_property
    def placeholder(self) -> Array:
        """The row that stands in for one with a missing cell, shape (width,): middles, and the empty category."""
        return np.array([column.placeholder for column in self.declared]) if self.declared else self.center

    def limit(self, values: Array, *, far: float = 0.0) -> Array:
        """Rows (n, width) moved to the declared bounds, or to so many half-widths of numbers ``far`` from the middle.

        So that a cell of 1e300 does not overflow on its way to unit coordinates. Codes have no far: they are places.

        Parameters
        ----------
        values : array of shape (n, width)
            Data units.
        far : float
            In half-widths.

        Returns
        -------
        array of shape (n, width)
            Data units.
        """
        if not self.declared:
            if not far:
                return np.clip(values, self.lower, self.upper)
            return np.clip(values, self.center - far * self.scale, self.center + far * self.scale)
        ends = np.array([(column.lower, column.upper) for column in self.declared])
        room = far * (ends[:, 1] - ends[:, 0]) * [column.is_number for column in self.declared]
        return np.clip(values, ends[:, 0] - room, ends[:, 1] + room)

    def to_unit(self, values: Array) -> Array:
        """Rows (..., width) in data units to unit coordinates (..., d); nothing is clipped."""
        if self.declared:
            return np.concatenate([column.encode(values[:, j]) for j, column in enumerate(self.declared)], axis=1)
        return (values - self.center) / self.scale

    def from_unit(self, points: Array) -> Array:
        """Unit coordinates to data units, shape (..., d): of a category to its share, of a log scale to amounts."""
        if self.declared:
            flat = np.reshape(points, (-1, self.dim))
            parts = [column.decode(flat[:, place]) for column, place in self._parts]
            return np.concatenate(parts, axis=1).reshape(np.shape(points))
        return points * self.scale + self.center

    def to_unit_coordinates(self, centers: Array) -> Array:
        """Back from ``from_unit``: unit coordinates of centres (k, d) in data units."""
        if not self.declared:
            return self.to_unit(centers)
        return np.concatenate([column.to_unit_coordinates(centers[:, place]) for column, place in self._parts], axis=1)

    def to_rows(self, points: Array) -> Array:
        """Rows (n, width) of the unit coordinates (n, d) of rows: what ``to_unit`` takes."""
        if not self.declared:
            return self.from_unit(points)
        return np.stack([column.read_numbers(points[:, place]) for column, place in self._parts], axis=1)

    def describe(self, center: Array) -> dict[str, Any]:
        """What a released centre (d,), data units, says of each declared column: a number, or the shares of values."""
        if not self.declared:
            return dict(zip(self.columns, center.tolist(), strict=True))
        return {column.name: column.describe(center[place]) for column, place in self._parts}


Domain.__module__ = "dpviz"


def _find_shared_name(names: Sequence[str]) -> str:
    """What the names of one coordinate of several points have in common.

    >>> _find_shared_name(["home1_east", "home2_east"]), _find_shared_name(["x_1", "x_2"])
    ('home_east', 'x')
    """
    start = _find_shared_start(names)
    end = _find_shared_start([name[len(start) :][::-1] for name in names])[::-1]
    return (start + end).strip(" _-.")


def _find_shared_start(names: Sequence[str]) -> str:
    same = (len({*letters}) == 1 for letters in zip(*names, strict=False))
    return names[0][: sum(takewhile(bool, same))]


def _expand_bound(bound: npt.ArrayLike, columns: int, which: str) -> Array:
    values = np.asarray(bound, dtype=np.float64)
    if values.shape not in ((), (columns,)):
        raise check.RequestError(
            f"{which} has shape {values.shape}: give one number, or one for each of the {columns} columns."
        )
    return np.full(columns, values)
