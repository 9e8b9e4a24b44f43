"""Rows on a cluster of processes: the same bytes as in memory, a worker killed or not; else a sentence."""

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dask
import dask.array
import distributed
import numpy as np
import pandas as pd
import pytest

from dpviz.core.check import RequestError
from dpviz.core.domain import Domain, Region
from dpviz.core.lattice import ExactRows
from dpviz.core.private_session import PrivateTable
from dpviz.core.revealed_rows import sample_rows
from dpviz.core.rows import add_up
from dpviz.runs.one_run import run
from dpviz.tables import given_rows
from dpviz.tables.given_rows import ClusterRows, _gather, connect
from dpviz.tables.loaded_table import hash_ids
from dpviz.tables.prepared_rows import Batch, deal_rows, draw_rows
from tests.cases import about

pytestmark = pytest.mark.filterwarnings("ignore")  # of a cluster's threads, while it is taken down
N = 2000
DOMAIN = Domain.of(("x", "y"), -1, 1)


def table() -> tuple[np.ndarray, pd.Series]:
    rng = np.random.default_rng(0)
    centers = rng.uniform(-0.8, 0.8, (4, 2))
    values = centers[rng.integers(0, 4, N)] + rng.normal(0, 0.05, (N, 2))
    values[::97] = np.nan
    return values, pd.Series(rng.integers(0, N // 6, N)).astype("str")


@pytest.fixture(scope="module")
def running() -> Iterator[ExitStack]:
    """Holds the cluster of all tests until the last of them has ended."""
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def cluster(running: ExitStack) -> Any:
    """Two processes; started anew if the test before has closed them."""
    try:
        found = distributed.get_client().cluster
    except ValueError:
        running.pop_all().close()
        found = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
        running.enter_context(found)
        running.enter_context(distributed.Client(found))
    return found


@cache
def in_memory() -> bytes:
    """What every cluster answers, too."""
    return centers_of(PrivateTable(table()[0], DOMAIN))


def spread(parts: int, *, ids: bool = False, relation: str = "add_remove", engine: Any = None) -> ClusterRows:
    """Rows in so many parts, of Dask or of another engine."""
    values, who = table()
    cuts = np.array_split(np.arange(N), parts)
    batches = [Batch(values[cut], who[cut] if ids else None, 1.0) for cut in cuts]
    held = {"drop_incomplete": relation == "add_remove", "rows_per_person": 3 if ids else None}
    if engine is None:
        return ClusterRows.of([dask.delayed(batch) for batch in batches], DOMAIN, **held)
    return ClusterRows.of(batches, DOMAIN, **held, engine=engine)


def centers_of(private: PrivateTable) -> bytes:
    return run("auto", private, k=4, epsilon=1.0, delta=1e-6, seed=1).centers.tobytes()


def test_answers_do_not_depend_on_the_parts() -> None:
    """With Dask's threads: a cluster takes seconds to start."""
    whole = PrivateTable(table()[0], DOMAIN)
    for parts in (1, 3, 11):
        large = PrivateTable.over(spread(parts), DOMAIN)
        np.testing.assert_array_equal(sample_rows(large._rows, 300), sample_rows(whole._rows, 300))
        line = Region.ball(1, 1.0)
        for name, *asked in (("project", np.eye(2)[:1], line), ("sparsify", 1, DOMAIN.region), ("unfold", 2, line)):
            one, other = (sample_rows(getattr(of._rows, name)(*asked), 300) for of in (large, whole))
            np.testing.assert_array_equal(one, other)
    assert centers_of(large) == in_memory()


class ThreadEngine:
    """Another engine, in a dozen lines: parts are values of this process, and its threads take them as they come."""

    def __init__(self, threads: int) -> None:
        self._pool = ThreadPoolExecutor(threads)

    def map(self, call: Any, *columns: Any) -> list[Any]:
        return list(self._pool.map(call, *columns))

    def exchange(self, deal: Any, gather: Any, *columns: Any) -> list[Any]:
        hands = self.map(deal, *columns)
        return self.map(gather, [list(hand) for hand in zip(*hands, strict=True)], range(len(hands)))

    def total(self, ask: Any, parts: Any) -> list[Any]:
        return add_up(asked.result() for asked in as_completed(self._pool.submit(ask, part) for part in parts))

    def collect(self, parts: Any) -> list[Any]:
        return list(parts)


def test_another_engine_gives_the_same_bytes() -> None:
    values, who = table()
    for parts, ids, relation in ((1, False, "add_remove"), (5, True, "add_remove"), (7, False, "replace")):
        most = 3 if ids else 1
        rows = spread(parts, ids=ids, relation=relation, engine=ThreadEngine(2))
        large = PrivateTable.over(rows, DOMAIN, relation=relation, with_persons=ids, rows_per_person=most)
        persons = hash_ids(who) if ids else None
        whole = PrivateTable(values, DOMAIN, relation=relation, persons=persons, rows_per_person=most)
        with about(parts, ids, relation):
            assert large.n_public == whole.n_public and centers_of(large) == centers_of(whole)


def with_threads(parts: int) -> ClusterRows:
    return spread(parts, engine=ThreadEngine(2))


def test_messages_are_those_of_memory_wherever_rows_lie() -> None:
    """With as many seats as were bought, with fewer than users, and with more."""
    values, _ = table()
    for n_public in (None, N - 500, N + 500):
        asked = {"k": 3, "epsilon": 40.0, "delta": 0.0, "seed": 1}
        expected = run("lsh-local", PrivateTable(values, DOMAIN, n_public=n_public), **asked)
        for rows in (with_threads(6), spread(1), spread(7)):
            with about(n_public):
                found = run("lsh-local", PrivateTable.over(rows, DOMAIN, n_public=n_public), **asked)
                np.testing.assert_array_equal(found.centers, expected.centers)
                assert str(found.ledger) == str(expected.ledger)


def test_what_comes_from_rows_for_messages_is_noisy() -> None:
    rows = with_threads(6)
    engine, came = rows._engine, []
    listening = SimpleNamespace(map=engine.map, collect=lambda parts: came.extend(parts) or parts)
    rows._engine = listening  # has no way to add up, nor to exchange
    run("lsh-local", PrivateTable.over(rows, DOMAIN, n_public=N), k=3, epsilon=1.0, delta=0.0, seed=1)
    vectors = np.concatenate([part for part in came if part.ndim == 2])
    inside = DOMAIN.region.rows(table()[0][np.isfinite(table()[0]).all(axis=1)])
    assert len(vectors) > N / 3 and not np.isin(vectors, inside).any()
    assert {part.dtype for part in came if part.ndim == 1} == {np.dtype(np.uint64), np.dtype(np.int64)}


def test_secret_blocks_are_those_of_memory_wherever_rows_lie() -> None:
    values, _ = table()
    others = [with_threads(6), spread(1), spread(7)]
    for algorithm in ("gkm", "sample-aggregate"):
        expected = run(algorithm, PrivateTable(values, DOMAIN), k=3, epsilon=2.0, seed=1).centers
        for rows in others:
            with about(algorithm):
                found = run(algorithm, PrivateTable.over(rows, DOMAIN), k=3, epsilon=2.0, seed=1).centers
                np.testing.assert_array_equal(found, expected)


@pytest.mark.slow
def test_a_worker_that_is_killed_is_made_good(cluster: Any, tmp_path: Path) -> None:
    """It dies of the very task that it has at hand, with the rows that it holds."""
    rows, died = spread(6), tmp_path / "died"

    def dies_once(chunk: ExactRows) -> list[int]:
        with suppress(FileExistsError):
            died.touch(exist_ok=False)
            os.kill(os.getpid(), signal.SIGKILL)
        return [len(chunk)]

    assert rows.total(dies_once, 1) == [len(rows)] and died.exists()
    assert centers_of(PrivateTable.over(rows, DOMAIN)) == in_memory()


def test_a_cluster_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(given_rows, "_SECONDS_TO_ANSWER", 0.2)
    with pytest.raises(RequestError, match="No Dask scheduler answers"):
        connect("tcp://127.0.0.1:1")


@pytest.mark.slow
def test_a_cluster_that_goes_away_is_told(cluster: Any, running: ExitStack) -> None:
    rows = spread(2)
    assert rows.total(lambda chunk: [len(chunk)], 1) == [len(rows)]
    cluster.close()
    with pytest.raises(RequestError, match=r"The cluster went away.* stays charged"):
        rows.total(lambda chunk: [len(chunk)], 1)
    running.pop_all().close()


def test_of_a_person_whose_rows_come_from_two_parts_no_more_are_kept():
    batches = [Batch(np.full((2, 2), value), pd.Series(["ann", "bob"]), 1.0) for value in (0.25, 0.5)]
    parts = [deal_rows(batch, domain=DOMAIN, drop_incomplete=True, number=1) for batch in batches]
    for most in (1, 2):
        hands = [draw_rows(part, most=most) for part in parts]
        assert len(_gather(hands, 0, region=DOMAIN.region, most=most)) == 2 * most
