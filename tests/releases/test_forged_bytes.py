"""Every byte of a zip is one that its transcript comes to: whatever else can be put into one is named.

Hashes are made to match, so that what is tried here is found by what the bytes are, and not by their hash.
"""

import csv
import hashlib
import io
import json
import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519

from benchmarks.fuzzing.judge import judged
from benchmarks.fuzzing.release_cases import account_case, release_case
from dpviz.core import mechanisms
from dpviz.core.accounting import Accounting
from dpviz.core.check import RequestError
from dpviz.core.exact_noise import WholeTruth
from dpviz.core.queries import SparseCounts
from dpviz.releases import package, verifying
from dpviz.releases.account import Account
from dpviz.releases.account_file import open_to_change
from dpviz.releases.releasing import Release, publish
from dpviz.releases.render import render, render_whole
from dpviz.releases.signature import check_signer, format_signature, sign
from dpviz.releases.transcript import AnswerRecording, Playback, Transcript, read_transcript
from dpviz.releases.verifying import verify
from dpviz.tables.declarations import Declaration, Described
from tests.cases import about
from tests.releases.charges import a_charge
from tests.releases.forging import Files, Member, deflated, findings, is_named, npy, rehashed, released, written
from tests.releases.made_played import press
from tests.releases.people import ready_in, unrehearsed

SECRET = b"age,income\r\n41,30500\r\n" * 20


@cache
def small() -> Release:
    """A release of one part, quickly played."""
    with TemporaryDirectory() as folder, unrehearsed():
        return publish(ready_in(Path(folder), algorithm="dplloyd"))


def with_transcript(transcript: bytes) -> bytes:
    """The release with another transcript, and hashes that match."""
    return package.make_zip(rehashed({**small().files, package.TRANSCRIPT: transcript}))


def members_of(files: Files, *, packed: bool = True) -> list[Member]:
    """The files as a release writes them: in the transcript as they are, in its zip packed where that is shorter."""
    plain = [Member(name, data) for name, data in files.items()]
    return [ours(one) if packed and len(package.pack(one.data)) < len(one.data) else one for one in plain]


def ours(one: Member, behind: bytes = b"") -> Member:
    return replace(one, body=package.pack(one.data) + behind, method=8)


def wide(one: Member) -> Member:
    """With its sizes in the fields of zip64."""
    said = struct.pack("<2H2Q", 1, 16, len(one.data), len(one.data))
    return replace(one, version=45, head_extra=said, list_extra=said, sizes=(2**32 - 1, 2**32 - 1))


EXTRA = struct.pack("<2H", 0x4141, len(SECRET)) + SECRET
# Of one file in a zip, everything that a zip can say beside what is in it.
ONE = {
    "deflated": deflated,
    "rows behind a deflate stream": lambda one: deflated(one, SECRET),
    "rows behind our own stream": lambda one: ours(one, SECRET),
    "not packed": lambda one: replace(one, body=None, method=8 - one.method if one.body is None else 0),
    "rows behind a file": lambda one: replace(one, behind=SECRET),
    "a field in the head": lambda one: replace(one, head_extra=EXTRA),
    "a field in the list": lambda one: replace(one, list_extra=EXTRA),
    "a comment on a file": lambda one: replace(one, comment=SECRET),
    "a data descriptor": lambda one: replace(
        one, flags=8, behind=struct.pack("<4s3L", b"PK\7\10", zlib.crc32(one.data), len(one.data), len(one.data))
    ),
    "zip64": wide,
    "a symbolic link": lambda one: replace(one, attributes=0o120777 << 16),
    "a day": lambda one: replace(one, day=one.day + 1),
    "UTF-8 said": lambda one: replace(one, flags=0x800),
    "encryption said": lambda one: replace(one, flags=1),
}
ALL = {
    "rows before": lambda members: written(members, before=SECRET),
    "rows behind": lambda members: written(members) + SECRET,
    "rows before the end": lambda members: written(members, end=SECRET),
    "a comment": lambda members: written(members, comment=SECRET),
    "another order": lambda members: written(members[::-1]),
    "two files in another order": lambda members: written([members[1], members[0], *members[2:]]),
    "a file twice": lambda members: written([members[0], *members]),
    "a file twice at the end": lambda members: written([*members, members[0]]),
    "another file": lambda members: written([*members, Member("rows.csv", SECRET)]),
    "a folder": lambda members: written([Member("rows/", b""), *members]),
    "a name of the same file": lambda members: written([Member(f"./{members[0].name}", SECRET), *members]),
    "zip64 at the end": lambda members: written(
        members, end=struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, *[len(members)] * 2, 0, 0)
    ),
}


