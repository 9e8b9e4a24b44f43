"""A sweep from the shell: what lands in its folder, and what survives being stopped."""

from __future__ import annotations

import csv
import errno
import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from shutil import copytree
from typing import NamedTuple

import pandas as pd
import pytest

from dpviz.core.check import RequestError
from dpviz.runs import owner_files
from dpviz.runs.owner_files import write_whole
from dpviz.runs.study.folder import StudyFolder
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


@pytest.mark.slow
def test_a_sweep_that_was_killed_is_resumed_by_two_workers_to_the_same_table(capsys, tmp_path, points, whole):
    asked = [str(part) for part in ("sweep", points, *GRID, "--out", tmp_path)]
    killed = subprocess.run([sys.executable, "-c", KILLED, *asked, "--jobs", "1"], cwd=ROOT, capture_output=True)
    assert killed.returncode == -signal.SIGKILL
    assert results(tmp_path) == results(whole.folder)[:5]
    with (tmp_path / "results.csv").open("a") as file:
        file.write("DPLloyd,dpll")  # a line torn by a kill
    for done in (5, 40):
        said = call(capsys, *asked, "--jobs", 2, "--resume")
        assert said.code == 0, said.err
        assert f"{done} of 40 runs are in the folder already" in said.err
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
    *(("--algorithms", one) for one in ("dbscan", "dplloyd:preset=best", "dplloyd:depth=3", "dplloyd:preset=gaussian")),
    *(("--epsilons", one) for one in ("1,0", "1,nan", "1,,2")),
    *(("--ks", "0"), ("--ks", "2,x"), ("--ks", "300", "--relation", "replace"), ("--repeats", "0"), ("--jobs", "0")),
    *(("--set", "depth=3"), ("--bounds", "1,0"), ("--delta", "0.01", "--relation", "replace"), ("--deltas", "1e-6,2")),
    *(("--ns", "1"), ("--ns", "all,x"), ("--ns", "201", "--n-public", "200")),
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


# The folder of a sweep: one writer, files for the owner only, and a sentence for whatever a disk or a file refuses.


