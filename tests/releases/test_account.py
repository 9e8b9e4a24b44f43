"""An account: what fits is charged, what does not is refused, and no charge is lost, doubled or taken back."""

from __future__ import annotations

import itertools
import json
import math
import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz import __version__
from dpviz.core.check import RequestError
from dpviz.releases.account import (
    Account,
    AccountBalance,
    AccountEntry,
    AccountExceeded,
    Charge,
    State,
    read_user,
    round_down,
)
from tests.cases import about
from tests.examples import examples
from tests.releases.charges import a_charge

HASH = "0123456789abcdef" * 4
POSIX = pytest.mark.skipif(os.name != "posix", reason="modes of files")


def test_a_new_account_knows_its_cap_and_nothing_else(account):
    standing = Account.open(account.path).standing()
    assert (standing.name, standing.cap_epsilon, standing.cap_delta, standing.entries) == ("people", 1.0, 1e-5, ())
    assert (standing.spent_epsilon, standing.spent_delta, standing.together_epsilon) == (0.0, 0.0, 0.0)
    assert (standing.left_epsilon, standing.left_delta) == (1.0, 1e-5)
    assert (standing.unit, standing.relation) == (None, None)


def test_an_entry_says_what_who_when_and_by_which_version(account):
    charge = a_charge(0.25, 1e-6, columns=('a "b"\n', "ü"), lower=(-1 / 3, 0), upper=(0.1, 7))
    before = datetime.now(UTC) - timedelta(seconds=1)
    assert account.charge(charge) == 1
    (entry,) = account.standing().entries
    assert before <= datetime.fromisoformat(entry.at) <= datetime.now(UTC)
    assert (entry.number, entry.version, entry.charge, entry.state) == (1, __version__, charge, State.CHARGED)
    assert (entry.card_sha256, entry.why) == (None, None)
    assert json.loads(json.dumps(entry.to_dict()))["lower"] == [-1 / 3, 0]
    assert entry.to_dict()["state"] == "charged"


def test_who_is_the_user_of_the_system_unless_somebody_is_named(monkeypatch):
    fields = {name: getattr(a_charge(), name) for name in Charge.__match_args__ if name != "who"}
    monkeypatch.setattr("getpass.getuser", lambda: "ada\n")
    assert Charge(**fields).who == read_user() == "ada?"

    def nobody() -> str:
        raise KeyError("uid")

    monkeypatch.setattr("getpass.getuser", nobody)
    assert Charge(**fields).who == "unknown"
    assert a_charge(who="office").who == "office"


def test_ten_times_a_tenth_is_the_whole_and_nothing_more(account):
    for number in range(1, 11):
        assert account.charge(a_charge(0.1)) == number
    assert account.standing().left_epsilon == 0.0
    with pytest.raises(AccountExceeded, match="nothing more can be released"):
        account.charge(a_charge(0.001))
    assert len(account.standing().entries) == 10


def test_what_is_beyond_the_cap_is_refused_with_what_would_fit(account):
    account.charge(a_charge(0.7))
    with pytest.raises(
        AccountExceeded, match=r"asks for ε = 0\.4, and 0\.3 of 1 is left .* ask for at most ε = 0\.3\."
    ):
        account.charge(a_charge(0.4))
    assert account.charge(a_charge(0.3)) == 2


def test_delta_has_a_cap_of_its_own(account, tmp_path):
    account.charge(a_charge(0.1, 8e-6))
    with pytest.raises(AccountExceeded, match="ask for at most δ = 2e-06"):
        account.charge(a_charge(0.1, 3e-6))
    account.charge(a_charge(0.1, 2e-6))
    with pytest.raises(AccountExceeded, match="without δ"):
        account.charge(a_charge(0.1, 1e-12))
    account.charge(a_charge(0.1, 0.0))
    pure = Account.new(tmp_path / "pure.sqlite", name="pure", cap_epsilon=1.0)
    with pytest.raises(AccountExceeded, match=r"0 of 0 is left .* without δ"):
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


def test_what_is_no_cap_or_name_is_refused_and_leaves_no_file(tmp_path):
    for change in (
        *({"cap_epsilon": cap} for cap in (math.nan, math.inf, -1.0, 0.0)),
        *({"cap_delta": cap} for cap in (math.nan, -1e-9, 1.0, 2.0)),
        *({"name": name} for name in ("", " ", "a\x1b[2J", "x" * 300)),
    ):
        with about(change), pytest.raises(RequestError):
            Account.new(tmp_path / "a.sqlite", **{"name": "a", "cap_epsilon": 1.0} | change)
        assert not any(tmp_path.iterdir())


COSTS = st.one_of(st.sampled_from([0.1, 0.2, 0.5, 1 / 3, 1e-3]), st.floats(1e-3, 0.7))
DELTAS = st.one_of(st.sampled_from([0.0, 1e-6]), st.floats(1e-9, 1e-5))


@given(charges=st.lists(st.tuples(COSTS, DELTAS), max_size=8), cap_delta=st.sampled_from([0.0, 1e-6, 2e-5]))
@settings(max_examples=examples(40))
def test_no_sum_exceeds_the_cap_and_nothing_that_fits_is_refused(charges, cap_delta):
    with TemporaryDirectory() as folder:
        account = Account.new(Path(folder, "a.sqlite"), name="a", cap_epsilon=1.0, cap_delta=cap_delta)
        accepted: list[Charge] = []
        for charge in itertools.starmap(a_charge, charges):
            epsilon, delta = exact_sums([*accepted, charge])
            try:
                account.charge(charge)
            except AccountExceeded:
                assert epsilon > 1 or delta > Fraction(cap_delta)
            else:
                accepted.append(charge)
                # Beyond the last bits, nothing is forgiven.
                assert epsilon <= 1 + BITS and delta <= Fraction(cap_delta) * (1 + BITS)
        assert account.standing().charges == tuple(accepted)


