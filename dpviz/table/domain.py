"""The public domain: what the data owner declares before any row is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import takewhile

import numpy as np
import numpy.typing as npt

from dpviz import check
from dpviz.arrays import Array
from dpviz.table import lattice

# Widths and radii that squares neither overflow nor underflow on: outside, a norm would be computed as 0 or infinite.
_NARROWEST, _WIDEST = 1e-100, 1e100
# Of columns narrower, and of a radius smaller, than this beside 1 the lattice would leave too little.
_NARROWEST_PART, _SMALLEST_RADIUS = 2.0**-16, 2.0**-8


class Scaling(StrEnum):
    """How data units become unit coordinates."""

    UNIT = "unit"
    """Each column by its own bounds, to [-1, 1] (Su et al. 2016)."""
    COMMON = "common"
    """One scale for all columns: distances keep their data-unit geometry."""


@dataclass(frozen=True, eq=False)
class Region:
    """The public set that rows and centres live in: a box around 0 cut with a ball, unit coordinates.

    Parameters
    ----------
    half : array of shape (d,)
        Half-width of the box along each axis.
    radius : float
        Largest Euclidean norm; at most the norm of ``half``.
    nonzeros : int or None
        Largest number of entries of a row that are not 0; None: all may be. Centres are not bound by it.
    """

    half: Array
    radius: float
    nonzeros: int | None = None

    @classmethod
    def ball(cls, dim: int, radius: float) -> Region:
        """The ball of ``radius`` around 0 in ``dim`` dimensions, with its bounding box."""
        return cls(np.full(dim, radius), radius)

    @property
    def dim(self) -> int:
        return len(self.half)

    @property
    def diameter(self) -> float:
        return 2.0 * self.radius

    @cached_property
    def l1_radius(self) -> float:
        """Largest l1 norm of a point: the sum of half-widths; of min(half-width, t) where a ball cuts the corners.

        The level t is where the norm of min(half-width, t) is the radius: short axes are full, the others are equal.
        """
        half = np.sort(self.half)
        if self.radius >= np.linalg.norm(half):
            return float(half.sum())
        filled = np.r_[0.0, np.cumsum(half**2)[:-1]]
        free = np.arange(self.dim, 0, -1)
        level = np.sqrt(np.maximum(self.radius**2 - filled, 0.0) / free)
        full = int(np.argmax(level <= half))
        return float(half[:full].sum() + free[full] * level[full])

    def unfolded(self, points: int) -> Region:
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
        clipped: Array = inside * shrink
        return clipped

    @cached_property
    def row_bits(self) -> int:
        """Rows of this region are multiples of 2^-row_bits."""
        return lattice.row_bits(self.radius)

    def rows(self, values: Array) -> Array:
        """``values`` (n, d) moved into the region and onto the lattice of rows: what a room holds, each by itself."""
        bits = self.row_bits
        inside = lattice.inward(np.clip(values, -self.half, self.half), bits)
        if self.radius >= np.linalg.norm(self.half):
            return inside
        # Exact on the lattice, so that a row's neighbours in memory have no say in what it becomes.
        squared = np.einsum("nd,nd->n", inside, inside)
        far = np.flatnonzero(squared > (self.radius * lattice.SHRINK) ** 2)
        shorter = inside[far] * (self.radius * lattice.SHRINK / np.sqrt(squared[far]))[:, None]
        inside[far] = lattice.inward(shorter, bits)
        return inside


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
    """

    columns: tuple[str, ...]
    lower: Array
    upper: Array
    radius: float | None = None
    scaling: Scaling = Scaling.UNIT
    units: tuple[str, ...] = ()

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

        Raises
        ------
        RequestError
            If a bound is missing, not finite, or not below its partner, the radius is not positive, or a width is
            beyond what arithmetic can square.
        """
        names = tuple(str(name) for name in columns)
        check.at_least(1, number_of_columns=len(names))
        check.one_of(tuple(scale.value for scale in Scaling), scaling=scaling)
        low, high = (_per_column(bound, names, which) for bound, which in ((lower, "lower"), (upper, "upper")))
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
        domain._refuse_lost_parts()
        return domain

    def _refuse_lost_parts(self) -> None:
        for name, half in zip(self.columns, self.region.half, strict=True):
            if half < _NARROWEST_PART:
                raise check.RequestError(
                    f"Column {name!r} is {half:.2g} times as wide as the widest one: choose unit scaling, or give the "
                    "columns in units of like size."
                )
        if self.region.radius < _SMALLEST_RADIUS:
            raise check.RequestError(
                f"radius is {self.radius:g}, {self.region.radius:.2g} of the half-width of the bounds: give a "
                "larger radius, or narrower bounds."
            )

    @property
    def dim(self) -> int:
        return len(self.columns)

    @cached_property
    def titles(self) -> tuple[str, ...]:
        """The columns with their units, as axes are called: ``income (k$)``."""
        units = self.units or ("",) * self.dim
        return tuple(f"{name} ({unit})" if unit else name for name, unit in zip(self.columns, units, strict=True))

    @cached_property
    def center(self) -> Array:
        """Middle of the bounds, data units, shape (d,)."""
        middle: Array = self.lower + (self.upper - self.lower) / 2
        return middle

    @cached_property
    def scale(self) -> Array:
        """Data units per unit coordinate, shape (d,)."""
        half: Array = (self.upper - self.lower) / 2
        return half if self.scaling is Scaling.UNIT else np.full(self.dim, half.max())

    @cached_property
    def region(self) -> Region:
        """The domain in unit coordinates."""
        half: Array = (self.upper - self.lower) / 2 / self.scale
        corner = float(np.linalg.norm(half))
        if self.radius is None:
            return Region(half, corner)
        in_data_units = self.scaling is Scaling.COMMON
        radius = self.radius / float(self.scale[0]) if in_data_units else self.radius
        return Region(half, min(radius, corner))

    def unfolded(self, points: int) -> Domain:
        """The domain of each of ``points`` points that a row holds: its columns are theirs, one point after the other.

        Raises
        ------
        RequestError
            If the columns cannot be shared out evenly, or the points have different bounds.
        """
        if points == 1:
            return self
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
        names = tuple(_shared_name(self.columns[axis::dim]) for axis in range(dim))
        distinct = len({*names}) == dim and all(names)
        return Domain(
            names if distinct else self.columns[:dim],
            self.lower[:dim],
            self.upper[:dim],
            self.radius,
            self.scaling,
            self.units[:dim],
        )

    def to_unit(self, values: Array) -> Array:
        """Data units to unit coordinates, shape (..., d); nothing is clipped."""
        scaled: Array = (values - self.center) / self.scale
        return scaled

    def from_unit(self, points: Array) -> Array:
        """Unit coordinates to data units, shape (..., d)."""
        values: Array = points * self.scale + self.center
        return values


def _shared_name(names: Sequence[str]) -> str:
    """What the names of one coordinate of several points have in common.

    >>> _shared_name(["home1_east", "home2_east"]), _shared_name(["x_1", "x_2"])
    ('home_east', 'x')
    """
    start = _shared_start(names)
    end = _shared_start([name[len(start) :][::-1] for name in names])[::-1]
    return (start + end).strip(" _-.")


def _shared_start(names: Sequence[str]) -> str:
    same = (len({*letters}) == 1 for letters in zip(*names, strict=False))
    return names[0][: sum(takewhile(bool, same))]


def _per_column(bound: npt.ArrayLike, names: tuple[str, ...], which: str) -> Array:
    values = np.asarray(bound, dtype=np.float64)
    if values.ndim == 0:
        values = np.full(len(names), float(values))
    if values.shape != (len(names),):
        raise check.RequestError(
            f"{which} has shape {values.shape}: give one number, or one for each of the {len(names)} columns."
        )
    return values.copy()
