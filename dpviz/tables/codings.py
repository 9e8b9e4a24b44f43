"""How a declared column becomes coordinates, and released coordinates become what the column says.

A coding turns each cell into one number by that cell and the declaration alone: a category into its place in the
declared list, a date into days, a rank into its place. The number then becomes unit coordinates: one, or one for each
category. Nothing here looks at a second cell. ``read_coding`` makes one of what a declaration says of a column.

Before the noise only arithmetic is used that rounds the same on every machine (see ``compute_exact_log``). After it,
anything may be used.

"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property, lru_cache, partial
from itertools import pairwise
from math import atan2, cos, sin, sqrt, tau
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpviz.core import (
    CIRCLE,
    Array,
    CodedColumn,
    Codes,
    Domain,
    RequestError,
    Scaling,
    Shape,
    compute_exact_log,
    lattice,
)
from dpviz.tables.loaded_table import IntakeError, demand, find_moment, find_text, map_cells
from dpviz.words import Key

MOST_BINS = 2**12
"""Bins of one column, that of missing cells included: with more, a code would not survive the lattice of rows."""
MOST_CATEGORIES = 500
"""Declared values of one column."""
OTHER, MISSING_LABEL = "(any other)", "(missing)"
LEAST_WEIGHT, MOST_WEIGHT = 0.1, 4.0

# A library's logarithm or cosine differs in the last bit from machine to machine, and within an array from place to
# place. Sums, products, quotients and square roots do not (IEEE 754): only these come before a rounding.
# A whole number of lattice steps may come out of a cosine a little smaller.
_NUDGE = 1e-6
_DIGITS = re.compile(r"([0-9]{1,4})[-./]([0-9]{1,2})[-./]([0-9]{1,4})(?:[T\s].*)?")
_EIGHT_DIGITS = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})")
_ORDINAL_OF_1970 = date(1970, 1, 1).toordinal()
DATE_ORDERS = {"ymd": (0, 1, 2), "dmy": (2, 1, 0), "mdy": (2, 0, 1)}
"""Where year, month and day stand in a date, by how it is written."""


@lru_cache(maxsize=16)
def make_circle(radius: float) -> Array:
    """Points of the circle of that ``radius``, no longer than it, on the lattice of rows, shape (10,080, 2)."""
    angles = [tau * place / CIRCLE for place in range(CIRCLE)]
    points = np.array([[radius * cos(angle), radius * sin(angle)] for angle in angles])
    steps = np.trunc(points * 2.0**lattice.ROW_BITS + _NUDGE * np.sign(points))
    circle: Array = steps * 2.0**-lattice.ROW_BITS + 0.0
    circle.flags.writeable = False
    return circle


def find_day(cell: Any, written: str) -> float:
    """Days since 1970 of a date, or of a text with one in the order ``written``; NaN for any other cell.

    >>> [find_day(cell, "dmy") for cell in ("2.1.1970", date(1970, 1, 2), "1.13.1970")]
    [1.0, 1.0, nan]
    """
    moment = find_moment(cell)
    if moment is None:
        text = find_text(cell) or ""
        found = _DIGITS.fullmatch(text) or (_EIGHT_DIGITS.fullmatch(text) if written == "ymd" else None)
        if found is None:
            return np.nan
        year, month, day = (int(found[place + 1]) for place in DATE_ORDERS[written])
        try:
            moment = date(year, month, day)
        except ValueError:
            return np.nan
    return float(moment.toordinal() - _ORDINAL_OF_1970) if moment.year >= 1000 else np.nan


USUAL_APART = sqrt(0.5)
"""How far two different categories lie apart, in half-widths of a column of numbers, where no weight is declared."""

# Cycles of whole steps that are told one by one; a stored circle has a whole number of points in each step of them.
_SHORT_CYCLES, _USUAL_BINS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12), 8


@dataclass(frozen=True)
class Coding:
    """A column of numbers between its bounds: the usual one, and the form of all others."""

    textual: ClassVar[bool] = False
    """Whether its cells are read as text."""
    shape: ClassVar[Shape | None] = None
    """The block that its coordinates are, if they are one."""

    @property
    def unit(self) -> str:
        """What its numbers count where the owner does not say."""
        return ""

    @property
    def kind(self) -> str:
        """The scale on which its numbers are even: their own, or "log" or "root"."""
        return "number"

    @property
    def ends(self) -> tuple[float, float] | None:
        """The smallest and largest number of a cell, where the declaration says it; None: the bounds do."""
        return None

    @property
    def values(self) -> tuple[str, ...]:
        """What a cell can be; empty: any number."""
        return ()

    @property
    def bins(self) -> tuple[str, ...]:
        """What cells are counted as: the declared values, or equal parts of a cycle; empty: parts of the bounds."""
        return self.values

    @property
    def words(self) -> tuple[str, ...]:
        """What a cell can be, in words; empty: numbers between the bounds."""
        return self.values

    def to_plain(self, lower: float | None, upper: float | None) -> Any:
        """What ``read_coding`` reads back, as JSON has it, of declared bounds in data units."""
        return [lower, upper]

    def check_bounds(self, name: str, lower: float | None, upper: float | None) -> None:
        """Refuse bounds that it cannot code, data units; None where one is open."""

    def numbers(self, cells: Any) -> Array:
        """The number of each cell (n,); NaN makes its row incomplete."""
        return np.asarray(cells, dtype=np.float64)

    def labels(self, name: str) -> tuple[str, ...]:
        """What its coordinates are called."""
        return (name,)

    def half(self, weight: float | None, part: float) -> float:
        """Half-width of each coordinate, unit coordinates; ``part`` is that of its bounds beside the widest."""
        return (1.0 if weight is None else weight) * part

    def choose_placeholder(self, lower: float, upper: float) -> float:
        """The number, between declared bounds, that stands in for a cell of an incomplete row."""
        return lower + (upper - lower) / 2

    def span(self, lower: float, upper: float) -> tuple[float, float]:
        """Ends of a released coordinate, data units, by the declared bounds."""
        return lower, upper

    def encode(self, values: Array, lower: float, upper: float, half: float) -> Array:
        """Unit coordinates (n, number of labels) of the numbers ``values`` (n,) that the coding made of cells.

        ``lower``, ``upper``: declared bounds, data units; ``half``: half-width of each coordinate, unit coordinates.
        """
        low, high = self.stretch(np.array([lower, upper]))
        middle, scale = low + (high - low) / 2, (high - low) / 2 / half
        coordinates: Array = ((self.stretch(values) - middle) / scale)[:, None]
        return coordinates

    def decode(self, points: Array, lower: float, upper: float, half: float) -> Array:
        """Data units of unit coordinates of the same shape (n, number of labels), made as ``encode`` makes them."""
        low, high = self.stretch(np.array([lower, upper]))
        middle, scale = low + (high - low) / 2, (high - low) / 2 / half
        return self.unstretch(points * scale + middle)

    def read_numbers(self, decoded: Array) -> Array:
        """The numbers (n,) of the cells of rows whose coordinates (n, number of labels) are ``decoded``."""
        return decoded[:, 0]

    def stretch(self, values: Array) -> Array:
        """Numbers on the scale on which the column is clustered."""
        return values

    def unstretch(self, values: Array) -> Array:
        """Back from that scale."""
        return values

    def spread_around(self, values: Array, sd: Array) -> Array:
        """Half of what lies within ``sd`` (k,), on the column's scale, on either side of amounts (k,), their units."""
        return sd

    def find_even_sd(self, values: Array, spread: Array) -> Array:
        """Back from ``spread_around``: the sd on the scale of the column whose ``spread`` around amounts (k,) it is."""
        return spread

    def cells(self, part: Array, lower: float, upper: float, rng: np.random.Generator) -> Any:
        """Made-up cells: ``part`` (n,), 0 to 1, of the way from ``lower`` to ``upper``, both on the stretched scale."""
        return self.unstretch(lower + part * (upper - lower))

    def describe(self, coordinates: Array) -> Any:
        """What released coordinates (number of labels,), data units, say of a cluster."""
        return float(coordinates[0])


