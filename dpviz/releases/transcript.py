"""The transcript of a release: what was asked for, and every answer that was drawn, in the order of the questions.

All of it is released or public. Whoever has it can play the algorithm again without a row: the same questions come, for
the same charges, and the same files. The same transcript is the same bytes: a file of other bytes is refused.
"""

import hashlib
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field, Strict

from dpviz.core import Accounting, ExactSource, Region, RequestError, WholeTruth, mechanisms, queries
from dpviz.releases.package import make_zip, read_members
from dpviz.releases.release_sentences import make_refusal
from dpviz.tables import WordsDocument
from dpviz.words import documents, foreign

_MOST_KINDS = 20

_Count = Annotated[int, Field(ge=0, le=10**12)]
_Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_Time = Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{6})?\+00:00$")]
_Numbers = Annotated[tuple[documents.Number, ...], Strict(False)]
_SHA256, _TIME = "64 hexadecimal digits", "a time, as 2026-01-31T12:00:00+00:00"
_COUNT, _AMOUNT = "a whole number that a release has", "a number that a release has"


class RequestDocument(documents.Document):
    """The run."""

    shown: ClassVar = '{"algorithm": "auto", "k": 5, "epsilon": 1.0, "delta": 1e-6, "parameters": {}}'
    algorithm: str = documents.key(..., "text", "its id")
    k: _Count = documents.key(..., _COUNT, "clusters")
    epsilon: _Amount = documents.key(..., _AMOUNT, "of the whole release")
    delta: _Amount = documents.key(..., _AMOUNT, "of the whole release")
    parameters: dict[str, Any] = documents.key(
        ..., "an object of parameters by name", "as the algorithm's card lists them"
    )


class SeenDocument(documents.Document):
    """What was seen of the rows before."""

    shown: ClassVar = '{"looks": {}, "studies": 0, "runs": 0, "runs_epsilon": 0.0, "grids_read": 0}'
    looks: Annotated[dict[Literal["rows", "loss", "reference", "proposal"], _Count], Field(max_length=_MOST_KINDS)] = (
        documents.key(..., "an object of counts by kind", "looks at the rows themselves", each=_COUNT)
    )
    studies: _Count = documents.key(..., _COUNT, "studies of losses on the rows")
    runs: _Count = documents.key(..., _COUNT, "runs with study noise")
    runs_epsilon: _Amount = documents.key(..., _AMOUNT, "what these cost together")
    grids_read: _Count = documents.key(..., _COUNT, "how often a k was read from one")


class AccountThenDocument(documents.Document):
    """The account as it stood at the moment of the charge, which is what was asked for."""

    shown: ClassVar = '{"name": "people"}'
    name: str = documents.key(..., "text", "of the account")
    cap_epsilon: _Amount = documents.key(..., _AMOUNT, "the most it may hold")
    cap_delta: _Amount = documents.key(..., _AMOUNT, "the most it may hold")
    spent_epsilon: _Amount = documents.key(..., _AMOUNT, "spent before")
    spent_delta: _Amount = documents.key(..., _AMOUNT, "spent before")
    number: _Count = documents.key(..., _COUNT, "of the charge")
    at: _Time = documents.key(..., _TIME, "when it was charged")
    sha256: _Sha256 = documents.key(..., _SHA256, "of the charge, with that of the one before")
    previous_sha256: _Sha256 = documents.key(..., _SHA256, "of the charge before, or of the account without any")
    previous_at: _Time = documents.key(..., _TIME, "when the charge before was made")


class EarlierSegmentsDocument(documents.Document):
    """What an earlier release published of its segments, which are counted again."""

    shown: ClassVar = '{"sha256": "", "centers": [[40.0]], "sizes": [900.0], "size_sds": [10.0]}'
    sha256: _Sha256 = documents.key(..., _SHA256, "of its transcript")
    centers: Annotated[tuple[_Numbers, ...], Strict(False)] = documents.key(
        ..., "a list of centres", "as published, data units", each="a list of numbers"
    )
    sizes: _Numbers = documents.key(..., "a list of numbers", "rows of each segment", each="a number")
    size_sds: _Numbers = documents.key(..., "a list of numbers", "how far off these are", each="a number")


