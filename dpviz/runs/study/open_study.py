"""Studies of a server that pages open: each is computed once, whoever reads it, and goes on where it was.

A study belongs to no visit. All who open it read the same runs; when the last of them has gone it stops, and what it
has found waits in memory for whoever opens it again, or in a folder that outlives the server, where one is named. The
name of a study is a digest of its table and its grid: whoever does not have the same rows does not find it.

What a visit has under way, jobs and studies, stands in its registry: as many as it may have, which end with it."""

from __future__ import annotations

import hashlib
import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ParamSpec, TypeAlias

from dpviz import __version__
from dpviz.core import RequestError
from dpviz.runs.clipped_rows import JudgedTable
from dpviz.runs.jobs import SCHEDULER, Failure, Job, JobState, Scheduler, Work, count_cores
from dpviz.runs.owner_files import make_private
from dpviz.runs.study.folder import MOST_NUMBERS, StudyFolder
from dpviz.runs.study.grid import StudyGrid
from dpviz.runs.study.study import Row, Yardstick
from dpviz.runs.study.workers import Waiting, WorkerFailed, compute_study_items
from dpviz.runs.worker import Progress

FOLDER_VARIABLE = "DPVIZ_STUDIES"
"""The environment variable that names a folder where studies outlive the server."""

# A worker makes room for other visits after so long: to begin another takes a second, a twentieth of it.
_TURN_SECONDS = 20.0
_SECONDS_TO_STOP = 5.0
# What is kept of studies that nobody reads, at most; and what a row takes beside its centres, roughly.
_MOST_KEPT_BYTES, _ROW_BYTES = 256_000_000, 3_000

Item: TypeAlias = Progress | Waiting | Yardstick | Row


class Study(Work[Yardstick | Row]):
    """A reader of a study: yardsticks and rows arrive here, those that were found before first.

    Who cancels goes without the rest; the study itself goes on for others that read it.
    """

    def __init__(self, leave: Callable[[Study], None]) -> None:
        super().__init__()
        self._leave = leave
        self._before = 0

    def cancel(self) -> None:
        """Read no further. A study without any reader stops, and goes on when it is opened again."""
        super().cancel()
        self._leave(self)

    @property
    def before(self) -> int:
        """How many jobs that wait on this server, anybody's, start before it; 0 once it has begun."""
        return self._before if self.state is JobState.QUEUED else 0

    def hear(self, item: Item) -> None:
        """Take in what has arrived."""
        if isinstance(item, Waiting):
            self._before = item.before
            return
        if isinstance(item, Progress) and self.state is JobState.QUEUED:
            self._note_begin()
        self._take(item)

    def end(self, failure: Failure | None) -> None:
        """Nothing more will arrive."""
        self._finish(JobState.FAILED if failure else JobState.DONE, failure)


def open_study(
    judged: JudgedTable, grid: StudyGrid, *, key: str, scheduler: Scheduler, owner: object, with_centers: bool = False
) -> Study:
    """Begin a study, or read on where it is: what has been found of it arrives at once."""
    grid.check(judged.private)
    name = hashlib.sha256(f"{__version__} {key} {with_centers} {grid.to_query()}".encode()).hexdigest()[:32]
    kept = not with_centers or max(grid.ks) * judged.private.domain.dim <= MOST_NUMBERS
    queue = partial(Job.queue, scheduler=scheduler, owner=owner, most=count_cores() + 1)
    while True:
        with _LOCK:
            if name not in _ENGINES:
                path = None
                if kept and (named_folder := os.environ.get(FOLDER_VARIABLE)):
                    make_private(Path(named_folder), called=FOLDER_VARIABLE)
                    path = Path(named_folder) / name
                items = _produce_items(judged, grid, queue, with_centers, _KEPT.pop(name, []), path)
                _ENGINES[name] = _Engine(items, name)
            engine = _ENGINES[name]
            study = engine.read()
        if study is not None:
            return study
        if not engine.join():  # it is about to end: its folder is free after that
            raise RequestError("The same study is just being stopped: ask again in a moment.")


