"""Peak memory of a fit on 1,000,000 x 10 rows, each algorithm in a process of its own; the aim is rows + 0.5 GB.

"Rows" are the loaded values and their clipped copy in unit coordinates, 80 MB each.

    python -m benchmarks.memory [--rows N] [--only auto,dplloyd]
"""

from __future__ import annotations

import argparse
import multiprocessing
from pathlib import Path

from dpviz.algorithms.registry import list_private_cards

DIM, K = 10, 8


def peak_megabytes() -> float:
    """Largest resident set of this process so far; by ``getrusage`` a child would begin with that of its parent."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    raise OSError("this benchmark reads the peak of a process from Linux's /proc")


def fit(name: str, n: int, answers: multiprocessing.Queue[tuple[float, float]]) -> None:
    """Peak memory before and after one fit."""
    import numpy as np

    from dpviz.core.domain import Domain
    from dpviz.core.private_session import PrivateTable
    from dpviz.runs.one_run import run

    rng = np.random.default_rng(0)
    rows = rng.uniform(-0.7, 0.7, (K, DIM))[rng.integers(0, K, n)]
    for column in rows.T:
        column += rng.normal(0, 0.05, n)
    domain = Domain.of([f"x{j}" for j in range(DIM)], -1, 1)
    before = peak_megabytes()
    run(name, PrivateTable(rows, domain, n_public=n), k=K, epsilon=1.0, delta=1e-7, seed=0)
    answers.put((before, peak_megabytes()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--only", help="ids, with commas between them")
    asked = parser.parse_args()
    n, names = asked.rows, asked.only.split(",") if asked.only else [card.id for card in list_private_cards()]
    megabytes = n * DIM * 8 / 2**20
    context = multiprocessing.get_context("spawn")
    print(f"rows: {megabytes:.0f} MB and as much again for their clipped copy")
    print(f"{'algorithm':<12}{'before':>10}{'peak':>10}{'peak - rows':>13}")
    for name in names:
        answers: multiprocessing.Queue[tuple[float, float]] = context.Queue()
        child = context.Process(target=fit, args=(name, n, answers))
        child.start()
        before, peak = answers.get()
        child.join()
        print(f"{name:<12}{before:>7.0f} MB{peak:>7.0f} MB{peak - 2 * megabytes:>10.0f} MB", flush=True)


if __name__ == "__main__":
    main()
