"""Known mistakes: what a file says, what it would say, and the test that must turn red."""

from __future__ import annotations

from itertools import takewhile
from typing import NamedTuple

import yaml

from benchmarks.mutation.forked import ROOT
from benchmarks.mutation.places import Place, source_of

FOLDER = ROOT / "tests" / "planted" / "mistakes"


class Mistake(NamedTuple):
    """A mistake in the field's words; ``quick`` ones are planted in every run of the fast tests."""

    mistake: str
    file: str
    was: str
    would_be: str
    caught_by: str
    quick: bool = False

    @property
    def source(self) -> str:
        """What the file says with the mistake in it."""
        return source_of(self.file).replace(self.was, self.would_be)

    @property
    def place(self) -> Place:
        """The first line that differs."""
        lines = source_of(self.file).splitlines()
        pairs = zip(lines, self.source.splitlines(), strict=False)
        line = 1 + sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        return Place(self.file, "planted", 0, (line, 0), (line, 1), lines[line - 1])


def mistakes() -> list[Mistake]:
    """All of them, file by file."""
    files = sorted(FOLDER.glob("*.yaml"))
    return [Mistake(**row) for file in files for row in yaml.safe_load(file.read_text(encoding="utf-8"))]
