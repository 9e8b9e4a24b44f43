"""What a release was asked for, as the head of its transcript holds it."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, Strict

from dpviz.tables import WordsDocument
from dpviz.words import documents

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
