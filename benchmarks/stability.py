"""How well a run tells how many rows would be in the same segment if its noise had fallen otherwise.

python -m benchmarks.stability --seed 7 [--tables 12] [--algorithm auto] [--repeats 6]

A run says it from redraws of the noise of its synopsis alone. The truth are other runs with noise of their own: the
part of all rows that are in the same segment there, after the best match of segments. Tables are those that
``benchmarks.real`` draws by the seed, as far as ``MOST_ROWS`` goes, on both scales.
"""

from __future__ import annotations

import argparse
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment
from threadpoolctl import threadpool_limits

from benchmarks.real import EPSILONS, draw_tables, load_table
from benchmarks.timing import machine
from benchmarks.utility import DELTA
from dpviz.algorithms.synopsis_reading import STABLE
from dpviz.core.check import RequestError
from dpviz.core.domain import Scaling
from dpviz.core.private_session import PrivateTable
from dpviz.runs.clipped_rows import clip_rows
from dpviz.runs.evaluation import assign
from dpviz.runs.one_run import run

MOST_ROWS = 30_000


def share_kept(one: np.ndarray, other: np.ndarray, k: int) -> float:
    """The part of rows in the same segment of two assignments (n,), after the best match."""
    shared = np.bincount(one * k + other, minlength=k * k).reshape(k, k)
    return float(shared[linear_sum_assignment(-shared)].sum() / len(one))


def compare_on(table: PrivateTable, k: int, epsilon: float, algorithm: str, repeats: int) -> list[tuple[float, float]]:
    """For each run what it says, and the mean over all other runs."""
    rows = clip_rows(table.reveal(note="a bench"), table.domain.region).points
    runs = [run(algorithm, table, k=k, epsilon=epsilon, delta=DELTA, seed=seed) for seed in range(repeats)]
    places = [assign(rows, one.unit_centers) for one in runs]
    same = np.ones((repeats, repeats))
    for i, j in combinations(range(repeats), 2):
        same[i, j] = same[j, i] = share_kept(places[i], places[j], k)
    truth = (same.sum(axis=1) - 1) / (repeats - 1)
    return [(one.stability.rows, float(true)) for one, true in zip(runs, truth, strict=True) if one.stability]


def main() -> None:
    """Print it by table, and how far off it is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--tables", type=int, default=12)
    parser.add_argument("--algorithm", default="auto")
    parser.add_argument("--repeats", type=int, default=6)
    asked = parser.parse_args()
    print(machine())
    found = []
    with threadpool_limits(1):
        for package, item, k in draw_tables(asked.seed, asked.tables):
            for scaling in (Scaling.UNIT, Scaling.COMMON):
                table = load_table(package, item, scaling)
                if table.n_public is None or table.n_public > MOST_ROWS:
                    continue
                for epsilon in EPSILONS:
                    try:
                        pairs = compare_on(table, k, epsilon, asked.algorithm, asked.repeats)
                    except RequestError as refusal:
                        print(f"{package}/{item}: {refusal}")
                        break
                    found += [(f"{package}/{item}, {scaling.value}", epsilon, *pair) for pair in pairs]
    told = pd.DataFrame(found, columns=["table", "epsilon", "said", "true"])
    print(told.groupby(["table", "epsilon"])[["said", "true"]].mean().round(3).to_string())
    off, alike = told.said - told.true, told.said.corr(told.true, method="spearman")
    print(f"{len(told)} runs: off by {off.mean():+.3f} in the mean, {off.abs().mean():.3f} in size; ranks {alike:.2f}")
    calm = told.true[told.said >= STABLE]
    are, nearly = (calm >= STABLE).mean(), (calm >= STABLE - 0.1).mean()
    print(f"called stable: {len(calm)}, of which {are:.0%} are, and {nearly:.0%} within a tenth")


if __name__ == "__main__":
    main()
