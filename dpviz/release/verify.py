"""Whether a release is what it says, without a row: hashes, the ledger, every noise scale, the centres, the card.

The algorithm is played again on the released answers: what it asks, and with which noise, follows from them and from
what was declared. Whatever is written in the files must be what comes out.
"""

from __future__ import annotations

import csv
import hashlib
import io
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from math import isclose
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml

from dpviz import __version__
from dpviz.check import RequestError
from dpviz.privacy.ledger import total_epsilon
from dpviz.privacy.readdition import independent_epsilon
from dpviz.release.card_facts import Part
from dpviz.release.order import Order, words_for
from dpviz.release.package import (
    CARD,
    CENTERS,
    DECLARATION,
    LEDGER,
    NEEDED,
    SEGMENTS,
    SIGNATURE,
    TRANSCRIPT,
    VERIFY,
    centers_csv,
    hashes_in,
    ledger_csv,
)
from dpviz.release.registry_check import card_errors
from dpviz.release.release_parts import Parts, all_parts, content_without_rows, tables_without_rows
from dpviz.release.signature import signed_by
from dpviz.release.transcript import Playback, ReadTranscript, Transcript, read_transcript
from dpviz.runs.request import Contender, Request
from dpviz.table.declaration import Declaration
from dpviz.table.loaded_table import IntakeError
from dpviz.table.sidecar import declaration_in

MOST_BYTES = 50_000_000
"""Of a file in the zip, unpacked: more is no release."""

CANNOT_TELL = (
    "that the noise was honestly drawn, and by the version that is named",
    "that bounds, n and the other declarations came from nowhere near the rows, or what was looked at",
    "that nothing else was released about the same people",
)
"""What nobody can tell from the files."""

Check = Callable[[Mapping[str, bytes]], Iterator["Finding"]]

# Two machines may differ in the last bits of what is computed from released numbers.
_CLOSE = 1e-9


class Finding(NamedTuple):
    """Something that is wrong: in which file, and what."""

    file: str
    what: str


