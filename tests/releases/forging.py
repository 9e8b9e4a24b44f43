"""A release that is made once, and what ``verify`` finds in forged copies of it."""

import csv
import io
import struct
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np

from dpviz.core.check import RequestError
from dpviz.releases import verifying
from dpviz.releases.noise_check import collect_tallies
from dpviz.releases.package import SIGNATURE, VERIFY, format_verify, make_zip
from dpviz.releases.releasing import publish
from dpviz.releases.verifying import Verification, verify
from tests.releases.people import ready_in, unrehearsed
from tests.releases.pinned_noise import noise_of_a_seed

Files = Mapping[str, bytes]


@cache
def released() -> Files:
    """The files of a release with segments, whose noise is the same every time: it finds the three groups."""
    with TemporaryDirectory() as folder, noise_of_a_seed(1), unrehearsed():
        return publish(ready_in(Path(folder), segments=0.2)).files


def _once(really: Callable[..., Any], key: Callable[[Any], object]) -> Callable[..., Any]:
    """A function that computes once for each first argument, by its key, and whatever is asked by name."""
    kept: dict[tuple[object, ...], Any] = {}

    def once(first: Any, *more: Any, **asked: Any) -> Any:
        at = (key(first), *asked.items())
        if at not in kept:
            kept[at] = really(first, *more, **asked)
        return kept[at]

    return once


def _collect(given: Any) -> SimpleNamespace:
    return SimpleNamespace(judge=cache(collect_tallies(given).judge))


# What follows from the transcript alone: copies with the same one are compared with the same files, which are kept.
_ONCE = {
    "_check_making": _once(verifying._check_making, lambda transcript: transcript.sha256),
    "describe_overspending": _once(verifying.describe_overspending, id),
    "collect_tallies": _once(_collect, id),
}


def verdict_on(files: Files) -> Verification:
    """What ``verify`` says of a zip of these files."""
    with patch.multiple(verifying, **_ONCE):
        verdict = verify(make_zip(files))
    assert verdict.holds == (not verdict.findings)
    return verdict


def is_named(data: bytes) -> bool:
    """Whether ``verify`` refuses a zip, or finds something wrong with it."""
    try:
        with patch.multiple(verifying, **_ONCE):
            return not verify(data).holds
    except RequestError:
        return True


@dataclass(frozen=True)
class Member:
    """A file in a zip, and all that its head and its line in the list say; what is left out is as a release has it."""

    name: str
    data: bytes
    body: bytes | None = None
    method: int = 0
    flags: int = 0
    head_extra: bytes = b""
    list_extra: bytes = b""
    comment: bytes = b""
    behind: bytes = b""
    attributes: int = 0o100600 << 16
    version: int = 20
    day: int = 33
    sizes: tuple[int, int] | None = None


def deflated(one: Member, behind: bytes = b"") -> Member:
    """The same packed, with bytes behind the end of its stream."""
    packer = zlib.compressobj(wbits=-15)
    return replace(one, body=packer.compress(one.data) + packer.flush() + behind, method=8)


def written(members: Iterable[Member], *, before: bytes = b"", end: bytes = b"", comment: bytes = b"") -> bytes:
    """A zip of ``members``, byte by byte: ``before`` stands at its start, ``end`` between its list and the end."""
    out, lines, count = before, b"", 0
    for one in members:
        body, name = one.data if one.body is None else one.body, one.name.encode()
        sizes = one.sizes or (len(body), len(one.data))
        told = (one.flags, one.method, 0, one.day, zlib.crc32(one.data), *sizes, len(name))
        head = struct.pack("<4s2B4H3L2H", b"PK\3\4", one.version, 0, *told, len(one.head_extra))
        rest = (len(one.list_extra), len(one.comment), 0, 0, one.attributes, len(out))
        line = struct.pack("<4s4B4H3L5H2L", b"PK\1\2", 20, 3, one.version, 0, *told, *rest)
        out += head + name + one.head_extra + body + one.behind
        lines += line + name + one.list_extra + one.comment
        count += 1
    last = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, count, count, len(lines), len(out), len(comment))
    return out + lines + end + last + comment


def rehashed(files: Files) -> dict[str, bytes]:
    """The same with a ``VERIFY.txt`` that lists their hashes."""
    others = {name: data for name, data in files.items() if name not in (VERIFY, SIGNATURE)}
    return {**files, VERIFY: format_verify(others).encode()}


def findings(files: Files, *, with_hashes: bool = True) -> dict[str, str]:
    """What is found in ``files``, by file; with the hashes made to match."""
    found: dict[str, str] = {}
    for finding in verdict_on(rehashed(files) if with_hashes else files).findings:
        found[finding.file] = f"{found.get(finding.file, '')} {finding.what}"
    return found


def changed(text: bytes, row: int, column: str, change: Callable[[str], str]) -> bytes:
    """A CSV with one cell changed."""
    rows = list(csv.reader(io.StringIO(text.decode())))
    place = rows[0].index(column)
    rows[row][place] = change(rows[row][place])
    out = io.StringIO(newline="")
    csv.writer(out).writerows(rows)
    return out.getvalue().encode()


def npy(values: Any) -> bytes:
    """The file of an array, as a transcript holds it."""
    held = io.BytesIO()
    np.lib.format.write_array(held, np.asarray(values), version=(1, 0))
    return held.getvalue()
