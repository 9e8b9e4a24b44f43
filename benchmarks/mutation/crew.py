"""Several nurseries that share a list of trials."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from queue import SimpleQueue
from typing import Protocol

from benchmarks.mutation.forked import Nursery, Outcome, Trial


class RunAll(Protocol):
    """Outcomes in the order of the trials, as they come."""

    def __call__(self, trials: Sequence[Trial]) -> Iterator[Outcome]: ...


@contextmanager
def crew(processes: int) -> Iterator[RunAll]:
    """So many processes, each with one child at a time."""
    with ExitStack() as stack:
        free: SimpleQueue[Nursery] = SimpleQueue()
        for _ in range(processes):
            free.put(stack.enter_context(Nursery()))
        threads = stack.enter_context(ThreadPoolExecutor(processes))

        def run(trial: Trial) -> Outcome:
            nursery = free.get()
            try:
                return nursery.run(trial)
            finally:
                free.put(nursery)

        yield lambda trials: threads.map(run, trials)
