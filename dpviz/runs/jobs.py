"""Long work in a process of its own: it streams what it finds, can be cancelled, dies with its parent."""

from __future__ import annotations

import secrets
import subprocess
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar

from dpviz.runs.seats import SEATS, Seats, is_brief
from dpviz.runs.shared_memory import Shared
from dpviz.runs.worker import Failure, Item, Parcel, Progress, kill, new_worker, pack, receive, send

__all__ = ["Failure", "Job", "JobShelf", "JobState", "Progress", "ShelfFull"]

T = TypeVar("T")
P = ParamSpec("P")

_SECONDS_TO_LEAVE = 5.0
"""How long a worker that has answered may take to tidy up and exit."""
_POLITE = 10
"""How much lower the priority of a shelf's workers is: pages are drawn first."""


class JobState(Enum):
    """Where a job stands; the last three are final."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def final(self) -> bool:
        """Whether the job has ended, one way or another."""
        return self not in (JobState.QUEUED, JobState.RUNNING)


class _Mark(NamedTuple):
    """A progress report and when it arrived."""

    at: float
    progress: Progress


class Job(Generic[T]):
    """One call of a generator function in a worker process.

    ``work`` is a module-level generator function; it yields `Progress`, which may be dropped, and results,
    which all arrive, in order. Its arguments must not change before the job has ended: large arrays are sent
    as they are. What several jobs read goes as `shared` into memory that all of them map.

    Raises
    ------
    ValueError
        If ``work`` cannot be found by name from another process.
    """

    def __init__(self, work: Callable[P, Iterator[T | Progress]], *args: P.args, **kwargs: P.kwargs) -> None:
        if work.__module__ == "__main__" or "." in work.__qualname__:
            raise ValueError(f"{work.__qualname__} runs in another process: define it at the top level of a module")
        self._parcel: Parcel | None = pack((work, args, kwargs))
        self._shared = [given for given in (*args, *kwargs.values()) if isinstance(given, Shared)]
        self._lock = threading.RLock()  # reentrant: a shelf may be collected, and cancel, at any allocation
        self._ended = threading.Event()
        self._state = JobState.QUEUED
        self._error: Failure | None = None
        self._items: list[T] = []
        self._polled = 0
        self._first_mark: _Mark | None = None
        self._last_mark: _Mark | None = None
        self._began_at: float | None = None
        self._ended_at: float | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._on_end: Callable[[Job[T]], None] = lambda job: None
        self._before: Callable[[Job[T]], int] = lambda job: 0
        self._politeness = 0

    @staticmethod
    def start(work: Callable[P, Iterator[T | Progress]], *args: P.args, **kwargs: P.kwargs) -> Job[T]:
        """A job for ``work(*args, **kwargs)`` that runs from now on."""
        job: Job[T] = Job(work, *args, **kwargs)
        job.begin()
        return job

    def begin(self) -> None:
        """Start the worker of a queued job; does nothing for any other. Without memory for one, the job fails."""
        try:
            self._begin()
        except OSError as error:
            self._finish(JobState.FAILED, Failure.of(error))

    def _begin(self) -> None:
        with self._lock:
            if self._state is not JobState.QUEUED:
                return
            self._process = new_worker([memory.fd for memory in self._shared], politeness=self._politeness)
            self._shared = []
            self._state = JobState.RUNNING
            self._began_at = time.monotonic()
            parcel, self._parcel = self._parcel, None
        threading.Thread(target=self._follow, args=(self._process, parcel), name="job", daemon=True).start()

    def cancel(self) -> None:
        """End the job now, and with it every process it started; what has arrived stays."""
        if self._finish(JobState.CANCELLED) and self._process is not None:
            kill(self._process)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the job has ended, at most ``timeout`` seconds; whether it has."""
        return self._ended.wait(timeout)

    def poll(self) -> list[T]:
        """The results that arrived since the last call."""
        with self._lock:
            new = self._items[self._polled :]
            self._polled = len(self._items)
        return new

    @property
    def items(self) -> list[T]:
        """All results so far, in order."""
        with self._lock:
            return list(self._items)

    @property
    def state(self) -> JobState:
        """Where the job stands; once this is final, `items` no longer grows."""
        return self._state

    @property
    def error(self) -> Failure | None:
        """Why the job failed, if it did."""
        return self._error

    @property
    def progress(self) -> Progress | None:
        """The last progress report, if there was one."""
        mark = self._last_mark
        return mark.progress if mark else None

    @property
    def before(self) -> int:
        """How many jobs that wait on this server, anybody's, start before this one; 0 once it has begun."""
        return self._before(self) if self._state is JobState.QUEUED else 0

    @property
    def elapsed(self) -> float:
        """Seconds in the worker so far, or in all; 0 while queued."""
        if self._began_at is None:
            return 0.0
        return (self._ended_at or time.monotonic()) - self._began_at

    @property
    def seconds_left(self) -> float | None:
        """Estimated seconds to the end at the pace since the first report; None until there is a pace."""
        first, last = self._first_mark, self._last_mark
        if self._state is not JobState.RUNNING or first is None or last is None:
            return None
        steps = last.progress.done - first.progress.done
        if steps <= 0:
            return None
        expected = (last.at - first.at) / steps * (last.progress.total - last.progress.done)
        return max(0.0, expected - (time.monotonic() - last.at))

    def _follow(self, process: subprocess.Popen[bytes], parcel: Parcel) -> None:
        """Send the work, then keep the pipe empty until the worker is done (a thread of the parent)."""
        assert process.stdin is not None and process.stdout is not None
        try:
            send(process.stdin, parcel)
            while not isinstance(message := receive(process.stdout), Failure | None):
                self._take(message)
            self._finish(JobState.FAILED if message else JobState.DONE, message)
            process.wait(_SECONDS_TO_LEAVE)
        except (EOFError, OSError):
            self._finish(JobState.FAILED, Failure.of_death(process.wait()))
        except subprocess.TimeoutExpired:
            pass  # it has answered; it need not leave by itself
        except Exception as error:  # an answer that cannot be read here: its class is gone, say
            self._finish(JobState.FAILED, Failure.of(error))
        finally:
            kill(process)
            for pipe in (process.stdin, process.stdout):
                with suppress(OSError):  # unsent bytes for a worker that is gone
                    pipe.close()

    def _take(self, message: Progress | Item) -> None:
        with self._lock:
            if self._state.final:
                return
            if isinstance(message, Item):
                self._items.append(message.value)
            else:
                self._last_mark = _Mark(time.monotonic(), message)
                self._first_mark = self._first_mark or self._last_mark

    def _finish(self, state: JobState, error: Failure | None = None) -> bool:
        """Enter a final state; the first call decides which. Whether it was this one."""
        with self._lock:
            if self._state.final:
                return False
            self._state, self._error = state, error
            self._ended_at = time.monotonic()
            self._parcel = None
        self._ended.set()
        self._on_end(self)
        return True


