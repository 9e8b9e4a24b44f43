"""Accounts among processes: they race, they are killed at every step, they hold the file for themselves."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpviz.core.check import RequestError
from dpviz.releases.account import Account, AccountExceeded, State
from dpviz.releases.account_file import AccountLocked
from tests.releases.charges import ROOT, a_charge

# Holds the file for itself until it is told to end.
HOLD = """
import sqlite3, sys
file = sqlite3.connect(sys.argv[1], isolation_level=None)
file.execute("PRAGMA locking_mode = EXCLUSIVE")
file.execute("BEGIN EXCLUSIVE")
file.execute("UPDATE account SET name = name")
print("held", flush=True)
sys.stdin.read()
"""


def new(path: Path, *, cap: float = 1.0) -> Account:
    return Account.new(path, name="people", cap_epsilon=cap)


def process(*words: object) -> subprocess.Popen[str]:
    """Python in another process, which is asked and answers by lines."""
    command = [sys.executable, *map(str, words)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)


class Processes:
    """Whoever starts processes that use accounts, and says how they end."""

    def __init__(self, parent: subprocess.Popen[str]) -> None:
        self._parent = parent
        assert self.line() == "ready"

    def line(self) -> str:
        assert self._parent.stdout is not None
        return self._parent.stdout.readline().rstrip("\n")

    def start(self, *words: object) -> None:
        assert self._parent.stdin is not None
        self._parent.stdin.write("\t".join(map(str, words)) + "\n")
        self._parent.stdin.flush()

    def lines(self) -> Iterator[str]:
        """What is said until they have ended, and how they have."""
        while not (line := self.line()).startswith("ended"):
            assert line, "the parent of the processes has ended"
            yield line
        yield line

    def dies(self, action: str, path: Path, at: int, when: str = "after") -> bool:
        """Whether a process dies at that step; if not, it has no such step, and dies at its end."""
        self.start(action, path, at, when)
        said = [line for line in self.lines() if not line.startswith("started")]
        assert said in ([f"ended {-signal.SIGKILL}"], ["done", f"ended {-signal.SIGKILL}"])
        return said[0] != "done"


@pytest.fixture(scope="module")
def processes() -> Iterator[Processes]:
    with process("-m", "tests.releases.account_processes") as parent:
        try:
            yield Processes(parent)
        finally:
            parent.kill()


@pytest.mark.slow
def test_of_two_processes_that_race_for_the_last_half_exactly_one_wins(tmp_path, processes):
    for number in range(8):
        account = new(tmp_path / f"{number}.sqlite")
        account.charge(a_charge(0.5))
        processes.start("race", account.path)
        said = [line for line in processes.lines() if not line.startswith("started")]
        assert sorted(said) == ["ended 0 0", "refused", "won 2"]
        assert [charge.epsilon for charge in account.standing().charges] == [0.5, 0.5]
        assert account.standing().broken_at is None


def test_whoever_comes_between_any_two_steps_of_a_charge_for_the_last_half_one_wins(monkeypatch, tmp_path):
    steps, outcomes = iter(range(1)), []

    class Meanwhile(sqlite3.Connection):
        def execute(self, *words: object) -> sqlite3.Cursor:
            if next(steps, None) == 0:
                outcomes[-1].append(_tries(Account(account.path, patience=0.0)))
            return super().execute(*words)

    connect, at = sqlite3.connect, 0
    while True:
        account = new(tmp_path / f"{at}.sqlite")
        account.charge(a_charge(0.5))
        outcomes.append([])
        with monkeypatch.context() as patch:
            steps = iter(range(-at, 1))
            patch.setattr(sqlite3, "connect", lambda *words, **named: connect(*words, factory=Meanwhile, **named))
            outcomes[-1].append(_tries(account))
        assert account.standing().spent_epsilon == 1.0 and account.standing().broken_at is None
        if len(outcomes[-1]) == 1:  # it has no such step
            break
        at += 1
    # Until BEGIN IMMEDIATE whoever comes wins; from then on it has to wait.
    assert [outcome for place, outcome in enumerate(outcomes[:-1]) if not place or outcome != outcomes[place - 1]] == [
        ["won", "refused"],
        ["locked", "won"],
    ]
    assert outcomes[-1] == ["won"] and at > 10


def _tries(account: Account) -> str:
    try:
        account.charge(a_charge(0.5))
    except AccountExceeded:
        return "refused"
    except AccountLocked:
        return "locked"
    return "won"


@pytest.mark.slow
def test_a_process_that_is_killed_among_its_charges_loses_and_doubles_none(tmp_path, processes):
    account = new(tmp_path / "a.sqlite", cap=1e6)
    told = 0
    for _ in range(2):
        processes.start("again", account.path)
        numbers, busy = [], 0
        for line in processes.lines():
            match line.split():
                case ["started", child]:
                    busy = int(child)
                case ["ended", code]:
                    assert int(code) == -signal.SIGKILL
                case [number]:
                    numbers.append(int(number))
            if len(numbers) == 8 and busy:
                os.kill(busy, signal.SIGKILL)
                busy = 0
        assert numbers == list(range(told + 1, told + len(numbers) + 1))
        entries = Account.open(account.path).standing().entries
        # One more may have been charged, and killed before it was told.
        assert told + len(numbers) <= len(entries) <= told + len(numbers) + 1
        assert [entry.number for entry in entries] == list(range(1, len(entries) + 1))
        told = len(entries)


def charged_at(processes: Processes, path: Path, at: int, when: str) -> tuple[int, bool]:
    """How often was charged by a process that died there, and whether it had such a step."""
    account = new(path)
    account.charge(a_charge(0.25))
    died = processes.dies("charge", path, at, when)
    standing = Account.open(path).standing()
    assert {entry.state for entry in standing.entries} == {State.CHARGED}
    assert standing.spent_epsilon == 0.25 + 0.5 * (len(standing.entries) - 1)
    account.charge(a_charge(0.25))  # and the account goes on
    return len(standing.entries) - 1, died


@pytest.mark.slow
def test_wherever_a_process_dies_its_charge_is_there_whole_or_not_at_all_and_from_commit_on(
    monkeypatch, tmp_path, processes
):
    steps: list[str] = []

    class Noting(sqlite3.Connection):
        def execute(self, statement: str, *more: object) -> sqlite3.Cursor:
            steps.append(statement)
            return super().execute(statement, *more)

        def close(self) -> None:
            steps.append("close")
            super().close()

    account, connect = new(tmp_path / "a.sqlite"), sqlite3.connect
    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", lambda *words, **named: connect(*words, factory=Noting, **named))
        Account.open(account.path).charge(a_charge(0.25))
    outcomes = [
        charged_at(processes, tmp_path / f"{at}.sqlite", at, "after") for at in range(len(steps) + 1)
    ]  # the last one dies once the charge has returned
    commit = steps.index("COMMIT", steps.index("BEGIN IMMEDIATE"))
    assert outcomes == [(int(at >= commit), at < len(steps)) for at in range(len(steps) + 1)]
    assert charged_at(processes, tmp_path / "before.sqlite", commit, "before") == (0, True)


@pytest.mark.slow
def test_an_account_that_was_not_finished_is_no_account(tmp_path, processes):
    step = 0
    while processes.dies("new", path := tmp_path / f"{step}.sqlite", step):
        try:
            standing = Account.open(path).standing()
        except RequestError:
            with pytest.raises(RequestError, match="is there already"):
                new(path)
        else:
            assert (standing.cap_epsilon, standing.entries) == (1.0, ())
        step += 1
    assert step > 10


def test_a_file_that_another_process_holds_is_a_sentence(tmp_path):
    account = new(tmp_path / "a.sqlite")
    hurried = Account(account.path, patience=0.05)
    other = new(tmp_path / "b.sqlite")
    for each in (account, other):
        each.charge(a_charge(0.25))
    with process("-c", HOLD, account.path) as holder:
        assert holder.stdout.readline() == "held\n"
        for use in (hurried.standing, lambda: hurried.charge(a_charge(0.25)), hurried.look_alikes):
            with pytest.raises(AccountLocked, match="locked by another program"):
                use()
        assert other.look_alikes() == ()
        holder.stdin.close()
    assert len(hurried.standing().entries) == 1
    assert other.look_alikes() == ("a.sqlite",)
