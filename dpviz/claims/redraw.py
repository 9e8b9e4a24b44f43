"""How sure a verdict is: its margins over tables whose runs are drawn again.

A verdict is a function of a table, so that its spread is that of the verdicts of tables that the same experiment could
have given. At each place, the runs of a line are drawn with replacement among themselves, a run with all its rows (the
percentile bootstrap of Efron 1979). The generator is numpy's PCG64 with seed 0, 200 draws; an interval leaves out a
twentieth at either end, and always holds what was found. Of fewer than five runs it is widened
as Student's law widens that of a mean: 5.4 times for two runs, 2.2 times for three (Hesterberg 2015, on small samples).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import inf, sqrt

import numpy as np
import pandas as pd
from scipy.stats import norm as normal
from scipy.stats import t as student

from dpviz.arrays import Array, Codes
from dpviz.claims.claim import Finding, Interval, Verdict

DRAWS, TAIL, SEED = 200, 0.05, 0
_ENOUGH = 5
# What tells one place and line from another, where a table has it.
_PLACE = ("data", "origin", "n", "d", "k", "epsilon", "delta", "reach", "power", "rows_per_block", "line")


def weighed(judge: Callable[[pd.DataFrame], Verdict], table: pd.DataFrame, *, draws: int = DRAWS) -> Verdict:
    """What ``judge`` finds in ``table``, each finding with the interval of its margin."""
    found, runs = judge(table), fewest_runs(table)
    if runs < 2:
        return found
    drawn = [judge(again) for again in redrawn(table, draws)]
    parts = [
        replace(
            _between(finding, [verdict.findings[place].margin for verdict in drawn], runs),
            today=_today(finding, [verdict.findings[place].today for verdict in drawn], runs),
        )
        for place, finding in enumerate(found.findings)
    ]
    return Verdict(tuple(parts))


def _today(finding: Finding, drawn: Sequence[Finding | None], runs: int) -> Finding | None:
    if finding.today is None:
        return None
    return _between(finding.today, [again.margin for again in drawn if again is not None], runs)


def _between(finding: Finding, margins: Sequence[float], runs: int) -> Finding:
    return replace(finding, interval=interval_of(finding.margin, np.array(margins), runs))


def interval_of(margin: float, drawn: Array, runs: int) -> Interval:
    """Nine in ten of the margins that were drawn, and the one that was found; margins may be infinite."""
    low = min(margin, float(np.quantile(drawn, TAIL, method="lower")))
    high = max(margin, float(np.quantile(drawn, 1 - TAIL, method="higher")))
    return widened(margin, Interval(low, high, runs))


def widened(margin: float, between: Interval) -> Interval:
    """``between`` about ``margin``, by ratios: redraws of fewer than five runs hardly leave the range of these."""
    if between.runs >= _ENOUGH or not 0 < margin < inf:
        return between
    left = between.runs - 1
    wider = float(student.ppf(1 - TAIL, left) / normal.ppf(1 - TAIL)) * sqrt(between.runs / left)
    return Interval(margin * (between.low / margin) ** wider, margin * (between.high / margin) ** wider, between.runs)


def fewest_runs(table: pd.DataFrame) -> int:
    """Of all lines at all places."""
    return int(table.groupby(_place(table), dropna=False, sort=False)["repeat"].nunique().min())


def redrawn(table: pd.DataFrame, draws: int) -> Iterator[pd.DataFrame]:
    """Tables of the same form: at each place each run replaced by one of the same line there."""
    place = _place(table)
    groups = table.groupby(place, dropna=False, sort=False).ngroup().to_numpy()
    run = table.groupby([*place, "repeat"], dropna=False, sort=False).ngroup().to_numpy()
    rows, lengths = np.argsort(run, kind="stable"), np.bincount(run)
    starts = np.cumsum(lengths) - lengths
    for chosen in picks(groups[rows[starts]], draws):
        taken = lengths[chosen]
        within = np.arange(taken.sum()) - np.repeat(np.cumsum(taken) - taken, taken)
        yield table.iloc[rows[np.repeat(starts[chosen], taken) + within]]


def picks(group: Codes, draws: int, seed: int = SEED) -> Codes:
    """For each run a run of its own group, drawn with replacement; (draws, runs)."""
    by_group, sizes = np.argsort(group, kind="stable"), np.bincount(group)
    first = np.cumsum(sizes) - sizes
    chance = np.random.default_rng(seed).random((draws, len(group)))
    chosen: Codes = by_group[first[group] + (chance * sizes[group]).astype(np.int64)]
    return chosen


def _place(table: pd.DataFrame) -> list[str]:
    return [column for column in _PLACE if column in table.columns]