NUMBER = Coding()


@dataclass(frozen=True)
class Stretched(Coding):
    """Numbers on a logarithmic scale, or by their signed square roots: for money, whose tail is long.

    A centre is then a geometric mean (of roots: the square of a mean root), and noise a factor.
    """

    scale: str

    @property
    def kind(self) -> str:
        return self.scale

    def to_plain(self, lower: float | None, upper: float | None) -> Any:
        return {"bounds": [lower, upper], "scale": self.scale}

    def check_bounds(self, name: str, lower: float | None, upper: float | None) -> None:
        least = next((end for end in (lower, upper) if end is not None), 1.0)
        if self.scale == "log" and least <= 0:
            where = f"begin at {least:g}" if lower is not None else f"end at {least:g}"
            raise IntakeError.of("log_of_nought", name=name, where=where)

    def stretch(self, values: Array) -> Array:
        if self.scale == "log":
            return compute_exact_log(np.maximum(values, np.finfo(float).tiny))
        return np.sign(values) * np.sqrt(np.abs(values))

    def unstretch(self, values: Array) -> Array:
        return np.exp(values) if self.scale == "log" else np.sign(values) * values * values

    def spread_around(self, values: Array, sd: Array) -> Array:
        middle = self.stretch(values)
        return (self.unstretch(middle + sd) - self.unstretch(middle - sd)) / 2

    def find_even_sd(self, values: Array, spread: Array) -> Array:
        """As of any scale."""
        size = np.maximum(np.abs(values), np.finfo(float).tiny)
        if self.scale == "log":
            return np.arcsinh(spread / size)
        return np.where(spread <= 2 * size, spread / (2 * np.sqrt(size)), np.sqrt(np.abs(spread - size)))


