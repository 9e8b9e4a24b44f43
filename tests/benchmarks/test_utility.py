"""The utility bench runs as its users start it: on its own, its work in two processes."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import SECONDS

ROOT = Path(__file__).parents[2]
# All of it but the number of tables.
SMALL = """
from benchmarks import utility
utility.QUICK_SIZES = (utility.Size(400, 2, 3),)
utility.FAMILIES = [family for family in utility.FAMILIES if family.judging][:2]
utility.main()
"""


@pytest.mark.slow
def test_tables_are_measured_in_two_processes(tmp_path: Path) -> None:
    asked = ("--quick", "--judging", "--only", "sulq", "--repeats", "1", "--jobs", "2", "--out", str(tmp_path))
    command = [sys.executable, "-c", SMALL, *asked]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    with (tmp_path / "utility.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    ratios = [float(row["ratio"]) for row in rows if row["algorithm"] == "sulq" and row["outcome"] == "done"]
    assert len(ratios) == 2 * 3 and min(ratios) > 0.9
    assert "sulq" in (tmp_path / "utility.md").read_text("utf-8")
