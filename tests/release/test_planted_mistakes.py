"""Each planted mistake turns its test red: in a process of its own, which reads one file of the package otherwise."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
MISTAKES = yaml.safe_load((ROOT / "tests/planted/mistakes/what_leaves.yaml").read_text("utf-8"))
_RED = 1  # how pytest ends where a test failed

_RUN = """
import sys
from importlib.machinery import SourceFileLoader

root, file, was, would_be, test = sys.argv[1:]
sys.dont_write_bytecode = True
really = SourceFileLoader.get_code

def get_code(loader, name):
    if loader.path != f"{root}/{file}":
        return really(loader, name)
    source = loader.get_source(name)
    assert source.count(was) == 1, "what the mistake replaces does not stand there once"
    return compile(source.replace(was, would_be), loader.path, "exec")

SourceFileLoader.get_code = get_code
import pytest
sys.exit(pytest.main(["-x", "-q", "-n0", "-m", "", "-p", "no:cacheprovider", test]))
"""


def test_every_mistake_replaces_something_that_stands_there_once():
    for one in MISTAKES:
        assert (ROOT / one["file"]).read_text("utf-8").count(one["was"]) == 1, one["mistake"]


@pytest.mark.slow
@pytest.mark.parametrize("planted", MISTAKES, ids=lambda planted: planted["mistake"])
def test_a_planted_mistake_turns_its_test_red(planted: dict[str, str]):
    given = [str(ROOT), *(planted[name] for name in ("file", "was", "would_be", "caught_by"))]
    ended = subprocess.run([sys.executable, "-c", _RUN, *given], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == _RED, ended.stdout[-3_000:] + ended.stderr[-2_000:]
    assert "ImportError" not in ended.stdout and "SyntaxError" not in ended.stdout, ended.stdout[-3_000:]
