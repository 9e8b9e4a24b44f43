"""What ``dpviz run`` lets out: the whole record, no time, marks inside, and never less than was paid for."""

from __future__ import annotations

import csv
import os
import re
import stat
import sys
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest

from dpviz.algorithms.registry import CARDS
from dpviz.runs import owner_files
from dpviz.runs.owner_files import write_whole
from dpviz.tables.named import FOLDER, sample
from tests.cases import about
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


def test_a_seeded_run_prints_the_same_twice(capsys, points):
    """Every byte follows from the rows, the request, the seed and the day: nothing from the clock."""
    once, again = (call(capsys, "run", points, *ASK, "--seed", 3, "--json", "--evaluate") for _ in range(2))
    assert once.out == again.out
    fresh = call(capsys, "run", points, *ASK, "--json").json
    assert fresh["released"] != once.json["released"]
    assert any("seed" in said for said in once.json["warnings"]) and not any("seed" in s for s in fresh["warnings"])


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


@pytest.mark.slow
def test_every_algorithm_runs_on_the_sample_of_its_card_and_spends_what_it_was_given(capsys) -> None:
    for name, card in CARDS.items():
        (path,) = [path for path in FOLDER.glob(f"{card.sample}.*") if path.suffix in (".csv", ".npz")]
        k = sample(card.sample).clusters
        said = call(capsys, "run", path, "--algorithm", name, "--k", k, "--epsilon", 1, "--delta", DELTA, "--json")
        with about(name, said.err):
            assert said.code == 0
            told = said.json["released" if card.private else "revealed"]["centers"]
            assert [len(center) for center in told] == [len(said.json["columns"])] * k
            assert not card.private or 0.99 <= said.json["ledger"]["epsilon"] <= 1


# Every algorithm runs from the command line on the sample file that its card names, and spends what it was given.


DELTA = 1e-6
LABORATORIES = (FOLDER / "laboratories.csv", "--k", 2, "--delta", DELTA, "--json")


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


# Attacks on the file: one added line used to change how all others were read. Each is a run of the command line.


ALMOST_EXACT = ("--algorithm", "dplloyd", "--k", 1, "--epsilon", 1000, "--seed", 1, "--json")
UNIT = ("--columns", "x,y", "--bounds", "0,1")
COMMAS = b"x;y\n" + b"1,234;1\n" * 500
PAIRS = b"x,y\n" + b"0.5,0.5\n" * 100
# A file, what is asked of it, the lines that are added, and how far they may move the centre and the weight.
CASES = {
    "500 cells 1,234 were 1.234 each, until one row 1,250.5 made all of them 1234": (
        *(COMMAS, ("--bounds", "0,2000", "--n-public", 500)),
        *([b"1,250.5;1\n"], 2 * 2000 / 500, np.inf),
    ),
    "a person of 200 rows with a text id counted 200 times under up to 1 row": (
        b"id,x,y\n" + b"".join(b"%d,0.5,0.5\n" % number for number in range(300)),
        (*UNIT, "--id-column", "id", "--rows-per-person", 1),
        *([b"Anna,0.9,0.9\n" * 200], 0.05, 1.5),
    ),
    "one unclosed mark parsed the whole file anew: cells with a delimiter inside fell apart": (
        b"who,x,y\n" + b'"Doe, Jane",0.5,0.5\n"Roe",0.25,0.5\n' * 100,
        *(UNIT, [b'"Poe,0.5,0.5\n'], 0.05, 1.5),
    ),
    "a column that is filled in one row came and went with that row": (
        b"x,y,rare\n" + b"0.5,0.5,\n" * 100,
        *(("--bounds", "0,1"), [b"0.5,0.5,0.5\n"], np.inf, 1.5),
    ),
    "names, delimiter and encoding are of the first line": (
        b"a,b\n" + b"0.5,0.25\n" * 3,
        ("--bounds", "0,1"),
        [line * 4 for line in (b"u,v\n", b"1;2\n", b"1\t2\t3\t4\n", b"\xff\xfe\xe9,1\n", b"x y z\n")],
        *(np.inf, 1.0),
    ),
}


def release_exactly(capsys, path, raw: bytes, *options):
    """Centre, weight and all else of one run on a file of those bytes."""
    path.write_bytes(raw)
    said = call(capsys, "run", path, *ALMOST_EXACT, *options)
    assert said.code == 0, said.err
    found = said.json
    return np.array(found["released"]["centers"][0]), found["released"]["weights"][0], found


def test_a_line_concerns_itself_only(capsys, tmp_path):
    for case, (body, options, added, farther, heavier) in CASES.items():
        center, weight, without = release_exactly(capsys, tmp_path / "data.csv", body, *options)
        for lines in added:
            with about(case, lines[:20]):
                moved, more, with_it = release_exactly(capsys, tmp_path / "data.csv", body + lines, *options)
                assert with_it["columns"] == without["columns"]
                assert np.linalg.norm(moved - center) < farther and abs(more - weight) < heavier


def test_under_replace_every_line_is_a_row(capsys, tmp_path):
    """A line with too many fields was dropped before n was declared public."""
    for line in (b"0.5,0.5\n", b"0.5,0.5,0.5\n", b"0.5\n", b'"0.5\n', b"\n", b"\xff\n"):
        found = release_exactly(
            capsys, tmp_path / "data.csv", PAIRS + line, "--bounds", "0,1", "--relation", "replace"
        )[2]
        assert found["n_public"] == 101
