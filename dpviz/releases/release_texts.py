"""Templates of what a release says, filled with what was played: every sentence about it is a filter in them.

The registry (opendp/deployments-registry-data, MIT, as of 2026-07-15) has a schema of its own. What it asks of an
entry, names, types, choices and tiers, is in ``registry_schema.yaml``, for whoever has a card and not that file; tests
hold the two against each other. It renders its texts as Markdown with formulas: names, units and sources come from
outside and are written so that they stay text, and what the owner says is printed as it is.

The page of the card has no script and asks for nothing: its own policy forbids both, whatever a name holds. Each
question of the dossier is answered by the release, follows from it, is answered in the owner's words, or is named as
not answered.

References
----------
NIST SP 800-226 (March 2025, final), Guidelines for evaluating differential privacy guarantees: most questions.
WP29 opinion 05/2014 on anonymisation techniques: singling out, linkability, inference. Dwork, Kohli & Mulligan 2019:
why this ε, and who agreed to it.

What the tables of a card say stands here, too: centres, segments, bounds, ledger, account. Its pictures show released
values as plain SVG, in the colours of the page around them, without script.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache, lru_cache, partial
from itertools import groupby
from math import isfinite
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import yaml

from dpviz.core import Array, Entry, check
from dpviz.releases import promise, segments_report
from dpviz.releases.playing import Played
from dpviz.releases.promise import format_plain_number
from dpviz.releases.release_parts import Parts
from dpviz.releases.release_sentences import TERMS
from dpviz.releases.tallies import WIDE
from dpviz.runs import profiles
from dpviz.tables import codings, declarations
from dpviz.words import (
    DRAWS_SAY,
    FONT,
    PLUS_MINUS_RELEASED,
    capitalize_first,
    choose_palette,
    format_at_most,
    format_number,
    format_things,
    join_clauses,
    make_environment,
    render,
    shorten,
)

if TYPE_CHECKING:
    from jinja2 import Environment


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


def make_card_table(played: Played, wanted: str) -> dict[str, Any]:
    """The table of the card which is called so: its name, heads, rows and notes."""
    told = [one for one in played.columns if one.place is not None]
    alike = [list(same) for _, same in groupby(played.columns[:_MOST_BOUNDS], key=lambda column: column.origin)]
    left = {"centers": played.profile.k - _MOST_CENTERS, "columns": len(told) - _MOST_COLUMNS}
    left["bounds"] = len(played.columns) - _MOST_BOUNDS
    values = {"told": told[:_MOST_COLUMNS], "alike": alike, "left": left}
    return fill_yaml("card_tables.yaml.j2", played, wanted=wanted, most=_MOST_CENTERS, **values)


def format_head(name: str, unit: str | None) -> str:
    """A column and its unit, which a name that ends in it has said already."""
    *_, last = re.split(r"[\s_()\[\]/,;]+", name.rstrip(")] "))
    return name if not unit or last.casefold() == unit.casefold() else f"{name} ({unit})"


def list_segment_heads(played: Played) -> dict[str, str]:
    """The heads of all columns that segments are described by, with their units; a date has none."""
    units = {column.name: column.unit for column in played.columns}
    segments = played.report.segments[:_MOST_CENTERS] if played.report else ()
    told = [said for segment in segments for said in segment.columns]
    for said in told:
        dated = isinstance(said, segments_report.NumbersSaid) and said.first_day
        units[said.column] = "" if dated else said.unit or units.get(said.column, "")
    return {name: format_head(name, units.get(name)) for name in dict.fromkeys(said.column for said in told)}


def describe_missing(parts: Parts) -> str:
    """The released shares of missing cells; "" where none was bought."""
    told = parts.missing_told
    rest = len(told) - _MOST_BOUNDS
    more = f"; {format_things(rest, 'column')} more: see segments.csv" if rest > 0 else ""
    return f"{'; '.join(told[:_MOST_BOUNDS])}{more}"


_WIDTH, _LEFT, _RIGHT = 420.0, 104.0, 14.0
_DOT, _LANE, _AIR, _LANES = 7.0, 15.0, 15.0, 3
# Columns beyond these would be lines that nobody tells apart.
_MOST_DRAWN_COLUMNS, _MOST_SEGMENTS = 10, 24
_NAME, _NAME_ASIDE = 17, 10
# How high a map may be, and of how many segments it still shows who is nearest.
_MAP_HEIGHTS, _MOST_CELLS = (140.0, 300.0), 100
_IN_FULL = 1e9  # smaller bounds are


class CardPicture(NamedTuple):
    """A picture of released values: our own markup, an SVG so high, with words for whoever does not see it."""

    title: str
    alt: str
    markup: str
    height: float


class Dot(NamedTuple):
    """The dot of a segment: its number, its middle, and where on the line its value is; lengths of the picture."""

    label: int
    x: float
    y: float
    at: float = 0.0


class Strip(NamedTuple):
    """The line of a column: how high it lies, its ends in words, the dots on it, and the noise around some of them.

    The noise on a centre is told by its ends and by the height of its dot.
    """

    name: str
    base: float
    lower: str
    upper: str
    dots: tuple[Dot, ...]
    noise: tuple[tuple[float, float, float], ...]


def draw_centers(played: Played) -> CardPicture:
    """Where the released centres lie between the bounds of each column: a line a column, a number a segment."""
    made, height, strips = played.profile, 4.0, []
    columns = made.columns[:_MOST_DRAWN_COLUMNS]
    even = made.even
    for column, within, values, reach in zip(columns, even.columns, even.centers.T, even.reach.T, strict=False):
        strips.append(_place_strip(column, within, values, reach, height))
        height = strips[-1].base + 16
    rest = made.dim - len(columns)
    left_out = f", {made.count_lanes(rest)} left out" if rest else ""
    lowest, highest = made.centers.argmin(axis=0).tolist(), made.centers.argmax(axis=0).tolist()
    ends = "; ".join(
        f"{column.name} from {made.format_center(lowest[at], at)} to {made.format_center(highest[at], at)}"
        for at, column in enumerate(columns)
    )
    centers = capitalize_first(format_things(made.k, "released centre"))
    alt = f"{centers} on a line for each of {made.count_lanes(len(columns))}{left_out}: {ends}"
    markup = render(
        "centers.svg.j2", width=_WIDTH, height=height, left=_LEFT, right=_WIDTH - _RIGHT, radius=_DOT, strips=strips
    )
    return CardPicture(f"Where the segments lie{left_out}", alt, markup, height)


def draw_map(played: Played) -> CardPicture | None:
    """Where the released centres of two columns lie, and which places are nearest to each.

    Distances are those that the clustering saw: one that is twice as long counts twice. None unless two columns with a
    coordinate each were clustered.
    """
    made, domain = played.profile, played.run.domain
    if not made.dim == len(domain.names) == 2:
        return None
    half, points = domain.region.half, played.parts.clustered.unit_centers
    left, top, wide = 64.0, 6.0, _WIDTH - 64.0 - _RIGHT
    high = float(np.clip(wide * half[1] / half[0], *_MAP_HEIGHTS))

    def place(unit: Array) -> Array:
        """Where unit coordinates (..., 2) are drawn."""
        x, y = np.moveaxis(np.clip(unit / half, -1, 1), -1, 0)
        return np.stack([left + wide * (1 + x) / 2, top + high * (1 - y) / 2], axis=-1)

    shown = slice(_MOST_SEGMENTS)
    cells = [place(cell).tolist() for cell in find_cells(played)]
    dots = [Dot(number, *at) for number, at in enumerate(place(points[shown]).tolist(), 1)]
    reach = np.nan_to_num(made.even.reach / made.even.scale)[shown, :, None] * np.eye(2)
    noise = np.concatenate([place(points[shown, None] + side * reach) for side in (-1, 1)], axis=-1).reshape(-1, 4)
    one, other = made.columns
    ends = [(_format_end(one, one.lower), f"{_format_end(one, one.upper)} {one.unit}".rstrip()) for one in made.columns]
    lines = [line for line in noise.tolist() if line[:2] != line[2:]]
    rest = made.k - len(dots)
    left_out = f", {format_things(rest, 'segment')} left out" if rest else ""
    places = "; ".join(
        f"{dot.label} at {made.format_center(dot.label - 1, 0)}, {made.format_center(dot.label - 1, 1)}" for dot in dots
    )
    drawn = {"cells": cells, "dots": dots, "noise": lines, "ends": ends, "box": (left, top, wide, high)}
    names = shorten(one.name, _NAME), shorten(other.name, _NAME_ASIDE)
    markup = render("map.svg.j2", width=_WIDTH, height=top + high + 18, radius=_DOT, names=names, **drawn)
    alt = f"Map of {one.name} and {other.name}{left_out}: {places}"
    return CardPicture(f"Where the segments lie{left_out}", alt, markup, top + high + 18)


def find_cells(played: Played) -> list[Array]:
    """Of each of two columns' segments its part of the region, corners (n, 2) in unit coordinates; none of many."""
    centers, half = played.parts.clustered.unit_centers, played.run.domain.region.half
    return cut_cells(centers, half) if len(centers) <= _MOST_CELLS else []


