"""Long work: what has arrived of it, how far it is, how it ended; and a job, which is a process of its own for it."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from enum import Enum
from typing import Generic, NamedTuple, ParamSpec, TypeVar

from dpviz.runs.scheduler import Scheduler
from dpviz.runs.shared_memory import Pickled, list_fds, pickle_content
from dpviz.runs.worker import Failure, Item, Progress, kill, new_worker, receive, send

__all__ = ["Failure", "Job", "JobState", "Progress", "Work"]

T = TypeVar("T")
P = ParamSpec("P")

_SECONDS_TO_LEAVE = 5.0
"""How long a worker that has answered may take to tidy up and exit."""
_POLITE, _MORE_POLITE = 2, 5
"""How much lower the priorities of workers that have waited are, of brief jobs and of studies: pages go first.

A study has a third of what a page has, where both want one core. Much less, and whatever else is busy on the machine
would stop it for good."""


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


class Work(Generic[T]):
    """What is under way: the results that have arrived, how far it is, and how it ended."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # reentrant: a registry may be collected, and cancel, at any allocation
        self._ended = threading.Event()
        self._state = JobState.QUEUED
        self._error: Failure | None = None
        self._items: list[T] = []
        self._polled = 0
        self._first_mark: _Mark | None = None
        self._last_mark: _Mark | None = None
        self._began_at: float | None = None
        self._ended_at: float | None = None

    def cancel(self) -> None:
        """End it now; what has arrived stays."""
        self._finish(JobState.CANCELLED)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it has ended, at most ``timeout`` seconds; whether it has."""
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
        """Where it stands; once this is final, `items` no longer grows."""
        return self._state

    @property
    def error(self) -> Failure | None:
        """Why it failed, if it did."""
        return self._error

    @property
    def progress(self) -> Progress | None:
        """The last progress report, if there was one."""
        mark = self._last_mark
        return mark.progress if mark else None

    @property
    def before(self) -> int:
        """How many jobs that wait on this server, anybody's, start before it; 0 once it has begun."""
        return 0

    @property
    def elapsed(self) -> float:
        """Seconds that it has been computed so far, or in all; 0 while queued."""
        if self._began_at is None:
            return 0.0
        return (self._ended_at or time.monotonic()) - self._began_at

    @property
    def seconds_left(self) -> float | None:
        """Estimated seconds to the end: as last reported, or at the pace since the first report; None before that."""
        first, last = self._first_mark, self._last_mark
        if self._state is not JobState.RUNNING or first is None or last is None:
            return None
        expected, steps = last.progress.left, last.progress.done - first.progress.done
        if expected is None:
            if steps <= 0:
                return None
            expected = (last.at - first.at) / steps * (last.progress.total - last.progress.done)
        return max(0.0, expected - (time.monotonic() - last.at))

    def _note_begin(self) -> None:
        self._state = JobState.RUNNING
        self._began_at = time.monotonic()

    def _take(self, item: T | Progress) -> None:
        with self._lock:
            if self._state.final:
                return
            if not isinstance(item, Progress):
                self._items.append(item)
            else:
                self._last_mark = _Mark(time.monotonic(), item)
                self._first_mark = self._first_mark or self._last_mark

    def _finish(self, state: JobState, error: Failure | None = None) -> bool:
        """Enter a final state; the first call decides which. Whether it was this one."""
        with self._lock:
            if self._state.final:
                return False
            self._state, self._error = state, error
            self._ended_at = time.monotonic()
        self._ended.set()
        return True


class Job(Work[T]):
    """One call of a generator function in a worker process, which dies with this one.

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
        super().__init__()
        self._parcel: Pickled | None = pickle_content((work, args, kwargs))
        self._process: subprocess.Popen[bytes] | None = None
        self._scheduler: Scheduler | None = None
        self._politeness = 0

    @staticmethod
    def start(work: Callable[P, Iterator[T | Progress]], *args: P.args, **kwargs: P.kwargs) -> Job[T]:
        """A job for ``work(*args, **kwargs)`` that runs from now on.

        Parameters
        ----------
        work : function
            A generator of what the job streams.
        *args, **kwargs
            Of ``work``.

        Returns
        -------
        Job
            Running in a process of its own.
        """
        job: Job[T] = Job(work, *args, **kwargs)
        job.begin()
        return job

    def queue(self, scheduler: Scheduler, *, owner: object, brief: bool = False, most: int = 2) -> None:
        """Wait for ``scheduler`` and then begin, at a lower priority than pages: a brief job's is the higher one.

        Parameters
        ----------
        scheduler : Scheduler
            One a core.
        owner : object
            For whom it runs.
        brief : bool
            Whether a person waits for it.
        most : int
            Jobs of an owner at a time.
        """
        self._scheduler, self._politeness = scheduler, _POLITE if brief else _MORE_POLITE
        scheduler.queue(self, owner=owner, brief=brief, most=most)

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
            parcel, self._parcel = self._parcel, None
            assert parcel is not None
            self._process = new_worker(list_fds(parcel.files), politeness=self._politeness)
            self._note_begin()
        parcel = parcel._replace(files=())  # the worker has them
        threading.Thread(target=self._follow, args=(self._process, parcel), name="job", daemon=True).start()

    def cancel(self) -> None:
        """End the job now, and with it every process it started; what has arrived stays."""
        if self._finish(JobState.CANCELLED) and self._process is not None:
            kill(self._process)

    @property
    def before(self) -> int:
        """How many jobs that wait on this server, anybody's, start before this one; 0 once it has begun."""
        return (
            self._scheduler.count_before(self) if self._scheduler is not None and self._state is JobState.QUEUED else 0
        )

    def _follow(self, process: subprocess.Popen[bytes], parcel: Pickled) -> None:
        """Send the work, then keep the pipe empty until the worker is done (a thread of the parent)."""
        assert process.stdin is not None and process.stdout is not None
        try:
            send(process.stdin, parcel)
            while not isinstance(message := receive(process.stdout), Failure | None):
                self._take(message.value if isinstance(message, Item) else message)
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

    def _finish(self, state: JobState, error: Failure | None = None) -> bool:
        if not super()._finish(state, error):
            return False
        self._parcel = None
        if self._scheduler is not None:
            self._scheduler.leave(self)
        return True
