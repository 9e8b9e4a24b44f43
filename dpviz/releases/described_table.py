"""The table that segments are asked of: rows as the clustering saw them, and beside them the columns that describe.

A clustered column is described by the coordinates that were clustered: its declared values by where a row lies among
their corners or ranks, a cycle by where on its circle. Every other column that the declaration describes becomes one
coordinate more, the code of a public bin, so that a row is still one row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from dpviz.core import Array, Domain, PrivateTable, Relation, Scaling, Shape, convert_to_unit, find_complete, partitions
from dpviz.releases.coded_table import read_columns
from dpviz.releases.coding_rules import CodingRule, EqualBins, code_rows
from dpviz.releases.release_sentences import SENTENCES, make_refusal
from dpviz.runs import LargeTable, OpenTable
from dpviz.tables import Content, Declaration, Described, LoadedTable, codings, refuse_unknown

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
        return (
            inner if self.width == self.domain.dim else partitions.ProjectedCells(inner, self.frame, self.domain.region)
        )


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
    rules = {name: _choose_rule(one) for name, one in declared.describe.items()}
    others = description.columns[-len(rules) :]
    codes = np.stack(
        [rule.codes(cells) for rule, cells in zip(rules.values(), _code_cells(source, opened), strict=True)], 1
    )
    numbers = np.array([_make_bins(column) for column in others])
    values = loaded.encode_columns(declared.columns, declared.coded)
    rows = np.concatenate(
        [convert_to_unit(values, domain), code_rows(codes, numbers, bits=domain.region.row_bits)], axis=1
    )
    if Relation(declared.relation) is Relation.ADD_REMOVE:
        rows[~find_complete(values)] = np.nan
    private = PrivateTable(
        rows,
        description.wide,
        relation=declared.relation,
        n_public=declared.n_public,
        persons=None if declared.id_column is None else loaded.identifiers(declared.id_column),
        rows_per_person=declared.rows_per_person,
    )
    return DescribedTable(private, description)


def make_description(declared: Declaration, domain: Domain) -> Description:
    """What segments of a clustering of ``domain`` are described by: declared, so that no row is needed to say it."""
    clustered = _list_clustered(domain)
    notes: tuple[str, ...] = ()
    if len(domain.names) > MOST_CLUSTERED:
        notes = (SENTENCES.fill("none_described", many=len(domain.names), most=MOST_CLUSTERED),)
        clustered = ()
    others = tuple(
        _make_column(name, one, domain.dim + place, declared.units.get(name, ""))
        for place, (name, one) in enumerate(declared.describe.items())
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


def _make_column(name: str, one: Described, place: int, unit: str) -> SegmentColumn:
    if one.bounds is None:
        return SegmentColumn(name, unit, place, 1.0, labels=codings.Categories(one.categories).labels, may_miss=True)
    return SegmentColumn(name, unit, place, 1.0, *one.bounds, may_miss=True)


def _choose_rule(one: Described) -> CodingRule:
    return codings.Categories(one.categories) if one.bounds is None else EqualBins(*one.bounds, FINEST)


def _make_bins(column: SegmentColumn) -> int:
    """Bins along its coordinate: numbers have as many behind them as there are, and the first of those is "missing".

    So that bins of numbers can be counted two, four, ... together, and missing cells still are a bin of their own.
    """
    return len(column.labels) or 2 * FINEST


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


def _code_cells(source: Content, opened: OpenTable) -> list[Any]:
    """The described columns as they were declared: numbers, or text."""
    declared = opened.declaration
    text = [name for name, one in declared.describe.items() if one.categories]
    numbers = [name for name, one in declared.describe.items() if not one.categories]
    read = read_columns(source, declared, numbers, text)
    refuse_unknown(text, [*map(str, read.frame.columns)])
    known = {name: read.columns([name])[:, 0] for name in numbers}
    return [read.get_cells(name) if one.categories else known[name] for name, one in declared.describe.items()]