BITS = Fraction(101, 10**14)


def exact_sums(charges: list[Charge]) -> tuple[Fraction, Fraction]:
    return sum(Fraction(one.epsilon) for one in charges), sum(Fraction(one.delta) for one in charges)


@given(spent=st.lists(COSTS, max_size=20), cap=st.floats(1e-3, 10))
def test_what_is_said_to_be_left_fits(spent, cap):
    standing = AccountBalance("a", cap, 0.0, ())
    for epsilon in spent:
        if epsilon <= standing.left_epsilon:
            entry = AccountEntry(1, "", "", a_charge(epsilon), State.CHARGED, None, None)
            standing = AccountBalance("a", cap, 0.0, (*standing.entries, entry))
    said = float(round_down(standing.left_epsilon))
    assert said >= standing.left_epsilon * (1 - 1e-5)
    for left in (standing.left_epsilon, said):
        if left >= 1e-3:
            standing.refuse(a_charge(left))
            with pytest.raises(AccountExceeded):
                standing.refuse(a_charge(left * (1 + 1e-4)))


def test_dp_accounting_adds_up_to_less_and_decides_nothing(tmp_path):
    account = Account.new(tmp_path / "a.sqlite", name="a", cap_epsilon=3.0, cap_delta=1e-5)
    for _ in range(29):
        account.charge(a_charge(0.1, 1e-8))
    standing = account.standing()
    assert standing.spent_epsilon == pytest.approx(2.9)
    assert 1.5 < standing.together_epsilon < 2.5
    with pytest.raises(AccountExceeded):
        account.charge(a_charge(0.2))


def test_without_a_delta_all_together_cost_their_sum(tmp_path):
    account = Account.new(tmp_path / "a.sqlite", name="a", cap_epsilon=3.0)
    for epsilon in (0.1, 0.2, 0.3):
        account.charge(a_charge(epsilon))
    assert account.standing().together_epsilon == account.standing().spent_epsilon == pytest.approx(0.6)


def test_a_charge_is_released_or_fails_once_and_stays(account):
    first, second = account.charge(a_charge(0.2)), account.charge(a_charge(0.3))
    account.note_released(first, card_sha256=HASH)
    account.note_failed(second, why="the disk\n was  full")
    states = [(entry.state, entry.card_sha256, entry.why) for entry in account.standing().entries]
    assert states == [("released", HASH, None), ("failed after charge", None, "the disk was full")]
    account.note_released(first, card_sha256=HASH)  # said twice, it is the same
    with pytest.raises(RequestError, match="released already"):
        account.note_failed(first, why="no")
    with pytest.raises(RequestError, match="released already"):
        account.note_released(first, card_sha256=HASH[::-1])
    with pytest.raises(RequestError, match="failed after charge already"):
        account.note_released(second, card_sha256=HASH)
    assert states == [(entry.state, entry.card_sha256, entry.why) for entry in account.standing().entries]
    assert account.standing().spent_epsilon == 0.5


def test_only_what_was_charged_can_be_released_and_by_a_hash(account):
    number = account.charge(a_charge())
    for other in (0, 2, -1, 10**30):
        with about(other), pytest.raises(RequestError, match="no release"):
            account.note_released(other, card_sha256=HASH)
        with about(other), pytest.raises(RequestError, match="no release"):
            account.note_failed(other, why="no")
    for wrong in ("", "abc", HASH[:-1] + "g", HASH.upper(), HASH + "\n"):
        with about(wrong), pytest.raises(RequestError, match="64 hexadecimal"):
            account.note_released(number, card_sha256=wrong)


def test_another_account_of_the_same_columns_is_recognised_whatever_it_is_called(account, tmp_path):
    other = Account.new(tmp_path / "holiday.jpg", name="other", cap_epsilon=1.0)
    third = Account.new(tmp_path / "third.sqlite", name="third", cap_epsilon=1.0)
    assert account.look_alikes(tmp_path) == account.look_alikes(columns=("age", "income")) == ()
    other.charge(a_charge(0.1, columns=("income", "age"), upper=(1e5, 99.0)))
    third.charge(a_charge(0.1, columns=("age", "height")))
    assert account.look_alikes() == ()
    for columns in (("age", "income"), ("age", "income", "sex"), ("income",)):  # no charge of ours is needed
        assert account.look_alikes(columns=columns) == ("holiday.jpg",)
    assert account.look_alikes(columns=("weight",)) == ()
    account.charge(a_charge(0.1))
    assert account.look_alikes() == account.look_alikes(tmp_path) == ("holiday.jpg",)
    assert other.look_alikes() == ("people.sqlite",)
    assert third.look_alikes() == ()


def test_what_lies_beside_and_is_no_account_is_left_alone(account, tmp_path):
    account.charge(a_charge(0.1))
    (tmp_path / "notes.sqlite").write_text("no database")
    (tmp_path / "empty.sqlite").touch()
    (tmp_path / "folder.sqlite").mkdir()
    (tmp_path / "nowhere.sqlite").symlink_to(tmp_path / "gone")
    (tmp_path / "same.sqlite").symlink_to(account.path)
    with closing(sqlite3.connect(tmp_path / "foreign.sqlite")) as foreign:
        foreign.execute("PRAGMA journal_mode = WAL")
        foreign.execute("CREATE TABLE release (number)")
    damaged = Account.new(tmp_path / "damaged.sqlite", name="d", cap_epsilon=1.0)
    damaged.charge(a_charge(0.1))
    damaged.path.write_bytes(damaged.path.read_bytes()[:5000])
    there = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir() if path.exists()}
    assert account.look_alikes() == ()
    assert there == {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir() if path.exists()}
