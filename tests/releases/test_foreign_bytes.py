"""Whatever somebody sends as a release or an account ends in a finding or a sentence, with bounded work."""

from __future__ import annotations

import csv
import io
import os
from dataclasses import replace

import numpy as np
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519

from benchmarks.fuzzing.judge import judged
from benchmarks.fuzzing.release_cases import account_case, release_case
from dpviz.core.check import RequestError
from dpviz.releases.account import Account
from dpviz.releases.account_file import open_to_change
from dpviz.releases.package import CARD, CENTERS, LEDGER, SEGMENTS_FILE, SIGNATURE, VERIFY, make_zip
from dpviz.releases.releasing import preflight, publish
from dpviz.releases.signature import format_signature
from dpviz.releases.verifying import verify
from dpviz.tables.named import open_file
from tests.releases.charges import a_charge
from tests.releases.forging import findings, released
from tests.releases.people import account_in, declare_people, order_for


def test_text_behind_a_signature_is_named(tmp_path):
    key, files = ed25519.Ed25519PrivateKey.generate(), released()
    plain = (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (tmp_path / "key.pem").write_bytes(key.private_bytes(serialization.Encoding.PEM, *plain))
    signed = format_signature(files[VERIFY], tmp_path / "key.pem").encode()
    assert verify(make_zip({**files, SIGNATURE: signed})).signer is not None
    for more in (b"Audited by everybody.\n", b" ", signed):
        assert "more than a signature" in findings({**files, SIGNATURE: signed + more}, with_hashes=False)[SIGNATURE]


@pytest.mark.parametrize("name", [CENTERS, LEDGER])
@pytest.mark.parametrize("rubbish", ['"' + "x" * 200_000, "a\rb\x00c", "\ud800", "1e999,nan,-inf"])
def test_csv_that_no_reader_takes_is_a_finding(name, rubbish):
    head = released()[name].split(b"\r\n")[0]
    data = head + b"\r\n" + rubbish.encode("utf-8", "surrogatepass")
    assert name in findings({**released(), name: data})


@pytest.mark.parametrize("text", ["a: 2026-99-99", "a: 0x", "&a [*a]", "!!python/object:os.system x", "{" * 5_000])
def test_yaml_that_no_reader_takes_is_a_finding(text):
    assert CARD in findings({**released(), CARD: text.encode()})


@pytest.mark.parametrize(
    ("column", "value"),
    [("columns", "5"), ("columns", "["), ("lower", '["a", {}]'), ("state", "gone"), ("relation", "other"), ("k", 0)],
)
def test_an_account_whose_seal_fits_and_whose_words_do_not_ends_in_a_sentence(tmp_path, column, value):
    account = Account.new(tmp_path / "people.sqlite", name="people", cap_epsilon=2.0)
    account.charge(a_charge(0.5))
    with open_to_change(account.path, wait=1.0) as file:
        file.execute(f"UPDATE release SET {column} = ?", (value,))
    with pytest.raises(RequestError, match="is damaged"):
        account.standing()


def test_names_that_are_formulas_are_text_in_every_table(tmp_path):
    evil = ("=cmd|' /C calc'!A0", "@SUM(1)", "-2+3")
    declared = {
        "title": "=1+1",
        "bounds": {evil[0]: [0, 100], evil[1]: [0, 90000]},
        "bounds_origin": "law",
        "origins": {},
        "describe": {evil[2]: {"categories": ["=North", "+South"]}},
    }
    data, said = declare_people(tmp_path, **declared)
    _, *lines = data.read_text().splitlines()
    data.write_text("\n".join([",".join(evil), *(f"{line},=North" for line in lines)]) + "\n")
    release_request = replace(order_for(said, segments=0.3, epsilon=2.0), missing=0.1)
    files = publish(preflight(release_request, open_file(data), said, account_in(tmp_path))).files
    for name in (CENTERS, SEGMENTS_FILE, LEDGER):
        cells = [cell for row in csv.reader(io.StringIO(files[name].decode(), newline="")) for cell in row]
        assert not [cell for cell in cells if cell[:1] in "=+-@\t\r" and cell and not is_number(cell)], name
    assert f"'{evil[0]}" in files[CENTERS].decode() and verify(make_zip(files)).holds


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("make", [release_case, account_case])
@pytest.mark.parametrize("first", [0, 15])
def test_hostile_zips_and_accounts_end_in_a_finding_or_a_sentence(make, first):
    found = [judged(make(np.random.default_rng([3, place])), place) for place in range(first, first + 15)]
    assert not [(one.index, one.outcome, one.where, one.about) for one in found if not one.kept]


def test_a_pipe_in_the_place_of_a_release_or_a_key_is_not_opened(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(RequestError, match="cannot be read as a zip"):
        verify(pipe)
    with pytest.raises(RequestError, match="names no Ed25519 private key"):
        format_signature(b"", pipe)
