"""Accounts from the shell: one is made, and shown with what is spent, what is left, and which others look alike."""

import stat

import pytest

from dpviz.releases.account import Account
from tests.cases import about
from tests.command_line import call


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


def test_an_action_and_what_it_needs_must_be_named(capsys):
    for argv in ([], ["close"], ["new"], ["show"], ["new", "a.sqlite", "--name", "a"]):
        with about(*argv):
            assert "--help" in refused(capsys, "account", *argv)
