"""What a run of auto is to be expected to lose, by public quantities alone: fitted on the tuning families.

python -m benchmarks.expectation [--settings 60] [--repeats 3] [--jobs 2] [--check]

Prints the lines of dpviz/algorithms/auto/expectation.csv; there each part begins with the limit without noise, too.
``--check`` measures on the judging families
instead how often the fitted table was right.
"""

from __future__ import annotations

import argparse

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from benchmarks.families import FAMILIES, Family, Size, generated
from benchmarks.timing import machine
from dpviz.algorithms.auto.auto import expected, mean_noise, regime_of, stored_table
from dpviz.algorithms.card import Setting
from dpviz.runs.clipped_rows import clipped
from dpviz.runs.evaluation import nicv, reference_for
from dpviz.runs.run import run

DELTA, SEED = 1e-6, 400
EPSILONS = (0.1, 0.3, 1.0, 3.0)
# Borders of the table, in decades of the noise of a mean over the radius of a cluster.
# A line of the table rests on at least so many runs.
FEWEST = 8
EDGES = np.arange(-4.0, 1.01, 0.5)


def settings(number: int, *, judging: bool) -> list[tuple[Family, Size]]:
    """Random sizes and families of one kind, the same in every call."""
    rng = np.random.default_rng(SEED)
    families = [family for family in FAMILIES if family.judging is judging]
    made = []
    for _ in range(number):
        size = Size(
            int(rng.choice([1000, 3000, 10_000, 30_000])),
            int(rng.choice([1, 2, 3, 5, 8, 16, 40])),
            int(rng.choice([2, 5, 10, 20, 40])),
        )
        made.append((families[int(rng.integers(len(families)))], size))
    return made


def measured(family: Family, size: Size, repeats: int) -> list[tuple[Setting, list[float]]]:
    """The ratios of several runs at each ε, pure and with a δ."""
    with threadpool_limits(1):
        table = generated(family, size, SEED)
        revealed = clipped(table.reveal(note="a bench"), table.domain.region)
        reference = reference_for(revealed, size.k).nicv
        found = []
        for epsilon in EPSILONS:
            for delta in (0.0, DELTA):
                setting = Setting(size.d, size.k, epsilon, delta, n=size.n)
                runs = (
                    run("auto", table, k=size.k, epsilon=epsilon, delta=delta, seed=seed) for seed in range(repeats)
                )
                ratios = [nicv(revealed.points, done.unit_centers) / reference for done in runs]
                found.append((setting, ratios))
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", type=int, default=120)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    print(machine())
    work = [
        delayed(measured)(family, size, asked.repeats) for family, size in settings(asked.settings, judging=asked.check)
    ]
    found = [one for part in Parallel(n_jobs=asked.jobs)(work) for one in part]
    if asked.check:
        _check(found)
    else:
        _fit(found)


def _fit(found: list[tuple[Setting, list[float]]]) -> None:
    """Medians and upper deciles of all runs by the noise of a mean, made to rise with it."""
    for regime in stored_table():
        runs = [(mean_noise(s), ratio) for s, ratios in found if regime_of(s) == regime for ratio in ratios]
        noise, ratio = np.log10([r for r, _ in runs]), np.array([q for _, q in runs])
        bins = [ratio[(noise >= low) & (noise < low + 0.5)] for low in EDGES[:-1]]
        rows = [np.quantile(part, [0.5, 0.9]) if len(part) >= FEWEST else np.full(2, np.nan) for part in bins]
        table = np.array(rows)
        for column in table.T:
            known = ~np.isnan(column)
            column[known] = np.maximum.accumulate(column[known])
        for low, (middle, high), part in zip(EDGES[:-1], table, bins, strict=True):
            if len(part) >= FEWEST:
                print(f'"{regime}",{low + 0.25:.2f},{max(middle, 1.0):.3f},{max(high, 1.0):.3f}')


def _check(found: list[tuple[Setting, list[float]]]) -> None:
    """How often a run was above the median and the decile that were announced."""
    above = np.array([[ratio > expected(s).median, ratio > expected(s).decile] for s, rs in found for ratio in rs])
    print(f"{len(above):,} runs on judging families: {above[:, 0].mean():.0%} above the median that was announced, ")
    print(f"{above[:, 1].mean():.0%} above what one run in ten should exceed")


if __name__ == "__main__":
    main()
