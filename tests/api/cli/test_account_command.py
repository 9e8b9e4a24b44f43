"""Accounts from the shell: one is made, and shown with what is spent, what is left, and which others look alike."""

import json
import stat

import pytest

from dpviz.releases.account import Account
from tests.cases import about
from tests.command_line import call
from tests.releases.charges import a_charge


def new(path, *options):
    return ("account", "new", path, "--name", "people", "--cap-epsilon", "2", *options)


@pytest.fixture
def account(tmp_path):
    return Account.new(tmp_path / "people.sqlite", name="people", cap_epsilon=2.0, cap_delta=1e-5)


def test_an_account_is_made_and_shown(capsys, tmp_path):
    path = tmp_path / "people.sqlite"
    made = call(capsys, *new(path, "--cap-delta", "1e-5"))
    assert (made.code, made.err) == (0, "") and "ε = 2 and δ = 1e-05" in made.out
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    shown = call(capsys, "account", "show", path)
    assert (shown.code, shown.err) == (0, "")
    assert "ε: 0 of 2 spent, 2 left" in shown.out and "No releases" in shown.out
    standing = Account.open(path).standing()
    assert (standing.name, standing.cap_epsilon, standing.cap_delta) == ("people", 2.0, 1e-5)


def test_every_release_is_a_line(capsys, account):
    account.note_released(account.charge(a_charge(0.5, 1e-6)), card_sha256="ab" * 32)
    account.note_failed(account.charge(a_charge(0.25, who="ada")), why="the disk was full")
    account.charge(a_charge(0.25))
    shown = call(capsys, "account", "show", account.path)
    assert (shown.code, shown.err) == (0, "")
    assert "ε: 1 of 2 spent, 1 left" in shown.out and "δ: 1e-06 of 1e-05 spent, 9e-06 left" in shown.out
    assert "Unit of privacy: 1 row; neighbours: add_remove" in shown.out
    hashes = [entry.sha256[:12] for entry in account.standing().entries]
    first, second, third = shown.out.splitlines()[-3:]
    assert first.split()[3:] == ["auto", "5", "0.5", "1e-06", "2", "released", "abababababab", hashes[0]]
    assert "ada" in second and "failed after charge: the disk was full" in second
    assert third.split()[-2:] == ["charged", hashes[2]]


def test_many_releases_cost_less_together_and_that_is_said_with_its_condition(capsys, account):
    for _ in range(19):
        account.charge(a_charge(0.1))
    told = call(capsys, "account", "show", account.path)
    found = told.out.partition("together at most ε = ")[2]
    assert 1.2 < float(found.split()[0]) < 1.85
    assert "if no ε was chosen after a look at an earlier release; the cap counts the sum" in found


def test_json_has_the_fixed_form(capsys, account):
    account.charge(a_charge(0.5, 1e-6))
    report = call(capsys, "account", "show", account.path, "--json").json
    about = {"format", "name", "unit", "relation", "cap", "spent", "left", "together", "chain", "releases"}
    assert set(report) == about | {"look_alikes"}
    assert (report["cap"], report["spent"]) == ({"epsilon": 2.0, "delta": 1e-5}, {"epsilon": 0.5, "delta": 1e-6})
    assert report["left"] == {"epsilon": 1.5, "delta": pytest.approx(9e-6)}
    assert report["together"]["epsilon"] <= 0.5
    (release,) = report["releases"]
    assert (release["number"], release["columns"], release["upper"]) == (1, ["age", "income"], [100.0, 1e5])
    assert (release["state"], release["card_sha256"], release["who"]) == ("charged", None, "somebody")


def test_an_account_that_looks_alike_is_a_warning_beside_the_answer(capsys, account, tmp_path):
    account.charge(a_charge(0.5))
    other = Account.new(tmp_path / "again.sqlite", name="again", cap_epsilon=2.0)
    other.charge(a_charge(0.5))
    shown = call(capsys, "account", "show", account.path, "--json")
    assert shown.code == 0 and json.loads(shown.out)["look_alikes"] == ["again.sqlite"]
    assert shown.err.startswith("dpviz: Warning: again.sqlite") and shown.err.count("\n") == 1


def refused(capsys, *argv):
    said = call(capsys, *argv)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    return said.err


def test_a_wrong_cap_or_name_is_refused_in_one_line_and_makes_no_file(capsys, tmp_path):
    for options in (
        *([f"--cap-epsilon={cap}"] for cap in ("0", "-1", "nan", "inf", "much")),
        *([f"--cap-delta={cap}"] for cap in ("1", "-1e-6", "nan")),
        *(["--name", ""], ["--name", "a\nb"], ["--cap-delta", "-1"]),
    ):
        with about(*options):
            refused(capsys, *new(tmp_path / "a.sqlite"), *options)
            assert not any(tmp_path.iterdir())


def test_files_that_will_not_do_are_refused_in_one_line(capsys, account, tmp_path):
    assert "is there already" in refused(capsys, *new(account.path))
    assert "cannot be made" in refused(capsys, *new(tmp_path / "none" / "a.sqlite"))
    (tmp_path / "text.sqlite").write_text("id,age\n1,44\n")
    for path in (tmp_path, tmp_path / "none.sqlite", tmp_path / "text.sqlite"):
        assert "44" not in refused(capsys, "account", "show", path)
    account.path.write_bytes(account.path.read_bytes()[:5000])
    assert "is damaged" in refused(capsys, "account", "show", account.path)


def test_an_action_and_what_it_needs_must_be_named_and_help_is_there_for_each(capsys):
    for argv in ([], ["close"], ["new"], ["show"], ["new", "a.sqlite", "--name", "a"]):
        with about(*argv):
            assert "--help" in refused(capsys, "account", *argv)
    for argv in (["--help"], ["new", "--help"], ["show", "--help"]):
        said = call(capsys, "account", *argv)
        with about(*argv):
            assert (said.code, said.err) == (0, "") and "usage: dpviz account" in said.out
