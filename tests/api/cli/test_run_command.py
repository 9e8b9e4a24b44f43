"""What ``dpviz run`` lets out: the whole record, no time, marks inside, and never less than was paid for."""

from __future__ import annotations

import csv
import json
import os
import stat
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpviz.algorithms.card import Card, Level, Setting
from dpviz.algorithms.registry import CARDS
from dpviz.core.queries import Relation
from dpviz.runs import owner_files
from dpviz.runs.advice.judgement import Judgement
from dpviz.runs.evaluation import assign
from dpviz.runs.owner_files import write_whole
from dpviz.tables.named import FOLDER, sample
from tests.cases import about
from tests.command_line import Said, call, write_points

BOX = {"bounds": {"x": [-1, 1], "y": [-1, 1]}}
ASK = ("--k", "3", "--epsilon", "1")


@pytest.fixture
def points(tmp_path):
    return write_points(tmp_path / "points.csv", declaration_file=BOX)


def keys_in(value):
    """Names of all fields of a JSON value."""
    if isinstance(value, dict):
        return set(value).union(*map(keys_in, value.values()))
    return set().union(*map(keys_in, value)) if isinstance(value, list) else set()


def centers_in(text):
    """Header and centres of the CSV that begins with the last line ``x,y...`` of ``text``."""
    lines = text.strip().splitlines()
    start = max(place for place, line in enumerate(lines) if line.startswith("x,y"))
    header, *rows = csv.reader(lines[start:])
    return header, [[float(cell) for cell in row[:2]] for row in rows]


@pytest.mark.parametrize("algorithm", ["auto", "kmeans++"])
def test_nothing_that_is_printed_or_written_tells_how_long_a_run_took(capsys, tmp_path, points, algorithm):
    out = [] if algorithm == "kmeans++" else ["--out", tmp_path / "c.csv"]
    said = call(capsys, "run", points, *ASK, "--algorithm", algorithm, "--json", "--evaluate", *out)
    assert not any("second" in key or "time" in key for key in keys_in(said.json))
    text = call(capsys, "run", points, *ASK, "--algorithm", algorithm, "--evaluate")
    assert "second" not in said.err + text.err + text.out
    assert text.out.splitlines()[0].endswith("on points: k = 3")
    if out:
        assert "second" not in out[1].read_text()


def test_a_seeded_run_prints_the_same_twice(capsys, points):
    """Every byte follows from the rows, the request, the seed and the day: nothing from the clock."""
    once, again = (call(capsys, "run", points, *ASK, "--seed", 3, "--json", "--evaluate") for _ in range(2))
    assert once.out == again.out
    fresh = call(capsys, "run", points, *ASK, "--json").json
    assert fresh["released"] != once.json["released"]
    assert any("seed" in said for said in once.json["warnings"]) and not any("seed" in s for s in fresh["warnings"])


def test_out_writes_the_released_centres_and_what_they_are_worth(capsys, tmp_path, points):
    out = tmp_path / "centers.csv"
    report = call(capsys, "run", points, *ASK, "--json", "--evaluate", "--out", out).json
    header, centers = centers_in(out.read_text())
    assert header == ["x", "y", "note"] and centers == report["released"]["centers"]
    assert out.read_text().count("not hardened") == 3 == out.read_text().count(report["note"])
    assert report["noise"].startswith("simulation") and not report["seeded"]


def test_out_refuses_the_reference_and_the_data_file(capsys, tmp_path, points):
    out = tmp_path / "centers.csv"
    said = call(capsys, "run", points, *ASK, "--algorithm", "kmeans++", "--out", out)
    assert said.code == 2
    assert "no privacy" in said.err
    assert not out.exists()
    before = points.read_bytes()
    assert call(capsys, "run", points, *ASK, "--out", points).code == 2
    assert points.read_bytes() == before
    nowhere = call(capsys, "run", points, *ASK, "--out", tmp_path / "no folder" / "c.csv")
    assert (nowhere.code, nowhere.out) == (2, "")


def failing(name, when):
    """A stand-in for ``os``'s function ``name`` that fails as a full disk does: writing, from call ``when`` on."""
    real, calls = getattr(os, name), []

    def fail(*args, **kwargs):
        if name == "open" and not args[1] & os.O_WRONLY:
            return real(*args, **kwargs)
        calls.append(args)
        if len(calls) > when:
            raise OSError(28, "No space left on device")
        return real(*args, **kwargs)

    return fail


