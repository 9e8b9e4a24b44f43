"""Released centres as their reader takes them in: each coordinate beside its noise, each segment beside its size.

One value is behind every picture, table and sentence about centres, so that no two of them give another number for one
quantity.

Everything here is post-processing. What noise alone could make is not said: a share below what stands behind a ± reads
"under", and a category is the most frequent one only where it leads by as much.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import exp, isfinite, tau
from typing import Literal, NamedTuple

import numpy as np

from dpviz.algorithms import size_estimates
from dpviz.core import Array, Codes, Domain, Flags
from dpviz.runs.evaluation import match
from dpviz.runs.one_run import Run
from dpviz.runs.verdict import AT_EDGE, Evidence
from dpviz.tables import codings
from dpviz.words import (
    NINE_IN_TEN,
    PLUS_MINUS_RELEASED,
    format_between,
    format_noisy,
    format_number,
    format_percent,
    format_reach,
    format_things,
    format_value,
    list_names,
)

# Shares of one column that a line has room for.
_MOST_SHARES = 3
_LEAST_PART = 0.01


def read_shares(domain: Domain, centers: Array) -> dict[str, dict[str, Array]]:
    """By column with declared values and by value the share (k,) that it has in ``centers`` (k, d), data units."""
    told = [domain.describe(center) for center in centers]
    names = [name for name, said in told[0].items() if isinstance(said, dict)]
    return {name: {value: np.array([one[name][value] for one in told]) for value in told[0][name]} for name in names}


def describe_shares(shares: Mapping[str, float], reach: float, step: float = 0.0) -> str:
    """The largest shares, as far as their noise lets them be told, which is ``reach``; NaN where nobody can tell.

    ``step`` is the grid on which they are released, 0: none.

    >>> describe_shares({"N": 0.853, "S": 0.112, "E": 0.035}, 0.05)
    'N 85.3 %, S 11.2 %, E up to 8.5 %; each ± 5 %'
    >>> describe_shares({"N": 0.5, "S": 0.48, "E": 0.02}, 0.04)
    'N or S: 50 %, 48 %, E up to 6 %; each ± 4 %'
    >>> describe_shares({"N": 0.3, "S": 0.3, "E": 0.4}, 0.6), describe_shares({"F": 0.25, "M": 0.75}, float("nan"))
    ('each up to 100 %', 'M 75 %, F 25 %')
    """
    order = sorted(shares, key=lambda value: -shares[value])
    known = isfinite(reach) and reach > 0
    told = {value: f"{format_value(100 * share, 100 * reach, step=100 * step)} %" for value, share in shares.items()}
    least = max(reach, _LEAST_PART) if known else _LEAST_PART

    def limit(name: str, values: list[str]) -> str:
        """How large the largest of them may be: a share below its noise may lie as far above as its noise reaches."""
        top = max(shares[value] for value in values)
        if not known and top < least:
            return f"{name} under {format_number(100 * least)} %"
        end = 100 * min(top + (reach if known else 0.0), 1.0)
        return f"{name} up to {format_value(end, min(100 * reach, end))} %"

    clear = [value for value in order if shares[value] >= least][:_MOST_SHARES]
    if not clear:
        return limit("each", order)
    rest = order[len(clear) :]
    others = [limit(rest[0] if known and len(rest) == 1 else "others", rest)] if rest else []
    parts = [f"{value} {told[value]}" for value in clear]
    if known and len(clear) > 1 and shares[clear[0]] - shares[clear[1]] < reach:
        parts[:2] = [f"{clear[0]} or {clear[1]}: {told[clear[0]]}", told[clear[1]]]
    noise = f"; each ± {format_reach(100 * reach)} %" if known else ""
    return ", ".join([*parts, *others]) + noise


SURE = size_estimates.CLEAR
"""Standard deviations of noise beyond which a released number is taken to say something."""

RowOrder = Literal["size", "number", "alike"]
ColumnOrder = Literal["most telling", "file"]

# Which mean of the rows of its segment a centre is on an uneven scale.
_MEANS = {"log": "geometric mean", "root": "square of the mean root"}

_LEAST_SD = 1e-12
# Of a cycle, what lies so far out is at an end of a coordinate.
_AT_AN_END = 1 - 1e-9
_HOURS, _MINUTES = 24.0, 60


class ProfileColumn(NamedTuple):
    """A column that centres have a coordinate in: its bounds in data units.

    ``kind`` is the scale on which it is clustered: "number" for an even one, "log" or "root". Where it is a coordinate
    of a declared column that is more than a number, ``source`` is the name of that column, ``declared`` its coding, and
    ``nth`` which of its coordinates this is.
    """

    name: str
    lower: float
    upper: float
    unit: str = ""
    kind: str = "number"
    source: str = ""
    declared: codings.Coding = codings.NUMBER
    nth: int = 0

    @property
    def whole(self) -> str:
        """The name of the declared column."""
        return self.source or self.name

    @property
    def mean(self) -> str:
        """Which mean of the rows of its segment a centre is."""
        return _MEANS.get(self.kind, "mean")

    @property
    def worded(self) -> bool:
        """Whether it says what its number does not show: a date, a rank, with the next one a value of a cycle."""
        begins_cycle = isinstance(self.declared, codings.Cycle) and not self.nth
        return begins_cycle or isinstance(self.declared, codings.Dates | codings.Ordinal)

    @property
    def begins_words(self) -> bool:
        """Whether words say, from this coordinate on, what its declared column is: shares of categories, too."""
        return self.worded or (self.shared and not self.nth)

    @property
    def title(self) -> str:
        """What it is called in a picture: of a cycle between which of its values it goes."""
        if not isinstance(self.declared, codings.Cycle):
            return self.name
        return f"{self.whole}: {self.format_value(self.lower)} to {self.format_value(self.upper)}"

    @property
    def shared(self) -> bool:
        """Whether it is the share of a category."""
        return isinstance(self.declared, codings.Nominal | codings.Closed)

    def format_value(self, value: float) -> str:
        """What a bound or an end of a lane says: a share, a date, a rank, a value of a cycle, or a number in full."""
        if self.shared:
            return format_percent(value)
        if isinstance(self.declared, codings.Cycle):
            away = np.eye(2)[self.nth] * value
            return self.format_turned(self.declared.describe(away)) if abs(value) > _AT_AN_END else ""
        if isinstance(self.declared, codings.Dates | codings.Ordinal):
            return str(self.declared.describe(np.array([value])))
        return format_number(value)

    @property
    def is_time(self) -> bool:
        """Whether it is a time of the day."""
        return isinstance(self.declared, codings.Cycle) and self.declared.period == _HOURS

    def format_turned(self, value: float) -> str:
        """A value of a cycle; of a day, the time so many hours after midnight."""
        if not self.is_time:
            return format_number(value)
        hour, minute = divmod(round(value * _MINUTES), _MINUTES)
        return f"{hour % int(_HOURS):02d}:{minute:02d}"

    def describe_reach(self, reach: float) -> str:
        """How far noise reaches on its scale, within its bounds: in its unit, or on a log scale as a factor."""
        if self.kind == "log":
            factor = exp(reach)
            return f"a factor of {format_number(round(factor, 2)) if factor < 2 else format_reach(factor)}"
        reach = min(reach, self.upper - self.lower) if self.kind == "number" else reach
        if self.shared:
            return f"{format_reach(100 * reach)} %"
        unit = "in roots" if self.kind == "root" else self.unit.partition(" from ")[0]
        return f"{format_reach(reach)} {unit}".rstrip()

    @property
    def coding(self) -> codings.Coding:
        """What makes even numbers of its values."""
        return codings.NUMBER if self.kind == "number" else codings.Stretched(self.kind)


@dataclass(frozen=True, eq=False)
class Profile:
    """Released centres, the noise on each coordinate, and the sizes of their segments.

    ``centers`` (k, d), data units; ``center_sd`` (k, d), how far off each coordinate is, as a standard deviation, data
    units: beside a release the mean of the rows of its segment is what it is off from; NaN where nobody can tell.
    ``drawn_sd`` (k, d) is what the algorithm's own noise adds to it, see ``compute_honest_noise``; None: it is all that
    is told, and ``center_sd`` is the same. On a log or root scale noise is not
    even: it is half of what lies within one standard deviation on either side of the centre, see ``ends``;
    ``scale`` (d,), what one unit coordinate is on the scale of each column: data units; of a log scale natural
    logarithms, so that a unit coordinate is a factor of e to that power, wherever it is; of a root scale roots;
    ``sizes``, rows of each segment, as they are published; ``reference`` (k, d), revealed: the k-means++ centre that
    belongs to each; ``step`` (k, d), data units, the grid on which a release has each coordinate, 0: none.
    """

    columns: tuple[ProfileColumn, ...]
    centers: Array
    center_sd: Array
    scale: Array
    sizes: size_estimates.Sizes | None = None
    reference: Array | None = None
    drawn_sd: Array | None = None
    step: Array | None = None

    def format_center(self, segment: int, place: int, *, noise: bool = False) -> str:
        """What a coordinate says of a segment, to the digit of its ``noise``, which may stand behind it.

        Of a cycle both coordinates say it together. On a log or root scale noise is not even: its ends are told, as
        they are where they are bounds.
        """
        column, value = self.columns[place], float(self.centers[segment, place])
        reach, step = float(self.reach[segment, place]), self._find_step(segment, place)
        if column.shared:
            return f"{(format_noisy if noise else format_value)(100 * value, 100 * reach, step=100 * step)} %"
        low, high = (float(end[segment, place]) for end in self.ends)
        if isinstance(column.declared, codings.Cycle):
            pair = self.centers[segment, self._list_places(place)]
            value, away = column.declared.describe(pair), float(np.linalg.norm(pair))
            if noise and away < reach:
                return "spread over the cycle"
            reach = reach / max(away, _LEAST_SD) / tau * column.declared.period
            said, unit = column.format_turned(value), " h" if column.is_time else ""
        elif isinstance(column.declared, codings.Ordinal):
            said, unit = column.format_value(value), " ranks"
        elif isinstance(column.declared, codings.Dates):
            said, unit = column.format_value(value), " days"
            if noise and (value - reach < column.lower or value + reach > column.upper):
                return f"{said} ({column.format_value(low)} to {column.format_value(high)})"
        elif column.coding == codings.NUMBER or not np.isfinite(reach):
            write = partial(format_noisy, within=(column.lower, column.upper)) if noise else format_value
            return write(value, reach, step=step)
        else:
            told = format_between(low, high, value, step=step)
            return told if noise else told.partition(" (")[0]
        return f"{said} ± {format_reach(reach)}{unit}" if noise and np.isfinite(reach) else said

    def say_center(self, segment: int, place: int) -> str:
        """What the declared column that begins here is in words: a date, a rank, a value of a cycle, or shares."""
        return self._describe(segment, place) if self.columns[place].shared else self.format_center(segment, place)

    def describe_center(self, segment: int, most: int | None = None) -> dict[str, str]:
        """What a centre says, with its noise, of ``most`` declared columns (None: all); of categories their shares."""
        begins = [place for place, column in enumerate(self.columns) if not column.nth]
        return {self.columns[place].whole: self._describe(segment, place) for place in begins[:most]}

    def _describe(self, segment: int, place: int) -> str:
        column = self.columns[place]
        if not column.shared:
            return self.format_center(segment, place, noise=True)
        return describe_shares(*self.read_shares(segment, column.whole))

    def read_shares(self, segment: int, name: str) -> tuple[dict[str, float], float, float]:
        """By value its share of a segment, of a column of categories; what stands behind the ± of each; their grid."""
        places = self.shared[name]
        said = self.columns[places[0]].declared.describe(self.centers[segment, places])
        return said, float(self.reach[segment, places].max()), self._find_step(segment, places[0])

    def _find_step(self, segment: int, place: int) -> float:
        return 0.0 if self.step is None else float(self.step[segment, place])

    @property
    def shared(self) -> dict[str, list[int]]:
        """The columns of categories, with their coordinates."""
        begun = enumerate(self.columns)
        return {one.whole: self._list_places(at) for at, one in begun if one.shared and not one.nth}

    @property
    def share_reach(self) -> dict[str, Array]:
        """What stands behind the ± of each share of a column of categories, (k,) by column; none where nobody knows."""
        told = self.shared.items() if self.noise_known else ()
        return {name: self.reach[:, places].max(axis=1) for name, places in told}

    def _list_places(self, place: int) -> list[int]:
        """The coordinates that the declared column of one of them has."""
        return [at for at, column in enumerate(self.columns) if column.whole == self.columns[place].whole]

    def list_columns(self, *, telling: bool) -> list[str]:
        """Declared columns in which some segment stands out of the noise, or all others; the most telling first."""
        every = [(self.columns[place].whole, bool(self.telling[place])) for place in self.order_columns("most telling")]
        told = list(dict.fromkeys(name for name, tells in every if tells))
        return told if telling else list(dict.fromkeys(name for name, _ in every if name not in told))

    @cached_property
    def even(self) -> Profile:
        """The same with every column on the scale on which it is clustered, where noise and distances are even."""
        if all(column.kind == "number" for column in self.columns):
            return self
        reference = None if self.reference is None else self.stretch(self.reference)
        lower, upper = self.stretch(np.array([self.lower, self.upper])).tolist()
        ends = zip(self.columns, lower, upper, strict=True)
        columns = tuple(ProfileColumn(one.name, low, high, one.unit) for one, low, high in ends)
        find_even = partial(self._convert, "find_even_sd", self.centers)
        sd, drawn = find_even(self.center_sd), None if self.drawn_sd is None else find_even(self.drawn_sd)
        centers = self.stretch(self.centers)
        return replace(self, columns=columns, centers=centers, center_sd=sd, reference=reference, drawn_sd=drawn)

    def spread_noise(self, sd: Array) -> Array:
        """Deviations in data units (k, d), as ``center_sd`` has them, of ``sd`` (k, d) on the scale of each column."""
        return self._convert("spread_around", self.centers, sd)

    @property
    def noise_sd(self) -> Array:
        """What the algorithm's own noise adds to each coordinate, (k, d); NaN where it cannot tell."""
        return self.center_sd if self.drawn_sd is None else self.drawn_sd

    def stretch(self, values: Array) -> Array:
        """Values (..., d) in data units on the scale of each column."""
        return self._convert("stretch", values)

    def unstretch(self, values: Array) -> Array:
        """Back to data units, shape (..., d)."""
        return self._convert("unstretch", values)

    def _convert(self, how: str, *values: Array) -> Array:
        """What that method of each column's coding makes of its ``values`` (..., d)."""
        columns = zip(self.columns, *(np.moveaxis(one, -1, 0) for one in values), strict=True)
        return np.stack([getattr(column.coding, how)(*own) for column, *own in columns], axis=-1)

    @cached_property
    def ends(self) -> tuple[Array, Array]:
        """What noise leaves open of coordinates nine in ten times, within their bounds; data units, (k, d) each."""
        even = self.even
        low, high = (
            np.clip(self.unstretch(even.centers + side * even.reach), self.lower, self.upper) for side in (-1, 1)
        )
        return low, high

    @property
    def reach(self) -> Array:
        """What stands behind a ±, (k, d); on a log or root scale half of what lies between both ``ends``, nearly."""
        return NINE_IN_TEN * self.center_sd

    @property
    def plus_minus(self) -> str:
        """What a document of a release with a ± in it says of it once, and of which mean it is on an uneven scale."""
        said = PLUS_MINUS_RELEASED
        for kind, mean in _MEANS.items():
            if names := [column.name for column in self.columns if column.kind == kind]:
                said += f" The mean of {list_names(names)} ({kind}) is the {mean}."
        return said

    @property
    def k(self) -> int:
        """Segments."""
        return len(self.centers)

    @property
    def dim(self) -> int:
        """Columns."""
        return len(self.columns)

    def count_lanes(self, number: int) -> str:
        """So many columns, or coordinates where a declared column has several, in words."""
        return format_things(number, "column" if len({one.whole for one in self.columns}) == self.dim else "coordinate")

    @property
    def lower(self) -> Array:
        """Declared lower bounds, shape (d,)."""
        return np.array([column.lower for column in self.columns])

    @property
    def upper(self) -> Array:
        """Declared upper bounds, shape (d,)."""
        return np.array([column.upper for column in self.columns])

    @property
    def width(self) -> Array:
        """Widths of the bounds, shape (d,), data units."""
        return self.upper - self.lower

    @property
    def weights(self) -> Array:
        """The part of all rows that each segment holds, shape (k,); equal parts where sizes say nothing."""
        sizes = np.ones(self.k) if self.sizes is None else np.maximum(self.sizes.rows, 0.0)
        return sizes / sizes.sum() if sizes.sum() > 0 else np.full(self.k, 1 / self.k)

    @property
    def overall(self) -> Array:
        """The centre of all rows, as the segments have it, shape (d,), data units; a geometric mean on a log scale."""
        return self.unstretch(self.weights @ self.even.centers)

    @property
    def noise_known(self) -> bool:
        """Whether it can be told how far off centres are."""
        return bool(np.isfinite(self.center_sd).all())

    @property
    def deviations(self) -> Array:
        """Distance of each coordinate from the overall centre, in sd of its own noise, shape (k, d); NaN: not known."""
        return self._away / np.maximum(self.even.center_sd, _LEAST_SD)

    @property
    def parts_away(self) -> Array:
        """Distance of each coordinate from the overall centre, in parts of its bounds, shape (k, d)."""
        return self._away / self.even.width

    @property
    def _away(self) -> Array:
        even = self.even.centers
        return even - self.weights @ even

    @property
    def in_noise(self) -> Flags:
        """Which coordinates are within the noise of the overall centre, shape (k, d); none whose noise is not known."""
        return np.abs(self.deviations) < NINE_IN_TEN

    @property
    def apart(self) -> Array:
        """How far segments lie apart in each column, shape (d,): weighted root mean square, parts of the bounds."""
        return np.sqrt(self.weights @ self.parts_away**2)

    @property
    def telling(self) -> Flags:
        """Columns in which some segment lies beyond its noise from the overall centre, shape (d,)."""
        telling: Flags = np.any(np.abs(self.deviations) > SURE, axis=0)
        return telling

    @property
    def lost(self) -> Flags:
        """Segments whose size may be noise alone, shape (k,); none where sizes are not known."""
        return self.evidence.unclear

    @property
    def on_bound(self) -> Flags:
        """Coordinates that lie on a declared bound, shape (k, d); a share of nobody or of all is none that was cut."""
        even = self.even
        place: Array = (even.centers - even.lower) / even.width
        return (abs(place - 0.5) > 0.5 - AT_EDGE) & [not column.shared for column in self.columns]

    @property
    def gaps(self) -> Array:
        """Distance of each centre to the nearest other one, unit coordinates, shape (k,); infinite for a lone one."""
        return size_estimates.measure_neighbour_gaps(self.even.centers / self.scale)

    @property
    def evidence(self) -> Evidence:
        """What released values say of each centre, for the rules of a verdict. One of nobody may lie anywhere."""
        found = Evidence(self.sizes, None, self.gaps, self.on_bound)
        if not np.isfinite(self.noise_sd).all():
            return found
        moved = np.where(found.unclear, np.inf, np.linalg.norm(self.even.noise_sd / self.scale, axis=1))
        return found._replace(errors=moved)

    @property
    def smallest_group(self) -> float:
        """Rows of the smallest group that this noise can show; NaN where the noise or the sizes are not known, or
        centres lie on each other, so that none is nearer to where it belongs.

        As a verdict asks, over three sds fewer rows its centre has to be nearer to where it belongs than half the way
        to a neighbour: noise of a mean is that of a sum, which is the same for all segments, over the rows.
        """
        if self.sizes is None or not (self.sizes.known and np.isfinite(self.noise_sd).all()):
            return float("nan")
        least = SURE * float(np.max(self.sizes.sd))
        clear = ~self.lost
        if self.k == 1 or not clear.any():
            return least
        kept = np.maximum(self.sizes.rows - SURE * self.sizes.sd, 0.0)  # over these rows the noise of a sum was divided
        sums = np.linalg.norm(self.even.noise_sd / self.scale, axis=1) * kept
        nearer = float(np.median(self.gaps)) / 2
        return least + float(np.median(sums[clear])) / nearer if nearer > 0 else float("nan")

    @property
    def may_be_lost(self) -> list[int]:
        """The numbers, from 1 on, of the segments that a verdict says may be lost, or may be noise alone."""
        return (np.flatnonzero(self.lost | self.evidence.lost) + 1).tolist()

    def find_partners(self, other: Profile) -> Codes:
        """Which centre of another profile (k, d) belongs to each, one to one, shape (k,): the nearest all together."""
        return match(self.even.centers / self.scale, other.even.centers / other.scale)

    def order_columns(self, order: ColumnOrder) -> Codes:
        """Columns in their order, the most telling first or as in the file."""
        return np.arange(self.dim) if order == "file" else np.argsort(-self.apart, kind="stable")

    def order_rows(self, order: RowOrder) -> Codes:
        """Segments in their order: the largest first, by number, or alike ones beside each other."""
        if order == "size" and self.sizes is not None:
            return np.argsort(-self.sizes.rows, kind="stable")
        if order == "alike" and self.k > 1:
            away = self.parts_away * np.sqrt(self.weights)[:, None]
            return np.argsort(away @ np.linalg.svd(away, full_matrices=False)[2][0], kind="stable")
        return np.arange(self.k)


