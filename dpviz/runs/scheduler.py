"""The seats of a server: how many jobs of all its visits compute at a time, and who comes next."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Protocol, TypeVar

W = TypeVar("W", bound=Callable[..., object])


def count_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def brief(work: W) -> W:
    """Mark what a visitor waits for, one run say: it goes before studies, and studies leave a seat free for it."""
    work.__dict__["brief"] = True
    return work


def is_brief(work: Callable[..., object]) -> bool:
    """Whether ``work`` is marked so."""
    return bool(getattr(work, "brief", False))


class Schedulable(Protocol):
    """What takes a seat: a job."""

    def begin(self) -> None:
        """Start to compute; does nothing for a job that was cancelled meanwhile."""


@dataclass(eq=False)
class _QueueEntry:
    """Somebody's job in the queue or on a seat."""

    job: Schedulable
    owner: object
    brief: bool
    most: int
    number: int


@dataclass(eq=False)
class Scheduler:
    """A queue for all visits of a server: brief jobs first, then by turns, so that nobody's ten jobs go before one.

    Parameters
    ----------
    workers
        How many jobs compute at a time; by default one a core, and one more.
    studies
        How many of them may be long; by default one seat stays free of them.
    """

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

    def queue(self, job: Schedulable, *, owner: object, brief: bool, most: int) -> None:
        """Let ``job`` wait for a seat.

        At most ``most`` jobs of an ``owner`` sit at a time, the last one of them a brief one. For that, the workers of
        a study, of which more may sit, are one job.

        Parameters
        ----------
        job : Schedulable
            What waits.
        owner : object
            For whom it runs.
        brief : bool
            Whether a person waits for it.
        most : int
            Jobs of an owner at a time.
        """
        with self._lock:
            self._waiting.append(_QueueEntry(job, owner, brief, most, next(self._numbers)))
        self._fill()

    def leave(self, job: Schedulable) -> None:
        """Give back the seat of a job, or its place in the queue, and let the next ones sit down."""
        with self._lock:
            self._waiting = [place for place in self._waiting if place.job is not job]
            self._taken = [place for place in self._taken if place.job is not job]
            present = {place.owner for place in (*self._waiting, *self._taken)}
            self._served = {owner: turn for owner, turn in self._served.items() if owner in present}
        self._fill()

    def count_before(self, job: Schedulable) -> int:
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

    def _next(self) -> Schedulable | None:
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
