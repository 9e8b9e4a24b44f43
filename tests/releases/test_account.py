"""An account: what fits is charged, what does not is refused, and no charge is lost, doubled or taken back."""

import itertools
import math
import os
import shutil
import sqlite3
import stat
from contextlib import closing
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dpviz.core.check import RequestError
from dpviz.releases import account as accounts
from dpviz.releases import account_file
from dpviz.releases.account_file import AccountLocked
from dpviz.releases.package import CARD, PAGE
from dpviz.releases.release_reader import read_release
from dpviz.releases.releasing import publish
from tests.cases import about
from tests.command_line import call
from tests.examples import examples
from tests.releases.charges import a_charge, at_each_statement, refusal
from tests.releases.people import ready_in, unrehearsed

HASH = "0123456789abcdef" * 4


def test_who_is_the_user_of_the_system_unless_somebody_is_named(monkeypatch):
    monkeypatch.setattr("getpass.getuser", lambda: "ada\n")
    assert accounts.read_user() == "ada?"
    monkeypatch.setattr("getpass.getuser", Mock(side_effect=KeyError("uid")))
    assert accounts.read_user() == "unknown"


def test_delta_has_a_cap_of_its_own(account, tmp_path):
    account.charge(a_charge(0.1, 8e-6))
    with pytest.raises(accounts.AccountExceeded, match="ask for at most δ = 2e-06"):
        account.charge(a_charge(0.1, 3e-6))
    account.charge(a_charge(0.1, 2e-6))
    with pytest.raises(accounts.AccountExceeded, match="without δ"):
        account.charge(a_charge(0.1, 1e-12))
    account.charge(a_charge(0.1, 0.0))
    pure = accounts.Account.new(tmp_path / "pure.sqlite", name="pure", cap_epsilon=1.0)
    with pytest.raises(accounts.AccountExceeded, match=r"0 of 0 is left .* without δ"):
        pure.charge(a_charge(0.1, 1e-9))
    assert (account.standing().spent_delta, pure.standing().entries) == (pytest.approx(1e-5), ())


@pytest.mark.parametrize("change", [{"unit": "3 rows of one id"}, {"relation": "replace"}], ids=str)
def test_the_first_release_sets_unit_and_relation(account, change):
    account.note_failed(account.charge(a_charge(0.1)), why="a try")
    with pytest.raises(RequestError, match="do not add up"):
        account.charge(a_charge(0.1, **change))
    assert (account.standing().unit, account.standing().relation) == ("1 row", "add_remove")
    assert len(account.standing().entries) == 1


def test_what_is_no_charge_is_refused():
    for change in (
        *({"epsilon": epsilon} for epsilon in (math.nan, math.inf, -1.0, 0.0, 1e-4, True, "1")),
        *({"delta": delta} for delta in (math.nan, math.inf, -1e-9, 1.0, 1e-200)),
        *({"k": 0}, {"k": 1.5}, {"relation": "swap"}, {"unit": " "}, {"algorithm": "a\nb"}, {"who": "x" * 300}),
        *({"columns": ()}, {"columns": ("age",)}, {"lower": (0.0, math.nan)}, {"upper": (1.0, math.inf)}),
    ):
        with about(change), pytest.raises(RequestError):
            a_charge(**change)


COSTS = st.one_of(st.sampled_from([0.1, 0.2, 0.5, 1 / 3, 1e-3]), st.floats(1e-3, 0.7))
DELTAS = st.one_of(st.sampled_from([0.0, 1e-6]), st.floats(1e-9, 1e-5))


