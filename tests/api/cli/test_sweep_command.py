"""A sweep from the shell: what lands in its folder, and what survives being stopped."""

import csv
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from dpviz.api import commands
from dpviz.runs.study.workers import compute_rows
from tests.cases import about
from tests.command_line import Said, call, told_by, write_points

ROOT = Path(__file__).resolve().parents[3]
GRID = (
    *("--algorithms", "kmeans++,dplloyd,dplloyd:preset=su", "--epsilons", "0.5,2", "--ks", "2,3", "--ns", "all,50"),
    *("--repeats", "2", "--seed", 3),
)
SMALL = ("--algorithms", "dplloyd", "--epsilons", "1", "--ks", "2", "--jobs", 1)
# Kills itself once so many rows have arrived.
KILLED = """
import os, signal, sys
from dpviz.api import commands
from dpviz.__main__ import main
from dpviz.runs.study.workers import compute_rows
def some_rows(*args, **kwargs):
    for number, row in enumerate(compute_rows(*args, **kwargs)):
        if number == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        yield row
commands.compute_rows = some_rows
main(sys.argv[1:])
"""


class Study(NamedTuple):
    """A sweep from its start to its end in one process."""

    folder: Path
    said: Said


@pytest.fixture(scope="module")
def points(tmp_path_factory):
    declaration_file = {"bounds": {"x": [-1, 1], "y": [-1, 1]}, "label": "label"}
    return write_points(
        tmp_path_factory.mktemp("points") / "points.csv", n=200, declaration_file=declaration_file, label=True
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory, points):
    folder = tmp_path_factory.mktemp("whole")
    return Study(folder, told_by("sweep", points, *GRID, "--out", folder, "--jobs", 1))


def results(folder):
    with (folder / "results.csv").open(newline="") as file:
        return [{name: cell for name, cell in row.items() if name != "seconds"} for row in csv.DictReader(file)]


def test_results_are_tidy_and_the_request_lies_beside_them(whole):
    assert whole.said.code == 0, whole.said.err
    rows = results(whole.folder)
    assert len(rows) == 2 * 2 * 2 * (1 + 2 + 2)  # the reference has no ε
    assert {row["preset"] for row in rows if row["algorithm"] == "dplloyd"} == {"tuned", "su"}
    assert all(float(row["ratio"]) > 0.99 and row["label_accuracy"] for row in rows)
    assert all(float(row["nicv_one_center"]) > float(row["nicv_kmeans"]) for row in rows)
    manifest = json.loads((whole.folder / "manifest.json").read_text())
    assert (manifest["seed"], manifest["columns"], manifest["repeats"]) == (3, ["x", "y"], 2)
    assert set(manifest["libraries"]) == {"numpy", "scipy", "scikit-learn"}
    assert "not a release" in whole.said.err
    assert "40 of 40 runs done" in whole.said.err
    assert "DPLloyd (su)" in whole.said.out


def test_a_sweep_over_n_and_delta(capsys, tmp_path, points):
    asked = ("--algorithms", "dplloyd,dplloyd:preset=gaussian", "--epsilons", "1", "--ks", "2", "--repeats", "1")
    sizes = ("--ns", "all,50", "--deltas", "1e-6,1e-4", "--seed", 3)
    said = call(capsys, "sweep", points, *asked, *sizes, "--out", tmp_path / "study", "--jobs", 1)
    assert said.code == 0, said.err
    rows = results(tmp_path / "study")
    assert sorted((row["preset"], row["n"], row["delta"]) for row in rows) == [
        *(("gaussian", n, delta) for n in ("", "50") for delta in ("0.0001", "1e-06")),
        *(("tuned", n, "0.0") for n in ("", "50")),
    ]
    assert len({row["nicv_kmeans"] for row in rows}) == 2


@pytest.mark.slow
def test_a_sweep_that_was_killed_is_resumed_by_two_workers_to_the_same_table(capsys, tmp_path, points, whole):
    asked = [str(part) for part in ("sweep", points, *GRID, "--out", tmp_path)]
    killed = subprocess.run([sys.executable, "-c", KILLED, *asked, "--jobs", "1"], cwd=ROOT, capture_output=True)
    assert killed.returncode == -signal.SIGKILL
    assert results(tmp_path) == results(whole.folder)[:5]
    said = call(capsys, *asked, "--jobs", 2, "--resume")
    assert said.code == 0, said.err
    assert "5 of 40 runs are in the folder already" in said.err
    assert results(tmp_path) == results(whole.folder)