def compute_honest_noise(sd: Array, sizes: size_estimates.Sizes | None, width: Array) -> Array:
    """Standard deviation (k, d) of the noise on centres, with what noisy sizes leave open; on the columns' scale."""
    # ``sd`` (k, d) is of a sum, over a noisy size: it becomes that over the least size that is plausible, three
    # standard deviations below. Where that is nobody, the centre may lie anywhere between its bounds.
    return np.minimum(sd if sizes is None else sizes.widen(sd), width / 2)


def make_profile(
    run: Run, *, centers: Array | None = None, sizes: size_estimates.Sizes | None = None, reference: Array | None = None
) -> Profile:
    """The profile of a finished run.

    Of what is not given ``centers`` (k, d), data units, and ``sizes`` are the run's own; ``reference`` (k, d) are
    revealed centres of k-means++, unit coordinates.
    """
    domain = run.domain
    points = run.centers if centers is None else centers
    k, bare = len(points), make_bare_profile(domain, points)
    if sizes is None and run.noisy_weights is not None:
        off = (np.full(k, np.nan),) if run.sizes is None else run.sizes[1:]
        sizes = size_estimates.Sizes.publish(run.noisy_weights, *off)
    beside = None
    if reference is not None and len(reference) == k:
        beside = domain.from_unit(reference[match(domain.to_unit_coordinates(points), reference)])
    made = replace(bare, sizes=sizes, reference=beside)
    said = run.center_noise_sd
    if said is None or not np.isfinite(said).all():
        return made
    raw = np.broadcast_to(said, (k,))[:, None] * made.scale
    return replace(made, center_sd=made.spread_noise(compute_honest_noise(raw, sizes, made.even.width)))


def make_bare_profile(domain: Domain, centers: Array) -> Profile:
    """The profile of ``centers`` (k, d), data units, of which neither noise nor sizes are known."""
    scale = np.broadcast_to(domain.even_scale, (domain.dim,)).astype(np.float64)
    return Profile(list_profile_columns(domain), centers, np.full(centers.shape, np.nan), scale)


def list_profile_columns(domain: Domain) -> tuple[ProfileColumn, ...]:
    """The columns that centres in this domain have coordinates in."""
    units = domain.units or ("",) * domain.dim
    told = zip(domain.columns, domain.lower.tolist(), domain.upper.tolist(), units, domain.kinds, strict=True)
    columns = tuple(ProfileColumn(*one) for one in told)
    if not domain.declared:
        return columns
    pairs = zip(columns, ((one, nth) for one in domain.declared for nth in range(one.dim)), strict=True)
    return tuple(column._replace(source=one.name, declared=one.coding, nth=nth) for column, (one, nth) in pairs)
