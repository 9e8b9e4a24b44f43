"""How far released sizes of clusters are off, and how often intervals hold: by the last count, and by all releases.

python -m benchmarks.cluster_sizes [--repeats 3] [--epsilons 0.1,0.3,1] [--judging]

The true size of a cluster is how many rows are nearest to its released centre. An error is the median over the clusters
of a run of how far a size is off, as a part of the true one; the median of runs is told. Over up to three columns at
ε = 0.3 it is to be at most 15 %.
"""

from __future__ import annotations

import argparse

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.families import FAMILIES, FORECAST_FAMILIES, Rows, Size, generated
from benchmarks.timing import load, machine
from dpviz.algorithms.steps import CentersStep
from dpviz.core.partitions import Voronoi
from dpviz.runs.clipped_rows import clip_rows
from dpviz.runs.one_run import run
from dpviz.words import NINE_IN_TEN

DELTA, SEED = 1e-6, 640
# What is wanted of the median error at this ε, over so many columns.
WANTED, AT_EPSILON, COLUMNS = 0.15, 0.3, 3
SIZES = (Size(20_000, 2, 5), Size(10_000, 2, 15), Size(5000, 3, 8), Size(20_000, 6, 4), Size(10_000, 10, 10))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--epsilons", default="0.1,0.3,1")
    parser.add_argument("--judging", action="store_true")
    asked = parser.parse_args()
    print(machine())
    families = [family for family in (*FAMILIES, *FORECAST_FAMILIES) if family.judging is asked.judging]
    needed: list[Rows] = []
    for size in SIZES:
        for epsilon in map(float, asked.epsilons.split(",")):
            found = []
            for family in families:
                table = generated(family, size, SEED)
                points = clip_rows(table.reveal(note="a bench"), table.domain.region).points
                for seed in range(asked.repeats):
                    with threadpool_limits(1):
                        done = run("auto", table, k=size.k, epsilon=epsilon, delta=DELTA, seed=seed)
                    true = np.bincount(Voronoi(done.unit_centers).assign(points), minlength=size.k)
                    last, sizes = done.frames[-1].step, done.sizes
                    assert isinstance(last, CentersStep) and last.noisy_counts is not None and sizes is not None
                    sd, off = np.full(size.k, last.count_noise_sd), sizes.reach / NINE_IN_TEN
                    needed.append(np.abs(sizes.rows - true) / sizes.reach)
                    found.append([*_judged(true, last.noisy_counts, sd), *_judged(true, sizes.rows, off)])
            before, held_before, after, held = np.array(found).T
            print(
                f"{size!s:22s} ε = {epsilon:3g}: the last count is off by {np.median(before):6.1%}, its interval holds "
                f"{held_before.mean():4.0%}; all releases by {np.median(after):6.1%}, {held.mean():4.0%}"
                f"{_judge(size, epsilon, float(np.median(after)))}; {load()}",
                flush=True,
            )
    factor = np.quantile(np.concatenate(needed), 0.9)
    held_of_all = np.mean(np.concatenate(needed) <= 1)
    print(f"Of the intervals of all these clusters {held_of_all:.1%} hold; with sds times {factor:.2f} 90 % would")


def _judge(size: Size, epsilon: float, error: float) -> str:
    """Whether a median error is what is wanted, where anything is."""
    if size.d > COLUMNS or epsilon != AT_EPSILON:
        return ""
    return f": {'holds' if error <= WANTED else 'DOES NOT HOLD'} (at most {WANTED:.0%})"


def _judged(true: Rows, rows: Rows, sd: Rows) -> tuple[float, float]:
    """The median error as a part of the true sizes, and how many of them lie within nine intervals in ten."""
    off = np.abs(rows - true)
    return float(np.median(off / np.maximum(true, 1))), float((off <= NINE_IN_TEN * sd).mean())


if __name__ == "__main__":
    main()
