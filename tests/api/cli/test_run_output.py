"""What ``dpviz run`` lets out: the whole record, no time, marks inside, and never less than was paid for."""

import csv
import json
import os
import stat
from pathlib import Path

import numpy as np
import pytest

from dpviz.runs import owner_files
from dpviz.runs.evaluation import assign
from dpviz.runs.owner_files import write_whole
from tests.command_line import call, write_points

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
    for form in (["--json"], []):
        said = call(capsys, "run", points, *ASK, *form, "--seed", 5, "--out", "/dev/full")
        assert said.code == 2 and "No space left" in said.err
        assert (said.json["released"]["centers"] if form else centers_in(said.out)[1]) == paid


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
