"""Rows that lie in parts with an engine, such as a Dask cluster: questions go to them, and whole numbers come back.

Which row lies in which part shows nowhere: answers are added up exactly, in whatever order they arrive. A part of a
worker that dies is made again from its source, and asked again: nothing that a worker does has any other effect. So
another engine has four things to do, see ``Engine``, and answers with the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import methodcaller
from typing import Any, Protocol, TypeAlias

import numpy as np

from dpviz.core import check
from dpviz.core.arrays import Array, Codes, Hashes
from dpviz.core.block_models import BlockKMeans
from dpviz.core.domain import Region
from dpviz.core.lattice import ExactRows
from dpviz.core.rows import NOT_AT_ONCE, Rows, count_dealt, join_lines, put_in_place, share_out

Part: TypeAlias = Any
"""Some of the rows, where the engine keeps them."""


class Engine(Protocol):
    """Keeps the parts of a table, and calls functions on them where they lie.

    Whatever is called has no other effect than its result, so that it may be called again. Columns are sequences of as
    many parts, or values, as there are calls.
    """

    def map(self, call: Callable[..., Any], *columns: Sequence[Any]) -> list[Part]:
        """What ``call`` makes of the entries of the columns, one by one, kept as parts.

        Parameters
        ----------
        call : function
            Of an entry of each column.
        *columns : sequence
            Parts or values, as many in each.

        Returns
        -------
        list of parts
            One for each entry.
        """

    def exchange(
        self, deal: Callable[..., list[Any]], gather: Callable[[list[Any], int], Any], *columns: Sequence[Any]
    ) -> list[Part]:
        """As many parts as before, made of what all of them deal to each.

        Parameters
        ----------
        deal : function
            Of an entry of each column, to a hand for each part.
        gather : function
            Of all hands for a part, and the place of that part; to the part.
        *columns : sequence
            Parts or values, as many in each.

        Returns
        -------
        list of parts
            In the order of their places.
        """

    def total(self, ask: Callable[[Any], list[Any]], parts: Sequence[Part]) -> list[Any]:
        """Sums of the answers over all parts, in any order: they are whole numbers, or bags.

        Parameters
        ----------
        ask : function
            Of a part, to a list of answers that can be added.
        parts : sequence of parts
            Of this engine.

        Returns
        -------
        list of object
            One sum for each answer.
        """

    def collect(self, parts: Sequence[Part]) -> list[Any]:
        """The parts themselves, in this process and in their order."""


class EngineRows:
    """Rows with an engine, in unit coordinates, on the lattice of ``region``.

    Parameters
    ----------
    parts : sequence of parts of the engine, each of them Rows
    sizes : sequence of int
        Rows of each part.
    region : Region
    engine : Engine
    """

    in_memory = False
    persons: Codes | None = None

    def __init__(self, parts: Sequence[Part], sizes: Sequence[int], region: Region, engine: Engine) -> None:
        self._parts, self._sizes, self._region, self._engine = tuple(parts), tuple(sizes), region, engine

    def __len__(self) -> int:
        return sum(self._sizes)

    @property
    def dim(self) -> int:
        """Columns."""
        return self._region.dim

    @property
    def values(self) -> Any:
        """Refused: no process holds all rows.

        Raises
        ------
        RequestError
            Always.
        """
        raise check.RequestError(NOT_AT_ONCE)

    def total(self, ask: Callable[[ExactRows], list[Any]], width: int) -> list[Any]:
        """Sums of the answers of ``ask`` over all rows, added up where they lie.

        Raises
        ------
        RequestError
            If the engine does not answer.
        """
        return self._engine.total(partial(Rows.total, ask=ask, width=width, threads=1), self._parts)

    def hash_rows(self) -> Hashes:
        """64 bits for each row, shape (n,), from its content alone; nothing else of it comes here."""
        return np.concatenate(self._engine.collect(self._engine.map(Rows.hash_rows, self._parts)))

    def fit_blocks(self, model: BlockKMeans, block: Codes, number: int) -> Array:
        """What a model makes of each block of rows: these go to where their block is, and the lines come here."""
        hands = len(self._parts)
        blocks = np.split(block, np.cumsum(self._sizes)[:-1])
        fit = partial(_fit_hands, model=model, number=number, hands=hands)
        fitted = self._engine.exchange(partial(_deal_blocks, hands=hands), fit, self._parts, blocks)
        return join_lines(self._engine.collect(fitted), number)

    def ask_each(self, who: Codes, *given: Any, ask: Callable[..., Any], width: int) -> Any:
        """What single rows answer where they lie; see ``RowSource.ask_each``. Nothing else of them comes here."""
        asked = share_out(who, self._sizes)
        firsts = np.cumsum([0, *self._sizes[:-1]])
        places = [who[mine] - first for mine, first in zip(asked, firsts, strict=True)]
        columns = [[column[mine] for mine in asked] for column in given]
        answers = self._engine.map(partial(Rows.ask_each, ask=ask, width=width), self._parts, places, *columns)
        return put_in_place(self._engine.collect(answers), asked)

    def unfold(self, points: int, region: Region) -> EngineRows:
        """The ``points`` points that stand side by side in each row, as rows of one person, in ``region``."""
        return self._see(methodcaller("unfold", points, region), region, times=points)

    def project(self, frame: Array, region: Region) -> EngineRows:
        """The rows under the linear map ``frame`` of shape (p, d), clipped to ``region``."""
        return self._see(methodcaller("project", frame, region), region)

    def sparsify(self, most: int, region: Region) -> EngineRows:
        """The rows with their ``most`` largest entries each, in ``region``; the others become 0."""
        return self._see(methodcaller("sparsify", most, region), region)

    def _see(self, view: Callable[[Rows], Rows], region: Region, *, times: int = 1) -> EngineRows:
        return EngineRows(
            self._engine.map(view, self._parts), [times * size for size in self._sizes], region, self._engine
        )


def _deal_blocks(rows: Rows, block: Codes, *, hands: int) -> list[tuple[Array, Codes]]:
    """The rows whose blocks each hand has, with the place of their block there."""
    values, at = rows.values, block % hands
    return [(values[at == place], block[at == place] // hands) for place in range(hands)]


def _fit_hands(dealt: list[tuple[Array, Codes]], at: int, *, model: BlockKMeans, number: int, hands: int) -> Array:
    rows, blocks = zip(*dealt, strict=True)
    return model.fit(np.concatenate(rows), np.concatenate(blocks), count_dealt(number, at, hands))
