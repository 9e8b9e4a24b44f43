"""Columns as a card names them: as they were declared, and what the released centres say of each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dpviz.releases.promise import format_span
from dpviz.releases.release_parts import Parts
from dpviz.tables import codings


class CardColumn(NamedTuple):
    """One declared column: its bounds in data units, or what its cells can be, and where these come from, in words.

    ``kind`` is the scale on which it is clustered: "number" for an even one, "log" or "root". ``place`` is its first
    coordinate; None of a column that segments alone are told by. ``worded``: centres say shares of categories of it, a
    date or a rank, and no number.
    """

    name: str
    lower: float | None
    upper: float | None
    unit: str = ""
    origin: str = "not stated"
    categories: tuple[str, ...] = ()
    kind: str = "number"
    place: int | None = None
    worded: bool = False

    @property
    def span(self) -> str:
        """The declared bounds with their unit, or the categories."""
        if self.lower is None or self.upper is None:
            return ", ".join(self.categories) or "not stated"
        return format_span(self.lower, self.upper, self.unit, self.kind)


def list_columns(parts: Parts) -> Iterator[CardColumn]:
    """The clustered columns, then those that segments alone are told by."""
    declared, domain, profile = parts.declaration, parts.clustered.run.domain, parts.profile
    coded = {column.name: column for column in domain.declared}
    for name, places in zip(domain.names, domain.places, strict=True):
        # Where the bounds or the values come from, and the weight: both are public.
        weight = declared.weights.get(name)
        origin = declared.describe_origin(name) + ("" if weight is None else f"; weight {weight:g}")
        column, first = coded.get(name), profile.columns[places.start]
        if column is None or column.is_number or isinstance(column.coding, codings.Stretched):
            numbers = (first.lower, first.upper, declared.units.get(name, ""), origin)
            yield CardColumn(name, *numbers, kind=first.kind, place=places.start)
            continue
        unit = declared.units.get(name, "")
        yield CardColumn(name, None, None, unit, origin, column.coding.words, place=places.start, worded=True)
    for name, one in declared.describe.items():
        low, high = one.bounds or (None, None)
        yield CardColumn(name, low, high, declared.units.get(name, ""), "declared", one.categories)
