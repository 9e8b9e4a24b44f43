"""What to expect before any run: the stored study's losses against ε, on made-up tables of about the table's size."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isfinite, nan
from typing import ClassVar

import numpy as np
import pandas as pd

from dpviz.app.charts.studies.curves import Curves
from dpviz.core import Array
from dpviz.runs import MADE_UP, SmallestEpsilon, Target, find_reached_loss
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
            losses, weights = _list_columns(group)
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

    def list_answers(self, target: Target) -> list[SmallestEpsilon]:
        """Each algorithm's smallest ε for a target, by the definition that runs are read by; the smallest first."""
        found = []
        for name, line in self.lines.items():
            groups = {
                float(str(at)): _list_columns(group)
                for at, group in self.runs[self.runs["contender"] == name].groupby("epsilon")
            }
            losses = {at: losses for at, (losses, _) in groups.items()}
            epsilon = target.find_least(losses, {at: weights for at, (_, weights) in groups.items()})
            typical = float(line["median"][line["at"] == epsilon].iloc[0]) if isfinite(epsilon) else nan
            tables = len(next(iter(losses.values())))
            found.append(
                SmallestEpsilon(name, epsilon, epsilon, epsilon, min(groups), max(groups), tables, typical=typical)
            )
        return sorted(found, key=lambda one: (one.epsilon, one.typical))


def _list_columns(group: pd.DataFrame) -> tuple[Array, Array]:
    """Losses and weights."""
    return group["ratio"].to_numpy(np.float64), group["weight"].to_numpy(np.float64)
