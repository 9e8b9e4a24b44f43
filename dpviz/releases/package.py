"""The files of a release: their names, the zip that holds them, what is checked of them, and what nobody can tell.

Nothing that a zip from elsewhere says of itself is believed: not how large a file is, nor where one ends.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple

from dpviz import __version__
from dpviz.core import RequestError
from dpviz.words import foreign


class Check(Enum):
    """One thing that is checked, in words: whatever says what is checked prints these, and tests forge each."""

    FILES = "every file is the one whose SHA-256 VERIFY.txt lists, and the zip holds nothing else"
    PLAYED = (
        "the plan, played again without a row on the released answers of transcript.npz, asks for every one of them "
        "and for no other"
    )
    SAME = "every other file, made anew from transcript.npz, is the same: words to the letter, numbers to nine digits"
    SUMS = (
        "what all ledgers spend adds up to no more than the account was charged, and no part to more than its share, "
        "by dp-accounting, too"
    )
    CARD = "card.yaml is an entry as the public registry of deployments wants it"
    SIGNATURE = "SIGNATURE.txt, where there is one, is a signature of VERIFY.txt by the key that it names"


CANNOT_TELL = (
    "that the noise was honestly drawn, by the library and the version that are named, and on the day",
    "that bounds, n and the other declarations came from nowhere near the rows",
    "that the owner's own words are true, and that no more was seen of the rows than is counted",
    "that the account stood as is said, and that nothing else was released about the same people",
)
"""What nobody can tell from the files."""


class Finding(NamedTuple):
    """Something that is wrong: in which file, and what."""

    file: str
    what: str


MOST_BYTES = 100_000_000
"""Of a zip, and of all that is unpacked of one: more is no release."""

_MOST_MEMBERS = 100_000
# Of the head of a member, of its line in the list of members, and of the end of that list.
_HEAD, _LINE, _END = 30, 46, 22

# One day for all files, so that the same release is the same bytes.
_DAY = (1980, 1, 1, 0, 0, 0)


class Members(NamedTuple):
    """The files in a zip by their names, in order, and what else is wrong with it, in words."""

    files: dict[str, bytes]
    wrong: tuple[str, ...]


def make_zip(files: Mapping[str, bytes]) -> bytes:
    """The files in one zip."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, _DAY), data, zipfile.ZIP_DEFLATED)
    return held.getvalue()


def make_unreadable_error() -> RequestError:
    """What is said of a damaged zip, whose errors are of many kinds."""
    return RequestError("It cannot be read as a zip: it is damaged, or no release.")


def read_members(data: bytes, only: frozenset[str] | None = None) -> Members:
    """What is in the zip ``data``; of files that are not among ``only``, none is unpacked."""
    if len(data) > MOST_BYTES:
        raise RequestError("It is larger than any release: it is not the zip of a release.")
    with foreign.refuse_as(make_unreadable_error()), zipfile.ZipFile(io.BytesIO(data)) as archive:
        return _read_members(archive, data, only)


def _read_members(archive: zipfile.ZipFile, data: bytes, only: frozenset[str] | None) -> Members:
    listed = archive.infolist()
    if len(listed) > _MOST_MEMBERS:
        raise RequestError("It holds more files than any release: it is not the zip of a release.")
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
    if len(data) != _check_expected(archive, listed):
        wrong.append("it holds bytes that belong to none of its files")
    return Members(files, tuple(wrong))


def _unpack(archive: zipfile.ZipFile, member: zipfile.ZipInfo, most: int) -> bytes | None:
    """A file of at most so many bytes; None where it is damaged."""
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return None
    try:
        with archive.open(member) as file:
            found = file.read(most + 1)
    except Exception:  # of zlib, of the zip, of the disk: it cannot be had
        return None
    if len(found) > most:
        raise RequestError("It unpacks to more than any release: it is not the zip of a release.")
    return found


def _check_expected(archive: zipfile.ZipFile, listed: list[zipfile.ZipInfo]) -> int:
    """How long a zip of these files is that holds nothing else: no comment, no field of its own, no gap."""
    names = sum(len(member.filename.encode("utf-8", "surrogateescape")) for member in listed)
    packed = sum(member.compress_size for member in listed)
    return len(listed) * (_HEAD + _LINE) + 2 * names + packed + _END


CENTERS, SEGMENTS_FILE, CARD, PAGE, DOSSIER = "centers.csv", "segments.csv", "card.yaml", "card.html", "dossier.html"
LEDGER, DECLARATION, TRANSCRIPT = "ledger.csv", "declaration.json", "transcript.npz"
ASSIGN, VERIFY = "assign.py", "VERIFY.txt"
SIGNATURE = "SIGNATURE.txt"
TABLES = (CENTERS, SEGMENTS_FILE, LEDGER)
NEEDED = (CENTERS, CARD, PAGE, DOSSIER, LEDGER, DECLARATION, ASSIGN, TRANSCRIPT, VERIFY)
"""What every zip of a release holds; ``segments.csv`` and ``SIGNATURE.txt`` may be with it."""

MAY_BE_THERE = frozenset({*NEEDED, SEGMENTS_FILE, SIGNATURE})
"""All names that a file in it may have."""


def format_verify(files: Mapping[str, bytes], *, version: str = __version__) -> str:
    """What is checked, what nobody can tell, and the hashes of all ``files``."""
    return add_hashes({name: hashlib.sha256(data).hexdigest() for name, data in files.items()}, version=version)


def add_hashes(hashes: Mapping[str, str], *, version: str) -> str:
    """``VERIFY.txt`` with these ``hashes`` of files, by their names."""
    checked = "".join(f"  * {check.value};\n" for check in Check)
    untold = "".join(f"  * {untold};\n" for untold in CANNOT_TELL)
    lines = "".join(f"{digits}  {name}\n" for name, digits in hashes.items())
    return (
        "How to check this release, without the rows\n"
        "===========================================\n\n"
        "    python -m dpviz verify release.zip\n\n"
        f"with dpviz {version} checks that\n\n{checked}\n"
        f"What nobody can tell from these files:\n\n{untold}\n"
        f"SHA-256\n-------\n{lines}"
    )


def read_hashes(text: str) -> dict[str, str]:
    """The hashes that a ``VERIFY.txt`` lists, by file; none where it lists none."""
    lines = [line.split("  ", 1) for line in text.splitlines()]
    return {parts[1]: parts[0] for parts in lines if len(parts) == 2 and len(parts[0]) == 64}
