"""What a worker process does: one run, or a study, as a stream of progress and results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from time import monotonic

from dpviz.algorithms import Card, Params, Setting
from dpviz.core import Array, PrivateTable, Rows, sample_rows
from dpviz.runs.clipped_rows import ClippedRows
from dpviz.runs.evaluation import Reference, find_reference
from dpviz.runs.jobs import brief
from dpviz.runs.one_run import Run, RunSoFar, run_steps
from dpviz.runs.open_table import Plan, prepare_rows
from dpviz.runs.request import Request
from dpviz.runs.worker import Progress
from dpviz.tables import Declaration, LatticeFile, LoadedTable, SyntheticTable

# Elementary operations (one multiply-add of a vectorised pass) that one core does in a second, on the safe side.
OPERATIONS_PER_SECOND = 1.5e8
_STEPS = 1000


@brief
def run_work(request: Request, table: PrivateTable) -> Iterator[Progress | RunSoFar]:
    """Each step as a run so far of that step alone, and the part of the budget that is spent; then the ``Run``.

    Parameters
    ----------
    request : Request
    table : PrivateTable

    Yields
    ------
    Progress or RunSoFar
    """
    yield Progress(0, _STEPS, "starting")
    left, at = None, monotonic()
    for item in run_steps(request, table):
        if isinstance(item, Run):
            yield item
            return
        last = item.frames[-1]
        yield replace(item, frames=(last,))
        took, at = monotonic() - at, monotonic()
        if last.step.ahead is not None:
            left = last.step.ahead * took
        elif left is not None:
            left = max(0.0, left - took)
        yield Progress(round(_STEPS * item.spent_fraction), _STEPS, last.step.title, left)


@dataclass(frozen=True, eq=False)
class Prepared:
    """How many rows of a large table lie in its file now, and a fair sample of them."""

    rows: int
    sample: Array


@brief
def prepare_work(plan: Plan, file: LatticeFile) -> Iterator[Progress | Prepared]:
    """Rows of a table that memory does not hold, put into ``file``; then a sample of them, for pictures.

    Parameters
    ----------
    plan : Plan
    file : LatticeFile

    Yields
    ------
    Progress or Prepared
        How far it is, then what came of it.
    """
    yield Progress(0, _STEPS, "reading")
    for read in prepare_rows(plan, file):
        yield Progress(round(_STEPS * read), _STEPS, "reading, and rounding to the lattice")
    yield Progress(_STEPS, _STEPS, "drawing a sample of the rows")
    yield Prepared(file.shape[0], sample_rows(Rows(file, plan.domain.region)))


@brief
def make_work(told: SyntheticTable) -> Iterator[Progress | tuple[LoadedTable, Declaration]]:
    """A synthetic table that takes too long to wait for.

    Parameters
    ----------
    told : SyntheticTable

    Yields
    ------
    Progress or tuple
        That it has begun, then the rows and what is declared of them.
    """
    yield Progress(0, 1, f"{told.n:,} rows, {told.d:,} columns")
    yield told.make()


@brief
def reference_work(rows: ClippedRows, k: int) -> Iterator[Progress | Reference]:
    """The non-private reference on clipped rows, where it takes too long to wait for.

    Parameters
    ----------
    rows : ClippedRows
        Revealed, unit coordinates.
    k : int

    Yields
    ------
    Progress or Reference
        How far it is, then the reference.
    """
    yield Progress(0, 1, f"k-means++ with k = {k}")
    yield find_reference(rows, k)


def forecast_reference_seconds(n: int, k: int, dim: int) -> float:
    """A rough forecast of the time that the reference takes: ten starts of some eight passes each.

    Timed on four tables of groups, it took from a tenth to twice as long.

    Parameters
    ----------
    n : int
    k : int
    dim : int

    Returns
    -------
    float
        Seconds.
    """
    return 10 * 8 * n * k * dim / OPERATIONS_PER_SECOND


def forecast_seconds(card: Card, setting: Setting, params: Params) -> float:
    """A rough forecast of a run's time, to choose between waiting and a worker; 0 where the card gives none.

    A setting with the true number of rows gives a better forecast: for the owner's screen, in no release.

    Parameters
    ----------
    card : Card
    setting : Setting
    params : Params

    Returns
    -------
    float
        Seconds.
    """
    return 0.0 if card.operations is None else card.operations(setting, params) / OPERATIONS_PER_SECOND
