"""The utility bench runs as its users start it: on its own, its work in two processes."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_tables_are_measured_in_two_processes(tmp_path: Path) -> None:
    asked = ("--quick", "--judging", "--only", "sulq", "--repeats", "1", "--jobs", "2", "--out", str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.utility", *asked], cwd=ROOT, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    with (tmp_path / "utility.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    ratios = [float(row["ratio"]) for row in rows if row["algorithm"] == "sulq" and row["outcome"] == "done"]
    assert ratios and min(ratios) > 0.9
    assert "sulq" in (tmp_path / "utility.md").read_text("utf-8")
