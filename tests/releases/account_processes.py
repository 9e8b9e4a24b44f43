"""What processes do with an account until they die or end; each is a fork of one that has imported everything."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NoReturn

from dpviz.releases.account import Account
from tests.releases.charges import a_charge

FORKS = get_context("forkserver")
FORKS.set_forkserver_preload([__name__])


def _dying_at(at: int, when: str) -> type[sqlite3.Connection]:
    """A connection whose process dies before, or after, its step of that number."""
    steps = iter(range(1000))

    def die() -> NoReturn:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("a process that is killed does not go on")

    def step(done: Callable[[], Any]) -> Any:
        last = next(steps) == at
        if last and when == "before":
            die()
        found = done()
        if last:
            die()
        return found

    class Dying(sqlite3.Connection):
        def execute(self, *words: Any) -> sqlite3.Cursor:
            found: sqlite3.Cursor = step(lambda: super(Dying, self).execute(*words))
            return found

        def close(self) -> None:
            step(lambda: super(Dying, self).close())

    return Dying


def charge(path: Path, at: int, when: str) -> None:
    """Charge to an account, and die at a step of that; at once behind the last step, as who is killed there."""
    connect, kind = sqlite3.connect, _dying_at(at, when)
    sqlite3.connect = lambda *words, **named: connect(*words, factory=kind, **named)  # type: ignore[assignment]
    Account.open(path).charge(a_charge(0.5))
    os._exit(0)
