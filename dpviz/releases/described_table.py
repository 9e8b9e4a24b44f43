"""The table that segments are asked of: rows as the clustering saw them, and beside them the columns that describe.

A clustered column is described by the coordinates that were clustered: its declared values by where a row lies among
their corners or ranks, a cycle by where on its circle. Every other column that the declaration describes becomes one
coordinate more, the code of a public bin, so that a row is still one row.

A rule turns each cell into a whole number by looking at that cell alone, so that who else is in the table has no say in
it. A code then becomes a unit coordinate, the middle of its bin, so that it can lie in a row beside others. Where
nobody knows the range of a column, bins are those of magnitudes: wide where numbers are large, so that some hundred of
them hold whatever a column may hold; and because they end at 1, 2 or 5 times a power of ten, bounds that are read off
them need no rounding.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from dpviz.core import (
    Accounting,
    AnySource,
    Array,
    Codes,
    Domain,
    Entry,
    PrivateTable,
    Relation,
    Scaling,
    Shape,
    check,
    convert_to_unit,
    find_complete,
    lattice,
    mechanisms,
    partitions,
    queries,
)
from dpviz.releases.release_sentences import SENTENCES, make_refusal
from dpviz.runs import LargeTable, OpenTable, list_columns
from dpviz.tables import ArrowTable, Content, CsvFile, Declaration, LoadedTable, codings, refuse_unknown

_SMALLEST, _LARGEST = -6, 15
# Parsed, not multiplied: 2e-6 is the float nearest to it.
_ENDS = np.array([float(f"{m}e{power}") for power in range(_SMALLEST, _LARGEST) for m in (1, 2, 5)])


class CodingRule(Protocol):
    """A public rule from one cell to one of ``number`` bins."""

    @property
    def number(self) -> int:
        """Bins in all; codes are 0, 1, ... below it."""
        ...

    def codes(self, column: Any) -> Codes:
        """The bin of each cell of a column of shape (n,)."""
        ...


@dataclass(frozen=True)
class EqualBins:
    """``bins`` equal parts, on the scale of a ``coding``, of the bounds ``lower`` to ``upper``, data units, and a last
    bin for missing cells.

    A number outside the bounds is moved to the nearer one; what is no finite number is missing.
    """

    lower: float
    upper: float
    bins: int
    coding: codings.Coding = codings.NUMBER

    def __post_init__(self) -> None:
        if not (np.isfinite([self.lower, self.upper, self.upper - self.lower]).all() and self.lower < self.upper):
            raise make_refusal("bin_bounds", lower=self.lower, upper=self.upper)
        check.within(1, codings.MOST_BINS - 1, bins=self.bins)

    @property
    def number(self) -> int:
        return self.bins + 1

    @property
    def edges(self) -> Array:
        """Where bins begin and end, data units, shape (bins + 1,); the outer ones exactly."""
        low, high = self.coding.stretch(np.array([self.lower, self.upper]))
        inner = self.coding.unstretch(np.linspace(low, high, self.bins + 1)[1:-1])
        return np.concatenate([[self.lower], inner, [self.upper]])

    def codes(self, column: npt.ArrayLike) -> Codes:
        """The bin of each number of shape (n,)."""
        values = np.asarray(column, dtype=np.float64)
        known = np.isfinite(values)
        low, high = self.coding.stretch(np.array([self.lower, self.upper]))
        within = self.coding.stretch(np.clip(np.where(known, values, self.lower), self.lower, self.upper))
        codes: Codes = np.minimum(((within - low) / (high - low) * self.bins).astype(np.int64), self.bins - 1)
        return np.where(known, codes, self.bins)


class Ends(NamedTuple):
    """Where a range of bins begins and ends, data units."""

    lower: float
    upper: float


@dataclass(frozen=True)
class Magnitudes:
    """Bins (1, 2], (2, 5], (5, 10], ... from a millionth to 5·10^14, mirrored below 0; then one for missing cells.

    The bin in the middle holds what is no larger than a millionth; those at the ends hold all that is larger. A number
    is compared with public constants alone: nothing is rounded, and no other record has a say.
    """

    ends: ClassVar[Array] = _ENDS
    middle: ClassVar[int] = len(_ENDS)
    number: ClassVar[int] = 2 * len(_ENDS) + 2

    def codes(self, column: npt.ArrayLike) -> Codes:
        """The bin of each number of shape (n,)."""
        values = np.asarray(column, dtype=np.float64)
        known = np.isfinite(values)
        values = np.where(known, values, 0.0)
        size = np.searchsorted(self.ends, np.abs(values), side="left").astype(np.int64)
        codes: Codes = self.middle + np.where(values < 0, -size, size)
        return np.where(known, codes, self.number - 1)

    def find_range(self, first: int, last: int) -> Ends:
        """Where bin ``first`` begins and bin ``last`` ends, round numbers, data units; the middle one is 0."""
        # What lies in the bins at the very ends has no end: it is given that of a bin ten times as far.
        beyond = np.r_[self.ends, self.ends[-1] * 10]
        low, high = first - self.middle, last - self.middle
        lower = beyond[low - 1] if low > 0 else -beyond[-low] if low < 0 else 0.0
        upper = beyond[high] if high > 0 else -beyond[-high - 1] if high < 0 else 0.0
        return Ends(float(lower), float(upper))


def code_rows(codes: Codes, numbers: Codes, *, bits: int = lattice.ROW_BITS) -> Array:
    """Unit coordinates (n, q) of codes (n, q) from 0, out of ``numbers`` (q,): the middles of their bins."""
    # Rounded towards 0 to the lattice of rows, 2^-bits; no bin is so narrow that rounding leads out of it.
    check.within(1, min(codings.MOST_BINS, 2 ** (bits - 1)), number_of_bins=int(np.max(numbers, initial=1)))
    return lattice.round_inward((2 * np.asarray(codes) + 1) / np.asarray(numbers) - 1, bits)


@dataclass(frozen=True, eq=False)
class NoisyBins:
    """A released histogram of one column: ``noisy_counts`` (bins,) with Laplace noise of that ``scale``."""

    column: str
    noisy_counts: Array
    scale: float

    @property
    def sd(self) -> float:
        """Standard deviation of the noise on one count."""
        return float(np.sqrt(2) * self.scale)


def spell_out_columns(source: Content, declaration: Declaration) -> Declaration:
    """The declaration with every column that it is about, checked; bounds may be missing."""
    return declaration.validate().over(list_columns(source, declaration)).validate()


def make_coded_table(source: Content, declaration: Declaration, rules: Mapping[str, CodingRule]) -> PrivateTable:
    """A table, unread, of one coordinate for each column that ``rules`` name: the code of its cell, by that rule.

    A rule is given the number that the declaration makes of a cell, such as the place of a category. Every row is in
    it, whatever cells are missing. ``declaration`` is spelled out; its bounds are not used.
    """
    refuse_beyond_memory(source, tuple(rules))
    ids = [] if declaration.id_column is None else [declaration.id_column]
    coded = [name for name in rules if name in declaration.textual]
    # The columns as they stand in the file, and the id column.
    loaded = read_columns(source, declaration, [name for name in rules if name not in coded], ids, coded=coded)
    codings = {name: coding for name, coding in declaration.codings.items() if name in rules}
    columns = loaded.encode_columns(tuple(rules), codings)
    codes = np.stack([rule.codes(column) for rule, column in zip(rules.values(), columns.T, strict=True)], axis=1)
    domain = Domain.of(tuple(rules), -1.0, 1.0, scaling=Scaling.COMMON)
    numbers = np.array([rule.number for rule in rules.values()])
    persons = None if declaration.id_column is None else loaded.identifiers(declaration.id_column)
    return declaration.make_private_table(code_rows(codes, numbers, bits=domain.region.row_bits), domain, persons)


def count_histograms(
    source: Content,
    declaration: Declaration,
    rules: Mapping[str, CodingRule],
    *,
    epsilon: float,
    noise: AnySource,
    note: str,
) -> tuple[tuple[NoisyBins, ...], tuple[Entry, ...]]:
    """A histogram of every column that ``rules`` name, each with ``epsilon``, and what they cost; O(n) each.

    ``note`` holds {}, the name of the column.

    **Guarantee.** ``epsilon`` times the number of columns, pure: a row is in one bin of each column, so that columns
    add up and bins do not.
    """
    session = make_coded_table(source, declaration, rules).open(
        epsilon=epsilon * len(rules), delta=0.0, accounting=Accounting.PURE, noise=noise, needs_n=False
    )
    shares = session.budget.rounds(len(rules))
    found = []
    for place, (column, rule, share) in enumerate(zip(rules, rules.values(), shares, strict=True)):
        along = np.ones(len(rules), dtype=np.int64)
        along[place] = rule.number
        query = queries.Count(partitions.Grid(np.ones(len(rules)), along))
        answer = session.ask(query, mechanisms.Laplace, share, note=note.format(column))
        found.append(NoisyBins(column, answer.value, answer.mechanism.scale))
    return tuple(found), tuple(session.ledger.entries)


def refuse_beyond_memory(source: Content, columns: Sequence[str]) -> None:
    """Only tables of named columns that fit into memory: told before anything is charged."""
    fits = isinstance(source, ArrowTable) and source.fits(len(columns))
    if not fits and not isinstance(source, LoadedTable | CsvFile):
        raise make_refusal("bought_beyond_memory", columns=columns)


def read_columns(
    source: Content, declaration: Declaration, numbers: Sequence[str], text: Sequence[str], *, coded: Sequence[str] = ()
) -> LoadedTable:
    """A table in memory with these columns, as they were declared: of one that is there already, that."""
    if isinstance(source, CsvFile):
        return source.read(declaration.file, numbers=numbers, text=[*text, *coded])
    if isinstance(source, ArrowTable):
        return source.read(numbers, text=text, coded=coded)
    assert isinstance(source, LoadedTable)
    return source


MOST_CLUSTERED = 40
"""Of more clustered columns none is described: there would be nothing left but noise."""
FINEST = 64
"""Bins of a column of numbers, at most: a power of two, so that neighbouring bins can be counted together."""


@dataclass(frozen=True)
class SegmentColumn:
    """A column that segments are described by; public. ``lower``, ``upper``: declared, data units; of numbers only."""

    name: str
    unit: str
    place: int
    half: float
    lower: float = 0.0
    upper: float = 0.0
    labels: tuple[str, ...] = ()
    may_miss: bool = False
    coding: codings.Coding = codings.NUMBER

    @property
    def shape(self) -> Shape | None:
        """The block whose coordinates, from ``place`` on, say its bin; None: one coordinate does."""
        return None if self.coding.shape is Shape.PAIR else self.coding.shape

    @property
    def first_day(self) -> str:
        """The date of day 0, of a column of dates; else ""."""
        return self.coding.first.isoformat() if isinstance(self.coding, codings.Dates) else ""

    @property
    def ends(self) -> tuple[float, float]:
        """Its bounds on the scale on which bins are even."""
        low, high = self.coding.stretch(np.array([self.lower, self.upper])).tolist()
        return low, high


@dataclass(frozen=True, eq=False)
class Description:
    """Public: what segments are described by, and where in a row the clustering's coordinates are.

    ``domain`` is the clustering's, whose d columns are the first d coordinates of a row; ``wide`` is that of all.
    ``notes`` say what is left out, and why.
    """

    domain: Domain
    columns: tuple[SegmentColumn, ...]
    wide: Domain
    notes: tuple[str, ...] = ()

    @property
    def width(self) -> int:
        """Coordinates of a row."""
        return self.wide.dim

    @property
    def frame(self) -> Array:
        """The map (d, width) from a row to the coordinates that were clustered."""
        return np.eye(self.domain.dim, self.width)

    def cells(self, centers: Array) -> partitions.Voronoi | partitions.ProjectedCells:
        """The segments of ``centers`` (k, d), as cells of rows of this width."""
        inner = partitions.Voronoi(centers)
        if self.width == self.domain.dim:
            return inner
        return partitions.ProjectedCells(inner, self.frame, self.domain.region)


@dataclass(frozen=True, eq=False)
class DescribedTable:
    """Private rows that segments are asked of, and what is public about them."""

    private: PrivateTable
    description: Description


def make_described_table(opened: OpenTable, source: Content) -> DescribedTable:
    """The table of ``opened``, which was read from ``source``, with the columns that its declaration describes.

    Rows count as they did for the clustering: one that it drops is dropped, one that misses another column has that
    column's bin for missing cells. Where nothing but clustered columns is described, it is the very table.
    """
    declared, domain = opened.declaration, opened.domain
    description = make_description(declared, domain)
    if not declared.describe:
        return DescribedTable(opened.private, description)
    loaded = opened.loaded
    if isinstance(loaded, LargeTable) or not isinstance(loaded, LoadedTable):
        raise make_refusal("described_beyond_memory", columns=[*declared.describe])
    rules: dict[str, CodingRule] = {
        name: codings.Nominal(one.categories) if one.bounds is None else EqualBins(*one.bounds, FINEST)
        for name, one in declared.describe.items()
    }
    read = zip(rules.values(), _code_cells(source, declared), strict=True)
    codes = np.stack([rule.codes(cells) for rule, cells in read], 1)
    # Numbers have as many bins behind them as there are, of which the first is "missing": theirs can be counted two,
    # four, ... together, and missing cells still are a bin of their own.
    numbers = np.array([len(column.labels) or 2 * FINEST for column in description.columns[-len(rules) :]])
    values = loaded.encode_columns(declared.columns, declared.coded)
    coded = code_rows(codes, numbers, bits=domain.region.row_bits)
    rows = np.concatenate([convert_to_unit(values, domain), coded], axis=1)
    if Relation(declared.relation) is Relation.ADD_REMOVE:
        rows[~find_complete(values)] = np.nan
    persons = None if declared.id_column is None else loaded.identifiers(declared.id_column)
    return DescribedTable(declared.make_private_table(rows, description.wide, persons), description)


def make_description(declared: Declaration, domain: Domain) -> Description:
    """What segments of a clustering of ``domain`` are described by: declared, so that no row is needed to say it."""
    clustered = _list_clustered(domain)
    notes: tuple[str, ...] = ()
    if len(domain.names) > MOST_CLUSTERED:
        notes = (SENTENCES.fill("none_described", many=len(domain.names), most=MOST_CLUSTERED),)
        clustered = ()
    others = tuple(
        SegmentColumn(
            *(name, declared.units.get(name, ""), place, 1.0, *(one.bounds or (0.0, 0.0))),
            labels=codings.Nominal(one.categories).values if one.bounds is None else (),
            may_miss=True,
        )
        for place, (name, one) in enumerate(declared.describe.items(), start=domain.dim)
    )
    wide = _join_tables(domain, [column.name for column in others]) if others else domain
    return Description(domain, (*clustered, *others), wide, notes)


def _list_clustered(domain: Domain) -> tuple[SegmentColumn, ...]:
    units = domain.units or ("",) * domain.dim
    if domain.declared:
        halves = domain.region.half.tolist()
        return tuple(
            SegmentColumn(
                column.name,
                units[place.start],
                place.start,
                halves[place.start],
                *((0.0, 0.0) if column.coding.bins else (column.lower, column.upper)),
                labels=column.coding.bins,
                coding=column.coding,
            )
            for column, place in zip(domain.declared, domain.places, strict=True)
        )
    bounds = zip(domain.columns, units, domain.region.half, domain.lower, domain.upper, strict=True)
    return tuple(
        SegmentColumn(name, unit, place, float(half), float(lower), float(upper))
        for place, (name, unit, half, lower, upper) in enumerate(bounds)
    )


def _join_tables(domain: Domain, names: Sequence[str]) -> Domain:
    """A domain of the clustering's unit coordinates and one coordinate in [-1, 1] for each name."""
    region, more = domain.region, len(names)
    half = np.r_[region.half, np.ones(more)]
    cut = region.radius < float(np.linalg.norm(region.half))
    labels = (*domain.columns, *names)
    # Each coordinate is what it is already: bounds are half-widths, whatever weights make of them.
    columns = tuple(
        codings.DeclaredColumn(name, codings.NUMBER, -side, side, side)
        for name, side in zip(labels, half.tolist(), strict=True)
    )
    radius = sqrt(region.radius**2 + more) if cut else None
    wide = Domain(labels, -half, half, radius, Scaling.UNIT, declared=columns)
    if wide.region.row_bits != region.row_bits:
        raise make_refusal("described_rows", more=more, dim=domain.dim)
    return wide


def _code_cells(source: Content, declared: Declaration) -> list[Any]:
    """The described columns as they were declared: numbers, or text."""
    text = [name for name, one in declared.describe.items() if one.categories]
    numbers = [name for name, one in declared.describe.items() if not one.categories]
    read = read_columns(source, declared, numbers, text)
    refuse_unknown(text, [*map(str, read.frame.columns)])
    known = {name: read.columns([name])[:, 0] for name in numbers}
    return [read.get_cells(name) if one.categories else known[name] for name, one in declared.describe.items()]
