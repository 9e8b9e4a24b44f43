"""What a worker process does: one run, or a study, as a stream of progress and results."""

from __future__ import annotations

from collections.abc import Iterator

from dpviz.algorithms.card import Card, Params, Setting
from dpviz.privacy.room import PrivateTable
from dpviz.runs.clipped_rows import ClippedRows
from dpviz.runs.evaluation import Reference, reference_for
from dpviz.runs.request import Request
from dpviz.runs.run import Run, frames_of
from dpviz.runs.seats import brief
from dpviz.runs.worker import Progress

# Elementary operations (one multiply-add of a vectorised pass) that one core does in a second, on the safe side.
OPERATIONS_PER_SECOND = 1.5e8
_STEPS = 1000


@brief
def run_work(request: Request, table: PrivateTable) -> Iterator[Progress | Run]:
    """Progress after each step, measured by the part of the budget that is spent, then the ``Run``."""
    yield Progress(0, _STEPS, "starting")
    for item in frames_of(request, table):
        if isinstance(item, Run):
            yield item
        else:
            yield Progress(round(_STEPS * item.spent_fraction), _STEPS, item.step.title)


@brief
def reference_work(rows: ClippedRows, k: int) -> Iterator[Progress | Reference]:
    """The non-private reference on clipped rows, where it takes too long to wait for."""
    yield Progress(0, 1, f"k-means++ with k = {k}")
    yield reference_for(rows, k)


def expected_reference_seconds(n: int, k: int, dim: int) -> float:
    """A rough forecast of the time that the reference takes: ten starts of some eight passes each.

    Timed on four tables of groups, it took from a tenth to twice as long.
    """
    return 10 * 8 * n * k * dim / OPERATIONS_PER_SECOND


def expected_seconds(card: Card, setting: Setting, params: Params) -> float:
    """A rough forecast of a run's time, to choose between waiting and a worker; 0 where the card gives none.

    A setting with the true number of rows gives a better forecast: for the owner's screen, in no release.
    """
    return 0.0 if card.operations is None else card.operations(setting, params) / OPERATIONS_PER_SECOND