@pytest.mark.parametrize(("where", "form"), [("open", ["--json"]), ("fsync", [])])
def test_a_full_disk_prints_the_centres_that_were_paid_for(capsys, monkeypatch, tmp_path, points, where, form):
    out = tmp_path / "centers.csv"
    out.write_text("what was here before")
    monkeypatch.setattr(owner_files.os, where, failing(where, 0))
    said = call(capsys, "run", points, *ASK, *form, "--seed", 5, "--out", out)
    monkeypatch.undo()
    paid = call(capsys, "run", points, *ASK, "--seed", 5, "--json").json["released"]["centers"]
    assert said.code == 2 and said.err.count("\n") == 1 and said.err.startswith("dpviz: --out cannot be written")
    assert (said.json["released"]["centers"] if form else centers_in(said.out)[1]) == paid
    assert out.read_text() == "what was here before"
    assert {path.name for path in tmp_path.iterdir()} == {"centers.csv", "points.csv", "points.json"}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_a_device_without_room_prints_the_centres_that_were_paid_for(capsys, points):
    paid = call(capsys, "run", points, *ASK, "--seed", 5, "--json").json["released"]["centers"]
    said = call(capsys, "run", points, *ASK, "--seed", 5, "--out", "/dev/full")
    assert said.code == 2 and "No space left" in said.err and centers_in(said.out)[1] == paid


def test_what_cannot_be_made_beside_is_written_in_place(monkeypatch, tmp_path):
    """As in a folder of others that holds a file of one's own."""
    out = tmp_path / "centers.csv"
    out.write_text("before")
    real = os.open

    def only_what_is_there(path, how, *mode):
        if how & os.O_EXCL:
            raise PermissionError(13, "Permission denied")
        return real(path, how, *mode)

    monkeypatch.setattr(owner_files.os, "open", only_what_is_there)
    write_whole(out, b"x,y\r\n")
    assert out.read_bytes() == b"x,y\r\n"


def test_a_link_stays_a_link_and_a_file_keeps_its_mode(tmp_path):
    out, link = tmp_path / "centers.csv", tmp_path / "link.csv"
    out.write_text("before")
    out.chmod(0o640)
    link.symlink_to(out)
    write_whole(link, b"x,y\r\n")
    assert link.is_symlink() and out.read_bytes() == b"x,y\r\n" and stat.S_IMODE(out.stat().st_mode) == 0o640


@pytest.mark.parametrize("algorithm", ["dplloyd", "kmeans++"])
def test_rows_without_a_label_are_left_out_of_label_accuracy_and_counted(capsys, tmp_path, algorithm):
    path = write_points(tmp_path / "known.csv", declaration_file=BOX | {"label": "label"}, label=True)
    header, *lines = path.read_text().splitlines()
    rng = np.random.default_rng(0)
    empty = rng.random(len(lines)) < 0.7
    kept = (line[: line.rindex(",") + 1] if gone else line for line, gone in zip(lines, empty, strict=True))
    path.write_text("\n".join([header, *kept]))
    report = call(capsys, "run", path, *ASK, "--seed", 1, "--evaluate", "--json", "--algorithm", algorithm).json
    rows = np.array([[float(cell) for cell in line.split(",")] for line in lines])[~empty]
    centers = report["released"]["centers"] or report["revealed"]["centers"]
    assigned = assign(rows[:, :2], np.array(centers))
    hits = sum(max(np.sum(rows[assigned == cluster, 2] == value) for value in (0, 1)) for cluster in range(3))
    assert report["revealed"]["unlabelled"] == empty.sum() > 200
    assert report["revealed"]["label_accuracy"] == pytest.approx(hits / len(rows), abs=1e-12)
    text = call(capsys, "run", path, *ASK, "--seed", 1, "--evaluate", "--algorithm", algorithm).out
    (line,) = (line for line in text.splitlines() if "without a label" in line)
    assert line.split()[-1] == f"{empty.sum()}"


def test_a_file_without_any_label_has_no_label_accuracy(capsys, tmp_path):
    path = tmp_path / "unknown.csv"
    path.write_text("x,y,label\n" + "0.5,0.5,\n" * 40 + "-0.5,-0.25,\n" * 40)
    path.with_suffix(".json").write_text(json.dumps(BOX | {"label": "label"}))
    ask = ("run", path, "--k", 2, "--epsilon", 1, "--evaluate")
    revealed = call(capsys, *ask, "--json").json["revealed"]
    assert (revealed["label_accuracy"], revealed["unlabelled"]) == (None, 80)
    text = call(capsys, *ask).out
    assert "label accuracy" not in text and "without a label" in text


# Every algorithm runs from the command line on the sample file that its card names, and spends what it was given.


# One of each kind of file; the others are slow.
FAST = ("dplloyd", "balcan-sparse", "k-noisy-centers")
OTHERS = tuple(name for name in CARDS if name not in FAST)
EPSILON, DELTA = 1.0, 1e-6
LABORATORIES = (FOLDER / "laboratories.csv", "--k", 2, "--delta", DELTA, "--json")


def _on_its_sample(capsys: pytest.CaptureFixture[str], card: Card) -> Said:
    (path,) = [path for path in FOLDER.glob(f"{card.sample}.*") if path.suffix in (".csv", ".npz")]
    request = ("--algorithm", card.id, "--k", sample(card.sample).clusters, "--epsilon", EPSILON, "--delta", DELTA)
    return call(capsys, "run", path, *request, "--json")