@given(charges=st.lists(st.tuples(COSTS, DELTAS), max_size=8), cap_delta=st.sampled_from([0.0, 1e-6, 2e-5]))
@example(charges=[(0.1, 0.0)] * 11, cap_delta=0.0)
@settings(max_examples=examples(40))
def test_no_sum_exceeds_the_cap_and_nothing_that_fits_is_refused(charges, cap_delta):
    with TemporaryDirectory() as folder:
        account = accounts.Account.new(Path(folder, "a.sqlite"), name="a", cap_epsilon=1.0, cap_delta=cap_delta)
        accepted: list[accounts.Charge] = []
        for charge in itertools.starmap(a_charge, charges):
            epsilon, delta = (
                sum(Fraction(getattr(one, name)) for one in [*accepted, charge]) for name in ("epsilon", "delta")
            )
            try:
                account.charge(charge)
            except accounts.AccountExceeded:
                assert epsilon > 1 or delta > Fraction(cap_delta)
            else:
                accepted.append(charge)
                # Beyond the last bits, nothing is forgiven.
                assert epsilon <= 1 + BITS and delta <= Fraction(cap_delta) * (1 + BITS)
        assert account.standing().charges == tuple(accepted)


BITS = Fraction(101, 10**14)


def test_a_charge_is_released_or_fails_once_and_stays(account):
    first, second = account.charge(a_charge(0.2)), account.charge(a_charge(0.3))
    links = [account.standing().link(number) for number in (first, second)]
    account.note_released(first, card_sha256=HASH)
    account.note_failed(second, why="the disk\n was  full")
    account.note_released(first, card_sha256=HASH)  # said twice, it is the same
    for change, refused in (
        (lambda: account.note_failed(first, why="no"), "released already"),
        (lambda: account.note_released(first, card_sha256=HASH[::-1]), "released already"),
        (lambda: account.note_released(second, card_sha256=HASH), "failed after charge already"),
        (lambda: account.note_failed(3, why="no"), "no release"),
        (lambda: account.note_released(first, card_sha256=HASH.upper()), "64 hexadecimal"),
    ):
        with pytest.raises(RequestError, match=refused):
            change()
    standing = account.standing()
    states = [(entry.state, entry.card_sha256, entry.why) for entry in standing.entries]
    assert states == [("released", HASH, None), ("failed after charge", None, "the disk was full")]
    assert standing.spent_epsilon == 0.5 and standing.broken_at is None and "is whole" in standing.text
    assert links == [standing.link(number) for number in (first, second)], "whatever becomes of it"
    assert links[0].sha256 == links[1].previous_sha256 != links[0].previous_sha256


def test_another_account_of_the_same_columns_is_recognised_whatever_it_is_called(account, tmp_path):
    other = accounts.Account.new(tmp_path / "holiday.jpg", name="other", cap_epsilon=1.0)
    other.charge(a_charge(0.1, columns=("income", "age"), upper=(1e5, 99.0)))
    accounts.Account.new(tmp_path / "third.sqlite", name="third", cap_epsilon=1.0).charge(
        a_charge(0.1, columns=("age", "x"))
    )
    assert account.look_alikes() == account.look_alikes(columns=("weight",)) == ()
    assert account.look_alikes(columns=("age", "income", "sex")) == ("holiday.jpg",)  # no charge of ours is needed
    account.charge(a_charge(0.1))
    assert account.look_alikes() == account.look_alikes(tmp_path) == ("holiday.jpg",)


def test_what_lies_beside_and_is_no_account_is_left_alone(account, tmp_path):
    account.charge(a_charge(0.1))
    (tmp_path / "notes.sqlite").write_text("no database")
    (tmp_path / "folder.sqlite").mkdir()
    (tmp_path / "nowhere.sqlite").symlink_to(tmp_path / "gone")
    (tmp_path / "same.sqlite").symlink_to(account.path)
    with closing(sqlite3.connect(tmp_path / "foreign.sqlite")) as foreign:
        foreign.execute("CREATE TABLE release (number)")
    (tmp_path / "damaged.sqlite").write_bytes(account.path.read_bytes()[:5000])
    there = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir() if path.exists()}
    locked = accounts.Account.new(tmp_path / "locked.sqlite", name="l", cap_epsilon=1.0)
    locked.charge(a_charge(0.1))
    with closing(sqlite3.connect(locked.path, isolation_level=None)) as holder:
        holder.executescript("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")
        assert account.look_alikes() == ()
    locked.path.unlink()
    assert there == {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir() if path.exists()}


