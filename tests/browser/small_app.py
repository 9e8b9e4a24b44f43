"""The app as ``streamlit run`` starts it, but for what only takes longer.

Its workers are forked from one process that has loaded dpviz: a worker that loads it costs a second for each run that
a page asks for. That those come up, answer and end with their server ``tests/runs/test_jobs.py`` says, and
``tests/test_wheel.py`` of a whole app. A curve has one draw at each ε, and an attack sixteen runs with the person and
sixteen without. A run of ``HELD`` clusters is said to take long, and of it come as many steps as the file at ``STEPS``
has bytes, so that whoever cancels it in the middle need not be faster than it.

    python -m tests.browser.small_app run app.py --server.headless true
"""

import json
import os
import select
import signal
import socket
import sys
from collections.abc import Iterator, Sequence
from fcntl import F_DUPFD, fcntl
from importlib import import_module
from itertools import count
from pathlib import Path
from subprocess import TimeoutExpired
from threading import Lock
from typing import Any, NoReturn

from dpviz.app.ui import runner
from dpviz.runs import jobs, membership, work, worker
from dpviz.runs.request import Request
from tests.browser.server import HELD, STEPS
from tests.waiting import eventually

_LOADED = ("dpviz.runs.study.workers", "dpviz.algorithms.auto.auto", "sklearn.cluster")
_ABOVE = 512  # of all descriptors that a worker inherits by their number
_MOST_BYTES, _MOST_FILES = 4096, 64


class ForkedWorker:
    """What a job uses of the process that its worker is."""

    def __init__(self, pid: int, stdin: int, stdout: int) -> None:
        self.pid, self.stdin, self.stdout = pid, os.fdopen(stdin, "wb"), os.fdopen(stdout, "rb")

    def poll(self) -> int | None:
        """0 once it has ended: with what, its parent alone is told."""
        try:
            return self.wait(0)
        except TimeoutExpired:
            return None

    def wait(self, timeout: float | None = None) -> int:
        try:
            process = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return 0
        try:
            if select.select([process], [], [], timeout)[0]:
                return 0
        finally:
            os.close(process)
        raise TimeoutExpired("a worker", timeout or 0)


class Nurse:
    """The process that forks workers, as the server sees it."""

    def __init__(self) -> None:
        self._line, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._lock = Lock()
        if os.fork() == 0:
            self._line.close()
            _nurse(there)
        there.close()

    def fork(self, inherits: Sequence[int] = (), *, politeness: int = 0) -> ForkedWorker:
        """In place of `dpviz.runs.worker.new_worker`."""
        (reads, stdin), (stdout, writes) = os.pipe(), os.pipe()
        told = json.dumps([politeness, *inherits]).encode()
        with self._lock:
            socket.send_fds(self._line, [told], [reads, writes, *inherits])
            pid = int(self._line.recv(_MOST_BYTES))
        for end in (reads, writes):
            os.close(end)
        return ForkedWorker(pid, stdin, stdout)


def _nurse(line: socket.socket) -> NoReturn:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how a worker ended
    for name in _LOADED:
        import_module(name)
    while True:
        told, files, *_ = socket.recv_fds(line, _MOST_BYTES, _MOST_FILES)
        if not told:  # the server has gone
            os._exit(0)
        pid = os.fork()
        if pid == 0:
            line.close()
            _work(told, files)
        for file in files:
            os.close(file)
        line.send(str(pid).encode())


def _work(told: bytes, files: Sequence[int]) -> NoReturn:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    politeness, *inherits = json.loads(told)
    for file, number in zip([fcntl(file, F_DUPFD, _ABOVE) for file in files], [0, 1, *inherits], strict=True):
        os.dup2(file, number)
        os.close(file)
    run_steps = work.run_steps

    def held_steps(request: Request, *given: Any) -> Iterator[Any]:
        for place, step in zip(count(1), run_steps(request, *given)):
            if request.k == HELD:
                eventually(lambda place=place: place <= Path(os.environ[STEPS]).stat().st_size)
            yield step

    work.run_steps = held_steps
    worker.serve(politeness)
    os._exit(0)


if __name__ == "__main__":
    os.environ |= dict.fromkeys(worker._POOLS, "1")
    work._DRAWS = 1
    membership.PAIRS = 16
    forecast = runner.forecast_seconds
    runner.forecast_seconds = lambda card, setting, *more: 9 if setting.k == HELD else forecast(card, setting, *more)
    jobs.new_worker = Nurse().fork  # type: ignore[assignment]
    from streamlit.web.cli import main

    sys.argv[0] = "streamlit"
    main()
