"""The transcript of a release: what was asked for, and every answer that was drawn, in the order of the questions.

All of it is released or public. Whoever has it can play the algorithm again without a row: the same questions come, for
the same charges, and the same files.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

import numpy as np

from dpviz.core import Accounting, ExactSource, RequestError, WholeTruth, mechanisms, queries
from dpviz.releases.package import make_zip, read_members

_FORMAT = 3
_OLDER = "It was written by an older dpviz: check it with that one, and release anew to read it with this one."
_NEWER = "It was written by a newer dpviz than this one: update dpviz, and try again."
_DAMAGED = "It is not a transcript as a release writes it: it is damaged, or was changed."
# Of the text that heads an array: names and shapes are short.
_LONGEST_HEADER = 1_000


@dataclass(frozen=True, eq=False)
class AnswerRecording:
    """The answers of one ledger, and the public coins that its questions were asked with."""

    coins: int
    answers: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Transcript:
    """What was ``asked`` in plain values (see ``Asked``), and a recording for each part of the release, by its name."""

    asked: Mapping[str, Any]
    recordings: Mapping[str, AnswerRecording]

    @property
    def sha256(self) -> str:
        """Of everything in it."""
        digest = hashlib.sha256(self.asked_text.encode())
        for name, values in self.arrays().items():
            digest.update(f"{name} {values.dtype.str} {values.shape}".encode())
            digest.update(np.ascontiguousarray(values).tobytes())
        return digest.hexdigest()

    def to_bytes(self, legend: str) -> bytes:
        """As ``transcript.npz``, with a ``legend`` of its arrays (see ``make_legend``)."""
        texts = {"asked": np.array(self.asked_text), "sha256": np.array(self.sha256), "legend": np.array(legend)}
        return make_zip({f"{name}.npy": _name_file(values) for name, values in {**texts, **self.arrays()}.items()})

    @property
    def asked_text(self) -> str:
        """What was asked, as its file holds it."""
        return json.dumps({"format": _FORMAT, **self.asked}, ensure_ascii=False, allow_nan=False, sort_keys=True)

    def arrays(self) -> dict[str, np.ndarray[Any, Any]]:
        """The recordings as arrays, by the names that they have in the file."""
        return dict(
            named
            for part, recording in self.recordings.items()
            for named in (
                (f"{part}/coins", np.array(str(recording.coins))),
                *(
                    one
                    for place, answer in enumerate(recording.answers)
                    for one in _read_parts(f"{part}/{place:04d}", answer)
                ),
            )
        )


class ReadTranscript(NamedTuple):
    """A transcript as a file holds it, the hash that the file says it has, and what it says its arrays are."""

    whole: Transcript
    said_sha256: str
    said_legend: str

    @property
    def asked(self) -> Mapping[str, Any]:
        """What was asked."""
        return self.whole.asked

    @property
    def recordings(self) -> Mapping[str, AnswerRecording]:
        """The answers."""
        return self.whole.recordings


def read_transcript(data: bytes) -> ReadTranscript:
    """The transcript in a file that may have been tampered with; nothing in it is passed over."""
    try:
        members, wrong = read_members(data)
        held = {name.removesuffix(".npy"): _read_array(file) for name, file in members.items()}
        text = str(held.pop("asked"))
        asked = json.loads(text, parse_constant=_refuse_constant)
        version = int(asked.pop("format"))
    except Exception:  # whatever can go wrong in a damaged file: none of it may stop whoever checks it
        raise RequestError(_DAMAGED) from None
    if version != _FORMAT:
        raise RequestError(_NEWER if version > _FORMAT else _OLDER)
    try:
        sha256, legend = str(held.pop("sha256")), str(held.pop("legend"))
        recordings = _read_recordings(held)
    except Exception:
        raise RequestError(_DAMAGED) from None
    if wrong:
        raise RequestError(f"It is not as a release writes it: {wrong[0]}.")
    whole = Transcript(asked, recordings)
    if text != whole.asked_text:
        raise RequestError("It does not say what was asked as a release writes it.")
    if list(held) != list(whole.arrays()):
        raise RequestError("It holds an array that is no answer, or not in the order of the questions.")
    return ReadTranscript(whole, sha256, legend)


class Playback(ExactSource):
    """Plays a recording in place of fresh noise: no truth is looked at, so that no row is needed."""

    def __init__(self, recording: AnswerRecording) -> None:
        self.coins = recording.coins
        self._coming: Iterator[Any] = iter(recording.answers)

    def answer(self, mechanism: mechanisms.Mechanism[Any], truth: WholeTruth, accounting: Accounting) -> Any:
        """The next answer on the recording."""
        for answer in self._coming:
            return answer
        raise RequestError("The transcript ends before the algorithm does.")

    @property
    def is_over(self) -> bool:
        """Whether every answer was asked for."""
        return next(self._coming, self) is self


def _read_parts(name: str, answer: Any) -> Sequence[tuple[str, np.ndarray[Any, Any]]]:
    if isinstance(answer, queries.SparseCounts):
        return (
            (f"{name}/codes", answer.codes),
            (f"{name}/values", answer.values),
            (f"{name}/universe", np.array(answer.universe)),
        )
    if isinstance(answer, int):
        return ((f"{name}/chosen", np.array(answer)),)
    return ((f"{name}/array", answer),)


def _name_file(values: np.ndarray[Any, Any]) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, values, version=(1, 0), allow_pickle=False)
    return stream.getvalue()


def _read_array(file: bytes) -> np.ndarray[Any, Any]:
    """An array of numbers or text, as NumPy writes it: its head says how many bytes follow, and no other do."""
    stream = io.BytesIO(file)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError
    shape, by_column, kind = np.lib.format.read_array_header_1_0(stream, max_header_size=_LONGEST_HEADER)
    rest = file[stream.tell() :]
    if kind.kind not in "iufU" or prod(shape) * kind.itemsize != len(rest):
        raise ValueError
    values = np.frombuffer(rest, dtype=kind) if len(rest) else np.zeros(prod(shape), dtype=kind)
    return values.reshape(shape, order="F" if by_column else "C").copy()


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def _read_recordings(held: Mapping[str, np.ndarray[Any, Any]]) -> dict[str, AnswerRecording]:
    names = list(dict.fromkeys(name.split("/")[0] for name in held))
    recordings = {}
    for part in names:
        fields: dict[str, dict[str, np.ndarray[Any, Any]]] = {}
        for name, values in held.items():
            if name.startswith(f"{part}/") and name != f"{part}/coins":
                _, place, field = name.split("/")
                fields.setdefault(place, {})[field] = values
        answers = tuple(_read_answer(fields[place]) for place in sorted(fields))
        recordings[part] = AnswerRecording(int(str(held[f"{part}/coins"])), answers)
    return recordings


def _read_answer(fields: Mapping[str, np.ndarray[Any, Any]]) -> Any:
    if "chosen" in fields:
        return int(fields["chosen"])
    if "array" in fields:
        return fields["array"]
    return queries.SparseCounts(fields["codes"], fields["values"], int(fields["universe"]))
