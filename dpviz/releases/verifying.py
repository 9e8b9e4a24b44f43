"""Whether a release is what it says, without a row: every file is made again from its transcript, and compared.

The algorithm is played again on the released answers: what it asks, and with which noise, follows from them and from
what was declared. The zip that comes out must be the one that was given, byte for byte; what is said beside that is
where they differ.

What releases that were made before a fault was mended promise today is in ``advisories.yaml``: a small table, which
knows the releases of earlier versions by what their transcripts name.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from dpviz import __version__
from dpviz.core import Accounting, Entry, LossKind, RequestError
from dpviz.releases.noise_check import NoiseVerdict, collect_tallies
from dpviz.releases.package import (
    CANNOT_TELL,
    CARD,
    IN_ORDER,
    LEDGER,
    MOST_BYTES,
    NEEDED,
    SIGNATURE,
    TABLES,
    TRANSCRIPT,
    VERIFY,
    Check,
    Finding,
    add_hashes,
    describe_form,
    format_verify,
    make_zip,
    read_hashes,
    read_members,
)
from dpviz.releases.playing import Played, describe_overspending, play
from dpviz.releases.release_request import hash_code
from dpviz.releases.release_sentences import make_refusal
from dpviz.releases.release_texts import list_card_errors, make_registry_card
from dpviz.releases.render import render_files
from dpviz.releases.signature import sign
from dpviz.releases.transcript import Transcript, read_transcript
from dpviz.words import foreign

PROGRAMS = ("dpviz", "OpenDP")
"""What a transcript names with its version: what made the release, and what drew its noise."""


@dataclass(frozen=True)
class Advisory:
    """A fault of one program ``before`` a version, from ``since`` on.

    It concerns releases with a draw of one of ``losses`` under one of ``accountings``; every release where both are
    empty.
    """

    name: str
    program: str
    before: str
    fault: str
    promise: str
    since: str = "0"
    accountings: tuple[Accounting, ...] = ()
    losses: tuple[LossKind, ...] = ()

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Advisory:
        """As the table says it."""
        texts = {key: str(value).strip() for key, value in said.items() if not isinstance(value, list)}
        accountings = tuple(map(Accounting, said.get("accountings", ())))
        return cls(**texts, accountings=accountings, losses=tuple(map(LossKind, said.get("losses", ()))))

    def concerns(self, versions: Mapping[str, str], entries: Sequence[Entry]) -> bool:
        """Whether it does, of a release by programs of these ``versions`` with these charges."""
        return _order(self.since) <= _order(versions[self.program]) < _order(self.before) and (
            not (self.accountings or self.losses)
            or any(
                entry.accounting in (self.accountings or Accounting) and entry.loss in (self.losses or LossKind)
                for entry in entries
            )
        )

    @property
    def words(self) -> str:
        """What is said of such a release."""
        about = f"Advisory {self.name}, of {self.program} before {self.before}"
        return f"{about}: {self.fault}. Today it promises: {self.promise}."


def _order(version: str) -> tuple[tuple[int, ...], bool]:
    """Where a version stands among others; one before a release (a, b, rc, dev) stands before it."""
    numbers = re.match(r"[\d.]+", version)
    assert numbers is not None
    parts = [int(part) for part in numbers[0].strip(".").split(".")]
    while parts and not parts[-1]:
        parts.pop()
    return tuple(parts), re.search("a|b|rc|dev", version) is None


@cache
def read_advisories() -> tuple[Advisory, ...]:
    """The table."""
    text = Path(__file__).with_name("advisories.yaml").read_text(encoding="utf-8")
    return tuple(map(Advisory.of, yaml.safe_load(text) or ()))


def list_advisories(*, version: str, noise: str, entries: Sequence[Entry]) -> Iterator[str]:
    """What the table knows of a release by dpviz of this ``version`` whose ``noise`` a library of that name drew."""
    versions = dict(zip(PROGRAMS, (version, noise.rpartition(" ")[2]), strict=True))
    for advisory in read_advisories():
        if advisory.concerns(versions, entries):
            yield advisory.words


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
        wrong = [name for name, cell, should in zip(head, row, one, strict=False) if cell != should]
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
        if line != one:
            at = next(
                (at for at, (a, b) in enumerate(zip(line, one, strict=False)) if a != b), min(len(line), len(one))
            )
            around = one[max(0, at - _AROUND) : at + _AROUND].strip()
            return f"line {place} is not what the transcript comes to: “{around}” should stand in it."
    return f"it has {len(lines)} lines, and the transcript comes to {len(due)}."


def _make_printable(text: str) -> str:
    """On one line, and nothing in it that a terminal would obey: it comes from whoever made the file."""
    return "".join(letter if letter.isprintable() else " " for letter in text.strip()[:_LONGEST])


_ZIP = "the zip"
_OTHER_CODE = "it names the version of this program, and source files with another hash: another program made it."
_OTHER_LEGEND = "what it says of its arrays, their names, axes and units, is not what was asked."
_OTHER_ZIP = "it is not the zip that the transcript comes to."


@dataclass(frozen=True)
class Verification:
    """What was checked, a sentence each, what was found to be wrong, the public key of who signed, if anybody, whether
    the answers are as noisy as is claimed, and what is known today of the programs that made it."""

    checked: tuple[str, ...]
    findings: tuple[Finding, ...]
    signer: str | None = None
    noise: str = NoiseVerdict().words
    advisories: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    @property
    def passed(self) -> int:
        """Checks that came out well."""
        return sum(line.startswith("Yes") for line in self.checked)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as ``verify --json`` prints them."""
        return {
            "holds": self.holds,
            "checked": list(self.checked),
            "findings": [finding._asdict() for finding in self.findings],
            "cannot_tell": list(CANNOT_TELL),
            "signed_by": self.signer,
            "noise": self.noise,
            "advisories": list(self.advisories),
            "version": __version__,
        }