def forgeries(members: list[Member]) -> Iterator[tuple[str, bytes]]:
    for said, change in ONE.items():
        for place in (0, len(members) - 1):
            yield said, written([*members[:place], change(members[place]), *members[place + 1 :]])
    yield from ((said, make(members)) for said, make in ALL.items())


def test_the_zip_has_one_form():
    """Written byte by byte from what the format says, on whatever machine."""
    assert written(members_of(small().files)) == package.make_zip(small().files) == small().data
    inner = small().files[package.TRANSCRIPT]
    assert written(members_of(package.read_members(inner).files, packed=False)) == inner
    assert not is_named(small().data)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_whatever_else_a_zip_can_say_is_named():
    for said, forged in forgeries(members_of(small().files)):
        with about(said):
            assert forged != small().data and is_named(forged)
    for said, forged in forgeries(
        members_of(package.read_members(small().files[package.TRANSCRIPT]).files, packed=False)
    ):
        with about("transcript", said):
            assert forged != small().files[package.TRANSCRIPT] and is_named(with_transcript(forged))


def test_a_zip_of_other_bytes_is_no_release_whatever_the_search_for_them_finds(monkeypatch):
    data = small().data
    assert f"Not so: {package.Check.SAME.value}" in verify(data + SECRET).checked
    for at in range(0, len(data), len(data) // 150):
        assert is_named(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]), at
    for search in ("_compare_files", "_check_hashes", "describe_form"):
        monkeypatch.setattr(verifying, search, lambda *given: ())
    assert not is_named(data)
    for forged in (data + SECRET, package.make_zip({**small().files, package.CENTERS: SECRET})):
        assert [finding.what for finding in verify(forged).findings] == [verifying._OTHER_ZIP]


def write_head(values: np.ndarray[Any, Any], kind: str, *, by_column: bool = False, pad: int = 0) -> bytes:
    """An array with another head than NumPy writes, or its numbers in another form."""
    head = repr({"descr": kind, "fortran_order": by_column, "shape": values.shape}).replace("}", ", }")
    head += " " * (-(len(head) + 11) % 64 + pad) + "\n"
    body = values.astype(kind).tobytes(order="F" if by_column else "C")
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + body


def write_otherwise(file: bytes) -> Iterator[tuple[str, bytes]]:
    """The same values, in other bytes."""
    values = np.load(io.BytesIO(file))
    kind = values.dtype.str
    yield "padding", write_head(values, kind, pad=64)
    yield "another blank", file.replace(b" \n", b"\t\n", 1)
    yield "behind it", file + b"\0"
    yield "other version", file[:6] + b"\2\0" + struct.pack("<I", len(file[10:])) + file[10:]
    yield "byte order", write_head(values, kind.replace("<", ">"))
    if values.ndim == 2:
        yield "order", write_head(values, kind, by_column=True)
    if values.dtype.kind == "f":
        yield "wider", write_head(values, "<f16")
        yield "no number", npy(np.where(np.arange(values.size).reshape(values.shape) == 0, np.nan, values))
    if values.dtype.kind == "U":
        yield "room", npy(np.array(str(values), dtype=f"<U{len(str(values)) + 9}"))


def test_every_array_is_written_in_one_way():
    members = package.read_members(small().files[package.TRANSCRIPT]).files
    number = str(np.load(io.BytesIO(members["algorithm/coins.npy"])))
    arabic = number.translate({ord("0") + digit: 0x660 + digit for digit in range(10)})
    coins = (f"{number[0]}_{number[1:]}", f"0{number}", f" {number}", f"+{number}", arabic, f"{number}\n")
    text = str(np.load(io.BytesIO(members["asked.npy"])))
    asked = [f"{text} ", text.replace("{", f'{{"{next(iter(json.loads(text)))}": 1, ', 1)]
    spelled = (("Not stated", "Not st\\u0061ted"), ("0.0,", "0.00,"), ("1.0,", "1e0,"), (": ", ":"))
    asked += [text.replace(one, other, 1) for one, other in spelled]
    others = [(name, *other) for name, file in members.items() for other in write_otherwise(file)]
    others += [("algorithm/coins.npy", one, npy(one)) for one in coins]
    others += [("asked.npy", one[:60], npy(one)) for one in asked]
    more = {"algorithm/9999/array.npy": npy(np.ones(1))}, {"rows.npy": npy(np.ones(1))}, {"rows.csv": SECRET}
    others += [(name, "more", data) for one in more for name, data in one.items()]
    for name, said, other in others:
        forged = package.make_zip({**members, name: other}, packed=False)
        with about(name, said):
            assert other != members.get(name) and is_named(with_transcript(forged))
            with pytest.raises(RequestError):
                read_transcript(forged)
    assert is_named(with_transcript(package.make_zip(dict(reversed(members.items())), packed=False)))


