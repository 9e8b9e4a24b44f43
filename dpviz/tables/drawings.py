"""A painted town: points on a square of 256 × 256 places, as text short enough for a link, and as a table.

The text lists the places in the order in which Hilbert's curve passes them. Painted points are crowded, so that the
gaps between them are small numbers: each is written in Rice's code (a quotient as so many ones, a remainder in bits).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from dpviz.core import Array, Codes
from dpviz.tables.declarations import Declaration, FileKind
from dpviz.tables.loaded_table import IntakeError, LoadedTable, demand, make_numeric_table
from dpviz.words import read_toml

SIDE, MOST_POINTS = 256, 3_000
"""Places along an edge, and how many people may be painted, me not counted."""
MOST_LETTERS = 1_900
"""Of a drawing in a link: with the address before it, it stays below two thousand and forty-eight."""
COLUMNS = ("x", "y")

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_SIX, _CHECK_LETTERS = 6, 2
_VERSION, _FINEST, _COARSEST = 1, 8, 6
# Gaps that share a parameter, and the bits that say which.
_BLOCK, _PARAMETER = 32, 4
_WIDTHS = {"version": 3, "order": 2, "points": 12, "with me": 1}


Bits = NDArray[np.uint8]
Place = tuple[int, int]


@dataclass(frozen=True, eq=False)
class PointDrawing:
    """Painted points, and perhaps one more: me.

    ``points`` (n, 2), places from 0 to 255; x to the right, y upward. A place may hold several people.
    """

    points: NDArray[np.uint8]
    me: Place | None = None

    @classmethod
    def of(cls, points: NDArray[np.uint8], me: Place | None = None) -> PointDrawing:
        """A drawing of places (n, 2) on the board that somebody else names."""
        if len(points) > MOST_POINTS:
            raise IntakeError.of("board_full", many=len(points), most=MOST_POINTS)
        if me is not None and not all(0 <= place < SIDE for place in me):
            raise IntakeError.of("off_the_board", last=SIDE - 1)
        return cls(points, me)

    @property
    def others(self) -> Array:
        """Everybody but me, data units, shape (n, 2): the middles of their places."""
        return self.points.astype(np.float64) + 0.5

    @property
    def mine(self) -> Array:
        """Me, data units, shape (1, 2), or (0, 2) where I am not on the board."""
        return np.array([] if self.me is None else [self.me], dtype=np.float64).reshape(-1, 2) + 0.5

    @property
    def everybody(self) -> Array:
        """All rows, data units, shape (n, 2) or (n + 1, 2); I am the last one."""
        return np.concatenate([self.others, self.mine])

    @property
    def size(self) -> int:
        """How many people there are."""
        return len(self.points) + (self.me is not None)


# --- as text


def encode_drawing(drawing: PointDrawing) -> str:
    """The drawing as at most ``MOST_LETTERS`` letters of a link.

    References
    ----------
    Rice & Plaunt 1971 (adaptive codes of small numbers); Hilbert 1891.
    """
    for order in range(_FINEST, _COARSEST - 1, -1):
        places = np.sort(_place_on_curve(drawing.points.astype(np.int64) >> (_FINEST - order), order))
        heads = (_VERSION, order - _COARSEST, len(places), drawing.me is not None)
        parts = [_encode_fixed(np.array([head]), width) for head, width in zip(heads, _WIDTHS.values(), strict=True)]
        if drawing.me is not None:
            parts.append(_encode_fixed(np.array(drawing.me), _FINEST))
        bits = np.concatenate([*parts, _encode_rice(np.diff(places, prepend=0))])
        sixes = np.pad(bits, (0, -len(bits) % _SIX)).reshape(-1, _SIX) @ (1 << np.arange(_SIX)[::-1])
        body = "".join(_LETTERS[six] for six in sixes.tolist())
        text = body + _compute_check(body)
        if len(text) <= MOST_LETTERS:
            break
    return text


def decode_drawing(text: str) -> PointDrawing:
    """The drawing that ``encode_drawing`` wrote."""
    body, check = text[:-_CHECK_LETTERS], text[-_CHECK_LETTERS:]
    if len(text) > MOST_LETTERS or not set(text) <= set(_LETTERS) or _compute_check(body) != check:
        raise IntakeError.of("drawing_cut")
    bits = _encode_fixed(np.array([*map(_LETTERS.index, body)], dtype=np.int64), _SIX)
    version, order, points, with_me = _decode_numbers(bits, tuple(_WIDTHS.values()))
    order += _COARSEST
    demand(version == _VERSION and order <= _FINEST and points <= MOST_POINTS, "drawing_cut")
    at = sum(_WIDTHS.values())
    me = None
    if with_me:
        x, y = _decode_numbers(bits[at:], (_FINEST, _FINEST))
        me = x, y
        at += 2 * _FINEST
    places = np.cumsum(_decode_gaps(bits[at:], points))
    if points and places[-1] >= 4**order:
        raise IntakeError.of("drawing_cut")
    coarser = _FINEST - order
    lattice = _find_on_curve(places, order) << coarser
    return PointDrawing((lattice + ((1 << coarser) >> 1)).astype(np.uint8), me)


def _compute_check(body: str) -> str:
    rest = crc32(body.encode("ascii"))
    return "".join(_LETTERS[rest >> (_SIX * place) & 63] for place in range(_CHECK_LETTERS))


def _encode_fixed(values: Codes, width: int) -> Bits:
    """Numbers in ``width`` bits each, the highest first."""
    return (values[:, None] >> np.arange(width)[::-1] & 1).astype(np.uint8).ravel()


def _decode_numbers(bits: Bits, widths: tuple[int, ...]) -> list[int]:
    """The first numbers in so many bits each."""
    demand(sum(widths) <= len(bits), "drawing_cut")
    return [int(value) for value in _decode_remainders(bits, np.array(widths, dtype=np.int64))]


def _decode_remainders(bits: Bits, widths: Codes) -> Codes:
    """Numbers of different widths, (m,), one after the other in ``bits``."""
    of = np.repeat(np.arange(len(widths)), widths)
    weights = np.ldexp(1.0, np.cumsum(widths)[of] - 1 - np.arange(len(of)))
    return np.bincount(of, weights=weights * bits[: len(of)], minlength=len(widths)).astype(np.int64)


def _encode_rice(gaps: Codes) -> Bits:
    """A parameter for each block, all remainders, all quotients: apart, so that each is read in one go."""
    if not len(gaps):
        return np.zeros(0, dtype=np.uint8)
    choices = np.arange(1 << _PARAMETER)
    lengths = (gaps[:, None] >> choices) + 1 + choices
    parameters = np.add.reduceat(lengths, np.arange(0, len(gaps), _BLOCK), axis=0).argmin(axis=1)
    widths = np.repeat(parameters, _BLOCK)[: len(gaps)]
    of = np.repeat(np.arange(len(gaps)), widths)
    down = np.cumsum(widths)[of] - 1 - np.arange(len(of))
    quotients = gaps >> widths
    ones = np.ones(int(quotients.sum()) + len(gaps), dtype=np.uint8)
    ones[np.cumsum(quotients + 1) - 1] = 0
    return np.concatenate([_encode_fixed(parameters, _PARAMETER), (gaps[of] >> down & 1).astype(np.uint8), ones])


def _decode_gaps(bits: Bits, number: int) -> Codes:
    blocks = -(-number // _BLOCK)
    widths = np.repeat(np.array(_decode_numbers(bits, (_PARAMETER,) * blocks), dtype=np.int64), _BLOCK)[:number]
    at, whole = _PARAMETER * blocks, int(widths.sum())
    ends = np.flatnonzero(bits[at + whole :] == 0)[:number]
    demand(len(ends) >= number, "drawing_cut")
    quotients = np.diff(ends, prepend=-1) - 1
    return (quotients << widths) + _decode_remainders(bits[at:], widths)


def _place_on_curve(points: Codes, order: int) -> Codes:
    """The place of points (n, 2) on Hilbert's curve through a square of 2^order, (n,)."""
    x, y = points[:, 0].copy(), points[:, 1].copy()
    along = np.zeros(len(x), dtype=np.int64)
    for level in range(order - 1, -1, -1):
        right, upper = x >> level & 1, y >> level & 1
        along += (3 * right ^ upper) << (2 * level)
        x, y = _turn(x & (1 << level) - 1, y & (1 << level) - 1, right, upper, level)
    return along


