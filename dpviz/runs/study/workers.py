"""The rows of a study from one process or several, which share one copy of the table."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import isnan
from typing import Any

from dpviz.check import RequestError
from dpviz.privacy.ledger import BudgetExceeded
from dpviz.runs.evaluation import reference_for
from dpviz.runs.jobs import Failure, Job
from dpviz.runs.shared_memory import shared
from dpviz.runs.study.grid import Grid, Trial
from dpviz.runs.study.study import Yardstick, study_rows
from dpviz.runs.study.subsample import JudgedTable

_POLL_SECONDS = 0.1
_Yardsticks = dict[tuple[int, int | None], Yardstick]
_REFUSALS = tuple(refusal.__name__ for refusal in (RequestError, BudgetExceeded))


class WorkerFailed(Exception):
    """A worker process ended with a defect; ``kind`` is the type of its error."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(str(failure))
        self.kind = failure.kind


def rows_of(judged: JudgedTable, grid: Grid, wanted: Sequence[str], *, workers: int) -> Iterator[dict[str, Any]]:
    """The rows of the ``wanted`` trials of a grid as they are found, by that many processes.

    Raises
    ------
    RequestError
        If the request is outside what is allowed.
    WorkerFailed
        If a worker ended with a defect.
    """
    workers = min(workers, len(wanted))
    if workers == 0:
        return
    if workers == 1:
        yield from _measured(study_rows(judged, grid, done=_others(grid, wanted)))
        return
    # Computed once here, not once in each worker.
    parts = {n: judged.subsample(n, seed=grid.seed).rows for n in grid.ns}
    references = {(k, n): reference_for(rows, k) for n, rows in parts.items() for k in grid.ks}
    table = shared(judged)
    shares = _dealt(grid, frozenset(wanted), workers)
    yield from _polled(
        [Job.start(study_rows, table, grid, references=references, done=_others(grid, share)) for share in shares]
    )


def _dealt(grid: Grid, wanted: frozenset[str], workers: int) -> list[list[str]]:
    """The ``wanted`` trials, the repeats of each point in turn to each worker: all of them have as much to do."""
    shares: list[list[str]] = [[] for _ in range(workers)]
    next_turn: dict[Trial, int] = {}
    for trial in grid.trials():
        if trial.key in wanted:
            point = replace(trial, repeat=0)
            turn = next_turn.get(point, len(next_turn))
            shares[turn % workers].append(trial.key)
            next_turn[point] = turn + 1
    return shares


def _others(grid: Grid, wanted: Sequence[str]) -> frozenset[str]:
    """The trials that are not wanted: they count as done."""
    return frozenset(trial.key for trial in grid.trials()) - frozenset(wanted)


def _polled(jobs: Sequence[Job[Any]]) -> Iterator[dict[str, Any]]:
    """Rows of all jobs as they arrive; when the reader stops, so do the jobs."""
    streams = [_Stream(job) for job in jobs]
    try:
        while streams:
            for stream in list(streams):
                ended = stream.job.state.final  # asked first: nothing can arrive after it
                yield from stream.new_rows()
                if stream.job.error is not None:
                    raise raised_by(stream.job.error)
                if ended:
                    streams.remove(stream)
            time.sleep(_POLL_SECONDS)
    finally:
        for job in jobs:
            job.cancel()


def raised_by(failure: Failure) -> Exception:
    """A request that was refused in the worker crosses with its message; of a defect only the type does."""
    return RequestError(failure.message) if failure.kind in _REFUSALS else WorkerFailed(failure)


class _Stream:
    """The rows of one job, each with the yardstick of its k and n."""

    def __init__(self, job: Job[Any]) -> None:
        self.job = job
        self._yardsticks: _Yardsticks = {}

    def new_rows(self) -> Iterator[dict[str, Any]]:
        return _measured(self.job.poll(), self._yardsticks)


def _measured(items: Iterable[Any], yardsticks: _Yardsticks | None = None) -> Iterator[dict[str, Any]]:
    """The rows among ``items``, each with the losses of the yardstick of its k and n, which came before it."""
    known = {} if yardsticks is None else yardsticks
    for item in items:
        if isinstance(item, Yardstick):
            known[item.k, item.n] = item
        elif isinstance(item, dict):
            yardstick = known[item["k"], None if isnan(item["n"]) else item["n"]]
            yield {
                **item,
                "nicv_kmeans": yardstick.reference.nicv,
                "nicv_one_center": yardstick.one_center,
                "nicv_data_independent": yardstick.data_independent,
                "clipping": yardstick.clipping,
            }
