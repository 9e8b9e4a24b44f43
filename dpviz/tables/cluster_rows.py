"""Rows on the workers of a Dask cluster, prepared where they lie as declared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from dpviz.core import Domain, Engine, EngineRows, Region, Rows, add_up, check
from dpviz.tables.prepared_rows import Batch, Records, cap_rows, deal_rows, make_lattice_rows

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

    def map(self, call: Callable[..., Any], *columns: Sequence[Any]) -> list[Any]:
        """What ``call`` makes of the entries of the columns, one by one, kept on the workers."""
        dask = check.import_extra("dask")
        delayed = dask.delayed(call)
        with _translate_errors():
            return list(dask.persist(*(delayed(*given) for given in zip(*columns, strict=True))))

    def exchange(
        self, deal: Callable[..., list[Any]], gather: Callable[[list[Any], int], Any], *columns: Sequence[Any]
    ) -> list[Any]:
        """As many parts as before, dealt out and gathered by the workers."""
        dask = check.import_extra("dask")
        number = len(columns[0])
        dealing, gathering = dask.delayed(deal, nout=number), dask.delayed(gather)
        hands = [dealing(*given) for given in zip(*columns, strict=True)]
        with _translate_errors():
            return list(dask.persist(*(gathering([hand[at] for hand in hands], at) for at in range(number))))

    def total(self, ask: Callable[[Any], list[Any]], parts: Sequence[Any]) -> list[Any]:
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

    def collect(self, parts: Sequence[Any]) -> list[Any]:
        """The parts, fetched."""
        with _translate_errors():
            return list(check.import_extra("dask").compute(*parts))


class ClusterRows(EngineRows):
    """Rows with an engine, made of batches that lie there."""

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

        ``batches``: delayed batches of rows, data units.
        """
        engine = DaskEngine() if engine is None else engine
        if rows_per_person is None:
            parts = engine.map(partial(_prepare, domain=domain, drop_incomplete=drop_incomplete), batches)
        else:
            number = len(batches)
            deal = partial(_deal, domain=domain, drop_incomplete=drop_incomplete, number=number, most=rows_per_person)
            parts = engine.exchange(deal, partial(_gather, region=domain.region, most=rows_per_person), batches)
        return cls(parts, engine.collect(engine.map(len, parts)), domain.region, engine)


def _prepare(batch: Batch, *, domain: Domain, drop_incomplete: bool) -> Rows:
    unit, _ = make_lattice_rows(batch, domain, drop_incomplete=drop_incomplete)
    return Rows.on_lattice(unit, domain.region)


def _deal(batch: Batch, *, domain: Domain, drop_incomplete: bool, number: int, most: int) -> list[Records]:
    unit, ids = make_lattice_rows(batch, domain, drop_incomplete=drop_incomplete)
    assert ids is not None
    return deal_rows(unit, ids, domain.region, number=number, most=most)


def _gather(hands: list[Records], at: int, *, region: Region, most: int) -> Rows:
    return Rows.on_lattice(cap_rows(np.concatenate(hands), most)["row"], region)


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
