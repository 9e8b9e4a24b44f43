"""Whether a release is what it says, without a row: every file is made again from its transcript, and compared.

The algorithm is played again on the released answers: what it asks, and with which noise, follows from them and from
what was declared. Whatever is written in the files must be what comes out.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isclose
from pathlib import Path
from typing import Any, NamedTuple

from dpviz import __version__
from dpviz.core import RequestError
from dpviz.releases.package import (
    CANNOT_TELL,
    CARD,
    LEDGER,
    MAY_BE_THERE,
    MOST_BYTES,
    NEEDED,
    SEGMENTS_FILE,
    SIGNATURE,
    TABLES,
    TRANSCRIPT,
    VERIFY,
    Check,
    Finding,
    add_hashes,
    make_unreadable_error,
    read_hashes,
    read_members,
)
from dpviz.releases.playing import Played, describe_overspending, play
from dpviz.releases.registry_card import make_registry_card
from dpviz.releases.registry_check import list_card_errors
from dpviz.releases.render import collect_facts, make_legend, render_files
from dpviz.releases.signature import sign
from dpviz.releases.transcript import Transcript, read_transcript
from dpviz.words import foreign

# A decimal number that stands alone; only one of more digits than these may differ behind them.
_DECIMAL = re.compile(r"(?<![\w.])([-−]?\d+\.\d+(?:e[-+]?\d+)?)(?![\w.])")
_DIGITS, _CLOSE = 9, 1e-9
_MOST_DIFFERENCES, _AROUND, _LONGEST = 20, 24, 80
# Bytes beyond twice as many as there should be: what is longer is not looked into.
_ROOM = 4_096


def list_differences(here: bytes, due: bytes, *, table: bool) -> Iterator[str]:
    """What is wrong with ``here``, a phrase each that says where; nothing where it is ``due``."""
    if here == due:
        return
    if len(here) > 2 * len(due) + _ROOM:
        yield f"it is {len(here):,} bytes long, and the transcript comes to {len(due):,}."
        return
    try:
        text = here.decode("utf-8")
    except UnicodeDecodeError:
        yield "it is not text in UTF-8."
        return
    wanted = due.decode("utf-8")
    if _is_same(text, wanted):
        return
    found = list(_compare_cells(text, wanted)) if table else []
    yield from found[:_MOST_DIFFERENCES]
    if len(found) > _MOST_DIFFERENCES:
        yield f"and {len(found) - _MOST_DIFFERENCES} more differences."
    if not found:
        yield _compare_lines(text, wanted)


def _compare_cells(text: str, wanted: str) -> Iterator[str]:
    try:
        rows = list(csv.reader(io.StringIO(text, newline="")))
    except csv.Error:
        yield "it is not CSV as a release writes it."
        return
    head, *expected = csv.reader(io.StringIO(wanted, newline=""))
    if rows[:1] != [head]:
        yield "its columns are not those of the release."
        return
    for place, (row, one) in enumerate(zip(rows[1:], expected, strict=False), start=2):
        wrong = [name for name, cell, should in zip(head, row, one, strict=False) if not _is_same(cell, should)]
        if wrong or len(row) != len(one):
            about = _make_printable(", ".join(filter(None, one[:3])))
            what = _make_printable(", ".join(wrong)) or "its length"
            yield f"line {place} ({about}): {what} is not what was released."
    if len(rows) != len(expected) + 1:
        yield f"it has {len(rows)} lines, and the transcript comes to {len(expected) + 1}."


def _compare_lines(text: str, wanted: str) -> str:
    """The first place that differs, with what should stand there; of the file, nothing is printed."""
    lines, due = text.split("\n"), wanted.split("\n")
    for place, (line, one) in enumerate(zip(lines, due, strict=False), start=1):
        if not _is_same(line, one):
            at = next(
                (at for at, (a, b) in enumerate(zip(line, one, strict=False)) if a != b), min(len(line), len(one))
            )
            around = one[max(0, at - _AROUND) : at + _AROUND].strip()
            return f"line {place} is not what the transcript comes to: “{around}” should stand in it."
    return f"it has {len(lines)} lines, and the transcript comes to {len(due)}."


def _make_printable(text: str) -> str:
    """On one line, and nothing in it that a terminal would obey: it comes from whoever made the file."""
    short = text.strip()[:_LONGEST]
    return "".join(letter if letter.isprintable() else " " for letter in short)


def _is_same(text: str, wanted: str) -> bool:
    """Whether they are the same but for digits behind the ninth of a long decimal number."""
    if text == wanted:
        return True
    here, due = _DECIMAL.split(text), _DECIMAL.split(wanted)
    return len(here) == len(due) and all(
        one == other or (place % 2 == 1 and _is_close(one, other))
        for place, (one, other) in enumerate(zip(here, due, strict=True))
    )


def _is_close(text: str, wanted: str) -> bool:
    digits = re.sub(r"e.*|\D", "", wanted).lstrip("0")
    if len(digits) <= _DIGITS:
        return False
    return isclose(float(text.replace("−", "-")), float(wanted.replace("−", "-")), rel_tol=_CLOSE, abs_tol=0.0)


_ZIP = "the zip"
_OTHER_LEGEND = "what it says of its arrays, their names, axes and units, is not what was asked."


@dataclass(frozen=True)
class Verification:
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


class Examined(NamedTuple):
    """The verdict on a zip, and what its transcript comes to; None where that cannot be played."""

    verdict: Verification
    played: Played | None


def verify(source: Path | bytes) -> Verification:
    """The verdict on a zip, or on its bytes.

    Raises
    ------
    RequestError
        If it is no zip of a release at all.
    """
    return examine(source).verdict


verify.__module__ = "dpviz"


def examine(source: Path | bytes) -> Examined:
    """The verdict on a zip, or on its bytes, and the release that its answers come to."""
    data = source if isinstance(source, bytes) else _read(source)
    files, wrong = read_members(data, MAY_BE_THERE)
    if VERIFY not in files:
        raise RequestError(
            f"It is not the zip of a release: it should hold {', '.join(NEEDED)}, and nothing else but "
            f"{SEGMENTS_FILE} and {SIGNATURE}."
        )
    found = _CheckedFiles(files)
    found.by[Check.FILES] = [*(Finding(_ZIP, f"{words}.") for words in wrong), *_check_hashes(files)]
    found.play()
    signer = found.signature()
    return Examined(Verification(tuple(found.sentences()), tuple(found.all()), signer), found.played)


def _read(path: Path) -> bytes:
    missing = RequestError("There is no file at that path: give the zip of a release.")
    with foreign.refuse_as(make_unreadable_error(), missing=missing):
        return foreign.read_bytes(path, MOST_BYTES)


@dataclass
class _CheckedFiles:
    """What the checks have found; a check that could not be made is missing in ``by``."""

    files: Mapping[str, bytes]
    by: dict[Check, Sequence[Finding]] = field(default_factory=dict)
    played: Played | None = None

    def play(self) -> None:
        """Everything that follows from the transcript."""
        try:
            read = read_transcript(self.files.get(TRANSCRIPT, b""))
            played, made = _check_making(read.whole)
            listed = read_hashes(self.files[VERIFY].decode("utf-8", errors="replace"))
            made[VERIFY] = add_hashes(listed, version=played.asked.version).encode("utf-8")
        except RequestError as error:
            what = str(error) if TRANSCRIPT in self.files else "is missing."
            self.by[Check.PLAYED] = [Finding(TRANSCRIPT, what)]
            return
        self.played = played
        self.by[Check.PLAYED] = list(_check_answers(played, read.said_sha256, self.files.get(CARD, b"")))
        self.by[Check.SAME] = list(_compare_files(self.files, made))
        due = make_legend(played.transcript, played.parts)
        if next(list_differences(read.said_legend.encode(), due.encode(), table=False), None) is not None:
            self.by[Check.SAME] = [*self.by[Check.SAME], Finding(TRANSCRIPT, _OTHER_LEGEND)]
        charged = played.asked.account
        self.by[Check.SUMS] = [
            Finding(LEDGER, words)
            for words in describe_overspending(
                played.parts, played.shares, epsilon=charged.charged_epsilon, delta=charged.charged_delta
            )
        ]
        # The card that should be there: whether the one in the zip is the same was compared.
        self.by[Check.CARD] = [
            Finding(CARD, error) for error in list_card_errors(make_registry_card(collect_facts(played)))
        ]
        if played.asked.version != __version__ and self.by[Check.SAME]:
            words = (
                f"it was made by dpviz {played.asked.version}, and this is {__version__}: check it with that one, too."
            )
            self.by[Check.SAME] = [*self.by[Check.SAME], Finding(TRANSCRIPT, words)]

    def signature(self) -> str | None:
        """The key of who signed, if anybody."""
        if SIGNATURE not in self.files:
            return None
        try:
            signer = sign(self.files[VERIFY], self.files[SIGNATURE])
        except RequestError as error:
            self.by[Check.SIGNATURE] = [Finding(SIGNATURE, str(error))]
            return None
        self.by[Check.SIGNATURE] = []
        return signer

    def all(self) -> Iterator[Finding]:
        """Every finding, once."""
        yield from dict.fromkeys(finding for check in Check for finding in self.by.get(check, ()))

    def sentences(self) -> Iterator[str]:
        """What was checked, and how it came out."""
        for check in Check:
            if check in self.by:
                yield f"{'Not so' if self.by[check] else 'Yes'}: {check.value}"
            elif check is not Check.SIGNATURE:
                yield f"Not checked: {check.value}"


def _check_making(transcript: Transcript) -> tuple[Played, dict[str, bytes]]:
    try:
        played = play(transcript)
        return played, render_files(played)
    except RequestError as error:
        raise RequestError(f"the plan cannot be played on it: {error}") from None
    except Exception as error:  # answers of other shapes, or none that a plan could go on with
        raise RequestError(f"the plan cannot be played on it ({type(error).__name__}).") from None


def _check_hashes(files: Mapping[str, bytes]) -> Iterator[Finding]:
    """Every file against the hash that is listed for it."""
    listed = read_hashes(files[VERIFY].decode("utf-8", errors="replace"))
    if not set(listed) <= MAY_BE_THERE - {VERIFY, SIGNATURE}:
        yield Finding(VERIFY, "it lists a file that is none of a release.")
    yield from (Finding(name, "is missing.") for name in NEEDED if name not in files)
    for name, data in files.items():
        if name in (VERIFY, SIGNATURE):
            continue
        if name not in listed:
            yield Finding(name, f"is not listed in {VERIFY}.")
        elif hashlib.sha256(data).hexdigest() != listed[name]:
            yield Finding(name, f"is not the file whose hash {VERIFY} lists: it was changed.")


def _check_answers(played: Played, said_sha256: str, card: bytes) -> Iterator[Finding]:
    """The transcript itself: its hash, and that every answer of it is asked for."""
    if played.transcript.sha256.encode() not in card:
        yield Finding(TRANSCRIPT, f"its hash is not the one that {CARD} names.")
    if played.transcript.sha256 != said_sha256:
        yield Finding(TRANSCRIPT, "an answer in it is not the one that was released: its hash is another.")
    for part in played.unasked:
        yield Finding(TRANSCRIPT, f"it holds answers of the part {part} that the plan does not ask for.")


def _compare_files(files: Mapping[str, bytes], made: Mapping[str, bytes]) -> Iterator[Finding]:
    """Every file against the one that the transcript comes to."""
    for name, due in made.items():
        if name not in files:
            yield Finding(name, "is missing.")
            continue
        yield from (Finding(name, words) for words in list_differences(files[name], due, table=name in TABLES))
    for name in files:
        if name not in (*made, TRANSCRIPT, SIGNATURE):
            yield Finding(name, "is no file of this release.")
