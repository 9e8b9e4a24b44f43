"""How sure a verdict is: its margins over tables whose runs are drawn again.

A verdict is a function of a table, so that its spread is that of the verdicts of tables that the same experiment could
have given. At each place, the runs of a line are drawn with replacement among themselves, a run with all its rows (the
percentile bootstrap of Efron 1979). The generator is numpy's PCG64 with seed 0, 200 draws; an interval leaves out a
twentieth at either end, and always holds what was found. Of a path with several looks each interval leaves out a
two-hundredth of 600 draws, so that nine paths in ten see no interval that misses (see ``PATH_TAIL``). Where it rests on
fewer than five runs it is widened as Student's law widens that of a mean: 5.4 times for two runs, 2.2 times for three
where a twentieth is left out (Hesterberg 2015, on small samples).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from math import floor, inf, sqrt
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import norm as normal
from scipy.stats import t as student

from dpviz.app.charts.studies.stored_verdicts import ClaimFinding, ClaimVerdict, MarginInterval
from dpviz.core.arrays import Array, Codes

DRAWS, TAIL, SEED = 200, 0.05, 0
LOOKS = 13
"""The most looks that a path may take at its runs, which double from one to the next."""
PATH_TAIL, PATH_DRAWS = 0.005, 600
"""What each interval of a path leaves out at either end, the same at every look (Pocock 1977), and of how many draws.

