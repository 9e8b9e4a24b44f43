"""A sweep from the shell: what lands in its folder, and what survives being stopped."""

import csv
import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from shutil import copytree

import pytest

from dpviz.runs import owner_files
from tests.cases import about
from tests.command_line import call, told_by, write_points

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


@pytest.fixture(scope="module")
def points(tmp_path_factory):
    declared = {"bounds": {"x": [-1, 1], "y": [-1, 1]}, "label": "label"}
    return write_points(tmp_path_factory.mktemp("points") / "points.csv", n=200, declaration_file=declared, label=True)


@pytest.fixture(scope="module")
def whole(tmp_path_factory, points):
    """A sweep from its start to its end in one process."""
    folder = tmp_path_factory.mktemp("whole")
    return folder, told_by("sweep", points, *GRID, "--out", folder, "--jobs", 1)


def results(folder):
    with (folder / "results.csv").open(newline="") as file:
        return [{name: cell for name, cell in row.items() if name != "seconds"} for row in csv.DictReader(file)]


def test_results_are_tidy_and_the_request_lies_beside_them(whole):
    folder, said = whole
    assert said.code == 0, said.err
    rows = results(folder)
    assert len(rows) == 2 * 2 * 2 * (1 + 2 + 2)  # the reference has no ε
    assert {row["preset"] for row in rows if row["algorithm"] == "dplloyd"} == {"tuned", "su"}
    assert all(float(row["ratio"]) > 0.99 and row["label_accuracy"] for row in rows)
    assert all(float(row["nicv_one_center"]) > float(row["nicv_kmeans"]) for row in rows)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert (manifest["seed"], manifest["columns"], manifest["repeats"]) == (3, ["x", "y"], 2)
    assert set(manifest["libraries"]) == {"numpy", "scipy", "scikit-learn"}
    assert "not a release" in said.err and "40 of 40 runs done" in said.err and "DPLloyd (su)" in said.out


def test_a_sweep_that_was_killed_is_resumed_by_two_workers_to_the_same_table(capsys, tmp_path, points, whole):
    expected = results(whole[0])
    asked = [str(part) for part in ("sweep", points, *GRID, "--out", tmp_path)]
    killed = subprocess.run([sys.executable, "-c", KILLED, *asked, "--jobs", "1"], cwd=ROOT, capture_output=True)
    assert killed.returncode == -signal.SIGKILL
    assert results(tmp_path) == expected[:5]
    with (tmp_path / "results.csv").open("a") as file:
        file.write("DPLloyd,dpll")  # a line torn by a kill
    for done in (5, 40):
        said = call(capsys, *asked, "--jobs", 2, "--resume")
        assert said.code == 0 and f"{done} of 40 runs are in the folder already" in said.err, said.err
        assert results(tmp_path) == expected


def test_a_folder_of_an_earlier_version_gets_the_columns_that_it_lacks(capsys, tmp_path, points, done):
    out = copytree(done, tmp_path / "study")
    old = [line.split(",") for line in (out / "results.csv").read_text().splitlines()[:2]]
    place = old[0].index("n")
    (out / "results.csv").write_text("\n".join(",".join(line[:place] + line[place + 1 :]) for line in old) + "\n")
    assert call(capsys, "sweep", points, *TWICE, "--out", out, "--resume").code == 0
    assert results(out) == results(done)


def test_a_folder_with_results_is_not_overwritten(capsys, tmp_path, points, done):
    out = copytree(done, tmp_path / "study")
    for changed in ([], ["--resume", "--seed", 2], ["--resume", "--scaling", "common"], ["--resume", "--delta", 1e-6]):
        said = call(capsys, "sweep", points, *TWICE, "--out", out, *changed)
        assert said.code == 2 and said.err.count("\n") == 1
    assert results(out) == results(done)


WRONG = (
    *(("--algorithms", one) for one in ("dbscan", "dplloyd:preset=best", "dplloyd:depth=3", "dplloyd:preset=gaussian")),
    *(("--epsilons", one) for one in ("1,0", "1,nan", "1,,2")),
    *(("--ks", "0"), ("--ks", "2,x"), ("--ks", "300", "--relation", "replace"), ("--repeats", "0"), ("--jobs", "0")),
    *(("--set", "depth=3"), ("--bounds", "1,0"), ("--delta", "0.01", "--relation", "replace"), ("--deltas", "1e-6,2")),
    *(("--ns", "1"), ("--ns", "all,x"), ("--ns", "201", "--n-public", "200")),
)