def test_what_is_no_account_is_a_sentence_and_is_left_alone(account, tmp_path):
    text, empty, foreign = (tmp_path / name for name in ("a.txt", "b.sqlite", "c.sqlite"))
    text.write_text("no database\n" * 100)
    empty.touch()
    with closing(sqlite3.connect(foreign)) as file:
        file.execute("CREATE TABLE account (name)")
    with closing(sqlite3.connect(account.path)) as file:
        file.execute(f"PRAGMA user_version = {account_file.VERSION + 1}")
    for path, told in (
        *((tmp_path / "none.sqlite", "There is no account"), (tmp_path / "none" / "a.sqlite", "There is no account")),
        *((tmp_path, "is no file"), (text, "no account"), (empty, "is empty")),
        *((foreign, "a database, but no account"), (account.path, "newer dpviz")),
    ):
        assert told in refusal(path)
    assert text.read_text() == "no database\n" * 100 and not empty.stat().st_size


# The file of an account: whatever is wrong with it is a sentence, and it is its owner's alone.


def test_a_charge_is_on_the_disk_before_it_counts(account, monkeypatch):
    """SQLite's strictest promise at the end of every change, whatever a copy of the file may be set to."""
    extra, found = 3, []

    def look(plain, said):
        if said == "COMMIT":
            found.append(plain.execute("PRAGMA synchronous").fetchone()[0])

    at_each_statement(monkeypatch, look)
    number = account.charge(a_charge())
    account.note_failed(number, why="a test")
    accounts.Account.new(account.path.with_name("other.sqlite"), name="other", cap_epsilon=1.0)
    assert len(found) >= 3 and {*found} == {extra}


def test_nothing_that_is_there_is_written_over(account, tmp_path):
    account.charge(a_charge())
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for path in (account.path, tmp_path / "link", tmp_path):
        with pytest.raises(RequestError, match="is there already"):
            accounts.Account.new(path, name="a", cap_epsilon=1.0)
    assert not (tmp_path / "nowhere").exists() and len(account.standing().entries) == 1
    for name, told in {"x" * 300: "be made", "none/a": "be made", "x" * 253: "nothing was released"}.items():
        with pytest.raises(RequestError, match=told):
            accounts.Account.new(tmp_path / name, name="a", cap_epsilon=1.0)
    (tmp_path / "a.sqlite-wal").write_text("charges")
    with pytest.raises(RequestError, match="left of an earlier account"):
        accounts.Account.new(tmp_path / "a.sqlite", name="a", cap_epsilon=1.0)
    assert (tmp_path / "a.sqlite-wal").read_text() == "charges" and not (tmp_path / "a.sqlite").exists()


def test_a_charge_that_finds_a_full_disk_is_a_sentence_and_no_charge(account, monkeypatch):
    pages = int(sqlite3.connect(account.path).execute("PRAGMA page_count").fetchone()[0])

    def fill(plain, said):
        if said.startswith("BEGIN"):
            plain.execute(f"PRAGMA max_page_count = {pages}")

    with monkeypatch.context() as patch:
        at_each_statement(patch, fill)
        with pytest.raises(RequestError, match="its disk has room"):
            account.charge(a_charge(columns=("a" * 5000,), lower=(0.0,), upper=(1.0,)))
    assert account.standing().entries == () and account.charge(a_charge()) == 1


