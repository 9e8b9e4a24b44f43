"""A sweep from the shell: what lands in its folder, and what survives being stopped."""

import csv
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import dpviz.cli.sweep_command as sweep_command
from dpviz.runs.study.workers import rows_of
from tests.command_line import call, write_points

ROOT = Path(__file__).resolve().parents[2]
GRID = (
    *("--algorithms", "kmeans++,dplloyd,dplloyd:preset=su", "--epsilons", "0.5,2", "--ks", "2,3", "--repeats", "2"),
    *("--jobs", "1"),
)


@pytest.fixture
def points(tmp_path):
    sidecar = {"bounds": {"x": [-1, 1], "y": [-1, 1]}, "label": "label"}
    return write_points(tmp_path / "points.csv", n=200, sidecar=sidecar, label=True)


def results(folder):
    with (folder / "results.csv").open(newline="") as file:
        return [{name: cell for name, cell in row.items() if name != "seconds"} for row in csv.DictReader(file)]


def test_results_are_tidy_and_the_request_lies_beside_them(capsys, tmp_path, points):
    out = tmp_path / "study"
    said = call(capsys, "sweep", points, *GRID, "--out", out, "--seed", 3)
    assert said.code == 0, said.err
    rows = results(out)
    assert len(rows) == 2 * 2 * (1 + 2 + 2)  # the reference has no ε
    assert {row["preset"] for row in rows if row["algorithm"] == "dplloyd"} == {"tuned", "su"}
    assert all(float(row["ratio"]) > 0.99 and row["label_accuracy"] for row in rows)
    assert all(float(row["nicv_one_center"]) > float(row["nicv_kmeans"]) for row in rows)
    manifest = json.loads((out / "manifest.json").read_text())
    assert (manifest["seed"], manifest["columns"], manifest["repeats"]) == (3, ["x", "y"], 2)
    assert set(manifest["libraries"]) == {"numpy", "scipy", "scikit-learn"}
    assert "not a release" in said.err
    assert "20 of 20 runs done" in said.err
    assert "DPLloyd (su)" in said.out


@pytest.mark.slow
def test_two_workers_find_what_one_finds(capsys, tmp_path, points):
    sizes = ("--ns", "all,50", "--seed", 3)
    for jobs in (1, 2):
        said = call(capsys, "sweep", points, *GRID, *sizes, "--out", tmp_path / str(jobs), "--jobs", jobs)
        assert said.code == 0, said.err
    assert results(tmp_path / "1") == results(tmp_path / "2")


@pytest.mark.slow
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


def test_a_folder_of_an_earlier_version_gets_the_columns_that_it_lacks(capsys, tmp_path, points):
    out = tmp_path / "study"
    small = ("--algorithms", "dplloyd", "--epsilons", "1", "--ks", "2", "--seed", 1, "--jobs", 1)
    for repeats, folder in ((1, out), (2, tmp_path / "whole")):
        assert call(capsys, "sweep", points, *small, "--repeats", repeats, "--out", folder).code == 0
    with (out / "results.csv").open("w", newline="") as file:
        old = [name for name in results(tmp_path / "whole")[0] if name != "n"]
        writer = csv.DictWriter(file, old, extrasaction="ignore")
        writer.writeheader()
        writer.writerow(results(tmp_path / "whole")[0])
    assert call(capsys, "sweep", points, *small, "--repeats", 2, "--out", out, "--resume").code == 0
    assert results(out) == results(tmp_path / "whole")


@pytest.mark.slow
def test_a_stopped_sweep_is_resumed(capsys, monkeypatch, tmp_path, points):
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    call(capsys, "sweep", points, *GRID, "--out", whole, "--seed", 3)

    def five_rows(*args, **kwargs):
        for number, row in enumerate(rows_of(*args, **kwargs)):
            if number == 5:
                raise KeyboardInterrupt
            yield row

    monkeypatch.setattr(sweep_command, "rows_of", five_rows)
    assert call(capsys, "sweep", points, *GRID, "--out", stopped, "--seed", 3).code == 130
    monkeypatch.undo()
    with (stopped / "results.csv").open("a") as file:
        file.write("DPLloyd,dpll")  # a line torn by a kill
    asked = []

    def noted(judged, grid, wanted, **kwargs):
        asked.extend(wanted)
        return rows_of(judged, grid, wanted, **kwargs)

    monkeypatch.setattr(sweep_command, "rows_of", noted)
    said = call(capsys, "sweep", points, *GRID, "--out", stopped, "--resume")
    assert said.code == 0, said.err
    assert len(asked) == 15
    assert results(stopped) == results(whole)
    again = call(capsys, "sweep", points, *GRID, "--out", stopped, "--resume")
    assert again.code == 0
    assert len(asked) == 15


