"""Long work: what has arrived of it, how far it is, how it ended; and a job, which is a process of its own for it.

The seats of a server say how many jobs of all its visits compute at a time, and who comes next."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from itertools import count
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar

from dpviz.runs.worker import (
    Failure,
    Item,
    Pickled,
    Progress,
    kill,
    list_fds,
    new_worker,
    pickle_content,
    receive,
    send,
)

W = TypeVar("W", bound=Callable[..., object])


def count_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def brief(work: W) -> W:
    """Mark what a visitor waits for, one run say: it goes before studies, and studies leave a seat free for it."""
    work.__dict__["brief"] = True
    return work


@dataclass(eq=False)
class _QueueEntry:
    """Somebody's job in the queue or on a seat."""

    job: Job[Any]
    owner: object
    brief: bool
    most: int
    number: int


@dataclass(eq=False)
class Scheduler:
    """A queue for all visits of a server: brief jobs first, then by turns, so that nobody's ten jobs go before one."""

    workers: int = field(default_factory=lambda: count_cores() + 1)
    studies: int = 0
    _waiting: list[_QueueEntry] = field(default_factory=list, init=False, repr=False)
    _taken: list[_QueueEntry] = field(default_factory=list, init=False, repr=False)
    _served: dict[object, int] = field(default_factory=dict, init=False, repr=False)
    _numbers: count[int] = field(default_factory=count, init=False, repr=False)
    # Reentrant: a registry may be collected, and leave, at any allocation.
    _lock: threading.RLock = field(default_factory=threading.RLock, init=False, repr=False)

    def __post_init__(self) -> None:
        self.studies = self.studies or max(1, self.workers - 1)

    def queue(self, job: Job[Any], *, owner: object, brief: bool, most: int) -> None:
        """Let ``job`` wait for a seat: at most ``most`` of an ``owner`` sit, the last one of them a brief one."""
        # The workers of a study, of which more may sit, are one job.
        with self._lock:
            self._waiting.append(_QueueEntry(job, owner, brief, most, next(self._numbers)))
        self._fill()

    def leave(self, job: Job[Any]) -> None:
        """Give back the seat of a job, or its place in the queue, and let the next ones sit down."""
        with self._lock:
            self._waiting = [place for place in self._waiting if place.job is not job]
            self._taken = [place for place in self._taken if place.job is not job]
            present = {place.owner for place in (*self._waiting, *self._taken)}
            self._served = {owner: turn for owner, turn in self._served.items() if owner in present}
        self._fill()

    def count_before(self, job: Job[Any]) -> int:
        """How many waiting jobs come before ``job``, as the queue stands."""
        with self._lock:
            left, served, passed = list(self._waiting), dict(self._served), 0
            while left:
                first = min(left, key=lambda place: _rank_turn(place, served))
                if first.job is job:
                    break
                served[first.owner] = next(self._numbers)
                left.remove(first)
                passed += 1
            return passed

    def _fill(self) -> None:
        # Begun outside the lock: starting a process takes the lock of its job.
        while (job := self._next()) is not None:
            job.begin()

    def _next(self) -> Job[Any] | None:
        with self._lock:
            able = [place for place in self._waiting if self._may_sit(place)]
            if not able:
                return None
            first = min(able, key=lambda place: _rank_turn(place, self._served))
            self._waiting.remove(first)
            self._taken.append(first)
            self._served[first.owner] = next(self._numbers)
            return first.job

    def _may_sit(self, place: _QueueEntry) -> bool:
        own = [other for other in self._taken if other.owner is place.owner]
        brief = sum(other.brief for other in own)
        long = len(own) - brief
        if len(self._taken) >= self.workers or brief + (place.brief and long > 0) >= place.most:
            return False
        # As the server keeps a seat free of studies, so does each owner.
        return place.brief or (sum(not p.brief for p in self._taken) < self.studies and long < max(1, place.most - 1))


def _rank_turn(place: _QueueEntry, served: dict[object, int]) -> tuple[bool, int, int]:
    return (not place.brief, served.get(place.owner, -1), place.number)


SCHEDULER = Scheduler()
"""Those of this server: all visits share them."""


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
        self.state = JobState.QUEUED
        """Where it stands; once this is final, `items` no longer grows."""
        self.error: Failure | None = None
        """Why it failed, if it did."""
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
        return 0.0 if self._began_at is None else (self._ended_at or time.monotonic()) - self._began_at

    @property
    def seconds_left(self) -> float | None:
        """Estimated seconds to the end: as last reported, or at the pace since the first report; None before that."""
        first, last = self._first_mark, self._last_mark
        if self.state is not JobState.RUNNING or first is None or last is None:
            return None
        expected, steps = last.progress.left, last.progress.done - first.progress.done
        if expected is None:
            if steps <= 0:
                return None
            expected = (last.at - first.at) / steps * (last.progress.total - last.progress.done)
        return max(0.0, expected - (time.monotonic() - last.at))

    def _note_begin(self) -> None:
        self.state = JobState.RUNNING
        self._began_at = time.monotonic()

    def _take(self, item: T | Progress) -> None:
        with self._lock:
            if self.state.final:
                return
            if not isinstance(item, Progress):
                self._items.append(item)
            else:
                self._last_mark = _Mark(time.monotonic(), item)
                self._first_mark = self._first_mark or self._last_mark

    def _finish(self, state: JobState, error: Failure | None = None) -> bool:
        """Enter a final state; the first call decides which. Whether it was this one."""
        with self._lock:
            if self.state.final:
                return False
            self.state, self.error = state, error
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
        """A job for ``work(*args, **kwargs)`` that runs from now on."""
        job: Job[T] = Job(work, *args, **kwargs)
        job.begin()
        return job

    def queue(self, scheduler: Scheduler, *, owner: object, brief: bool = False, most: int = 2) -> None:
        """Wait for ``scheduler`` and then begin, at a lower priority than pages: a brief job's is the higher one."""
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
            if self.state is not JobState.QUEUED:
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
        return self._scheduler.count_before(self) if self._scheduler and self.state is JobState.QUEUED else 0

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