def cells(codes: Any) -> SparseCounts:
    return SparseCounts(np.array(codes), np.ones(len(codes)), 8)


@pytest.mark.parametrize(
    ("mechanism", "total", "good"),
    [
        (mechanisms.Laplace(1.0, 1.0), np.zeros((3, 2)), np.ones((3, 2))),
        (mechanisms.Exponential(1.0, 1.0), np.zeros(4), 3),
        (mechanisms.NoisyThreshold(mechanisms.Laplace(1.0, 1.0), 4.0), cells([1, 2]), np.array([1, 5])),
        (mechanisms.SparseLaplace(mechanisms.Laplace(1.0, 1.0), 3.0), cells([1, 2]), cells([1, 5])),
    ],
)
def test_an_answer_has_room_for_nothing_that_was_not_asked_for(mechanism, total, good):
    def given(answer: Any) -> Any:
        return Playback(AnswerRecording(1, (answer,))).answer(mechanism, WholeTruth(total, 1.0), Accounting.PURE)

    assert given(good) is good
    whole = good.codes if isinstance(good, SparseCounts) else np.asarray(good)
    others = [whole[None], whole.astype(complex), whole.astype("U"), np.concatenate([whole.ravel(), [41, 30_500]]), -1]
    if isinstance(good, SparseCounts):
        others += [cells(one) for one in (whole[::-1], whole + 3, np.ones(2))] + [SparseCounts(whole, np.ones(2), 9)]
        others += [SparseCounts(whole, values, 8) for values in (np.ones(3), np.ones((1, 2)), np.ones(2, dtype=int))]
    for answer in others:
        with about(answer), pytest.raises(RequestError, match="of another form"):
            given(answer)


# Whatever somebody sends as a release or an account ends in a finding or a sentence, with bounded work.


def test_text_behind_a_signature_is_named(tmp_path):
    files, _ = released(), write_key(tmp_path / "key.pem", ed25519.Ed25519PrivateKey.generate())
    signed = format_signature(files[package.VERIFY], tmp_path / "key.pem").encode()
    assert verify(package.make_zip({**files, package.SIGNATURE: signed})).signer is not None
    for more in (b"Audited by everybody.\n", b" ", signed):
        assert (
            "more than a signature"
            in findings({**files, package.SIGNATURE: signed + more}, with_hashes=False)[package.SIGNATURE]
        )


@pytest.mark.parametrize("rubbish", ['"' + "x" * 200_000, "a\rb\x00c", "\ud800", "1e999,nan,-inf"])
def test_csv_that_no_reader_takes_is_a_finding(rubbish):
    for name in (package.CENTERS, package.LEDGER):
        data = released()[name].split(b"\r\n")[0] + b"\r\n" + rubbish.encode("utf-8", "surrogatepass")
        assert name in findings({**released(), name: data})


def test_an_account_whose_seal_fits_and_whose_words_do_not_ends_in_a_sentence(tmp_path):
    account = Account.new(tmp_path / "people.sqlite", name="people", cap_epsilon=2.0)
    account.charge(a_charge(0.5))
    whole = account.path.read_bytes()
    for change in ("columns = '5'", "columns = '['", "lower = '[\"a\", {}]'", "state = 'gone'", "k = 0"):
        account.path.write_bytes(whole)
        with open_to_change(account.path, wait=1.0) as file:
            file.execute(f"UPDATE release SET {change}")
        with about(change), pytest.raises(RequestError, match="is damaged"):
            account.standing()


def test_names_that_are_formulas_are_text_in_every_table():
    evil = ("=cmd|' /C calc'!A0", "@SUM(1)", "-2+3")
    rows = pd.DataFrame(np.random.default_rng(0).uniform(0, 1, (300, 2)), columns=[*evil[:2]]).assign(**{evil[2]: "=N"})
    described = {evil[2]: Described(categories=("=N", "+S"))}
    bounds = {"columns": evil[:2], "lower": (0.0, 0.0), "upper": (1.0, 1.0), "bounds_origin": "law", "title": "=1+1"}
    files = render_whole(press(rows, Declaration(**bounds, describe=described), k=2, epsilon=10.0, segments=0.3))
    for name in (package.CENTERS, package.SEGMENTS_FILE, package.LEDGER):
        cells = [cell for row in csv.reader(io.StringIO(files[name].decode(), newline="")) for cell in row]
        formulas = [cell for cell in cells if cell and cell[0] in "=+-@\t\r" and not re.fullmatch(r"-[\d.e-]+", cell)]
        assert not formulas, name
    assert f"'{evil[0]}" in files[package.CENTERS].decode() and verify(package.make_zip(files)).holds


