"""The form of a run's file, as ``run --json`` prints it."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from dpviz.words import documents

_Number = int | float


class EntryOfLedger(documents.Document):
    """One charge."""

    mechanism: str = documents.key(..., "text", "what drew the noise")
    loss: str = documents.key(..., "text", "the kind of its privacy loss")
    query: str = documents.key(..., "text", "the question")
    note: str = documents.key(..., "text", "what it was asked for")
    epsilon: _Number = documents.key(..., "a number", "its ε alone")
    delta: _Number = documents.key(..., "a number", "its δ alone")
    sensitivity: _Number = documents.key(..., "a number", "in the mechanism's own norm")
    scale: _Number = documents.key(..., "a number", "of the noise, in that norm")
    draws: _Number = documents.key(..., "a number", "how often it was drawn")
    amount: _Number = documents.key(..., "a number", "what is added up, in `unit`")
    unit: str = documents.key(..., "text", "of `amount`: epsilon, mu squared or rho")


class LedgerOfRun(documents.Document):
    """What was spent, and on what."""

    epsilon: _Number | None = documents.key(..., "a number", "spent; null where nothing is private")
    delta: _Number = documents.key(..., "a number", "of the whole run")
    accounting: str = documents.key(..., "text", "how charges add up")
    entries: list[EntryOfLedger] = documents.key(
        ..., "a list of charges", "every charge, in the order of the questions"
    )


class ReleasedOfRun(documents.Document):
    """What carries noise."""

    centers: list[list[_Number]] | None = documents.key(
        ..., "rows of numbers", "k centres in data units; null without a release"
    )
    weights: list[_Number] | None = documents.key(..., "a list of numbers", "noisy sizes, where they were measured")
    profiles: list[dict[str, Any]] | None = documents.key(
        None, "a list of objects", "what a centre says of columns that are more than numbers"
    )


class DeclaredOfRun(documents.Document):
    """What was declared, under the names that a declaration file has for it."""

    columns: list[str] = documents.key(..., "a list of names", "the clustered columns")
    bounds: dict[str, Any] = documents.key(..., "an object by column", "a pair, or a form")
    weights: dict[str, _Number] = documents.key({}, "an object of numbers", "how much a column counts")
    origins: dict[str, str] = documents.key(..., "an object of texts", "where the bounds of each column come from")
    bounds_from_rows: bool = documents.key(..., "true or false", "whether some were read from the rows")
    unit: str = documents.key(..., "text", "the unit of privacy, as the session counts")
    scaling: str = documents.key(..., "text", "unit or common")
    radius: _Number | None = documents.key(..., "a number", "largest distance from the middle of the bounds")
    relation: str = documents.key(..., "text", "how neighbouring tables differ")
    unit_of_privacy: str = documents.key(..., "text", "what is protected, in the owner's words")
    id_column: str | None = documents.key(..., "text", "whose row each is")
    rows_per_person: int = documents.key(..., "a whole number", "how many rows of a person are used")
    n_public: int | None = documents.key(..., "a whole number", "the number of rows, where it may be known")
    kind: Literal["public", "simulated", "private"] = documents.key(..., "a kind", "of the file")
    proposed: bool = documents.key(..., "true or false", "whether a look at rows proposed it")
    n_range: list[int] | None = documents.key(None, "a pair of whole numbers", "where only a range may be known")
    file: dict[str, Any] = documents.key({}, "an object", "how the file is read, where that differs from the usual")


class RunDocument(documents.Document):
    """A run with all that was declared about it."""

    called: ClassVar = "run"
    shown: ClassVar = '{"format": 2}'
    format: Literal[2] = documents.key(..., "2", "of this form")
    algorithm: str = documents.key(..., "text", "its id")
    k: int = documents.key(..., "a whole number", "clusters")
    epsilon: _Number = documents.key(..., "a number", "that was asked for")
    delta: _Number = documents.key(..., "a number", "that was asked for")
    relation: str = documents.key(..., "text", "how neighbouring tables differ")
    unit: str = documents.key(..., "text", "the unit of privacy")
    n_public: int | None = documents.key(..., "a whole number", "the number of rows, where it is public")
    n: _Number | None = documents.key(..., "a number", "the number of rows, as it was declared or bought")
    n_origin: str = documents.key(..., "text", "which of both")
    columns: list[str] = documents.key(..., "a list of names", "the coordinates of a centre")
    declaration: DeclaredOfRun = documents.key(..., "an object", "what was declared, with the origin of each bound")
    parameters: dict[str, Any] = documents.key(..., "an object", "of the algorithm")
    warnings: list[str] = documents.key(..., "a list of texts", "what to know before the numbers are used")
    noise: str = documents.key(..., "text", "release-grade, or of a study")
    seeded: bool = documents.key(..., "true or false", "whether the noise follows from a seed")
    note: str = documents.key(..., "text", "the same in a sentence; empty where there is nothing to say")
    looks: dict[str, int] = documents.key(..., "an object of counts", "how often the rows were looked at, by kind")
    version: str = documents.key(..., "text", "of dpviz")
    date: str = documents.key(..., "text", "the day; no running time, which depends on rows")
    released: ReleasedOfRun = documents.key(..., "an object", "what carries noise")
    ledger: LedgerOfRun = documents.key(..., "an object", "what was spent, and on what")
    revealed: dict[str, Any] | None = documents.key(
        None, "an object", "with `--evaluate` only: measured on the rows, never part of a release"
    )
    expected: str = documents.key("", "text", "what was announced before the run, where known")
    verdict: str = documents.key("", "text", "what it is worth by released values alone, where known")
