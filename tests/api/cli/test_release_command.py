"""``dpviz release`` and ``dpviz verify``: to the letter, with their exit codes, refusals and what is kept."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519

import dpviz
from dpviz.api.cli import release_command
from dpviz.releases.account import Account, AccountBalance
from dpviz.releases.package import CANNOT_TELL, make_zip, read_members
from dpviz.runs.meaning.windows import Risk, Window
from tests.cases import about
from tests.command_line import Said, call
from tests.releases.charges import a_charge
from tests.releases.people import account_in, write_people

ASKED = ("--k", 3, "--epsilon", 1, "--delta", 1e-6)


@pytest.fixture
def desk(tmp_path) -> Path:
    """A folder with a CSV, its declaration and an account."""
    write_people(tmp_path)
    account_in(tmp_path)
    return tmp_path


def read_card(desk: Path) -> str:
    return read_members((desk / "release.zip").read_bytes()).files["card.html"].decode()


def test_from_a_csv_to_a_signed_release_that_verifies_without_it_and_not_once_it_is_forged(capsys, desk):
    key = ed25519.Ed25519PrivateKey.generate()
    pem = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (desk / "key.pem").write_bytes(key.private_bytes(*pem))
    said = release(capsys, desk, "--sign", desk / "key.pem", "--chosen", "k = 3, after a look at the map")
    (desk / "people.csv").unlink()
    assert said.code == 0 and "charge 1" in said.out and "1 of 2 after" in said.err
    assert "\n  ✓ " in said.out or "\n  ! " in said.out, "what came out is said as its recipient reads it"
    assert "k = 3, after a look at the map" in read_card(desk)
    verified = call(capsys, "verify", desk / "release.zip")
    assert verified.code == 0 and "Nothing is wrong" in verified.out
    told = call(capsys, "verify", desk / "release.zip", "--json").json
    assert told["holds"] and told["findings"] == [] and told["cannot_tell"] == list(CANNOT_TELL)
    assert told["signed_by"] == key.public_key().public_bytes_raw().hex()
    files = read_members((desk / "release.zip").read_bytes()).files
    forged = {**files, "ledger.csv": files["ledger.csv"].replace(b"laplace", b"Laplace", 1)}
    (desk / "forged.zip").write_bytes(make_zip(forged))
    said, told = call(capsys, "verify", desk / "forged.zip"), call(capsys, "verify", desk / "forged.zip", "--json")
    assert said.code == told.code == 1 and "ledger.csv" in said.out
    assert {found["file"] for found in told.json["findings"]} == {"ledger.csv"}


def test_what_is_accepted_argues_on_the_card(capsys, desk):
    argued = release(capsys, desk, "--accept-risk", "0.1,0.9", "--accept-loss", 1.5)
    assert argued.code == 0 and "Choose ε = 0.7: less would lose more" in argued.err
    assert "can become more than 90 %" in read_card(desk)


def ask_for_release(desk: Path, *more: object, out: str = "release.zip", asked=ASKED, yes: bool = True):
    given = ("--account", desk / "people.sqlite", "--out", desk / out, *more, *(("--yes",) if yes else ()))
    return ("release", desk / "people.json", desk / "people.csv", *asked, *given)


def release(capsys, desk: Path, *more: object, **how: Any) -> Said:
    return call(capsys, *ask_for_release(desk, *more, **how))


def test_the_argument_for_epsilon_is_about_the_algorithm_that_runs(capsys, desk):
    assert release(capsys, desk, "--algorithm", "dplloyd", "--accept-loss", 1.1).code == 0
    asked = partial(dpviz.advise, declaration=desk / "people.json", k=3, target=1.1)
    answer = asked(algorithm="dplloyd")
    assert answer.few.epsilon > asked().few.epsilon
    assert Window.of(answer, Risk()).argument(1.0) in read_card(desk)


def test_refusals_are_one_sentence_and_charge_nothing(capsys, desk):
    (desk / "there.zip").write_text("mine")
    for more, words in (
        (("--seed", 7), "no seed"),
        (("--segments", 1.5), "segments"),
        (("--algorithm", "gkm"), "cannot be released"),
        (("--set", "colour=red"), "no parameter"),
        (("--sign", "nothing.pem"), "Ed25519"),
        (("--delta", 0.002), "1/n"),
        (("--epsilon", 2.5), "2 of 2 is left"),
        (("--accept-loss", 0.5), "target"),
        *((("--accept-risk", text), "dpviz: ") for text in ("0.1", "0,0.5", "0.1,x", "0.1,0.2,0.3")),
        (("--out", desk / "there.zip"), "there"),
        *((("--account", desk / account), "account") for account in ("nothing.sqlite", "people.csv", ".")),
    ):
        said = release(capsys, desk, *more)
        with about(*more, said.err):
            assert said.code == 2 and words in said.err and "Traceback" not in said.err
            assert len([line for line in said.err.splitlines() if line.startswith("dpviz: ")]) == 1
            assert account_of(desk).spent_epsilon == 0 and not (desk / "release.zip").exists()
    assert (desk / "there.zip").read_text() == "mine"


def account_of(desk: Path) -> AccountBalance:
    return Account.open(desk / "people.sqlite").standing()


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=repr)
def test_a_full_disk_or_ctrl_c_after_the_charge_loses_nothing(capsys, desk, monkeypatch, error):
    write = release_command.write_whole

    def stop(path, data):
        if path.name == "release.zip":
            raise error
        write(path, data)

    monkeypatch.setattr(release_command, "write_whole", stop)
    said = release(capsys, desk)
    assert said.code == 2 and "is charged, stands on stdout and is kept beside the account" in said.err
    assert "people-release-1.zip" in said.err
    assert said.out.startswith("segment,age,income") and account_of(desk).spent_epsilon == 1
    assert call(capsys, "verify", desk / "people-release-1.zip").code == 0


def test_a_warning_where_another_account_looks_alike(capsys, desk):
    other = Account.new(desk / "other.sqlite", name="other", cap_epsilon=2.0, cap_delta=1e-5)
    other.charge(a_charge(0.5))
    said = release(capsys, desk)
    assert said.code == 0 and "other.sqlite" in said.err


def test_without_yes_nothing_is_released_but_for_a_person_who_confirms_and_says_what_was_seen(
    capsys, desk, monkeypatch
):
    said = release(capsys, desk, yes=False)
    assert said.code == 2 and "--yes" in said.err and account_of(desk).spent_epsilon == 0
    monkeypatch.setattr(release_command.sys.stdin, "isatty", lambda: True, raising=False)
    for typed, code in (("2\n", 2), ("1\n", 0)):
        answers = iter(["A look at the map.\n", typed])
        monkeypatch.setattr(release_command.sys.stdin, "readline", lambda answers=answers: next(answers), raising=False)
        said = release(capsys, desk, yes=False)
        assert said.code == code and ("Not confirmed" in said.err) == (code == 2)
        assert "What was seen of these rows before" in said.err and account_of(desk).spent_epsilon == (code == 0)
    assert "A look at the map." in read_card(desk)
