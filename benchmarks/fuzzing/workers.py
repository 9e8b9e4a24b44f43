"""Cases in a process of their own, which may hang or die without taking the others along."""

from __future__ import annotations

import multiprocessing
import os
import resource
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import pyarrow as pa

from benchmarks.fuzzing.case import Case
from benchmarks.fuzzing.catalogue import case_of
from benchmarks.fuzzing.judge import MEGABYTES, SECONDS, WAITED, Verdict, judged

# After so many cases a fresh process goes on: what a library keeps does not count against later cases.
_CASES_A_PROCESS = 400
_START_SECONDS = 900.0


@dataclass(frozen=True)
class Limits:
    """What one case may take."""

    seconds: float = SECONDS
    megabytes: float = MEGABYTES
    grace: float = 60.0
    """Seconds after which the process of a case is ended that did not stop by itself."""


def verdicts(
    seed: int,
    indices: Sequence[int],
    *,
    limits: Limits | None = None,
    make: Callable[[int, int], Case] = case_of,
) -> Iterator[Verdict]:
    """What becomes of the cases ``indices`` of ``seed``, one after the other.

    ``make`` makes the case of a seed and an index; it has to be importable.
    """
    allowed, left = limits or Limits(), list(indices)
    while left:
        for verdict in _batch(seed, left[:_CASES_A_PROCESS], allowed, make):
            left.remove(verdict.index)
            yield verdict


def _batch(seed: int, indices: Sequence[int], limits: Limits, make: Callable[[int, int], Case]) -> Iterator[Verdict]:
    """Verdicts until the batch is done or its process had to be ended."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, seed, indices, limits, make), daemon=False)
    process.start()
    theirs.close()
    try:
        if not ours.poll(_START_SECONDS):
            raise TimeoutError("a process of cases does not start")
        ours.recv()
        for index in indices:
            if not ours.poll(WAITED * limits.seconds + limits.grace):
                yield _lost(seed, index, make, "hangs")
                return
            try:
                yield ours.recv()
            except EOFError:
                yield _lost(seed, index, make, "the process died")
                return
    finally:
        ours.close()
        process.kill()
        process.join()


def _lost(seed: int, index: int, make: Callable[[int, int], Case], outcome: str) -> Verdict:
    case = make(seed, index)
    return Verdict(index, case.family, case.about, outcome)


def _serve(
    connection: Connection, seed: int, indices: Sequence[int], limits: Limits, make: Callable[[int, int], Case]
) -> None:
    """Judge the cases here, and send each verdict as soon as it is known."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    pa.allocate_buffer(1)  # Arrow sets a gigabyte of addresses aside at its first one, which is no memory in use
    _cap_memory(limits.megabytes)
    connection.send("ready")
    for index in indices:
        case = make(seed, index)
        connection.send(judged(case, index, seconds=limits.seconds, megabytes=limits.megabytes))
    connection.close()


def _cap_memory(megabytes: float) -> None:
    """Half as much again as is allowed and the machine says no: a case that runs away must not take all of it."""
    now = int(Path("/proc/self/statm").read_text().split()[5]) * os.sysconf("SC_PAGE_SIZE") if _has_proc() else 0
    most = int(1.5 * megabytes * 2**20) + now
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def _has_proc() -> bool:
    return Path("/proc/self/statm").exists()
