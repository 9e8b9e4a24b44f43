"""The folder of a sweep: one writer, files for the owner only, and a sentence for whatever a disk or a file refuses."""

from __future__ import annotations

import csv
import errno
import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path
from shutil import copytree

import pandas as pd
import pytest

from dpviz.__main__ import main
from dpviz.api import commands
from dpviz.core.check import RequestError
from dpviz.runs import owner_files
from dpviz.runs.owner_files import write_whole
from dpviz.runs.study.folder import StudyFolder
from dpviz.runs.study.workers import compute_rows
from tests import waiting
from tests.cases import about
from tests.command_line import call, told_by, write_points

ROOT = Path(__file__).resolve().parents[3]
SMALL = ("--algorithms", "dplloyd", "--epsilons", "1", "--ks", "2", "--repeats", "2", "--jobs", "1")
HOLD = """
import sys
from pathlib import Path
from dpviz.runs.study.folder import StudyFolder
folder = StudyFolder(Path(sys.argv[1]), resume=True)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def points(tmp_path_factory):
    declaration_file = {"bounds": {"x": [-1, 1], "y": [-1, 1]}}
    return write_points(tmp_path_factory.mktemp("points") / "points.csv", n=120, declaration_file=declaration_file)


@pytest.fixture(scope="module")
def done(tmp_path_factory, points):
    """The folder of a sweep that has ended, to be copied."""
    folder = tmp_path_factory.mktemp("done")
    assert told_by("sweep", points, *SMALL, "--out", folder).code == 0
    return folder


def refused(said) -> str:
    """The one sentence of a request that was refused."""
    assert said.code == 2, said
    assert said.err.count("\n") == 1 and "Traceback" not in said.err and "defect" not in said.err
    return said.err


def seeds_in(out: Path) -> set[str]:
    with (out / "results.csv").open(newline="") as file:
        return {row["nicv"] for row in csv.DictReader(file)}


def test_a_second_sweep_into_a_folder_in_use_is_refused(capsys, monkeypatch, tmp_path, points):
    out = tmp_path / "study"
    inside, go_on = threading.Event(), threading.Event()

    def slow_rows(*args, **kwargs):
        inside.set()
        assert go_on.wait(waiting.SECONDS)
        yield from compute_rows(*args, **kwargs)

    monkeypatch.setattr(commands, "compute_rows", slow_rows)
    arguments = ["sweep", points, *SMALL, "--out", out, "--seed", 1]
    codes: list[int] = []
    first = threading.Thread(target=lambda: codes.append(main([str(part) for part in arguments])))
    first.start()
    try:
        assert inside.wait(waiting.SECONDS)
        for options in (["--seed", 2], ["--seed", 2, "--resume"]):
            assert "Another command is writing" in refused(call(capsys, *arguments[:-2], *options))
    finally:
        go_on.set()
        first.join(waiting.SECONDS)
    assert codes == [0]
    assert json.loads((out / "manifest.json").read_text())["seed"] == 1
    assert len(seeds_in(out)) == 2


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
        assert call(capsys, "sweep", points, *SMALL, "--out", out).code == 0
    finally:
        os.umask(before)
    assert modes == {(".part", "manifest.json", 0o600), (".part", "results.csv", 0o600)}
    assert {stat.S_IMODE(file.stat().st_mode) for file in out.iterdir()} == {0o600}
    (out / "results.csv").chmod(0o644)  # by an earlier version
    assert call(capsys, "sweep", points, *SMALL, "--out", out, "--resume", "--repeats", 3).code == 0
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

    class Refusing:
        """A file whose every write comes to nothing."""

        def __init__(self, path: Path, how: int) -> None:
            self.file = real(path, how)

        def __enter__(self):
            return self

        def __exit__(self, *error: object) -> None:
            self.file.close()

        def write(self, text: str) -> int:
            raise OSError(number, os.strerror(number))

    calls = []

    def some(path: Path, how: int):
        if path.name == file:
            calls.append(path)
            if len(calls) > 1:  # one run has arrived by then
                return Refusing(path, how)
        return real(path, how)

    def refused(path: Path, data: bytes, **how: int) -> None:
        if path.name == file:
            raise OSError(number, os.strerror(number))
        write_whole(path, data, **how)

    if whole:
        monkeypatch.setattr("dpviz.runs.study.folder.write_whole", refused)
    else:
        monkeypatch.setattr("dpviz.runs.study.folder.open_to", some)
    said = call(capsys, "sweep", points, *SMALL, "--out", out)
    assert said.code == 2 and words in said.err.splitlines()[-1]
    monkeypatch.undo()
    assert not list(out.glob("*.part"))
    assert call(capsys, "sweep", points, *SMALL, "--out", out, "--resume").code == 0
    assert len(seeds_in(out)) == 2


def test_a_manifest_that_cannot_be_written_leaves_the_old_one_whole(monkeypatch, tmp_path):
    with StudyFolder(tmp_path, resume=False) as folder:
        folder.begin({"seed": 1}, must_agree=())
        old = (tmp_path / "manifest.json").read_text()
        monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(errno.ENOSPC, "full")))
        with pytest.raises(RequestError, match="full"):
            folder.begin({"seed": 2}, must_agree=())
        assert (tmp_path / "manifest.json").read_text() == old
        assert {file.name for file in tmp_path.iterdir()} == {"manifest.json", ".lock"}


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
            said = refused(call(capsys, "sweep", points, *SMALL, "--out", out, "--resume"))
            assert "results.csv in --out is damaged" in said
            assert (out / "results.csv").read_bytes() == content


def test_a_manifest_that_is_damaged_or_missing_is_refused_in_a_sentence(capsys, tmp_path, points, done):
    out = copytree(done, tmp_path / "study")
    seeds = (b'{"seed": "x"}', b'{"seed": 1e999}', b'{"seed": true}')
    for content in (b"", b"{", b"[1]", b"\xff\x00", *seeds, b"[" * 10_000):
        (out / "manifest.json").write_bytes(content)
        with about(content[:20]):
            said = refused(call(capsys, "sweep", points, *SMALL, "--out", out, "--resume"))
            assert "manifest.json in --out is damaged" in said
    (out / "manifest.json").unlink()
    assert "no manifest.json" in refused(call(capsys, "sweep", points, *SMALL, "--out", out, "--resume"))


EARLIER = Path(__file__).parent / "earlier_study"


def request_in(folder: Path) -> dict[str, object]:
    """The manifest without the versions of what computed it."""
    manifest = json.loads((folder / "manifest.json").read_text())
    return {name: value for name, value in manifest.items() if name not in ("dpviz", "libraries", "python")}


@pytest.mark.slow
def test_a_folder_of_before_requests_were_values_is_resumed_and_its_runs_come_out_again(capsys, tmp_path, points):
    """Keys and seeds of trials are what they were, so a study that was begun then is gone on with now."""
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
