"""Processes that use an account, and die or race as they are told: each is a fork of one that has imported everything.

Run as ``python -m tests.releases.account_processes``, this reads commands from its standard input, a line each, and
answers with the lines of what it has started and a last one that begins with "ended".
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from dpviz.releases.account import Account, AccountExceeded
from tests.releases.charges import a_charge


def _say(*words: object) -> None:
    os.write(1, f"{' '.join(map(str, words))}\n".encode())


def _die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("a process that is killed does not go on")


def _dying_at(at: int, when: str) -> type[sqlite3.Connection]:
    """A connection whose process dies before, or after, its step of that number."""
    steps = iter(range(1000))

    def step(done: Callable[[], Any]) -> Any:
        last = next(steps) == at
        if last and when == "before":
            _die()
        found = done()
        if last:
            _die()
        return found

    class Dying(sqlite3.Connection):
        def execute(self, *words: Any) -> sqlite3.Cursor:
            found: sqlite3.Cursor = step(lambda: super(Dying, self).execute(*words))
            return found

        def close(self) -> None:
            step(lambda: super(Dying, self).close())

    return Dying


def dies(action: str, path: str, at: str, when: str) -> None:
    """Make an account, or charge to one, and die at a step of that; or at the end, which is said."""
    connect, kind = sqlite3.connect, _dying_at(int(at), when)
    sqlite3.connect = lambda *words, **named: connect(*words, factory=kind, **named)  # type: ignore[assignment]
    if action == "new":
        Account.new(path, name="people", cap_epsilon=1.0)
    else:
        Account.open(path).charge(a_charge(0.5))
    _say("done")
    _die()


def charges_again(path: str) -> None:
    """Charge until somebody ends this process."""
    account = Account.open(path)
    while True:
        _say(account.charge(a_charge(0.001)))


def races(path: str, start: int) -> None:
    """Charge as soon as the other end of ``start`` is closed."""
    account = Account.open(path)
    os.read(start, 1)
    try:
        _say("won", account.charge(a_charge(0.5)))
    except AccountExceeded:
        _say("refused")


def _forked(do: Callable[[], None]) -> int:
    child = os.fork()
    if child:
        return child
    try:
        do()
    finally:
        os._exit(0)


def _race(path: str) -> list[int]:
    start, starter = os.pipe()

    def run() -> None:
        os.close(starter)
        races(path, start)

    racers = [_forked(run) for _ in range(2)]
    os.close(start)
    os.close(starter)
    return racers


def _started(command: str, words: list[str]) -> list[int]:
    if command == "race":
        return _race(*words)
    if command == "again":
        return [_forked(lambda: charges_again(*words))]
    return [_forked(lambda: dies(command, *words))]


def main() -> None:
    """Serve one command after the other."""
    _say("ready")
    for line in sys.stdin:
        command, *words = line.rstrip("\n").split("\t")
        children = _started(command, words)
        _say("started", *children)
        _say("ended", *(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children))


if __name__ == "__main__":
    main()
