"""Pictures of the Home page as plain SVG: drawn at once, without the library that would be loaded for them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil

from dpviz.core import Array, Flags
from dpviz.words import Palette

_SIDE, _MARGIN = 340.0, 12.0
_DOT, _CENTER, _DIAMOND = 1.3, 5.5, 8.0
# Guesses about a person: so many in all, in rows of so many, this far apart.
_GUESSES, _IN_A_ROW, _APART, _GUESS = 100, 25, 14.0, 4.4
_THUMB_WIDTH, _THUMB_HEIGHT = 180.0, 84.0


def draw_trial(
    points: Array, groups: Sequence[int], reference: Array, centers: Array, found: Flags, palette: Palette
) -> str:
    """Rows (n, 2) in [0, 1], paler where their group was missed, k-means++ as diamonds, private centres as discs.

    ``points`` (n, 2), rows of a public sample, in [0, 1]; ``reference`` (k, 2), centres of k-means++, in [0, 1];
    ``centers`` (k, 2), private centres, in [0, 1].
    """
    strong, pale = list[Sequence[float]](), list[Sequence[float]]()
    for point, group in zip(points.tolist(), groups, strict=True):
        (strong if found[group] else pale).append(point)
    marks = [_draw_dots(strong, palette.public, 0.7), _draw_dots(pale, palette.public, 0.25)]
    for x, y in map(_place_points, reference.tolist()):
        size = _DIAMOND
        path = f"M{x:.1f} {y - size:.1f}l{size} {size}l{-size} {size}l{-size} {-size}z"
        marks.append(f'<path d="{path}" fill="none" stroke="{palette.text}" stroke-width="1.6"/>')
    for x, y in map(_place_points, centers.tolist()):
        ring = f'stroke="{palette.surface}" stroke-width="1.5"'
        marks.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{_CENTER}" fill="{palette.released}" {ring}/>')
    return _wrap_svg(_SIDE, _SIDE, marks)


def count_right_guesses(most: float) -> int:
    """Of a hundred guesses, at most so many are right, where one is with the probability ``most``.

    >>> count_right_guesses(0.5), count_right_guesses(0.525)
    (50, 53)
    """
    return ceil(_GUESSES * most - 1e-9)


def draw_guesses(right: int, palette: Palette) -> str:
    """A hundred guesses about one person: half are right by chance, some more with the release."""
    marks = []
    for place in range(_GUESSES):
        x, y = (place % _IN_A_ROW + 0.5) * _APART, (place // _IN_A_ROW + 0.5) * _APART
        by_chance = place < _GUESSES // 2
        color = palette.muted if by_chance else palette.released if place < right else palette.grid
        marks.append(f'<circle cx="{x:g}" cy="{y:g}" r="{_GUESS}" fill="{color}"/>')
    return _wrap_svg(_IN_A_ROW * _APART, _GUESSES / _IN_A_ROW * _APART, marks)


def draw_thumbnail(points: Sequence[Sequence[int]], palette: Palette) -> str:
    """A few rows of a sample, hundredths of its bounds."""
    wide, high = _THUMB_WIDTH - 8, _THUMB_HEIGHT - 8
    placed = [(4 + wide * x / 100, 4 + high * (1 - y / 100)) for x, y in points]
    path = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in placed)
    line = f'stroke="{palette.public}" stroke-width="2.6" stroke-linecap="round" opacity="0.7"'
    return _wrap_svg(_THUMB_WIDTH, _THUMB_HEIGHT, [f'<path d="{path}" {line}/>'])


def _draw_dots(points: Iterable[Sequence[float]], color: str, strength: float) -> str:
    path = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in map(_place_points, points))
    line = f'stroke="{color}" stroke-width="{2 * _DOT}" stroke-linecap="round" opacity="{strength}"'
    return f'<path d="{path}" {line}/>'


def _place_points(point: Sequence[float]) -> tuple[float, float]:
    """Where a point in [0, 1] lies on the picture."""
    room = _SIDE - 2 * _MARGIN
    return _MARGIN + room * point[0], _MARGIN + room * (1 - point[1])


def _wrap_svg(width: float, height: float, marks: Iterable[str]) -> str:
    box = f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box}>{"".join(marks)}</svg>'