def test_a_study_grows_on_resume(capsys, tmp_path, points):
    out = tmp_path / "study"
    small = ("--algorithms", "dplloyd", "--epsilons", "1", "--ks", "2", "--out", out, "--jobs", 1)
    assert call(capsys, "sweep", points, *small, "--repeats", 2).code == 0
    before = results(out)
    assert call(capsys, "sweep", points, *small, "--repeats", 4, "--resume").code == 0
    assert results(out)[:2] == before
    assert len(results(out)) == 4
    assert call(capsys, "sweep", points, *small, "--repeats", 1, "--resume").code == 0
    assert len(results(out)) == 4


def test_the_same_study_twice_gives_the_same_table_and_another_seed_another(capsys, tmp_path, points):
    small = ("--algorithms", "dplloyd", "--epsilons", "1", "--ks", "2", "--repeats", 2, "--jobs", 1)
    for name, seed in (("first", ()), ("again", ()), ("other", ("--seed", 1))):
        assert call(capsys, "sweep", points, *small, "--out", tmp_path / name, *seed).code == 0
    first, again, other = (results(tmp_path / name) for name in ("first", "again", "other"))
    assert first == again
    assert [row["nicv"] for row in first] != [row["nicv"] for row in other]


def test_a_folder_with_results_is_not_overwritten(capsys, tmp_path, points):
    out = tmp_path / "study"
    small = ("--algorithms", "dplloyd", "--epsilons", "1", "--ks", "2", "--repeats", "1", "--out", out)
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


@pytest.mark.parametrize(
    "options",
    [
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
    ],
    ids=" ".join,
)
def test_a_wrong_request_is_refused_before_anything_runs(capsys, tmp_path, points, options):
    out = tmp_path / "study"
    small = ("--algorithms", "dplloyd", "--epsilons", "1", "--ks", "2", "--repeats", "1", "--out", out)
    said = call(capsys, "sweep", points, *small, *options)
    assert said.code == 2
    assert said.err.count("\n") == 1
    assert not (out / "results.csv").exists()


def test_out_that_is_a_file_is_refused(capsys, tmp_path, points):
    said = call(capsys, "sweep", points, *GRID, "--out", points)
    assert said.code == 2
    assert said.err.count("\n") == 1


def test_settings_reach_the_algorithms_that_know_them(capsys, tmp_path, points):
    out = tmp_path / "study"
    asked = ("--algorithms", "kmeans++,dplloyd", "--epsilons", "1", "--ks", "2", "--repeats", "1", "--out", out)
    asked = (*asked, "--jobs", 1)
    assert call(capsys, "sweep", points, *asked, "--set", "preset=su").code == 0
    assert [row["preset"] for row in results(out)] == ["", "su"]


@pytest.mark.slow
def test_a_sweep_that_was_killed_is_resumed_to_the_same_table(capsys, tmp_path, points):
    grid = ("--algorithms", "auto,dplloyd,kmeans++", "--epsilons", "0.5,2", "--ks", "3", "--ns", "all,100")
    asked = ("sweep", points, *grid, "--repeats", "20", "--seed", "3", "--jobs", "2")
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert call(capsys, *asked, "--out", whole).code == 0
    argv = [sys.executable, "-m", "dpviz", *map(str, asked), "--out", str(killed)]
    with subprocess.Popen(argv, stderr=subprocess.DEVNULL, cwd=ROOT) as sweep:
        while not (killed / "results.csv").exists() or len(results(killed)) < 30:
            time.sleep(0.01)
            assert sweep.poll() is None, "the sweep ended before it could be killed"
        sweep.send_signal(signal.SIGKILL)
    before = results(killed)
    assert 30 <= len(before) < len(results(whole)) == 200
    said = call(capsys, *asked, "--out", killed, "--resume")
    assert said.code == 0, said.err
    assert "runs are in the folder already" in said.err
    assert results(killed) == results(whole)
