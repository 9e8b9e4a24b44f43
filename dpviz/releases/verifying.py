"""Whether a release is what it says, without a row: every file is made again from its transcript, and compared.

The algorithm is played again on the released answers: what it asks, and with which noise, follows from them and from
what was declared. Whatever is written in the files must be what comes out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from dpviz import __version__
from dpviz.core import RequestError
from dpviz.releases.checks import CANNOT_TELL, Check, Finding
from dpviz.releases.comparing import list_differences
from dpviz.releases.legend import make_legend
from dpviz.releases.package import (
    CARD,
    CENTERS,
    LEDGER,
    MAY_BE_THERE,
    NEEDED,
    SEGMENTS_FILE,
    SIGNATURE,
    TRANSCRIPT,
    VERIFY,
    add_hashes,
    read_hashes,
)
from dpviz.releases.playing import Played, describe_overspending, play
from dpviz.releases.registry_card import make_registry_card
from dpviz.releases.registry_check import list_card_errors
from dpviz.releases.render import collect_facts, render_files
from dpviz.releases.signature import sign
from dpviz.releases.transcript import Transcript, read_transcript
from dpviz.releases.zips import MOST_BYTES, make_unreadable_error, read_members
from dpviz.words import read_bytes, refuse_as

_ZIP = "the zip"
_OTHER_LEGEND = "what it says of its arrays, their names, axes and units, is not what was asked."
_TABLES = (CENTERS, SEGMENTS_FILE, LEDGER)


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
    """The verdict on a zip, or on its bytes, and the release that its answers come to.

    Raises
    ------
    RequestError
        If it is no zip of a release at all.
    """
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
    with refuse_as(make_unreadable_error(), missing=missing):
        return read_bytes(path, MOST_BYTES)


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
        yield from (Finding(name, words) for words in list_differences(files[name], due, table=name in _TABLES))
    for name in files:
        if name not in (*made, TRANSCRIPT, SIGNATURE):
            yield Finding(name, "is no file of this release.")
