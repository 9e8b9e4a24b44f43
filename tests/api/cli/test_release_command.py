"""``dpviz release`` and ``dpviz verify``: to the letter, with their exit codes, refusals and what is kept."""

from __future__ import annotations

import zipfile
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519

import dpviz
from dpviz.api.cli import release_command
from dpviz.releases.account import Account
from dpviz.releases.package import CANNOT_TELL, make_zip
from dpviz.runs.meaning.windows import Risk, Window
from tests.cases import about
from tests.command_line import Said, call, told_by
from tests.releases.people import account_in, write_people

ASKED = ("--k", 3, "--epsilon", 1, "--delta", 1e-6)


def furnish(folder: Path) -> Path:
    """A folder with a CSV, its declaration and an account."""
    write_people(folder)
    account_in(folder)
    return folder


@pytest.fixture
def desk(tmp_path) -> Path:
    return furnish(tmp_path)


def ask_for_release(desk: Path, *more: object, out: str = "release.zip", asked=ASKED, yes: bool = True):
    given = ("--account", desk / "people.sqlite", "--out", desk / out, *more, *(("--yes",) if yes else ()))
    return ("release", desk / "people.json", desk / "people.csv", *asked, *given)


def release(capsys, desk: Path, *more: object, **how: Any) -> Said:
    return call(capsys, *ask_for_release(desk, *more, **how))


class Made(NamedTuple):
    """A signed release, what the command said of it, and the key; the CSV is gone."""

    desk: Path
    said: Said
    key: str


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Made:
    desk, key = furnish(tmp_path_factory.mktemp("made")), ed25519.Ed25519PrivateKey.generate()
    pem = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (desk / "key.pem").write_bytes(key.private_bytes(*pem))
    said = told_by(*ask_for_release(desk, "--sign", desk / "key.pem", "--chosen", "k = 3, after a look at the map"))
    (desk / "people.csv").unlink()
    return Made(desk, said, key.public_key().public_bytes_raw().hex())


def spent(desk: Path) -> float:
    return Account.open(desk / "people.sqlite").standing().spent_epsilon


def test_from_a_csv_to_a_signed_release_that_verifies_without_it(capsys, made):
    assert made.said.code == 0 and "charge 1" in made.said.out and "1 of 2 after" in made.said.err
    # What came out is said as its recipient reads it.
    assert "\n  ✓ " in made.said.out or "\n  ! " in made.said.out
    verified = call(capsys, "verify", made.desk / "release.zip")
    assert verified.code == 0 and "Nothing is wrong" in verified.out
    told = call(capsys, "verify", made.desk / "release.zip", "--json").json
    assert told["holds"] and told["findings"] == [] and told["cannot_tell"] == list(CANNOT_TELL)
    assert told["signed_by"] == made.key


def test_verify_ends_with_1_and_names_the_file(capsys, made):
    with zipfile.ZipFile(made.desk / "release.zip") as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    assert b"k = 3, after a look at the map" in files["card.html"]
    files["ledger.csv"] = files["ledger.csv"].replace(b"laplace", b"Laplace", 1)
    (made.desk / "forged.zip").write_bytes(make_zip(files))
    said = call(capsys, "verify", made.desk / "forged.zip")
    assert said.code == 1 and "ledger.csv" in said.out
    told = call(capsys, "verify", made.desk / "forged.zip", "--json")
    assert told.code == 1 and {found["file"] for found in told.json["findings"]} == {"ledger.csv"}


def test_what_is_accepted_is_taken_as_it_can_be_and_argues_on_the_card(capsys, desk):
    for wrong in (("--accept-risk", text) for text in ("0.1", "0,0.5", "0.1,x", "0.1,0.2,0.3")):
        refused = release(capsys, desk, *wrong)
        with about(*wrong):
            assert refused.code == 2 and "Traceback" not in refused.err
    assert release(capsys, desk, "--accept-loss", 0.5).code == 2 and spent(desk) == 0
    argued = release(capsys, desk, "--accept-risk", "0.1,0.9", "--accept-loss", 1.5)
    assert argued.code == 0 and "Choose ε = 0.7: less would lose more" in argued.err
    with zipfile.ZipFile(desk / "release.zip") as archive:
        assert "can become more than 90 %" in archive.read("card.html").decode()