@dataclass(frozen=True)
class _ListedCoding(Coding):
    """Text of declared values; any other cell is missing. Cells are compared as those of an id column."""

    names: tuple[str, ...]
    textual: ClassVar[bool] = True

    def __post_init__(self) -> None:
        demand(self.names, "no_category")
        demand(len(self.names) <= MOST_CATEGORIES, "too_many_categories", many=len(self.names), most=MOST_CATEGORIES)
        written = [*map(find_text, self.names)]
        if empty := [name for name, text in zip(self.names, written, strict=True) if text is None]:
            raise IntakeError.of("category_is_missing", value=empty[0])
        demand(len({*written}) == len(written), "categories_repeat", names=self.names)

    @property
    def values(self) -> tuple[str, ...]:
        """What a cell can be."""
        return self.names

    @property
    def ends(self) -> tuple[float, float]:
        return 0.0, len(self.names) - 1.0

    def codes(self, column: Any) -> Codes:
        """The place of each cell of a column of shape (n,), that of any other text, then that of empty cells."""
        place = {find_text(name): code for code, name in enumerate(self.names)} | {None: len(self.names) + 1}
        return map_cells(column, lambda cell: place.get(find_text(cell), len(self.names)), np.int64)

    def numbers(self, cells: Any) -> Array:
        codes = self.codes(cells)
        return np.where(codes < len(self.names), codes + self.ends[0], np.nan)

    def cells(self, part: Array, lower: float, upper: float, rng: np.random.Generator) -> Any:
        anyhow = rng.random(len(part)) < 0.3  # their value has nothing to do with their cluster
        place = np.where(anyhow, rng.integers(len(self.names), size=len(part)), _find_slices(part, len(self.names)))
        return np.array(self.names, dtype=object)[place]


