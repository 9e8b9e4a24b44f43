"""A noisy histogram, read through trees of blocks: what stands out of the noise is kept, what does not is shared.

A block knows how many rows it holds better than each of its parts does. A tree halves blocks of cells along every axis,
down to single cells. The **detail** of a part is what it holds beyond its share, by volume, of its block. Details that
noise alone would hardly show are believed; others are dropped, so that the parts share their block's rows evenly. No
row is lost on the way: the parts of a block always add up to it, and none is negative. So light clusters keep their
rows where one threshold for all cells would take them away, and noise far from all rows stays spread thinly.

Where blocks begin is arbitrary: several trees, shifted against each other, are averaged. All this is post-processing of
released counts. Constants were chosen by hand on tables whose families stand in ``benchmarks/families.py``.

References
----------
Donoho & Johnstone 1994 (thresholds on wavelet coefficients), James & Stein 1961 (shrinking), Hay, Rastogi, Miklau &
Suciu 2010 (parts that add up to their block), Chan 1998 (shifted quadtrees).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, prod, sqrt
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from dpviz.core import Array, Codes

# How far beyond what chance shows once a level a detail has to be, in its logarithm; and how far a lone part has to be
# from 0, so that it is not taken for empty.
_CAUTION, _FILLED = 1.5, 1.2
_TINY = 1e-300

Flags = npt.NDArray[np.bool_]
N = TypeVar("N", bound=np.generic)


@dataclass(frozen=True, eq=False)
class Details:
    """What became of the details of the first tree.

    ``sides`` (levels,) are those of the parts, in cells, from single cells upwards; of the blocks that have parts so
    large ``kept`` (levels,) keep their details, ``shrunk`` believe in a part of them, and ``shared`` share evenly.
    ``blocks`` has one axis for each axis of the grid: the side of the largest block around each cell that is shared
    evenly, in cells; 1 where the cell itself stands out.
    """

    sides: Codes
    kept: Codes
    shrunk: Codes
    shared: Codes
    blocks: Codes

    @property
    def all(self) -> Codes:
        """How many blocks have parts so large, (levels,)."""
        return self.kept + self.shrunk + self.shared


class Denoised(NamedTuple):
    """What cells seem to hold, none negative, together the total; and the details of the first tree."""

    counts: Array
    details: Details


def denoise(noisy_counts: Array, sd: float, total: float) -> Denoised:
    """What the cells of a noisy histogram hold, together ``total``: the mean over d + 1 shifted trees (or d + 2, odd).

    Of the shape of the counts; without noise these come back as they are, if they add up to the total. O(d m), m cells.
    """
    wide = noisy_counts.reshape([m for m in noisy_counts.shape if m > 1] or [1]).astype(np.float64)
    trees = wide.ndim + 1 + wide.ndim % 2
    top = 1 << (max(wide.shape) - 1).bit_length()
    first = _Tree.over(wide, 0, sd)
    mean = first.counts(total)
    for i in range(1, trees):
        mean += _Tree.over(wide, top * i // trees, sd).counts(total)
    return Denoised((mean / trees).reshape(noisy_counts.shape), first.details(noisy_counts.shape))


class _Fold(NamedTuple):
    """How the nodes of a level lie in the blocks above: ``shape`` of the nodes, and how many are missing ``before``.

    Missing nodes fill incomplete blocks at the rim; they have no cells.
    """

    shape: tuple[int, ...]
    before: tuple[int, ...]

    def parts(self, values: npt.NDArray[N]) -> npt.NDArray[N]:
        """Values of nodes, as an array of shape (2^d, *blocks): part by part. Missing ones are 0."""
        whole = [(m + b + 1) // 2 * 2 for m, b in zip(self.shape, self.before, strict=True)]
        padded = values
        if tuple(whole) != self.shape:
            padded = np.zeros(whole, dtype=values.dtype)
            padded[self._inside] = values
        halved = padded.reshape([size for m in padded.shape for size in (m // 2, 2)])
        axes, blocks = range(len(self.shape)), halved.shape[::2]
        return halved.transpose([2 * j + 1 for j in axes] + [2 * j for j in axes]).reshape(-1, *blocks)

    def nodes(self, parts: npt.NDArray[N]) -> npt.NDArray[N]:
        """Back to an array of the nodes."""
        dim, blocks = len(self.shape), parts.shape[1:]
        order = [axis for j in range(dim) for axis in (dim + j, j)]
        padded = parts.reshape([2] * dim + list(blocks)).transpose(order).reshape([2 * m for m in blocks])
        return padded[self._inside]

    @property
    def size(self) -> int:
        """Nodes of the level."""
        return prod(self.shape)

    @property
    def _inside(self) -> tuple[slice, ...]:
        return tuple(slice(b, b + m) for b, m in zip(self.before, self.shape, strict=True))


class _Level(NamedTuple):
    """The blocks of one level, part by part: arrays of shape (2^d, *blocks), or of the blocks alone.

    ``cells`` and ``details`` are those of the parts; ``part_stands`` says under which of them a detail stands out.
    ``belief`` in the details of a block lies between 0 and 1; ``several`` says which blocks have more than one part.
    """

    fold: _Fold
    cells: Array
    details: Array
    part_stands: Flags
    belief: Array
    several: Flags


@dataclass(frozen=True, eq=False)
class _Tree:
    """All levels, from single cells up to the block that holds everything."""

    levels: Sequence[_Level]
    sd: float

    @classmethod
    def over(cls, noisy: Array, shift: int, sd: float) -> _Tree:
        """The tree whose blocks begin ``shift`` cells before the grid does, along every axis."""
        sums, cells, stands = noisy, np.ones(noisy.shape), np.zeros(noisy.shape, dtype=bool)
        levels = []
        while sums.size > 1:
            fold = _Fold(sums.shape, (shift % 2,) * sums.ndim)
            shift //= 2
            nodes, parts, of_parts, part_stands = sums.size, fold.parts(sums), fold.parts(cells), fold.parts(stands)
            sums, cells, number = parts.sum(axis=0), of_parts.sum(axis=0), (of_parts > 0).sum(axis=0)
            details = parts - of_parts * (sums / cells)
            here, belief = _find_standing_out(details, of_parts, cells, number, nodes, sd)
            below = part_stands.any(axis=0)
            levels.append(_Level(fold, of_parts, details, part_stands, np.where(below, 1.0, belief), number > 1))
            stands = here | below
        return cls(levels, sd)

    def counts(self, total: float) -> Array:
        """What each cell holds, from the root down."""
        held: Array = np.full((1,) * len(self.levels[0].fold.shape) if self.levels else (1,), total)
        for level in reversed(self.levels):
            cells = level.cells
            expected = cells * (held / cells.sum(axis=0)) + level.belief * level.details
            least = _FILLED * _expect_by_chance(cells, log(max(level.fold.size, 2))) * self.sd * np.sqrt(cells)
            empty = ~level.part_stands & (level.belief > 0) & (expected < least)
            held = level.fold.nodes(_make_add_up(expected, cells, empty, held))
        return held

    def details(self, shape: tuple[int, ...]) -> Details:
        """What stood out and what was shared, over a grid of ``shape``."""
        numbers, blocks = [], np.zeros((1,) * len(self.levels[0].fold.shape) if self.levels else (1,))
        for height, level in reversed(list(enumerate(self.levels))):
            believed, several = level.belief[level.several], int(level.several.sum())
            whole, some = int((believed == 1).sum()), int((believed > 0).sum())
            numbers.append((2**height, whole, some - whole, several - some))
            # A block is shared evenly from the highest level on below which nothing is believed.
            told = (level.belief > 0) | level.part_stands.any(axis=0)
            within = np.where(told, 2.0**height, np.where(blocks > 0, blocks, 2.0 ** (height + 1)))
            blocks = level.fold.nodes(np.broadcast_to(within, level.cells.shape))
        sides, kept, shrunk, shared = np.array(numbers[::-1], dtype=np.int64).reshape(-1, 4).T
        return Details(sides, kept, shrunk, shared, np.maximum(blocks, 1.0).astype(np.int64).reshape(shape))


def _expect_by_chance(cells: Array, apart: float) -> Array:
    """In sds, what one of e^``apart`` sums over so many ``cells`` shows by chance: sums over few have Laplace tails."""
    return np.maximum(sqrt(2 * apart), apart / sqrt(2) / np.sqrt(np.maximum(cells, 1.0)))


class _Verdict(NamedTuple):
    """Whether the details of each block stand out, and how far they are to be believed."""

    here: Flags
    belief: Array


def _find_standing_out(details: Array, of_parts: Array, cells: Array, number: Codes, nodes: int, sd: float) -> _Verdict:
    """By the sum of their squares, against that of noise (Laurent & Massart 2000, lemma 1), or by one part alone."""
    volume, free = np.maximum(of_parts, 1.0), number - 1
    squares = (details**2 / volume).sum(axis=0) / sd**2
    apart = _CAUTION * log(max(cells.size, 2))
    normal = free + 2 * np.sqrt(free * apart) + 2 * apart
    laplace = apart**2 / 2 / np.maximum(1.0, cells / number)
    left = np.sqrt(volume * (1 - of_parts / cells))
    alone = details > _expect_by_chance(of_parts, _CAUTION * log(max(nodes, 2))) * sd * left
    here = ((squares > np.maximum(normal, laplace)) | (alone & (of_parts > 0)).any(axis=0)) & (free > 0)
    return _Verdict(here, np.where(here, np.maximum(0.0, 1 - free / np.maximum(squares, _TINY)), 0.0))


def _make_add_up(expected: Array, cells: Array, empty: Flags, held: Array) -> Array:
    """Parts that add up to what their blocks ``held``, none negative, nearest to what is ``expected`` of them.

    A surplus is taken from all parts in proportion to their cells, and those that would come out below 0 take no part
    any more: at least one is left. Empty parts hold nothing, unless all of a block are.
    """
    present = cells > 0
    active = present & ~empty
    active |= present & ~active.any(axis=0)
    while True:
        volume = np.where(active, cells, 0.0)
        surplus = np.where(active, expected, 0.0).sum(axis=0) - held
        parts = np.where(active, expected - surplus / np.maximum(volume.sum(axis=0), 1.0) * cells, 0.0)
        below = parts < 0
        # Rounding alone never empties a block.
        below &= ~(below | ~active).all(axis=0)
        if not below.any():
            return np.maximum(parts, 0.0)
        active &= ~below
