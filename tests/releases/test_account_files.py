"""The file of an account: whatever is wrong with it is a sentence, and it is its owner's alone."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from typing import Any

import pytest

from dpviz.core.check import RequestError
from dpviz.releases import account_file
from dpviz.releases.account import Account
from dpviz.releases.account_file import AccountLocked
from tests.cases import about
from tests.releases.charges import a_charge, refusal

HASH = "0123456789abcdef" * 4
POSIX = pytest.mark.skipif(os.name != "posix", reason="modes of files")


def test_a_missing_file_is_a_sentence(tmp_path):
    assert "There is no account" in refusal(tmp_path / "none.sqlite")
    assert "There is no account" in refusal(tmp_path / "none" / "a.sqlite")
    assert not any(tmp_path.iterdir())
    for name in ("x" * 300, "a\0b"):
        with pytest.raises(RequestError, match="There is no account"):
            Account.open(tmp_path / name)
        with pytest.raises(RequestError, match="cannot be made"):
            Account.new(tmp_path / name, name="a", cap_epsilon=1.0)
    with pytest.raises(RequestError, match="cannot be made"):
        Account.new(tmp_path / "none" / "a.sqlite", name="a", cap_epsilon=1.0)
    with pytest.raises(RequestError, match="where it lies: nothing was released"):  # those beside it
        Account.new(tmp_path / ("x" * 253), name="a", cap_epsilon=1.0)
    assert not any(tmp_path.iterdir())


def test_what_is_no_account_is_a_sentence(tmp_path):
    assert "is no file" in refusal(tmp_path)
    text, empty, foreign = (tmp_path / name for name in ("a.txt", "b.sqlite", "c.sqlite"))
    text.write_text("no database\n" * 100)
    assert "no account" in refusal(text)
    empty.touch()
    assert "is empty" in refusal(empty)
    with closing(sqlite3.connect(foreign)) as file:
        file.execute("CREATE TABLE account (name)")
    assert "a database, but no account" in refusal(foreign)
    assert text.read_text() == "no database\n" * 100 and not empty.stat().st_size


def test_an_account_of_a_newer_version_is_left_alone(account):
    with closing(sqlite3.connect(account.path)) as file:
        file.execute(f"PRAGMA user_version = {account_file.VERSION + 1}")
    assert "newer dpviz" in refusal(account.path)


def test_a_charge_is_on_the_disk_before_it_counts(account, monkeypatch):
    """SQLite's strictest promise at the end of every change, whatever a copy of the file may be set to."""
    extra, found = 3, []

    class Watched(sqlite3.Connection):
        def execute(self, sql, *given):
            if sql == "COMMIT":
                found.append(super().execute("PRAGMA synchronous").fetchone()[0])
            return super().execute(sql, *given)

    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Watched))
    number = account.charge(a_charge())
    account.note_failed(number, why="a test")
    Account.new(account.path.with_name("other.sqlite"), name="other", cap_epsilon=1.0)
    assert len(found) >= 3 and {*found} == {extra}


def test_nothing_that_is_there_is_written_over(account, tmp_path):
    account.charge(a_charge())
    (tmp_path / "text").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for path in (account.path, tmp_path / "text", tmp_path / "link", tmp_path):
        with pytest.raises(RequestError, match="is there already"):
            Account.new(path, name="a", cap_epsilon=1.0)
    assert (tmp_path / "text").read_text() == "mine" and not (tmp_path / "nowhere").exists()
    assert len(account.standing().entries) == 1


def test_what_is_left_of_an_account_is_not_thrown_away(tmp_path):
    (tmp_path / "a.sqlite-wal").write_text("charges")
    with pytest.raises(RequestError, match="left of an earlier account"):
        Account.new(tmp_path / "a.sqlite", name="a", cap_epsilon=1.0)
    assert [path.name for path in tmp_path.iterdir()] == ["a.sqlite-wal"]
    (tmp_path / "a.sqlite").touch()
    assert "is empty" in refusal(tmp_path / "a.sqlite")
    assert (tmp_path / "a.sqlite-wal").read_text() == "charges"


def test_no_account_is_made_where_none_can_be_kept(monkeypatch, tmp_path):
    class Full(sqlite3.Connection):
        def execute(self, statement: str, *more: object) -> sqlite3.Cursor:
            if statement == "COMMIT":
                error = sqlite3.OperationalError("database or disk is full")
                error.sqlite_errorcode = sqlite3.SQLITE_FULL
                raise error
            return super().execute(statement, *more)

    _connect_by(monkeypatch, Full)
    with pytest.raises(RequestError, match="its disk has room"):
        Account.new(tmp_path / "a.sqlite", name="a", cap_epsilon=1.0)
    assert not any(tmp_path.iterdir())