def test_a_wrong_request_is_refused_before_anything_runs(capsys, tmp_path, points):
    out = tmp_path / "study"
    for options in (*WRONG, ("--out", points)):
        said = call(capsys, "sweep", points, *SMALL, "--repeats", "1", "--out", out, *options)
        with about(*options):
            assert said.code == 2 and said.err.count("\n") == 1 and not (out / "results.csv").exists()


# The folder of a sweep: one writer, files for the owner only, and a sentence for whatever a disk or a file refuses.


TWICE = (*SMALL, "--repeats", 2)


@pytest.fixture(scope="module")
def done(tmp_path_factory, points):
    """The folder of a sweep that has ended, to be copied."""
    folder = tmp_path_factory.mktemp("done")
    assert told_by("sweep", points, *TWICE, "--out", folder).code == 0
    return folder


@pytest.mark.skipif(os.name != "posix", reason="modes of files")
def test_true_losses_are_for_their_owner_only(capsys, tmp_path, points):
    out, before = tmp_path / "study", os.umask(0)
    try:
        assert call(capsys, "sweep", points, *TWICE, "--out", out).code == 0
    finally:
        os.umask(before)
    assert {stat.S_IMODE(file.stat().st_mode) for file in out.iterdir()} == {0o600}
    (out / "results.csv").chmod(0o644)  # by an earlier version
    assert call(capsys, "sweep", points, *TWICE, "--out", out, "--resume", "--repeats", 3).code == 0
    assert stat.S_IMODE((out / "results.csv").stat().st_mode) == 0o600


def test_a_disk_that_becomes_full_is_said_and_loses_no_run(capsys, monkeypatch, tmp_path, points):
    out, calls = tmp_path / "study", []

    def some(path: Path, how: int):
        calls.append(path)  # one run has arrived by the second
        return Path("/dev/full").open("w") if len(calls) > 1 else owner_files.open_to(path, how)

    with monkeypatch.context() as patch:
        patch.setattr("dpviz.runs.study.folder.open_to", some)
        said = call(capsys, "sweep", points, *TWICE, "--out", out)
    assert said.code == 2 and "is full" in said.err.splitlines()[-1] and not list(out.glob("*.part"))
    assert call(capsys, "sweep", points, *TWICE, "--out", out, "--resume").code == 0
    assert len({row["nicv"] for row in results(out)}) == 2


HEAD = b"trial,contender,algorithm,preset,k,repeat,epsilon,ratio,seconds\n"


DAMAGED = {
    "results.csv": (
        *(b"\x00\x01\xff\xfe\n\n", b"a,b,c\n1,2,3\n", b"\n", HEAD + b"t,c,a,p,2,0,1\n", HEAD + b't,"c,a\n'),
        *(HEAD + b"t,c,a,p,two,0,1,1,1\n", HEAD + b"t,c,a,p,2,0,much,1,1\n", HEAD + b"t,c,a,p,2,0,1,1,1,7,8\n"),
        *(HEAD + b"t,c,a,p," + b"9" * 5000 + b",0,1,1,1\n", HEAD + b"x" * 200_000 + b",c,a,p,2,0,1,1,1\n"),
    ),
    "manifest.json": (
        *(b"", b"{", b"[1]", b"\xff\x00", b"[" * 10_000),
        *(b'{"seed": "x"}', b'{"seed": 1e999}', b'{"seed": true}'),
    ),
}


def test_damaged_results_or_manifests_are_refused_in_a_sentence(capsys, tmp_path, points, done):
    for name, contents in DAMAGED.items():
        out = copytree(done, tmp_path / name)
        for content in contents:
            (out / name).write_bytes(content)
            said = call(capsys, "sweep", points, *TWICE, "--out", out, "--resume")
            with about(name, content[-20:], said.err):
                assert said.code == 2 and f"{name} in --out is damaged" in said.err and said.err.count("\n") == 1
                assert (out / name).read_bytes() == content
    (out / name).unlink()
    assert "no manifest.json" in call(capsys, "sweep", points, *TWICE, "--out", out, "--resume").err
