"""The files of a release: their names, the zip that holds them, what is checked of them, and what nobody can tell.

The same files are the same bytes: a zip has one form, which says nothing that its files do not. A zip from elsewhere
may have any form, so that it can be said where it differs; nothing that it says of itself is believed.

Files are packed by one rule that fixes every bit, so that a packed file has one form, too: a library packs the same
file in other ways in its next version, and a release is compared byte for byte. What comes out is DEFLATE, which every
program for zips unpacks.

References
----------
Deutsch 1996, RFC 1951. Huffman 1952.
"""

import hashlib
import io
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from enum import Enum
from functools import lru_cache
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np

from dpviz import __version__
from dpviz.core import Array, Codes
from dpviz.releases.release_sentences import SENTENCES, make_refusal
from dpviz.words import foreign, render

# Tokens of a block, which has codes of its own; how far back and how long a match may be; how many are tried.
_BLOCK, _FARTHEST, _LONGEST, _TRIED = 1 << 14, 1 << 15, 258, 8
_KEY = 5  # bytes that a match has at least
_LONGEST_CODE = 15
_END, _LENGTHS_FROM = 256, 257
# Extra bits behind the codes of lengths from 3 on, and of distances from 1 on.
_LENGTH_BITS = np.array([0] * 8 + [bits for bits in range(1, 6) for _ in range(4)] + [0])
_DISTANCE_BITS = np.array([0, 0] + [bits for bits in range(14) for _ in range(2)])
_LENGTH_STARTS = np.r_[3 + np.r_[0, np.cumsum(2 ** _LENGTH_BITS[:-2])], _LONGEST]
_DISTANCE_STARTS = 1 + np.r_[0, np.cumsum(2 ** _DISTANCE_BITS[:-1])]


class _Matches(NamedTuple):
    """Where a part of a file is a copy of what stands before it: starts, lengths and distances back, (m,) each."""

    starts: Codes
    lengths: Codes
    distances: Codes


@lru_cache(maxsize=64)
def pack(data: bytes) -> bytes:
    """The file as DEFLATE; the same bytes on every machine.

    >>> import zlib
    >>> said = b"a release, a release, a release"
    >>> zlib.decompress(pack(said), wbits=-15) == said
    True
    """
    found = np.frombuffer(data, dtype=np.uint8).astype(np.int64)
    matches = _find_matches(data, found)
    covered = np.zeros(len(data) + 1, dtype=np.int64)
    covered[matches.starts + 1] += 1
    covered[matches.starts + matches.lengths] -= 1
    places = np.flatnonzero(np.cumsum(covered)[:-1] == 0)
    length, distance = np.zeros((2, len(data)), dtype=np.int64)
    length[matches.starts], distance[matches.starts] = matches.lengths, matches.distances
    parts = [places[at : at + _BLOCK] for at in range(0, len(places), _BLOCK)] or [places]
    bits = [
        one
        for number, at in enumerate(parts, start=1)
        for one in _write_block(found[at], length[at], distance[at], last=number == len(parts))
    ]
    return np.packbits(np.concatenate(bits), bitorder="little").tobytes()


def _find_matches(data: bytes, found: Codes) -> _Matches:
    """The first and longest of few tried matches at each place, one behind the other."""
    before = _find_earlier(found)
    repeated = np.where(before >= 0, np.arange(len(data)), len(data))
    upcoming = [*np.minimum.accumulate(repeated[::-1])[::-1].tolist(), len(data)]
    earlier = before.tolist()
    made: list[tuple[int, int, int]] = []
    at = 0
    while (at := upcoming[at]) < len(data):
        best, length, here = 0, 0, at
        ahead = int.from_bytes(data[at : at + _LONGEST], "little")
        most = min(_LONGEST, len(data) - at)
        for _ in range(_TRIED):
            here = earlier[here]
            if here < 0 or at - here > _FARTHEST or length == most:
                break
            if data[here + length] == data[at + length]:  # else it is no longer
                differs = ahead ^ int.from_bytes(data[here : here + most], "little")
                same = ((differs & -differs).bit_length() - 1) // 8 if differs else most
                if same > length:
                    best, length = here, same
        if length:
            made.append((at, length, at - best))
        at += max(length, 1)
    return _Matches(*np.array(made, dtype=np.int64).reshape(-1, 3).T)