@dataclass(frozen=True)
class Nominal(_ListedCoding):
    """Declared categories, any other value, and empty cells: corners of a simplex, all equally far apart.

    No cell is refused and no row is dropped for it. The categories are declared, never taken from rows: a category
    that is there only when somebody is would tell of that person.
    """

    shape: ClassVar[Shape | None] = Shape.SIMPLEX

    @property
    def values(self) -> tuple[str, ...]:
        """What a cell can be, as a released share is called."""
        return (*self.names, OTHER, MISSING_LABEL)

    @property
    def ends(self) -> tuple[float, float]:
        return 0.0, len(self.names) + 1.0

    def to_plain(self, lower: float | None, upper: float | None) -> Any:
        return {"categories": list(self.names)}

    @property
    def number(self) -> int:
        """Bins of such a column."""
        return len(self.values)

    def numbers(self, cells: Any) -> Array:
        return self.codes(cells).astype(np.float64)

    def labels(self, name: str) -> tuple[str, ...]:
        return tuple(f"{name} = {value}" for value in self.values)

    def half(self, weight: float | None, part: float) -> float:
        # Stored, not divided: s of the usual distance is 1/2, where √½ / √2 is a little less in floats.
        return 0.5 if weight is None else _round_to_points(weight / sqrt(2))

    def choose_placeholder(self, lower: float, upper: float) -> float:
        return upper  # the empty cell

    def span(self, lower: float, upper: float) -> tuple[float, float]:
        return 0.0, 1.0

    def encode(self, values: Array, lower: float, upper: float, half: float) -> Array:
        corners = np.zeros((len(values), len(self.values)))
        corners[np.arange(len(values)), values.astype(np.int64)] = half
        return corners

    def decode(self, points: Array, lower: float, upper: float, half: float) -> Array:
        return points / half

    def read_numbers(self, decoded: Array) -> Array:
        places: Array = decoded.argmax(axis=1).astype(np.float64)
        return places

    def describe(self, coordinates: Array) -> Any:
        return dict(zip(self.values, coordinates.tolist(), strict=True))


@dataclass(frozen=True)
class Closed(_ListedCoding):
    """Two categories that are all there is, such as yes and no: one coordinate."""

    shape: ClassVar[Shape | None] = Shape.PAIR

    def to_plain(self, lower: float | None, upper: float | None) -> Any:
        return {"categories": list(self.names), "closed": True}

    def labels(self, name: str) -> tuple[str, ...]:
        return (f"{name} = {self.names[1]}",)

    def half(self, weight: float | None, part: float) -> float:
        return _round_to_points((USUAL_APART if weight is None else weight) / 2)

    def describe(self, coordinates: Array) -> Any:
        second = float(coordinates[0])
        return {self.names[0]: 1.0 - second, self.names[1]: second}


@dataclass(frozen=True)
class Ordinal(_ListedCoding):
    """Values in a declared order, as equally spaced ranks."""

    @property
    def ends(self) -> tuple[float, float]:
        return 1.0, float(len(self.names))

    def to_plain(self, lower: float | None, upper: float | None) -> Any:
        return {"order": list(self.names)}

    def cells(self, part: Array, lower: float, upper: float, rng: np.random.Generator) -> Any:
        return np.array(self.names, dtype=object)[_find_slices(part, len(self.names))]

    def describe(self, coordinates: Array) -> Any:
        return self.names[int(np.clip(round(float(coordinates[0])), 1, len(self.names))) - 1]


