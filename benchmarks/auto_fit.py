"""How long a fit of ``auto`` takes beside one of scikit-learn's on the same rows, and the memory it needs above them.

python -m benchmarks.auto_fit [--repeats 5]
"""

from __future__ import annotations

import argparse
import multiprocessing
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from sklearn.cluster import KMeans

from benchmarks.fit_time import table_of
from benchmarks.lsh_coreset import mixture
from benchmarks.memory import peak_megabytes
from benchmarks.timing import machine, median_ratio
from dpviz.core.domain import Domain
from dpviz.core.private_session import PrivateTable
from dpviz.runs.one_run import run

EPSILON, DELTA = 1.0, 1e-6


def tables() -> list[tuple[PrivateTable, int]]:
    """Each with its number of clusters."""
    return [(table_of(100_000, 6), 8), mixture()]


def fit(table: PrivateTable, k: int) -> None:
    run("auto", table, k=k, epsilon=EPSILON, delta=DELTA, seed=0)


def memory(path: str, domain: Domain, k: int, answers: multiprocessing.Queue[float]) -> None:
    """Peak megabytes of a process that loads rows and fits, less the rows."""
    rows = np.load(path)
    fit(PrivateTable(rows, domain, n_public=len(rows)), k)
    answers.put(peak_megabytes() - rows.nbytes / 2**20)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    print(machine())
    context = multiprocessing.get_context("spawn")
    for table, k in tables():
        rows = table.reveal(note="a benchmark").points
        ours, theirs, ratio = median_ratio(
            lambda t=table, c=k: fit(t, c),
            lambda r=rows, c=k: KMeans(c, n_init=1, random_state=0).fit(r),
            repeats,
        )
        answers: multiprocessing.Queue[float] = context.Queue()
        with TemporaryDirectory() as folder:
            path = str(Path(folder) / "rows.npy")
            np.save(path, rows)
            child = context.Process(target=memory, args=(path, table.domain, k, answers))
            child.start()
            more = answers.get()
            child.join()
        size = f"{len(rows):,} rows x {rows.shape[1]}, k = {k}"
        beside = f"scikit-learn KMeans(n_init=1) {theirs:.2f} s, ratio {ratio:.2f}"
        print(f"{size}: {ours:.2f} s, {beside}; peak memory less rows {more:.0f} MB", flush=True)


if __name__ == "__main__":
    main()