def cut_cells(centers: Array, half: Array) -> list[Array]:
    """The part of a box ±``half`` nearest to each of ``centers`` (k, 2): corners (n, 2), none where it has none."""
    box = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]) * half
    found = []
    for place, center in enumerate(centers):
        cell = box
        for other in np.delete(centers, place, axis=0):
            if len(cell) and (other != center).any():
                cell = _cut(cell, other - center, (other + center) / 2)
        if len(cell):
            found.append(cell)
    return found


def _cut(cell: Array, normal: Array, point: Array) -> Array:
    """What of a convex ``cell`` (n, 2) is not beyond the line through ``point`` that ``normal`` stands on."""
    away = ((cell - point) * normal).sum(axis=1)
    corners: list[Array] = []
    for (one, here), (two, there) in zip(
        zip(cell, away, strict=True), zip(np.roll(cell, -1, 0), np.roll(away, -1), strict=True), strict=True
    ):
        if here <= 0:
            corners.append(one)
        if here * there < 0:
            corners.append(one + (two - one) * (here / (here - there)))
    return np.array(corners)


def _place_strip(
    column: profiles.ProfileColumn, within: profiles.ProfileColumn, values: Array, reach: Array, top: float
) -> Strip:
    """One line: dots that would cover each other stand above each other.

    Values, the ``reach`` of their noise and the ends ``within`` which they lie are on the scale of the column, where
    noise is even: the line through a dot, where that is longer than the dot.
    """
    wide = _WIDTH - _LEFT - _RIGHT - 2 * _DOT
    low, at, high = (
        _LEFT + _DOT + wide * np.clip((end - within.lower) / (within.upper - within.lower), 0, 1)
        for end in (values - reach, values, values + reach)
    )
    dots = _spread_apart(at.tolist())
    base = top + _LANE * (1 + max(lane for _, _, lane in dots)) + 2
    placed = [(place, x, base - _LANE * (lane + 0.5)) for place, x, lane in dots]
    return Strip(
        shorten(column.name, _NAME),
        base,
        _format_end(column, column.lower),
        f"{_format_end(column, column.upper)} {'' if column.worded else column.unit}".rstrip(),
        tuple(Dot(place + 1, x, y, float(at[place])) for place, x, y in placed),
        # A dot that had to move aside is not where its value is: nor would its noise be.
        tuple(
            (float(low[place]), float(high[place]), y)
            for place, x, y in placed
            if high[place] - low[place] > 2 * _DOT and x == at[place]
        ),
    )


