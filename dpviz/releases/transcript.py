"""The transcript of a release: what was asked for, and every answer that was drawn, in the order of the questions.

All of it is released or public. Whoever has it can play the algorithm again without a row: the same questions come, for
the same charges, and the same files. The same transcript is the same bytes: a file of other bytes is refused.
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
from dpviz.releases.release_sentences import make_refusal
from dpviz.words import doorways, foreign

_FORMAT = 5
# Of the text that heads an array: names and shapes are short.
_LONGEST_HEADER = 1_000
# What numbers are written as, by their kind; text is written as it is.
_FORMS = {"f": "<f8", "i": "<i8"}


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
            digest.update(values.tobytes())
        return digest.hexdigest()

    def to_bytes(self, legend: str) -> bytes:
        """As ``transcript.npz``, with a ``legend`` of its arrays (see ``make_legend``)."""
        texts = {"asked": _normalise(self.asked_text), "legend": _normalise(legend)}
        members = {f"{name}.npy": _write_array(values) for name, values in {**texts, **self.arrays()}.items()}
        return make_zip(members, packed=False)

    @property
    def asked_text(self) -> str:
        """What was asked, as its file holds it."""
        return json.dumps({"format": _FORMAT, **self.asked}, ensure_ascii=False, allow_nan=False, sort_keys=True)

    def arrays(self) -> dict[str, np.ndarray[Any, Any]]:
        """The recordings as arrays in their one form, by the names that they have in the file."""
        return {
            name: _normalise(values)
            for part, recording in self.recordings.items()
            for name, values in (
                (f"{part}/coins", str(recording.coins)),
                *(
                    one
                    for place, answer in enumerate(recording.answers)
                    for one in _read_parts(f"{part}/{place:04d}", answer)
                ),
            )
        }


class ReadTranscript(NamedTuple):
    """A transcript as a file holds it, and what the file says its arrays are."""

    whole: Transcript
    said_legend: str


def read_transcript(data: bytes) -> ReadTranscript:
    """The transcript in a file that may have been tampered with: written again, it is the file, byte for byte."""
    damaged = make_refusal("transcript_damaged")
    with foreign.refuse_as(damaged, doorways.TRANSCRIPT):
        members, wrong = read_members(data)
        held = {name.removesuffix(".npy"): _read_array(file) for name, file in members.items()}
        legend, asked = str(held.pop("legend", "")), json.loads(str(held.pop("asked")), parse_constant=_refuse_constant)
        version = int(asked.pop("format"))
    if version != _FORMAT:
        raise make_refusal("transcript_newer" if version > _FORMAT else "transcript_older")
    if wrong:
        raise make_refusal("transcript_written", wrong=wrong[0])
    with foreign.refuse_as(damaged, doorways.TRANSCRIPT):
        read = ReadTranscript(Transcript(asked, _read_recordings(held)), legend)
        again = read.whole.to_bytes(read.said_legend)
    if again != data:
        raise RequestError(_describe_form(members, read_members(again).files))
    return read


def _describe_form(members: Mapping[str, bytes], due: Mapping[str, bytes]) -> str:
    """What of a file is not as a release writes the same values."""
    if members["asked.npy"] != due["asked.npy"]:
        return "It does not say what was asked as a release writes it."
    if list(members) != list(due):
        return "It holds an array that is no answer, or not in the order of the questions."
    if members != due:
        return "An array in it is not written as a release writes it."
    return "Its own zip is not as a release writes it: it holds bytes that no answer needs."


class Playback(ExactSource):
    """Plays a recording in place of fresh noise: no truth is looked at, so that no row is needed."""

    def __init__(self, recording: AnswerRecording) -> None:
        self.coins = recording.coins
        self._coming: Iterator[Any] = iter(recording.answers)

    def answer(self, mechanism: mechanisms.Mechanism[Any], truth: WholeTruth, accounting: Accounting) -> Any:
        """The next answer on the recording, which has as many numbers as were asked for, and no room for others."""
        for answer in self._coming:
            if not _has_form(answer, mechanism, truth.total):
                raise make_refusal("transcript_form")
            return answer
        raise make_refusal("transcript_ends")

    @property
    def is_over(self) -> bool:
        """Whether every answer was asked for."""
        return next(self._coming, self) is self


def _has_form(answer: Any, mechanism: mechanisms.Mechanism[Any], total: Any) -> bool:
    """Whether the mechanism draws answers of that form, whatever their numbers are."""
    match mechanism:
        case mechanisms.Exponential():
            return isinstance(answer, int) and 0 <= answer < np.size(total)
        case mechanisms.NoisyThreshold():
            return _are_cells(answer, total.universe) and _rise(answer)
        case mechanisms.SparseLaplace() | mechanisms.PathCounts():
            sparse = isinstance(answer, queries.SparseCounts)
            many = 2 if isinstance(mechanism, mechanisms.PathCounts) else 1
            return (
                sparse
                and answer.universe == many * total.universe
                and _are_cells(answer.codes, answer.universe)
                and _rise(answer.codes)
                and _are_numbers(answer.values, answer.codes.shape)
            )
        case mechanisms.NoisyExcess():
            return _are_numbers(answer, (1,))
    return _are_numbers(answer, np.shape(total))


def _are_numbers(answer: Any, shape: tuple[int, ...]) -> bool:
    return isinstance(answer, np.ndarray) and answer.dtype.kind == "f" and answer.shape == shape


def _are_cells(answer: Any, universe: int) -> bool:
    """A list of cells of a universe."""
    listed = isinstance(answer, np.ndarray) and answer.dtype.kind == "i" and answer.ndim == 1
    return listed and bool(((answer >= 0) & (answer < universe)).all())


def _rise(codes: np.ndarray[Any, Any]) -> bool:
    return bool((np.diff(codes) > 0).all())


def _read_parts(name: str, answer: Any) -> Sequence[tuple[str, Any]]:
    if isinstance(answer, queries.SparseCounts):
        return (
            (f"{name}/codes", answer.codes),
            (f"{name}/values", answer.values),
            (f"{name}/universe", answer.universe),
        )
    if isinstance(answer, int):
        return ((f"{name}/chosen", answer),)
    return ((f"{name}/array", answer),)


def _normalise(values: Any) -> np.ndarray[Any, Any]:
    """Numbers or text in the one form that they are written in, on whatever machine."""
    given = np.asarray(values)
    form = np.dtype(_FORMS.get(given.dtype.kind, given.dtype)).newbyteorder("<")
    return np.asarray(given, dtype=form, order="C")


def _write_array(values: np.ndarray[Any, Any]) -> bytes:
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
    if kind.kind not in (*_FORMS, "U") or prod(shape) * kind.itemsize != len(rest):
        raise ValueError
    values = np.frombuffer(rest, dtype=kind) if len(rest) else np.zeros(prod(shape), dtype=kind)
    if kind.kind == "f" and not np.isfinite(values).all():  # of which there are many that look alike; none is drawn
        raise ValueError
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