@dataclass(frozen=True)
class Verdict:
    """What was checked, a sentence each, what was found to be wrong, and the public key of who signed, if anybody."""

    checked: tuple[str, ...]
    findings: tuple[Finding, ...]
    signer: str | None = None

    @property
    def holds(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as ``verify --json`` prints them."""
        return {
            "holds": self.holds,
            "checked": list(self.checked),
            "findings": [finding._asdict() for finding in self.findings],
            "cannot_tell": list(CANNOT_TELL),
            "signed_by": self.signer,
            "version": __version__,
        }


def verify(source: Path | bytes) -> Verdict:
    """The verdict on a zip, or on its bytes.

    Raises
    ------
    RequestError
        If it is no zip of a release at all.
    """
    return _verified(_unpacked(source))


def _unpacked(source: Path | bytes) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(io.BytesIO(source) if isinstance(source, bytes) else source) as archive:
            members = archive.infolist()
            allowed = {*NEEDED, SEGMENTS, SIGNATURE}
            names = [member.filename for member in members]
            if len(set(names)) < len(names) or not set(names) <= allowed or VERIFY not in names:
                raise RequestError(
                    f"It is not the zip of a release: it should hold {', '.join(NEEDED)}, and nothing else but "
                    f"{SEGMENTS} and {SIGNATURE}."
                )
            if any(member.file_size > MOST_BYTES for member in members):
                raise RequestError("A file in it is larger than any release has: it is not the zip of a release.")
            return {name: archive.read(name) for name in names}
    except RequestError:
        raise
    except FileNotFoundError:
        raise RequestError("There is no file at that path: give the zip of a release.") from None
    except (OSError, ValueError, zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError):
        raise RequestError("It cannot be read as a zip: it is damaged, or no release.") from None


def _verified(files: Mapping[str, bytes]) -> Verdict:
    checked: list[str] = []
    findings: list[Finding] = []
    for name, check in _CHECKS.items():
        found = list(_guarded(check, files))
        findings += [finding for finding in found if finding not in findings]
        checked.append(f"{name}: {'as it should be' if not found else 'not as it should be'}")
    signer = None
    if SIGNATURE in files:
        try:
            signer = signed_by(files[VERIFY], files[SIGNATURE])
            checked.append(f"Signature: by the key {signer}; whose it is, its owner has to say elsewhere")
        except RequestError as error:
            findings.append(Finding(SIGNATURE, str(error)))
    return Verdict(tuple(checked), tuple(findings), signer)


def _guarded(
    check: Callable[[Mapping[str, bytes]], Iterator[Finding]], files: Mapping[str, bytes]
) -> Iterator[Finding]:
    """What a check finds; files that cannot be read are a finding and no error."""
    try:
        yield from check(files)
    except _Unreadable as error:
        yield Finding(error.file, str(error))
    except KeyError as missing:
        yield Finding(str(missing.args[0]), "is missing.")


class _Unreadable(Exception):
    def __init__(self, file: str, what: str) -> None:
        super().__init__(what)
        self.file = file


def _hashes(files: Mapping[str, bytes]) -> Iterator[Finding]:
    try:
        listed = hashes_in(files[VERIFY].decode("utf-8", errors="replace"))
    except RequestError as error:
        yield Finding(VERIFY, str(error))
        return
    for name in NEEDED:
        if name not in files:
            yield Finding(name, "is missing.")
    for name, data in files.items():
        if name in (VERIFY, SIGNATURE):
            continue
        if name not in listed:
            yield Finding(name, f"is not listed in {VERIFY}.")
        elif hashlib.sha256(data).hexdigest() != listed[name]:
            yield Finding(name, f"is not the file whose hash {VERIFY} lists: it was changed.")


def _declaration(files: Mapping[str, bytes]) -> Iterator[Finding]:
    """The declaration against the one that the transcript was made with."""
    here = _read_declaration(files[DECLARATION].decode("utf-8", errors="replace"), DECLARATION)
    there = _read_declaration(_transcript(files).asked["declaration"], TRANSCRIPT)
    yield from _bounds_that_were_bought(files, there)
    for name in dict.fromkeys((*here.columns, *there.columns)):
        if here.bounds.get(name) != there.bounds.get(name):
            yield Finding(DECLARATION, f"the bounds of column {name!r} are not those that the release was made with.")
    if here != there and here.bounds == there.bounds:
        yield Finding(DECLARATION, "it does not declare what the release was made with.")


def _bounds_that_were_bought(files: Mapping[str, bytes], written: Declaration) -> Iterator[Finding]:
    played = _played(files)
    for name, due in ({} if played is None else played.parts.declaration.bounds).items():
        if written.bounds.get(name) != due:
            yield Finding(TRANSCRIPT, f"the bounds of column {name!r} are not those that were declared or bought.")


def _ledger(files: Mapping[str, bytes]) -> Iterator[Finding]:
    """The ledger as it is written, against the one that the plan comes to on the transcript."""
    written = list(csv.DictReader(io.StringIO(files[LEDGER].decode("utf-8", errors="replace"))))
    played = _played(files)
    if played is None:
        return
    expected = list(csv.DictReader(io.StringIO(ledger_csv(played.parts.entries))))
    for place, (row, due) in enumerate(zip(written, expected, strict=False), start=1):
        for name, value in due.items():
            if not _same(row.get(name), value):
                yield Finding(LEDGER, f"row {place} ({due['note']}): {name} is not what the plan prescribes.")
    if len(written) != len(expected):
        yield Finding(LEDGER, f"it has {len(written)} rows, and the plan spends in {len(expected)}.")


def _sums(files: Mapping[str, bytes]) -> Iterator[Finding]:
    """The ledger of each part added up again, by an independent library too."""
    played = _played(files)
    if played is None:
        return
    for part, entries in played.parts.entries.items():
        share = played.shares[part]
        spent = total_epsilon(entries[0].accounting, entries, delta=share.delta)
        again = independent_epsilon(entries, delta=share.delta)
        if spent > share.epsilon * (1 + _CLOSE) or (again is not None and again > share.epsilon * (1 + 1e-6)):
            yield Finding(LEDGER, f"the part {part} adds up to more than its share of ε.")


def _centers(files: Mapping[str, bytes]) -> Iterator[Finding]:
    """The centres: inside the bounds, on their grid, and what the transcript comes to."""
    rows = list(csv.reader(io.StringIO(files[CENTERS].decode("utf-8", errors="replace"))))
    declared = _read_declaration(files[DECLARATION].decode("utf-8", errors="replace"), DECLARATION)
    names = list(declared.columns)
    if not rows or rows[0][1 : 1 + len(names)] != names:
        yield Finding(CENTERS, "its columns are not those that are declared.")
        return
    yield from _outside(rows[1:], declared)
    played = _played(files)
    if played is None:
        return
    found = played.parts.clustered
    run = found.run
    sizes = None if run.noisy_weights is None else np.rint(run.noisy_weights)
    due = list(csv.reader(io.StringIO(centers_csv(run.domain.columns, found.published, sizes))))
    if len(rows) != len(due):
        yield Finding(CENTERS, f"it has {len(rows) - 1} centres, and the transcript comes to {len(due) - 1}.")
    for place, (row, expected) in enumerate(zip(rows, due, strict=False)):
        wrong = [name for name, one, other in zip(due[0], row, expected, strict=False) if not _same(one, other)]
        if len(row) != len(expected) or wrong:
            at = ", ".join(wrong) or "its length"
            yield Finding(CENTERS, f"centre {place}: {at} is not what the transcript comes to, on its rounding grid.")


def _outside(rows: Sequence[Sequence[str]], declared: Declaration) -> Iterator[Finding]:
    for place, row in enumerate(rows, start=1):
        for name, text in zip(declared.columns, row[1:], strict=False):
            low, high, _ = declared.bounds[name]
            value = _float(text)
            if value is None or low is None or high is None or not low <= value <= high:
                yield Finding(CENTERS, f"centre {place}: {name} lies outside its bounds.")


def _tapes(files: Mapping[str, bytes]) -> Iterator[Finding]:
    """The transcript itself: its hash, and that the plan asks for every answer of it, and for no other."""
    read = _transcript(files)
    whole = read.whole
    if whole is not None and whole.sha256 != read.sha256:
        yield Finding(TRANSCRIPT, "an answer in it is not the one that was released: its hash is another.")
    card = files[CARD].decode("utf-8", errors="replace")
    if read.sha256 not in card:
        yield Finding(TRANSCRIPT, f"its hash is not the one that {CARD} names.")
    played = _played(files)
    for part in () if played is None else played.unasked:
        yield Finding(TRANSCRIPT, f"it holds answers of the part {part} that the plan does not ask for.")


def _segments(files: Mapping[str, bytes]) -> Iterator[Finding]:
    """What is said of segments, line by line."""
    played = _played(files)
    if played is None:
        return
    due = list(csv.reader(io.StringIO(played.parts.segments_csv)))
    text = files[SEGMENTS].decode("utf-8", errors="replace") if SEGMENTS in files else ""
    rows = list(csv.reader(io.StringIO(text)))
    if len(rows) != len(due):
        yield Finding(SEGMENTS, f"it has {len(rows)} lines, and the transcript comes to {len(due)}.")
    for place, (row, expected) in enumerate(zip(rows, due, strict=False), start=1):
        if len(row) != len(expected) or not all(_same(one, other) for one, other in zip(row, expected, strict=True)):
            yield Finding(SEGMENTS, f"line {place} ({', '.join(filter(None, expected[:3]))}) is not what was released.")


def _card(files: Mapping[str, bytes]) -> Iterator[Finding]:
    try:
        card = yaml.safe_load(files[CARD].decode("utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError):
        raise _Unreadable(CARD, "it is not YAML in UTF-8.") from None
    for error in card_errors(card):
        yield Finding(CARD, error)


_CHECKS: Mapping[str, Check] = {
    "Hashes": _hashes,
    "Declaration": _declaration,
    "Every noise scale, by playing the plan on the transcript": _ledger,
    "The ledger, added up again": _sums,
    "Centres, inside their bounds and on their grid": _centers,
    "Segments, from what was released": _segments,
    "Transcript": _tapes,
    "Card, as the registry wants it": _card,
}


@dataclass(frozen=True, eq=False)
class Played:
    """What a release comes to, played again: its parts, and those whose tape holds more than the plan asks for."""

    shares: Mapping[str, Part]
    parts: Parts
    unasked: tuple[str, ...]


def _played(files: Mapping[str, bytes]) -> Played | None:
    """Every part played on its tape over a table without rows; None where answers are not in the file."""
    return _played_on(files[TRANSCRIPT])


@lru_cache(maxsize=1)
def _played_on(data: bytes) -> Played | None:
    try:
        whole = read_transcript(data).whole
        return None if whole is None else play(whole)
    except RequestError as error:
        raise _Unreadable(TRANSCRIPT, f"the plan cannot be played on it: {error}") from None
    except Exception as error:  # answers of other shapes, or none that a plan could go on with
        raise _Unreadable(TRANSCRIPT, f"the plan cannot be played on it ({type(error).__name__}).") from None


def play(transcript: Transcript) -> Played:
    """What each part of a release comes to on its tape, over tables without rows.

    Raises
    ------
    RequestError
        If the tapes or what was asked do not fit the plan.
    """
    asked = transcript.asked
    declared = declaration_in(asked["declared"]).checked()
    said = asked["request"]
    contender = Contender.checked(said["algorithm"], said["parameters"])
    request = Request(contender, said["k"], said["epsilon"], said["delta"])
    shares = {name: asked[name] for name in ("segments", "bounds", "missing")}
    order = Order(request, words_for(declared, today=asked["date"]), **shares)
    players = {part: Playback(tape) for part, tape in transcript.tapes.items()}
    tables = partial(tables_without_rows, n_public=asked["n_public"])
    parts = all_parts(order, declared, players, content_without_rows(declared), tables)
    unasked = tuple(part for part, player in players.items() if not player.is_over)
    return Played(order.shares(declared), parts, unasked)


def _transcript(files: Mapping[str, bytes]) -> ReadTranscript:
    try:
        return read_transcript(files[TRANSCRIPT])
    except RequestError as error:
        raise _Unreadable(TRANSCRIPT, str(error)) from None


def _read_declaration(text: str, file: str) -> Declaration:
    try:
        return declaration_in(text).checked()
    except IntakeError as error:
        raise _Unreadable(file, str(error)) from None


def _same(one: str | None, other: str) -> bool:
    if one == other:
        return True
    here, there = _float(one), _float(other)
    return here is not None and there is not None and isclose(here, there, rel_tol=_CLOSE, abs_tol=0.0)


def _float(text: str | None) -> float | None:
    try:
        return float(text) if text is not None else None
    except ValueError:
        return None
