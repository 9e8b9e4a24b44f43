"""Zips: how ours are packed, and what is in one from anybody, with whatever in it is none of a release's files.

Nothing that a zip says of itself is believed: not how large a file is, nor where one ends.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from typing import NamedTuple

from dpviz.core import RequestError
from dpviz.words import refuse_as

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
    """What is in the zip ``data``; of files that are not among ``only``, none is unpacked.

    Parameters
    ----------
    data : bytes
        The bytes of a zip.
    only : set of str or None
        Names of files that are unpacked; None: all.

    Returns
    -------
    Members
        Bytes by name.

    Raises
    ------
    RequestError
        If it cannot be read as a zip, or unpacks to more than any release.
    """
    if len(data) > MOST_BYTES:
        raise RequestError("It is larger than any release: it is not the zip of a release.")
    with refuse_as(make_unreadable_error()), zipfile.ZipFile(io.BytesIO(data)) as archive:
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