def _spread_apart(at: Sequence[float]) -> list[tuple[int, float, int]]:
    """Where the dots of values ``at`` are drawn, as (place, x, lane): above each other, or a little to the right."""
    last: list[float] = []
    dots = []
    for place in sorted(range(len(at)), key=lambda one: at[one]):
        x = at[place]
        lane = next((i for i, before in enumerate(last) if x - before >= _AIR), len(last))
        if lane == _LANES and min(last) + _AIR <= _WIDTH - _RIGHT:
            lane = last.index(min(last))
            x = last[lane] + _AIR
        last[lane : lane + 1] = [x]
        dots.append((place, x, lane))
    return dots


def draw_sizes(played: Played) -> CardPicture | None:
    """The released sizes with their noise on both sides; None where none were released."""
    made = played.profile
    if made.sizes is None:
        return None
    sizes = made.sizes.rows[:_MOST_SEGMENTS].tolist()
    reaches = np.nan_to_num(made.sizes.reach[:_MOST_SEGMENTS]).tolist()
    longest = max(max(size + noise for size, noise in zip(sizes, reaches, strict=True)), 1.0)
    bars = list(zip(sizes, reaches, made.sizes.words, strict=False))
    rest = made.k - len(sizes)
    left_out = f", {format_things(rest, 'segment')} left out" if rest else ""
    told = enumerate(made.sizes.words[:_MOST_SEGMENTS], 1)
    alt = "Released sizes: " + ", ".join(f"segment {place} {words}" for place, words in told)
    height = 12.0 + 19.0 * len(sizes)
    markup = render("sizes.svg.j2", width=_WIDTH, height=height, longest=longest, radius=_DOT, bars=bars)
    return CardPicture(f"How many they are{left_out}", alt, markup, height)


