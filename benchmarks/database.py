"""``auto`` on a table of a database file, in a process of its own: seconds to prepare and to run, and peak memory.

One table of ROWS x 10 is made by the database itself, which is not measured. Prepared rows lie in a file without a name
(``TMPDIR``), 44 bytes a row. The aim is 500 MB whatever the number of rows: it exits with 1 above that.

    python -m benchmarks.database [--rows N]
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.memory import peak_megabytes
from benchmarks.timing import machine, seconds_of

DIM, K, MOST_MEGABYTES = 10, 8, 500


def make_table(path: Path, rows: int) -> None:
    """``rows`` around eight places, made where they lie."""
    import duckdb

    columns = ", ".join(f"0.7 * sin({7 * j + 1} * (i % {K})) + 0.1 * (random() - 0.5) AS x{j}" for j in range(DIM))
    with duckdb.connect(str(path), config={"memory_limit": "1GB", "preserve_insertion_order": "false"}) as connection:
        connection.execute(f"CREATE TABLE customers AS SELECT {columns} FROM range({rows}) t(i)")


def measure(address: str, answers: multiprocessing.Queue[tuple[float, float, float]]) -> None:
    """Seconds to prepare, seconds to run, and peak memory of this process."""
    from dpviz.runs.one_run import run
    from dpviz.runs.open_table import OpenTable, declare
    from dpviz.tables.declarations import Declaration
    from dpviz.tables.named import open_file

    opened: list[OpenTable] = []
    declared = Declaration(lower=(-1.0,), upper=(1.0,))
    prepared = seconds_of(lambda: opened.append(declare(open_file(address), declared)))
    ran = seconds_of(lambda: run("auto", opened[0].private, k=K, epsilon=1.0, delta=1e-9, seed=0))
    answers.put((prepared, ran, peak_megabytes()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000_000)
    rows = parser.parse_args().rows
    context = multiprocessing.get_context("spawn")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "crm.duckdb"
        maker = context.Process(target=make_table, args=(path, rows))
        maker.start()
        maker.join()
        answers: multiprocessing.Queue[tuple[float, float, float]] = context.Queue()
        child = context.Process(target=measure, args=(f"duckdb:///{path}?table=customers", answers))
        child.start()
        prepared, ran, peak = answers.get()
        child.join()
        size = path.stat().st_size / 2**20
    print(machine())
    print(f"{rows:,} rows in {size:,.0f} MB: prepared {prepared:.0f} s, auto ran {ran:.0f} s, peak {peak:.0f} MB")
    return int(peak > MOST_MEGABYTES)


if __name__ == "__main__":
    sys.exit(main())
