"""Pictures of released values as plain SVG, in the colours of the page around them, without script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dpviz.core import Array
from dpviz.releases.playing import Played
from dpviz.releases.promise import format_plain_number
from dpviz.runs import profiles
from dpviz.tables import codings
from dpviz.words import capitalize_first, format_things, render, shorten

_WIDTH, _LEFT, _RIGHT = 420.0, 104.0, 14.0
_DOT, _LANE, _AIR, _LANES = 7.0, 15.0, 15.0, 3
# Columns beyond these would be lines that nobody tells apart.
_MOST_COLUMNS, _MOST_SEGMENTS = 10, 24
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


class Bar(NamedTuple):
    """The size of a segment: its dot, its length, both ends of its noise, where words begin, and these."""

    dot: Dot
    length: float
    noise: tuple[float, float] | None
    end: float
    told: str


def draw_places(played: Played) -> CardPicture:
    """Where the released centres lie: on a map where they have two coordinates, of two columns; else on lanes."""
    return draw_map(played) if has_map(played) else draw_centers(played)


def has_map(played: Played) -> bool:
    """Whether two columns with a coordinate each were clustered."""
    return played.profile.dim == len(played.run.domain.names) == 2


def draw_centers(played: Played) -> CardPicture:
    """Where the released centres lie between the bounds of each column: a line a column, a number a segment."""
    made, height, strips = played.profile, 4.0, []
    columns = made.columns[:_MOST_COLUMNS]
    even = made.even
    for column, within, values, reach in zip(columns, even.columns, even.centers.T, even.reach.T, strict=False):
        strips.append(_place_strip(column, within, values, reach, height))
        height = strips[-1].base + 16
    rest = made.dim - len(columns)
    left_out = f", {format_things(rest, 'column')} left out" if rest else ""
    lowest, highest = made.centers.argmin(axis=0).tolist(), made.centers.argmax(axis=0).tolist()
    ends = "; ".join(
        f"{column.name} from {made.format_center(lowest[at], at)} to {made.format_center(highest[at], at)}"
        for at, column in enumerate(columns)
    )
    centers = capitalize_first(format_things(made.k, "released centre"))
    alt = f"{centers} on a line for each of {format_things(len(columns), 'column')}{left_out}: {ends}"
    markup = render(
        "centers.svg.j2", width=_WIDTH, height=height, left=_LEFT, right=_WIDTH - _RIGHT, radius=_DOT, strips=strips
    )
    return CardPicture(f"Where the segments lie{left_out}", alt, markup, height)


def draw_map(played: Played) -> CardPicture:
    """Where the released centres of two columns lie, and which places are nearest to each.

    Distances are those that the clustering saw: one that is twice as long counts twice.
    """
    made, domain = played.profile, played.run.domain
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
    ends = [place(points[shown, None] + side * reach) for side in (-1, 1)]
    noise = np.concatenate(ends, axis=-1).reshape(-1, 4)
    one, other = made.columns
    told = [
        (left, top + high + 12, "end", _format_end(one, one.lower), "start"),
        (left + wide, top + high + 12, "end", f"{_format_end(one, one.upper)} {one.unit}".rstrip(), "end"),
        (left + wide / 2, top + high + 12, "name", shorten(one.name, _NAME), "middle"),
        (left - 4, top + high, "end", _format_end(other, other.lower), "end"),
        (left - 4, top + 8, "end", f"{_format_end(other, other.upper)} {other.unit}".rstrip(), "end"),
        (left - 4, top + high / 2, "name", shorten(other.name, _NAME_ASIDE), "end"),
    ]
    rest = made.k - len(dots)
    left_out = f", {format_things(rest, 'segment')} left out" if rest else ""
    places = "; ".join(
        f"{dot.label} at {made.format_center(dot.label - 1, 0)}, {made.format_center(dot.label - 1, 1)}" for dot in dots
    )
    markup = render(
        "map.svg.j2",
        **{"width": _WIDTH, "height": top + high + 18, "box": (left, top, wide, high), "radius": _DOT},
        **{
            "cells": cells,
            "dots": dots,
            "told": told,
            "noise": [line for line in noise.tolist() if line[:2] != line[2:]],
        },
    )
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
    left, room = 26.0, _WIDTH - 26.0 - 92.0
    longest = max(max(size + noise for size, noise in zip(sizes, reaches, strict=True)), 1.0)
    bars = []
    for place, (size, noise) in enumerate(zip(sizes, reaches, strict=True)):
        end = left + room * max(size, 0.0) / longest
        low, high = (left + room * max(size + side * noise, 0.0) / longest for side in (-1, 1))
        dot = Dot(place + 1, 9.0, 12.0 + 19.0 * place)
        around = (low, high) if noise else None
        bars.append(Bar(dot, max(end - left, 0.5), around, max(end, high), made.sizes.words[place]))
    rest = made.k - len(sizes)
    left_out = f", {format_things(rest, 'segment')} left out" if rest else ""
    told = enumerate(made.sizes.words[:_MOST_SEGMENTS], 1)
    alt = "Released sizes: " + ", ".join(f"segment {place} {words}" for place, words in told)
    height = 12.0 + 19.0 * len(sizes)
    markup = render("sizes.svg.j2", width=_WIDTH, height=height, left=left, radius=_DOT, bars=bars)
    return CardPicture(f"How many they are{left_out}", alt, markup, height)


def _format_end(column: profiles.ProfileColumn, bound: float) -> str:
    plain = column.declared == codings.NUMBER and abs(bound) < _IN_FULL
    return format_plain_number(bound) if plain else column.format_value(bound)
