"""Which plane of the domain is shown: two columns, a projection that no row had a say in, or one through releases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from dpviz.core import Array, CodedColumn, Domain, Region, Scaling, Shape, check
from dpviz.tables import codings
from dpviz.words import format_number, join_clauses

# Every pair of columns is offered up to this many columns; beyond, neighbours and the projection.
ALL_PAIRS_UP_TO = 8
# 1-D tables are drawn on a line; other kinds of marks get lanes above and below it.
# Letters of both ends of a long name beside an axis: what there is room for on a telephone.
_END = 20
LANES = {"rows": -0.6, "centers": 0.0, "previous": -0.3, "reference": 0.5}

Range = tuple[float, float]


class PlaneChoice(NamedTuple):
    """An entry of the select box of planes; the last two fields are the arguments of ``make_view``."""

    label: str
    axes: tuple[int, ...] | None
    projection_seed: int | None


@dataclass(frozen=True, eq=False)
class View:
    """A plane to draw in. Depends on the public domain, or on released centres, so axes never move while a run unfolds.

    ``axes``: the one or two columns drawn, in data units; None draws the projection; ``projection`` (2, d),
    orthonormal rows from a public seed, or along released centres; drawn in unit coordinates; ``space``: A
    projected space of an algorithm (points have as many coordinates as it has axes), drawn in unit coordinates;
    None is the domain itself.
    """

    domain: Domain
    axes: tuple[int, ...] | None = (0, 1)
    projection: Array | None = None
    space: Region | None = None
    space_axes: tuple[str, ...] = ()
    window: tuple[Range, Range] | None = None

    @property
    def flat(self) -> bool:
        """Whether there is one axis only: everything is drawn along a line."""
        return self.axes is not None and len(self.axes) == 1

    @property
    def whole(self) -> bool:
        """Whether the plane shows every axis, so that nearness on the picture is nearness."""
        return self.axes is not None and len(self.axes) == self.region.dim

    @property
    def region(self) -> Region:
        """Where points live, unit coordinates."""
        return self.domain.region if self.space is None else self.space

    @property
    def in_data_units(self) -> bool:
        return self.axes is not None and self.space is None

    def plane(self, points_unit: Array, lane: str = "centers") -> Array:
        """Where ``points_unit`` (m, d) are drawn, shape (m, 2): data units for columns, unit coordinates otherwise.

        ``lane`` says at which height marks of a 1-D table stand; it means nothing in two dimensions.
        """
        if self.projection is not None:
            return points_unit @ self.projection.T
        axes = self._shown_axes
        values = points_unit if self.space is not None else self.to_axis_units(points_unit)
        if self.flat:
            return np.column_stack([values[:, axes[0]], np.full(len(values), LANES[lane])])
        return values[:, list(axes)]

    def to_axis_units(self, points_unit: Array) -> Array:
        """Coordinates (m, d) as axes count them: data units, but of a log or root scale unit coordinates."""
        if not self._uneven:
            return self.domain.from_unit(points_unit)
        scale, middle = self.domain.scale.copy(), self.domain.center.copy()
        scale[list(self._uneven)], middle[list(self._uneven)] = 1.0, 0.0
        return points_unit * scale + middle

    @cached_property
    def _uneven(self) -> dict[int, CodedColumn]:
        """Coordinates on a log or root scale: an even axis of amounts would not show where they are clustered."""
        declared = zip(self.domain.declared, self.domain.places, strict=False)
        return {place.start: column for column, place in declared if isinstance(column.coding, codings.Stretched)}

    @property
    def ticks(self) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """Of each axis, amounts to stand on a log or root scale; nothing for an even one."""
        if not self.in_data_units:
            return {}, {}
        made = [list_ticks(self._uneven[axis]) if axis in self._uneven else {} for axis in self._shown_axes]
        return made[0], made[1] if len(made) > 1 else {}

    @cached_property
    def scale(self) -> Array:
        """Drawn units per unit coordinate along both axes, shape (2,): a unit circle is an ellipse with these radii."""
        if not self.in_data_units:
            return np.ones(2)
        picked = [1.0 if axis in self._uneven else self.domain.scale[axis] for axis in self._shown_axes]
        return np.resize(np.array(picked), 2)

    @property
    def name(self) -> tuple[str, str]:
        """Titles of both axes."""
        if self.projection is not None:
            what = "direction" if self.window is not None else "random direction"
            return (f"{what} 1 (unit coordinates)", f"{what} 2 (unit coordinates)")
        names = self.domain.titles if self.space is None else self.space_axes or describe_projected_axes(self.space.dim)
        uneven = self._uneven if self.space is None else {}
        labels = [f"{names[j]}, {_find_scale(uneven[j])} scale" if j in uneven else names[j] for j in self._shown_axes]
        return (labels[0], labels[1] if len(labels) > 1 else "")

    @property
    def titles(self) -> tuple[str, ...]:
        """The names of both axes as there is room for them: of a long one its beginning and its end."""
        return tuple(name if len(name) <= 2 * _END else f"{name[:_END]}…{name[-_END:]}" for name in self.name)

    @property
    def about(self) -> str:
        """What is shown of the whole, and a name in full that is cut beside its axis; "" where nothing is left out."""
        named = zip(("across", "up"), self.name, strict=True)
        return join_clauses(self._describe_part(), *(f"{way}: {name}" for way, name in named if len(name) > 2 * _END))

    def _describe_part(self) -> str:
        if self.space is not None:
            return "" if self.whole else f"first two of {self.region.dim} {'' if self.space_axes else 'projected '}axes"
        # A column of categories has several coordinates.
        whole = f"{self.domain.dim} {'columns' if self.domain.dim == self.domain.width else 'coordinates'}"
        if self.window is not None:
            return f"the plane along the released centres, of {whole}"
        if self.projection is not None:
            return f"a random plane through {whole}, chosen without the data"
        return "" if self.whole else f"2 of {whole}"

    @cached_property
    def extent(self) -> tuple[Range, Range]:
        """What is drawn of the public domain, without air around it."""
        if self.window is not None:
            return self.window
        region, slanted = self.region, self.projection
        # In high dimensions a ball's points lie near the middle of every axis: four standard deviations of a uniform
        # point hold them, and depend on the declared radius only.
        typical = 4.0 * region.radius / sqrt(region.dim + 2)
        reach = region.half[list(self._shown_axes)] if slanted is None else np.abs(slanted) @ region.half
        half = np.minimum(reach, min(region.radius, typical)).tolist()
        if not self.in_data_units:
            return ((-half[0], half[0]), (-1.0, 1.0) if self.flat else (-half[1], half[1]))
        axes = list(self._shown_axes)
        middle = self.to_axis_units(np.zeros((1, self.domain.dim)))[0, axes]
        spans = [(float(c - h * s), float(c + h * s)) for c, h, s in zip(middle, half, self.scale, strict=False)]
        # Below 0 there is nothing of coordinates that are shares of a category.
        blocks = self.domain.region.blocks
        simplices = () if blocks is None else blocks.of_shape(Shape.SIMPLEX)
        shares = {axis for block in simplices for axis in range(block.start, block.stop)}
        spans = [(0.0, 1.0) if axis in shares else span for axis, span in zip(axes, spans, strict=True)]
        return (spans[0], spans[1] if len(spans) > 1 else (-1.0, 1.0))

    @cached_property
    def range(self) -> tuple[Range, Range]:
        """Fixed ranges of both axes."""
        return (_add_margin(self.extent[0]), _add_margin(self.extent[1]))

    @property
    def aspect(self) -> float | None:
        """Pixels per drawn unit of y over those of x that keep distances true; None: stretch to fit.

        Columns that were scaled each by its own bounds have no common unit to be true to.
        """
        if self.in_data_units and self.domain.scaling is Scaling.UNIT:
            return None
        wide, high = (np.ptp(span) / s for span, s in zip(self.extent, self.scale, strict=True))
        # A picture more than this many times as wide as high (or the reverse) is stretched rather than true to scale.
        if self.flat or max(wide, high) > 3.0 * min(wide, high):
            return None
        return float(self.scale[0] / self.scale[1])

    def count_beyond(self, points_unit: Array) -> int:
        """How many points lie outside the picture."""
        low, high = np.array(self.range).T
        drawn = self.plane(points_unit)
        return int((((drawn < low) | (drawn > high)).any(axis=1)).sum())

    def boxes(self) -> View:
        """The view for boxes along the axes, which a slanted projection cannot show: its first two columns."""
        if self.projection is None:
            return self
        return replace(self, axes=_find_first_axes(self.region.dim), projection=None, window=None)

    def with_space(self, space: Region, names: tuple[str, ...] = ()) -> View:
        """The view of an algorithm's projected ``space``: its first two axes, which may have ``names``."""
        return View(self.domain, axes=_find_first_axes(space.dim), space=space, space_axes=names)

    @property
    def _shown_axes(self) -> tuple[int, ...]:
        if self.axes is None:
            raise check.RequestError("A projection has no columns: choose a pair of columns.")
        return self.axes


