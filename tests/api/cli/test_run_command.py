"""What ``dpviz run`` lets out: the whole record, no time, marks inside, and never less than was paid for."""

import csv
import os
import re
import stat
import sys
from pathlib import Path
from unittest.mock import Mock

import pandas as pd
import pytest

from dpviz.runs import owner_files
from dpviz.runs.owner_files import write_whole
from dpviz.tables.named import FOLDER
from tests.command_line import call, write_points
from tests.contract.tables import make_blobs

BOX = {"bounds": {"x": [-1, 1], "y": [-1, 1]}}
ASK = ("--k", "3", "--epsilon", "1")


@pytest.fixture
def points(tmp_path):
    return write_points(tmp_path / "points.csv", declaration_file=BOX)


def centers_in(text):
    """Header and centres of the CSV that begins with the last line ``x,y...`` of ``text``."""
    lines = text.strip().splitlines()
    start = max(place for place, line in enumerate(lines) if line.startswith("x,y"))
    header, *rows = csv.reader(lines[start:])
    return header, [[float(cell) for cell in row[:2]] for row in rows]


@pytest.mark.parametrize("algorithm", ["auto", "kmeans++"])
def test_nothing_that_is_printed_or_written_tells_how_long_a_run_took(capsys, tmp_path, points, algorithm):
    out = tmp_path / "c.csv"
    ask = ("run", points, *ASK, "--algorithm", algorithm, "--evaluate")
    said = call(capsys, *ask, "--json", *(("--out", out) if algorithm == "auto" else ()))
    text = call(capsys, *ask)
    for told in (said.out, said.err, text.out, text.err, out.read_text() if out.exists() else ""):
        assert "second" not in told and not re.search(r'"[a-z_]*time[a-z_]*":', told)
    assert text.out.splitlines()[0].endswith("on points: k = 3")


def test_out_refuses_the_reference_and_the_data_file(capsys, tmp_path, points):
    out, before = tmp_path / "centers.csv", points.read_bytes()
    said = call(capsys, "run", points, *ASK, "--algorithm", "kmeans++", "--out", out)
    assert said.code == 2 and "no privacy" in said.err and not out.exists()
    assert call(capsys, "run", points, *ASK, "--out", points).code == 2 and points.read_bytes() == before
    nowhere = call(capsys, "run", points, *ASK, "--out", tmp_path / "no folder" / "c.csv")
    assert (nowhere.code, nowhere.out) == (2, "")


@pytest.mark.parametrize("form", [["--json"], []], ids=str)
def test_a_full_disk_prints_the_centres_that_were_paid_for(capsys, monkeypatch, tmp_path, points, form):
    out = tmp_path / "centers.csv"
    out.write_text("what was here before")
    with monkeypatch.context() as patch:
        patch.setattr(owner_files.os, "fsync", Mock(side_effect=OSError(28, "No space left on device")))
        said = call(capsys, "run", points, *ASK, *form, "--seed", 5, "--out", out)
    paid = call(capsys, "run", points, *ASK, "--seed", 5, "--json").json["released"]["centers"]
    assert said.code == 2 and said.err.count("\n") == 1 and said.err.startswith("dpviz: --out cannot be written")
    assert (said.json["released"]["centers"] if form else centers_in(said.out)[1]) == paid
    assert out.read_text() == "what was here before"
    assert {path.name for path in tmp_path.iterdir()} == {"centers.csv", "points.csv", "points.json"}
    assert call(capsys, "run", points, *ASK, "--seed", 5, "--out", out).code == 0
    header, written = centers_in(out.read_text())
    assert header == ["x", "y", "note"] and written == paid and out.read_text().count("SIMULATION") == 3


