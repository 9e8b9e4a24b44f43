"""The row source: rows as chunks, so that memory is bounded by the chunk and not by the table; and rows in parts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from math import ceil
from operator import methodcaller
from typing import Any, Protocol

import numpy as np
from scipy import sparse
from threadpoolctl import ThreadpoolController

from dpviz.core import check, lattice
from dpviz.core.arrays import Array, Codes, Hashes
from dpviz.core.block_models import BlockKMeans
from dpviz.core.content import draw_lots, hash_content, keep_rows_per_person
from dpviz.core.domain import Domain, Region
from dpviz.core.lattice import ExactRows, borrow_scratch
from dpviz.core.stored_rows import SeenRows, allocate_rows, choose_order, find_complete, is_sparse, keep_largest_entries


def count_dealt(number: int, at: int, hands: int) -> int:
    """How many blocks a hand gets where they are dealt in turn."""
    return len(range(at, number, hands))


def join_lines(dealt: Sequence[Array], number: int) -> Array:
    """The lines (number, ...) of blocks that were dealt in turn, in the order of the blocks."""
    lines = np.empty((number, dealt[0].shape[1]))
    for at, part in enumerate(dealt):
        lines[at :: len(dealt)] = part
    return lines


def share_out(who: Codes, sizes: Sequence[int]) -> list[Codes]:
    """Which of the rows ``who`` (m,), numbered from the first part to the last, lie in each part."""
    order = np.argsort(who, kind="stable")
    return np.split(order, np.searchsorted(who[order], np.cumsum(sizes)[:-1]))


def put_in_place(answers: Sequence[Any], asked: Sequence[Codes]) -> Any:
    """The lines (m, ...) of all parts, where those stand who were asked, in the order of the rows before sharing."""
    together = np.concatenate(answers)
    lines = np.empty_like(together)
    lines[np.concatenate(asked)] = together
    return lines


# One temporary block of a query (chunk rows x its width) holds about this many numbers: 2 MB. With smaller ones
# threads lose more by waiting for each other than the cache wins.
BLOCK_NUMBERS = 2**18

# Rows of secret blocks that are read from a file together hold about this many numbers: 128 MB.
BLOCKED_NUMBERS = 2**24

# A chunk has at least this many rows, however wide the question.
_FEWEST_ROWS = 64

NOT_AT_ONCE = (
    "The rows are not in memory, and this question needs all of them at once: choose an algorithm that asks for sums, "
    "such as auto."
)


class RowSource(Protocol):
    """Rows in unit coordinates, on the lattice of their region, wherever they lie: what a session asks."""

    @property
    def in_memory(self) -> bool:
        """Whether ``values`` can be had."""

    @property
    def dim(self) -> int:
        """Columns."""

    @property
    def persons(self) -> Codes | None:
        """Whose each row is, of rows in memory; None where every row is somebody else's."""

    @property
    def values(self) -> Any:
        """All rows at once."""

    def __len__(self) -> int: ...

    def total(self, ask: Callable[[ExactRows], list[Any]], width: int) -> list[Any]:
        """Sums of the answers of ``ask`` over all chunks of rows, for a question of ``width`` numbers a row.

        Parameters
        ----------
        ask : function
            Of some of the rows, to a list of answers that can be added.
        width : int
            Numbers a row that the answer needs in memory.

        Returns
        -------
        list of object
            One sum for each answer, in whole numbers.
        """

    def hash_rows(self) -> Hashes:
        """64 bits for each row, shape (n,), from its content alone."""

    def fit_blocks(self, model: BlockKMeans, block: Codes, number: int) -> Array:
        """The lines of ``model`` for all blocks.

        Parameters
        ----------
        model : BlockKMeans
        block : int array of shape (n,)
            Where each row lies.
        number : int
            How many blocks there are.

        Returns
        -------
        array of shape (number, ...)
            A line for each block.
        """

    def ask_each(self, who: Codes, *given: Any, ask: Callable[..., Any], width: int) -> Any:
        """What single rows answer, each by itself.

        Parameters
        ----------
        who : int array of shape (m,)
            Rows, by their number in this source, none twice.
        *given : array of shape (m, ...)
            A line for each of them.
        ask : function
            Of some of the rows, the places of those among them that are asked, and what is given to each of these; to
            an array with a line for each.
        width : int
            Numbers a row that the answer needs in memory.

        Returns
        -------
        array of shape (m, ...)
            A line for each of them.
        """

    def unfold(self, points: int, region: Region) -> RowSource:
        """The ``points`` points that stand side by side in each row, as rows of one person, in ``region``.

        Parameters
        ----------
        points : int
            How many stand side by side.
        region : Region

        Returns
        -------
        RowSource
            Of as many rows as there are points.
        """

    def project(self, frame: Array, region: Region) -> RowSource:
        """The rows under the linear map ``frame`` of shape (p, d), clipped to ``region``.

        Parameters
        ----------
        frame : array of shape (p, d)
            Rows are axes.
        region : Region

        Returns
        -------
        RowSource
        """

    def sparsify(self, most: int, region: Region) -> RowSource:
        """The rows with their ``most`` largest entries each, in ``region``; the others become 0.

        Parameters
        ----------
        most : int
            Entries of a row.
        region : Region

        Returns
        -------
        RowSource
        """


