"""Rows on a cluster of processes: the same bytes as in memory, a worker killed or not; else a sentence."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import dask
import dask.array
import distributed
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpviz import PrivateKMeans
from dpviz.check import RequestError
from dpviz.privacy.room import PrivateTable
from dpviz.runs.open_table import declare, declare_on_cluster
from dpviz.runs.run import run
from dpviz.table.cluster_rows import ClusterRows, connect
from dpviz.table.declaration import Declaration
from dpviz.table.domain import Domain
from dpviz.table.parquet_intake import ParquetTable
from dpviz.table.prepared_rows import Batch
from dpviz.table.row_sample import sampled

ROOT = Path(__file__).resolve().parents[2]
GOES_AWAY = """
import distributed
from dpviz.check import RequestError
from tests.table.test_cluster_rows import DOMAIN, PrivateTable, centers_of, spread

if __name__ == "__main__":
    with distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None) as local:
        client = distributed.Client(local)
        table = PrivateTable.over(spread(2), DOMAIN)
        centers_of(table)
    try:
        centers_of(table)
    except RequestError as told:
        print(told)
"""
pytestmark = pytest.mark.filterwarnings("ignore")  # of a cluster's threads, while it is taken down
N = 6000
DOMAIN = Domain.of(("x", "y"), -1, 1)


def table() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    centers = rng.uniform(-0.8, 0.8, (4, 2))
    values = centers[rng.integers(0, 4, N)] + rng.normal(0, 0.05, (N, 2))
    values[::97] = np.nan
    return values, rng.integers(0, N // 6, N)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as local,
        distributed.Client(local),
    ):
        yield local


def spread(parts: int, *, ids: bool = False, relation: str = "add_remove") -> ClusterRows:
    values, who = table()
    cuts = np.array_split(np.arange(N), parts)
    batches = [Batch(values[cut], pd.Series(who[cut]).astype("str") if ids else None, 1.0) for cut in cuts]
    return ClusterRows.of(
        [dask.delayed(batch) for batch in batches],
        DOMAIN,
        drop_incomplete=relation == "add_remove",
        rows_per_person=3 if ids else None,
    )


def centers_of(private: PrivateTable) -> bytes:
    return run("auto", private, k=4, epsilon=1.0, delta=1e-6, seed=1).centers.tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("parts", [1, 3, 11])
def test_answers_do_not_depend_on_the_parts(cluster: Any, parts: int) -> None:
    values, _ = table()
    large = PrivateTable.over(spread(parts), DOMAIN)
    small = PrivateTable(values, DOMAIN)
    assert centers_of(large) == centers_of(small)
    np.testing.assert_array_equal(sampled(large._rows, 300), sampled(small._rows, 300))


def test_rows_of_a_person_are_found_wherever_they_lie(cluster: Any) -> None:
    values, who = table()
    large = PrivateTable.over(spread(5, ids=True), DOMAIN, with_persons=True, rows_per_person=3)
    small = PrivateTable(values, DOMAIN, persons=who, rows_per_person=3)
    assert centers_of(large) == centers_of(small)


@pytest.mark.slow
def test_the_middle_stands_in_under_replace(cluster: Any) -> None:
    values, _ = table()
    large = PrivateTable.over(spread(4, relation="replace"), DOMAIN, relation="replace")
    assert large.n_public == N
    assert centers_of(large) == centers_of(PrivateTable(values, DOMAIN, relation="replace"))


@pytest.mark.slow
def test_a_parquet_file_is_read_by_the_workers(cluster: Any, tmp_path: Path) -> None:
    values, _ = table()
    pq.write_table(pa.table({"x": values[:, 0], "y": values[:, 1]}), tmp_path / "t.parquet", row_group_size=500)
    declared = Declaration(lower=(-1.0,), upper=(1.0,))
    there = declare_on_cluster(ParquetTable(tmp_path / "t.parquet"), declared)
    here = declare(ParquetTable(tmp_path / "t.parquet"), declared)
    assert centers_of(there.private) == centers_of(here.private)


@pytest.mark.slow
def test_an_estimator_leaves_a_collection_where_it_is(cluster: Any) -> None:
    values, _ = table()
    spread_out = dask.array.from_array(values, chunks=(700, 1))
    models = [PrivateKMeans(4, bounds=(-1, 1), random_state=0).fit(X) for X in (values, spread_out)]
    assert models[0].cluster_centers_.tobytes() == models[1].cluster_centers_.tobytes()
    np.testing.assert_array_equal(models[1].predict(spread_out).compute(), models[0].predict(values))


@pytest.mark.slow
def test_a_worker_that_is_killed_is_made_good(cluster: Any) -> None:
    rows = spread(6)
    expected = centers_of(PrivateTable.over(rows, DOMAIN))
    stop = threading.Event()

    def kill_one() -> None:
        worker = next(iter(cluster.workers.values()))
        with suppress(ProcessLookupError):
            os.kill(worker.pid, signal.SIGKILL)
        stop.set()

    threading.Timer(0.3, kill_one).start()
    found = {centers_of(PrivateTable.over(rows, DOMAIN))}
    while not stop.is_set():
        time.sleep(0.05)
    found.add(centers_of(PrivateTable.over(rows, DOMAIN)))
    assert found == {expected}


@pytest.mark.slow
def test_a_cluster_that_is_not_there_is_told() -> None:
    with pytest.raises(RequestError, match="No Dask scheduler answers"):
        connect("tcp://127.0.0.1:1")


@pytest.mark.slow
def test_a_cluster_that_goes_away_is_told() -> None:
    """In a process of its own: else Dask would turn to the cluster of the other tests."""
    ended = subprocess.run([sys.executable, "-c", GOES_AWAY], capture_output=True, text=True, cwd=ROOT, timeout=120)
    assert ended.returncode == 0, ended.stderr[-2000:]
    assert "The cluster went away" in ended.stdout and "stays charged" in ended.stdout