def write_key(path: Path, key: Any) -> Path:
    pem = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.write_bytes(key.private_bytes(*pem))
    return path


@pytest.mark.parametrize("make", [release_case, account_case])
@pytest.mark.parametrize("first", [0, 15])
def test_hostile_zips_and_accounts_end_in_a_finding_or_a_sentence(make, first):
    found = [judged(make(np.random.default_rng([3, place])), place) for place in range(first, first + 15)]
    assert not [(one.index, one.outcome, one.where, one.about) for one in found if not one.kept]


# A signature fits one ``VERIFY.txt`` only, and a key that could not sign is refused before a charge.


def test_a_signature_names_its_key_and_fits_one_text_only(tmp_path):
    path = write_key(tmp_path / "key.pem", made := ed25519.Ed25519PrivateKey.generate())
    public, text = made.public_key().public_bytes_raw().hex(), format_signature(b"hashes", path).encode()
    assert sign(b"hashes", text) == public
    other = format_signature(b"other", path).encode()
    for wrong in (other, b"", b"\xff", text[:-4] + b"00\n", text.replace(public.encode(), b"00" * 32)):
        with pytest.raises(RequestError, match="signature"):
            sign(b"hashes", wrong)


def test_what_is_no_key_is_refused(tmp_path):
    other, text = write_key(tmp_path / "other.pem", ec.generate_private_key(ec.SECP256R1())), tmp_path / "text.pem"
    text.write_text("no key")
    for path in (other, text, tmp_path / "nothing.pem", tmp_path):
        with pytest.raises(RequestError, match="Ed25519"):
            check_signer(path)


# A file is packed in one way, which other programs unpack.


DRAW = np.random.default_rng(1)
# Of each kind: what a block, a code or a match may have at most or at least.
PACKED = {
    "nothing": b"",
    "one byte": b"\0",
    "one byte, many times": b"\0" * 70_000,
    "every byte": bytes(range(256)),
    "noise": DRAW.bytes(40_000),
    "a copy from as far as it may be": (far := DRAW.bytes(200)) + DRAW.bytes(32_768 - 200) + far,
    "a copy from farther": far + DRAW.bytes(32_768) + far,
    "copies of every length": b"".join(DRAW.bytes(3) + DRAW.bytes(1) + b"abcdefghij" * 26 for _ in range(20)),
    "two bytes, one of them rare": b"a" * 5_000 + b"b",
    "counts that grow like those of rabbits": b"".join(
        bytes([one]) * int(many) for one, many in enumerate(1.6180339887 ** np.arange(22))
    ),
}


@pytest.mark.parametrize("kind", PACKED)
def test_another_program_unpacks_it(kind: str) -> None:
    assert zlib.decompress(package.pack(PACKED[kind]), wbits=-15) == PACKED[kind]


def test_a_code_that_would_be_too_long_is_not() -> None:
    counts = np.round(1.6180339887 ** np.arange(25)).astype(np.int64)
    lengths = package._make_code(counts).lengths
    assert package._find_lengths(counts).max() > 15 >= lengths.max() and np.sum(2.0**-lengths) == 1


def test_the_same_file_is_the_same_bytes() -> None:
    """As they were when this was written: another rule would refuse every release that was made before."""
    said = b"".join(f"{place},{place * place % 977},released\r\n".encode() for place in range(3_000))
    assert (
        hashlib.sha256(package.pack(said)).hexdigest()
        == "f96e0fffca3a46b1f648ae2ea927c5bba5a9b946aa9feee36d3a939782ccf499"
    )


def test_what_was_asked_is_played_in_one_wording_whatever_the_other_files_say():
    whole = read_transcript(small().files[package.TRANSCRIPT]).whole
    asked = dict(whole.asked)
    for other in (
        *({"declared": f"{asked['declared']} "}, {"declared": json.dumps(json.loads(asked["declared"]))}),
        *({"segments": 0}, {"request": {**asked["request"], "epsilon": 1}}),
    ):
        with about(other), pytest.raises(RequestError, match="in another way than a release does"):
            render(Transcript({**asked, **other}, whole.recordings))