Looks share runs, so that their intervals miss together: of Gaussian means at thirteen looks, each at twice as many runs
as the last, 9.4 % of paths see an interval that misses, where the sum of the parts is 13 % (Bonferroni). An answer is
wrong only where an interval misses on one side: 4.7 % of paths, 6.5 % at most by that sum. Runs that lay there under a
rule of fewer looks are judged by this one alone, which is stricter at every look, so that nothing is carried over.
"""
_ENOUGH = 5
# So many runs of a cell are told apart when it is asked whether it matters; more go by so many groups of like rank.
_APART = 32
# What tells one place and line from another, where a table has it.
PLACE = ("data", "origin", "n", "d", "k", "epsilon", "delta", "reach", "power", "rows_per_block", "line")
# A cell matters that explains so much of the variance of a margin, or of the side of the line on which it lies: a rare
# bad run of a cell of few runs tips a margin seldom, and hardly shows in its variance.
_MATTERS = 0.05


class VerdictCells(NamedTuple):
    """A verdict with its intervals, and of each finding the cells that its margin rests on: places and lines."""

    verdict: ClaimVerdict
    cells: tuple[list[dict[Hashable, Any]], ...]


def weigh_table(judge: Callable[[pd.DataFrame], ClaimVerdict], table: pd.DataFrame, *, looks: int = 1) -> VerdictCells:
    """What ``judge`` finds in ``table``, each finding with the interval of its margin.

    Parameters
    ----------
    judge : function of a table
    table : DataFrame
        A row a run, or several.
    looks : int
        How many such intervals the path may see, ``LOOKS`` at most: all of them hold nine times in ten.

    Returns
    -------
    VerdictCells
    """
    found = judge(table)
    where = list_place_columns(table)
    cells = table[where].drop_duplicates().to_dict("records")
    runs = table.groupby(where, dropna=False, sort=False)["repeat"].nunique().to_numpy().astype(np.int64)
    if runs.min() < 2:
        return VerdictCells(found, tuple(cells for _ in found.findings))
    tail, draws = (TAIL, DRAWS) if looks == 1 else (PATH_TAIL, PATH_DRAWS)
    drawn, shares = redraw_verdicts(judge, table, draws)
    groupings = group_runs(table, shares)
    parts, moved = [], []
    for place, finding in enumerate(found.findings):
        margins = np.array([verdict.findings[place].margin for verdict in drawn])
        explained = explain_variance(margins, groupings)
        tipped = explain_variance((margins >= 1).astype(np.float64), groupings, tail=0.0)
        matters, number = (explained > _MATTERS) | (tipped > _MATTERS), count_effective_runs(explained, runs)
        with_interval = _add_interval(finding, margins, number, tail)
        today = _weigh_today(finding, [verdict.findings[place].today for verdict in drawn], number, tail)
        parts.append(replace(with_interval, today=today))
        moved.append([cell for cell, counts in zip(cells, matters, strict=True) if counts])
    return VerdictCells(ClaimVerdict(tuple(parts)), tuple(moved))


def redraw_verdicts(
    judge: Callable[[pd.DataFrame], ClaimVerdict], table: pd.DataFrame, draws: int
) -> tuple[list[ClaimVerdict], list[Array]]:
    """The verdicts of tables that were drawn again, and of each cell how often each of its runs was drawn.

    Parameters
    ----------
    judge : function of a table
    table : DataFrame
        A row a run, or several.
    draws : int
        How many tables are drawn.

    Returns
    -------
    list of ClaimVerdict
    list of array of shape (draws, runs of the cell)
        In the order in which the cells appear.
    """
    where = list_place_columns(table)
    groups = table.groupby(where, dropna=False, sort=False).ngroup().to_numpy()
    run = table.groupby([*where, "repeat"], dropna=False, sort=False).ngroup().to_numpy()
    rows, lengths = np.argsort(run, kind="stable"), np.bincount(run)
    starts = np.cumsum(lengths) - lengths
    group_of_run = groups[rows[starts]]
    chosen = draw_runs(group_of_run, draws)
    verdicts = []
    for of_draw in chosen:
        taken = lengths[of_draw]
        within = np.arange(taken.sum()) - np.repeat(np.cumsum(taken) - taken, taken)
        verdicts.append(judge(table.iloc[rows[np.repeat(starts[of_draw], taken) + within]]))
    number = len(group_of_run)
    counts = np.stack([np.bincount(of_draw, minlength=number) for of_draw in chosen]).astype(np.float64)
    return verdicts, [counts[:, group_of_run == group] for group in range(groups.max() + 1)]


def group_runs(table: pd.DataFrame, counts: Sequence[Array]) -> list[list[Array]]:
    """Of each cell how often its runs were drawn, one by one or, of many, by groups of like rank.

    A margin moves with how high the runs are that were drawn, and more numbers than draws would explain it by chance.

    Parameters
    ----------
    table : DataFrame
        A row a run, or several.
    counts : sequence of arrays of shape (draws, runs)
        Of each cell, as ``redraw_verdicts`` has them.

    Returns
    -------
    list of list of array of shape (draws, groups)
        Of each cell one array for each number that was measured, or a single one where runs are told apart.
    """
    where = list_place_columns(table)
    by_run = table.groupby([*where, "repeat"], dropna=False, sort=False)
    columns = [name for name in table.select_dtypes("number").columns if name not in (*where, "repeat")]
    values = by_run[columns].mean().to_numpy(np.float64)
    first = table.groupby(where, dropna=False, sort=False).ngroup().to_numpy()[by_run.cumcount().to_numpy() == 0]
    groupings = []
    for place, of_cell in enumerate(counts):
        runs = of_cell.shape[1]
        if runs <= _APART:
            groupings.append([of_cell])
            continue
        measured = values[first == place]
        varied = measured[:, np.ptp(np.nan_to_num(measured), axis=0) > 0]
        starts = np.arange(_APART) * runs // _APART
        ranked = [of_cell[:, np.argsort(column, kind="stable")] for column in varied.T]
        groupings.append([np.add.reduceat(of_rank, starts, axis=1) for of_rank in ranked])
    return groupings


def explain_variance(margins: Array, groupings: Sequence[Sequence[Array]], *, tail: float = 0.02) -> Array:
    """Which part of the variance of margins each cell explains, by how often its runs were drawn.

    What chance alone explains in most cases is taken off: its mean and three standard deviations.

    Parameters
    ----------
    margins : array of shape (draws,)
        Of one finding, in tables that were drawn again.
    groupings : sequence of sequences of arrays of shape (draws, groups)
        Of each cell, how often each of its runs was drawn, or each group of them; by the grouping that explains most.
    tail : float
        What is drawn in at either end of the margins, so that few of them are not all.

    Returns
    -------
    array of shape (cells,)
        Below 0 where chance would explain more.
    """
    finite = np.nan_to_num(margins, posinf=1e9)
    spread = np.clip(finite, *np.quantile(finite, [tail, 1 - tail]))
    away = spread - spread.mean()
    size = float(np.linalg.norm(away))
    if size <= 1e-12 * float(np.abs(spread).max(initial=1.0)):
        return np.zeros(len(groupings))
    return np.array([max((_explain(away, counts) for counts in of_cell), default=0.0) for of_cell in groupings])


def _explain(away: Array, counts: Array) -> float:
    """What ``counts`` explain of the variance of numbers with mean 0, less what chance would."""
    shifts, others = counts - counts.mean(axis=0), counts.shape[1] - 1
    lengths = np.maximum(np.linalg.norm(shifts, axis=0), 1e-12)
    alike = away @ shifts / (lengths * np.linalg.norm(away))
    chance = (others + 3 * sqrt(2 * others)) / len(away)
    return float(np.square(alike).sum() - chance)


def count_effective_runs(explained: Array, runs: Codes) -> int:
    """How many runs a margin rests on: of the cells that explain its variance, by their parts of it.

    One over the number less one is the mean of one over theirs, as of the degrees of freedom of a variance.

    Parameters
    ----------
    explained : array of shape (cells,)
        Parts of the variance of a margin.
    runs : int array of shape (cells,)
        Runs of each cell.

    Returns
    -------
    int
    """
    weights = np.where(explained > _MATTERS, explained, 0.0)
    if not weights.any():
        return int(runs.min())
    return 1 + floor(float(weights.sum() / (weights / (runs - 1)).sum()) + 1e-9)


def _weigh_today(
    finding: ClaimFinding, drawn: Sequence[ClaimFinding | None], runs: int, tail: float
) -> ClaimFinding | None:
    if finding.today is None:
        return None
    return _add_interval(finding.today, np.array([again.margin for again in drawn if again is not None]), runs, tail)


def _add_interval(finding: ClaimFinding, margins: Array, runs: int, tail: float) -> ClaimFinding:
    return replace(finding, interval=find_interval(finding.margin, margins, runs, tail))


def find_interval(margin: float, drawn: Array, runs: int, tail: float = TAIL) -> MarginInterval:
    """The margins that were drawn but for a ``tail`` at either end, and the one found; margins may be infinite.

    Parameters
    ----------
    margin : float
        The one that was found.
    drawn : array of shape (draws,)
        Margins of tables that were drawn again.
    runs : int
        How many runs the margin rests on.
    tail : float
        What is left out at either end.

    Returns
    -------
    MarginInterval
        It holds ``margin``.
    """
    low = min(margin, float(np.quantile(drawn, tail, method="lower")))
    high = max(margin, float(np.quantile(drawn, 1 - tail, method="higher")))
    return widen_interval(margin, MarginInterval(low, high, runs), tail)


def widen_interval(margin: float, between: MarginInterval, tail: float = TAIL) -> MarginInterval:
    """``between`` about ``margin``, by ratios: redraws of fewer than five runs hardly leave the range of these.

    Parameters
    ----------
    margin : float
        What lies in it.
    between : MarginInterval
    tail : float
        What it leaves out at either end.

    Returns
    -------
    MarginInterval
        The same one from five runs on.
    """
    if between.runs >= _ENOUGH or not 0 < margin < inf:
        return between
    left = between.runs - 1
    wider = float(student.ppf(1 - tail, left) / normal.ppf(1 - tail)) * sqrt(between.runs / left)
    return MarginInterval(
        margin * (between.low / margin) ** wider, margin * (between.high / margin) ** wider, between.runs
    )


def draw_runs(group: Codes, draws: int, seed: int = SEED) -> Codes:
    """For each run a run of its own group, drawn with replacement; (draws, runs).

    Parameters
    ----------
    group : int array of shape (runs,)
        The cell of each run.
    draws : int
    seed : int
        Of numpy's PCG64.

    Returns
    -------
    int array of shape (draws, runs)
    """
    by_group, sizes = np.argsort(group, kind="stable"), np.bincount(group)
    first = np.cumsum(sizes) - sizes
    chance = np.random.default_rng(seed).random((draws, len(group)))
    chosen: Codes = by_group[first[group] + (chance * sizes[group]).astype(np.int64)]
    return chosen


def list_place_columns(table: pd.DataFrame) -> list[str]:
    """The columns that tell cells apart."""
    return [column for column in PLACE if column in table.columns]