def make_view(domain: Domain, axes: tuple[int, ...] | None = None, projection_seed: int | None = None) -> View:
    """The plane of columns ``axes``, or a random one by a public seed; by default the first of ``list_choices``."""
    if projection_seed is not None and domain.dim > 1:
        gaussian = np.random.default_rng(projection_seed).standard_normal((domain.dim, 2))
        return View(domain, axes=None, projection=np.linalg.qr(gaussian)[0].T)
    axes = axes if axes is not None else _find_first_axes(domain.dim)
    wanted = min(2, domain.dim)
    if len(set(axes)) != wanted or not all(0 <= j < domain.dim for j in axes):
        raise check.RequestError(
            f"axes is {tuple(axes)}: give {wanted} different column number{'s' * (wanted > 1)} below {domain.dim}."
        )
    return View(domain, axes=tuple(axes))


def make_view_along_centers(domain: Domain, centers: Array) -> View | None:
    """The plane in which released centres (k, d), unit coordinates, spread most; None where they do not spread.

    It is computed from what has been released, so that it tells nothing more about a row.
    """
    middle = centers.mean(axis=0)
    gaps = centers - middle
    if domain.dim < 2 or np.abs(gaps).max() <= 1e-9 * domain.region.radius:
        return None
    # Random directions fill up where centres span a line only.
    spare = np.random.default_rng(0).standard_normal((2, domain.dim))
    directions = np.linalg.svd(gaps, full_matrices=False)[2][:2]
    spans = np.linalg.svd(gaps, compute_uv=False)[:2] > 1e-9 * np.abs(gaps).max()
    basis = np.linalg.qr(np.concatenate([directions[spans[: len(directions)]], spare])[:2].T)[0].T
    drawn, at = gaps @ basis.T, middle @ basis.T
    # Room around released centres in the plane along them, as a share of the width of their spread.
    half = (0.5 + 0.25) * float(np.ptp(drawn, axis=0).max())
    place = at + (drawn.max(axis=0) + drawn.min(axis=0)) / 2
    across, up = ((float(x - half), float(x + half)) for x in place)
    return View(domain, axes=None, projection=basis, window=(across, up))


