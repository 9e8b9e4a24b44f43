"""What a visit has under way: its jobs and studies, as many as it may have, which end with it."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ParamSpec

from dpviz.core import RequestError
from dpviz.runs.clipped_rows import JudgedTable
from dpviz.runs.jobs import Job, Work
from dpviz.runs.scheduler import SCHEDULER, Scheduler, is_brief
from dpviz.runs.study.grid import StudyGrid
from dpviz.runs.study.open_study import Study, open_study

P = ParamSpec("P")


class RegistryFull(RequestError):
    """There is no room for one more waiting job."""


@dataclass(eq=False)
class JobRegistry:
    """What one session has under way, some of it waiting for a place on the server; it is cancelled with the shelf.

    Keep one registry per session, and what it hands out for as long as its results are wanted.

    Parameters
    ----------
    max_jobs
        How many jobs may run or wait.
    max_running
        How many run at a time, one of them a study or another long one; the others wait for their turn.
    scheduler
        Where they run, beside the jobs of other sessions.
    """

    max_jobs: int = 8
    max_running: int = 2
    scheduler: Scheduler = SCHEDULER
    _jobs: list[Work[Any]] = field(default_factory=list, init=False, repr=False)
    # Neither the scheduler nor a running job may keep a registry alive: they know its key only.
    _key: object = field(default_factory=object, init=False, repr=False)
    _lock: threading.RLock = field(default_factory=threading.RLock, init=False, repr=False)

    def __post_init__(self) -> None:
        weakref.finalize(self, _cancel_all, self._jobs)

    def submit(self, work: Callable[P, Iterator[Any]], *args: P.args, **kwargs: P.kwargs) -> Job[Any]:
        """Queue ``work(*args, **kwargs)``; its job.

        Parameters
        ----------
        work : function
            A generator of what the job streams.
        *args, **kwargs
            Of ``work``.

        Returns
        -------
        Job
            Queued.

        Raises
        ------
        ShelfFull
            If ``max_jobs`` jobs run or wait already.
        """
        job: Job[Any] = Job(work, *args, **kwargs)
        self._add(job)
        job.queue(self.scheduler, owner=self._key, brief=is_brief(work), most=self.max_running)
        return job

    def start_study(self, judged: JudgedTable, grid: StudyGrid, *, key: str, with_centers: bool = False) -> Study:
        """Go on with the study of ``grid`` on the rows that ``key`` stands for, or begin it; see ``open_study``.

        Parameters
        ----------
        judged : JudgedTable
            The table with its rows revealed.
        grid : StudyGrid
            What the study asks.
        key : str
            Tells tables and declarations apart.
        with_centers : bool
            Whether rows of the study carry the centres.

        Returns
        -------
        Study
            What has been found of it arrives at once.

        Raises
        ------
        RequestError
            If the grid cannot be served, or the folder of studies cannot be used.
        ShelfFull
            If ``max_jobs`` jobs run or wait already.
        """
        study = open_study(judged, grid, key=key, with_centers=with_centers, scheduler=self.scheduler, owner=self._key)
        self._add(study)
        return study

    def _add(self, job: Work[Any]) -> None:
        with self._lock:
            self._jobs[:] = [other for other in self._jobs if not other.state.final]
            if len(self._jobs) >= self.max_jobs:
                job.cancel()
                raise RegistryFull(f"{self.max_jobs} jobs run or wait already: cancel one, or wait for one to end.")
            self._jobs.append(job)


def _cancel_all(jobs: list[Work[Any]]) -> None:
    for job in reversed(list(jobs)):  # those that wait first, or a cancelled one would begin the next
        job.cancel()