def _find_on_curve(along: Codes, order: int) -> Codes:
    """The points (n, 2) at places (n,) of the curve."""
    x, y = np.zeros_like(along), np.zeros_like(along)
    for level in range(order):
        quarter = along >> (2 * level) & 3
        right = quarter >> 1
        upper = quarter & 1 ^ right
        x, y = _turn(x, y, right, upper, level)
        x, y = x + (right << level), y + (upper << level)
    return np.stack([x, y], axis=1)


def _turn(x: Codes, y: Codes, right: Codes, upper: Codes, level: int) -> tuple[Codes, Codes]:
    """The curve in a lower quarter is turned, and at the right mirrored too; its own inverse."""
    last, mirrored, turned = (1 << level) - 1, (upper == 0) & (right == 1), upper == 0
    x, y = np.where(mirrored, last - x, x), np.where(mirrored, last - y, y)
    return np.where(turned, y, x), np.where(turned, x, y)


# --- as a table

_PAINTED = Declaration(
    columns=COLUMNS,
    lower=(0.0, 0.0),
    upper=(float(SIDE), float(SIDE)),
    bounds_origin="the edges of the board",
    scaling="common",
    kind=FileKind.SIMULATED,
    title="Painted town",
    description="Points that somebody painted: nobody's.",
)