@pytest.mark.parametrize("ids", [FAST, pytest.param(OTHERS, marks=pytest.mark.slow)])
def test_a_run_on_the_sample_of_a_card(capsys: pytest.CaptureFixture[str], ids: Iterable[str]) -> None:
    for name in ids:
        with about(name):
            _check_run(capsys, CARDS[name])


def _check_run(capsys: pytest.CaptureFixture[str], card: Card) -> None:
    said = _on_its_sample(capsys, card)
    assert said.code == 0, said.err
    report, k = said.json, sample(card.sample).clusters
    told = report["released" if card.private else "revealed"]
    assert len(told["centers"]) == k
    assert all(len(center) == len(report["columns"]) for center in told["centers"])
    if not card.private:
        return
    assert 0.99 * EPSILON <= report["ledger"]["epsilon"] <= EPSILON
    assert sum(entry["epsilon"] for entry in report["ledger"]["entries"]) > 0
    declared = sample(card.sample).load().declaration if card.sample != "words" else None
    dim, n = len(report["columns"]), declared.n_public if declared is not None else report["n_public"]
    setting = Setting(dim=dim, k=k, epsilon=EPSILON, delta=DELTA, relation=Relation(report["relation"]), n=n)
    setting = replace(setting, common=dim > 1 and declared is not None and declared.scaling == "common")
    regime = Judgement.of(card, setting, card.params.parse(report["parameters"]), sparse=card.sample == "words")
    assert report["expected"] == regime.announcement
    if regime.level not in (None, Level.GREEN):
        assert regime.message in report["warnings"]


def test_a_table_of_tuples_is_served_point_by_point(capsys: pytest.CaptureFixture[str], tmp_path) -> None:
    out = tmp_path / "centers.csv"
    ask = ("--algorithm", "k-noisy-centers", "--set", "rows=tuples", "--seed", 1, "--evaluate", "--out", out)
    report = call(capsys, "run", *LABORATORIES, "--epsilon", 1, *ask).json
    assert (report["relation"], report["n_public"], report["columns"]) == (
        *("replace", 5000),
        ["temperature", "resistance"],
    )
    (zinc, aluminium) = sorted(report["released"]["centers"])
    assert zinc == pytest.approx([419.5, 253.8], abs=60) and aluminium == pytest.approx([660.3, 332.9], abs=60)
    assert 0.99 <= report["ledger"]["epsilon"] <= 1
    assert report["revealed"]["matched_error"] < 0.15 and report["revealed"]["ari"] > 0.99
    with out.open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["temperature", "resistance", "note"] and len(rows) == 2


def test_tables_that_hold_no_tuples_are_refused_in_a_sentence(capsys) -> None:
    ask = ("--algorithm", "k-averages", "--epsilon", 1, "--set", "rows=tuples")
    for options, said in (
        (("--relation", "add_remove"), "declare the relation replace"),
        (("--k", 3), "does not hold 3 points"),
        (("--columns", "temperature_1,temperature_2,resistance_1,resistance_2"), "same bounds for every point"),
    ):
        refused = call(capsys, "run", *LABORATORIES, *ask, *options)
        with about(*options):
            assert refused.code == 2 and said in refused.err and not refused.out


def test_a_sweep_does_not_judge_tuples_by_rows(capsys, tmp_path) -> None:
    grid = ("--algorithms", "k-noisy-centers:rows=tuples", "--ks", "2", "--epsilons", "1", "--out", tmp_path / "s")
    refused = call(capsys, "sweep", FOLDER / "laboratories.csv", *grid, "--delta", DELTA)
    assert refused.code == 2 and "reads 2 points from each row" in refused.err


# The command line on Parquet, on tables beyond memory, and with a cluster: the same release, or a sentence.


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


def test_the_declared_style_holds_for_every_row(capsys, tmp_path):
    path = tmp_path / "data.csv"
    for style, mean in (({"decimal": ","}, 1.234), ({"grouping": ","}, 1234.0)):
        declared = {"lower": 0, "upper": 2000, "n_public": 500, "file": style}
        path.with_suffix(".json").write_text(json.dumps(declared))
        without, _, _ = release_exactly(capsys, path, COMMAS)
        with_it, _, _ = release_exactly(capsys, path, COMMAS + b"1,250.5;1\n")
        with about(style):
            assert without[0] == pytest.approx(mean, abs=0.5)
            assert abs(with_it - without).max() < 2 * 2000 / 500


def test_under_replace_every_line_is_a_row(capsys, tmp_path):
    """A line with too many fields was dropped before n was declared public."""
    for line in (b"0.5,0.5\n", b"0.5,0.5,0.5\n", b"0.5\n", b'"0.5\n', b"\n", b"\xff\n"):
        found = release_exactly(
            capsys, tmp_path / "data.csv", PAIRS + line, "--bounds", "0,1", "--relation", "replace"
        )[2]
        assert found["n_public"] == 101
