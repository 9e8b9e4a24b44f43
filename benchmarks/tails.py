"""What ``auto`` loses where one column in a common scale has nearly all of the spread, and most of that far out.

python -m benchmarks.tails [--repeats 10] [--epsilons 1,0.3] [--delta 1e-6] [--judging]

Prints the median, least and largest loss over that of k-means++ on each table, and in how many runs a tail was seen.
Bounds are those of each column, some way off. Constants were chosen on the first tables; ``--judging`` has others.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.families import Generator, Rows
from benchmarks.timing import load, machine
from dpviz.algorithms.steps import GridStep, Step
from dpviz.core.domain import Domain, Scaling
from dpviz.core.partitions import UnevenGrid
from dpviz.core.private_session import PrivateTable
from dpviz.runs.clipped_rows import clip_rows
from dpviz.runs.evaluation import find_reference, nicv
from dpviz.runs.one_run import run

TABLE_SEED = 77
# Of a column's farthest rows so many are set to where the first of them lies.
_FARTHEST = 0.9995


def _grouped(n: int, d: int, rng: Generator) -> tuple[Rows, Rows]:
    """Which of four groups each row is in, and columns in which they lie apart."""
    who = rng.integers(0, 4, n)
    return who, rng.normal(size=(4, d))[who] + 0.5 * rng.normal(size=(n, d))


def _joined(long: Rows, rest: Rows, share: float) -> Rows:
    """Columns side by side, so that the ``long`` ones have this share of the spread."""
    spread = long.var(axis=0).sum()
    rows = np.c_[long, rest * np.sqrt(spread * (1 - share) / share / rest.var(axis=0).sum())]
    return np.asarray(rows / np.abs(rows).max())


def log_normal(n: int, d: int, share: float, sigma: float, rng: Generator, long: int = 1) -> Rows:
    """Log-normal columns, that hang together where they are two."""
    who, rest = _grouped(n, d - long, rng)
    normal = 0.8 * rng.normal(size=(n, 1)) + 0.6 * rng.normal(size=(n, long))
    columns = np.exp(sigma * normal + 0.3 * who[:, None]) * np.array([1.0, 0.4])[:long]
    return _joined(np.minimum(columns, np.quantile(columns, _FARTHEST, axis=0)), rest, share)


def mostly_zero(n: int, d: int, share: float, rng: Generator) -> Rows:
    """A column that is 0 in nine rows of ten, and log-normal in the others: amounts of money that few have."""
    _, rest = _grouped(n, d - 1, rng)
    column = np.where(rng.random(n) < 0.1, np.exp(rng.normal(size=n)), 0.0)
    return _joined(np.minimum(column, np.quantile(column, _FARTHEST))[:, None], rest, share)


def pareto(n: int, d: int, share: float, shape: float, rng: Generator) -> Rows:
    """A column of Pareto law: counts, durations."""
    _, rest = _grouped(n, d - 1, rng)
    column = rng.pareto(shape, n)
    return _joined(np.minimum(column, np.quantile(column, _FARTHEST))[:, None], rest, share)


def gamma(n: int, d: int, share: float, shape: float, rng: Generator) -> Rows:
    """A column of gamma law, of each group another scale."""
    who, rest = _grouped(n, d - 1, rng)
    column = rng.gamma(shape, size=n) * 2.0**who
    return _joined(np.minimum(column, np.quantile(column, _FARTHEST))[:, None], rest, share)


# Rows, clusters, and the table.
TUNING: dict[str, tuple[int, Callable[[Generator], Rows]]] = {
    "13 columns, one has 97 %": (5, lambda rng: log_normal(15_000, 13, 0.97, 1.2, rng)),
    "8 columns, one has 87 %": (5, lambda rng: log_normal(20_000, 8, 0.87, 1.0, rng)),
    "57 columns, two have 93 %": (5, lambda rng: log_normal(4600, 57, 0.93, 1.2, rng, long=2)),
    "10 columns, one mostly 0": (4, lambda rng: mostly_zero(10_000, 10, 0.9, rng)),
    "14 columns, one mostly 0": (8, lambda rng: mostly_zero(30_000, 14, 0.75, rng)),
    "6 columns, one has 80 %": (8, lambda rng: log_normal(6000, 6, 0.8, 1.2, rng)),
    "2 columns, log-normal, 90 %": (5, lambda rng: log_normal(3000, 2, 0.9, 1.2, rng)),
    "2 columns, one mostly 0": (4, lambda rng: mostly_zero(10_000, 2, 0.9, rng)),
    "3 columns, two have 93 %": (8, lambda rng: log_normal(20_000, 3, 0.93, 1.2, rng, long=2)),
}
JUDGING: dict[str, tuple[int, Callable[[Generator], Rows]]] = {
    "13 columns, Pareto, 97 %": (5, lambda rng: pareto(12_000, 13, 0.97, 2.5, rng)),
    "8 columns, gamma, 87 %": (6, lambda rng: gamma(20_000, 8, 0.87, 0.5, rng)),
    "57 columns, Pareto, 93 %": (4, lambda rng: pareto(5000, 57, 0.93, 3.0, rng)),
    "20 columns, log-normal, 90 %": (7, lambda rng: log_normal(40_000, 20, 0.9, 1.0, rng)),
    "5 columns, gamma, 80 %": (4, lambda rng: gamma(8000, 5, 0.8, 0.7, rng)),
    "2 columns, Pareto, 95 %": (5, lambda rng: pareto(2000, 2, 0.95, 2.5, rng)),
    "2 columns, gamma, 80 %": (6, lambda rng: gamma(8000, 2, 0.8, 0.5, rng)),
    "3 columns, Pareto, 90 %": (12, lambda rng: pareto(30_000, 3, 0.9, 2.5, rng)),
}


def table_of(make: Callable[[Generator], Rows]) -> PrivateTable:
    """In one scale, with bounds for each column."""
    rows = make(np.random.default_rng(TABLE_SEED))
    low, high = rows.min(axis=0), rows.max(axis=0)
    off = 0.1 * (high - low)
    domain = Domain.of([f"x{j}" for j in range(rows.shape[1])], low - off, high + off, scaling=Scaling.COMMON)
    return PrivateTable(rows, domain, n_public=len(rows))


def _follows_a_tail(step: Step) -> bool:
    """Whether the cells of a histogram widen outwards."""
    if not isinstance(step, GridStep):
        return False
    grids = [step.grid, *([step.around.grid] if step.around is not None else [])]
    return any(isinstance(grid, UnevenGrid) for grid in grids)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--epsilons", default="1,0.3")
    parser.add_argument("--delta", type=float, default=1e-6)
    parser.add_argument("--judging", action="store_true")
    asked = parser.parse_args()
    print(machine())
    for name, (k, make) in (JUDGING if asked.judging else TUNING).items():
        table = table_of(make)
        revealed = clip_rows(table.reveal(note="a bench"), table.domain.region)
        reference = find_reference(revealed, k).nicv
        for epsilon in map(float, asked.epsilons.split(",")):
            lost, seen = [], 0
            for seed in range(asked.repeats):
                with threadpool_limits(1):
                    done = run("auto", table, k=k, epsilon=epsilon, delta=asked.delta, seed=seed)
                lost.append(nicv(revealed.points, done.unit_centers) / reference)
                seen += any(_follows_a_tail(frame.step) for frame in done.frames)
            print(
                f"{name:30s} ε = {epsilon:3g}: {np.median(lost):.3f} ({min(lost):.3f} to {max(lost):.3f}), a tail seen "
                f"in {seen:2d} of {asked.repeats}; {load()}",
                flush=True,
            )


if __name__ == "__main__":
    main()
