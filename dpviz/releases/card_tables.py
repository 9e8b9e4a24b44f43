"""What the tables of a card say: centres, segments, bounds, ledger, account. Templates make markup of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from dpviz.core import Entry
from dpviz.releases.playing import CardColumn, Played
from dpviz.releases.promise import describe_sizes, describe_smallest, format_small, format_steps
from dpviz.releases.release_parts import Parts
from dpviz.releases.release_terms import TERMS
from dpviz.releases.segments_report import NumbersSaid
from dpviz.tables import declarations
from dpviz.words import PLUS_MINUS_RELEASED, format_number, format_percent, format_things

# What a sheet holds side by side and below each other; the files beside the card have all.
_MOST_COLUMNS, _MOST_CENTERS = 10, 24
_MOST_BOUNDS = 30


@dataclass(frozen=True)
class Charges:
    """Charges of one part with the same mechanism and the same question."""

    part: str
    mechanism: str
    query: str
    notes: tuple[str, ...]
    scales: tuple[float, ...]

    @property
    def purpose(self) -> str:
        """What they were for: the first, and the last of many."""
        first, *others = dict.fromkeys(self.notes)
        if not others:
            return first
        return f"{first} … {others[-1]}" if first.split()[:1] == others[-1].split()[:1] else f"{first}, and others"

    @property
    def asked(self) -> str:
        """The question in plain words, where it has some."""
        return str(TERMS["queries"].get(self.query, {}).get("asked", self.query))

    @property
    def noise(self) -> str:
        """Their noise scale, or the range of it."""
        low, high = format_number(min(self.scales)), format_number(max(self.scales))
        return low if low == high else f"{low} to {high}"


def group_charges(played: Played) -> Iterator[Charges]:
    """The ledger's entries in groups, in the order in which the first of each was charged."""
    alike: dict[tuple[str, str, str], list[Entry]] = {}
    for part, entries in played.parts.entries.items():
        for entry in entries:
            alike.setdefault((part, entry.mechanism, entry.query), []).append(entry)
    for key, charged in alike.items():
        yield Charges(*key, tuple(one.note for one in charged), tuple(one.scale for one in charged))


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


def make_centers_table(played: Played) -> Table:
    """Released centres in the units of the data, each coordinate and each size with its noise."""
    made = played.profile
    told = [one for one in played.columns if one.place is not None][:_MOST_COLUMNS]
    rows = []
    for place in range(min(made.k, _MOST_CENTERS)):
        said = made.describe_center(place)
        sizes = [] if made.sizes is None else [made.sizes.words[place]]
        rows.append(Row([str(place + 1), *(said[one.name] for one in told), *sizes]))
    sized = [] if made.sizes is None else ["size"]
    rows.append(Row(["rounded to", *(_format_steps(played, one) for one in told), *([""] * len(sized))], kind="foot"))
    heads = ["segment", *(_format_head(one.name, one.unit) for one in told), *sized]
    worded = [place for place, one in enumerate(told, start=1) if one.worded]
    numbers = [place for place in range(1, len(heads)) if place not in worded]
    return Table("Released centres", heads, rows, numbers, tuple(_list_centers_notes(played)))


def _list_centers_notes(played: Played) -> Iterator[str]:
    """What is left out, what a ± says, and why sizes do not add up to something else."""
    made, told = played.profile, [one for one in played.columns if one.place is not None]
    others = len(told) - _MOST_COLUMNS
    left_out = [
        format_things(made.k - _MOST_CENTERS, "centre") if made.k > _MOST_CENTERS else "",
        format_things(others, "column") if others > 0 else "",
    ]
    if any(left_out):
        yield f"{' and '.join(filter(None, left_out))} more: see centers.csv."
    noise = PLUS_MINUS_RELEASED
    if not made.noise_known:
        noise = f"How far centres are off the means of their segments cannot be told. {PLUS_MINUS_RELEASED}"
    elif uneven := [one.name for one in told[:_MOST_COLUMNS] if one.kind != "number"]:
        noise += (
            f" Of {', '.join(uneven)}, on a log or root scale, noise grows with the amount: brackets hold both ends."
        )
    yield " ".join(filter(None, (noise, describe_sizes(played), describe_smallest(played))))