@dataclass(frozen=True)
class Dates(Coding):
    """Days since the first declared date, which is day 0. ``written`` is the order of day, month and year in a cell."""

    first: date
    last: date
    written: str = "ymd"
    textual: ClassVar[bool] = True

    @property
    def ends(self) -> tuple[float, float]:
        return 0.0, float((self.last - self.first).days)

    @property
    def unit(self) -> str:
        return f"days from {self.first.isoformat()}"

    @property
    def words(self) -> tuple[str, ...]:
        """From the first date to the last one."""
        return (f"{self.first.isoformat()} to {self.last.isoformat()}",)

    def to_plain(self, lower: float | None, upper: float | None) -> Any:
        said: dict[str, Any] = {"dates": [self.first.isoformat(), self.last.isoformat()]}
        return said if self.written == "ymd" else {**said, "written": self.written}

    def numbers(self, cells: Any) -> Array:
        days = map_cells(cells, partial(find_day, written=self.written), np.float64)
        return days - (self.first - date(1970, 1, 1)).days

    def cells(self, part: Array, lower: float, upper: float, rng: np.random.Generator) -> Any:
        days = np.datetime64(self.first) + np.rint(part * (self.last - self.first).days).astype(np.int64)
        if self.written == "ymd":
            return days.astype(str).astype(object)
        written = "%d.%m.%Y" if self.written == "dmy" else "%m/%d/%Y"
        return pd.Series(days.astype("datetime64[s]")).dt.strftime(written).to_numpy(dtype=object)

    def describe(self, coordinates: Array) -> Any:
        return (self.first + timedelta(days=round(float(coordinates[0])))).isoformat()


@dataclass(frozen=True)
class Cycle(Coding):
    """Numbers that come round again after ``period``, such as hours after 24: points of a circle."""

    period: float
    shape: ClassVar[Shape | None] = Shape.CIRCLE

    @property
    def ends(self) -> tuple[float, float]:
        return 0.0, self.period

    def to_plain(self, lower: float | None, upper: float | None) -> Any:
        return {"cycle": self.period}

    @property
    def words(self) -> tuple[str, ...]:
        """How long it takes to come round."""
        return (f"a cycle of {self.period:g}",)

    @property
    def bins(self) -> tuple[str, ...]:
        """Whole steps of a short cycle, such as weekdays and months; else eighths, such as three hours of a day."""
        whole = self.period in _SHORT_CYCLES
        number = int(self.period) if whole else _USUAL_BINS
        ends = [self.period * place / number for place in range(number + 1)]
        return tuple(f"{low:g}" if whole else f"{low:g} to {high:g}" for low, high in pairwise(ends))

    def numbers(self, cells: Any) -> Array:
        values = np.asarray(cells, dtype=np.float64)
        known = np.isfinite(values)
        return np.where(known, np.mod(np.where(known, values, 0.0), self.period), np.nan)

    def labels(self, name: str) -> tuple[str, ...]:
        return f"{name} (cosine)", f"{name} (sine)"

    def half(self, weight: float | None, part: float) -> float:
        return 0.5 if weight is None else _round_to_points(weight / 2)

    def span(self, lower: float, upper: float) -> tuple[float, float]:
        return -1.0, 1.0

    def encode(self, values: Array, lower: float, upper: float, half: float) -> Array:
        return make_circle(half)[np.rint(values / self.period * CIRCLE).astype(np.int64) % CIRCLE]

    def decode(self, points: Array, lower: float, upper: float, half: float) -> Array:
        return points / half

    def read_numbers(self, decoded: Array) -> Array:
        turns: Array = np.arctan2(decoded[:, 1], decoded[:, 0]) / tau
        return (turns % 1.0) * self.period

    def describe(self, coordinates: Array) -> Any:
        across, up = coordinates.tolist()
        return atan2(up, across) % tau / tau * self.period