def _find_earlier(found: Codes) -> Codes:
    """The last place before each that begins with the same few bytes, shape (n,); -1 where there is none."""
    before = np.full(len(found), -1, dtype=np.int64)
    if len(found) > _KEY:
        keys = np.lib.stride_tricks.sliding_window_view(found, _KEY) @ 256 ** np.arange(_KEY)
        order = np.argsort(keys, kind="stable")
        same = keys[order][1:] == keys[order][:-1]
        before[order[1:][same]] = order[:-1][same]
    return before


def _write_block(found: Codes, length: Codes, distance: Codes, *, last: bool) -> Iterator[Array]:
    """The bits of a block: its codes, then each byte or match by them, and its end."""
    of_length = np.searchsorted(_LENGTH_STARTS, length, side="right") - 1
    of_distance = np.searchsorted(_DISTANCE_STARTS, distance, side="right") - 1
    copied = length > 0
    symbols = np.r_[np.where(copied, _LENGTHS_FROM + of_length, found), _END]
    main = _make_code(np.bincount(symbols))
    far = _make_code(np.bincount(of_distance[copied], minlength=1))
    told = np.r_[len(main) - _LENGTHS_FROM, len(far) - 1, 15]
    yield _write_bits(np.r_[int(last), 2, told], np.array([1, 2, 5, 5, 4]))
    # Lengths of codes are said in four bits each: sixteen of equal length, in the order that the format has for them.
    yield _write_bits(np.r_[[0] * 3, [4] * 16], np.full(19, 3))
    yield _write_bits(_reverse(np.r_[main.lengths, far.lengths], 4), np.full(len(main) + len(far), 4))
    values = np.zeros((len(symbols), 4), dtype=np.int64)
    widths = np.zeros_like(values)
    values[:, 0], widths[:, 0] = main.codes[symbols], main.lengths[symbols]
    at = np.flatnonzero(copied)
    values[at, 1], widths[at, 1] = (length - _LENGTH_STARTS[of_length])[at], _LENGTH_BITS[of_length[at]]
    values[at, 2], widths[at, 2] = far.codes[of_distance[at]], far.lengths[of_distance[at]]
    values[at, 3], widths[at, 3] = (distance - _DISTANCE_STARTS[of_distance])[at], _DISTANCE_BITS[of_distance[at]]
    yield _write_bits(values.ravel(), widths.ravel())


class _Code(NamedTuple):
    """The code of each symbol, as it is written, and how many bits it has; 0 where a symbol does not occur."""

    codes: Codes
    lengths: Codes

    def __len__(self) -> int:
        return len(self.lengths)


def _make_code(counts: Codes) -> _Code:
    """A Huffman code for symbols that occur so often; rare ones count more where a code would be too long."""
    lengths = _find_lengths(counts)
    while lengths.max() > _LONGEST_CODE:
        counts = (counts + 1) // 2
        lengths = _find_lengths(counts)
    codes = np.zeros(len(counts), dtype=np.int64)
    code = 0
    for width in range(1, int(lengths.max()) + 1):
        code <<= 1
        these = np.flatnonzero(lengths == width)
        codes[these] = _reverse(code + np.arange(len(these)), width)
        code += len(these)
    return _Code(codes, lengths)


def _find_lengths(counts: Codes) -> Codes:
    """How deep each symbol lies in the tree of Huffman, ties by their order."""
    lengths = np.zeros(len(counts), dtype=np.int64)
    heap = [(int(counts[one]), one, [one]) for one in np.flatnonzero(counts).tolist()]
    if len(heap) == 1:
        lengths[heap[0][1]] = 1
    heapify(heap)
    made = len(counts)
    while len(heap) > 1:
        (one, _, left), (two, _, right) = heappop(heap), heappop(heap)
        lengths[left + right] += 1
        heappush(heap, (one + two, made, left + right))
        made += 1
    return lengths


def _reverse(codes: Codes, width: int) -> Codes:
    """Codes with their first bit last, as they are written."""
    return sum((codes >> at & 1) << (width - 1 - at) for at in range(width)) + np.zeros_like(codes)


def _write_bits(values: Codes, widths: Codes) -> Array:
    """Numbers of so many bits each, the lowest bit first."""
    ends = np.cumsum(widths)
    place = np.arange(int(ends[-1])) - np.repeat(ends - widths, widths)
    return (np.repeat(values, widths) >> place & 1).astype(np.uint8)


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
