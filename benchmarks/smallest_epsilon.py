"""Whether the smallest ε that is found for a target is confirmed by runs of other seeds, within its stated interval.

python -m benchmarks.smallest_epsilon [--data FOLDER] [--jobs 1]

A study over ``EPSILONS`` and a bisection state an answer and an interval, as on the page and with its numbers of runs.
Runs of other seeds then take place at both ends: at the lower end fewer than 8 in 10 of them must meet the target, and
at the upper one 8 in 10 or more. The interval is meant for nine answers in ten. The tables are those of judging
families, and published ones (benchmarks/real_tables.py) where ``--data`` holds them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import replace
from math import inf, isfinite, nan
from pathlib import Path
from typing import Any

import pandas as pd
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from benchmarks.families import FAMILIES, Size, generated
from benchmarks.real_tables import REAL, real_table
from benchmarks.timing import machine
from dpviz.core.private_session import PrivateTable
from dpviz.runs.advice.advice import Target
from dpviz.runs.clipped_rows import JudgedTable
from dpviz.runs.request import Contender
from dpviz.runs.smallest_epsilon import SmallestEpsilon, sharpen_rows
from dpviz.runs.study.grid import StudyGrid
from dpviz.runs.study.study import Yardstick, compute_study_rows, measure_yardstick, tidy

EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
TARGETS = (Target(1.1), Target(1.3))
ALGORITHMS = ("auto", "dplloyd", "lsh-coreset")
SIZES = (Size(5_000, 2, 8), Size(10_000, 3, 5), Size(20_000, 6, 5))
REPEATS, ROUNDS, OTHER_REPEATS = 20, 5, 101
DELTA = 1e-6
STUDY_SEED, OTHER_SEED, TABLE_SEED = 0, 77_000, 5

Rows = list[dict[str, Any]]


def judged(name: str, make: Callable[[], tuple[PrivateTable, int]]) -> Rows:
    """A line for each algorithm and target on one table."""
    with threadpool_limits(1):
        table, k = make()
        rows = JudgedTable.of(table, table.reveal(note="a bench"), None)
        stick = measure_yardstick(rows, k)
        return [
            {"table": name, "algorithm": algorithm, "target": target.loss, **found}
            for algorithm in ALGORITHMS
            for target, found in _found(rows, stick, Contender(algorithm))
        ]


def _found(rows: JudgedTable, stick: Yardstick, contender: Contender) -> Iterator[tuple[Target, dict[str, Any]]]:
    """Of each target: the answer, and what runs of other seeds say at both ends."""
    grid = StudyGrid((contender,), (stick.k,), tuple(EPSILONS), (DELTA,), repeats=REPEATS, seed=STUDY_SEED)
    first = [item for item in compute_study_rows(rows, grid, yardsticks=[stick]) if isinstance(item, dict)]
    for target in TARGETS:
        more = sharpen_rows(rows, grid, first, target, yardstick=stick, rounds=ROUNDS)
        (answer,) = SmallestEpsilon.find_all(tidy([*first, *(item for item in more if isinstance(item, dict))]), target)
        low, high = (answer.low, answer.high) if answer.reached else (answer.highest, inf)
        ends = sorted({end for end in (low, high) if isfinite(end)})
        other = replace(grid, epsilons=tuple(ends), repeats=OTHER_REPEATS, seed=OTHER_SEED)
        again = compute_study_rows(rows, other, yardsticks=[stick])
        frame = tidy([item for item in again if isinstance(item, dict)])
        met = {end: target.is_met(frame["ratio"][frame["epsilon"] == end].to_numpy()) for end in ends}
        ratios = frame.groupby("epsilon")["ratio"].quantile(target.share)
        # Nothing is claimed below the range, nor above it.
        low_misses = low <= answer.lowest or not met[low]
        high_meets = not isfinite(high) or met[high]
        yield (
            target,
            {
                **{"epsilon": answer.epsilon, "low": low, "high": high},
                **{"ratio at low": ratios.get(low, nan), "ratio at high": ratios.get(high, nan)},
                "inside": answer.reached and answer.epsilon > answer.lowest,
                "confirmed": bool(low_misses and high_meets),
            },
        )


def tables(folder: Path | None) -> Iterator[tuple[str, Callable[[], tuple[PrivateTable, int]]]]:
    """The name of each table and how it is made."""
    for family in (family for family in FAMILIES if family.judging):
        for size in SIZES:
            yield (
                f"{family.name}, {size.n:,} × {size.d}",
                lambda family=family, size=size: (generated(family, size, TABLE_SEED), size.k),
            )
    for name in REAL if folder is not None else ():
        yield name, lambda name=name: real_table(name, folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="a folder with published files")
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args()
    print(machine())
    work = [delayed(judged)(name, make) for name, make in tables(asked.data)]
    lines: Rows = []
    for part in Parallel(n_jobs=asked.jobs, return_as="generator")(work):
        lines += part
        print(pd.DataFrame(part).to_string(index=False, float_format="{:.4g}".format), flush=True)
    frame = pd.DataFrame(lines)
    inside = frame[frame["inside"]]
    print(
        f"{inside['confirmed'].sum()} of {len(inside)} answers inside the range are confirmed, and "
        f"{frame['confirmed'].sum()} of all {len(frame)}, with those at its lower end and beyond it."
    )


if __name__ == "__main__":
    main()
