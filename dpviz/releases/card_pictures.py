"""Pictures of released values as plain SVG, in the colours of the page around them, without script."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from dpviz.algorithms.sizes import NINE_IN_TEN
from dpviz.arrays import Array
from dpviz.charts.wording import capitalize_first, format_number, format_things, shorten
from dpviz.releases.card_facts import CardColumn, CardFacts, CardPicture
from dpviz.releases.promise import format_plain_number

_WIDTH, _LEFT, _RIGHT = 420.0, 104.0, 14.0
_DOT, _LANE, _AIR, _LANES = 7.0, 15.0, 15.0, 3
# Columns beyond these would be lines that nobody tells apart.
_MOST_COLUMNS, _MOST_SEGMENTS = 10, 24
_NAME = 17


def draw_centers(facts: CardFacts) -> CardPicture:
    """Where the released centres lie between the bounds of each column: a line a column, a number a segment."""
    columns = facts.clustered[:_MOST_COLUMNS]
    height, parts = 4.0, []
    sds = np.full(facts.centers.shape, np.nan) if facts.center_sd is None else facts.center_sd
    for column, values, sd in zip(columns, facts.centers.T, sds.T, strict=False):
        line, used = _draw_strip(column, values, sd, height)
        parts.append(line)
        height += used
    rest = len(facts.clustered) - len(columns)
    left_out = f", {format_things(rest, 'column')} left out" if rest else ""
    ends = "; ".join(
        f"{column.name} from {format_number(min(values))} to {format_number(max(values))}"
        for column, values in zip(columns, facts.centers.T.tolist(), strict=False)
    )
    centers = capitalize_first(format_things(facts.k, "released centre"))
    alt = f"{centers} on a line for each of {format_things(len(columns), 'column')}{left_out}: {ends}"
    return CardPicture(f"Where the segments lie{left_out}", alt, _wrap_svg(height, parts))


def _draw_strip(column: CardColumn, values: Array, sd: Array, top: float) -> tuple[str, float]:
    """One line and its height: dots that would cover each other stand above each other.

    Nine tenths of the noise on a centre (k,) lie within the line through its dot, where that is longer than the dot.
    """
    assert column.lower is not None and column.upper is not None  # of clustered columns: CardFacts refuses others
    wide = _WIDTH - _LEFT - _RIGHT - 2 * _DOT
    low, at, high = (
        _LEFT + _DOT + wide * np.clip((end - column.lower) / (column.upper - column.lower), 0, 1)
        for end in (values - NINE_IN_TEN * sd, values, values + NINE_IN_TEN * sd)
    )
    dots = _spread_apart(at.tolist())
    base = top + _LANE * (1 + max(lane for _, _, lane in dots)) + 2
    ends = (
        f'<text class="end" x="{_LEFT:g}" y="{base + 11:.1f}">{escape(_format_end(column.lower))}</text>'
        f'<text class="end" x="{_WIDTH - _RIGHT:g}" y="{base + 11:.1f}" text-anchor="end">'
        f"{escape(f'{_format_end(column.upper)} {column.unit}'.rstrip())}</text>"
    )
    axis = f'<path class="axis" d="M{_LEFT:g} {base:.1f}H{_WIDTH - _RIGHT:g}"/>'
    name = f'<text class="name" x="0" y="{base - 3:.1f}">{escape(shorten(column.name, _NAME))}</text>'
    placed = [(place, x, base - _LANE * (lane + 0.5)) for place, x, lane in dots]
    stems = "".join(
        f'<path class="stem" d="M{float(at[place]):.1f} {base + 3:.1f}V{base:.1f}L{x:.1f} {y:.1f}"/>'
        for place, x, y in placed
    )
    # A dot that had to move aside is not where its value is: nor would its noise be.
    noise = "".join(
        f'<path class="noise" d="M{low[place]:.1f} {y:.1f}H{high[place]:.1f}"/>'
        for place, x, y in placed
        if high[place] - low[place] > 2 * _DOT and x == at[place]
    )
    drawn = "".join(_draw_dot(place + 1, x, y) for place, x, y in placed)
    return axis + ends + name + stems + noise + drawn, base + 16 - top


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


def _draw_dot(label: int, x: float, y: float) -> str:
    return (
        f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="{_DOT:g}"/>'
        f'<text class="label" x="{x:.1f}" y="{y + 3:.1f}" text-anchor="middle">{label}</text>'
    )


def draw_sizes(facts: CardFacts) -> CardPicture | None:
    """The released sizes with nine tenths of their noise on both sides; None where none were released."""
    if facts.sizes is None:
        return None
    sizes = facts.sizes[:_MOST_SEGMENTS].tolist()
    sds = np.zeros(facts.k) if facts.size_sd is None else facts.size_sd
    reaches = (NINE_IN_TEN * sds[:_MOST_SEGMENTS]).tolist()
    left, room = 26.0, _WIDTH - 26.0 - 92.0
    longest = max(max(size + noise for size, noise in zip(sizes, reaches, strict=True)), 1.0)
    parts = []
    for place, (size, noise) in enumerate(zip(sizes, reaches, strict=True)):
        y, end = 12.0 + 19.0 * place, left + room * max(size, 0.0) / longest
        low, high = (left + room * max(size + side * noise, 0.0) / longest for side in (-1, 1))
        told = f"{size:,.0f}" + (f" ± {noise:,.0f}" if noise else "")
        parts.append(
            _draw_dot(place + 1, 9, y)
            + f'<rect class="bar" x="{left:g}" y="{y - 6:.1f}" width="{max(end - left, 0.5):.1f}" height="12"/>'
            + (f'<path class="noise" d="M{low:.1f} {y:.1f}H{high:.1f}"/>' if noise else "")
            + f'<text class="name" x="{max(end, high) + 6:.1f}" y="{y + 4:.1f}">{told}</text>'
        )
    rest = facts.k - len(sizes)
    left_out = f", {format_things(rest, 'segment')} left out" if rest else ""
    alt = "Released sizes: " + ", ".join(f"segment {place} about {size:,.0f}" for place, size in enumerate(sizes, 1))
    return CardPicture(f"How many they are{left_out}", alt, _wrap_svg(12.0 + 19.0 * len(sizes), parts))


def _wrap_svg(height: float, parts: list[str]) -> str:
    return f'<svg viewBox="0 0 {_WIDTH:g} {height:.0f}" aria-hidden="true">{"".join(parts)}</svg>'


def _format_end(bound: float) -> str:
    return format_plain_number(bound) if abs(bound) < 1e9 else format_number(bound)
