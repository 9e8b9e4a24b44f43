"""The two examples of a package, installed as anybody would: an audit passes one, and names what the other did."""

import os
import re
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


# What the commands print follows in their order, each after its exit code.
COMMANDS = """
from dpviz.__main__ import main
from dpviz.runs.audits import auditing
from dpviz.runs.audits.neighboring_tables import PUBLIC
from dpviz.core.check import RequestError
from dpviz.core.exact_noise import ExactNoise
from dpviz.runs.request import Contender, Request
from dpviz.runs.one_run import run_request

auditing.CHECKS = {name: auditing.CHECKS[name] for name in ("source", "session", "replay", "neighbours")}
for words in (
    ("algorithms",),
    ("run", "fifteen", "--algorithm", "random-lloyd", "--k", "15", "--epsilon", "1"),
    ("audit", "random-lloyd", "--runs", "40"),
    ("audit", "peeking-start", "--runs", "40"),
    ("audit", "peeking-scale", "--runs", "40"),
):
    print(f"--- {words[0]} {main(words)}")
try:
    run_request(Request(Contender("random-lloyd"), 3, 1.0), PUBLIC.table(), noise=ExactNoise())
except RequestError as error:
    print(error)
"""


def test_both_are_listed_and_run_and_an_audit_passes_one_and_names_what_the_other_did(installed):
    environment = {**os.environ, "PYTHONPATH": f"{installed}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-c", COMMANDS]
    done = subprocess.run(command, cwd=installed, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    listed, ran, honest, start, scale, released = re.split(r"^--- .*\n", done.stdout, flags=re.MULTILINE)
    ends = ["algorithms 0", "run 0", "audit 0", "audit 1", "audit 1"]
    assert re.findall(r"^--- (.*)$", done.stdout, flags=re.MULTILINE) == ends
    assert "random-lloyd  (Random Lloyd (not ours); guarantee: pure or approx; brought by dpviz-honest 0.1.0)" in listed
    assert "Random Lloyd (not ours)" in ran
    assert "BROKEN" not in honest and "All that was tried held." in honest
    assert "without the rows, step 1 ('Starts') holds other numbers: something was read" in start
    assert "the noise itself depends on rows" in scale
    for said in (start, scale):
        assert "reads _rows of the session" in said and "reaches for _rows" in said
    assert "Random Lloyd (not ours) cannot be released: dpviz-honest 0.1.0 brings it" in released
