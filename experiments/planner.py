"""Which runs a claim still needs: more where the interval of a margin holds its line, none where it is decided.

A path looks at its runs at most thirteen times, each time at twice as many of those that matter. Nine in ten is for the
whole path: what an interval may miss is chosen for all looks together (``redraw.PATH_TAIL``), so that stopping at the
first look which decides errs no more often than that. A stored run says at which look it was judged first, so that each
look can be taken again from the table. Which cells matter is read from the redraws behind the intervals:
those whose runs explain a twentieth of a margin's variance or more (Efron 2014, on the accuracy of bagged estimates),
or of the side of the line on which it lies.
A cell that begins to matter late has few runs: it gets four times as many as its finding needs by its interval, where
that is less than the look allows.
Of lines that share a run only those that a look asked for count at it; the others' wait for a look that asks for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from io import StringIO
from math import ceil, nan
from typing import Any

import pandas as pd

from dpviz.app.charts.studies.stored_verdicts import ClaimFinding, ClaimVerdict, Outcome
from dpviz.tables.file_format import format_frame
from experiments.claim import Claim, Row
from experiments.material import DatasetCache
from experiments.redraw import PLACE, VerdictCells, weigh_table
from experiments.verdict_table import LOOK, select_look

# Digits of a number in a stored table: more would be rounding, and the files are small.
FORMAT = "%.6g"
# Runs for a look over those that its interval asks for: what it asks for is a guess, and looks are few.
_SPARE = 4.0

Key = tuple[str, ...]


def find_key(row: Mapping[Any, Any]) -> Key:
    """The cell of a row, the same before it is written and after it was read."""
    values = (row.get(name) for name in PLACE)
    return tuple(value if isinstance(value, str) else FORMAT % (nan if value is None else value) for value in values)


class RunPlan:
    """One claim on its way: the runs that there are, those that are wanted next, and the verdict so far.

    Parameters
    ----------
    claim : Claim
    settings : settings
        Of the claim.
    datasets : DatasetCache
    looks : int
        The most that the path may take.
    stored : DataFrame
        Runs of these settings that lie there already; those of other tables are left out.
    look : int
        How many looks were taken at them.
    waiting : DataFrame or None
        Runs that no look was taken at: those of one that was interrupted.
    before : ClaimVerdict or None
        What these looks found, by the rule of so many looks; None: the runs are judged anew, as one look.
    """

    def __init__(
        self,
        claim: Claim,
        settings: Any,
        datasets: DatasetCache,
        *,
        looks: int,
        stored: pd.DataFrame,
        look: int = 0,
        waiting: pd.DataFrame | None = None,
        before: ClaimVerdict | None = None,
    ) -> None:
        self.claim, self.settings, self.looks, self.look = claim, settings, looks, look
        self._datasets = datasets
        self._repeats = dict[Key, int]()
        self._rows: list[Row] = []
        self._have = dict[Key, set[int]]()
        self.verdict = before
        self._plan()
        self._targets = dict(self._repeats)
        if not look:
            stored = stored.drop(columns=LOOK, errors="ignore")
        elif looks > 1 and LOOK not in stored:
            stored = stored.assign(**{LOOK: look})
        self._read(stored)
        # Of each cell, the runs that looks were taken at: from 0 to this number, without a gap.
        self._judged = {key: len(have) for key, have in self._have.items()} if look else dict[Key, int]()
        self._read(pd.DataFrame() if waiting is None else waiting.drop(columns=LOOK, errors="ignore"))
        if look:
            self.weigh()

    def _read(self, table: pd.DataFrame) -> None:
        for row in table.to_dict("records"):
            if find_key(row) in self._repeats:
                self._add({str(name): value for name, value in row.items()})

    def _plan(self) -> None:
        def note(cell: Row, repeats: int) -> list[int]:
            self._repeats[find_key(cell)] = repeats
            return []

        for block in self.claim.blocks(self.settings):
            for _ in block.runs(self._datasets, note):
                raise AssertionError("nothing was wanted")

    def _add(self, row: Row) -> None:
        self._rows.append(row)
        self._have.setdefault(find_key(row), set()).add(int(row["repeat"]))

    def _wanted(self, cell: Row, repeats: int) -> list[int]:
        del repeats
        key = find_key(cell)
        return [repeat for repeat in range(self._targets.get(key, 0)) if repeat not in self._have.get(key, ())]

    @property
    def missing(self) -> int:
        """Runs until the next look."""
        targets = self._targets.items()
        return sum(number - len(self._have.get(key, set()) & set(range(number))) for key, number in targets)

    @property
    def open(self) -> int:
        """Findings without an answer."""
        verdict = self.verdict
        return 1 if verdict is None else verdict.count(Outcome.UNDECIDED)

    @property
    def done(self) -> bool:
        """Whether no look is left, or none is needed."""
        return self.look >= self.looks or (self.look > 0 and not self.open)

    def runs(self) -> Iterator[list[Row]]:
        """The runs until the next look, each once it is found."""
        for block in self.claim.blocks(self.settings):
            for rows in block.runs(self._datasets, self._wanted):
                for row in rows:
                    self._add(row)
                yield rows

    def weigh(self) -> None:
        """Look: judge the runs that were wanted so far, and choose the cells that the next look needs."""
        weighed = _stamp(weigh_table(self.claim.judge, select_look(self.table()), looks=self.looks), self.look)
        self.verdict = weighed.verdict if self.verdict is None else settle_verdict(self.verdict, weighed.verdict)
        both = zip(self.verdict.findings, weighed.cells, strict=True)
        self._targets = dict[Key, int]()
        for finding, cells in both:
            if finding.outcome is Outcome.UNDECIDED:
                for key in {find_key(cell) for cell in cells} & set(self._repeats):
                    self._targets[key] = max(self._targets.get(key, 0), self._choose_target(finding, key))

    def _choose_target(self, finding: ClaimFinding, key: Key) -> int:
        """The runs of a cell for the next look: what the look allows, or what its finding needs, where that is less."""
        have, allowed = self._judged.get(key, 0), self._repeats[key] * 2**self.look
        times = finding.runs_needed / finding.interval.runs if finding.interval else 2.0
        return int(min(allowed, max(2 * have, ceil(min(_SPARE * have * times, allowed)))))

    def take_look(self) -> None:
        """After all that was wanted has been run."""
        self.look += 1
        for key, number in self._targets.items():
            self._judged[key] = max(self._judged.get(key, 0), min(number, len(self._have.get(key, ()))))
        if self.looks > 1:
            for row in self._rows:
                if LOOK not in row and int(row["repeat"]) < self._judged.get(find_key(row), 0):
                    row[LOOK] = self.look
        self.weigh()

    def table(self, *, every: bool = False) -> pd.DataFrame:
        """The runs of the looks that were taken, as they are stored; ``every`` one, also of a look that is not."""
        kept = [row for row in self._rows if every or int(row["repeat"]) < self._judged.get(find_key(row), 0)]
        if not kept:
            return pd.DataFrame()
        text = format_frame(pd.DataFrame(kept), float_format=FORMAT, end="\n")
        return pd.read_csv(StringIO(text))


def choose(plans: Iterable[RunPlan], seconds: Mapping[str, float]) -> RunPlan | None:
    """The claim whose next look answers most for its time: open findings over the seconds of its missing runs.

    Parameters
    ----------
    plans : iterable of RunPlan
    seconds : mapping
        What a run of a claim takes, by its id.

    Returns
    -------
    RunPlan or None
        None where no look is left or needed.
    """
    waiting = [plan for plan in plans if not plan.done]
    return max(
        waiting,
        key=lambda plan: (plan.look == 0, plan.open / max(plan.missing * seconds[plan.claim.id], 1e-9)),
        default=None,
    )


def settle_verdict(before: ClaimVerdict, now: ClaimVerdict) -> ClaimVerdict:
    """What ``now`` says a look later: a finding that was decided stays as it was at the first look that decided.

    An answer errs where an interval of the path misses, which is what the rule of a path bounds: later looks would
    give a decided finding more chances to err, and no fewer.
    """
    parts = []
    for earlier, later in zip(before.findings, now.findings, strict=True):
        today = later.today and (later.today if earlier.today is None else _settle(earlier.today, later.today))
        parts.append(replace(_settle(earlier, later), today=today))
    return ClaimVerdict(tuple(parts))


def _settle(earlier: ClaimFinding, later: ClaimFinding) -> ClaimFinding:
    return later if earlier.interval is None or earlier.is_open else earlier


def _stamp(weighed: VerdictCells, look: int) -> VerdictCells:
    """The same with the look at each interval."""

    def stamp(finding: ClaimFinding) -> ClaimFinding:
        today = finding.today and stamp(finding.today)
        return replace(finding, today=today, interval=finding.interval and replace(finding.interval, look=look))

    return weighed._replace(verdict=ClaimVerdict(tuple(map(stamp, weighed.verdict.findings))))
