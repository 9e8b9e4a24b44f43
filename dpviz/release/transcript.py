"""The transcript of a release: what was asked for, and every answer that was drawn, in the order of the questions.

All of it is released or public. Whoever has it can play the algorithm again without a row: the same questions come, for
the same charges, and the same centres.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpviz.check import RequestError
from dpviz.privacy.accounting import Accounting
from dpviz.privacy.exact_noise import ExactSource, WholeTruth
from dpviz.privacy.mechanisms import Mechanism
from dpviz.privacy.queries import SparseCounts

MOST_BYTES = 5_000_000
"""A longer transcript is not put into the zip; its hash is."""

_FORMAT = 1
# Of all arrays of a file, before they are unpacked.
_MOST_UNPACKED = 500_000_000


@dataclass(frozen=True, eq=False)
class Tape:
    """The answers of one ledger, and the public coins that its questions were asked with."""

    coins: int
    answers: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Transcript:
    """What was ``asked`` in plain values, and a tape for each part of the release, by its name."""

    asked: Mapping[str, Any]
    tapes: Mapping[str, Tape]

    @property
    def sha256(self) -> str:
        """Of everything in it."""
        digest = hashlib.sha256(self._asked().encode())
        for name, values in self._arrays().items():
            digest.update(f"{name} {values.dtype.str} {values.shape}".encode())
            digest.update(np.ascontiguousarray(values).tobytes())
        return digest.hexdigest()

    def to_bytes(self) -> bytes:
        """As ``transcript.npz``; without the answers where they are too long, but with their hash."""
        whole = _npz({"asked": np.array(self._asked()), "sha256": np.array(self.sha256), **self._arrays()})
        if len(whole) <= MOST_BYTES:
            return whole
        return _npz({"asked": np.array(self._asked()), "sha256": np.array(self.sha256)})

    def _asked(self) -> str:
        return json.dumps({"format": _FORMAT, **self.asked}, ensure_ascii=False, allow_nan=False, sort_keys=True)

    def _arrays(self) -> dict[str, np.ndarray[Any, Any]]:
        return dict(
            named
            for part, tape in self.tapes.items()
            for named in (
                (f"{part}/coins", np.array(str(tape.coins))),
                *(one for place, answer in enumerate(tape.answers) for one in _parts(f"{part}/{place:04d}", answer)),
            )
        )


@dataclass(frozen=True, eq=False)
class ReadTranscript:
    """A transcript as a file holds it; ``tapes`` is None where only the hash of the answers was published."""

    asked: Mapping[str, Any]
    tapes: Mapping[str, Tape] | None
    sha256: str

    @property
    def whole(self) -> Transcript | None:
        """With its answers, if the file has them."""
        return None if self.tapes is None else Transcript(self.asked, self.tapes)


def read_transcript(data: bytes) -> ReadTranscript:
    """The transcript in a file that may have been tampered with.

    Raises
    ------
    RequestError
        If it is none, or of a later version.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(member.file_size for member in archive.infolist()) > _MOST_UNPACKED:
                raise ValueError("larger than any transcript")
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            held = {name: file[name] for name in file.files}
        asked = json.loads(str(held.pop("asked")))
        sha256, version = str(held.pop("sha256")), asked.pop("format")
        tapes = _tapes(held) if held else None
    except Exception:  # whatever can go wrong in a damaged file: none of it may stop whoever checks it
        raise RequestError("It is not a transcript as a release writes it: it is damaged, or was changed.") from None
    if version != _FORMAT:
        raise RequestError("It was written by another version of dpviz: check it with that one.")
    return ReadTranscript(asked, tapes, sha256)


class Playback(ExactSource):
    """Plays a tape in place of fresh noise: no truth is looked at, so that no row is needed."""

    def __init__(self, tape: Tape) -> None:
        self.coins = tape.coins
        self._coming: Iterator[Any] = iter(tape.answers)

    def answer(self, mechanism: Mechanism[Any], truth: WholeTruth, accounting: Accounting) -> Any:
        """The next answer on the tape.

        Raises
        ------
        RequestError
            If there is none left.
        """
        for answer in self._coming:
            return answer
        raise RequestError("The transcript ends before the algorithm does.")

    @property
    def is_over(self) -> bool:
        """Whether every answer was asked for."""
        return next(self._coming, self) is self


def _parts(name: str, answer: Any) -> Sequence[tuple[str, np.ndarray[Any, Any]]]:
    if isinstance(answer, SparseCounts):
        return (
            (f"{name}/codes", answer.codes),
            (f"{name}/values", answer.values),
            (f"{name}/universe", np.array(answer.universe)),
        )
    if isinstance(answer, int):
        return ((f"{name}/chosen", np.array(answer)),)
    return ((f"{name}/array", answer),)


def _tapes(held: Mapping[str, np.ndarray[Any, Any]]) -> dict[str, Tape]:
    names = list(dict.fromkeys(name.split("/")[0] for name in held))
    tapes = {}
    for part in names:
        fields: dict[str, dict[str, np.ndarray[Any, Any]]] = {}
        for name, values in held.items():
            if name.startswith(f"{part}/") and name != f"{part}/coins":
                _, place, field = name.split("/")
                fields.setdefault(place, {})[field] = values
        answers = tuple(_answer(fields[place]) for place in sorted(fields))
        tapes[part] = Tape(int(str(held[f"{part}/coins"])), answers)
    return tapes


def _answer(fields: Mapping[str, np.ndarray[Any, Any]]) -> Any:
    if "chosen" in fields:
        return int(fields["chosen"])
    if "array" in fields:
        return fields["array"]
    return SparseCounts(fields["codes"], fields["values"], int(fields["universe"]))


def _npz(arrays: Mapping[str, np.ndarray[Any, Any]]) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()