def _format_head(name: str, unit: str | None) -> str:
    """A column and its unit, which a name that ends in it has said already.

    >>> _format_head("commute", "km"), _format_head("commute_km", "km"), _format_head("Preis [€]", "€")
    ('commute (km)', 'commute_km', 'Preis [€]')
    """
    *_, last = re.split(r"[\s_()\[\]/,;]+", name.rstrip(")] "))
    return name if not unit or last.casefold() == unit.casefold() else f"{name} ({unit})"


def _format_steps(played: Played, column: CardColumn) -> str:
    """The grid of a column, or the finest and the widest of its coordinates; "" where it says words."""
    steps = played.parts.clustered.rounded.step[:, column.place]
    return "" if column.worded else format_steps(steps.tolist())


def list_segment_heads(played: Played) -> dict[str, str]:
    """The heads of all columns that segments are described by, with their units; a date has none."""
    units = {column.name: column.unit for column in played.columns}
    told = (
        [said for segment in played.report.segments[:_MOST_CENTERS] for said in segment.columns]
        if played.report
        else []
    )
    for said in told:
        if isinstance(said, NumbersSaid) and said.median is not None and said.first_day:
            units[said.column] = ""
        elif said.unit:
            units[said.column] = said.unit
    return {name: _format_head(name, units.get(name)) for name in dict.fromkeys(said.column for said in told)}


def make_bounds_table(played: Played) -> Table:
    """Every declared column, its bounds or categories, and where these come from: an origin beside all of its rows."""
    rows = []
    for origin, same in groupby(played.columns[:_MOST_BOUNDS], key=lambda column: column.origin):
        alike = list(same)
        for place, column in enumerate(alike):
            name = f"{column.name} *" if column.place is None else column.name
            said, tall = ([], {}) if place else ([origin], {2: len(alike)} if len(alike) > 1 else {})
            rows.append(Row([name, column.span, *said], "warn" if declarations.FROM_ROWS in origin else "", tall))
    rest, notes = len(played.columns) - _MOST_BOUNDS, list[str]()
    if any(column.place is None for column in played.columns):
        notes.append("* described in segments, not used to find them.")
    if rest > 0:
        notes.append(f"{format_things(rest, 'column')} more: see declaration.json.")
    return Table("Bounds and their origin", ["column", "bounds", "who says so"], rows, notes=notes)


def describe_missing(parts: Parts) -> str:
    """The released shares of missing cells; "" where none was bought."""
    told = parts.missing_told
    rest = len(told) - _MOST_BOUNDS
    more = f"; {format_things(rest, 'column')} more: see segments.csv" if rest > 0 else ""
    return f"{'; '.join(told[:_MOST_BOUNDS])}{more}"


def make_ledger_table(played: Played) -> Table:
    """What each part cost, and below it what its noise was drawn for."""
    heads = ["part, and what its noise was drawn for", "noise", "charges", "noise scale", "ε", "δ"]
    return Table("Ledger", heads, list(_list_ledger_rows(played)), (2, 3, 4, 5))


def _list_ledger_rows(played: Played) -> Iterator[Row]:
    lines, shares = list(group_charges(played)), played.shares
    for part in shares.values():
        name = f"{part.name} ({format_percent(part.epsilon / played.epsilon)} of ε)" if len(shares) > 1 else part.name
        charges = f"{len(played.parts.entries[part.name])}"
        yield Row([name, "", charges, "", f"{part.epsilon:.4g}", format_small(part.delta)], kind="part")
        for one in lines:
            if one.part == part.name:
                yield Row([f"{one.asked}: {one.purpose}", one.mechanism, f"{len(one.scales)}", one.noise, "", ""])
    charges = f"{len(played.parts.charges)}"
    yield Row(["the release", "", charges, "", f"{played.epsilon:.6g}", format_small(played.delta)], kind="part")


def make_account_table(played: Played) -> Table:
    """The account before and after."""
    account = played.asked.account
    after = account.spent_epsilon + played.epsilon
    lines = (
        ("before", account.spent_epsilon, account.spent_delta),
        ("this release", played.epsilon, played.delta),
        ("after", after, account.spent_delta + played.delta),
        ("the most it may hold", account.cap_epsilon, account.cap_delta),
    )
    rows = [Row([name, f"{epsilon:.6g}", format_small(delta)]) for name, epsilon, delta in lines]
    left = max(0.0, account.cap_epsilon - after)
    notes = [f"ε = {left:.6g} of it is left for other releases about these people.", account.link.words]
    return Table("Account", [f"account “{account.name}”", "ε", "δ"], rows, (1, 2), notes)