def verify(source: str | Path | bytes) -> Verification:
    """The verdict on a zip at a path, or on its bytes.

    Raises
    ------
    RequestError
        If it is no zip of a release at all.
    """
    return examine(source)[0]


verify.__module__ = "dpviz"


def examine(source: str | Path | bytes) -> tuple[Verification, Played | None]:
    """The verdict on a zip, or on its bytes, and what its transcript comes to; None where that cannot be played."""
    data = source if isinstance(source, bytes) else _read(source)
    files, wrong = read_members(data, frozenset(IN_ORDER))
    if VERIFY not in files:
        others = ", ".join(name for name in IN_ORDER if name not in NEEDED)
        raise make_refusal("no_release", needed=", ".join(NEEDED), others=others)
    form = wrong or describe_form(data, make_zip({name: files[name] for name in IN_ORDER if name in files}))
    found = _CheckedFiles(files)
    found.by[Check.FILES] = [*(Finding(_ZIP, f"{words}.") for words in form), *_check_hashes(files)]
    found.play()
    signer = found.signature()
    found.compare(data)
    advisories: tuple[str, ...] = ()
    if (played := found.played) is not None:
        asked, charges = played.asked, played.parts.charges
        advisories = tuple(list_advisories(version=asked.version, noise=asked.noise, entries=charges))
    findings = dict.fromkeys(finding for check in Check for finding in found.by.get(check, ()))
    return Verification(tuple(found.sentences()), (*findings,), signer, found.noise.words, advisories), played


def _read(path: str | Path) -> bytes:
    with foreign.refuse_as(make_refusal("no_zip"), foreign.RELEASE, missing=make_refusal("no_release_file")):
        return foreign.read_bytes(Path(path), MOST_BYTES)


