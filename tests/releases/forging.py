"""A release that is made once, and what ``verify`` finds in forged copies of it."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from dpviz.releases import verifying
from dpviz.releases.package import SIGNATURE, VERIFY, format_verify, make_zip
from dpviz.releases.playing import Played
from dpviz.releases.releasing import publish
from dpviz.releases.transcript import Transcript
from dpviz.releases.verifying import Verification, verify
from tests.releases.people import ready_in

Files = Mapping[str, bytes]


@cache
def released() -> Files:
    """The files of a release with segments."""
    with TemporaryDirectory() as folder:
        return publish(ready_in(Path(folder), segments=0.2)).files


_really_made = verifying._check_making
_made: dict[str, tuple[Played, dict[str, bytes]]] = {}


def _made_once(transcript: Transcript) -> tuple[Played, dict[str, bytes]]:
    """Playing follows from the transcript alone: copies with the same one are compared with the same files."""
    if transcript.sha256 not in _made:
        _made[transcript.sha256] = _really_made(transcript)
    played, files = _made[transcript.sha256]
    return played, dict(files)


def verdict_on(files: Files) -> Verification:
    """What ``verify`` says of a zip of these files."""
    with patch.object(verifying, "_check_making", _made_once):
        verdict = verify(make_zip(files))
    assert verdict.holds == (not verdict.findings)
    return verdict


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
