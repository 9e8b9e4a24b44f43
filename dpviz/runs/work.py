"""What a worker process does: one run, or a study, as a stream of progress and results."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from time import monotonic
from typing import NamedTuple

import numpy as np

from dpviz.algorithms import Card, Params, Setting
from dpviz.core import Array, PrivateTable, Rows, sample_rows
from dpviz.runs.clipped_rows import ClippedRows
from dpviz.runs.evaluation import Reference, compute_mean_losses, find_reference
from dpviz.runs.jobs import brief
from dpviz.runs.one_run import Run, RunSoFar, run_request, run_steps
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


CURVE_EPSILONS = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
_COARSE, _DRAWS, _MOST_JUDGED = 4, 5, 20_000


class CurvePoint(NamedTuple):
    """Several runs at one ε of a run: their losses over that of k-means++."""

    epsilon: float
    losses: tuple[float, ...]


@brief
def curve_work(request: Request, table: PrivateTable, rows: ClippedRows, reference: Reference) -> Iterator[CurvePoint]:
    """Runs of what is asked for at each ε of a few, judged on rows that anybody may see; a coarse curve comes first.

    The noise is that of the seeds 0 to 4, at each ε alike: the same table gives the same curve.

    Parameters
    ----------
    request : Request
        Its ε and its seed are not read.
    table : PrivateTable
    rows : ClippedRows
        Revealed, unit coordinates.
    reference : Reference

    Yields
    ------
    CurvePoint
    """
    points = rows.points[:: max(1, len(rows.points) // _MOST_JUDGED)]
    least = float(compute_mean_losses(points, reference.centers[None])[0])
    finer = (epsilon for place, epsilon in enumerate(CURVE_EPSILONS) if place % _COARSE)
    for epsilon in (*CURVE_EPSILONS[::_COARSE], *finer):
        asked = (replace(request, epsilon=epsilon, seed=seed) for seed in range(_DRAWS))
        losses = compute_mean_losses(points, np.array([run_request(one, table).unit_centers for one in asked]))
        yield CurvePoint(epsilon, tuple((losses / least if least > 0 else np.where(losses > 0, np.inf, 1.0)).tolist()))


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