def _produce_items(
    judged: JudgedTable,
    grid: StudyGrid,
    queue: Callable[[Job[Row]], None],
    with_centers: bool,
    past: list[Yardstick | Row],
    path: Path | None,
) -> Generator[Item]:
    """What is kept, then what is computed; where there is a folder, a row is on the disk before anybody reads it."""
    trials = grid.list_trials()
    yardsticks = [item for item in past if isinstance(item, Yardstick)]
    rows = [item for item in past if isinstance(item, dict)]
    with ExitStack() as opened:
        folder = None
        if path is not None:
            make_private(path, called=FOLDER_VARIABLE)
            folder = StudyFolder(path, resume=True, called=FOLDER_VARIABLE, again="press Compute again")
            opened.enter_context(folder)
            manifest = {"dpviz": __version__, "study": grid.to_query(), "seed": grid.seed}
            folder.begin(manifest, must_agree=("study", "seed"))
            rows = folder.rows([trial.key for trial in trials])
        yield from yardsticks
        yield from rows
        done = {row["trial"] for row in rows}
        left = [trial for trial in trials if trial.key not in done]
        how: dict[str, Any] = {"queue": queue, "with_centers": with_centers, "seconds": _TURN_SECONDS}
        items = compute_study_items(judged, grid, left, yardsticks=yardsticks, workers=count_cores(), **how)
        opened.enter_context(closing(items))
        for item in items:
            if folder is not None and isinstance(item, dict):
                folder.append(item)
            yield item


class _Engine:
    """A study under way in a thread of this server, and all who read it."""

    def __init__(self, items: Generator[Item], name: str) -> None:
        self._lock = threading.RLock()  # reentrant: a registry may be collected, and cancel, at any allocation
        self._readers: list[Study] = []
        self._past: list[Yardstick | Row] = []
        self._open = True
        self._thread = threading.Thread(target=self._run, args=(items, name), name="study", daemon=True)
        self._thread.start()

    def read(self) -> Study | None:
        """A new reader; None where the study is about to end."""
        with self._lock:
            if not self._open:
                return None
            study = Study(self.leave)
            for item in self._past:
                study.hear(item)
            self._readers.append(study)
            return study

    def leave(self, study: Study) -> None:
        """Without a last reader it stops."""
        with self._lock:
            self._readers = [reader for reader in self._readers if reader is not study]
            self._open = self._open and bool(self._readers)

    def stop(self) -> None:
        """Whoever reads it."""
        self._open = False

    def join(self) -> bool:
        """Wait until it has ended; whether it has."""
        self._thread.join(_SECONDS_TO_STOP)
        return not self._thread.is_alive()

    def _run(self, items: Generator[Item], name: str) -> None:
        failure = None
        try:
            with closing(items):
                for item in items:
                    with self._lock:
                        if not isinstance(item, Progress | Waiting):
                            self._past.append(item)
                        for reader in self._readers:
                            reader.hear(item)
                        if not self._open:
                            break
        except WorkerFailed as error:
            failure = error.failure
        except Exception as error:  # whoever reads it is told, as by a worker
            failure = Failure.of(error)
        with _LOCK, self._lock:
            self._open = False
            del _ENGINES[name]
            _keep(name, self._past)
        for reader in self._readers:
            reader.end(failure)


_LOCK = threading.RLock()
_ENGINES: dict[str, _Engine] = {}
# What was found of studies that nobody reads now, the longest unread one first.
_KEPT: OrderedDict[str, list[Yardstick | Row]] = OrderedDict()


def _keep(name: str, items: list[Yardstick | Row]) -> None:
    """In place of those that nobody has read for longest, where all of them would be too large."""
    _KEPT[name] = items
    sizes = {kept: sum(map(_measure_size, _KEPT[kept])) for kept in _KEPT}
    while sum(sizes.values()) > _MOST_KEPT_BYTES:
        del sizes[next(iter(_KEPT))]
        _KEPT.popitem(last=False)


def _measure_size(item: Yardstick | Row) -> int:
    centers = item.reference.centers if isinstance(item, Yardstick) else item.get("centers")
    return _ROW_BYTES + (0 if centers is None else centers.nbytes)


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
        """Queue ``work(*args, **kwargs)``; its job."""
        job: Job[Any] = Job(work, *args, **kwargs)
        self._add(job)
        job.queue(self.scheduler, owner=self._key, brief=getattr(work, "brief", False), most=self.max_running)
        return job

    def start_study(self, judged: JudgedTable, grid: StudyGrid, *, key: str, with_centers: bool = False) -> Study:
        """Go on with the study of ``grid`` on the rows that ``key`` stands for, or begin it; see ``open_study``."""
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
