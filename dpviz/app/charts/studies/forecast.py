"""What to expect before any run: the stored study's losses against ε, on made-up tables of about the table's size."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite, nan
from typing import ClassVar

import numpy as np
import pandas as pd

from dpviz.app.charts.studies.curves import Curves
from dpviz.runs import MADE_UP, Prospects, SmallestEpsilon, Target, find_reached_loss
from dpviz.words import format_things

_PARTS = (0.25, 0.5, 0.75)


@dataclass(frozen=True, eq=False)
class Forecast(Curves):
    """Medians and middle halves over made-up tables, which count by their closeness (column ``weight`` of the runs)."""

    noun: ClassVar[str] = MADE_UP

    @cached_property
    def medians(self) -> pd.DataFrame:
        """As of a study of runs; ``runs`` counts the made-up tables."""
        rows = []
        for (name, epsilon), group in self.runs.groupby(["contender", "epsilon"], sort=False):
            losses, weights = (group[column].to_numpy(np.float64) for column in ("ratio", "weight"))
            parts = [find_reached_loss(losses, part, weights) for part in _PARTS]
            rows.append((str(name), float(str(epsilon)), *parts, len(group)))
        medians = pd.DataFrame(rows, columns=["algorithm", "at", "low", "median", "high", "runs"])
        best = medians["median"] == medians.groupby("at")["median"].transform("min")
        return medians.assign(best=best & ~medians["at"].where(best).duplicated())

    @property
    def basis(self) -> str:
        """What each point rests on."""
        number = int(self.medians["runs"].max()) if len(self.medians) else 0
        return format_things(number, "made-up table", MADE_UP)

    def list_answers(self, prospects: Prospects, target: Target) -> list[SmallestEpsilon]:
        """Each algorithm's smallest ε for a target, as the stored study has it, of those on the axis; the smallest
        first.
        """
        found = []
        for (name, algorithm), runs in self.runs.groupby(["contender", "algorithm"], sort=False):
            line, needed = self.lines[str(name)], prospects.find_needed(str(algorithm), target)
            tried = sorted(line["at"])
            epsilon = next((at for at in tried if at >= needed * (1 - 1e-9)), inf)
            typical = float(line["median"][line["at"] == epsilon].iloc[0]) if isfinite(epsilon) else nan
            ends = (epsilon, epsilon, epsilon, tried[0], tried[-1])
            found.append(SmallestEpsilon(str(name), *ends, len(runs) // len(tried), typical=typical))
        return sorted(found, key=lambda one: (one.epsilon, one.typical))
