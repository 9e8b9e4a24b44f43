"""The form of a run's file, as ``run --json`` prints it."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from dpviz.core import Entry
from dpviz.runs.record import SAME_IN_DECLARATION, ReleaseRecord
from dpviz.tables import Declaration
from dpviz.words import documents

_Number = int | float


@documents.with_keys_of(Entry)
class EntryOfLedger(documents.Document):
    """One charge."""

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


@documents.with_keys_of(Declaration, SAME_IN_DECLARATION)
class DeclaredOfRun(documents.Document):
    """What was declared, under the names that a declaration file has for it."""

    columns: list[str] = documents.key(..., "a list of names", "the clustered columns")
    bounds: dict[str, Any] = documents.key(..., "an object by column", "a pair, or a form")
    origins: dict[str, str] = documents.key(..., "an object of texts", "where the bounds of each column come from")
    bounds_from_rows: bool = documents.key(..., "true or false", "whether some were read from the rows")
    unit: str = documents.key(..., "text", "the unit of privacy, as the session counts")


@documents.with_keys_of(ReleaseRecord)
class RunDocument(documents.Document):
    """A run with all that was declared about it."""

    called: ClassVar = "run"
    shown: ClassVar = '{"format": 2}'
    format: Literal[2] = documents.key(..., "2", "of this form")
    relation: str = documents.key(..., "text", "how neighbouring tables differ")
    declaration: DeclaredOfRun = documents.key(..., "an object", "what was declared, with the origin of each bound")
    noise: str = documents.key(..., "text", "release-grade, or of a study")
    note: str = documents.key(..., "text", "the same in a sentence; empty where there is nothing to say")
    released: ReleasedOfRun = documents.key(..., "an object", "what carries noise")
    ledger: LedgerOfRun = documents.key(..., "an object", "what was spent, and on what")
    revealed: dict[str, Any] | None = documents.key(
        None, "an object", "with `--evaluate` only: measured on the rows, never part of a release"
    )
    expected: str = documents.key("", "text", "what was announced before the run, where known")
    verdict: str = documents.key("", "text", "what it is worth by released values alone, where known")
