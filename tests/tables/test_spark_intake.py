"""Rows on a server of Spark Connect: the same bytes as in memory, one sentence for whatever fails, and no row here."""

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
from tests.releases.test_every_door import BOUNDS as PEOPLE
from tests.releases.test_every_door import declared, files_of
from tests.releases.test_release_bytes import write_rows
from tests.tables.spark_server import connected

pytestmark = pytest.mark.filterwarnings("ignore")  # of its libraries, and of threads while it is taken down
BOUNDS = {"bounds": {"x": [-1, 1], "y": [-1, 1]}, "bounds_origin": "by design"}
N = 2000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("spark")
    rng = np.random.default_rng(0)
    values = rng.choice([-0.7, 0.1, 0.6], (N, 2)) + rng.normal(0, 0.05, (N, 2))
    values[::97] = np.nan
    table = pd.DataFrame({"x": values[:, 0], "y": values[:, 1], "who": [f"p{one}" for one in range(N)]})
    table.to_parquet(folder / "t.parquet", row_group_size=300)
    pd.read_csv(write_rows(folder, "rows", 0, 900)).to_parquet(folder / "rows.parquet")
    return folder


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    with connected() as session:
        yield session


@pytest.mark.slow
def test_messages_are_those_of_memory_wherever_rows_lie(session: Any, folder: Path) -> None:
    frame = session.read.parquet(str(folder / "t.parquet")).repartition(2)
    opened = (dpviz.open_table(data, BOUNDS) for data in (frame, folder / "t.parquet"))
    there, here = (run("lsh-local", one, k=3, epsilon=2.0, delta=1e-6, seed=1).centers for one in opened)
    np.testing.assert_array_equal(there, here)


@pytest.mark.slow
def test_a_release_has_the_same_bytes_and_nothing_but_sums_hashes_and_sizes_comes_here(
    session: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As through all other doors (``tests/releases/test_every_door.py``); rows would be arrays of floats."""
    path, said = folder / "rows.parquet", declared(bounds={**PEOPLE, "town": {"categories": ["North", "South"]}})
    expected, came = files_of(open_file(path), said, tmp_path / "parquet.sqlite"), []

    def loads(data: bytes) -> Any:
        came.append(pickle.loads(data))
        return came[-1]

    monkeypatch.setattr(spark_intake, "pickle", SimpleNamespace(loads=loads, dumps=pickle.dumps))
    table = SparkTable(session.read.parquet(str(path)).repartition(2))
    found = files_of(table, said, tmp_path / "spark.sqlite")
    assert found.keys() == expected.keys()
    assert not [file for file in found if found[file] != expected[file]]
    parts = [part for one in came for part in (one if isinstance(one, list) else [one])]
    assert parts and all(np.asarray(part).dtype.kind in "iuO" and np.size(part) < 900 for part in parts)


@pytest.mark.slow
def test_columns_of_other_types_or_none_are_refused_by_the_schema(session: Any, folder: Path) -> None:
    source = SparkTable(session.read.parquet(str(folder / "t.parquet")))
    assert source.columns == ("x", "y", "who") and source.numeric_columns == ("x", "y") and source.n_rows == N
    for bounds, words in (({"gone": [0, 1]}, 'no column "gone"'), ({"who": [0, 1]}, '"who" holds string')):
        with about(words), pytest.raises(IntakeError, match=words):
            dpviz.open_table(source.frame, {**BOUNDS, "bounds": bounds})
    with pytest.raises(IntakeError, match="no process reads them at once"):
        source.read(("x",))
    missing = SparkTable(session.read.table("customers"), "customers")
    with pytest.raises(IntakeError, match='no table "customers" that the Spark server can read'):
        _ = missing.columns


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
