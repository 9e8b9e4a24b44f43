"""What was seen of the rows before a release, as far as the program that releases can count it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from dpviz.words import format_count, format_number, format_things

_ACCESSES = {
    "rows": ("look at rows or at counts of them", "looks at rows or at counts of them"),
    "loss": ("look at losses on the rows", "looks at losses on the rows"),
    "reference": ("look at the centres of k-means++", "looks at the centres of k-means++"),
    "proposal": ("look that proposed how to read the file", "looks that proposed how to read the file"),
}


class Where(StrEnum):
    """Who counted."""

    VISIT = "visit"
    """A visit of the pages, from its first page on."""
    COMMAND = "command"
    """One command, which knows nothing of what was done before it."""


@dataclass(frozen=True)
class AccessCounts:
    """Whatever was seen of the rows, without or with noise, before the release; no number in it is a value of a row.

    Attributes
    ----------
    looks : mapping of str to int
        At the rows themselves, by kind (see ``AccessKind``).
    studies : int
        Studies of losses on them.
    runs : int
        Runs with study noise on them, which no account has paid for.
    runs_epsilon : float
        What these cost together.
    grids_read : int
        How often a k was read from the grid of such a run.
    where : Where
        Who counted.
    """

    looks: Mapping[str, int] = field(default_factory=dict, hash=False)
    studies: int = 0
    runs: int = 0
    runs_epsilon: float = 0.0
    grids_read: int = 0
    where: Where = Where.VISIT

    @property
    def nothing(self) -> bool:
        """Whether nothing was counted."""
        return not (any(self.looks.values()) or self.studies or self.runs or self.grids_read)

    @property
    def words(self) -> str:
        """In sentences.

        >>> AccessCounts().words
        'None in this visit: no row, no true count and no loss was seen before the release.'
        >>> AccessCounts(runs=50, runs_epsilon=25.0).words.split(". ")[0]
        'In this visit: 50 runs on the rows with study noise, ε = 25 in all, which no account has paid for'
        """
        told = list(self._describe())
        listed = ", ".join(told[:-1]) + (" and " if told[1:] else "") + "".join(told[-1:])
        if self.where is Where.VISIT:
            if not told:
                return "None in this visit: no row, no true count and no loss was seen before the release."
            return f"In this visit: {listed}. No ε covers what was chosen because of them."
        before = "What was seen of the rows before that command began, only their owner can say."
        if not told:
            return f"None that the releasing command knows of: it showed no row, no true count and no loss. {before}"
        return f"The releasing command knows of {listed}. No ε covers what was chosen because of them. {before}"

    def _describe(self) -> list[str]:
        told = [
            f"{format_count(times)} {_ACCESSES.get(kind, (f'look: {kind}', f'looks: {kind}'))[times != 1]}"
            for kind, times in self.looks.items()
            if times
        ]
        if self.studies:
            told.append(f"{format_things(self.studies, 'study', 'studies')} on them")
        if self.runs:
            paid = f"ε = {format_number(self.runs_epsilon)} in all, which no account has paid for"
            told.append(f"{format_things(self.runs, 'run')} on the rows with study noise, {paid}")
        if self.grids_read:
            told.append(f"{format_things(self.grids_read, 'reading')} of k from the grid of such a run")
        return told
