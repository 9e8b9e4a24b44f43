"""Rows that lie in parts with an engine, such as a Dask cluster: questions go to them, and whole numbers come back.

Which row lies in which part shows nowhere: answers are added up exactly, in whatever order they arrive. A part of a
worker that dies is made again from its source, and asked again: nothing that a worker does has any other effect. So
another engine has four things to do, see ``Engine``, and answers with the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Protocol, TypeAlias

import numpy as np

from dpviz.core import (
    NOT_AT_ONCE,
    Array,
    BlockModel,
    Codes,
    Domain,
    ExactRows,
    Hashes,
    ProjectedRows,
    Region,
    Rows,
    RowView,
    Sparsified,
    Unfolded,
    add_up,
    check,
    count_dealt,
    join_lines,
    lattice,
    put_in_place,
    share_out,
)
from dpviz.tables.prepared_rows import Batch, Records, cap_rows, deal_rows, make_lattice_rows

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
        ...

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
        ...

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
        ...

    def collect(self, parts: Sequence[Part]) -> list[Any]:
        """The parts themselves, in this process and in their order."""
        ...


# So many answers are added up by one task.
_FAN_IN = 8
_SECONDS_TO_ANSWER = 10
_GONE = (
    "The cluster went away, or lost a worker too often, before it had answered: start it again and open the table "
    "anew. What was charged for an answer stays charged."
)


def connect(address: str) -> None:
    """From now on this process asks the Dask scheduler at ``address``.

    Raises
    ------
    RequestError
        If it is not there, or Dask is not installed.
    """
    check.import_extra("dask")
    distributed = check.import_extra("distributed")
    try:
        distributed.Client(address, timeout=_SECONDS_TO_ANSWER)
    except Exception:
        raise check.RequestError(
            f"No Dask scheduler answers at {check.format_value(address)}: start one (dask scheduler) and workers (dask "
            "worker ADDRESS) that run the same version of dpviz, and give its address, such as tcp://127.0.0.1:8786."
        ) from None


class DaskEngine:
    """Parts are delayed values of Dask, kept on the workers of a cluster, or in this process where there is none."""

    def map(self, call: Callable[..., Any], *columns: Sequence[Any]) -> list[Part]:
        """What ``call`` makes of the entries of the columns, one by one, kept on the workers."""
        dask = check.import_extra("dask")
        delayed = dask.delayed(call)
        with _translate_errors():
            return list(dask.persist(*(delayed(*given) for given in zip(*columns, strict=True))))

    def exchange(
        self, deal: Callable[..., list[Any]], gather: Callable[[list[Any], int], Any], *columns: Sequence[Any]
    ) -> list[Part]:
        """As many parts as before, dealt out and gathered by the workers."""
        dask = check.import_extra("dask")
        number = len(columns[0])
        dealing, gathering = dask.delayed(deal, nout=number), dask.delayed(gather)
        hands = [dealing(*given) for given in zip(*columns, strict=True)]
        with _translate_errors():
            return list(dask.persist(*(gathering([hand[at] for hand in hands], at) for at in range(number))))

    def total(self, ask: Callable[[Any], list[Any]], parts: Sequence[Part]) -> list[Any]:
        """Sums of the answers over all parts, added up on the workers."""
        dask = check.import_extra("dask")
        asked, together = dask.delayed(ask), dask.delayed(_add_together)
        answers = [asked(part) for part in parts]
        while len(answers) > 1:
            answers = [together(answers[i : i + _FAN_IN]) for i in range(0, len(answers), _FAN_IN)]
        with _translate_errors():
            (total,) = dask.compute(answers[0])
        answer: list[Any] = total
        return answer

    def collect(self, parts: Sequence[Part]) -> list[Any]:
        """The parts, fetched."""
        with _translate_errors():
            return list(check.import_extra("dask").compute(*parts))


class ClusterRows:
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

    @classmethod
    def of(
        cls,
        batches: Sequence[Any],
        domain: Domain,
        *,
        drop_incomplete: bool,
        rows_per_person: int | None = None,
        engine: Engine | None = None,
    ) -> ClusterRows:
        """The rows of batches, prepared where they lie as declared (see ``Preparation``).

        Parameters
        ----------
        batches : sequence of Delayed
            Delayed batches of rows, data units.
        domain : Domain
            Declared bounds and scaling.
        drop_incomplete : bool
            Whether a row with a missing cell is dropped; else the middle stands in for it.
        rows_per_person : int or None
            Most rows of a person.
        engine : Engine or None
            What keeps the parts.

        Returns
        -------
        ClusterRows
            Rows that stay on the workers.

        Raises
        ------
        RequestError
            If the engine does not answer.
        """
        engine = DaskEngine() if engine is None else engine
        if rows_per_person is None:
            parts = engine.map(partial(_prepare, domain=domain, drop_incomplete=drop_incomplete), batches)
        else:
            number = len(batches)
            deal = partial(_deal, domain=domain, drop_incomplete=drop_incomplete, number=number, most=rows_per_person)
            parts = engine.exchange(deal, partial(_gather, region=domain.region, most=rows_per_person), batches)
        return cls(parts, engine.collect(engine.map(len, parts)), domain.region, engine)

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
        return self._engine.total(partial(_ask, ask=ask, width=width), self._parts)

    def hash_rows(self) -> Hashes:
        """64 bits for each row, shape (n,), from its content alone; nothing else of it comes here."""
        return np.concatenate(self._engine.collect(self._engine.map(Rows.hash_rows, self._parts)))

    def fit_blocks(self, model: BlockModel, block: Codes, number: int) -> Array:
        """What a model makes of each block of rows: these go to where their block is, and the lines come here.

        Parameters
        ----------
        model : BlockModel
            What is computed from each block.
        block : int array of shape (n,)
            Where each row lies, from 0.
        number : int
            Of blocks.

        Returns
        -------
        array of shape (number, ...)
            The line of each block.
        """
        hands = len(self._parts)
        blocks = np.split(block, np.cumsum(self._sizes)[:-1])
        fit = partial(_fit_hands, model=model, number=number, hands=hands)
        fitted = self._engine.exchange(partial(_deal_blocks, hands=hands), fit, self._parts, blocks)
        return join_lines(self._engine.collect(fitted), number)

    def ask_each(self, ask: Callable[..., Any], who: Codes, *given: Any, width: int) -> Any:
        """What single rows answer where they lie; see ``RowSource.ask_each``. Nothing else of them comes here."""
        asked = share_out(who, self._sizes)
        firsts = np.cumsum([0, *self._sizes[:-1]])
        places = [who[mine] - first for mine, first in zip(asked, firsts, strict=True)]
        columns = [[column[mine] for mine in asked] for column in given]
        answers = self._engine.map(partial(_ask_each, ask=ask, width=width), self._parts, places, *columns)
        return put_in_place(self._engine.collect(answers), asked)

    def unfold(self, points: int, region: Region) -> ClusterRows:
        """The ``points`` points that stand side by side in each row, as rows of one person, in ``region``."""
        return self._apply_view(Unfolded(points, region), points)

    def project(self, frame: Array, region: Region) -> ClusterRows:
        """The rows under the linear map ``frame`` of shape (p, d), clipped to ``region``."""
        return self._apply_view(ProjectedRows(lattice.round_points(frame), region))

    def sparsify(self, most: int, region: Region) -> ClusterRows:
        """The rows with their ``most`` largest entries each, in ``region``; the others become 0."""
        return self._apply_view(Sparsified(most, region))

    def _apply_view(self, view: RowView, points: int = 1) -> ClusterRows:
        parts = self._engine.map(partial(_apply_view, view=view), self._parts)
        return ClusterRows(parts, [points * size for size in self._sizes], view.region, self._engine)


def _prepare(batch: Batch, *, domain: Domain, drop_incomplete: bool) -> Rows:
    unit, _ = make_lattice_rows(batch, domain, drop_incomplete=drop_incomplete)
    return Rows.on_lattice(unit, domain.region)


def _deal(batch: Batch, *, domain: Domain, drop_incomplete: bool, number: int, most: int) -> list[Records]:
    unit, ids = make_lattice_rows(batch, domain, drop_incomplete=drop_incomplete)
    assert ids is not None
    return deal_rows(unit, ids, domain.region, number=number, most=most)


def _gather(hands: list[Records], at: int, *, region: Region, most: int) -> Rows:
    return Rows.on_lattice(cap_rows(np.concatenate(hands), most)["row"], region)


def _deal_blocks(rows: Rows, block: Codes, *, hands: int) -> list[tuple[Array, Codes]]:
    """The rows whose blocks each hand has, with the place of their block there."""
    values, at = rows.values, block % hands
    return [(values[at == place], block[at == place] // hands) for place in range(hands)]


def _fit_hands(dealt: list[tuple[Array, Codes]], at: int, *, model: BlockModel, number: int, hands: int) -> Array:
    rows, blocks = zip(*dealt, strict=True)
    return model.fit(np.concatenate(rows), np.concatenate(blocks), count_dealt(number, at, hands))


def _apply_view(rows: Rows, *, view: RowView) -> Rows:
    return rows.apply_view(view)


def _ask(rows: Rows, *, ask: Callable[[ExactRows], list[Any]], width: int) -> list[Any]:
    return rows.total(ask, width, threads=1)


def _ask_each(rows: Rows, who: Codes, *given: Any, ask: Callable[..., Any], width: int) -> Any:
    return rows.ask_each(ask, who, *given, width=width)


def _add_together(answers: list[list[Any]]) -> list[Any]:
    return add_up(iter(answers))


@contextmanager
def _translate_errors() -> Iterator[None]:
    """What a cluster fails with as one sentence: its own may quote rows."""
    try:
        yield
    except check.RequestError:
        raise
    except Exception as error:
        if isinstance(error, MemoryError):
            raise
        raise check.RequestError(_GONE) from None
