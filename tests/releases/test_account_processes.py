"""Accounts among processes: they race, and are killed at every step."""

from __future__ import annotations

import signal
import sqlite3
from pathlib import Path

import pytest

from dpviz.releases.account import Account, AccountExceeded, State
from dpviz.releases.account_file import AccountLocked
from tests.releases.account_processes import FORKS, charge
from tests.releases.charges import a_charge, at_each_statement


def new(path: Path, *, cap: float = 1.0) -> Account:
    return Account.new(path, name="people", cap_epsilon=cap)


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


def charged_at(path: Path, at: int, when: str) -> tuple[int, bool]:
    """How often was charged by a process that died there, and whether it had such a step."""
    account = new(path)
    account.charge(a_charge(0.25))
    process = FORKS.Process(target=charge, args=(path, at, when))
    process.start()
    process.join()
    assert process.exitcode in (0, -signal.SIGKILL)
    standing = Account.open(path).standing()
    assert {entry.state for entry in standing.entries} == {State.CHARGED}
    assert standing.spent_epsilon == 0.25 + 0.5 * (len(standing.entries) - 1)
    account.charge(a_charge(0.25))  # and the account goes on
    return len(standing.entries) - 1, process.exitcode != 0


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
