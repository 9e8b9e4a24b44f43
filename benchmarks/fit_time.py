"""Fit time against n for each algorithm, with the fitted exponent (1 is linear).

python -m benchmarks.fit_time [--quick]
"""

from __future__ import annotations

import argparse

import numpy as np

from benchmarks.timing import fitted_exponent, machine, median_seconds
from dpviz.algorithms.registry import CARDS
from dpviz.core.domain import Domain
from dpviz.core.private_session import PrivateTable
from dpviz.runs.one_run import run

K, EPSILON, DELTA = 8, 1.0, 1e-7
DIMS = (2, 6)


def table_of(n: int, dim: int) -> PrivateTable:
    """``n`` rows in eight Gaussian clusters."""
    rng = np.random.default_rng(n + dim)
    centers = rng.uniform(-0.7, 0.7, (K, dim))
    rows = np.clip(centers[rng.integers(0, K, n)] + rng.normal(0, 0.06, (n, dim)), -1, 1)
    return PrivateTable(rows, Domain.of([f"x{j}" for j in range(dim)], -1, 1), n_public=n)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="up to 1e5 rows, one repeat")
    quick = parser.parse_args().quick
    sizes = (10_000, 100_000) if quick else (10_000, 100_000, 1_000_000)
    print(machine())
    print(f"{'algorithm':<12}{'d':>4}" + "".join(f"{f'n = {n:.0e}':>14}" for n in sizes) + f"{'exponent':>11}")
    for dim in DIMS:
        tables = [table_of(n, dim) for n in sizes]
        for name in CARDS:
            times = [
                median_seconds(
                    lambda t=table, a=name: run(a, t, k=K, epsilon=EPSILON, delta=DELTA, seed=0), 1 if quick else 3
                )
                for table in tables
            ]
            shown = "".join(f"{seconds:>12.3f} s" for seconds in times)
            print(f"{name:<12}{dim:>4}{shown}{fitted_exponent(sizes, times):>11.2f}", flush=True)


if __name__ == "__main__":
    main()