def test_what_cannot_be_made_beside_is_written_in_place(monkeypatch, tmp_path):
    """As in a folder of others that holds a file of one's own; a link stays a link, and a file keeps its mode."""
    out, link, real = tmp_path / "centers.csv", tmp_path / "link.csv", os.open
    out.write_text("before")
    out.chmod(0o640)
    link.symlink_to(out)
    write_whole(link, b"x,y\r\n")
    assert link.is_symlink() and out.read_bytes() == b"x,y\r\n" and stat.S_IMODE(out.stat().st_mode) == 0o640

    def only_what_is_there(path, how, *mode):
        if how & os.O_EXCL:
            raise PermissionError(13, "Permission denied")
        return real(path, how, *mode)

    monkeypatch.setattr(owner_files.os, "open", only_what_is_there)
    write_whole(out, b"u,v\r\n")
    assert out.read_bytes() == b"u,v\r\n"


# Tables of tuples, whose unit is a table of its own.


LABORATORIES = (FOLDER / "laboratories.csv", "--k", 2, "--delta", 1e-6, "--json")


def test_a_table_of_tuples_is_served_point_by_point(capsys: pytest.CaptureFixture[str], tmp_path) -> None:
    out = tmp_path / "centers.csv"
    ask = ("--algorithm", "k-noisy-centers", "--set", "rows=tuples", "--seed", 1, "--evaluate", "--out", out)
    report = call(capsys, "run", *LABORATORIES, "--epsilon", 1, *ask).json
    told = (report["relation"], report["n_public"], report["columns"])
    assert told == ("replace", 5000, ["temperature", "resistance"])
    (zinc, aluminium) = sorted(report["released"]["centers"])
    assert zinc == pytest.approx([419.5, 253.8], abs=60) and aluminium == pytest.approx([660.3, 332.9], abs=60)
    assert report["revealed"]["matched_error"] < 0.15 and report["revealed"]["ari"] > 0.99
    assert out.read_text().startswith("temperature,resistance,note") and out.read_text().count("\n") == 3


# The command line on Parquet, on tables beyond memory, and with a cluster: the same release, or a sentence.


Capture = pytest.CaptureFixture[str]
ASKED = ("--bounds=-1,1", "--k", "3", "--epsilon", "2", "--delta", "1e-6", "--seed", "1", "--json")


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("tables")
    frame = pd.DataFrame(make_blobs(3000), columns=["x", "y"])
    frame.to_csv(made / "t.csv", index=False)
    frame.to_parquet(made / "t.parquet", row_group_size=500)
    return made


@pytest.mark.usefixtures("folder", "large")
def test_a_large_table_is_judged_on_a_sample_where_the_algorithm_reads_it(capsys: Capture) -> None:
    ask = ("run", "t.parquet", "--columns", "x,y", *ASKED)
    judged = call(capsys, *ask, "--evaluate").json["revealed"]
    assert 0.9 < judged["ratio"] < 2 and "clipping" not in judged and "label_accuracy" not in judged
    said = call(capsys, *ask, "--algorithm", "kvariates")
    assert said.code == 2 and "choose one of auto, dplloyd" in said.err


@pytest.mark.usefixtures("folder")
def test_workers_read_parquet_only_and_are_reached_by_dask(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("dpviz.api.cli.declared_table.connect", lambda address: None)
        said = call(capsys, "run", "t.csv", *ASKED, "--cluster", "tcp://127.0.0.1:1")
    assert said.code == 2 and "read Parquet" in said.err
    monkeypatch.setitem(sys.modules, "dask", None)  # then its import fails as if it were not there
    said = call(capsys, "run", "t.parquet", *ASKED, "--cluster", "tcp://127.0.0.1:1")
    assert said.code == 2 and "dpviz[cluster]" in said.err


@pytest.fixture
def folder(tables: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tables)
    return tables


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """No table fits into memory."""
    monkeypatch.setattr("dpviz.tables.arrow_intake._MOST_BYTES", 10)
    monkeypatch.setattr("dpviz.tables.csv_intake.MAX_BYTES", 1000)
