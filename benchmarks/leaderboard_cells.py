"""The cells of the leaderboard: who lost how much in each, what it really spent, and how far behind the best it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd

# Who spends so much more than was asked for is no rival: what is left are last bits.
_HONEST = 1 + 1e-6


class Score(NamedTuple):
    """What an algorithm did in a cell: medians of its runs, and what it really spent; nothing where it did not run."""

    name: str
    loss: float | None
    seconds: float | None
    spent: float | None
    outcome: str

    def fair(self, epsilon: float) -> bool:
        """Whether it ran and spent no more than was asked for."""
        return self.loss is not None and self.spent is not None and self.spent <= epsilon * _HONEST


class Cell(NamedTuple):
    """A table at an ε, with the scores of everybody, the best first."""

    table: str
    epsilon: float
    scores: tuple[Score, ...]

    @property
    def best(self) -> Score | None:
        return next((score for score in self.scores if score.fair(self.epsilon)), None)

    def of(self, name: str) -> Score | None:
        """The score of one."""
        return next((score for score in self.scores if score.name == name), None)

    def behind(self, name: str) -> float | None:
        """The loss of one over that of the best; None where it, or everybody, did not run."""
        mine, best = self.of(name), self.best
        if mine is None or mine.loss is None or best is None or best.loss is None:
            return None
        return mine.loss / best.loss


def cells_in(rows: Sequence[dict[str, Any]]) -> list[Cell]:
    """The cells of tidy rows: medians over the runs of each algorithm, the least loss first."""
    frame = pd.DataFrame(list(rows))
    found = []
    for (table, epsilon), part in frame.groupby(["table", "epsilon"], sort=False):
        scores = [_score(str(name), runs) for name, runs in part.groupby("algorithm", sort=False)]
        scores.sort(key=lambda score: float("inf") if score.loss is None else score.loss)
        found.append(Cell(str(table), float(epsilon), tuple(scores)))
    return found


def _score(name: str, runs: pd.DataFrame) -> Score:
    done = runs[runs.outcome == "done"]
    if done.empty:
        return Score(name, None, None, None, str(runs.outcome.iloc[0]))
    loss, seconds = (float(done[column].astype(float).median()) for column in ("ratio", "seconds"))
    return Score(name, loss, seconds, float(done.spent_epsilon.astype(float).max()), "done")
