"""The runs of a study from one process or several, which share one copy of the rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import inf
from typing import Any, NamedTuple, TypeVar

from dpviz.core import BudgetExceeded, RequestError
from dpviz.runs.clipped_rows import JudgedTable
from dpviz.runs.jobs import Failure, Job, JobState
from dpviz.runs.study.grid import StudyGrid, Trial
from dpviz.runs.study.study import Row, Yardstick, compute_study_rows, compute_yardstick_rows
from dpviz.runs.work import forecast_reference_seconds
from dpviz.runs.worker import Progress, share_content

_POLL_SECONDS = 0.1
# Yardsticks that take no longer are made where we are: to begin a process takes longer.
_AT_ONCE_SECONDS = 0.5
_REFUSALS = (RequestError.__name__, BudgetExceeded.__name__)

Part = TypeVar("Part")


class WorkerFailed(Exception):
    """A worker process ended with a defect; ``kind`` is the type of its error."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(str(failure))
        self.kind, self.failure = failure.kind, failure


class Waiting(NamedTuple):
    """No process has a seat: so many jobs of others come ``before``."""

    before: int


def compute_study_items(
    judged: JudgedTable,
    grid: StudyGrid,
    trials: Sequence[Trial],
    *,
    workers: int,
    queue: Callable[[Job[Any]], None] | None = None,
    yardsticks: Collection[Yardstick] = (),
    with_centers: bool = False,
    seconds: float = inf,
) -> Generator[Progress | Waiting | Yardstick | Row]:
    """The yardsticks of a grid, then the rows of these ``trials`` as they are found, by that many processes."""
    if workers == 1 and queue is None:
        yield from compute_study_rows(judged, grid, trials=trials, with_centers=with_centers)
        return
    known = list(yardsticks)
    points = [point for point in product(grid.ks, grid.ns) if point not in {(stick.k, stick.n) for stick in known}]
    done, total = 0, len(points) + len(trials)
    if total == 0:
        return
    rows, begin = share_content(judged), queue or Job.begin
    whole, dim = judged.rows.points.shape
    sticks: Iterator[Any] = (one for one in compute_yardstick_rows(judged, grid, points) if isinstance(one, Yardstick))
    if sum(forecast_reference_seconds(n or whole, k, dim) for k, n in points) > _AT_ONCE_SECONDS:
        sticks = _compute_parts(
            points, _take_turns, lambda share: Job(compute_yardstick_rows, rows, grid, share), workers, begin
        )
    for item in sticks:
        if isinstance(item, Yardstick):
            known.append(item)
            done += 1
        yield replace(item, done=done, total=total) if isinstance(item, Progress) else item

    def job_of(share: Sequence[Trial]) -> Job[Any]:
        return Job(
            compute_study_rows, rows, grid, trials=share, yardsticks=known, with_centers=with_centers, seconds=seconds
        )

    for item in _compute_parts(trials, _deal, job_of, workers, begin):
        done += isinstance(item, dict)
        yield replace(item, done=done, total=total) if isinstance(item, Progress) else item


def compute_rows(judged: JudgedTable, grid: StudyGrid, trials: Sequence[Trial], *, workers: int) -> Iterator[Row]:
    """The rows among ``compute_study_items``, by as many processes as have something to do.

    Parameters
    ----------
    judged : JudgedTable
    grid : StudyGrid
    trials : sequence of Trial
        Those that are wanted.
    workers : int
        Processes.

    Yields
    ------
    Row
        A line for each run.
    """
    if trials:
        items = compute_study_items(judged, grid, trials, workers=min(workers, len(trials)))
        yield from (item for item in items if isinstance(item, dict))


def _compute_parts(
    parts: Sequence[Part],
    deal: Callable[[Sequence[Part], int], list[list[Part]]],
    job_of: Callable[[list[Part]], Job[Any]],
    workers: int,
    begin: Callable[[Job[Any]], None],
) -> Iterator[Any]:
    """What is found of all ``parts``, as it arrives; when the reader stops, so do the jobs."""
    jobs: dict[Job[Any], list[Part]] = {}

    def send(left: Sequence[Part]) -> None:
        for share in deal(left, workers - len(jobs)):
            job = job_of(share)
            jobs[job] = share
            begin(job)

    try:
        send(parts)
        while jobs:
            for job, share in list(jobs.items()):
                ended = job.state.final  # asked first: nothing can arrive after it
                yield from job.poll()
                if job.error is not None:
                    # A request that was refused crosses with its message; of a defect only the type does.
                    raise RequestError(job.error.message) if job.error.kind in _REFUSALS else WorkerFailed(job.error)
                if ended:
                    del jobs[job]
                    send(share[len(job.items) :])
            yield _summarise_jobs(jobs)
            time.sleep(_POLL_SECONDS)
    finally:
        for job in sorted(jobs, key=lambda job: job.state is JobState.RUNNING):
            job.cancel()  # those that wait first, or one that is cancelled would seat the next


def _summarise_jobs(jobs: Collection[Job[Any]]) -> Progress | Waiting:
    reports = [job.progress for job in jobs if job.progress is not None]
    if reports or not jobs or any(job.state is not JobState.QUEUED for job in jobs):
        return reports[-1] if reports else Progress(0, 0, "starting")
    return Waiting(min(job.before for job in jobs))


def _deal(trials: Sequence[Trial], workers: int) -> list[list[Trial]]:
    """The repeats of each point in turn to each worker: all of them have as much to do."""
    number: dict[Trial, int] = {}
    turns: list[tuple[int, Trial]] = []
    for trial in trials:
        point = replace(trial, repeat=0)
        turn = number[point] = number.get(point, len(number) - 1) + 1
        turns.append((turn, trial))
    shares = [[trial for turn, trial in turns if turn % workers == place] for place in range(workers)]
    return [share for share in shares if share]


def _take_turns(parts: Sequence[Part], workers: int) -> list[list[Part]]:
    return [list(parts[place::workers]) for place in range(min(workers, len(parts)))]
