"""One DPLloyd step (noisy counts and sums of all clusters) against one Lloyd step of scikit-learn.

The aim is a ratio of at most 1.15. scikit-learn's step is the difference between fits of 21 and of 1 iterations. Both
take turns; on a machine that others keep busy the figures are printed, and nothing is said of the aim.

Where ``superkmeans`` is installed, its step stands beside ours for many centres in many columns, of rows that fill the
domain and of rows in narrow groups, in processor time of one thread: it leaves out what a part of the columns rules out
(arXiv 2603.20009), which groups let it do.

    OMP_NUM_THREADS=1 python -m benchmarks.lloyd_step [--many]
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from statistics import median

import numpy as np
from sklearn.cluster import KMeans

from benchmarks.timing import judge, machine, median_seconds, seconds_of
from dpviz.core.accounting import Accounting
from dpviz.core.domain import Domain
from dpviz.core.mechanisms import Laplace, Question
from dpviz.core.noise import StudyNoise
from dpviz.core.partitions import Voronoi
from dpviz.core.private_session import PrivateTable
from dpviz.core.queries import Count, Sum

STEPS, AIM = 20, 1.15
SHAPES = ((100_000, 2, 15), (1_000_000, 2, 100), (100_000, 10, 10), (1_000_000, 10, 10), (100_000, 100, 64))
MANY, MANY_STEPS, MANY_AIM = (20_000, 128, 1024), 10, 2.5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--many", action="store_true", help="only beside superkmeans, which has to be installed")
    print(machine())
    if parser.parse_args().many:
        compare_many()
    else:
        compare()


def compare_many() -> None:
    """Many centres in many columns, beside superkmeans: medians of processor time."""
    from superkmeans import SuperKMeans

    n, dim, k = MANY
    rng = np.random.default_rng(0)
    middles = rng.uniform(-0.7, 0.7, (k, dim))
    groups = np.clip(middles[rng.integers(0, k, n)] + 0.1 * rng.normal(size=(n, dim)), -1, 1)
    for name, rows in (("fill the domain", rng.uniform(-1, 1, (n, dim))), ("in groups", groups)):
        table, short = make_table(rows), rows.astype(np.float32)

        def fit(steps: int, short: np.ndarray = short) -> None:
            given = {"sampling_fraction": 1.0, "early_termination": False, "tol": 0.0, "n_threads": 1}
            SuperKMeans(n_clusters=k, dimensionality=dim, iters=steps, **given).train(short)

        def ours(table: PrivateTable = table, centers: np.ndarray = rows[:k]) -> None:
            make_step(table, centers)

        theirs = (
            _processor_seconds(lambda f=fit: f(MANY_STEPS + 1)) - _processor_seconds(lambda f=fit: f(1))
        ) / MANY_STEPS
        mine = _processor_seconds(ours)
        ratio = mine / theirs
        print(
            f"{n:,} x {dim}, k = {k}, rows {name}: DPLloyd {mine * 1e3:.1f} ms, superkmeans {theirs * 1e3:.1f} ms, "
            f"ratio {ratio:.2f}  {judge(ratio <= MANY_AIM)}",
            flush=True,
        )


def _processor_seconds(work: Callable[[], object]) -> float:
    work()
    taken = []
    for _ in range(5):
        began = time.process_time()
        work()
        taken.append(time.process_time() - began)
    return median(taken)


def make_table(rows: np.ndarray) -> PrivateTable:
    """Of columns between -1 and 1, n public."""
    return PrivateTable(rows, Domain.of([f"x{j}" for j in range(rows.shape[1])], -1, 1), n_public=len(rows))


def make_step(table: PrivateTable, centers: np.ndarray) -> None:
    """Noisy counts and sums of all clusters."""
    session = table.open(epsilon=1.0, delta=0.0, accounting=Accounting.PURE, noise=StudyNoise(np.random.default_rng(0)))
    share = session.budget.split(counts=1, sums=1)
    cells = Voronoi(centers)
    counts, sums = Question(Count(cells), Laplace, share.counts), Question(Sum(cells), Laplace, share.sums)
    session.ask_together(counts, sums, note="step")


def compare() -> None:
    """Each shape beside scikit-learn."""
    warnings.simplefilter("ignore")  # scikit-learn says that it has not converged: it was told to stop
    print(f"{'n':>9}{'d':>5}{'k':>4}{'DPLloyd step':>15}{'scikit-learn':>15}{'ratio':>8}")
    for n, dim, k in SHAPES:
        rows = np.random.default_rng(0).uniform(-1, 1, (n, dim))
        centers = rows[:k].copy()
        table = make_table(rows)

        def ours(table: PrivateTable = table, centers: np.ndarray = centers) -> None:
            make_step(table, centers)

        def fit(steps: int, rows: np.ndarray = rows, centers: np.ndarray = centers) -> None:
            KMeans(len(centers), init=centers, n_init=1, max_iter=steps, tol=0).fit(rows)

        fit(1)
        pairs = []
        for _ in range(7):
            theirs = (seconds_of(lambda f=fit: f(STEPS + 1)) - seconds_of(lambda f=fit: f(1))) / STEPS
            pairs.append((median_seconds(ours, 3), theirs))
        ours_ms, theirs_ms, ratio = np.median([(a * 1e3, b * 1e3, a / b) for a, b in pairs], axis=0)
        print(
            f"{n:>9,}{dim:>5}{k:>4}{ours_ms:>12.2f} ms{theirs_ms:>12.2f} ms{ratio:>8.2f}  {judge(bool(ratio <= AIM))}",
            flush=True,
        )


if __name__ == "__main__":
    main()
