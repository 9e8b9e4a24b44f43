"""Every byte of a zip is one that its transcript comes to: whatever else can be put into one is named.

Hashes are made to match, so that what is tried here is found by what the bytes are, and not by their hash.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from hypothesis import given
from hypothesis import strategies as st

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
from dpviz.releases.package import (
    ASSIGN,
    CARD,
    CENTERS,
    DECLARATION,
    LEDGER,
    SEGMENTS_FILE,
    SIGNATURE,
    TRANSCRIPT,
    VERIFY,
    make_zip,
    pack,
    read_members,
)
from dpviz.releases.releasing import Release, preflight, publish
from dpviz.releases.render import render
from dpviz.releases.signature import check_signer, format_signature, sign
from dpviz.releases.transcript import AnswerRecording, Playback, Transcript, read_transcript
from dpviz.releases.verifying import verify
from dpviz.runs.request import Division
from dpviz.tables.named import open_file
from tests.cases import about
from tests.releases.charges import a_charge
from tests.releases.forging import Files, Member, deflated, findings, is_named, npy, rehashed, released, written
from tests.releases.people import account_in, declare_people, order_for, ready_in

SECRET = b"age,income\r\n41,30500\r\n" * 20


@cache
def small() -> Release:
    """A release of one part, quickly played."""
    with TemporaryDirectory() as folder:
        return publish(ready_in(Path(folder), algorithm="dplloyd"))


def with_transcript(transcript: bytes) -> bytes:
    """The release with another transcript, and hashes that match."""
    return make_zip(rehashed({**small().files, TRANSCRIPT: transcript}))


def members_of(files: Files, *, packed: bool = True) -> list[Member]:
    """The files as a release writes them: in the transcript as they are, in its zip packed where that is shorter."""
    plain = [Member(name, data) for name, data in files.items()]
    return [_pack(one) if packed and len(pack(one.data)) < len(one.data) else one for one in plain]


def _pack(one: Member) -> Member:
    return replace(one, body=pack(one.data), method=8)


def descriptor(one: Member) -> Member:
    tail = struct.pack("<4s3L", b"PK\7\10", zlib.crc32(one.data), len(one.data), len(one.data))
    return replace(one, flags=8, behind=tail)


def wide(one: Member) -> Member:
    """With its sizes in the fields of zip64."""
    said = struct.pack("<2H2Q", 1, 16, len(one.data), len(one.data))
    return replace(one, version=45, head_extra=said, list_extra=said, sizes=(2**32 - 1, 2**32 - 1))


EXTRA = struct.pack("<2H", 0x4141, len(SECRET)) + SECRET
# Of one file in a zip, everything that a zip can say beside what is in it.
ONE = {
    "deflated": deflated,
    "rows behind a deflate stream": lambda one: deflated(one, SECRET),
    "rows behind our own stream": lambda one: replace(_pack(one), body=pack(one.data) + SECRET),
    "not packed": lambda one: replace(one, body=None, method=8 - one.method if one.body is None else 0),
    "rows behind a file": lambda one: replace(one, behind=SECRET),
    "a field in the head": lambda one: replace(one, head_extra=EXTRA),
    "a field in the list": lambda one: replace(one, list_extra=EXTRA),
    "a comment on a file": lambda one: replace(one, comment=SECRET),
    "a data descriptor": descriptor,
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


def find_bytes_of_form(data: bytes) -> list[int]:
    """The places of all bytes of a zip that are none of its files': heads, the list, and its end."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        spans = [
            (at := one.header_offset + 30 + len(one.filename), at + one.compress_size) for one in archive.infolist()
        ]
    held = {at for start, stop in spans for at in range(start, stop)}
    return [at for at in range(len(data)) if at not in held]


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def test_the_zip_has_one_form():
    """Written byte by byte from what the format says, on whatever machine."""
    assert written(members_of(small().files)) == make_zip(small().files) == small().data
    inner = small().files[TRANSCRIPT]
    assert written(members_of(read_members(inner).files, packed=False)) == inner
    assert not is_named(small().data)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_whatever_else_a_zip_can_say_is_named():
    for said, forged in forgeries(members_of(small().files)):
        with about(said):
            assert forged != small().data and is_named(forged)
    for said, forged in forgeries(members_of(read_members(small().files[TRANSCRIPT]).files, packed=False)):
        with about("transcript", said):
            assert forged != small().files[TRANSCRIPT] and is_named(with_transcript(forged))


