"""What was seen of the rows before a release, counted by kind; and how a card tells of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dpviz.core import AccessKind, AccessTotals
from dpviz.releases.release_sentences import SENTENCES
from dpviz.words import format_count, format_number, format_things

_ACCESSES = {
    "rows": ("look at rows or at counts of them", "looks at rows or at counts of them"),
    "loss": ("look at losses on the rows", "looks at losses on the rows"),
    "reference": ("look at the centres of k-means++", "looks at the centres of k-means++"),
    "proposal": ("look that proposed how to read the file", "looks that proposed how to read the file"),
}


@dataclass(frozen=True)
class AccessCounts:
    """Whatever was seen of the rows, without or with noise, before the release; no number in it is a value of a row."""

    looks: Mapping[str, int] = field(default_factory=dict, hash=False)
    studies: int = 0
    runs: int = 0
    runs_epsilon: float = 0.0
    grids_read: int = 0

    def __post_init__(self) -> None:
        # In one order, whoever counted and however they were kept: what a file says must not depend on that.
        rank = {kind: place for place, kind in enumerate(_ACCESSES)}
        ordered = sorted(self.looks.items(), key=lambda look: (rank.get(look[0], len(rank)), look[0]))
        object.__setattr__(self, "looks", dict(ordered))

    @classmethod
    def of(cls, totals: AccessTotals, *, proposed: bool) -> AccessCounts:
        """What this process saw of a table, whose declaration may have been ``proposed``, which is a look."""
        return cls(AccessKind.tabulate(totals.looks, proposed=proposed), *totals[1:])

    @property
    def words(self) -> str:
        """In sentences.

        >>> AccessCounts().words.split(". ")[0]
        'None that the releasing process counted: it showed no row, no true count and no loss'
        >>> AccessCounts(runs=50, runs_epsilon=25.0).words.split(", which")[0]
        'The releasing process counted 50 runs on the rows with study noise, ε = 25 in all'
        """
        told = list(self._describe())
        listed = ", ".join(told[:-1]) + (" and " if told[1:] else "") + "".join(told[-1:])
        before = SENTENCES.fill("seen_before")
        if not told:
            return f"None that the releasing process counted: it showed no row, no true count and no loss. {before}"
        return f"The releasing process counted {listed}. No ε covers what was chosen because of them. {before}"

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