class ShelfFull(Exception):
    """There is no room for one more waiting job."""

    safe_message = True


@dataclass(eq=False)
class JobShelf:
    """The jobs of one session: at most two run, as soon as the server has a seat; the oldest finished are dropped.

    Keep one shelf per session. When the shelf goes, its jobs are cancelled.

    Parameters
    ----------
    max_jobs
        How many jobs the shelf holds, finished ones included.
    max_age
        Seconds after which a finished job is dropped.
    max_running
        How many run at a time, one of them a brief one; the others wait for their turn.
    seats
        Where they run, beside the jobs of other sessions.
    """

    max_jobs: int = 8
    max_age: float = 3600.0
    max_running: int = 2
    seats: Seats = SEATS
    _jobs: dict[str, Job[Any]] = field(default_factory=dict, init=False, repr=False)
    _key: object = field(default_factory=object, init=False, repr=False)
    _lock: threading.RLock = field(default_factory=threading.RLock, init=False, repr=False)

    def __post_init__(self) -> None:
        weakref.finalize(self, _cancel_all, self._jobs)

    def submit(self, work: Callable[P, Iterator[Any]], *args: P.args, **kwargs: P.kwargs) -> str:
        """Queue ``work(*args, **kwargs)``; the unguessable id of its job.

        Raises
        ------
        ShelfFull
            If ``max_jobs`` jobs run or wait already.
        """
        job: Job[Any] = Job(work, *args, **kwargs)
        # Neither the seats nor a running job may keep a shelf alive: they know its key only.
        job._on_end, job._before, job._politeness = self.seats.leave, self.seats.before, _POLITE
        job_id = secrets.token_urlsafe(16)
        with self._lock:
            self._make_room()
            self._jobs[job_id] = job
        self.seats.queue(job, owner=self._key, brief=is_brief(work), most=self.max_running)
        return job_id

    def get(self, job_id: str) -> Job[Any] | None:
        """The job of that id, or None if it was dropped or never was here."""
        with self._lock:
            self._drop_old()
            return self._jobs.get(job_id)

    def __len__(self) -> int:
        with self._lock:
            self._drop_old()
            return len(self._jobs)

    def _make_room(self) -> None:
        self._drop_old()
        if len(self._jobs) < self.max_jobs:
            return
        finished = (job_id for job_id, job in self._jobs.items() if job.state.final)
        if (oldest := next(finished, None)) is None:
            raise ShelfFull(f"{self.max_jobs} jobs run or wait already: cancel one, or wait for one to end")
        del self._jobs[oldest]

    def _drop_old(self) -> None:
        since = time.monotonic() - self.max_age
        for job_id, job in list(self._jobs.items()):
            if job._ended_at is not None and job._ended_at < since:
                del self._jobs[job_id]


def _cancel_all(jobs: dict[str, Job[Any]]) -> None:
    for job in reversed(list(jobs.values())):  # those that wait first, or a cancelled one would seat the next
        job.cancel()
