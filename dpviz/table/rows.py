"""The row source: rows as chunks, so that memory is bounded by the chunk and not by the table."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from math import ceil
from threading import local
from typing import Any

import numpy as np
from scipy import sparse
from threadpoolctl import ThreadpoolController

from dpviz import check
from dpviz.arrays import Array, Codes
from dpviz.table.domain import Domain, Region
from dpviz.table.sparse_rows import complete, is_sparse, largest_entries

# One temporary block of a query (chunk rows x its width) holds about this many numbers: 2 MB. With smaller ones
# threads lose more by waiting for each other than the cache wins.
BLOCK_NUMBERS = 2**18

# Every matrix product over rows has this many of them, in any table: libraries round by the shape of a product.
# A multiple of the blocks (up to 48 rows) that they work on inside, so that a row's place does not matter either.
_TILE = 1536
# A chunk has at least this many rows, however wide the question.
_FEWEST_ROWS = 64

# Chunks are added up in at most this many stretches, whose borders do not depend on the number of cores.
_MOST_STRETCHES = 16

_SCRATCH = local()


class Rows:
    """Rows in memory, unit coordinates, clipped to their region.

    Parameters
    ----------
    values : array of shape (n, d)
        Dense, or a sparse array that stays sparse: its chunks are sparse, too.
    persons : int array of shape (n,) or None
        Whose each row is; None where every row is somebody else's.
    block_numbers : int
        Size of one temporary block; any size gives the same answers up to rounding.
    """

    def __init__(self, values: Array, *, persons: Codes | None = None, block_numbers: int = BLOCK_NUMBERS) -> None:
        self.persons = persons
        dense = not is_sparse(values)
        self.values: Any = np.ascontiguousarray(values, dtype=np.float64) if dense else sparse.csr_array(values)
        self.block_numbers = block_numbers

    def __len__(self) -> int:
        return int(self.values.shape[0])

    def chunks(self, width: int) -> Iterator[Array]:
        """Consecutive chunks for a question that needs ``width`` temporary numbers a row; at least one chunk."""
        return self._chunks(self._chunk_size(width), 0, max(1, len(self)))

    def _chunk_size(self, width: int) -> int:
        size = max(_FEWEST_ROWS, self.block_numbers // max(1, width))
        return size - size % _TILE if size > _TILE else size

    def _chunks(self, size: int, first: int, end: int) -> Iterator[Array]:
        for start in range(first, end, size):
            yield self.values[start : min(start + size, end)]

    def total(self, ask: Callable[[Array], list[Any]], width: int) -> list[Any]:
        """Sums of the answers of ``ask`` over all chunks, the same to the last bit on any number of cores.

        ``ask`` gives a list of answers that can be added. A core adds up a stretch of chunks at a time: memory is
        bounded by a chunk for each core and a list for each of a few stretches.
        """
        n, size = max(1, len(self)), self._chunk_size(width)
        stretch = ceil(n / size / _MOST_STRETCHES) * size
        starts = range(0, n, stretch)

        def total_of(start: int) -> list[Any]:
            return _added(map(ask, self._chunks(size, start, min(start + stretch, n))))

        threads = min(_threads(), len(starts))
        with _linear_algebra().limit(limits=1):
            if threads == 1:
                return _added(map(total_of, starts))
            with ThreadPoolExecutor(threads) as pool:
                return _added(pool.map(total_of, starts))

    def unfolded(self, points: int) -> Rows:
        """The ``points`` points that stand side by side in each row, as rows of one person."""
        persons = np.arange(len(self)) if self.persons is None else self.persons
        return Rows(
            self.values.reshape(len(self) * points, self.values.shape[1] // points),
            persons=np.repeat(persons, points),
            block_numbers=self.block_numbers,
        )

    def project(self, frame: Array, region: Region) -> Rows:
        """The rows under the linear map ``frame`` of shape (p, d), clipped to ``region``."""
        image = np.empty((len(self), len(frame)))
        start = 0
        for chunk in self.chunks(sum(frame.shape)):
            end = start + chunk.shape[0]
            image[start:end] = region.clip(products(frame, chunk).T)
            start = end
        return Rows(image, persons=self.persons, block_numbers=self.block_numbers)

    def sparsified(self, most: int) -> Rows:
        """The rows with their ``most`` largest entries each; the others become 0."""
        kept = largest_entries(self.values, most)
        return Rows(kept, persons=self.persons, block_numbers=self.block_numbers)


def _added(parts: Iterator[list[Any]]) -> list[Any]:
    totals = next(parts)
    for part in parts:
        totals = [total + answer for total, answer in zip(totals, part, strict=True)]
    return totals


@lru_cache(maxsize=1)
def _linear_algebra() -> ThreadpoolController:
    # Threads over chunks and threads inside a matrix product would get in each other's way.
    return ThreadpoolController()


def _threads() -> int:
    threads = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, int(threads)) if threads.isdecimal() else os.cpu_count() or 1


def scratch(rows: int, columns: int, kind: type = np.float64) -> Any:
    """An array that this thread uses again and again: fresh memory for every chunk would cost more than the arithmetic.

    The next call for the same kind of number overwrites it.
    """
    kept: Any = getattr(_SCRATCH, kind.__name__, np.empty(0, kind))
    if kept.size < rows * columns:
        kept = np.empty(rows * columns, kind)
        setattr(_SCRATCH, kind.__name__, kept)
    return kept[: rows * columns].reshape(rows, columns)


def products(points: Array, rows: Any, *, plus: Array | None = None, out: Array | None = None) -> Array:
    """``points @ rows.T`` (and ``plus``, a number for each point), shape (points, rows), row by row.

    A row's column is the same to the last bit whatever rows stand by it.

    Libraries round by the shape of a product and by a row's place in it. A row on the boundary of two cells would
    then change its cell because another row came or went, and a count would move by more than its sensitivity. So
    rows are multiplied in tiles of one size; the last one is filled up.
    """
    if is_sparse(rows):  # one row after the other by itself: nothing to even out
        sums: Array = np.asarray((rows @ points.T).T) + (0.0 if plus is None else plus[:, None])
        return sums
    # A column of ones beside the rows adds ``plus`` within the product, for next to nothing.
    factor = points if plus is None else np.concatenate([points, plus[:, None]], axis=1)
    tile = np.ones((_TILE, factor.shape[1]))
    inside = tile[:, : rows.shape[1]]
    product = np.empty((len(points), len(rows))) if out is None else out
    whole = len(rows) - len(rows) % _TILE
    for start in range(0, whole, _TILE):
        inside[:] = rows[start : start + _TILE]
        np.matmul(factor, tile.T, out=product[:, start : start + _TILE])
    inside[: len(rows) - whole] = rows[whole:]
    product[:, whole:] = (factor @ tile.T)[:, : len(rows) - whole]
    return product


def rows_in_use(values: Any, persons: Codes | None, most: int, *, drop_incomplete: bool) -> Codes:
    """Indices of the rows that count: all of them, or the complete ones, at most ``most`` of each person.

    A row whose person is -1 is nobody's, and does not count.
    """
    if not drop_incomplete:
        return np.arange(values.shape[0])
    if persons is None:
        return np.flatnonzero(complete(values))
    usable = np.flatnonzero(complete(values) & (np.asarray(persons) >= 0))
    if is_sparse(values):
        raise check.RequestError("A sparse table has no id column: give one row a person.")
    return usable[keep_rows_per_person(values[usable], np.asarray(persons)[usable], most)]


def in_region(values: Array, kept: Codes, domain: Domain) -> Array:
    """The ``kept`` rows in unit coordinates, clipped to the region; the middle stands in for incomplete ones."""
    unit = np.empty((len(kept), domain.dim))
    step = max(64, BLOCK_NUMBERS // domain.dim)
    for start in range(0, len(unit), step):
        part = values[kept[start : start + step]]
        part[~np.isfinite(part).all(axis=1)] = domain.center
        # To the bounds first: a cell of 1e300 must not overflow on its way to unit coordinates.
        unit[start : start + step] = domain.region.clip(domain.to_unit(np.clip(part, domain.lower, domain.upper)))
    return unit


def keep_rows_per_person(values: Array, persons: Codes, most: int) -> Codes:
    """Indices of at most ``most`` rows of each person, by a rule that sees that person's rows only.

    The kept rows are those with the smallest hash of their content: neither file order nor another person's
    rows can change the choice.
    """
    order = np.lexsort((_content_hash(values), persons))
    person = persons[order]
    first_of_person = np.r_[True, person[1:] != person[:-1]] if len(person) else np.zeros(0, dtype=bool)
    start = np.maximum.accumulate(np.where(first_of_person, np.arange(len(person)), 0))
    rank = np.arange(len(person)) - start
    kept: Codes = np.sort(order[rank < most])
    return kept


def content_uniforms(values: Array, salt: int) -> Array:
    """A number in (0, 1) for each row, from its content and ``salt`` alone: no row's number depends on another row."""
    mixed = _content_hash(values) ^ np.uint64((salt + 1) * 0xBF58476D1CE4E5B9 % 2**64)
    for shift in (30, 27, 31):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(0x94D049BB133111EB)
    uniforms: Array = ((mixed >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
    return uniforms


def _content_hash(values: Array) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    mixed = np.zeros(len(values), dtype=np.uint64)
    for column in np.ascontiguousarray(values).view(np.uint64).T:
        mixed = (mixed ^ column) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return mixed
