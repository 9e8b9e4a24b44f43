"""What this process saw of rows, without privacy or by runs that no account paid for: counted where it happens.

It knows a table by its source, whatever was declared about it. What names no source may be about any table, and counts
for each. What another process saw is not in it.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from enum import StrEnum
from math import fsum
from typing import NamedTuple


class AccessKind(StrEnum):
    """What somebody saw of the rows themselves, without privacy; none of it is in a release."""

    ROWS = "rows"
    """Rows, as dots or as lines of a table, or counts of them."""
    LOSS = "loss"
    """Measures of results: of one run, or of a study."""
    REFERENCE = "reference"
    """The centres of k-means++."""
    PROPOSAL = "proposal"
    """How the file is read, as a look at it proposed."""

    @classmethod
    def tabulate(cls, accesses: Mapping[AccessKind, int], *, proposed: bool) -> dict[str, int]:
        """Looks by kind, in the order of the kinds and without those that there were none of.

        Parameters
        ----------
        accesses : mapping of AccessKind to int
        proposed : bool
            Whether the declaration was proposed, which is a look, whoever counted.

        Returns
        -------
        dict of str to int
        """
        numbers = {cls.PROPOSAL: int(proposed), **accesses}
        return {kind.value: numbers[kind] for kind in cls if numbers.get(kind)}


class AccessTotals(NamedTuple):
    """Looks by kind, studies, runs that no account paid for, with their ε added up, and readings of k from those."""

    looks: Mapping[AccessKind, int]
    studies: int
    runs: int
    runs_epsilon: float
    grids_read: int


class AccessLog:
    """Accesses of one process, by the source of their table; "" is one that nobody has named."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.clear()

    def clear(self) -> None:
        """Begin anew, as a new process does."""
        self._looks: list[tuple[str, AccessKind]] = []
        self._studies: list[str] = []
        self._runs: list[tuple[str, float]] = []
        self._grids: list[str] = []

    def add_look(self, source: str, kind: AccessKind) -> None:
        """Count a look at rows."""
        with self._lock:
            self._looks.append((source, kind))

    def add_study(self, source: str) -> None:
        """Count a study of losses; that it looked at them is counted apart."""
        with self._lock:
            self._studies.append(source)

    def add_run(self, source: str, epsilon: float) -> None:
        """Count a run that no account has paid for, or none that outlives this process."""
        with self._lock:
            self._runs.append((source, epsilon))

    def add_grid_read(self, source: str) -> None:
        """Count that a k was read from the grid of such a run."""
        with self._lock:
            self._grids.append(source)

    def count(self, source: str) -> AccessTotals:
        """What was seen of one table, or may have been."""
        with self._lock:
            looks = Counter(kind for table, kind in self._looks if table in (source, ""))
            studies, grids = (sum(table in (source, "") for table in one) for one in (self._studies, self._grids))
            costs = [epsilon for table, epsilon in self._runs if table in (source, "")]
        ordered = {kind: looks[kind] for kind in AccessKind if looks[kind]}
        return AccessTotals(ordered, studies, len(costs), fsum(costs), grids)


ACCESS_LOG = AccessLog()
"""Of this process."""