def test_a_charge_that_finds_a_full_disk_is_a_sentence_and_no_charge(account, monkeypatch):
    pages = int(sqlite3.connect(account.path).execute("PRAGMA page_count").fetchone()[0])

    class Full(sqlite3.Connection):
        def execute(self, statement: str, *more: object) -> sqlite3.Cursor:
            if statement.startswith("BEGIN"):
                super().execute(f"PRAGMA max_page_count = {pages}")
            return super().execute(statement, *more)

    with monkeypatch.context() as patch:
        _connect_by(patch, Full)
        with pytest.raises(RequestError, match="its disk has room"):
            account.charge(a_charge(columns=("a" * 5000,), lower=(0.0,), upper=(1.0,)))
    assert account.standing().entries == ()
    assert account.charge(a_charge()) == 1


def _connect_by(monkeypatch: pytest.MonkeyPatch, kind: type[sqlite3.Connection]) -> None:
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *words, **named: connect(*words, factory=kind, **named))


def test_a_file_that_is_cut_off_is_a_sentence(account):
    account.charge(a_charge())
    whole = account.path.read_bytes()
    assert len(whole) == 12288
    for kept in (1, 15, 16, 50, 99, 100, 1000, 4095, 4096, 6000, 8192, 12287):
        account.path.write_bytes(whole[:kept])
        with about(kept):
            assert "damaged" in refusal(account.path) or "no account" in refusal(account.path)
    account.path.write_bytes(whole)
    assert len(account.standing().entries) == 1


@pytest.mark.parametrize("length", [1, 100, 3000])
def test_overwritten_bytes_are_a_sentence_or_touch_nothing_that_is_told(account, length):
    account.charge(a_charge(0.25, 1e-6))
    account.note_released(account.charge(a_charge(0.5)), card_sha256=HASH)
    whole, told = account.path.read_bytes(), account.standing()
    outcomes = set()
    for start in range(0, len(whole) - length + 1, 101 if length < 100 else 401):
        part = bytes(byte ^ 0x55 for byte in whole[start : start + length])
        account.path.write_bytes(whole[:start] + part + whole[start + length :])
        try:
            assert account.standing() == told
            outcomes.add("whole")
        except RequestError as error:
            outcomes.add(next((word for word in ("no account", "damaged", "newer") if word in str(error)), str(error)))
    assert {"whole", "damaged", "no account"} <= outcomes <= {"whole", "damaged", "no account", "newer"}


def test_a_number_that_is_no_longer_what_was_written_is_noticed(account):
    account.charge(a_charge(0.25))
    whole = account.path.read_bytes()
    for change in (
        "UPDATE release SET epsilon = 0.125",
        "UPDATE account SET cap_epsilon = 2",
        "UPDATE release SET state = 'released'",
        "UPDATE release SET who = CAST(x'ff' AS TEXT)",
        "UPDATE account SET seal = x'00'",
        "DROP TRIGGER release_stays; DELETE FROM release",
        "DELETE FROM account",
        "DROP TABLE release",
    ):
        account.path.write_bytes(whole)
        assert len(account.standing().entries) == 1
        with closing(sqlite3.connect(account.path)) as file:
            file.executescript(change)
        with about(change):
            assert "damaged" in refusal(account.path)


def test_no_charge_is_taken_back_even_by_hand(account):
    account.charge(a_charge())
    with closing(sqlite3.connect(account.path)) as file, pytest.raises(sqlite3.IntegrityError, match="a charge stays"):
        file.execute("DELETE FROM release")


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


@POSIX
def test_all_its_files_are_for_their_owner_alone(monkeypatch, tmp_path):
    modes: set[tuple[str, int]] = set()

    def note(happened: Any) -> Any:
        modes.update((path.name, stat.S_IMODE(path.stat().st_mode)) for path in tmp_path.iterdir())
        return happened

    class Noting(sqlite3.Connection):
        def execute(self, *words: Any) -> sqlite3.Cursor:
            return note(super().execute(*words))

    _connect_by(monkeypatch, Noting)
    make = os.open
    monkeypatch.setattr(os, "open", lambda *words: note(make(*words)))
    with umask(0):
        account = Account.new(tmp_path / "a.sqlite", name="a", cap_epsilon=1.0)
        account.charge(a_charge())
        account.standing()
    assert modes == {(f"a.sqlite{end}", 0o600) for end in ("", "-journal", "-wal", "-shm")}
    assert [path.name for path in tmp_path.iterdir()] == ["a.sqlite"]


def test_a_copy_in_another_journal_mode_is_an_account(account):
    with closing(sqlite3.connect(account.path)) as file:
        assert file.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",)
    assert account.charge(a_charge()) == 1
    assert len(Account.open(account.path).standing().entries) == 1


def test_who_reads_holds_up_nobody_who_charges(account):
    with closing(sqlite3.connect(account.path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM release").fetchone() == (0,)
        assert Account(account.path, patience=0.0).charge(a_charge()) == 1
        assert reader.execute("SELECT count(*) FROM release").fetchone() == (0,)


def test_who_charges_holds_up_nobody_who_looks(account):
    with closing(sqlite3.connect(account.path, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        hurried = Account(account.path, patience=0.05)
        with pytest.raises(AccountLocked, match=r"locked by another program, and was so for 0\.05 seconds"):
            hurried.charge(a_charge())
        with pytest.raises(AccountLocked):
            hurried.note_released(1, card_sha256=HASH)
        assert hurried.standing().entries == ()
    assert account.charge(a_charge()) == 1