def test_the_argument_for_epsilon_is_about_the_algorithm_that_runs(capsys, desk):
    assert release(capsys, desk, "--algorithm", "dplloyd", "--accept-loss", 1.1).code == 0
    with zipfile.ZipFile(desk / "release.zip") as archive:
        card = archive.read("card.html").decode()
    asked = partial(dpviz.advise, declaration=desk / "people.json", k=3, target=1.1)
    answer = asked(algorithm="dplloyd")
    assert answer.few.epsilon > asked().few.epsilon
    assert Window.of(answer, Risk()).argument(1.0) in card


def test_refusals_are_one_sentence_and_charge_nothing(capsys, desk):
    for more, words in (
        (("--seed", 7), "no seed"),
        (("--segments", 1.5), "segments"),
        (("--algorithm", "gkm"), "cannot be released"),
        (("--algorithm", "nothing"), "algorithm"),
        (("--set", "colour=red"), "no parameter"),
        (("--sign", "nothing.pem"), "Ed25519"),
        (("--delta", 0.002), "1/n"),
        (("--epsilon", 2.5), "2 of 2 is left"),
    ):
        said = release(capsys, desk, *more)
        with about(*more):
            assert said.code == 2 and words in said.err and "Traceback" not in said.err
            assert spent(desk) == 0 and not (desk / "release.zip").exists()
    for account in ("nothing.sqlite", "people.csv", "."):
        said = release(capsys, desk, "--account", desk / account)
        with about(account):
            assert said.code == 2 and len(said.err.strip().splitlines()) == 1


def test_a_file_that_is_there_is_never_written_over(capsys, desk):
    (desk / "release.zip").write_text("mine")
    said = release(capsys, desk)
    assert said.code == 2 and (desk / "release.zip").read_text() == "mine" and spent(desk) == 0


def test_without_yes_and_without_a_person_nothing_is_released(capsys, desk, monkeypatch):
    said = release(capsys, desk, yes=False)
    assert said.code == 2 and "--yes" in said.err and spent(desk) == 0
    monkeypatch.setattr(release_command.sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(release_command.sys.stdin, "readline", lambda: "2\n", raising=False)
    said = release(capsys, desk, yes=False)
    assert said.code == 2 and "Not confirmed" in said.err and spent(desk) == 0
    monkeypatch.setattr(release_command.sys.stdin, "readline", lambda: "1\n", raising=False)
    assert release(capsys, desk, yes=False).code == 0 and spent(desk) == 1


def test_a_full_disk_after_the_charge_loses_nothing(capsys, desk, monkeypatch):
    real = release_command.write_whole

    def full(path, data):
        if path.name == "release.zip":
            raise OSError(28, "No space left on device")
        real(path, data)

    monkeypatch.setattr(release_command, "write_whole", full)
    said = release(capsys, desk)
    assert said.code == 2 and "No space left" in said.err and "people-release-1.zip" in said.err
    assert said.out.startswith("segment,age,income") and spent(desk) == 1
    assert call(capsys, "verify", desk / "people-release-1.zip").code == 0


def test_a_warning_where_another_account_looks_alike(capsys, desk):
    assert release(capsys, desk).code == 0
    Account.new(desk / "other.sqlite", name="other", cap_epsilon=2.0, cap_delta=1e-5)
    said = call(
        capsys,
        *("release", desk / "people.json", desk / "people.csv", *ASKED, "--yes"),
        *("--account", desk / "other.sqlite", "--out", desk / "second.zip"),
    )
    assert said.code == 0
    third = release(capsys, desk, out="third.zip")
    assert third.code == 0 and "other.sqlite" in third.err