@dataclass(frozen=True)
class DeclaredColumn(CodedColumn):
    """A column to cluster with its coding."""

    coding: Coding

    @property
    def is_number(self) -> bool:
        """Whether it is a column of plain numbers."""
        return self.coding == NUMBER

    @property
    def labels(self) -> tuple[str, ...]:
        """What its coordinates are called."""
        return self.coding.labels(self.name)

    @property
    def dim(self) -> int:
        """How many coordinates it makes."""
        return len(self.labels)

    @property
    def span(self) -> tuple[float, float]:
        """Ends of each released coordinate, data units."""
        return self.coding.span(self.lower, self.upper)

    @cached_property
    def middle(self) -> Array:
        """What the middle of the region is, data units, shape (dim,)."""
        return np.asarray(self.decode(np.zeros((1, self.dim)))[0])

    @cached_property
    def scale(self) -> Array:
        """Data units of a unit step, shape (dim,); around the middle where the scale is not even."""
        step = 1e-6 if isinstance(self.coding, Stretched) else 1.0
        ends = (self.decode(np.full((1, self.dim), end)) for end in (step, -step))
        return np.asarray(np.subtract(*ends)[0] / (2 * step))

    @cached_property
    def even_scale(self) -> Array:
        """The same on the scale on which the column is clustered, where it is one number: logarithms, roots."""
        if not isinstance(self.coding, Stretched):
            return self.scale
        low, high = self.coding.stretch(np.array([self.lower, self.upper]))
        return np.array([(high - low) / 2 / self.side])

    @property
    def placeholder(self) -> float:
        """The number that stands in for a cell of an incomplete row."""
        return self.coding.choose_placeholder(self.lower, self.upper)

    def encode(self, values: Array) -> Array:
        """Unit coordinates (n, dim) of numbers (n,)."""
        return self.coding.encode(values, self.lower, self.upper, self.side)

    def decode(self, points: Array) -> Array:
        """Data units of unit coordinates (n, dim)."""
        return self.coding.decode(points, self.lower, self.upper, self.side)

    def to_unit_coordinates(self, coordinates: Array) -> Array:
        """Unit coordinates of released ones in data units, both (n, dim)."""
        if isinstance(self.coding, Stretched):
            return self.encode(coordinates[:, 0])
        return (coordinates - self.middle) / self.scale

    def read_numbers(self, points: Array) -> Array:
        """Numbers (n,) of the unit coordinates (n, dim) of rows."""
        return self.coding.read_numbers(self.decode(points))

    def describe(self, coordinates: Array) -> Any:
        """What released coordinates (dim,), data units, say of a cluster."""
        return self.coding.describe(coordinates)


def _find_slices(part: Array, number: int) -> Codes:
    """In which of ``number`` equal slices of 0 to 1 each ``part`` (n,) lies."""
    return np.minimum((part * number).astype(np.int64), number - 1)


def _round_to_points(length: float) -> float:
    """The nearest length on the lattice of released points."""
    return round(length * 2.0**lattice.POINT_BITS) * 2.0**-lattice.POINT_BITS


def make_coded_domain(
    columns: Sequence[str],
    lower: npt.ArrayLike,
    upper: npt.ArrayLike,
    *,
    codings: Mapping[str, Coding],
    weights: Mapping[str, float],
    radius: float | None = None,
    scaling: Scaling | str = Scaling.UNIT,
    units: Mapping[str, str] | None = None,
) -> Domain:
    """As ``Domain.of``, of columns of which some have a coding or weight; bounds (d,) are of the numbers of cells."""
    names = tuple(str(name) for name in columns)
    if not any(name in codings or name in weights for name in names):
        return Domain.of(names, lower, upper, radius=radius, scaling=scaling, units=units)
    plain = Domain.of(names, lower, upper, scaling=scaling, radius=radius)
    numbers = [name not in codings for name in names]
    wide = (plain.upper - plain.lower) / 2
    # One scale for all that are numbers; a category counts in half-widths of the widest of them.
    shared = plain.scaling is Scaling.COMMON and any(numbers)
    parts = np.where(numbers, wide / wide[numbers].max(), 1.0) if shared else np.ones(len(names))
    declared = tuple(
        DeclaredColumn(name, coding := codings.get(name, NUMBER), low, high, coding.half(weights.get(name), part))
        for name, low, high, part in zip(names, plain.lower.tolist(), plain.upper.tolist(), parts.tolist(), strict=True)
    )
    labels = tuple(label for column in declared for label in column.labels)
    if twice := [label for place, label in enumerate(labels) if label in labels[:place]]:
        raise IntakeError.of("two_coordinates", twice=twice[0])
    of_labels = [column for column in declared for _ in column.labels]
    ends = np.array([column.span for column in of_labels]).T
    stated = tuple((units or {}).get(one.name, one.coding.unit) * (one.dim == 1) for one in of_labels)
    domain = Domain(labels, ends[0], ends[1], plain.radius, plain.scaling, stated if any(stated) else (), declared)
    domain.refuse_short_radius()
    return domain


