"""Accounts among processes: they race, they are killed at every step, they hold the file for themselves."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from dpviz.core.check import RequestError
from dpviz.releases.account import Account, AccountExceeded, State
from dpviz.releases.account_file import AccountLocked
from tests.releases.account_processes import FORKS, charge, charge_again, make, race
from tests.releases.charges import a_charge, at_each_statement

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


def dies(use: Callable[..., None], path: Path, at: int, when: str = "after") -> bool:
    """Whether a process dies at that step; if not, it has no such step."""
    process = FORKS.Process(target=use, args=(path, at, when))
    process.start()
    process.join()
    assert process.exitcode in (0, -signal.SIGKILL)
    return process.exitcode != 0


@pytest.mark.slow
def test_of_two_processes_that_race_for_the_last_half_exactly_one_wins(tmp_path):
    for number in range(8):
        account = new(tmp_path / f"{number}.sqlite")
        account.charge(a_charge(0.5))
        start, (hears, told) = FORKS.Barrier(2), FORKS.Pipe(duplex=False)
        racers = [FORKS.Process(target=race, args=(account.path, start, told)) for _ in range(2)]
        for racer in racers:
            racer.start()
        assert sorted(hears.recv() for _ in racers) == ["refused", "won 2"]
        for racer in racers:
            racer.join()
        assert [charge.epsilon for charge in account.standing().charges] == [0.5, 0.5]
        assert account.standing().broken_at is None


def test_whoever_comes_between_any_two_steps_of_a_charge_for_the_last_half_one_wins(monkeypatch, tmp_path):
    steps, outcomes, at = iter(range(1)), [], 0

    def come_in_between(*_):
        if next(steps, None) == 0:
            outcomes[-1].append(_tries(Account(account.path, patience=0.0)))

    while True:
        account = new(tmp_path / f"{at}.sqlite")
        account.charge(a_charge(0.5))
        outcomes.append([])
        with monkeypatch.context() as patch:
            steps = iter(range(-at, 1))
            at_each_statement(patch, come_in_between)
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
def test_a_process_that_is_killed_among_its_charges_loses_and_doubles_none(tmp_path):
    account = new(tmp_path / "a.sqlite", cap=1e6)
    told = 0
    for _ in range(2):
        hears, tells = FORKS.Pipe(duplex=False)
        process = FORKS.Process(target=charge_again, args=(account.path, tells))
        process.start()
        tells.close()
        numbers = [hears.recv() for _ in range(8)]
        process.kill()
        process.join()
        with suppress(EOFError, OSError):  # the last one may be half told
            while True:
                numbers.append(hears.recv())
        assert numbers == list(range(told + 1, told + len(numbers) + 1))
        entries = Account.open(account.path).standing().entries
        # One more may have been charged, and killed before it was told.
        assert told + len(numbers) <= len(entries) <= told + len(numbers) + 1
        assert [entry.number for entry in entries] == list(range(1, len(entries) + 1))
        told = len(entries)


def charged_at(path: Path, at: int, when: str) -> tuple[int, bool]:
    """How often was charged by a process that died there, and whether it had such a step."""
    account = new(path)
    account.charge(a_charge(0.25))
    died = dies(charge, path, at, when)
    standing = Account.open(path).standing()
    assert {entry.state for entry in standing.entries} == {State.CHARGED}
    assert standing.spent_epsilon == 0.25 + 0.5 * (len(standing.entries) - 1)
    account.charge(a_charge(0.25))  # and the account goes on
    return len(standing.entries) - 1, died


@pytest.mark.slow
def test_wherever_a_process_dies_its_charge_is_there_whole_or_not_at_all_and_from_commit_on(monkeypatch, tmp_path):
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
    # The last one ends once the charge has returned.
    outcomes = [charged_at(tmp_path / f"{at}.sqlite", at, "after") for at in range(len(steps) + 1)]
    commit = steps.index("COMMIT", steps.index("BEGIN IMMEDIATE"))
    assert outcomes == [(int(at >= commit), at < len(steps)) for at in range(len(steps) + 1)]
    assert charged_at(tmp_path / "before.sqlite", commit, "before") == (0, True)


@pytest.mark.slow
def test_an_account_that_was_not_finished_is_no_account(tmp_path):
    step = 0
    while dies(make, path := tmp_path / f"{step}.sqlite", step):
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
    command = [sys.executable, "-c", HOLD, account.path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "held\n"
        for use in (hurried.standing, lambda: hurried.charge(a_charge(0.25)), hurried.look_alikes):
            with pytest.raises(AccountLocked, match="locked by another program"):
                use()
        assert other.look_alikes() == ()
        holder.stdin.close()
    assert len(hurried.standing().entries) == 1
    assert other.look_alikes() == ("a.sqlite",)
