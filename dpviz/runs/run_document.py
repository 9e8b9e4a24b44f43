"""What ``dpviz run --json`` prints of a run, and a saved record holds: written, and read by whoever wants to."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from dpviz.words import Document, key

_Number = int | float


class EntryOfLedger(Document):
    """One charge."""

    mechanism: str = key(..., "text", "what drew the noise")
    loss: str = key(..., "text", "the kind of its privacy loss")
    query: str = key(..., "text", "the question")
    note: str = key(..., "text", "what it was asked for")
    epsilon: _Number = key(..., "a number", "its ε alone")
    delta: _Number = key(..., "a number", "its δ alone")
    sensitivity: _Number = key(..., "a number", "in the mechanism's own norm")
    scale: _Number = key(..., "a number", "of the noise, in that norm")
    draws: _Number = key(..., "a number", "how often it was drawn")
    amount: _Number = key(..., "a number", "what is added up, in `unit`")
    unit: str = key(..., "text", "of `amount`: epsilon, mu squared or rho")


class LedgerOfRun(Document):
    """What was spent, and on what."""

    epsilon: _Number | None = key(..., "a number", "spent; null where nothing is private")
    delta: _Number = key(..., "a number", "of the whole run")
    accounting: str = key(..., "text", "how charges add up")
    entries: list[EntryOfLedger] = key(..., "a list of charges", "every charge, in the order of the questions")


class ReleasedOfRun(Document):
    """What carries noise."""

    centers: list[list[_Number]] | None = key(..., "rows of numbers", "k centres in data units; null without a release")
    weights: list[_Number] | None = key(..., "a list of numbers", "noisy sizes, where they were measured")
    profiles: list[dict[str, Any]] | None = key(
        None, "a list of objects", "what a centre says of columns that are more than numbers"
    )


class DeclaredOfRun(Document):
    """What was declared, under the names that a declaration file has for it."""

    columns: list[str] = key(..., "a list of names", "the clustered columns")
    bounds: dict[str, Any] = key(..., "an object by column", "a pair, or a form")
    weights: dict[str, _Number] = key({}, "an object of numbers", "how much a column counts")
    origins: dict[str, str] = key(..., "an object of texts", "where the bounds of each column come from")
    bounds_from_rows: bool = key(..., "true or false", "whether some were read from the rows")
    unit: str = key(..., "text", "the unit of privacy, as the session counts")
    scaling: str = key(..., "text", "unit or common")
    radius: _Number | None = key(..., "a number", "largest distance from the middle of the bounds")
    relation: str = key(..., "text", "how neighbouring tables differ")
    unit_of_privacy: str = key(..., "text", "what is protected, in the owner's words")
    id_column: str | None = key(..., "text", "whose row each is")
    rows_per_person: int = key(..., "a whole number", "how many rows of a person are used")
    n_public: int | None = key(..., "a whole number", "the number of rows, where it may be known")
    kind: Literal["public", "simulated", "private"] = key(..., "a kind", "of the file")
    proposed: bool = key(..., "true or false", "whether a look at rows proposed it")
    n_range: list[int] | None = key(None, "a pair of whole numbers", "where only a range may be known")
    file: dict[str, Any] = key({}, "an object", "how the file is read, where that differs from the usual")


class RunDocument(Document):
    """A run with all that was declared about it."""

    called: ClassVar = "run"
    shown: ClassVar = '{"format": 2}'
    format: Literal[2] = key(..., "2", "of this form")
    algorithm: str = key(..., "text", "its id")
    k: int = key(..., "a whole number", "clusters")
    epsilon: _Number = key(..., "a number", "that was asked for")
    delta: _Number = key(..., "a number", "that was asked for")
    relation: str = key(..., "text", "how neighbouring tables differ")
    unit: str = key(..., "text", "the unit of privacy")
    n_public: int | None = key(..., "a whole number", "the number of rows, where it is public")
    n: _Number | None = key(..., "a number", "the number of rows, as it was declared or bought")
    n_origin: str = key(..., "text", "which of both")
    columns: list[str] = key(..., "a list of names", "the coordinates of a centre")
    declaration: DeclaredOfRun = key(..., "an object", "what was declared, with the origin of each bound")
    parameters: dict[str, Any] = key(..., "an object", "of the algorithm")
    warnings: list[str] = key(..., "a list of texts", "what to know before the numbers are used")
    noise: str = key(..., "text", "release-grade, or of a study")
    seeded: bool = key(..., "true or false", "whether the noise follows from a seed")
    note: str = key(..., "text", "the same in a sentence; empty where there is nothing to say")
    looks: dict[str, int] = key(..., "an object of counts", "how often the rows were looked at, by kind")
    version: str = key(..., "text", "of dpviz")
    date: str = key(..., "text", "the day; no running time, which depends on rows")
    released: ReleasedOfRun = key(..., "an object", "what carries noise")
    ledger: LedgerOfRun = key(..., "an object", "what was spent, and on what")
    revealed: dict[str, Any] | None = key(
        None, "an object", "with `--evaluate` only: measured on the rows, never part of a release"
    )
    expected: str = key("", "text", "what was announced before the run, where known")
    verdict: str = key("", "text", "what it is worth by released values alone, where known")
