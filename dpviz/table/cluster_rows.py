"""Rows that lie in parts on a Dask cluster (or with Dask's threads): questions go to them, and whole numbers come back.

Which row lies in which part shows nowhere: answers are added up exactly, in whatever order they arrive. A part of a
worker that dies is made again from its source, and asked again: nothing that a worker does has any other effect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from dpviz import check
from dpviz.arrays import Array, Codes
from dpviz.table import lattice
from dpviz.table.domain import Domain, Region
from dpviz.table.lattice import ExactRows
from dpviz.table.prepared_rows import Batch, Records, cap_rows, deal_rows, make_lattice_rows
from dpviz.table.rows import NOT_AT_ONCE, Rows, add_up
from dpviz.table.seen_rows import Projected, Sparsified, Unfolded, View

# What Dask computes later.
Delayed: TypeAlias = Any

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


class ClusterRows:
    """Rows on a cluster, in unit coordinates, on the lattice of ``region``.

    Parameters
    ----------
    parts : sequence of delayed Rows
        Kept on the workers.
    n : int
        Rows in all.
    """

    in_memory = False
    persons: Codes | None = None

    def __init__(self, parts: Sequence[Delayed], n: int, region: Region) -> None:
        self._parts, self._n, self._region = tuple(parts), n, region

    @classmethod
    def of(
        cls, batches: Sequence[Delayed], domain: Domain, *, drop_incomplete: bool, rows_per_person: int | None = None
    ) -> ClusterRows:
        """The rows of delayed batches, prepared on the workers as declared (see ``Preparation``).

        ``rows_per_person`` is given where the batches say whose each row is.

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

        Returns
        -------
        ClusterRows
            Rows that stay on the workers.

        Raises
        ------
        RequestError
            If the cluster does not answer.
        """
        dask = check.import_extra("dask")
        prepare = dask.delayed(partial(_prepare, domain=domain, drop_incomplete=drop_incomplete))
        if rows_per_person is None:
            parts = [prepare(batch) for batch in batches]
        else:
            number = len(batches)
            deal = dask.delayed(
                partial(_deal, domain=domain, drop_incomplete=drop_incomplete, number=number, most=rows_per_person),
                nout=number,
            )
            hands = [deal(batch) for batch in batches]
            gather = dask.delayed(partial(_gather, region=domain.region, most=rows_per_person))
            parts = [gather([hand[place] for hand in hands]) for place in range(number)]
        with _translate_errors():
            kept = dask.persist(*parts)
            sizes = dask.compute(*(dask.delayed(len)(part) for part in kept))
        return cls(kept, sum(sizes), domain.region)

    def __len__(self) -> int:
        return self._n

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
        """Sums of the answers of ``ask`` over all rows, added up on the workers.

        Raises
        ------
        RequestError
            If the cluster does not answer.
        """
        dask = check.import_extra("dask")
        asked = dask.delayed(partial(_ask, ask=ask, width=width))
        answers = [asked(part) for part in self._parts]
        together = dask.delayed(_add_together)
        while len(answers) > 1:
            answers = [together(answers[i : i + _FAN_IN]) for i in range(0, len(answers), _FAN_IN)]
        with _translate_errors():
            (total,) = dask.compute(answers[0])
        answer: list[Any] = total
        return answer

    def unfold(self, points: int, region: Region) -> ClusterRows:
        """The ``points`` points that stand side by side in each row, as rows of one person, in ``region``."""
        return self._apply_view(Unfolded(points, region), self._n * points)

    def project(self, frame: Array, region: Region) -> ClusterRows:
        """The rows under the linear map ``frame`` of shape (p, d), clipped to ``region``."""
        return self._apply_view(Projected(lattice.round_points(frame), region), self._n)

    def sparsify(self, most: int, region: Region) -> ClusterRows:
        """The rows with their ``most`` largest entries each, in ``region``; the others become 0."""
        return self._apply_view(Sparsified(most, region), self._n)

    def _apply_view(self, view: View, n: int) -> ClusterRows:
        dask = check.import_extra("dask")
        look = dask.delayed(partial(_apply_view, view=view))
        with _translate_errors():
            return ClusterRows(dask.persist(*(look(part) for part in self._parts)), n, view.region)


def _prepare(batch: Batch, *, domain: Domain, drop_incomplete: bool) -> Rows:
    unit, _ = make_lattice_rows(batch, domain, drop_incomplete=drop_incomplete)
    return Rows.on_lattice(unit, domain.region)


def _deal(batch: Batch, *, domain: Domain, drop_incomplete: bool, number: int, most: int) -> list[Records]:
    unit, ids = make_lattice_rows(batch, domain, drop_incomplete=drop_incomplete)
    assert ids is not None
    return deal_rows(unit, ids, domain.region, number=number, most=most)


def _gather(hands: list[Records], *, region: Region, most: int) -> Rows:
    return Rows.on_lattice(cap_rows(np.concatenate(hands), most)["row"], region)


def _apply_view(rows: Rows, *, view: View) -> Rows:
    return rows.apply_view(view)


def _ask(rows: Rows, *, ask: Callable[[ExactRows], list[Any]], width: int) -> list[Any]:
    return rows.total(ask, width, threads=1)


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