TWICE = (*SMALL, "--repeats", 2)
HOLD = """
import sys
from pathlib import Path
from dpviz.runs.study.folder import StudyFolder
folder = StudyFolder(Path(sys.argv[1]), resume=True)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def done(tmp_path_factory, points):
    """The folder of a sweep that has ended, to be copied."""
    folder = tmp_path_factory.mktemp("done")
    assert told_by("sweep", points, *TWICE, "--out", folder).code == 0
    return folder


def refused(said) -> str:
    """The one sentence of a request that was refused."""
    assert said.code == 2, said
    assert said.err.count("\n") == 1 and "Traceback" not in said.err and "defect" not in said.err
    return said.err


def seeds_in(out: Path) -> set[str]:
    with (out / "results.csv").open(newline="") as file:
        return {row["nicv"] for row in csv.DictReader(file)}


@pytest.mark.skipif(owner_files.fcntl is None, reason="no locks on this system")
def test_the_lock_of_a_process_that_was_killed_holds_nobody_up(tmp_path):
    out = tmp_path / "study"
    argv = [sys.executable, "-c", HOLD, str(out)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "held\n"
        with pytest.raises(RequestError, match="Another command"):
            StudyFolder(out, resume=True)
        holder.kill()
        holder.wait()
    with StudyFolder(out, resume=True) as folder:
        assert folder.done == frozenset()


@pytest.mark.skipif(os.name != "posix", reason="modes of files")
def test_true_losses_are_for_their_owner_only(capsys, monkeypatch, tmp_path, points):
    out = tmp_path / "study"
    modes: set[tuple[str, str, int]] = set()
    replace = Path.replace

    def noted(self: Path, target: Path) -> Path:
        modes.add((self.suffix, target.name, stat.S_IMODE(self.stat().st_mode)))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", noted)
    before = os.umask(0)
    try:
        assert call(capsys, "sweep", points, *TWICE, "--out", out).code == 0
    finally:
        os.umask(before)
    assert modes == {(".part", "manifest.json", 0o600), (".part", "results.csv", 0o600)}
    assert {stat.S_IMODE(file.stat().st_mode) for file in out.iterdir()} == {0o600}
    (out / "results.csv").chmod(0o644)  # by an earlier version
    assert call(capsys, "sweep", points, *TWICE, "--out", out, "--resume", "--repeats", 3).code == 0
    assert stat.S_IMODE((out / "results.csv").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("file", "whole", "number", "words"),
    [
        ("results.csv", False, errno.ENOSPC, "is full"),
        ("manifest.json", True, errno.EROFS, "may not write to it"),
        ("results.csv", True, errno.ENOSPC, "is full"),
    ],
)
def test_a_disk_that_is_full_or_barred_is_said_and_loses_no_run(
    capsys, monkeypatch, tmp_path, points, file, whole, number, words
):
    out = tmp_path / "study"
    real = owner_files.open_to

    calls = []

    def some(path: Path, how: int):
        calls.append(path)
        return Path("/dev/full").open("w") if len(calls) > 1 else real(path, how)  # one run has arrived by then

    def refused(path: Path, data: bytes, **how: int) -> None:
        if path.name == file:
            raise OSError(number, os.strerror(number))
        write_whole(path, data, **how)

    if whole:
        monkeypatch.setattr("dpviz.runs.study.folder.write_whole", refused)
    else:
        monkeypatch.setattr("dpviz.runs.study.folder.open_to", some)
    said = call(capsys, "sweep", points, *TWICE, "--out", out)
    assert said.code == 2 and words in said.err.splitlines()[-1]
    monkeypatch.undo()
    assert not list(out.glob("*.part"))
    assert call(capsys, "sweep", points, *TWICE, "--out", out, "--resume").code == 0
    assert len(seeds_in(out)) == 2


GOOD = "trial,contender,algorithm,preset,k,repeat,epsilon,ratio,seconds"


DAMAGED = {
    "binary": b"\x00\x01\xff\xfe\n\n",
    "columns": b"a,b,c\n1,2,3\n",
    "empty": b"\n",
    "short": f"{GOOD}\nt,c,a,p,2,0,1\n".encode(),
    "long": f"{GOOD}\nt,c,a,p,2,0,1,1,1,7,8\n".encode(),
    "no number": f"{GOOD}\nt,c,a,p,two,0,1,1,1\n".encode(),
    "no real": f"{GOOD}\nt,c,a,p,2,0,much,1,1\n".encode(),
    "huge": f"{GOOD}\nt,c,a,p,{'9' * 5000},0,1,1,1\n".encode(),
    "quote": f'{GOOD}\nt,"c,a\n'.encode(),
    "field": f"{GOOD}\n{'x' * 200_000},c,a,p,2,0,1,1,1\n".encode(),
}


def test_damaged_results_are_refused_in_a_sentence(capsys, tmp_path, points, done):
    out = copytree(done, tmp_path / "study")
    for name, content in DAMAGED.items():
        (out / "results.csv").write_bytes(content)
        with about(name):
            said = refused(call(capsys, "sweep", points, *TWICE, "--out", out, "--resume"))
            assert "results.csv in --out is damaged" in said
            assert (out / "results.csv").read_bytes() == content


def test_a_manifest_that_is_damaged_or_missing_is_refused_in_a_sentence(capsys, tmp_path, points, done):
    out = copytree(done, tmp_path / "study")
    seeds = (b'{"seed": "x"}', b'{"seed": 1e999}', b'{"seed": true}')
    for content in (b"", b"{", b"[1]", b"\xff\x00", *seeds, b"[" * 10_000):
        (out / "manifest.json").write_bytes(content)
        with about(content[:20]):
            said = refused(call(capsys, "sweep", points, *TWICE, "--out", out, "--resume"))
            assert "manifest.json in --out is damaged" in said
    (out / "manifest.json").unlink()
    assert "no manifest.json" in refused(call(capsys, "sweep", points, *TWICE, "--out", out, "--resume"))


EARLIER = Path(__file__).parent / "earlier_study"


def request_in(folder: Path) -> dict[str, object]:
    """The manifest without the versions of what computed it."""
    manifest = json.loads((folder / "manifest.json").read_text())
    return {name: value for name, value in manifest.items() if name not in ("dpviz", "libraries", "python")}


@pytest.mark.slow
def test_a_folder_of_before_requests_were_values_is_resumed_and_its_runs_come_out_again(capsys, tmp_path):
    """Keys and seeds of trials are what they were, so a study that was begun then is gone on with now."""
    points = write_points(tmp_path / "points.csv", n=120, declaration_file={"bounds": {"x": [-1, 1], "y": [-1, 1]}})
    asked = (
        *("sweep", points, "--algorithms", "kmeans++,dplloyd:preset=su,eugkm:theta=5", "--epsilons", "0.5,2"),
        *("--ks", "2", "--ns", "all,60", "--deltas", "1e-6", "--jobs", "1"),
    )
    old, new = tmp_path / "old", tmp_path / "new"
    copytree(EARLIER, old)
    lines = (EARLIER / "results.csv").read_text().splitlines()
    said = call(capsys, *asked, "--repeats", 1, "--resume", "--out", old)
    assert said.code == 0 and "10 of 10 runs are in the folder already" in said.err
    assert (old / "results.csv").read_text().splitlines() == lines
    assert request_in(old) == request_in(EARLIER)
    assert call(capsys, *asked, "--repeats", 2, "--resume", "--out", old).code == 0
    assert (old / "results.csv").read_text().splitlines()[: len(lines)] == lines
    assert call(capsys, *asked, "--repeats", 1, "--seed", 3, "--out", new).code == 0
    before, again = (pd.read_csv(folder / "results.csv").drop(columns="seconds") for folder in (EARLIER, new))
    # Rows lie on a lattice of millionths since.
    pd.testing.assert_frame_equal(before, again, rtol=1e-4, atol=1e-5)
