"""The command line on Parquet, on tables beyond memory, and with a cluster: the same release, or a sentence."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.cases import about
from tests.command_line import call

Capture = pytest.CaptureFixture[str]
ASKED = ("--bounds=-1,1", "--k", "3", "--epsilon", "2", "--delta", "1e-6", "--seed", "1", "--json")


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(0)
    n = 3000
    centers = rng.uniform(-0.8, 0.8, (3, 2))
    label = rng.integers(0, 3, n)
    values = centers[label] + rng.normal(0, 0.05, (n, 2))
    frame = pd.DataFrame({"x": values[:, 0], "y": values[:, 1], "label": label.astype(str)})
    frame.loc[::101, "x"] = np.nan
    frame["who"] = [f"p{i}" for i in rng.integers(0, 700, n)]
    frame.to_csv(made / "t.csv", index=False)
    frame.to_parquet(made / "t.parquet", row_group_size=500)
    return made


@pytest.fixture
def folder(tables: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tables)
    return tables


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """No table fits into memory."""
    monkeypatch.setattr("dpviz.tables.arrow_intake._MOST_BYTES", 10)
    monkeypatch.setattr("dpviz.tables.csv_intake.MAX_BYTES", 1000)


def released(capsys: Capture, data: str, *more: str) -> dict:
    said = call(capsys, "run", data, "--columns", "x,y", *ASKED, *more)
    assert said.code == 0, said.err
    return json.loads(said.out)


PERSONS = ("--id-column", "who", "--rows-per-person", "2")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "more", [PERSONS, *(pytest.param(more, marks=pytest.mark.slow) for more in ((), ("--relation", "replace")))]
)
def test_parquet_releases_what_csv_releases(
    capsys: Capture, more: tuple[str, ...], request: pytest.FixtureRequest
) -> None:
    fits = [released(capsys, data, *more) for data in ("t.csv", "t.parquet")]
    request.getfixturevalue("large")
    does_not = [released(capsys, data, *more) for data in ("t.csv", "t.parquet")]
    assert len({json.dumps(report["released"]) for report in (*fits, *does_not)}) == 1
    assert len({json.dumps(report["ledger"]) for report in (*fits, *does_not)}) == 1


@pytest.mark.usefixtures("folder")
def test_labels_of_a_parquet_file_judge_as_those_of_csv(capsys: Capture) -> None:
    judged = [released(capsys, data, "--evaluate")["revealed"] for data in ("t.csv", "t.parquet")]
    assert judged[0] == judged[1] and "label_accuracy" in judged[0]


@pytest.mark.usefixtures("folder", "large")
def test_a_large_table_is_judged_on_a_sample(capsys: Capture) -> None:
    judged = released(capsys, "t.parquet", "--evaluate")["revealed"]
    assert 0.9 < judged["ratio"] < 2 and "clipping" not in judged and "label_accuracy" not in judged


@pytest.mark.slow
@pytest.mark.usefixtures("folder", "large")
def test_a_sweep_runs_on_the_file_and_judges_on_the_sample(capsys: Capture, tmp_path: Path) -> None:
    asked = ("--columns", "x,y", "--bounds=-1,1", "--algorithms", "auto,dplloyd", "--epsilons", "3", "--ks", "3")
    runs = ("--delta", "1e-6", "--repeats", "1", "--jobs", "1", "--out", tmp_path)
    said = call(capsys, "sweep", "t.parquet", *asked, *runs)
    assert said.code == 0, said.err
    found = pd.read_csv(tmp_path / "results.csv")
    assert len(found) == 2 and (found["ratio"] < 3).all()


@pytest.mark.usefixtures("folder", "large")
def test_what_needs_all_rows_at_once_is_refused_with_what_works(capsys: Capture) -> None:
    said = call(capsys, "run", "t.parquet", "--columns", "x,y", *ASKED, "--algorithm", "kvariates")
    assert said.code == 2 and "choose one of auto, dplloyd" in said.err


@pytest.mark.usefixtures("folder")
def test_workers_read_parquet_only(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpviz.api.cli.declared_table.connect", lambda address: None)
    said = call(capsys, "run", "t.csv", "--columns", "x,y", *ASKED, "--cluster", "tcp://127.0.0.1:1")
    assert said.code == 2 and "read Parquet" in said.err


@pytest.mark.usefixtures("folder")
def test_without_dask_a_cluster_is_refused(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dask", None)  # then its import fails as if it were not there
    said = call(capsys, "run", "t.parquet", *ASKED, "--cluster", "tcp://127.0.0.1:1")
    assert said.code == 2 and "dpviz[cluster]" in said.err


def test_a_damaged_or_missing_file_is_one_sentence(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "bad.parquet"
    for content, told in ((None, "no Parquet file"), (b"", "damaged"), (b"PAR1" + b"0" * 100, "damaged")):
        if content is not None:
            path.write_bytes(content)
        said = call(capsys, "run", path, *ASKED)
        with about(told, content):
            assert said.code == 2 and told in said.err and len(said.err.strip().splitlines()) == 1