class AskedDocument(documents.Document):
    """What a release was asked for, and all that its files say beside what was drawn."""

    called: ClassVar = "transcript"
    shown: ClassVar = '{"version": "0.1.0"}'
    version: str = documents.key(..., "text", "of dpviz")
    noise: str = documents.key(..., "text", "the library that drew the noise")
    platform: str = documents.key(..., "text", "on which the program ran")
    code: str = documents.key(..., "text", "the SHA-256 of its source files, as it says itself")
    date: str = documents.key(..., "text", "the day, UTC")
    request: RequestDocument = documents.key(..., "an object", "the run")
    segments: _Amount = documents.key(..., _AMOUNT, "the share of ε that says what segments are")
    bounds: _Amount = documents.key(..., _AMOUNT, "the part of ε that buys the bounds of a column")
    missing: _Amount = documents.key(..., _AMOUNT, "the part of ε for shares of missing cells")
    smallest_group: _Count = documents.key(..., _COUNT, "rows that each group of segments is promised to have; 0: none")
    words: WordsDocument = documents.key(..., "an object", "the owner's words")
    seen: SeenDocument = documents.key(..., "an object", "what was seen of the rows before")
    n_public: _Count | None = documents.key(..., _COUNT, "the number of rows, where it is public")
    declared: str = documents.key(..., "text", "the declaration file; bounds that were bought are still open")
    account: AccountThenDocument = documents.key(..., "an object", "the account")
    continues: EarlierSegmentsDocument | None = documents.key(
        None, "an object", "the earlier release whose segments are counted again"
    )


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
    with foreign.refuse_as(damaged, foreign.TRANSCRIPT):
        members, wrong = read_members(data)
        held = {name.removesuffix(".npy"): _read_array(file) for name, file in members.items()}
        legend, asked = str(held.pop("legend", "")), json.loads(str(held.pop("asked")), parse_constant=_refuse_constant)
        version = int(asked.pop("format"))
    if version != _FORMAT:
        raise make_refusal("transcript_newer" if version > _FORMAT else "transcript_older")
    if wrong:
        raise make_refusal("transcript_written", wrong=wrong[0])
    with foreign.refuse_as(damaged, foreign.TRANSCRIPT):
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


class GivenAnswer(NamedTuple):
    """What was asked in a part, of rows in which region, by which mechanism, and what was released."""

    query: Any
    region: Region | None
    mechanism: mechanisms.Mechanism[Any]
    released: Any


class Playback(ExactSource):
    """Plays a recording in place of fresh noise, and remembers what each answer was ``given`` to: no truth is looked
    at, so that no row is needed."""

    def __init__(self, recording: AnswerRecording) -> None:
        self.coins = recording.coins
        self._coming: Iterator[Any] = iter(recording.answers)
        self.given: list[GivenAnswer] = []

    def answer(self, mechanism: mechanisms.Mechanism[Any], truth: WholeTruth, accounting: Accounting) -> Any:
        """The next answer on the recording, which has as many numbers as were asked for, and no room for others."""
        for answer in self._coming:
            if not _has_form(answer, mechanism, truth.total):
                raise make_refusal("transcript_form")
            self.given.append(GivenAnswer(truth.query, truth.region, mechanism, answer))
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
            return _are_cells(answer, total.universe)
        case mechanisms.SparseLaplace() | mechanisms.PathCounts():
            many = 2 if isinstance(mechanism, mechanisms.PathCounts) else 1
            return (
                isinstance(answer, queries.SparseCounts)
                and answer.universe == many * total.universe
                and _are_cells(answer.codes, answer.universe)
                and _are_numbers(answer.values, answer.codes.shape)
            )
        case mechanisms.NoisyExcess():
            return _are_numbers(answer, (1,))
    return _are_numbers(answer, np.shape(total))


def _are_numbers(answer: Any, shape: tuple[int, ...]) -> bool:
    return isinstance(answer, np.ndarray) and answer.dtype.kind == "f" and answer.shape == shape


def _are_cells(answer: Any, universe: int) -> bool:
    """A list of cells of a universe, in their order."""
    listed = isinstance(answer, np.ndarray) and answer.dtype.kind == "i" and answer.ndim == 1
    return listed and bool(((answer >= 0) & (answer < universe)).all() and (np.diff(answer) > 0).all())


def _read_parts(name: str, answer: Any) -> Sequence[tuple[str, Any]]:
    if isinstance(answer, queries.SparseCounts):
        return tuple((f"{name}/{part}", getattr(answer, part)) for part in ("codes", "values", "universe"))
    return ((f"{name}/{'chosen' if isinstance(answer, int) else 'array'}", answer),)


def _normalise(values: Any) -> np.ndarray[Any, Any]:
    """Numbers or text in the one form that they are written in, on whatever machine."""
    given = np.asarray(values)
    return np.asarray(given, dtype=np.dtype(_FORMS.get(given.dtype.kind, given.dtype)).newbyteorder("<"), order="C")


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
    recordings = {}
    for part in dict.fromkeys(name.split("/")[0] for name in held):
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