def read_coding(name: str, said: Any) -> tuple[Coding, float | None, float | None]:
    """What a declaration says of a column besides a pair of bounds: its coding, and the ends of its numbers."""
    # Models are slow to import, and most processes read no declaration.
    from dpviz.tables import declaration_document as forms
    from dpviz.words import documents

    form = said
    if not isinstance(form, documents.Document):
        form = documents.read_document(forms.DeclarationDocument, {"bounds": {name: said}}, IntakeError).bounds[name]
    match form:
        case forms.ScaledForm(bounds=(lower, upper), scale=scale):
            scaled = NUMBER if scale == "linear" else Stretched(scale)
            scaled.check_bounds(name, lower, upper)
            return scaled, lower, upper
        case forms.CategoriesForm(categories=names, closed=closed):
            if closed and len(names) != 2:
                raise IntakeError.of("not_two_closed", name=name, many=len(names))
            coding: Coding = _list_values(Closed if closed else Nominal, name, names)
        case forms.OrderForm(order=names):
            coding = _list_values(Ordinal, name, names)
            demand(len(names) >= 2, "order_of_one", name=name)
        case forms.DatesForm(dates=(first, last), written=written):
            demand(first < last, "dates_in_order", name=name)
            coding = Dates(first, last, written)
        case forms.CycleForm(cycle=period):
            coding = Cycle(period)
        case _:
            raise IntakeError.of("unknown_form", name=name)
    return coding, *(coding.ends or (None, None))


def check_ends(name: str, low: float, high: float) -> None:
    """Refuse bounds between which no number lies."""
    if not (math.isfinite(low) and math.isfinite(high) and low < high and math.isfinite(high - low)):
        raise IntakeError.of("bounds_of_column", name=name, low=low, high=high)


def check_weight(name: str, weight: Any) -> float:
    """A weight that is allowed."""
    allowed = isinstance(weight, int | float) and not isinstance(weight, bool)
    demand(allowed and LEAST_WEIGHT <= weight <= MOST_WEIGHT, "weight", name=name, least=LEAST_WEIGHT, most=MOST_WEIGHT)
    return float(weight)


def _list_values(kind: type[_ListedCoding], name: str, names: tuple[str, ...]) -> Coding:
    """The coding of declared values, each of which a file can hold, and each once."""
    if taken := [one for one in names if one in (OTHER, MISSING_LABEL)]:
        raise IntakeError.of("reserved_value", name=name, value=taken[0])
    try:
        return kind(names)
    except RequestError as error:
        raise IntakeError.of("of_column", name=name, error=error) from None


MOST_DESCRIBED = 100
"""Columns that are described and not clustered: each takes an equal part of what segments cost."""
DESCRIBED_EXAMPLE = {"region": {"categories": ["North", "South"]}, "height": {"bounds": [0, 2.5]}}


class Described(NamedTuple):
    """One column that segments are described by: its categories, or else its bounds in data units."""

    categories: Annotated[tuple[str, ...], Key("its values", "a list of texts", shown=["N", "S"])] = ()
    bounds: Annotated[tuple[float, float] | None, Key("smallest and largest number", shown=[0, 2.5])] = None

    def check(self, name: str) -> None:
        """Refuse what is not allowed."""
        if bool(self.categories) == (self.bounds is not None):
            raise IntakeError.of("described_how", name=name, example=json.dumps(DESCRIBED_EXAMPLE))
        if self.bounds is None:
            _list_values(Nominal, name, self.categories)
        else:
            check_ends(name, *self.bounds)