def list_choices(domain: Domain) -> tuple[PlaneChoice, ...]:
    """The planes to choose from: all pairs of up to 8 columns, else neighbours; and a random plane if d > 2."""
    d, names = domain.dim, domain.columns
    if d == 1:
        return (PlaneChoice(names[0], (0,), None),)
    pairs = [(i, j) for i in range(d) for j in range(i + 1, d) if d <= ALL_PAIRS_UP_TO or j == i + 1]
    columns = [PlaneChoice(f"{names[i]} × {names[j]}", (i, j), None) for i, j in pairs]
    slanted = [PlaneChoice("random plane (chosen without the data)", None, 0)] if d > 2 else []
    return tuple(columns + slanted)


def _find_scale(column: CodedColumn) -> str:
    assert isinstance(column.coding, codings.Stretched)
    return column.coding.scale


def list_ticks(column: CodedColumn) -> dict[str, Any]:
    """Round amounts between the bounds of a column on a log or root scale, and where they stand, unit coordinates.

    >>> from dpviz.tables.codings import DeclaredColumn, Stretched
    >>> list_ticks(DeclaredColumn("pay", Stretched("log"), 100.0, 1e6, 1.0))["ticktext"]
    ['100', '1k', '10k', '100k', '1M']
    """
    # Amounts that stand on a log or root scale, at most.
    middles = column.decode(np.linspace(-column.side, column.side, 5)[:, None])[:, 0]
    powers = 10.0 ** np.floor(np.log10(np.maximum(np.abs(middles), 1e-300)))
    steps = powers if _find_scale(column) == "log" else np.rint(middles / powers) * powers
    amounts = np.unique(np.clip(steps, column.lower, column.upper))
    text = [shorten_amount(float(amount)) for amount in amounts]
    return {"tickvals": column.encode(amounts)[:, 0].tolist(), "ticktext": text}


def shorten_amount(value: float, thousands_from: float = 1e3) -> str:
    """A number for narrow places, in thousands ``thousands_from`` there on, or in millions."""
    size, unit = (1e6, "M") if abs(value) >= 1e6 else (1e3, "k") if abs(value) >= thousands_from else (1.0, "")
    return f"{format_number(value / size)}{unit}"


def describe_projected_axes(dim: int) -> tuple[str, ...]:
    """Names of the axes of a projected space."""
    return tuple(f"projected axis {j + 1}" for j in range(dim))


def _find_first_axes(dim: int) -> tuple[int, ...]:
    return (0,) if dim == 1 else (0, 1)


def _add_margin(span: Range) -> Range:
    # Room around the domain, as a share of its width, so that a centre on the wall is not cut in half.
    air = 0.04 * (span[1] - span[0])
    return (span[0] - air, span[1] + air)
