"""The utility bench runs as its users start it: on its own, its work in two processes."""

import csv
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest

from benchmarks.utility import Plan, list_missing, list_work
from benchmarks.utility_report import list_far_cells, report
from tests.waiting import SECONDS

ROOT = Path(__file__).parents[2]
# All of it but the number of tables, and a bench that was stopped while it wrote.
SMALL = """
import sys
from benchmarks import utility
folder = sys.argv[-1]
utility.QUICK_SIZES = (utility.Size(400, 2, 3),)
utility.FAMILIES = [family for family in utility.FAMILIES if family.judging][:2]
utility.main()
with open(folder + "/utility.csv", "a", encoding="utf-8") as file:
    file.write("a line that has no end")
utility.main()
"""


def row(table: str, epsilon: float, algorithm: str, ratio: float) -> dict[str, object]:
    """A run that was done."""
    seen = {"table": table, "judging": True, "epsilon": epsilon, "algorithm": algorithm, "ratio": ratio}
    return {**seen, "outcome": "done"}


@pytest.mark.parametrize(
    ("ratio", "epsilon", "said"), [(1.02, 0.3, "holds"), (1.2, 0.3, "DOES NOT HOLD"), (1.2, 0.1, "holds")]
)
def test_the_report_says_whether_the_aims_hold_and_where_they_do_not(ratio: float, epsilon: float, said: str) -> None:
    rows = [row("good", 1.0, "auto", 1.0), row("good", 1.0, "sulq", 1.1)]
    rows += [row("other", epsilon, "auto", ratio), row("other", epsilon, "sulq", 1.0)]
    made = report(rows, "A bench.")
    assert list_far_cells(rows) == ([("other", 0.3)] if said[0] == "D" else [])
    assert f"{said} (wanted" in made and ("Farther from the best: other at ε = 0.3: 1.200" in made) == (said[0] == "D")


def test_what_is_out_of_the_race_is_not_run_again_and_what_was_taken_out_is() -> None:
    asked = Namespace(judged=False, judging=True, quick=True, real=None)
    first, *_, second = list_work(asked, Plan((1.0,), 2, 1e9, ("auto", "sulq", "gkm", "pgkm"), {}))
    second = second._replace(table=first.table)
    assert [plan.names for _, plan in list_missing([first], [])] == [("auto", "sulq", "gkm", "pgkm")]
    lost = {"auto": 3.0, "sulq": 1.0, "gkm": 1.6, "pgkm": 1.4}
    rows = [{**row(first.table, 1.0, name, ratio), "repeat": 0} for name, ratio in lost.items()]
    assert list_missing([first], rows) == []
    assert [plan.names for _, plan in list_missing([first], rows[1:])] == [("auto",)]
    assert [plan.names for _, plan in list_missing([second], rows)] == [("auto", "sulq", "pgkm")]
    refused = [{**row(first.table, 1.0, "gkm", 0.0), "repeat": 0, "outcome": "refused"}]
    assert [plan.names for _, plan in list_missing([second], rows[:2] + refused)] == [("auto", "sulq", "pgkm")]


@pytest.mark.slow
def test_tables_are_measured_in_two_processes_and_a_cell_that_is_there_is_not_run_again(tmp_path: Path) -> None:
    asked = ("--quick", "--judging", "--only", "sulq", "--repeats", "1", "--jobs", "2", "--out", str(tmp_path))
    command = [sys.executable, "-c", SMALL, *asked]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    with (tmp_path / "utility.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    ratios = [float(row["ratio"]) for row in rows if row["algorithm"] == "sulq" and row["outcome"] == "done"]
    assert len(ratios) == 2 * 3 and min(ratios) > 0.9
    assert [line for line in done.stdout.splitlines() if line.startswith("repeat 0")] == [
        "repeat 0: 6 of 6 cells are to be run",
        "repeat 0: 0 of 6 cells are to be run",
    ]
    made = (tmp_path / "utility.md").read_text("utf-8")
    assert "sulq" in made and "All 6 cells, 1 run each." in made
