"""Charges are chained: what is put back, edited or dated back contradicts a card, and the account says where."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from dpviz.core.check import RequestError
from dpviz.releases import account as accounts
from dpviz.releases import account_file
from dpviz.releases.account import ChargeLink
from dpviz.releases.package import CARD, PAGE
from dpviz.releases.release_reader import read_release
from dpviz.releases.releasing import publish
from tests.cases import about
from tests.command_line import call
from tests.releases.charges import a_charge
from tests.releases.people import ready_in


def forge(path: Path, *statements: str) -> None:
    """Change the file, and make its seal anew: whoever can write the file can do both."""
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        for statement in statements:
            file.execute(statement)
        file.execute("UPDATE account SET seal = ?", (account_file._seal(file),))


def test_each_charge_holds_the_hash_of_the_one_before_whatever_becomes_of_it(account):
    for epsilon in (0.1, 0.2, 0.3):
        account.charge(a_charge(epsilon, columns=("ü", 'a"b')))
    before = account.standing()
    account.note_failed(2, why="a try")
    account.note_released(3)
    standing = account.standing()
    links = [standing.link(number) for number in (1, 2, 3)]
    assert links == [before.link(number) for number in (1, 2, 3)]
    assert [link.previous_sha256 for link in links[1:]] == [link.sha256 for link in links[:-1]]
    assert len({link.sha256 for link in links} | {links[0].previous_sha256}) == 4
    assert standing.broken_at is None and all(standing.find_contradiction(link) is None for link in links)
    assert links[2].sha256 in standing.text and "is whole" in standing.text


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
        ("UPDATE account SET cap_epsilon = 50", 1),
        ("UPDATE account SET name = 'others'", 1),
        ("UPDATE account SET opened = '2020-01-01T00:00:00+00:00'", 1),
    ):
        account.path.write_bytes(whole)
        forge(account.path, change)
        standing = account.standing()
        with about(change):
            assert standing.broken_at == number and f"breaks at charge {number}" in standing.text
            with pytest.raises(RequestError, match=f"breaks at charge {number}: .*last whole copy"):
                account.charge(a_charge(0.1))
    account.path.write_bytes(whole)
    forge(account.path, "DROP TRIGGER release_stays", "DELETE FROM release WHERE number = 2")
    assert account.standing().broken_at == 3
    account.path.write_bytes(whole)
    forge(account.path, "UPDATE release SET sha256 = NULL, previous_sha256 = NULL, epsilon = 0.01")
    assert account.standing().broken_at is None and "hold no hash" in account.standing().text
    assert all("is not in this account" in str(account.standing().find_contradiction(card)) for card in cards)


def test_an_account_that_was_put_back_contradicts_the_cards_that_left(tmp_path, capsys):
    prepared, copy = ready_in(tmp_path), tmp_path / "copy.kept"
    account = prepared.account
    shutil.copy(account.path, copy)
    kept = publish(prepared)
    shutil.copy(copy, account.path)
    again = publish(prepared)
    zips = [tmp_path / name for name in ("kept.zip", "again.zip")]
    for made, path in zip((kept, again), zips, strict=True):
        made.save(path)
    one, other = map(read_release, zips)
    assert "the account was put back in between" in str(one.find_contradiction(other))
    assert one.find_contradiction(one) is None
    shown = call(capsys, "account", "show", account.path, "--release", zips[0], "--release", zips[1])
    assert shown.code == 0
    assert "kept.zip: Charge 1 of" in shown.err and "is not in this account" in shown.err
    assert "again.zip: its charge is in this account." in shown.err
    read = call(capsys, "read", zips[0], "--compare", zips[1])
    assert "the account was put back in between" in read.out


def test_the_card_prints_its_charge_and_the_one_before(tmp_path):
    prepared = ready_in(tmp_path)
    prepared.account.charge(a_charge(0.1, unit=prepared.charge.unit, relation=prepared.charge.relation))
    made = publish(prepared)
    link = prepared.account.standing().link(2)
    for name in (PAGE, CARD):
        text = "".join(made.files[name].decode().split())
        assert link.sha256 in text and link.previous_sha256 in text and "Theclockwentback" not in text


def set_clock(monkeypatch: pytest.MonkeyPatch, now: datetime) -> None:
    class Clock(datetime):
        @classmethod
        def now(cls, tz=None):
            return now

    monkeypatch.setattr(accounts, "datetime", Clock)


def test_a_clock_that_goes_back_is_said_and_refuses_nothing(tmp_path, monkeypatch):
    prepared = ready_in(tmp_path)
    assert "clock" not in prepared.account.standing().text
    set_clock(monkeypatch, datetime.now(UTC) - timedelta(days=400))
    made = publish(prepared)
    standing = prepared.account.standing()
    assert standing.link(1).clock_went_back and standing.broken_at is None
    assert "The clock went back: dated before the one that it follows is charge 1." in standing.text
    for name in (PAGE, CARD):
        assert "Theclockwentback" in "".join(made.files[name].decode().split())
    set_clock(monkeypatch, datetime.now(UTC) + timedelta(days=1))
    prepared.account.charge(prepared.charge)
    assert "is charge 1." in prepared.account.standing().text


def make_old(path: Path) -> None:
    """The file as versions without a chain left it."""
    forge(
        path,
        "ALTER TABLE release DROP COLUMN previous_sha256",
        "ALTER TABLE release DROP COLUMN sha256",
        "PRAGMA user_version = 1",
    )


def test_an_account_without_a_chain_is_read_extended_and_says_from_where_on_it_is_chained(account):
    for epsilon in (0.1, 0.2):
        account.charge(a_charge(epsilon))
    make_old(account.path)
    old = account.path.read_bytes()
    assert [charge.epsilon for charge in account.standing().charges] == [0.1, 0.2]
    assert "hold no hash: the next one begins the chain" in account.standing().text
    assert account.path.read_bytes() == old, "who looks changes nothing"
    assert account.charge(a_charge(0.3)) == 3
    standing = account.standing()
    assert "hold no hash: the chain begins with charge 3" in standing.text and standing.broken_at is None
    forge(account.path, "UPDATE release SET epsilon = 0.05 WHERE number = 1")
    assert account.standing().broken_at == 3, "the first hash holds what stands before it"


def test_two_links_contradict_each_other_only_where_one_charge_has_two_successors():
    day = "2026-01-02T00:00:00+00:00"
    link = ChargeLink(2, day, "b" * 64, "a" * 64, day)
    assert link.find_contradiction(link) is None
    assert link.find_contradiction(link._replace(number=3, sha256="c" * 64, previous_sha256="b" * 64)) is None
    assert link.find_contradiction(link._replace(sha256="c" * 64)) is not None


def test_the_chain_is_told_as_json(account, capsys):
    account.charge(a_charge())
    said = json.loads(call(capsys, "account", "show", account.path, "--json").out)
    assert said["chain"]["broken_at"] is None and said["releases"][0]["sha256"] in said["chain"]["remarks"][0]
