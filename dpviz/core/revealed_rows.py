"""What a session reveals to the owner of its rows; a look, which is counted and is part of no release.

Of very many rows it is a sample, fair to rows that repeat, and the same in whatever order the rows stand: rows in the
order of a hash of their content, of which every so-manieth is taken. So a row that makes up a tenth of the table makes
up a tenth of the sample. Three passes find them in bounded memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from dpviz.core.arrays import Array, Codes, Hashes
from dpviz.core.content import hash_content
from dpviz.core.lattice import ExactRows
from dpviz.core.rows import RowSource


@dataclass(frozen=True, eq=False)
class Revealed:
    """Rows shown to their owner, unit coordinates, not clipped to the bounds (only to a billion half-widths, so that
    squared distances stay finite); rows with missing cells are left out.

    Of rows that are not in memory they are a fair sample, as the bounds leave them: ``inside``.

    Never part of a release; ``kept`` are the positions of these rows in the loaded table, or in the sample.
    """

    points: Array
    kept: Codes
    inside: bool = False

    def unfold(self, points: int) -> Revealed:
        """The ``points`` points that stand side by side in each row, one after the other: what a row stands for."""
        dim = self.points.shape[1] // points
        if points == 1:
            return self
        return Revealed(self.points.reshape(-1, dim), np.repeat(self.kept, points), self.inside)


MOST_SAMPLED = 50_000

# Hashes are counted by their highest bits first.
_BITS = 20


def sample_rows(rows: RowSource, most: int = MOST_SAMPLED) -> Array:
    """At most ``most`` of the rows, unit coordinates, shape (m, d), by content.

    Parameters
    ----------
    rows : RowSource
    most : int

    Returns
    -------
    array of shape (m, d)
        Unit coordinates; the same in whatever order the rows come.
    """
    (counts,) = rows.total(_count_buckets, 1)
    n = int(counts.sum())
    # Which of the rows in order are taken: at most so many, evenly.
    wanted = np.arange(n) if n <= most else (np.arange(most) * n + n // 2) // most
    ends = np.cumsum(counts)
    buckets = np.searchsorted(ends, wanted, side="right")
    (found,) = rows.total(partial(_find_hashes, buckets=np.unique(buckets)), 2)
    some, often = (np.concatenate(part) for part in zip(*found, strict=True))
    hashes, at = np.unique(some, return_inverse=True)
    times = np.bincount(at, often, len(hashes)).astype(np.int64)
    # Where the copies of each hash end in the order of all rows: buckets that nobody wants lie between.
    known = _find_bucket(hashes)
    within = np.cumsum(times)
    before = np.r_[0, within][np.searchsorted(known, known, side="left")]
    place = np.searchsorted((ends - counts)[known] + within - before, wanted, side="right")
    chosen, copies = np.unique(hashes[place], return_counts=True)
    (kept,) = rows.total(partial(_find_rows, wanted=chosen), rows.dim)
    shown = np.concatenate(kept)
    known, first = np.unique(hash_content(shown), return_index=True)
    return np.repeat(shown[first[np.searchsorted(known, chosen)]], copies, axis=0)


def _find_bucket(hashes: Hashes) -> Codes:
    return (hashes >> np.uint64(64 - _BITS)).astype(np.int64)


def _count_buckets(rows: ExactRows) -> list[Any]:
    """How many rows have a hash with each of the possible highest bits."""
    return [np.bincount(_find_bucket(hash_content(rows.stored)), minlength=2**_BITS)]


def _find_hashes(rows: ExactRows, *, buckets: Codes) -> list[Any]:
    """The hashes with some highest bits, and how often each occurs; a pair a chunk, and lists of pairs add up."""
    hashes = hash_content(rows.stored)
    wanted = np.zeros(2**_BITS, dtype=bool)
    wanted[buckets] = True
    distinct, times = np.unique(hashes[wanted[_find_bucket(hashes)]], return_counts=True)
    return [[(distinct, times.astype(np.int64))]]


def _find_rows(rows: ExactRows, *, wanted: Hashes) -> list[Any]:
    """The rows with some hashes, each once a chunk; an array a chunk, and lists of arrays add up."""
    hashes, first = np.unique(hash_content(rows.stored), return_index=True)
    first = first[np.isin(hashes, wanted)]
    return [[np.array(rows.stored[first], dtype=np.float64)]]
