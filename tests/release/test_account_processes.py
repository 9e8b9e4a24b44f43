"""Accounts among processes: they race, they are killed at every step, they hold the file for themselves."""

from __future__ import annotations

import signal
import sqlite3
from pathlib import Path

import pytest

from dpviz.check import RequestError
from dpviz.release.account import Account, State
from dpviz.release.account_file import AccountLocked
from tests.release.charges import a_charge, process

START = """
import os, signal, sqlite3, sys
from dpviz.release.account import Account, AccountExceeded
from tests.release.charges import a_charge
"""
# Charges to the account of each line that it reads.
RACE = f"""{START}
print("ready", flush=True)
for line in sys.stdin:
    try:
        print("won", Account.open(line.strip()).charge(a_charge(0.5)), flush=True)
    except AccountExceeded:
        print("refused", flush=True)
"""
# Kills itself once a charge has returned.
KILLED = f"""{START}
print(Account.open(sys.argv[1]).charge(a_charge(0.25)), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
# Charges until it is killed by somebody else.
AGAIN = f"""{START}
account = Account.open(sys.argv[1])
while True:
    print(account.charge(a_charge(0.001)), flush=True)
"""
# Kills itself before, or after, the step of that number of a connection.
AT_STEP = f"""{START}
_, path, action, at, when = sys.argv
steps = iter(range(1000))
def step(done):
    last = next(steps) == int(at)
    if last and when == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    found = done()
    if last:
        os.kill(os.getpid(), signal.SIGKILL)
    return found
class Dying(sqlite3.Connection):
    def execute(self, *words):
        return step(lambda: super(Dying, self).execute(*words))
    def close(self):
        return step(lambda: super(Dying, self).close())
connect = sqlite3.connect
sqlite3.connect = lambda *words, **named: connect(*words, factory=Dying, **named)
if action == "new":
    Account.new(path, name="people", cap_epsilon=1.0)
else:
    Account.open(path).charge(a_charge(0.5))
print("done", flush=True)
"""
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


@pytest.mark.parametrize("rounds", [8, pytest.param(500, marks=pytest.mark.slow)])
def test_of_two_that_race_for_the_last_half_exactly_one_wins(tmp_path, rounds):
    with process(RACE) as one, process(RACE) as other:
        assert one.stdout.readline() == other.stdout.readline() == "ready\n"
        for number in range(rounds):
            account = new(tmp_path / f"{number}.sqlite")
            account.charge(a_charge(0.5))
            for racer in (one, other) if number % 2 else (other, one):
                racer.stdin.write(f"{account.path}\n")
                racer.stdin.flush()
            assert sorted([one.stdout.readline(), other.stdout.readline()]) == ["refused\n", "won 2\n"]
            assert [charge.epsilon for charge in account.standing().charges] == [0.5, 0.5]
        one.stdin.close()
        other.stdin.close()


@pytest.mark.slow
def test_a_charge_outlives_the_process_that_made_it(tmp_path):
    account = new(tmp_path / "a.sqlite")
    with process(KILLED, account.path) as killed:
        assert killed.stdout.read() == "1\n"
    assert killed.returncode == -signal.SIGKILL
    (entry,) = Account.open(account.path).standing().entries
    assert (entry.number, entry.charge, entry.state) == (1, a_charge(0.25), State.CHARGED)


@pytest.mark.slow
def test_a_process_that_is_killed_among_its_charges_loses_and_doubles_none(tmp_path):
    account = new(tmp_path / "a.sqlite", cap=1e6)
    told = 0
    for _ in range(2):
        with process(AGAIN, account.path) as busy:
            numbers = [int(busy.stdout.readline()) for _ in range(8)]
            busy.kill()
            numbers += [int(line) for line in busy.stdout]
        assert numbers == list(range(told + 1, told + len(numbers) + 1))
        entries = Account.open(account.path).standing().entries
        # One more may have been charged, and killed before it was told.
        assert told + len(numbers) <= len(entries) <= told + len(numbers) + 1
        assert [entry.number for entry in entries] == list(range(1, len(entries) + 1))
        told = len(entries)


def die(path: Path, action: str, at: int, when: str) -> bool:
    """Whether a process has died at that step; if not, it has no such step."""
    with process(AT_STEP, path, action, at, when) as dying:
        told = dying.stdout.read()
    assert (told, dying.returncode) in (("", -signal.SIGKILL), ("done\n", 0))
    return dying.returncode != 0


def charged_at(path: Path, at: int, when: str) -> int | None:
    """How often was charged by a process that died there; None if it lived."""
    account = new(path)
    account.charge(a_charge(0.25))
    if not die(path, "charge", at, when):
        return None
    standing = Account.open(path).standing()
    assert {entry.state for entry in standing.entries} == {State.CHARGED}
    assert standing.spent_epsilon == 0.25 + 0.5 * (len(standing.entries) - 1)
    account.charge(a_charge(0.25))  # and the account goes on
    return len(standing.entries) - 1


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.slow
def test_wherever_a_process_dies_its_charge_is_there_whole_or_not_at_all(tmp_path, when):
    outcomes = []
    while (charged := charged_at(tmp_path / f"{len(outcomes)}.sqlite", len(outcomes), when)) is not None:
        outcomes.append(charged)
    # Not until COMMIT, and from then on: once.
    assert set(outcomes) == {0, 1} and outcomes == sorted(outcomes)
    assert len(outcomes) > 10


@pytest.mark.slow
def test_the_charge_is_there_from_commit_on(monkeypatch, tmp_path):
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
    at = steps.index("COMMIT")
    assert charged_at(tmp_path / "b.sqlite", at, "before") == 0
    assert charged_at(tmp_path / "c.sqlite", at, "after") == 1


@pytest.mark.slow
def test_an_account_that_was_not_finished_is_no_account(tmp_path):
    step = 0
    while die(path := tmp_path / f"{step}.sqlite", "new", step, "after"):
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
    with process(HOLD, account.path) as holder:
        assert holder.stdout.readline() == "held\n"
        for use in (hurried.standing, lambda: hurried.charge(a_charge(0.25)), hurried.look_alikes):
            with pytest.raises(AccountLocked, match="locked by another program"):
                use()
        assert other.look_alikes() == ()
        holder.stdin.close()
    assert len(hurried.standing().entries) == 1
    assert other.look_alikes() == ("a.sqlite",)