def _format_end(column: profiles.ProfileColumn, bound: float) -> str:
    plain = column.declared == codings.NUMBER and abs(bound) < _IN_FULL
    return format_plain_number(bound) if plain else column.format_value(bound)


_LONGEST_SLUG = 80


@lru_cache(maxsize=1)  # who writes a release checks its card, too
def make_registry_card(played: Played) -> dict[str, Any]:
    """The entry, of plain values: valid by the registry's schema, every field of its three tiers filled."""
    return fill_yaml("registry_card.yaml.j2", played)


def format_card(played: Played) -> str:
    """The entry as the file ``card.yaml``."""
    return yaml.safe_dump(make_registry_card(played), sort_keys=False, allow_unicode=True, width=110)


def make_slug(name: str) -> str:
    """What the registry makes a stable address of."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:_LONGEST_SLUG].strip("-") or "release"


@dataclass(frozen=True)
class RegistryField:
    """What the registry asks of a field: its kind, the level of detail that it belongs to, and what is allowed."""

    kind: str = "text"
    tier: int = 0
    allowed: tuple[Any, ...] = ()
    fields: Mapping[str, RegistryField] = field(default_factory=dict)
    required: tuple[str, ...] = ()

    @classmethod
    def read(cls, said: Mapping[str, Any]) -> RegistryField:
        """As the file says it."""
        kind, below = said.get("kind", "text"), said.get("fields", {})
        allowed = declarations.SECTORS if kind == "sector" else said.get("one of", ())
        fields = {name: cls.read(one) for name, one in below.items()}
        return cls(kind, said.get("tier", 0), tuple(allowed), fields, tuple(said.get("required", ())))

    def describe_fault(self, value: Any) -> str:
        """What is wrong with ``value``, and what to do; empty where nothing is."""
        said = check.format_value(value)
        if self.kind == "anything" or (self.kind == "number or text" and isinstance(value, str)):
            return ""
        if self.kind == "texts":
            good = isinstance(value, list) and value and all(isinstance(one, str) for one in value)
            return "" if good else f"is {said}: list at least one text"
        if self.kind.startswith("number"):
            if isinstance(value, bool) or not isinstance(value, Real):
                return f"is {said}: write a number"
        elif not isinstance(value, str):
            return f"is {said}: write a text"
        if self.allowed and value not in self.allowed:
            return f"is {said}: choose one of {', '.join(map(str, self.allowed))}"
        return "is no day: write it as YYYY-MM-DD" if self.kind == "day" and not declarations.is_day(value) else ""


@cache
def read_schema() -> RegistryField:
    """An entry of the registry."""
    text = Path(__file__).with_name("registry_schema.yaml").read_text(encoding="utf-8")
    return RegistryField.read(yaml.safe_load(text))


def list_card_errors(card: Any) -> tuple[str, ...]:
    """What the registry would refuse in ``card``, a sentence each that names the field; empty where it is valid."""
    return tuple(_list_errors(read_schema(), card, ""))


def _list_errors(group: RegistryField, value: Any, path: str) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield f"{path or 'The card'} is {check.format_value(value)}: write its fields by their names."
        return
    for name, inner in value.items():
        place = f"{path}.{name}".lstrip(".")
        known = group.fields.get(name)
        if known is None:
            yield f"{place} is no field of the registry: take it out."
        elif known.kind == "group":
            yield from _list_errors(known, inner, place)
        elif wrong := known.describe_fault(inner):
            yield f"{place} {wrong}."
    for name in group.required:
        if name not in value:
            yield f"{f'{path}.{name}'.lstrip('.')} is missing: the registry requires it."


class Who(StrEnum):
    """Who answers a question."""

    RELEASE = "answered by the release"
    FOLLOWS = "follows from the release"
    OWNER = "in words that the owner wrote or accepted"
    NOBODY = "not answered"


class Answer(NamedTuple):
    """A question of an evaluator, who answers it, and the answer."""

    section: str
    question: str
    who: Who
    said: str


def make_dossier(played: Played) -> tuple[Answer, ...]:
    """Every question with its answer, in the order of the page."""
    return tuple(
        Answer(section, question, Who[who.upper()], said)
        for section, answers in fill_yaml("dossier.yaml.j2", played).items()
        for question, who, said in answers
    )


def make_dossier_page(played: Played) -> str:
    """The page ``dossier.html``: light and dark, for a telephone and for paper, without script."""
    answers = make_dossier(played)
    return fill(
        "dossier.html.j2",
        played,
        questions=len(answers),
        open_ended=sum(one.who is Who.NOBODY for one in answers),
        sections=[(name, list(those)) for name, those in groupby(answers, key=lambda one: one.section)],
        kinds={who: {Who.OWNER: "owner", Who.NOBODY: "nobody"}.get(who, "released") for who in Who},
    )


def make_card_page(played: Played) -> str:
    """The page ``card.html``: public and released values, light and dark, for a telephone and for two A4 sheets."""
    return fill("card.html.j2", played)


NOT_AUDITED = "No third party has audited this release or the program that made it."
"""Of every release."""
_MOST_NOISES = 12
# What Markdown and formulas read as markup.
_SIGNS = re.compile(r"[\\`*_\[\]<>$|~#&]")
# What YAML takes for a line's end, or for no text at all, where JSON lets it stand.
_UNSPEAKABLE = re.compile("[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")


def fill(template: str, played: Played, **values: Any) -> str:
    """The text of a template about a release; what is put into markup is escaped."""
    made = _make_environment(markup=template.endswith((".html.j2", ".svg.j2")))
    return made.get_template(template).render(p=played, **values)


def fill_yaml(template: str, played: Played, **values: Any) -> dict[str, Any]:
    """The same of a template that is YAML, as plain values."""
    made: dict[str, Any] = yaml.load(fill(template, played, **values), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return made


@cache
def _make_environment(*, markup: bool) -> Environment:
    made = make_environment(markup=markup)
    made.globals |= {
        **{"NOT_STATED": declarations.NOT_STATED, "NOT_AUDITED": NOT_AUDITED, "WIDE": WIDE},
        **{"ALONE": promise.ALONE, "DRAWS_SAY": DRAWS_SAY, "PLUS_MINUS": PLUS_MINUS_RELEASED, "terms": TERMS},
        **{"FROM_ROWS": declarations.FROM_ROWS, "TOO_SMALL": segments_report.TOO_SMALL, "font": FONT},
        **{"questions": declarations.OWNER_QUESTIONS, "list_said": declarations.list_said, "quote": quote_owner},
        **{"together": promise.describe_together, "certainty": promise.compute_certainty, "widest": describe_widest},
        **{"join_clauses": join_clauses, "plain": escape_markdown, "isfinite": isfinite, "palette": choose_palette},
    }
    made.filters |= {
        **{"facts": describe_facts, "promise": promise.describe_promise, "level": promise.name_level},
        **{"one_in": promise.format_one_in, "at_most": format_at_most},
        **{"odds": promise.format_odds_factor, "steps": promise.format_steps, "paper": promise.format_paper},
        **{"share": segments_report.format_share},
        **{"apart": segments_report.split_median, "half": segments_report.list_half},
        **{"intervals": segments_report.count_intervals, "quality": segments_report.describe_quality},
        **{"heads": list_segment_heads, "missing": describe_missing, "charges": group_charges, "said": select_said},
        **{"table": make_card_table, "head": format_head, "sizes_picture": draw_sizes},
        # A map where centres have two coordinates, of two columns; else lanes.
        "centers_picture": lambda played: draw_map(played) or draw_centers(played),
        **{"sentences": join_sentences, "q": quote, "json": partial(json.dumps, ensure_ascii=False)},
        **{"plain": escape_markdown, "flow": format_flow, "slug": make_slug},
    }
    return made


def quote(value: Any) -> str:
    """A value in YAML, whatever letters it holds."""
    return _UNSPEAKABLE.sub(lambda one: f"\\U{ord(one[0]):08x}", json.dumps(value, ensure_ascii=False))


def format_flow(numbers: Mapping[str, float | None]) -> str:
    """Those numbers that there are, as YAML on one line."""
    told = {name: value for name, value in numbers.items() if value is not None}
    return yaml.safe_dump(told, default_flow_style=True, sort_keys=False)


def join_sentences(parts: Iterable[str]) -> str:
    """Those that say something, each with its stop."""
    return " ".join(one if one.rstrip()[-1:] in ".!?:" else f"{one}." for one in parts if one)


def quote_owner(question: str, *words: str) -> str:
    """The owner's words, with what was asked; "" where nothing is said."""
    told = join_sentences(one.strip() for one in words)
    return f"The owner, asked {question}: {told}" if told else ""


def select_said(words: str | tuple[str, ...]) -> str:
    """Those of the owner's words that say something; "" where none do."""
    return ", ".join(declarations.list_said(*((words,) if isinstance(words, str) else words)))


def escape_markdown(name: str) -> str:
    """``name`` on one line, without the power to format, link or begin a formula."""
    return _SIGNS.sub(r"\\\g<0>", " ".join(name.split()))


@lru_cache(maxsize=2)  # most templates of one release ask for them
def describe_facts(played: Played, write: Callable[[str], str] = str) -> dict[str, Any]:
    """What is promised, to whom, and what is not, by keys; names of columns stand as ``write`` has them."""
    return fill_yaml("promise.yaml.j2", played, write=write)


def describe_widest(made: profiles.Profile) -> str:
    """How far off centres are, column by column, where it is worst."""
    worst = made.even.reach.max(axis=0).tolist()
    told = zip(made.columns[:_MOST_NOISES], worst, strict=False)
    rest = len(worst) - _MOST_NOISES
    more = f"{format_things(rest, 'column')} more: see centers.csv" if rest > 0 else ""
    return join_clauses(", ".join(f"{one.name} {one.describe_reach(reach)}" for one, reach in told), more)