@pytest.mark.slow
def test_a_stopped_sweep_is_resumed(capsys, monkeypatch, tmp_path, points, whole):
    def five_rows(*args, **kwargs):
        for number, row in enumerate(compute_rows(*args, **kwargs)):
            if number == 5:
                raise KeyboardInterrupt
            yield row

    asked = ("sweep", points, *GRID, "--jobs", 1, "--out", tmp_path)
    monkeypatch.setattr(commands, "compute_rows", five_rows)
    assert call(capsys, *asked).code == 130
    monkeypatch.undo()
    with (tmp_path / "results.csv").open("a") as file:
        file.write("DPLloyd,dpll")  # a line torn by a kill
    wanted_rows = []

    def noted(judged, grid, wanted, **kwargs):
        wanted_rows.extend(wanted)
        return compute_rows(judged, grid, wanted, **kwargs)

    monkeypatch.setattr(commands, "compute_rows", noted)
    for _ in range(2):
        said = call(capsys, *asked, "--resume")
        assert said.code == 0, said.err
        assert len(wanted_rows) == 35
        assert results(tmp_path) == results(whole.folder)


def test_a_folder_of_an_earlier_version_gets_the_columns_that_it_lacks(capsys, tmp_path, points):
    out = tmp_path / "study"
    small = (*SMALL, "--seed", 1)
    for repeats, folder in ((1, out), (2, tmp_path / "whole")):
        assert call(capsys, "sweep", points, *small, "--repeats", repeats, "--out", folder).code == 0
    with (out / "results.csv").open("w", newline="") as file:
        old = [name for name in results(tmp_path / "whole")[0] if name != "n"]
        writer = csv.DictWriter(file, old, extrasaction="ignore")
        writer.writeheader()
        writer.writerow(results(tmp_path / "whole")[0])
    assert call(capsys, "sweep", points, *small, "--repeats", 2, "--out", out, "--resume").code == 0
    assert results(out) == results(tmp_path / "whole")


def test_a_study_grows_on_resume(capsys, tmp_path, points):
    out = tmp_path / "study"
    small = (*SMALL, "--out", out)
    assert call(capsys, "sweep", points, *small, "--repeats", 2).code == 0
    before = results(out)
    assert call(capsys, "sweep", points, *small, "--repeats", 4, "--resume").code == 0
    assert results(out)[:2] == before
    assert len(results(out)) == 4
    assert call(capsys, "sweep", points, *small, "--repeats", 1, "--resume").code == 0
    assert len(results(out)) == 4


def test_the_same_study_twice_gives_the_same_table_and_another_seed_another(capsys, tmp_path, points):
    for name, seed in (("first", ()), ("again", ()), ("other", ("--seed", 1))):
        assert call(capsys, "sweep", points, *SMALL, "--repeats", 2, "--out", tmp_path / name, *seed).code == 0
    first, again, other = (results(tmp_path / name) for name in ("first", "again", "other"))
    assert first == again
    assert [row["nicv"] for row in first] != [row["nicv"] for row in other]


def test_a_folder_with_results_is_not_overwritten(capsys, tmp_path, points):
    out = tmp_path / "study"
    small = (*SMALL, "--repeats", "1", "--out", out)
    assert call(capsys, "sweep", points, *small, "--seed", 1).code == 0
    before = results(out)
    for changed in (
        [],
        ["--resume", "--seed", 2],
        ["--resume", "--scaling", "common"],
        ["--resume", "--delta", "1e-6"],
    ):
        said = call(capsys, "sweep", points, *small, *changed)
        assert said.code == 2
        assert said.err.count("\n") == 1
    assert results(out) == before


WRONG = (
    ["--algorithms", "dbscan"],
    ["--algorithms", "dplloyd:preset=best"],
    ["--algorithms", "dplloyd:depth=3"],
    ["--algorithms", "dplloyd:preset=gaussian"],
    ["--epsilons", "1,0"],
    ["--epsilons", "1,nan"],
    ["--epsilons", "1,,2"],
    ["--ks", "0"],
    ["--ks", "2,x"],
    ["--ks", "300", "--relation", "replace"],
    ["--repeats", "0"],
    ["--jobs", "0"],
    ["--set", "depth=3"],
    ["--bounds", "1,0"],
    ["--delta", "0.01", "--relation", "replace"],
    ["--ns", "1"],
    ["--ns", "all,x"],
    ["--ns", "201", "--n-public", "200"],
    ["--deltas", "1e-6,2"],
)


def test_a_wrong_request_is_refused_before_anything_runs(capsys, tmp_path, points):
    out = tmp_path / "study"
    for options in WRONG:
        said = call(capsys, "sweep", points, *SMALL, "--repeats", "1", "--out", out, *options)
        with about(*options):
            assert said.code == 2
            assert said.err.count("\n") == 1
            assert not (out / "results.csv").exists()
    said = call(capsys, "sweep", points, *GRID, "--out", points)
    assert (said.code, said.err.count("\n")) == (2, 1), "--out is a file"


def test_settings_reach_the_algorithms_that_know_them(capsys, tmp_path, points):
    out = tmp_path / "study"
    asked = (*SMALL, "--algorithms", "kmeans++,dplloyd", "--repeats", "1", "--out", out)
    assert call(capsys, "sweep", points, *asked, "--set", "preset=su").code == 0
    assert [row["preset"] for row in results(out)] == ["", "su"]