@dataclass
class _CheckedFiles:
    """What the checks have found, and the files ``made`` of the transcript; a check not made is missing in ``by``."""

    files: Mapping[str, bytes]
    by: dict[Check, Sequence[Finding]] = field(default_factory=dict)
    played: Played | None = None
    made: Mapping[str, bytes] = field(default_factory=dict)
    noise: NoiseVerdict = field(default_factory=NoiseVerdict)
    untold: set[Check] = field(default_factory=set)

    def play(self) -> None:
        """Everything that follows from the transcript."""
        try:
            played, self.made = _check_making(read_transcript(self.files.get(TRANSCRIPT, b"")).whole)
        except RequestError as error:
            self.by[Check.PLAYED] = [Finding(TRANSCRIPT, str(error) if TRANSCRIPT in self.files else "is missing.")]
            return
        self.played = played
        self.by[Check.PLAYED] = list(_check_answers(played, self.files.get(CARD, b"")))
        self.by[Check.SUMS] = [
            Finding(LEDGER, words)
            for words in describe_overspending(played.parts, played.shares, epsilon=played.epsilon, delta=played.delta)
        ]
        self.compare_claims(played)
        # The card that should be there: whether the one in the zip is the same was compared.
        self.by[Check.CARD] = [Finding(CARD, error) for error in list_card_errors(make_registry_card(played))]

    def compare(self, data: bytes) -> None:
        """The whole zip with the one that should be there; where they differ, file by file, what does."""
        if self.played is None:
            return
        signed = {SIGNATURE: self.files[SIGNATURE]} if SIGNATURE in self.files and not self.by[Check.SIGNATURE] else {}
        made = {**self.made, VERIFY: format_verify(self.made, version=self.played.asked.version).encode()}
        self.by[Check.SAME] = []
        if data == make_zip({**made, **signed}):
            return
        # Hashes of other files are told as such: here they count as they are listed.
        listed = read_hashes(self.files[VERIFY].decode("utf-8", errors="replace"))
        hashes = {name: listed[name] for name in self.made if name in listed}
        made[VERIFY] = add_hashes(hashes, version=self.played.asked.version).encode()
        found = list(_compare_files(self.files, made)) or list(self.by[Check.FILES])
        if not found and not any(self.by.values()):
            found = [Finding(_ZIP, _OTHER_ZIP)]
        if found and self.played.asked.version != __version__:
            words = f"it was made by dpviz {self.played.asked.version}, and this is {__version__}"
            found = [*found, Finding(TRANSCRIPT, f"{words}: check it with that one, too.")]
        self.by[Check.SAME] = found

    def compare_claims(self, played: Played) -> None:
        """The noise against that which is claimed, and the program that is named against this one."""
        self.noise = collect_tallies(played.given).judge()
        self.by[Check.NOISE] = [Finding(TRANSCRIPT, words) for words in self.noise.found]
        same = played.asked.version == __version__
        self.by[Check.CODE] = [Finding(TRANSCRIPT, _OTHER_CODE)] if same and played.asked.code != hash_code() else []
        self.untold |= set() if self.noise.told else {Check.NOISE}
        self.untold |= set() if same else {Check.CODE}

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

    def sentences(self) -> Iterator[str]:
        """What was checked, and how it came out."""
        for check in Check:
            if check in self.by:
                passed = "Cannot be told" if check in self.untold else "Yes"
                yield f"{'Not so' if self.by[check] else passed}: {check.value}"
            elif check is not Check.SIGNATURE:
                yield f"Not checked: {check.value}"


def _check_making(transcript: Transcript) -> tuple[Played, dict[str, bytes]]:
    try:
        played = play(transcript)
        return played, render_files(played)
    except RequestError as error:
        raise make_refusal("not_played", error=error) from None
    except MemoryError:
        raise
    except Exception as error:  # answers of other shapes, or none that a plan could go on with
        raise make_refusal("not_played_at_all", why=type(error).__name__) from None


def _check_hashes(files: Mapping[str, bytes]) -> Iterator[Finding]:
    """Every file against the hash that is listed for it."""
    listed = read_hashes(files[VERIFY].decode("utf-8", errors="replace"))
    if not set(listed) <= {*IN_ORDER} - {VERIFY, SIGNATURE}:
        yield Finding(VERIFY, "it lists a file that is none of a release.")
    yield from (Finding(name, "is missing.") for name in NEEDED if name not in files)
    for name, data in files.items():
        if name in (VERIFY, SIGNATURE):
            continue
        if name not in listed:
            yield Finding(name, f"is not listed in {VERIFY}.")
        elif hashlib.sha256(data).hexdigest() != listed[name]:
            yield Finding(name, f"is not the file whose hash {VERIFY} lists: it was changed.")


def _check_answers(played: Played, card: bytes) -> Iterator[Finding]:
    """The transcript itself: its hash, and that every answer of it is asked for."""
    if played.transcript.sha256.encode() not in card:
        yield Finding(TRANSCRIPT, f"its hash is not the one that {CARD} names.")
    for part in played.unasked:
        yield Finding(TRANSCRIPT, f"it holds answers of the part {part} that the plan does not ask for.")


def _compare_files(files: Mapping[str, bytes], made: Mapping[str, bytes]) -> Iterator[Finding]:
    """Every file against the one that the transcript comes to."""
    for name, due in made.items():
        if name not in files:
            yield Finding(name, "is missing.")
        elif name != TRANSCRIPT:
            yield from (Finding(name, words) for words in list_differences(files[name], due, table=name in TABLES))
        elif files[name] != due:  # which was read, written again, and the same: the legend alone is nobody's answer
            yield Finding(name, _OTHER_LEGEND)
    for name in files:
        if name not in (*made, SIGNATURE):
            yield Finding(name, "is no file of this release.")
