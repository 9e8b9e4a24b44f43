"""Rooms and doors keep their contracts (pyproject.toml), and each sees what it is for: that is planted, and found."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house_rules import ROOT

PLANTED = {
    "past a door": ("dpviz/runs/planted.py", "from dpviz.core.rows import Rows", "door of core"),
    "past a door, in a function": (
        "dpviz/app/ui/planted.py",
        "def f():\n    import dpviz.runs.one_run",
        "door of runs",
    ),
    "upwards": ("dpviz/tables/planted.py", "from dpviz.releases import Account", "only rooms below it"),
    "out of the core": ("dpviz/core/planted.py", "from dpviz import words", "the core imports nothing else"),
    "beside": ("dpviz/api/planted.py", "from dpviz.app import show", "only rooms below it"),
    "inside a room": ("dpviz/app/lessons/planted.py", "from dpviz.app.ui import runner", "Inside app"),
}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package and what stands on it, where something may be planted."""
    root = tmp_path_factory.mktemp("rooms")
    for folder in ("dpviz", "experiments"):
        shutil.copytree(ROOT / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", root)
    return root


def judge(root: Path) -> subprocess.CompletedProcess[str]:
    linter = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    return subprocess.run(
        [sys.executable, "-c", linter, "--no-cache"], cwd=root, capture_output=True, text=True, check=False
    )


def test_rooms_keep_their_doors(copy):
    found = judge(copy)
    assert found.returncode == 0, found.stdout


@pytest.mark.parametrize("planted", PLANTED)
def test_a_planted_import_is_seen(copy, planted):
    name, text, said = PLANTED[planted]
    (copy / name).write_text(f'"""Planted."""\n\n{text}\n', encoding="utf-8")
    try:
        found = judge(copy)
    finally:
        (copy / name).unlink()
    broken = [line for line in found.stdout.splitlines() if " BROKEN" in line]
    assert found.returncode == 1 and any(said in line for line in broken), found.stdout