class Rows:
    """Rows in unit coordinates, on the lattice of their region, in memory or beyond it.

    Parameters
    ----------
    stored : array or what is read as one
        On the lattice already: an array as ``allocate_rows`` makes it, a file of such rows, or sparse as its chunks
        are then.
    region : Region
    persons : int array of shape (n, 2) or (n,), or None
        Whose each row is; None where every row is somebody else's.
    block_numbers : int
        Size of one temporary block; any size gives the same answers.
    """

    def __init__(
        self, stored: Any, region: Region, *, persons: Codes | None = None, block_numbers: int = BLOCK_NUMBERS
    ) -> None:
        self.persons, self.block_numbers, self._region = persons, block_numbers, region
        self._sparse = is_sparse(stored)
        self.in_memory = self._sparse or isinstance(stored, np.ndarray)
        self._stored: Any = stored
        if self._sparse:
            self._stored = sparse.csr_array(stored)
        elif self.in_memory:
            self._stored = np.require(stored, requirements=choose_order(region.dim))

    @classmethod
    def of(cls, values: Any, region: Region, **more: Any) -> Rows:
        """Rows (n, d) of any numbers, moved into the region and onto its lattice.

        Parameters
        ----------
        values : array of shape (n, d)
            Unit coordinates.
        region : Region
        **more
            What the rows carry beside their coordinates.

        Returns
        -------
        Rows
        """
        return cls.on_lattice(region.rows(values), region, **more)

    @classmethod
    def on_lattice(cls, values: Any, region: Region, **more: Any) -> Rows:
        """Rows (n, d) that lie in the region and on its lattice already.

        Parameters
        ----------
        values : array of shape (n, d)
            Unit coordinates.
        region : Region
        **more
            What the rows carry beside their coordinates.

        Returns
        -------
        Rows
        """
        stored = allocate_rows(len(values), region)
        stored[:, :-1] = values
        return cls(stored, region, **more)

    def __len__(self) -> int:
        return int(self._stored.shape[0])

    @property
    def dim(self) -> int:
        return self._region.dim

    @property
    def values(self) -> Any:
        """All rows at once, as floats (n, d) or sparse.

        Raises
        ------
        RequestError
            If they are not in memory.
        """
        if not self.in_memory:
            raise check.RequestError(NOT_AT_ONCE)
        return self._stored if self._sparse else self._stored[:, :-1].astype(np.float64)

    def chunks(self, width: int) -> Iterator[ExactRows]:
        """Consecutive chunks for a question that needs ``width`` temporary numbers a row; at least one chunk."""
        size = self._choose_chunk_size(width)
        return (self._chunk(start, size) for start in range(0, max(1, len(self)), size))

    def _choose_chunk_size(self, width: int) -> int:
        # The rows themselves, as floats, are a block too.
        columns = 1 if self._sparse else self.dim + 1
        return max(_FEWEST_ROWS, self.block_numbers // max(columns, width))

    def _chunk(self, start: int, size: int) -> ExactRows:
        stored = self._stored[start : min(start + size, len(self))]
        if self._sparse:
            return ExactRows(stored, None, self._region.row_bits, self._region.radius)
        return ExactRows(stored[:, :-1], _convert_to_floats(stored), self._region.row_bits, self._region.radius)

    def total(self, ask: Callable[[ExactRows], list[Any]], width: int, *, threads: int | None = None) -> list[Any]:
        """Sums of the answers of ``ask`` over all chunks, which can be added in any order; in whole numbers.

        ``ask`` makes of some of the rows a list of answers that can be added, for which it needs ``width`` numbers a
        row in memory. Each core, or each of ``threads``, takes the next chunk when it is done with one: none waits for
        another that began late, and memory is bounded by a chunk for each core.
        """
        n, size = max(1, len(self)), self._choose_chunk_size(width)
        threads = min(threads or _count_threads(), ceil(n / size))
        even = ceil(n / (threads * ceil(n / (threads * size))))  # as many chunks for each core
        starts = iter(range(0, n, even))  # shared: taking the next one is a single step of the interpreter

        def total_of_mine() -> list[Any]:
            return add_up(ask(self._chunk(start, even)) for start in starts)

        with _control_linear_algebra().limit(limits=1):
            others = [_open_pool(os.getpid()).submit(total_of_mine) for _ in range(threads - 1)]
            mine = total_of_mine()
            theirs = [other.result() for other in others if not other.cancel()]
            return add_up(part for part in [mine, *theirs] if part)

    def hash_rows(self) -> Hashes:
        """64 bits for each row, shape (n,), from its content alone."""
        if self.in_memory:
            return hash_content(self.values)
        return np.concatenate([hash_content(chunk.values) for chunk in self.chunks(self.dim)])

    def fit_blocks(self, model: BlockKMeans, block: Codes, number: int) -> Array:
        """What a model makes of each block of rows, in as many passes as memory asks for."""
        if self.in_memory:
            return model.fit(self.values, block, number)
        passes = min(number, max(1, ceil(len(self) * self.dim / BLOCKED_NUMBERS)))
        fitted = [
            model.fit(*self._read_blocks(block, at, passes), count_dealt(number, at, passes)) for at in range(passes)
        ]
        return join_lines(fitted, number)

    def ask_each(self, who: Codes, *given: Any, ask: Callable[..., Any], width: int) -> Any:
        """What single rows answer, chunk by chunk, each by itself; see ``RowSource.ask_each``."""
        size = self._choose_chunk_size(width)
        starts = range(0, max(1, len(self)), size)
        asked = share_out(who, [size] * len(starts))
        answers = [
            ask(self._chunk(start, size), who[mine] - start, *(column[mine] for column in given))
            for start, mine in zip(starts, asked, strict=True)
        ]
        return put_in_place(answers, asked)

    def _read_blocks(self, block: Codes, at: int, passes: int) -> tuple[Array, Codes]:
        """The rows of every block in ``passes`` from that ``at`` on, and the place of their block among these."""
        parts, start = [], 0
        for chunk in self.chunks(self.dim):
            end = start + len(chunk.values)
            parts.append(np.asarray(chunk.values[block[start:end] % passes == at], dtype=np.float64))
            start = end
        return np.concatenate(parts), block[block % passes == at] // passes

    def cap(self, most: int) -> tuple[Rows, Codes]:
        """The rows without those that a person has beyond ``most``, and the indices of the ones that stay."""
        assert self.persons is not None
        content = self._stored if self._sparse else self._stored[:, :-1]
        who = keep_rows_per_person(draw_lots(content, self.persons), self.persons, most)
        return Rows(self._stored[who], self._region, persons=self.persons[who], block_numbers=self.block_numbers), who

    def unfold(self, points: int, region: Region) -> Rows:
        """The ``points`` points that stand side by side in each row, as rows of one person, in ``region``."""
        persons = None
        if self.in_memory:
            persons = np.repeat(np.arange(len(self)) if self.persons is None else self.persons, points, axis=0)
        return self._apply_view(methodcaller("reshape", -1, region.dim), region, persons, each=points)

    def project(self, frame: Array, region: Region) -> Rows:
        """The rows under the linear map ``frame`` of shape (p, d), clipped to ``region``."""
        project = partial(_project, frame=lattice.round_points(frame), region=region)
        return self._apply_view(project, region, self.persons)

    def sparsify(self, most: int, region: Region) -> Rows:
        """The rows with their ``most`` largest entries each, in ``region``; the others become 0."""
        if self._sparse:
            kept = keep_largest_entries(self._stored, most)
            return Rows(kept, region, persons=self.persons, block_numbers=self.block_numbers)
        return self._apply_view(partial(keep_largest_entries, most=most), region, self.persons)

    def _apply_view(
        self, view: Callable[[Any], Array], region: Region, persons: Codes | None, *, each: int = 1
    ) -> Rows:
        """What is seen of the rows, see ``SeenRows``, kept as these are: in memory, or nowhere."""
        seen: Any = SeenRows(self._stored, view, region, each)
        if self.in_memory:
            through, seen = seen, allocate_rows(seen.shape[0], region)
            step = max(_FEWEST_ROWS, self.block_numbers // (region.dim + 1))
            for start in range(0, len(seen), step):
                seen[start : start + step] = through[start : start + step]
        return Rows(seen, region, persons=persons, block_numbers=self.block_numbers)


def _project(values: Any, *, frame: Array, region: Region) -> Array:
    """The images of ``values`` (n, d) under the linear map ``frame`` (p, d), on the lattice, clipped to ``region``."""
    dense = values if is_sparse(values) else values.astype(np.float64)
    return region.rows(np.asarray(dense @ frame.T))


def _convert_to_floats(stored: Any) -> Array:
    """Rows as floats, ones behind them included; overwritten by the next call in this thread."""
    n, columns = stored.shape
    by_column = choose_order(columns - 1) == "F"
    padded: Array = borrow_scratch(columns, n, "rows").T if by_column else borrow_scratch(n, columns, "rows")
    np.copyto(padded, stored)
    return padded


def add_up(parts: Iterable[list[Any]]) -> list[Any]:
    """The sums of several answers, entry by entry; nothing of none."""
    others = iter(parts)
    totals = next(others, [])
    for part in others:
        totals = [total + answer for total, answer in zip(totals, part, strict=True)]
    return totals


@lru_cache(maxsize=1)
def _control_linear_algebra() -> ThreadpoolController:
    # Threads over chunks and threads inside a matrix product would get in each other's way.
    return ThreadpoolController().select(user_api="blas")


@lru_cache(maxsize=1)
def _open_pool(process: int) -> ThreadPoolExecutor:
    """Threads that stay: they and what they keep for their arithmetic cost more to make than a small question.

    A process that was forked off has none of its parent's threads, so it gets a pool of its own.
    """
    return ThreadPoolExecutor(max(1, _count_threads() - 1), thread_name_prefix=f"rows of {process}")


def _count_threads() -> int:
    threads = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, int(threads)) if threads.isdecimal() else os.cpu_count() or 1


def find_rows_in_use(values: Any, persons: Codes | None, *, drop_incomplete: bool) -> Codes:
    """Indices of the rows that count: all of them, or the complete ones of somebody.

    Parameters
    ----------
    values : array of shape (n, d)
        Data units, NaN where a cell is missing.
    persons : int array of shape (n, 2) or (n,), or None
        Whose each row is; a row of the person -1 is nobody's, and does not count.
    drop_incomplete : bool
        Whether only complete rows of somebody do.

    Returns
    -------
    int array
    """
    if not drop_incomplete:
        return np.arange(values.shape[0])
    if persons is None:
        return np.flatnonzero(find_complete(values))
    if is_sparse(values):
        raise check.RequestError("A sparse table has no id column: give one row a person.")
    return np.flatnonzero(find_complete(values) & (np.atleast_2d(np.asarray(persons).T)[0] >= 0))


def move_into_region(values: Array, kept: Codes, domain: Domain) -> Any:
    """The ``kept`` rows (n, d) in unit coordinates, on the lattice; the placeholder where a cell is missing."""
    unit = allocate_rows(len(kept), domain.region)
    step = max(64, BLOCK_NUMBERS // domain.dim)
    for start in range(0, len(unit), step):
        unit[start : start + step, :-1] = convert_to_unit(values[kept[start : start + step]], domain)
    return unit


def convert_to_unit(values: Array, domain: Domain) -> Array:
    """Rows (n, d) in data units as a session holds them; one with a missing cell becomes the placeholder. Each row by
    itself.

    Parameters
    ----------
    values : array of shape (n, d)
        Data units.
    domain : Domain

    Returns
    -------
    array of shape (n, dim)
        Unit coordinates.
    """
    whole = find_complete(values)
    values = values if whole.all() else np.where(whole[:, None], values, domain.placeholder)
    return domain.region.rows(domain.to_unit(domain.limit(values)))
