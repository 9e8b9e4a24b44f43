"""What became of the papers' claims, as ``python -m experiments`` stored it: verdicts, and the runs behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from math import ceil, inf, log
from pathlib import Path
from typing import Any

import pandas as pd

from dpviz.words import RESOURCES

FOLDER = RESOURCES / "docs" / "reproduced"
"""What verdicts are about: published files where there are some, else generated tables."""
STAND_INS = FOLDER / "stand-ins"
"""The same, computed from generated tables throughout."""
FILE = "verdicts.json"
# So near to the line a margin is on neither side.
_NEAR = 1e-3


class Outcome(Enum):
    """What became of a claim, or of one of its findings, of which none holds in part."""

    HOLDS = "holds"
    IN_PART = "holds in part"
    FAILS = "does not hold"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class MarginInterval:
    """Where a margin lies in nine of ten redraws of its runs."""

    low: float
    high: float
    runs: int
    look: int = 0

    def __str__(self) -> str:
        return f"{self.low:.4g} to {self.high:.4g}"


@dataclass(frozen=True)
class ClaimFinding:
    """One ordering that a claim asserts, checked on a table of runs."""

    says: str
    holds: bool
    found: str
    margin: float
    reason: str = ""
    paper: str = ""
    ours: str = ""
    interval: MarginInterval | None = None
    today: ClaimFinding | None = None
    place: Mapping[str, Any] = field(default_factory=dict)
    counted: bool = False

    @property
    def is_open(self) -> bool:
        """Whether the answer tips within the interval of its margin."""
        if self.interval is None:
            return False
        if self.counted:
            return self.interval.low < 1 <= self.interval.high
        # Or so near that digits and starts of a solver could make it tip.
        return self.interval.low < 1 + _NEAR and self.interval.high > 1 - _NEAR

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

    @property
    def outcome(self) -> Outcome:
        """Undecided where the interval of the margin crosses 1."""
        if self.is_open:
            return Outcome.UNDECIDED
        return Outcome.HOLDS if self.holds else Outcome.FAILS


@dataclass(frozen=True)
class ClaimVerdict:
    """The findings of one claim, as its paper ran them, and what they come to."""

    findings: tuple[ClaimFinding, ...]

    @property
    def outcome(self) -> Outcome:
        """All findings hold, some, or none; undecided where those that are undecided could make it another."""
        found = {finding.outcome for finding in self.findings}
        if found == {Outcome.HOLDS} or found == {Outcome.FAILS}:
            return found.pop()
        return Outcome.IN_PART if {Outcome.HOLDS, Outcome.FAILS} <= found else Outcome.UNDECIDED

    @property
    def today(self) -> ClaimVerdict | None:
        """The same questions of what is run today; None where none of them differs."""
        if all(finding.today is None for finding in self.findings):
            return None
        return ClaimVerdict(tuple(finding.today or finding for finding in self.findings))

    @property
    def closest(self) -> ClaimFinding:
        """The finding that decides: the one that fails by most, or, where all hold, the one nearest to tipping."""
        return min(self.findings, key=lambda finding: finding.margin)

    @property
    def turning(self) -> tuple[ClaimFinding, float] | None:
        """The finding whose answer turns the whole by the smallest change, and that change as a factor above 1."""
        turns = []
        for place, finding in enumerate(self.findings):
            other = replace(finding, holds=not finding.holds, interval=None)
            changed = ClaimVerdict((*self.findings[:place], other, *self.findings[place + 1 :]))
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
class PaperFigure:
    """How a table is drawn in the form of the paper's figure."""

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


@dataclass(frozen=True)
class FindingSetting:
    """What decides a finding, to be looked at: how large a table, and what runs on it."""

    n: int
    d: int
    algorithm: str
    params: Mapping[str, Any]
    k: int
    epsilon: float
    delta: float


@dataclass(frozen=True)
class ClaimResult:
    """One group of experiments of a paper, and what came of it."""

    id: str
    paper: str
    claim: str
    about: str
    tables: tuple[str, ...]
    how: str
    notes: tuple[str, ...]
    figures: tuple[PaperFigure, ...]
    settings: tuple[FindingSetting, ...]
    verdict: ClaimVerdict

    @property
    def source(self) -> str:
        """The paper without the figure."""
        return self.paper.split(",")[0].removesuffix(" (Google AI blog)")

    @property
    def short(self) -> str:
        """The paper's first author and the figure, for narrow places."""
        where = self.paper.partition(",")[2].strip().replace("Tests", "T").replace("Test", "T").split(" (")[0]
        return f"{self.paper.split()[0]} {where or self.source.split()[-1]}"

    @property
    def is_on_files(self) -> bool:
        """Whether published files, or the nearest that there are, stand behind it, if only partly."""
        return self.about == "published files"


@dataclass(frozen=True)
class StoredVerdicts:
    """All claims of a folder in the order of the papers, and by which rules they were judged, in sentences."""

    rules: tuple[str, ...] = ()
    claims: tuple[ClaimResult, ...] = ()


def read_verdicts(folder: Path = FOLDER) -> StoredVerdicts:
    """What is stored in ``folder``; nothing where nothing lies there."""
    from pydantic import TypeAdapter

    file = folder / FILE
    return TypeAdapter(StoredVerdicts).validate_json(file.read_bytes()) if file.is_file() else StoredVerdicts()


def read_runs(claim_id: str, folder: Path = FOLDER) -> pd.DataFrame:
    """The runs behind a claim."""
    return pd.read_csv(folder / f"{claim_id}.csv")
