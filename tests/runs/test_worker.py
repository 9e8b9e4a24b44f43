"""The worker's end of the pipe: results at once, progress thinned, and none of it lost or overtaken."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest

from dpviz.runs import worker
from dpviz.runs.worker import Failure, Item, Progress


class Timers:
    """In place of threading.Timer: time passes when a test says so."""

    def __init__(self) -> None:
        self.waiting: list[Callable[[], None]] = []

    def __call__(self, seconds: float, then: Callable[[], None]) -> Timers:
        assert seconds == worker.PROGRESS_INTERVAL
        self.waiting.append(then)
        return self

    def start(self) -> None:
        """Nothing moves by itself."""

    def ring(self) -> None:
        """The time has come."""
        self.waiting.pop()()


def test_progress_is_thinned_and_its_last_report_arrives_before_what_comes_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    timers, pipe = Timers(), io.BytesIO()
    monkeypatch.setattr(worker.threading, "Timer", timers)
    outbox = worker._Outbox(pipe)

    def arrived() -> list[object]:
        pipe.seek(0)
        found = []
        while pipe.tell() < len(pipe.getvalue()):
            message = worker.receive(pipe)
            found.append(message.value if isinstance(message, Item) else message)
        pipe.seek(0)
        pipe.truncate()
        return found

    for done in range(1, 1001):
        outbox.put(Progress(done, 2000))
    assert arrived() == [Progress(1, 2000)] and len(timers.waiting) == 1
    timers.ring()
    assert arrived() == [Progress(1000, 2000)] and len(timers.waiting) == 1
    outbox.put(Progress(1001, 2000))
    assert arrived() == []
    outbox.put("a result")
    assert arrived() == [Progress(1001, 2000), "a result"]
    timers.ring()
    assert arrived() == [] and not timers.waiting  # nothing waited: the next report goes at once
    outbox.put(Progress(1002, 2000))
    outbox.put(Progress(2000, 2000))
    outbox.end(Failure("ValueError"))
    assert arrived() == [Progress(1002, 2000), Progress(2000, 2000), Failure("ValueError")]
