"""The files of a release: their names, the zip that holds them, what is checked of them, and what nobody can tell.

The same files are the same bytes: a zip has one form, which says nothing that its files do not. A zip from elsewhere
may have any form, so that it can be said where it differs; nothing that it says of itself is believed.
"""

from __future__ import annotations

import hashlib
import io
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import NamedTuple

from dpviz import __version__
from dpviz.releases.packing import pack
from dpviz.releases.release_sentences import SENTENCES, make_refusal
from dpviz.words import foreign, render


class Check(Enum):
    """One thing that is checked, in words: whatever says what is checked prints these, and tests forge each."""

    FILES = "every file is the one whose SHA-256 VERIFY.txt lists, and the zip holds nothing else"
    PLAYED = (
        "the plan, played again without a row on the released answers of transcript.npz, asks for every one of them "
        "and for no other"
    )
    SAME = "every other file and the whole zip, made anew from transcript.npz, are the same, byte for byte"
    SUMS = (
        "what all ledgers spend adds up to no more than the account was charged, and no part to more than its share, "
        "by dp-accounting, too"
    )
    NOISE = (
        "the answers are as noisy as is claimed: tallies that must agree differ by as much as their noise makes them"
    )
    CODE = "the version and the source files that it names as its maker's are those of the program that checks it"
    CARD = "card.yaml is an entry as the public registry of deployments wants it"
    SIGNATURE = "SIGNATURE.txt, where there is one, is a signature of VERIFY.txt by the key that it names"


CANNOT_TELL = tuple(SENTENCES.by_key["cannot_tell"].splitlines())
"""What nobody can tell from the files."""


class Finding(NamedTuple):
    """Something that is wrong: in which file, and what."""

    file: str
    what: str


MOST_BYTES = foreign.RELEASE.most_bytes
"""Of a zip, and of all that is unpacked of one: more is no release."""

_MOST_MEMBERS = 100_000
# The first day that a zip can name, and files of a Unix system which their owner may read and write: of every file.
_DAY, _UNIX, _MODE, _VERSION = 1 << 5 | 1, 3, 0o100600 << 16, 20


class Members(NamedTuple):
    """The files in a zip by their names, in order, and what else is wrong with it, in words."""

    files: dict[str, bytes]
    wrong: tuple[str, ...]


def make_zip(files: Mapping[str, bytes], *, packed: bool = True) -> bytes:
    """The files in one zip, in their order; the only form that a zip of them may have.

    ``packed``: each by the one rule of ``pack``, where that is shorter; else all as they are.
    """
    held, listed = io.BytesIO(), b""
    for name, data in files.items():
        body = pack(data) if packed else data
        body, method = (body, zipfile.ZIP_DEFLATED) if len(body) < len(data) else (data, zipfile.ZIP_STORED)
        told = struct.pack("<3H3I2H", method, 0, _DAY, zlib.crc32(data), len(body), len(data), len(name.encode()), 0)
        about = struct.pack("<3H2I", 0, 0, 0, _MODE, held.tell())
        listed += b"PK\1\2" + struct.pack("<2B2H", _VERSION, _UNIX, _VERSION, 0) + told + about + name.encode()
        held.write(b"PK\3\4" + struct.pack("<2H", _VERSION, 0) + told + name.encode() + body)
    many = len(files)
    return held.getvalue() + listed + b"PK\5\6" + struct.pack("<4H2IH", 0, 0, many, many, len(listed), held.tell(), 0)


def describe_form(data: bytes, due: bytes) -> Iterator[str]:
    """Where the zip ``data`` is not ``due``, the one that ``make_zip`` makes of the same files: a phrase, or none."""
    if data == due:
        return
    at = next((at for at, (one, other) in enumerate(zip(data, due, strict=False)) if one != other), len(due))
    with zipfile.ZipFile(io.BytesIO(due)) as archive:
        before = [member.filename for member in archive.infolist() if member.header_offset <= at]
        listed = at >= archive.start_dir
    if at >= len(due):
        where = "behind its end"
    else:
        where = "in its list of files" if listed or not before else f"in {before[-1]} or the head of it"
    yield f"it is not written as a release is: other bytes stand {where}"