def make_painted_table(drawing: PointDrawing) -> tuple[LoadedTable, Declaration]:
    """Everybody on the board as rows of a simulated table, me last; their number is not declared.

    Raises
    ------
    RequestError
        If nobody is on it.
    """
    demand(drawing.size, "board_empty")
    return make_numeric_table(drawing.everybody, COLUMNS, name="Painted town"), _PAINTED


# --- to begin with


class Preset(NamedTuple):
    """A picture to begin with: its name on the page, how many centres suit it, and what is painted."""

    title: str
    k: int
    drawing: PointDrawing


def _draw_circle(public_rng: np.random.Generator, radius: float, spread: float, people: int) -> Array:
    turn = public_rng.uniform(0, 2 * np.pi, people)
    reach = radius + public_rng.normal(0, spread, people)
    around: Array = np.column_stack([np.cos(turn), np.sin(turn)])
    return SIDE / 2 + reach[:, None] * around


_RECIPES: Mapping[str, Any] = read_toml(__file__, "drawings.toml")
PRESETS = tuple(_RECIPES)
"""The pictures to begin with, by their ids."""


@cache
def load_preset(preset_id: str) -> Preset:
    """The picture of that id, the same for everybody."""
    recipe, public_rng = _RECIPES[preset_id], np.random.default_rng(11)
    ring = [_draw_circle(public_rng, *recipe["ring"])] if "ring" in recipe else []
    crowds = [public_rng.normal((x, y), spread, (people, 2)) for x, y, spread, people in recipe["crowds"]]
    points = np.clip(np.rint(np.concatenate([np.empty((0, 2)), *ring, *crowds])), 0, SIDE - 1).astype(np.uint8)
    me = tuple(recipe["me"]) if "me" in recipe else None
    return Preset(recipe["title"], recipe["k"], PointDrawing(points, me))
