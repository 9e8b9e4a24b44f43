"""The two examples of a package, installed as anybody would: an audit passes one, and names what the other did."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.example_packages import EXAMPLES

pytestmark = pytest.mark.slow
ROOT = EXAMPLES.parent


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both, beside what is installed already."""
    folder = tmp_path_factory.mktemp("installed")
    quiet = ("--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", "--no-build-isolation")
    packages = [str(EXAMPLES / name) for name in ("dpviz-honest", "dpviz-peeking")]
    command = [sys.executable, "-m", "pip", "install", *quiet, "--target", str(folder), *packages]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return folder


def _dpviz(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-m", "dpviz", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_both_are_listed_and_one_runs(installed):
    listed = _dpviz(installed, "algorithms")
    assert listed.returncode == 0 and not listed.stderr
    assert "random-lloyd  (Random Lloyd (not ours); guarantee: pure or approx; brought by dpviz-honest 0.1.0)" in (
        listed.stdout
    )
    ran = _dpviz(installed, "run", "fifteen", "--algorithm", "random-lloyd", "--k", "15", "--epsilon", "1")
    assert ran.returncode == 0 and "Random Lloyd (not ours)" in ran.stdout


def test_the_honest_one_passes(installed):
    said = _dpviz(installed, "audit", "random-lloyd", "--runs", "40")
    assert said.returncode == 0, said.stdout
    assert "BROKEN" not in said.stdout and "All that was tried held." in said.stdout


@pytest.mark.parametrize(
    ("algorithm", "named"),
    [
        ("peeking-start", "without the rows, step 1 ('Starts') holds other numbers: something was read"),
        ("peeking-scale", "the noise itself depends on rows"),
    ],
)
def test_what_the_other_did_is_named(installed, algorithm, named):
    said = _dpviz(installed, "audit", algorithm, "--runs", "40")
    assert said.returncode == 1 and named in said.stdout
    assert "reads _rows of the room" in said.stdout and "reaches for _rows" in said.stdout


def test_none_of_them_is_released(installed):
    code = (
        "from dpviz.privacy.exact_noise import ExactNoise\n"
        "from dpviz.runs.request import Contender, Request\n"
        "from dpviz.runs.run import run_of\n"
        "from dpviz.audit.small_worlds import PUBLIC\n"
        "run_of(Request(Contender('random-lloyd'), 3, 1.0), PUBLIC.table(), noise=ExactNoise())\n"
    )
    environment = {**os.environ, "PYTHONPATH": f"{installed}{os.pathsep}{ROOT}"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert "Random Lloyd (not ours) cannot be released: dpviz-honest 0.1.0 brings it" in done.stderr
