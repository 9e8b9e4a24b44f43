"""Which runs a claim still needs: more where the interval of a margin holds its line, none where it is decided.

A path looks at its runs at most five times, each time at twice as many of those that matter. Nine in ten is for the
whole path: the tenth that intervals may miss is shared evenly by the looks (Bonferroni), so that stopping at the first
look which decides errs no more often than that. Which cells matter is read from the redraws behind the intervals:
those whose runs explain a twentieth of a margin's variance or more (Efron 2014, on the accuracy of bagged estimates).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from io import StringIO
from math import nan
from typing import Any

import pandas as pd

from dpviz.claims.claim import Claim, Outcome, Row, Verdict
from dpviz.claims.material import Shelf
from dpviz.claims.redraw import PLACE, Weighed, weigh_table
from dpviz.table.csv_writer import format_frame

LOOKS = 5
# Digits of a number in a stored table: more would be rounding, and the files are small.
FORMAT = "%.6g"

Key = tuple[str, ...]


def find_key(row: Mapping[Any, Any]) -> Key:
    """The cell of a row, the same before it is written and after it was read."""
    values = (row.get(name) for name in PLACE)
    return tuple(value if isinstance(value, str) else FORMAT % (nan if value is None else value) for value in values)


class Course:
    """One claim on its way: the runs that there are, those that are wanted next, and the verdict so far.

    Parameters
    ----------
    claim : Claim
    settings : settings
        Of the claim.
    shelf : Shelf
    looks : int
        The most that the path may take.
    stored : DataFrame
        Runs of these settings that lie there already; those of other tables are left out.
    look : int
        How many looks were taken at them.
    """

    def __init__(
        self, claim: Claim, settings: Any, shelf: Shelf, *, looks: int, stored: pd.DataFrame, look: int = 0
    ) -> None:
        self.claim, self.settings, self.looks, self.look = claim, settings, looks, look
        self._shelf = shelf
        self._repeats = dict[Key, int]()
        self._rows: list[Row] = []
        self._have = dict[Key, set[int]]()
        self.weighed: Weighed | None = None
        self._plan()
        for row in stored.to_dict("records"):
            if find_key(row) in self._repeats:
                self._add({str(name): value for name, value in row.items()})
        self._active = set(self._repeats)
        if look:
            self.weigh()

    def _plan(self) -> None:
        def note(cell: Row, repeats: int) -> list[int]:
            self._repeats[find_key(cell)] = repeats
            return []

        for block in self.claim.blocks(self.settings):
            for _ in block.runs(self._shelf, note):
                raise AssertionError("nothing was wanted")

    def _add(self, row: Row) -> None:
        self._rows.append(row)
        self._have.setdefault(find_key(row), set()).add(int(row["repeat"]))

    def _wanted(self, cell: Row, repeats: int) -> list[int]:
        key = find_key(cell)
        most = repeats * 2**self.look if key in self._active else 0
        return [repeat for repeat in range(most) if repeat not in self._have.get(key, ())]

    @property
    def missing(self) -> int:
        """Runs until the next look."""
        most = {key: self._repeats[key] * 2**self.look for key in self._active}
        return sum(number - len(self._have.get(key, set()) & set(range(number))) for key, number in most.items())

    @property
    def open(self) -> int:
        """Findings without an answer."""
        verdict = self.verdict
        return 1 if verdict is None else verdict.count(Outcome.UNDECIDED)

    @property
    def done(self) -> bool:
        """Whether no look is left, or none is needed."""
        return self.look >= self.looks or (self.look > 0 and not self.open)

    @property
    def verdict(self) -> Verdict | None:
        """Of the last look."""
        return None if self.weighed is None else self.weighed.verdict

    def runs(self) -> Iterator[list[Row]]:
        """The runs until the next look, each once it is found."""
        for block in self.claim.blocks(self.settings):
            for rows in block.runs(self._shelf, self._wanted):
                for row in rows:
                    self._add(row)
                yield rows

    def weigh(self) -> None:
        """Look: judge the runs that were wanted so far, and choose the cells that the next look needs."""
        self.weighed = weigh_table(self.claim.judge, self.table(), looks=self.looks)
        both = zip(self.weighed.verdict.findings, self.weighed.cells, strict=True)
        wanted = [cells for finding, cells in both if finding.outcome is Outcome.UNDECIDED]
        self._active = {key for cells in wanted for key in map(find_key, cells)} & set(self._repeats)

    def take_look(self) -> None:
        """After all that was wanted has been run."""
        self.look += 1
        self.weigh()

    def table(self, *, every: bool = False) -> pd.DataFrame:
        """The runs of the looks that were taken, as they are stored; ``every`` one, also of a look that is not."""
        last = max(self.look - 1, 0)
        kept = [row for row in self._rows if every or int(row["repeat"]) < self._repeats[find_key(row)] * 2**last]
        if not kept:
            return pd.DataFrame()
        text = format_frame(pd.DataFrame(kept), float_format=FORMAT, end="\n")
        return pd.read_csv(StringIO(text))


def choose(courses: Iterable[Course], seconds: Mapping[str, float]) -> Course | None:
    """The claim whose next look answers most for its time: open findings over the seconds of its missing runs.

    Parameters
    ----------
    courses : iterable of Course
    seconds : mapping
        What a run of a claim takes, by its id.

    Returns
    -------
    Course or None
        None where no look is left or needed.
    """
    waiting = [course for course in courses if not course.done]
    return max(
        waiting,
        key=lambda course: (course.look == 0, course.open / max(course.missing * seconds[course.claim.id], 1e-9)),
        default=None,
    )
