"""What the tables of a card say: centres, segments, bounds, ledger, account. Templates make markup of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from math import ceil, log10
from typing import NamedTuple

from dpviz.releases.card_facts import CardFacts, Charges, group_charges
from dpviz.releases.promise import describe_sizes, describe_smallest, format_small, format_span
from dpviz.releases.segment_words import ColumnTold, SegmentTold, WrittenInterval, describe_segments
from dpviz.tables import declarations
from dpviz.words import format_number, format_percent, format_things

# What a sheet holds side by side and below each other; the files beside the card have all.
_MOST_COLUMNS, _MOST_CENTERS = 10, 24
_MOST_BOUNDS = 30


@dataclass(frozen=True)
class Row:
    """One row: its cells, of which the first is its head."""

    cells: Sequence[str]
    kind: str = ""
    tall: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """A table called ``name``; the columns at ``numbers`` stand to the right, and ``notes`` below it."""

    name: str
    heads: Sequence[str]
    rows: Sequence[Row]
    numbers: Sequence[int] = ()
    notes: Sequence[str] = ()


class SegmentCell(NamedTuple):
    """What is told of a column in a segment: a value and what is around it, or shares by category."""

    value: str = ""
    around: str = ""
    ends: tuple[str, ...] = ()
    shares: tuple[tuple[str, str], ...] = ()
    rest: str = ""
    apart: bool = False


class SegmentLine(NamedTuple):
    """A segment: its name, and a cell for each head after the first; None where nothing is told."""

    name: str
    cells: Sequence[SegmentCell | None]


class Segments(NamedTuple):
    """The table of segments."""

    heads: Sequence[str]
    lines: Sequence[SegmentLine]
    notes: Sequence[str]


def make_centers_table(facts: CardFacts) -> Table:
    """Released centres in the units of the data, each coordinate and each size with the sd of its noise."""
    told = facts.told[:_MOST_COLUMNS]
    sized = facts.sizes is not None
    rows = []
    for place in range(min(facts.k, _MOST_CENTERS)):
        cells = [one.words[place] if one.words else _format_center(facts, place, one.place) for one in told]
        if facts.sizes is not None:
            cells.append(
                f"{facts.sizes[place]:,.0f}{_format_sd(None if facts.size_sd is None else facts.size_sd[place])}"
            )
        rows.append(Row([str(place + 1), *cells]))
    if facts.steps is not None:
        grids = facts.steps.T.tolist()
        cells = ["" if one.words else _format_ends(sorted({min(own := grids[one.place]), max(own)})) for one in told]
        rows.append(Row(["rounded to", *cells, *([""] if sized else [])], kind="foot"))
    heads = ["segment", *(_format_head(one.column.name, one.column.unit) for one in told), *(["size"] if sized else [])]
    worded = [place for place, one in enumerate(told, start=1) if one.words]
    numbers = [place for place in range(1, len(heads)) if place not in worded]
    return Table("Released centres", heads, rows, numbers, tuple(_list_centers_notes(facts)))


def _list_centers_notes(facts: CardFacts) -> Iterator[str]:
    """What is left out, what stands behind a ±, and why sizes do not add up to something else."""
    others = len(facts.told) - _MOST_COLUMNS
    left_out = [
        format_things(facts.k - _MOST_CENTERS, "centre") if facts.k > _MOST_CENTERS else "",
        format_things(others, "column") if others > 0 else "",
    ]
    if any(left_out):
        yield f"{' and '.join(filter(None, left_out))} more: see centers.csv."
    noise = "± is one standard deviation of the noise on that number."
    if facts.center_sd is None:
        noise = "The algorithm cannot tell the noise on its centres."
    elif uneven := [one.column.name for one in facts.told[:_MOST_COLUMNS] if one.column.kind != "number"]:
        noise += (
            f" Of {', '.join(uneven)}, on a log or root scale, noise grows with the amount: what lies within one "
            "standard deviation on either side stands in brackets."
        )
    yield " ".join(filter(None, (noise, describe_sizes(facts), describe_smallest(facts))))


def _format_head(name: str, unit: str | None) -> str:
    """A column and its unit, which a name that ends in it has said already.

    >>> _format_head("commute", "km"), _format_head("commute_km", "km"), _format_head("Preis [€]", "€")
    ('commute (km)', 'commute_km', 'Preis [€]')
    """
    *_, last = re.split(r"[\s_()\[\]/,;]+", name.rstrip(")] "))
    return name if not unit or last.casefold() == unit.casefold() else f"{name} ({unit})"


def _format_sd(sd: float | None) -> str:
    """The sd of the noise on a number, two digits, as it stands behind it.

    >>> _format_sd(0.4321).split(), _format_sd(1234.5).split(), _format_sd(None)
    (['±', '0.43'], ['±', '1,200'], '')
    """
    return "" if sd is None else f" ±\xa0{format_number(float(f'{sd:.2g}'))}"


def _format_center(facts: CardFacts, place: int, at: int) -> str:
    """A released coordinate with its noise: the sd of it, or both ends where it is not even."""
    step = None if facts.steps is None else float(facts.steps[place, at])
    digits = max(0, ceil(-log10(step) - 1e-9)) if step else None
    said = _format_value(float(facts.centers[place, at]), digits)
    if facts.center_sd is None:
        return said
    if facts.columns[at].kind == "number":
        return f"{said}{_format_sd(float(facts.center_sd[place, at]))}"
    return f"{said} ({_format_ends([float(end[place, at]) for end in facts.profile.find_ends(1.0)])})"


def _format_ends(ends: Sequence[float]) -> str:
    return " to ".join(map(format_number, ends))


def _format_value(value: float, digits: int | None) -> str:
    return format_number(value) if digits is None else f"{value:,.{digits}f}".replace("-", "−")


def make_segments_table(facts: CardFacts) -> Segments | None:
    """What was released about each segment; None where nothing was."""
    told = describe_segments(facts.segments)[:_MOST_CENTERS]
    if not told:
        return None
    names = list(dict.fromkeys(column.name for one in told for column in one.columns))
    units = {column.name: column.unit for column in facts.named}
    units |= {column.name: column.unit for one in told for column in one.columns if column.unit or column.dated}
    shown, rest = names[:_MOST_COLUMNS], len(names) - _MOST_COLUMNS
    return Segments(
        ["segment", "size", *(_format_head(name, units.get(name)) for name in shown)],
        [_make_line(one, shown) for one in told],
        [f"{format_things(rest, 'column')} more: see segments.csv."] if rest > 0 else [],
    )


def _make_line(one: SegmentTold, shown: Sequence[str]) -> SegmentLine:
    about = {column.name: column for column in one.columns}
    cells = [_make_cell(about[name]) if name in about else None for name in shown]
    return SegmentLine(f"{one.number} {one.name}".strip(), [_make_size(one.size), *cells])


def _make_cell(told: ColumnTold) -> SegmentCell:
    if told.median is None:
        shares = tuple((category, share.describe(share=True)) for category, share in told.largest)
        many = format_things(told.left_out, "category", "categories")
        rest = f"{many} more: see segments.csv" if told.left_out else ""
        return SegmentCell(shares=shares, rest=rest, apart=told.tells_apart)
    if told.median.range_only:
        return SegmentCell(around=told.median.describe(), apart=told.tells_apart)
    return SegmentCell(told.median.written, told.median.around, tuple(told.half), apart=told.tells_apart)


def _make_size(size: WrittenInterval | None) -> SegmentCell | None:
    if size is None:
        return None
    value, low, high, *_ = size
    return SegmentCell(f"{value:,.0f}", "" if low is None or high is None else f"({low:,.0f}–{high:,.0f})")


def make_bounds_table(facts: CardFacts) -> Table:
    """Every declared column, its bounds or categories, and where these come from: an origin beside all of its rows."""
    rows = []
    for origin, same in groupby(facts.named[:_MOST_BOUNDS], key=lambda column: column.origin):
        alike = list(same)
        for place, column in enumerate(alike):
            name = f"{column.name} *" if column in facts.others else column.name
            said, tall = ([], {}) if place else ([origin], {2: len(alike)} if len(alike) > 1 else {})
            rows.append(
                Row([name, format_span(column), *said], "warn" if declarations.FROM_ROWS in origin else "", tall)
            )
    rest, notes = len(facts.named) - _MOST_BOUNDS, list[str]()
    if facts.others:
        notes.append("* described in segments, not used to find them.")
    if rest > 0:
        notes.append(f"{format_things(rest, 'column')} more: see declaration.json.")
    return Table("Bounds and their origin", ["column", "bounds", "who says so"], rows, notes=notes)


def describe_missing(facts: CardFacts) -> str:
    """The released shares of missing cells; "" where none was bought."""
    rest = len(facts.missing) - _MOST_BOUNDS
    more = f"; {format_things(rest, 'column')} more: see segments.csv" if rest > 0 else ""
    return f"{'; '.join(facts.missing[:_MOST_BOUNDS])}{more}"


def make_ledger_table(facts: CardFacts) -> Table:
    """What each part cost, and below it what its noise was drawn for."""
    heads = ["part, and what its noise was drawn for", "noise", "charges", "noise scale", "ε", "δ"]
    return Table("Ledger", heads, list(_list_ledger_rows(facts)), (2, 3, 4, 5))


def _list_ledger_rows(facts: CardFacts) -> Iterator[Row]:
    lines = list(group_charges(facts))
    for part in facts.parts:
        name = (
            f"{part.name} ({format_percent(part.epsilon / facts.epsilon)} of ε)" if len(facts.parts) > 1 else part.name
        )
        own = [line for line in lines if line.part == part.name]
        number_of_charges = f"{sum(len(line.scales) for line in own)}"
        cost = (f"{part.epsilon:.4g}", format_small(part.delta))
        yield Row([name, "", number_of_charges, "", *cost], kind="part")
        yield from map(_make_charge_row, own)
    # What belongs to no part is not left out: a reader would miss it in the sum.
    names = {part.name for part in facts.parts}
    yield from (_make_charge_row(line) for line in lines if line.part not in names)
    whole = [f"{len(facts.entries)}", "", f"{facts.epsilon:.6g}", format_small(facts.delta)]
    yield Row(["the release", "", *whole], kind="part")


def _make_charge_row(line: Charges) -> Row:
    return Row([f"{line.asked}: {line.purpose}", line.mechanism, f"{len(line.scales)}", line.noise, "", ""])


def make_account_table(facts: CardFacts) -> Table | None:
    """The account before and after; None where there is none."""
    account = facts.account
    if account is None:
        return None
    lines = (
        ("before", account.before_epsilon, account.before_delta),
        ("this release", facts.epsilon, facts.delta),
        ("after", account.after_epsilon, account.after_delta),
        ("the most it may hold", account.cap_epsilon, account.cap_delta),
    )
    rows = [Row([name, f"{epsilon:.6g}", format_small(delta)]) for name, epsilon, delta in lines]
    left = max(0.0, account.cap_epsilon - account.after_epsilon)
    note = f"ε = {left:.6g} of it is left for other releases about these people."
    notes = [note] if account.link is None else [note, account.link.words]
    return Table("Account", [f"account “{account.name}”", "ε", "δ"], rows, (1, 2), notes)
