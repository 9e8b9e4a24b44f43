"""Jobs in threads of the test's own process, held where a test wants them: no interpreter has to start for each."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from dpviz.runs.jobs import Failure, Job, JobState
from dpviz.runs.study import workers


class Gate:
    """Lets so many rows of all jobs through; the jobs wait before the next one, until they are cancelled."""

    def __init__(self) -> None:
        self._rows: threading.Semaphore | None = None
        self.jobs = 0

    def hold_after(self, rows: int) -> None:
        """From now on only so many more."""
        self._rows = threading.Semaphore(rows)

    def open(self) -> None:
        """Nothing is held any more."""
        self._rows = None

    def passes(self, job: Job[Any]) -> bool:
        """Wait for the place of one more row; whether the job is still wanted then."""
        while not job.state.final:
            held = self._rows
            if held is None or held.acquire(timeout=0.02):
                return True
        return False


def stay_at_home(monkeypatch: pytest.MonkeyPatch) -> Gate:
    """Let studies of this test compute in threads, whose rows the gate lets through."""
    gate = Gate()

    class AtHome(Job[Any]):
        def __init__(self, work: Callable[..., Iterator[Any]], *args: Any, **kwargs: Any) -> None:
            super().__init__(work, *args, **kwargs)
            self._work = work(*args, **kwargs)

        def _begin(self) -> None:
            with self._lock:
                if self.state is not JobState.QUEUED:
                    return
                self._note_begin()
            gate.jobs += 1
            threading.Thread(target=self._run, daemon=True).start()

        def _run(self) -> None:
            try:
                for item in self._work:
                    if isinstance(item, dict) and not gate.passes(self):
                        return
                    self._take(item)
                self._finish(JobState.DONE)
            except Exception as error:
                self._finish(JobState.FAILED, Failure.of(error))

    monkeypatch.setattr(workers, "Job", AtHome)
    monkeypatch.setattr(workers, "share_content", lambda rows: rows)
    monkeypatch.setattr(workers, "_POLL_SECONDS", 0.001)
    return gate
