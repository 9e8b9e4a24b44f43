"""``auto`` on a table beyond memory: prepared from Parquet into a file, in memory, and on a cluster of two processes.

One table of ROWS x 10 is written as Parquet. Each way of holding its first tenth, and the file for all of it, is
measured in a process of its own: seconds to prepare, nanoseconds a row and pass, peak memory. Bytes must agree; one
worker of the cluster is killed on the way. Without --rows it is 100 million, or what the disk allows.

    python -m benchmarks.scale [--rows N]
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import os
import shutil
import signal
import threading
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any, NamedTuple

from benchmarks.memory import peak_megabytes
from benchmarks.timing import machine, seconds_of

DIM, K, EPSILON, DELTA = 10, 8, 1.0, 1e-9
MOST_ROWS = 100_000_000
ROWS_A_FILE = 1_000_000
# Of Parquet and of the file without a name.
BYTES_A_ROW = DIM * 8 + (DIM + 1) * 4


class Measured(NamedTuple):
    """One way of holding the rows."""

    way: str
    rows: int
    prepared: float
    ran: float
    peak: float
    centers: str


def write_table(folder: Path, rows: int) -> None:
    """``rows`` around eight centres, a million a file."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    centers = np.random.default_rng(0).uniform(-0.8, 0.8, (K, DIM))
    for number in range(-(-rows // ROWS_A_FILE)):
        rng = np.random.default_rng((1, number))
        n = min(ROWS_A_FILE, rows - number * ROWS_A_FILE)
        values = centers[rng.integers(0, K, n)] + rng.normal(0, 0.08, (n, DIM))
        table = pa.table({f"x{j}": values[:, j] for j in range(DIM)})
        pq.write_table(table, folder / f"{number:04d}.parquet", compression="none", use_dictionary=False)


def measure(way: str, folder: str, answers: multiprocessing.Queue[Measured]) -> None:
    """Prepare the table and run on it."""
    import dpviz.runs.open_table as opening
    from dpviz.tables import arrow_intake
    from dpviz.tables.declarations import Declaration

    source = arrow_intake.ParquetTable(Path(folder))
    arrow_intake._MOST_BYTES = 0 if way == "file" else 2**62
    declared = Declaration(lower=(-1.0,), upper=(1.0,))
    opened: list[Any] = []
    if way.startswith("cluster"):
        import distributed

        with (
            distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
            distributed.Client(cluster),
        ):
            prepared = seconds_of(lambda: opened.append(opening.declare_on_cluster(source, declared)))
            if way.endswith("killed"):
                pid = next(iter(cluster.workers.values())).pid
                threading.Timer(2.0, os.kill, (pid, signal.SIGKILL)).start()
            ran, centers = _run(opened[0])
            answers.put(Measured(way, source.n_rows, prepared, ran, peak_megabytes(), centers))
        return
    prepared = seconds_of(lambda: opened.append(opening.declare(source, declared)))
    ran, centers = _run(opened[0])
    answers.put(Measured(way, source.n_rows, prepared, ran, peak_megabytes(), centers))


def _run(opened: Any) -> tuple[float, str]:
    from dpviz.runs.one_run import run

    done: list[Any] = []
    seconds = seconds_of(lambda: done.append(run("auto", opened.private, k=K, epsilon=EPSILON, delta=DELTA, seed=0)))
    return seconds, hashlib.sha256(done[0].centers.tobytes()).hexdigest()[:12]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int)
    asked = parser.parse_args().rows
    free = int(0.8 * shutil.disk_usage(gettempdir()).free)
    rows = asked or min(MOST_ROWS, free // BYTES_A_ROW // ROWS_A_FILE * ROWS_A_FILE)
    print(machine())
    if rows < MOST_ROWS and not asked:
        print(f"the disk has room for {rows:,} rows, not {MOST_ROWS:,}")
    print(f"{'rows':>12} {'held':<16}{'prepared':>10}{'a row':>10}{'auto ran':>10}{'a row':>10}{'peak':>10}  centres")
    context = multiprocessing.get_context("spawn")
    with TemporaryDirectory() as large, TemporaryDirectory() as small:
        write_table(Path(large), rows)
        tenth = max(1, rows // 10 // ROWS_A_FILE)
        for path in sorted(Path(large).iterdir())[:tenth]:
            (Path(small) / path.name).symlink_to(path)
        ways = [("memory", small), ("file", small), ("cluster", small), ("cluster, killed", small), ("file", large)]
        for way, folder in ways:
            answers: multiprocessing.Queue[Measured] = context.Queue()
            child = context.Process(target=measure, args=(way, folder, answers))
            child.start()
            got = answers.get()
            child.join()
            if way == "memory":
                base = got
            same = "same bytes" if got.centers == base.centers else got.centers
            ratio = (got.prepared + got.ran) / got.rows / ((base.prepared + base.ran) / base.rows)
            of_run = got.ran / got.rows / (base.ran / base.rows)
            each = [f"{seconds:>8.1f} s{seconds / got.rows * 1e9:>7.0f} ns" for seconds in (got.prepared, got.ran)]
            print(
                f"{got.rows:>12,} {way:<16}{''.join(each)}{got.peak:>7.0f} MB  {same}; a row's run "
                f"{of_run:.2f}, in all {ratio:.2f} times memory",
                flush=True,
            )


if __name__ == "__main__":
    main()
