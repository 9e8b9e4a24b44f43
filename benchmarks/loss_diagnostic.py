"""What the loss diagnostic of ``auto`` is worth: which runs it doubts, and how often its range holds the truth.

python -m benchmarks.loss_diagnostic [--repeats 2] [--first 0] [--epsilons 0.1,0.3,1] [--jobs 2]
    [--fit] [--settings 360]

A run is bad if it loses more than twice as much as k-means++. A false alarm is a doubt about a run that loses less than
1.2 times as much. ``--fit`` prints how the symptoms of ``dpviz/algorithms/auto/loss_diagnostic.py`` are weighed, and
how wide its range has to be. It fits on the families that do not judge, at sizes drawn as those of
``benchmarks/expectation.py`` are, with δ and without; all families are judged at the few sizes below.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.linear_model import LogisticRegression, QuantileRegressor
from threadpoolctl import threadpool_limits

from benchmarks.expectation import EPSILONS, list_settings
from benchmarks.families import FAMILIES, FORECAST_FAMILIES, Family, Rows, Size, generated
from benchmarks.timing import machine
from dpviz.algorithms.auto.loss_diagnostic import collect_seen
from dpviz.runs.clipped_rows import clip_rows
from dpviz.runs.evaluation import find_reference, nicv
from dpviz.runs.one_run import run

DELTA, BAD, FINE = 1e-6, 2.0, 1.2
# One run in twenty lies below a range, and one above it.
OUTSIDE = (0.05, 0.95)
SIZES = (
    Size(10_000, 1, 4),
    Size(20_000, 2, 5),
    Size(3_000, 2, 10),
    Size(20_000, 6, 2),
    Size(5_000, 6, 3),
    Size(20_000, 6, 4),
    Size(5_000, 6, 5),
    Size(10_000, 10, 10),
)


class Diagnosed(NamedTuple):
    """One run: how much it lost, its symptoms, whether its diagnostic doubts it, and whether the range held.

    ``off`` are the parts by which an estimate may be off, ``error`` is the logarithm of what it was; ``flat`` where
    cells lie over the rows' own columns.
    """

    family: Family
    epsilon: float
    lost: float
    symptoms: Rows
    doubted: bool
    held: bool
    width: float
    off: tuple[float, ...]
    error: float
    flat: bool


def diagnose_runs(
    family: Family, size: Size, epsilons: Iterable[float], seed: int, *, pure: bool = False
) -> list[Diagnosed]:
    """Runs on one table, one for each ε; with and without δ in turn where some are to be ``pure``."""
    with threadpool_limits(1):
        table, found = generated(family, size, seed), []
        revealed = clip_rows(table.reveal(note="a bench"), table.domain.region)
        points = np.asarray(revealed.points)
        of_one, reference = nicv(points, points.mean(axis=0)[None]), find_reference(revealed, size.k).nicv
        for place, epsilon in enumerate(epsilons, start=seed):
            delta = 0.0 if pure and place % 2 else DELTA
            done = run("auto", table, k=size.k, epsilon=epsilon, delta=delta, seed=seed)
            diagnostic, loss = done.loss_diagnostic, nicv(points, done.unit_centers)
            seen = collect_seen([frame.step for frame in done.frames], done.domain.region)
            assert diagnostic is not None and seen is not None
            held, width = diagnostic.low <= loss / of_one <= diagnostic.high, diagnostic.high / diagnostic.low
            found.append(
                Diagnosed(
                    *(family, epsilon, loss / reference, seen.symptoms),
                    doubted=bool(diagnostic.doubts),
                    held=held,
                    width=width,
                    off=seen.off,
                    error=float(np.log(loss / of_one / (seen.loss / seen.of_one))),
                    flat=seen.flat,
                )
            )
        return found


def main() -> None:
    """A line for each family, one for each ε, and all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--epsilons", default="0.1,0.3,1")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--settings", type=int, default=360, help="tables to fit on")
    asked = parser.parse_args()
    epsilons = EPSILONS if asked.fit else tuple(float(epsilon) for epsilon in asked.epsilons.split(","))
    print(machine())
    families = [family for family in (*FAMILIES, *FORECAST_FAMILIES) if not (asked.fit and family.judging)]
    seeds = range(asked.first, asked.first + asked.repeats)
    plans = [(family, size, seed) for family in families for size in SIZES for seed in seeds]
    if asked.fit:
        plans = list(list_settings(asked.settings, judging=False))
    parts = Parallel(asked.jobs)(delayed(diagnose_runs)(*plan[:2], epsilons, plan[2], pure=asked.fit) for plan in plans)
    found = [one for part in parts for one in part]
    if asked.fit:
        _fit(found)
    for family in families:
        name = family.name + (" (judging)" if family.judging else "")
        _line(name, [one for one in found if one.family == family])
    for epsilon in epsilons:
        _line(f"ε = {epsilon:g}", [one for one in found if one.epsilon == epsilon])
    _line("all", found)


def _fit(found: list[Diagnosed]) -> None:
    """Bad runs told from fine ones by their symptoms; both weigh the same, and so does each kind of tables."""
    told = [one for one in found if one.lost > BAD or one.lost < FINE]
    kinds = [(one.family.kind, one.lost > BAD) for one in told]
    model = LogisticRegression(C=10, max_iter=10_000)
    weights = np.array([len(told) / kinds.count(kind) for kind in kinds])
    model.fit(np.array([one.symptoms for one in told]), [one.lost > BAD for one in told], weights)
    print("at first", model.intercept_.round(2), "weights", model.coef_.round(2))
    for flat in (True, False):
        own = [one for one in found if one.flat is flat]
        share = [one.family.kind for one in own]
        weights = np.array([len(own) / share.count(kind) for kind in share])
        for quantile in OUTSIDE:
            end = QuantileRegressor(quantile=quantile, alpha=1e-4)
            end.fit(np.array([one.off for one in own]), np.array([one.error for one in own]), sample_weight=weights)
            where = "own columns" if flat else "in a view"
            print(f"range, {where}, {quantile:g}: at first {end.intercept_:.2f}", "times", end.coef_.round(2))


def _line(name: str, found: list[Diagnosed]) -> None:
    bad, fine = [one for one in found if one.lost > BAD], [one for one in found if one.lost < FINE]
    held, width = np.mean([one.held for one in found]), np.median([one.width for one in found])
    print(
        f"{name:26s} bad: {sum(one.doubted for one in bad):3d} of {len(bad):3d} doubted | "
        f"fine: {sum(one.doubted for one in fine):3d} of {len(fine):3d} doubted | "
        f"range held {held:4.0%}, its end {width:.1f} times its beginning in the median"
    )


if __name__ == "__main__":
    main()