@pytest.mark.parametrize("length", [1, 100, 3000])
def test_overwritten_bytes_are_a_sentence_or_touch_nothing_that_is_told(account, length):
    account.charge(a_charge(0.25, 1e-6))
    account.note_released(account.charge(a_charge(0.5)), card_sha256=HASH)
    whole, told, outcomes = account.path.read_bytes(), account.standing(), set()
    for start in range(0, len(whole) - length + 1, 101 if length < 100 else 401):
        part = bytes(byte ^ 0x55 for byte in whole[start : start + length])
        account.path.write_bytes(whole[:start] + part + whole[start + length :])
        try:
            assert account.standing() == told
            outcomes.add("whole")
        except RequestError as error:
            outcomes.add(next((word for word in ("no account", "damaged", "newer") if word in str(error)), str(error)))
    assert {"whole", "damaged", "no account"} <= outcomes <= {"whole", "damaged", "no account", "newer"}
    for kept in (1, 16, 99, 100, 4096, len(whole) - 1):  # cut off
        account.path.write_bytes(whole[:kept])
        assert "damaged" in refusal(account.path) or "no account" in refusal(account.path), kept


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


@pytest.mark.skipif(os.name != "posix", reason="modes of files")
def test_all_its_files_are_for_their_owner_alone(monkeypatch, tmp_path):
    modes: set[tuple[str, int]] = set()

    def note(happened: Any, _: object = None) -> Any:
        modes.update((path.name, stat.S_IMODE(path.stat().st_mode)) for path in tmp_path.iterdir())
        return happened

    at_each_statement(monkeypatch, note, behind=True)
    make = os.open
    monkeypatch.setattr(os, "open", lambda *words: note(make(*words)))
    before = os.umask(0)
    try:
        accounts.Account.new(tmp_path / "a.sqlite", name="a", cap_epsilon=1.0).charge(a_charge())
    finally:
        os.umask(before)
    assert modes == {(f"a.sqlite{end}", 0o600) for end in ("", "-journal", "-wal", "-shm")}
    assert [path.name for path in tmp_path.iterdir()] == ["a.sqlite"]


