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
_NAME = 17
_IN_FULL = 1e9  # smaller bounds are


class CardPicture(NamedTuple):
    """A picture of released values: our own markup (SVG or HTML), with words for whoever does not see it."""

    title: str
    alt: str
    markup: str


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
    return CardPicture(f"Where the segments lie{left_out}", alt, markup)


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
    return CardPicture(f"How many they are{left_out}", alt, markup)


def _format_end(column: profiles.ProfileColumn, bound: float) -> str:
    plain = column.declared == codings.NUMBER and abs(bound) < _IN_FULL
    return format_plain_number(bound) if plain else column.format_value(bound)
