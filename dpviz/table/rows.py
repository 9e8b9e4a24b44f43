"""The row source: rows as chunks, so that memory is bounded by the chunk and not by the table."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import islice
from typing import TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from dpviz.table.domain import Array, Codes, Region

# One temporary block of a query (chunk rows x its width) holds about this many numbers: 1 MB stays in cache.
BLOCK_NUMBERS = 2**17

# Every matrix product over rows has this many of them, in any table: libraries round by the shape of a product.
# A multiple of the blocks (up to 48 rows) that they work on inside, so that a row's place does not matter either.
_TILE = 1536
# A chunk has at least this many rows, however wide the question.
_FEWEST_ROWS = 64

Answer = TypeVar("Answer")


class Rows:
    """Rows in memory, unit coordinates, clipped to their region.

    Parameters
    ----------
    values : array of shape (n, d)
    block_numbers : int
        Size of one temporary block; any size gives the same answers up to rounding.
    """

    def __init__(self, values: Array, *, block_numbers: int = BLOCK_NUMBERS) -> None:
        self.values = np.ascontiguousarray(values, dtype=np.float64)
        self.block_numbers = block_numbers

    def __len__(self) -> int:
        return len(self.values)

    def chunks(self, width: int) -> Iterator[Array]:
        """Consecutive chunks for a question that needs ``width`` temporary numbers a row; at least one chunk."""
        size = max(_FEWEST_ROWS, self.block_numbers // max(1, width))
        if size > _TILE:
            size -= size % _TILE
        for start in range(0, max(1, len(self.values)), size):
            yield self.values[start : start + size]

    def map(self, ask: Callable[[Array], Answer], width: int) -> Iterator[Answer]:
        """``ask`` of every chunk, in the order of the chunks; several chunks at a time where there are several cores.

        No more answers than threads wait to be taken, so memory stays bounded by a few chunks.
        """
        chunks = self.chunks(width)
        threads = _threads()
        with _linear_algebra().limit(limits=1):
            if threads == 1 or len(self.values) * max(1, width) <= self.block_numbers:
                yield from map(ask, chunks)
                return
            with ThreadPoolExecutor(threads) as pool:
                while batch := list(islice(chunks, threads)):
                    yield from pool.map(ask, batch)

    def project(self, frame: Array, region: Region) -> Rows:
        """The rows under the linear map ``frame`` of shape (p, d), clipped to ``region``."""
        image = np.empty((len(self.values), len(frame)))
        start = 0
        for chunk in self.chunks(sum(frame.shape)):
            image[start : start + len(chunk)] = region.clip(products(frame, chunk).T)
            start += len(chunk)
        return Rows(image, block_numbers=self.block_numbers)


@lru_cache(maxsize=1)
def _linear_algebra() -> ThreadpoolController:
    # Threads over chunks and threads inside a matrix product would get in each other's way.
    return ThreadpoolController()


def _threads() -> int:
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, int(asked)) if asked.isdecimal() else os.cpu_count() or 1


def products(points: Array, rows: Array) -> Array:
    """``points @ rows.T``, shape (points, rows): a row's column is the same to the last bit whatever rows stand by it.

    Libraries round by the shape of a product and by a row's place in it. A row on the boundary of two cells would
    then change its cell because another row came or went, and a count would move by more than its sensitivity. So
    rows are multiplied in tiles of one size; the last one is filled up.
    """
    whole = len(rows) - len(rows) % _TILE
    tile = np.zeros((_TILE, rows.shape[1]))
    product = np.empty((len(points), len(rows)))
    for start in range(0, whole, _TILE):
        tile[:] = rows[start : start + _TILE]
        np.matmul(points, tile.T, out=product[:, start : start + _TILE])
    tile[: len(rows) - whole] = rows[whole:]
    product[:, whole:] = (points @ tile.T)[:, : len(rows) - whole]
    return product


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


def _content_hash(values: Array) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    mixed = np.zeros(len(values), dtype=np.uint64)
    for column in np.ascontiguousarray(values).view(np.uint64).T:
        mixed = (mixed ^ column) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return mixed
