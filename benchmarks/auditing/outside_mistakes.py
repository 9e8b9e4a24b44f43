"""Mistakes for the outside auditor: which pair of tables shows each, or why none does.

``tests/audits/mistakes.yaml`` has them: those of ``tests/planted/mistakes`` by their names alone, others with the place
where they are planted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import yaml

from benchmarks.mutation.forked import ROOT, Nurseries, Trial
from benchmarks.mutation.places import source_of
from benchmarks.mutation.planted import Mistake, mistakes

FILE = ROOT / "tests" / "audits" / "mistakes.yaml"
TESTS = "tests/audits/test_outside_audit.py"
_TEST = f"{TESTS}::test_the_auditor_objects_to_no_pair"


class OutsideMistake(NamedTuple):
    """A mistake with the pair of a plan that shows it, or the kind of what the auditor cannot see."""

    mistake: Mistake
    shown_by: str
    outside: str

    def plant(self, nursery: Nurseries) -> str:
        """What the auditor says of that pair with the mistake planted; empty where it objects to nothing."""
        found = nursery.run(Trial([f"{_TEST}[{self.shown_by}]"], self.mistake.file, self.mistake.source).patient(10.0))
        return (found.why.rpartition("AssertionError: ")[2] or "red") if found.red else ""


def read_reasons() -> dict[str, str]:
    """Why the auditor cannot see mistakes of a kind."""
    reasons: dict[str, str] = yaml.safe_load(FILE.read_text("utf-8"))["outside"]
    return reasons


def list_planted() -> list[OutsideMistake]:
    """All of them, in the order of the file."""
    known = {one.mistake: one for one in mistakes()}
    rows: list[dict[str, Any]] = yaml.safe_load(FILE.read_text("utf-8"))["mistakes"]
    return [
        OutsideMistake(
            Mistake(row["mistake"], row["file"], row["was"], row["would_be"], _TEST)
            if "file" in row
            else known[row["mistake"]],
            row.get("shown_by", ""),
            row.get("outside", ""),
        )
        for row in rows
    ]


def list_test_files() -> list[str]:
    """In which a mistake, here or there, turns a test red."""
    return [*dict.fromkeys(one.caught_by.partition("::")[0] for one in mistakes()), TESTS]


def count_places(planted: OutsideMistake) -> int:
    """How often what it changes stands in its file."""
    return source_of(planted.mistake.file).count(planted.mistake.was)
