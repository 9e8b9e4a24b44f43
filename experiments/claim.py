"""What a claim is: a paper's sentence about an experiment, how we run it, and how its table is judged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from math import ceil, inf, log
from typing import Any, Protocol, TypeAlias

import pandas as pd

from experiments.material import Shelf

Row = dict[str, Any]
Wanted: TypeAlias = Callable[[Row, int], Sequence[int]]
"""Which repeats of a cell are to be run, of the place and line in a row, and the number that a first look takes."""
# So near to the line a margin is on neither side.
_NEAR = 1e-3


class Outcome(Enum):
    """What became of a claim, or of one of its findings, of which none holds in part."""

    HOLDS = "holds"
    IN_PART = "holds in part"
    FAILS = "does not hold"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Interval:
    """Where a margin lies in nine of ten redraws of its runs.

    Parameters
    ----------
    low, high : float
    runs : int
        How many runs it rests on: those of the cells that move it.
    look : int
        Of its path, the look at which it was found; 0 where there is only one.
    """

    low: float
    high: float
    runs: int
    look: int = 0

    @property
    def crosses(self) -> bool:
        """Whether the answer tips within it, or so near that digits and starts of a solver could make it tip."""
        return self.low < 1 + _NEAR and self.high > 1 - _NEAR

    def __str__(self) -> str:
        return f"{self.low:.4g} to {self.high:.4g}"


@dataclass(frozen=True)
class Finding:
    """One ordering that a claim asserts, checked on a table of runs.

    Parameters
    ----------
    says : str
        What the paper says, as a clause.
    holds : bool
        Of the medians that were found; whether more runs could say otherwise is for ``outcome``.
    found : str
        The numbers behind it.
    margin : float
        The factor between what was found and where the answer would tip: above 1 where it holds.
    reason : str
        Where it does not hold: why, by name, and whether our runs bear that out.
    paper, ours : str
        What it asks for and what our runs gave, in short, side by side on a scoreboard.
    interval : Interval or None
        Of the margin; None where it has not been worked out, or no run was repeated.
    today : Finding or None
        The same question of what is run today, tuned or composed exactly; None where the paper's is today's.
    place : mapping
        Columns of the place that decides, with the line that is asked about; empty where no single one does.
    counted : bool
        Whether its margin is a quotient of counts, such as rows or iterations: one that is equal to what is asked for
        holds, where of a measured loss equality says nothing.
    """

    says: str
    holds: bool
    found: str
    margin: float
    reason: str = ""
    paper: str = ""
    ours: str = ""
    interval: Interval | None = None
    today: Finding | None = None
    place: Mapping[str, Any] = field(default_factory=dict)
    counted: bool = False

    @property
    def is_open(self) -> bool:
        """Whether the answer tips within the interval of its margin."""
        if self.interval is None:
            return False
        return self.interval.low < 1 <= self.interval.high if self.counted else self.interval.crosses

    @property
    def runs_needed(self) -> float:
        """About how many runs would answer where it is open: intervals shrink by their root; infinite on the line.

        The margin of counts jumps, so that no interval says how many: twice as many, and on from there.
        """
        between = self.interval
        if between is None or not self.is_open:
            return 0.0
        if self.counted:
            return 2.0 * between.runs
        nearer = between.low if self.margin > 1 else between.high
        away = abs(log(self.margin)) - _NEAR if 0 < self.margin < inf else 0.0
        if away <= 0 or not 0 < nearer < inf:
            return inf
        return ceil(between.runs * (log(self.margin / nearer) / away) ** 2)

    def _keep(self, later: Finding) -> Finding:
        return later if self.interval is None or self.is_open else self

    @property
    def outcome(self) -> Outcome:
        """Undecided where the interval of the margin crosses 1."""
        if self.is_open:
            return Outcome.UNDECIDED
        return Outcome.HOLDS if self.holds else Outcome.FAILS


@dataclass(frozen=True)
class Verdict:
    """The findings of one claim, as its paper ran them, and what they come to."""

    findings: tuple[Finding, ...]

    @property
    def outcome(self) -> Outcome:
        """All findings hold, some, or none; undecided where those that are undecided could make it another."""
        found = {finding.outcome for finding in self.findings}
        if found == {Outcome.HOLDS} or found == {Outcome.FAILS}:
            return found.pop()
        return Outcome.IN_PART if {Outcome.HOLDS, Outcome.FAILS} <= found else Outcome.UNDECIDED

    @property
    def today(self) -> Verdict | None:
        """The same questions of what is run today; None where none of them differs."""
        if all(finding.today is None for finding in self.findings):
            return None
        return Verdict(tuple(finding.today or finding for finding in self.findings))

    def settle(self, now: Verdict) -> Verdict:
        """What ``now`` says a look later: a finding that was decided stays as it was at the first look that decided.

        An answer errs where an interval of the path misses, which is what the rule of a path bounds: later looks would
        give a decided finding more chances to err, and no fewer.
        """
        parts = []
        for before, later in zip(self.findings, now.findings, strict=True):
            today = later.today and (later.today if before.today is None else before.today._keep(later.today))
            parts.append(replace(before._keep(later), today=today))
        return Verdict(tuple(parts))

    @property
    def closest(self) -> Finding:
        """The finding that decides: the one that fails by most, or, where all hold, the one nearest to tipping."""
        return min(self.findings, key=lambda finding: finding.margin)

    @property
    def turning(self) -> tuple[Finding, float] | None:
        """The finding whose answer turns the whole by the smallest change, and that change as a factor above 1."""
        turns = []
        for place, finding in enumerate(self.findings):
            other = replace(finding, holds=not finding.holds, interval=None)
            changed = Verdict((*self.findings[:place], other, *self.findings[place + 1 :]))
            if 0 < finding.margin < inf and changed.outcome is not self.outcome:
                turns.append((finding, max(finding.margin, 1 / finding.margin)))
        return min(turns, key=lambda turn: turn[1], default=None)

    def count(self, outcome: Outcome) -> int:
        """How many findings came out so."""
        return sum(finding.outcome is outcome for finding in self.findings)

    @property
    def sentence(self) -> str:
        """The verdict with its count, and the margin of those that hold which is nearest to tipping."""
        held = [finding.margin for finding in self.findings if finding.outcome is Outcome.HOLDS]
        undecided = self.count(Outcome.UNDECIDED)
        text = f"{self.outcome.value}: {len(held)} of {len(self.findings)} findings hold"
        text += f", {undecided} undecided" if undecided else ""
        return f"{text}; closest margin {min(held):.4g}×" if held else text


@dataclass(frozen=True)
class Picture:
    """How a table is drawn in the form of the paper's figure.

    Parameters
    ----------
    title : str
        Which figure of the paper this is like.
    x, x_title : str
        A column, and what its axis is called.
    y, y_title : str
        A column that is drawn as the median over the repeats, with quartiles.
    line, panel : str
        Columns that tell lines and panels apart.
    log_x, log_y : bool
    baseline : str
        A column that is drawn dashed, such as the loss of k-means++; "" for none.
    baseline_title : str
        What its line is called.
    heat : str
        A column for the vertical axis of heat maps of y, one for each line; "" for lines.
    only : mapping of column to values
        Which rows are drawn.
    """

    title: str
    x: str
    x_title: str
    y: str = "nicv"
    y_title: str = "loss per row"
    line: str = "line"
    panel: str = "data"
    log_x: bool = False
    log_y: bool = False
    baseline: str = ""
    baseline_title: str = "k-means++"
    heat: str = ""
    only: Mapping[str, Sequence[Any]] = field(default_factory=dict)


class Block(Protocol):
    """Experiments that are declared, not yet run: cells, each a line at a place of one table."""

    def runs(self, shelf: Shelf, wanted: Wanted) -> Iterator[list[Row]]:
        """The rows of each run that is ``wanted``; each cell is asked for once, whether it is run or not.

        Parameters
        ----------
        shelf : Shelf
            The tables.
        wanted : function of a cell and a number
            Which repeats of a cell are to be run; the number is that of a first look.

        Returns
        -------
        iterator of list of Row
            The rows of one run after the other.
        """


@dataclass(frozen=True)
class Claim:
    """One group of experiments of a paper.

    Parameters
    ----------
    id, paper, claim : str
        ``claim`` is one sentence.
    data : tuple of str
        Names of the tables on the shelf that it needs.
    quick, full : settings
        A frozen dataclass each: what ``blocks`` is given, and what the manifest writes down.
    blocks : function of settings to Block
        What is run. The same settings and tables give the same rows, timings apart.
    judge : function of a table
        The verdict; it knows nothing but the table.
    pictures : tuple of Picture
    notes : tuple of str
        What differs from the paper whatever the settings are.
    has_tables : bool
        Whether its tables can be opened: samples that are drawn by their law on the way cannot.
    """

    id: str
    paper: str
    claim: str
    data: tuple[str, ...]
    quick: Any
    full: Any
    blocks: Callable[[Any], Iterable[Block]]
    judge: Callable[[pd.DataFrame], Verdict]
    pictures: tuple[Picture, ...]
    notes: tuple[str, ...] = ()
    has_tables: bool = True

    @property
    def source(self) -> str:
        """The paper without the figure.

        >>> Claim("", "Su et al. 2016, Figs. 5-7", "", (), None, None, lambda s: (), lambda t: Verdict(()), ()).source
        'Su et al. 2016'
        """
        return self.paper.split(",")[0].removesuffix(" (Google AI blog)")

    @property
    def short(self) -> str:
        """The paper's first author and the figure, for narrow places."""
        where = self.paper.partition(",")[2].strip().replace("Tests", "T").replace("Test", "T").split(" (")[0]
        return f"{self.paper.split()[0]} {where or self.source.split()[-1]}"

    def settings(self, *, quick: bool) -> Any:
        """The settings of a quick or a full run."""
        return self.quick if quick else self.full

    def rows(self, shelf: Shelf, settings: Any) -> Iterator[Row]:
        """The rows of a first look at all cells.

        Parameters
        ----------
        shelf : Shelf
            The tables.
        settings : settings
            Of this claim.

        Returns
        -------
        iterator of Row
        """
        for block in self.blocks(settings):
            for run in block.runs(shelf, lambda cell, repeats: range(repeats)):
                yield from run