def test_who_charges_holds_up_nobody_who_looks_nor_the_other_way_round(account):
    with closing(sqlite3.connect(account.path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM release").fetchone() == (0,)
        assert accounts.Account(account.path, patience=0.0).charge(a_charge()) == 1
        assert reader.execute("SELECT count(*) FROM release").fetchone() == (0,)
    with closing(sqlite3.connect(account.path, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        hurried = accounts.Account(account.path, patience=0.05)
        for use in (lambda: hurried.charge(a_charge()), lambda: hurried.note_released(1, card_sha256=HASH)):
            with pytest.raises(AccountLocked, match=r"locked by another program, and was so for 0\.05 seconds"):
                use()
        assert len(hurried.standing().entries) == 1


# Charges are chained: what is put back, edited or dated back contradicts a card, and the account says where.


def forge(path: Path, *statements: str) -> None:
    """Change the file, and make its seal anew: whoever can write the file can do both."""
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        for statement in statements:
            file.executescript(statement)
        file.execute("UPDATE account SET seal = ?", (account_file._seal(file),))


def test_an_edit_with_a_new_seal_breaks_the_chain_where_it_was_made(account):
    for _ in range(3):
        account.charge(a_charge(0.1, 1e-6))
    whole, cards = account.path.read_bytes(), [account.standing().link(number) for number in (1, 2, 3)]
    for change, number in (
        *((f"UPDATE release SET {name} = {name} / 2 WHERE number = 2", 2) for name in ("epsilon", "delta")),
        *((f"UPDATE release SET {name} = 'x' WHERE number = 3", 3) for name in ("who", "algorithm", "version")),
        ("UPDATE release SET at = '2020-01-01T00:00:00+00:00' WHERE number = 2", 2),
        ('UPDATE release SET columns = \'["a", "b"]\' WHERE number = 1', 1),
        ("UPDATE release SET upper = '[100.0, 2.0]' WHERE number = 1", 1),
        ("UPDATE release SET k = 6, unit = 'x', relation = 'replace'", 1),
        ("UPDATE release SET sha256 = NULL, previous_sha256 = NULL WHERE number = 3", 3),
        ("DROP TRIGGER release_stays; DELETE FROM release WHERE number = 2", 3),
        *((f"UPDATE account SET {said}", 1) for said in ("cap_epsilon = 50", "name = 'x'", "opened = '2020-01-01'")),
    ):
        account.path.write_bytes(whole)
        forge(account.path, change)
        standing = account.standing()
        with about(change):
            assert standing.broken_at == number and f"breaks at charge {number}" in standing.text
            with pytest.raises(RequestError, match=f"breaks at charge {number}: .*last whole copy"):
                account.charge(a_charge(0.1))
    account.path.write_bytes(whole)
    forge(account.path, "UPDATE release SET sha256 = NULL, previous_sha256 = NULL, epsilon = 0.01")
    assert account.standing().broken_at is None and "hold no hash" in account.standing().text
    assert all("is not in this account" in str(account.standing().find_contradiction(card)) for card in cards)


def test_an_account_that_was_put_back_contradicts_the_cards_that_left(tmp_path, capsys):
    prepared, copy = ready_in(tmp_path), tmp_path / "copy.kept"
    account, zips = prepared.account, [tmp_path / name for name in ("kept.zip", "again.zip")]
    shutil.copy(account.path, copy)
    with unrehearsed():
        for path in zips:
            shutil.copy(copy, account.path)
            publish(prepared).save(path)
    one, other = map(read_release, zips)
    assert "the account was put back in between" in str(one.find_contradiction(other))
    assert one.find_contradiction(one) is None
    shown = call(capsys, "account", "show", account.path, "--release", zips[0], "--release", zips[1])
    assert shown.code == 0
    assert "kept.zip: Charge 1 of" in shown.err and "is not in this account" in shown.err
    assert "again.zip: its charge is in this account." in shown.err


def test_the_card_prints_its_charge_the_one_before_and_a_clock_that_went_back_which_refuses_nothing(
    tmp_path, monkeypatch
):
    prepared, earlier = ready_in(tmp_path), datetime.now(UTC) - timedelta(days=400)
    assert "clock" not in prepared.account.standing().text
    with unrehearsed(), monkeypatch.context() as patch:
        patch.setattr(accounts, "datetime", Mock(now=lambda _: earlier, fromisoformat=datetime.fromisoformat))
        made = publish(prepared)
    prepared.account.charge(prepared.charge)
    standing = prepared.account.standing()
    link = standing.link(1)
    assert link.clock_went_back and not standing.link(2).clock_went_back and standing.broken_at is None
    assert "The clock went back: dated before the one that it follows is charge 1." in standing.text
    for name in (PAGE, CARD):
        text = "".join(made.files[name].decode().split())
        assert link.sha256 in text and link.previous_sha256 in text and "Theclockwentback" in text


def test_an_account_without_a_chain_is_read_extended_and_says_from_where_on_it_is_chained(account):
    for epsilon in (0.1, 0.2):
        account.charge(a_charge(epsilon))
    columns = [f"ALTER TABLE release DROP COLUMN {name}" for name in ("previous_sha256", "sha256")]
    forge(account.path, *columns, "PRAGMA user_version = 1")  # as versions without a chain left it
    old = account.path.read_bytes()
    assert [charge.epsilon for charge in account.standing().charges] == [0.1, 0.2]
    assert "hold no hash: the next one begins the chain" in account.standing().text
    assert account.path.read_bytes() == old, "who looks changes nothing"
    assert account.charge(a_charge(0.3)) == 3
    standing = account.standing()
    assert "hold no hash: the chain begins with charge 3" in standing.text and standing.broken_at is None
    forge(account.path, "UPDATE release SET epsilon = 0.05 WHERE number = 1")
    assert account.standing().broken_at == 3, "the first hash holds what stands before it"
