"""One DPLloyd step (noisy counts and sums of all clusters) against one Lloyd step of scikit-learn.

The aim is a ratio of at most 1.15. scikit-learn's step is the difference between fits of 21 and of 1 iterations. Both
take turns; on a machine that others keep busy the figures are printed, and nothing is said of the aim.

    python -m benchmarks.lloyd_step
"""

from __future__ import annotations

import warnings

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


def main() -> None:
    warnings.simplefilter("ignore")  # scikit-learn says that it has not converged: it was told to stop
    print(machine())
    print(f"{'n':>9}{'d':>5}{'k':>4}{'DPLloyd step':>15}{'scikit-learn':>15}{'ratio':>8}")
    for n, dim, k in SHAPES:
        rows = np.random.default_rng(0).uniform(-1, 1, (n, dim))
        centers = rows[:k].copy()
        table = PrivateTable(rows, Domain.of([f"x{j}" for j in range(dim)], -1, 1), n_public=n)

        def ours(table: PrivateTable = table, centers: np.ndarray = centers) -> None:
            noise = StudyNoise(np.random.default_rng(0))
            session = table.open(epsilon=1.0, delta=0.0, accounting=Accounting.PURE, noise=noise)
            share = session.budget.split(counts=1, sums=1)
            cells = Voronoi(centers)
            counts, sums = Question(Count(cells), Laplace, share.counts), Question(Sum(cells), Laplace, share.sums)
            session.ask_together(counts, sums, note="step")

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