def read_members(data: bytes, only: frozenset[str] | None = None) -> Members:
    """What is in the zip ``data``; of files that are not among ``only``, none is unpacked."""
    if len(data) > MOST_BYTES:
        raise make_refusal("zip_large")
    with foreign.refuse_as(make_refusal("no_zip"), foreign.RELEASE), zipfile.ZipFile(io.BytesIO(data)) as archive:
        return _read_members(archive, only)


def _read_members(archive: zipfile.ZipFile, only: frozenset[str] | None) -> Members:
    listed = archive.infolist()
    if len(listed) > _MOST_MEMBERS:
        raise make_refusal("zip_full")
    files: dict[str, bytes] = {}
    wrong, left = [], MOST_BYTES
    for place, member in enumerate(listed, start=1):
        name = member.filename
        if only is not None and name not in only:
            wrong.append(f"file {place} in it is none of a release")
            continue
        if name in files:
            wrong.append(f"it holds {name} twice" if only else "it holds a file twice")
            continue
        found = _unpack(archive, member, left)
        if found is None:
            wrong.append(f"{name if only else 'a file'} cannot be unpacked: it is damaged")
            continue
        files[name] = found
        left -= len(found)
    return Members(files, tuple(wrong))


def _unpack(archive: zipfile.ZipFile, member: zipfile.ZipInfo, most: int) -> bytes | None:
    """A file of at most so many bytes; None where it is damaged."""
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return None
    try:
        with archive.open(member) as file:
            found = file.read(most + 1)
    except Exception as error:
        if not foreign.RELEASE.expects(error):
            raise
        return None
    if len(found) > most:
        raise make_refusal("zip_unpacked")
    return found


CENTERS, SEGMENTS_FILE, CARD, PAGE, DOSSIER = "centers.csv", "segments.csv", "card.yaml", "card.html", "dossier.html"
LEDGER, DECLARATION, TRANSCRIPT = "ledger.csv", "declaration.json", "transcript.npz"
ASSIGN, VERIFY = "assign.py", "VERIFY.txt"
README, PROFILE, MAP, NOTEBOOK = "README.txt", "profile.svg", "map.svg", "read_release.ipynb"
DATAPACKAGE, CROISSANT = "datapackage.json", "croissant.json"
SIGNATURE, DRAWS_FILE, GROUPS, CONTINUED = "SIGNATURE.txt", "draws.csv", "groups.csv", "continued.csv"
TABLES = (CENTERS, SEGMENTS_FILE, GROUPS, CONTINUED, DRAWS_FILE, LEDGER)
IN_ORDER = (
    *(README, PAGE, CENTERS, SEGMENTS_FILE, GROUPS, CONTINUED, DRAWS_FILE, PROFILE, MAP, NOTEBOOK, ASSIGN, DOSSIER),
    *(CARD, LEDGER, DECLARATION, TRANSCRIPT, DATAPACKAGE, CROISSANT, VERIFY, SIGNATURE),
)
"""All names that a file in it may have, in the order in which they stand in it."""

NEEDED = tuple(name for name in IN_ORDER if name not in (SEGMENTS_FILE, GROUPS, CONTINUED, DRAWS_FILE, MAP, SIGNATURE))
"""What every zip of a release holds; the others may be with it."""


def format_verify(files: Mapping[str, bytes], *, version: str = __version__) -> str:
    """What is checked, what nobody can tell, and the hashes of all ``files``."""
    return add_hashes({name: hashlib.sha256(data).hexdigest() for name, data in files.items()}, version=version)


def add_hashes(hashes: Mapping[str, str], *, version: str) -> str:
    """``VERIFY.txt`` with these ``hashes`` of files, by their names."""
    return render("verify.txt.j2", hashes=hashes, version=version, checks=Check, untold=CANNOT_TELL)


def read_hashes(text: str) -> dict[str, str]:
    """The hashes that a ``VERIFY.txt`` lists, by file; none where it lists none."""
    lines = [line.split("  ", 1) for line in text.splitlines()]
    return {parts[1]: parts[0] for parts in lines if len(parts) == 2 and len(parts[0]) == 64}