def test_what_is_there_twice_or_is_none_of_a_release_is_said_and_the_rest_is_read():
    for said in ("another file", "a folder", "a file twice", "rows before", "a comment"):
        found = verify(ALL[said](members_of(small().files))).findings
        assert [finding.file for finding in found] == ["the zip"], said


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_every_byte_of_a_head_and_of_the_list_is_compared(monkeypatch):
    """By the form alone: what the files come to is not looked at."""
    monkeypatch.setattr(verifying._CheckedFiles, "play", lambda self: None)
    assert not is_named(small().data)
    for at in find_bytes_of_form(small().data):
        assert is_named(flipped(small().data, at)), at
    inner = small().files[TRANSCRIPT]
    for at in find_bytes_of_form(inner):
        with pytest.raises(RequestError):
            read_transcript(flipped(inner, at))


def test_every_bit_of_a_packed_file_is_one_that_its_bytes_come_to():
    """Any other stream is damaged, or unpacks to something else, or packs the same otherwise, and each is named."""
    data = small().data
    packed = sorted({*range(len(data))} - {*find_bytes_of_form(data)})
    for at in packed[:: len(packed) // 150]:
        assert is_named(flipped(data, at)), at


def test_a_zip_of_other_bytes_is_no_release_whatever_the_search_for_them_finds(monkeypatch):
    for search in ("_compare_files", "_check_hashes", "describe_form"):
        monkeypatch.setattr(verifying, search, lambda *given: ())
    assert not is_named(small().data)
    for forged in (small().data + SECRET, make_zip({**small().files, CENTERS: SECRET})):
        assert [finding.what for finding in verify(forged).findings] == [verifying._OTHER_ZIP]


def list_paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to every value in plain ones."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, one in inside:
        yield (*path, name)
        yield from list_paths(one, (*path, name))


def change_at(asked: Any, path: tuple[Any, ...], change: Any) -> Any:
    """Plain values with what ``change`` makes of the one at ``path``; nothing of it where that is None."""
    copy = json.loads(json.dumps(asked))
    *way, last = path
    at = copy
    for name in way:
        at = at[name]
    changed = change(at[last])
    if changed is None:
        del at[last]
    else:
        at[last] = changed
    return copy


def make_other(value: Any) -> Any:
    if isinstance(value, dict):
        return {**value, "more": 1}
    if isinstance(value, list):
        return [*value, "more"]
    if isinstance(value, str):
        return f"{value} "
    return 1 if value is None else value + 1 if isinstance(value, int) else value * 1.5 + 1e-9


def test_every_key_of_what_was_asked_is_compared():
    read = read_transcript(small().files[TRANSCRIPT])
    asked = dict(read.whole.asked)
    for path in list_paths(asked):
        for change in (make_other, lambda value: None):
            other = change_at(asked, path, change)
            forged = Transcript(other, read.whole.recordings).to_bytes(read.said_legend)
            with about(path, change is make_other):
                assert forged != small().files[TRANSCRIPT] and is_named(with_transcript(forged))


def test_what_was_asked_is_written_in_one_way():
    members = dict(read_members(small().files[TRANSCRIPT]).files)
    text = str(np.load(io.BytesIO(members["asked.npy"])))
    said = json.loads(text)
    first = next(iter(said))
    declared = json.loads(said["declared"])
    for other in (
        json.dumps(said, ensure_ascii=False),  # by itself the same: what is tried below differs by one thing each
        f"{text} ",
        text.replace(": ", ":", 1),
        json.dumps(dict(reversed(said.items())), ensure_ascii=False),
        text.replace("{", f'{{"{first}": 1, ', 1),
        text.replace("Not stated", "Not st\\u0061ted", 1),
        text.replace("0.0,", "0.00,", 1),
        text.replace("0.0,", "0,", 1),
        text.replace("0.0,", "-0.0,", 1),
        text.replace("1.0,", "1e0,", 1),
        json.dumps({**said, "declared": json.dumps(declared)}, ensure_ascii=False, sort_keys=True),
        json.dumps({**said, "declared": f"{said['declared']} "}, ensure_ascii=False, sort_keys=True),
    ):
        forged = make_zip({**members, "asked.npy": npy(other)}, packed=False)
        with about(other[:60]):
            assert is_named(with_transcript(forged)) == (other != text)


@pytest.mark.parametrize(
    "other",
    [
        lambda asked: {"declared": f"{asked['declared']} "},
        lambda asked: {"declared": json.dumps(json.loads(asked["declared"]))},
        lambda asked: {"segments": 0},
        lambda asked: {"request": {**asked["request"], "epsilon": 1}},
    ],
)
def test_what_was_asked_is_played_in_one_wording_whatever_the_other_files_say(other):
    whole = read_transcript(small().files[TRANSCRIPT]).whole
    with pytest.raises(RequestError, match="in another way than a release does"):
        render(Transcript({**whole.asked, **other(whole.asked)}, whole.recordings))


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
    members = read_members(small().files[TRANSCRIPT]).files
    for name, file in members.items():
        for said, other in write_otherwise(file):
            with about(name, said):
                forged = make_zip({**members, name: other}, packed=False)
                assert other != file and is_named(with_transcript(forged))
                with pytest.raises(RequestError):
                    read_transcript(forged)
    number = str(np.load(io.BytesIO(members["algorithm/coins.npy"])))
    arabic = number.translate({ord("0") + digit: 0x660 + digit for digit in range(10)})
    for coins in (f"{number[0]}_{number[1:]}", f"0{number}", f" {number}", f"+{number}", arabic, f"{number}\n"):
        with about(coins):
            assert int(coins) == int(number)
            assert is_named(with_transcript(make_zip({**members, "algorithm/coins.npy": npy(coins)}, packed=False)))
    more = {**members, "algorithm/9999/array.npy": npy(np.ones(1))}
    back = dict(reversed(members.items()))
    for forged in (more, back, {**members, "rows.npy": npy(np.ones(1))}, {**members, "rows.csv": SECRET}):
        assert is_named(with_transcript(make_zip(forged, packed=False)))


CELLS = SparseCounts(np.array([1, 2]), np.ones(2, dtype=np.int64), 8)


@pytest.mark.parametrize(
    ("mechanism", "total", "good"),
    [
        (mechanisms.Laplace(1.0, 1.0), np.zeros((3, 2)), np.ones((3, 2))),
        (mechanisms.Exponential(1.0, 1.0), np.zeros(4), 3),
        (mechanisms.NoisyThreshold(mechanisms.Laplace(1.0, 1.0), 4.0), CELLS, np.array([1, 5])),
        (
            mechanisms.SparseLaplace(mechanisms.Laplace(1.0, 1.0), 3.0),
            CELLS,
            SparseCounts(np.array([1, 5]), np.ones(2), 8),
        ),
    ],
)
def test_an_answer_has_room_for_nothing_that_was_not_asked_for(mechanism, total, good):
    def given(answer: Any) -> Any:
        return Playback(AnswerRecording(1, (answer,))).answer(mechanism, WholeTruth(total, 1.0), Accounting.PURE)

    assert given(good) is good
    whole = good.codes if isinstance(good, SparseCounts) else np.asarray(good)
    others = [
        whole[None],
        whole.astype(np.complex128),
        whole.astype("U"),
        np.concatenate([whole.ravel(), [41, 30_500]]),
        -1,
    ]
    if isinstance(good, SparseCounts):
        others += [SparseCounts(one, np.ones(len(one)), 8) for one in (whole[::-1], whole + 3, np.ones(2))]
        others += [SparseCounts(whole, values, 8) for values in (np.ones(3), np.ones((1, 2)), np.ones(2, dtype=int))]
        others += [SparseCounts(whole, np.ones(2), 9)]
    for answer in others:
        with about(answer), pytest.raises(RequestError, match="of another form"):
            given(answer)


@pytest.mark.parametrize("name", [CENTERS, LEDGER, CARD, ASSIGN, DECLARATION])
def test_digits_behind_the_ninth_are_named(name):
    text = small().files[name].decode()
    at = next(at for at, letter in enumerate(text) if letter.isdigit() and not text[at + 1].isdigit())
    for more in ("0" * 12_000, ".0000000000413", "000000001"):
        assert name in findings({**small().files, name: f"{text[: at + 1]}{more}{text[at + 1 :]}".encode()})


# Whatever somebody sends as a release or an account ends in a finding or a sentence, with bounded work.


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
    release_request = replace(order_for(said, epsilon=2.0), division=Division(0.3, missing=0.1))
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


# A signature fits one ``VERIFY.txt`` only, and a key that could not sign is refused before a charge.


def pem(key) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


@pytest.fixture
def key(tmp_path):
    made = ed25519.Ed25519PrivateKey.generate()
    path = tmp_path / "key.pem"
    path.write_bytes(pem(made))
    return path, made.public_key().public_bytes_raw().hex()


def test_a_signature_names_its_key_and_fits_one_text_only(key):
    path, public = key
    text = format_signature(b"hashes", path).encode()
    assert sign(b"hashes", text) == public
    other = format_signature(b"other", path).encode()
    for wrong in (other, b"", b"\xff", text[:-4] + b"00\n", text.replace(public.encode(), b"00" * 32)):
        with pytest.raises(RequestError, match="signature"):
            sign(b"hashes", wrong)


def test_what_is_no_key_is_refused(tmp_path):
    other = tmp_path / "other.pem"
    other.write_bytes(pem(ec.generate_private_key(ec.SECP256R1())))
    text = tmp_path / "text.pem"
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


def unpack(data: bytes) -> bytes:
    return zlib.decompress(data, wbits=-15)


@pytest.mark.parametrize("kind", PACKED)
def test_another_program_unpacks_it(kind: str) -> None:
    assert unpack(pack(PACKED[kind])) == PACKED[kind]


@given(st.lists(st.sampled_from([b"a", b"segment,", b"0.0", b"\xff", b"\n"]), max_size=300))
def test_whatever_it_holds(parts: list[bytes]) -> None:
    data = b"".join(parts)
    assert unpack(pack(data)) == data


def test_a_code_that_would_be_too_long_is_not() -> None:
    counts = np.round(1.6180339887 ** np.arange(25)).astype(np.int64)
    assert package._find_lengths(counts).max() > 15
    lengths = package._make_code(counts).lengths
    assert lengths.max() <= 15 and np.sum(2.0 ** -lengths[lengths > 0]) == 1


def test_the_same_file_is_the_same_bytes() -> None:
    """As they were when this was written: another rule would refuse every release that was made before."""
    said = b"".join(f"{place},{place * place % 977},released\r\n".encode() for place in range(3_000))
    assert hashlib.sha256(pack(said)).hexdigest() == "f96e0fffca3a46b1f648ae2ea927c5bba5a9b946aa9feee36d3a939782ccf499"


def test_files_of_a_release_become_as_small_as_by_a_library() -> None:
    for name, data in released().items():
        assert len(pack(data)) <= 1.06 * len(zlib.compress(data, 9)) + 200, name
    assert len(pack(released()[TRANSCRIPT])) < 0.7 * len(released()[TRANSCRIPT])
