"""Rows on a server of Spark Connect: the same bytes as in memory, one sentence for whatever fails, and no row here."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dpviz
from dpviz.core.check import RequestError
from dpviz.runs.one_run import run
from dpviz.tables import spark_intake
from dpviz.tables.declarations import Declaration
from dpviz.tables.loaded_table import IntakeError
from dpviz.tables.named import open_file
from dpviz.tables.spark_intake import SparkEngine, SparkPart, SparkTable
from tests.cases import about
from tests.command_line import call
from tests.releases.test_every_door import declared, files_of
from tests.releases.test_release_bytes import write_rows
from tests.tables.spark_server import connected

pytestmark = pytest.mark.filterwarnings("ignore")  # of its libraries, and of threads while it is taken down
BOUNDS = {"bounds": {"x": [-1, 1], "y": [-1, 1]}, "bounds_origin": "by design"}
N = 2000


def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    centers = rng.uniform(-0.8, 0.8, (4, 2))
    values = centers[rng.integers(0, 4, N)] + rng.normal(0, 0.05, (N, 2))
    values[::97] = np.nan
    who = rng.integers(0, N // 6, N)
    towns = np.array(["North", "South", "West"])[rng.integers(0, 3, N)]
    return pd.DataFrame({"x": values[:, 0], "y": values[:, 1], "who": [f"p{one}" for one in who], "town": towns})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("spark")
    table().to_parquet(folder / "t.parquet", row_group_size=300)
    return folder


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    with connected() as session:
        yield session


# A round of Lloyd asks as the one before it, and each question costs a server a second.
FEW_ROUNDS = {"dplloyd": {"rounds": 2}}


def centers_of(data: Any, said: dict[str, Any], algorithm: str) -> bytes:
    private, params = dpviz.open_table(data, said), FEW_ROUNDS.get(algorithm)
    return run(algorithm, private, k=3, epsilon=2.0, delta=1e-6, params=params, seed=1).centers.tobytes()


@pytest.mark.slow
def test_answers_are_those_of_memory_wherever_rows_lie(session: Any, folder: Path) -> None:
    frame = session.read.parquet(str(folder / "t.parquet"))
    towns = {**BOUNDS["bounds"], "town": {"categories": ["North", "South"]}}
    persons = {**BOUNDS, "bounds": towns, "id_column": "who", "rows_per_person": 2}
    for algorithm, said in (("dplloyd", persons), ("lsh-local", BOUNDS)):
        with about(algorithm, said):
            there = centers_of(frame.repartition(3), said, algorithm)
            assert there == centers_of(folder / "t.parquet", said, algorithm)


@pytest.mark.slow
def test_nothing_but_sums_hashes_and_sizes_comes_here(
    session: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is unpacked in this process while a run asks; rows would be arrays of floats."""
    came: list[Any] = []

    def loads(data: bytes) -> Any:
        came.append(pickle.loads(data))
        return came[-1]

    monkeypatch.setattr(spark_intake, "pickle", SimpleNamespace(loads=loads, dumps=pickle.dumps))
    centers_of(session.read.parquet(str(folder / "t.parquet")).repartition(3), BOUNDS, "dplloyd")
    assert came
    for one in came:
        assert isinstance(one, int | list), type(one)
        for part in one if isinstance(one, list) else [one]:
            assert np.asarray(part).dtype.kind in "iuO" and np.size(part) < 100


@pytest.mark.slow
def test_columns_of_other_types_or_none_are_refused_by_the_schema(session: Any, folder: Path) -> None:
    source = SparkTable(session.read.parquet(str(folder / "t.parquet")))
    assert source.columns == ("x", "y", "who", "town") and source.numeric_columns == ("x", "y") and source.n_rows == N
    for bounds, words in (({"gone": [0, 1]}, 'no column "gone"'), ({"who": [0, 1]}, '"who" holds string')):
        with about(words), pytest.raises(IntakeError, match=words):
            dpviz.open_table(source.frame, {**BOUNDS, "bounds": bounds})
    with pytest.raises(IntakeError, match="no process reads them at once"):
        source.read(("x",))
    missing = SparkTable(session.read.table("customers"), "customers")
    with pytest.raises(IntakeError, match='no table "customers" that the Spark server can read'):
        _ = missing.columns


@pytest.mark.slow
def test_a_release_has_the_same_bytes(session: Any, tmp_path: Path) -> None:
    """As through all other doors (``tests/releases/test_every_door.py``)."""
    path, said = tmp_path / "rows.parquet", declared()
    pd.read_csv(write_rows(tmp_path, "rows", 0, 900)).to_parquet(path)
    expected = files_of(open_file(path), said, tmp_path / "parquet.sqlite")
    table = SparkTable(session.read.parquet(str(path)).repartition(2))
    found = files_of(table, said, tmp_path / "spark.sqlite")
    assert found.keys() == expected.keys()
    assert not [file for file in found if found[file] != expected[file]]


@pytest.mark.slow
def test_a_worker_that_fails_and_a_server_that_goes_away_are_told(session: Any, folder: Path) -> None:
    frame = session.read.parquet(str(folder / "t.parquet"))

    def breaks_off(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield batch
            raise ValueError(f"the row {batch.column(0)[0]} is broken")

    broken = frame.mapInArrow(breaks_off, frame.schema)
    with pytest.raises(RequestError, match="a worker failed") as told:
        dpviz.open_table(broken, BOUNDS)
    assert "broken" not in str(told.value)
    private = dpviz.open_table(frame, BOUNDS)
    session.stop()
    with pytest.raises(RequestError, match=r"did not answer.* stays charged"):
        run("dplloyd", private, k=3, epsilon=2.0, seed=1)


def test_whatever_spark_says_is_one_sentence_without_a_value() -> None:
    class Fails:
        def mapInArrow(self, *_: Any) -> None:
            raise RuntimeError("row 4711: 123.5")

    with pytest.raises(RequestError, match="a worker failed") as told:
        SparkEngine().total(len, [SparkPart(Fails(), 0)])
    assert "4711" not in str(told.value)


def test_a_server_that_is_not_there_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark_intake, "_SECONDS_TO_ANSWER", 0.2)
    asked = ("--bounds", "0,1", "--k", "2", "--epsilon", "1")
    said = call(capsys, "run", "sc://127.0.0.1:1?table=t", *asked)
    assert said.code == 2 and "No server of Spark Connect answers" in said.err and said.err.count("\n") <= 2


def test_a_declared_table_of_spark_is_never_held_in_memory() -> None:
    empty = pa.schema([("x", pa.float64())]).empty_table()
    frame = SimpleNamespace(limit=lambda _: SimpleNamespace(toArrow=lambda: empty))
    source = SparkTable(frame, "t")
    assert source.columns == ("x",) and not source.fits(1)
    assert source.fingerprint != SparkTable(frame, "u").fingerprint
    with pytest.raises(IntakeError, match="stay there"):
        list(source.read_batches(Declaration().over(("x",)).columns))
