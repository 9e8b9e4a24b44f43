"""Draws that agree: versions of what is true of the published segments, made from a release's transcript alone.

1. Noise of the very law that the ledger names is drawn anew for every released count, and taken off it: so many draws,
   and their mirror images, so that their middle is what was released.
2. The tallies are made to agree by least squares, see ``tallies.py``.
3. A size below 0 becomes 0. Bins keep what they are: a share is cut to between 0 and 1 when it is asked for.

Steps 1 and 2 are linear and the laws are symmetric: the middle nine tenths of any sum of counts hold the true sum in
nine of ten releases, for whatever rows. That is a confidence distribution. A prior that cut every bin at 0 would add
rows for each empty bin.

Bits come from SHAKE-256 of the transcript's hash: everybody who has it makes the same draws, with any version of NumPy.

**Guarantee.** Post-processing: nothing here reads a row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import shake_256
from math import floor, log10, prod, sqrt

import numpy as np
from scipy.special import ndtri

from dpviz.core import Array
from dpviz.releases.described_table import SegmentColumn
from dpviz.releases.release_sentences import make_refusal
from dpviz.releases.tallies import Means, SegmentTallies, Tally
from dpviz.runs import profiles
from dpviz.tables import codings, format_csv

DRAWS = 200
# Numbers are written on a grid that is at most this part of their spread, and one of these, of any power of ten.
_PART_OF_SPREAD, _STEPS = 0.2, np.array([1.0, 2.0, 5.0])
_TINY = 1e-12


class Bits:
    """Even numbers between 0 and 1 that follow from a seed alone."""

    def __init__(self, seed: str) -> None:
        self._seed, self._asked = seed, 0

    def draw_even(self, *shape: int) -> Array:
        """Numbers, and below them along the first axis their mirror image around ½."""
        self._asked += 1
        bits = shake_256(f"{self._seed} {self._asked}".encode()).digest(8 * prod(shape))
        numbers = ((np.frombuffer(bits, dtype="<u8") >> np.uint64(11)) + 0.5) / 2.0**53
        one = numbers.astype(np.float64).reshape(shape)
        return np.concatenate([one, 1 - one])

    def draw_laplace(self, sd: float, *shape: int) -> Array:
        """Laplace noise with that standard deviation."""
        half = 2 * self.draw_even(*shape) - 1
        return -sd / sqrt(2) * np.sign(half) * np.log1p(-np.abs(half))

    def draw_normal(self, *shape: int) -> Array:
        """Standard normal numbers."""
        numbers: Array = ndtri(self.draw_even(*shape))
        return numbers


@dataclass(frozen=True, eq=False)
class Draws:
    """Versions of what is true of each segment.

    Attributes
    ----------
    sizes : array of shape (D, k)
        Rows; none below 0.
    counts : tuple of arrays of shape (D, k, m)
        Of every tally.
    means : array of shape (D, k, d)
        Of the rows of each segment, data units where a column is even; NaN where nothing tells.
    tallies : SegmentTallies
    made : Profile
        What centres have coordinates in.
    """

    sizes: Array
    counts: tuple[Array, ...]
    means: Array
    tallies: SegmentTallies
    made: profiles.Profile

    @property
    def k(self) -> int:
        """Segments."""
        return len(self.sizes.T)

    @property
    def averaged(self) -> dict[str, int]:
        """The coordinates that are means of a column of numbers, by its name: even ones, whose means are told."""
        told = enumerate(self.made.columns)
        return {
            one.name: place
            for place, one in told
            if one.kind == "number" and type(one.declared) in (codings.Coding, codings.Dates)
            if np.isfinite(self.means[:, :, place]).all()
        }

    def find_tally(self, name: str) -> tuple[Tally, SegmentColumn, Array]:
        """What describes a column, and its counts in every draw."""
        found = {column.name: (tally, column, self.counts[place]) for place, tally, column in self.tallies.described}
        if name not in found:
            raise make_refusal("not_described", name=name, columns=[*found])
        return found[name]


def draw_versions(tallies: SegmentTallies, means: Means, made: profiles.Profile, *, seed: str) -> Draws:
    """So many versions of the segments of a release, the same for everybody who has the ``seed``: the hash of its
    transcript."""
    bits, half = Bits(seed), DRAWS // 2
    noisy = [one.counts - bits.draw_laplace(one.sd, half, *one.counts.shape) for one in tallies.every]
    sizes, counts = tallies.agree(noisy)
    even = made.even
    by_bins = np.broadcast_to(means.by_bins, (DRAWS, *means.by_bins.shape)).copy()
    for place, tally, at, ends in tallies.list_bin_ends(even.dim):
        by_bins[:, :, at] = _average(counts[place][:, :, : tally.values], *ends, bits)
    off = np.where(np.isfinite(means.centers_sd), means.centers_sd, 0.0)
    published = means.centers - bits.draw_normal(half, *means.centers.shape) * off
    joined = np.clip(means.join(by_bins, published), even.lower, even.upper)
    told = np.where(np.isfinite(means.sd), joined, np.nan)
    return Draws(np.maximum(sizes, 0.0), counts, told, tallies, made)


def _average(counts: Array, low: Array, high: Array, bits: Bits) -> Array:
    """Means (D, k) of what is counted in bins (D, k, v): each bin's rows lie somewhere in it, all the same in one draw;
    anywhere between the ends where nobody is there."""
    number, k, values = counts.shape
    places = low + bits.draw_even(number // 2, k, values) * (high - low)
    rows, (least, most) = counts.sum(axis=2), (low.min(), high.max())
    anywhere, there = least + (most - least) * bits.draw_even(number // 2, k), rows > 0
    found = (counts * places).sum(axis=2) / np.where(there, rows, 1.0)
    means: Array = np.clip(np.where(there, found, anywhere), least, most)
    return means


def divide(over: Array, under: Array) -> Array:
    """A part of a whole in each draw, from 0 to 1; anywhere between them, evenly, where nobody is there."""
    there = under > _TINY
    anywhere = ((np.arange(len(under)) + 0.5) / len(under)).reshape(-1, *[1] * (under.ndim - 1))
    parts: Array = np.where(there, np.clip(over / np.where(there, under, 1.0), 0.0, 1.0), anywhere)
    return parts


def format_draws(draws: Draws) -> str:
    """``draws.csv``: a line for each segment of each draw; rows, means of columns of numbers, shares of categories.

    Sizes are whole rows; other numbers lie on a grid of a fifth of their spread over the draws at most.
    """
    columns = [*_list_columns(draws)]
    told = [_write(values, whole=name == "rows") for name, values in columns]
    lines = [
        [f"{draw + 1}", f"{segment + 1}", *(texts[segment][draw] for texts in told)]
        for draw in range(len(draws.sizes))
        for segment in range(draws.k)
    ]
    return format_csv([["draw", "segment", *(name for name, _ in columns)], *lines])


def _list_columns(draws: Draws) -> Iterator[tuple[str, Array]]:
    """What a column is called, and its numbers (D, k)."""
    yield "rows", draws.sizes
    for name, place in draws.averaged.items():
        yield f"mean of {name}", draws.means[:, :, place]
    for place, _, column in draws.tallies.described:
        for at, label in enumerate(column.labels):
            counts = draws.counts[place]
            yield f"share of {label} in {column.name}", divide(counts[:, :, at], counts.sum(axis=2))


def _write(values: Array, *, whole: bool) -> list[list[str]]:
    """Numbers (D, k) as they are written, a list for each segment: digits that are noise alone take most of the zip."""
    told = []
    for column, spread in zip(values.T, values.std(axis=0).tolist(), strict=True):
        widest = spread * _PART_OF_SPREAD if spread > 0 and not whole else 1.0
        digits = floor(log10(widest))
        step = max(one for one in _STEPS * 10.0**digits if one <= widest)
        told.append([f"{one + 0.0:.{max(0, -digits)}f}" for one in (np.rint(column / step) * step).tolist()])
    return told
