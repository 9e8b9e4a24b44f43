"""The bench on real tables: what is drawn hangs on the seed alone, bounds hold all rows, the report can say no."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import real
from benchmarks.utility import Plan
from dpviz.core.domain import Scaling


def make_rows(package: str, item: str) -> np.ndarray:
    rng = np.random.default_rng(len(item))
    return rng.integers(0, 4, (3000, 1)) * [30.0, 400.0] + rng.normal(size=(3000, 2))


def test_both_scales_of_a_table_are_measured_beside_what_is_attainable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(real, "read_numbers", make_rows)
    monkeypatch.setattr(real, "draw_tables", lambda seed, number: [("made", "up", 4)])
    plan = Plan(real.EPSILONS, 1, 1e9, ("auto", "eugkm"), {})
    work = list(real.list_work(7, 1, plan))
    assert [(one.table, one.epsilon) for one in work] == [
        (f"made/up, {scaling.value}", epsilon) for scaling in (Scaling.UNIT, Scaling.COMMON) for epsilon in (0.3, 1.0)
    ]
    rows = [row for one in work for row in one.run(one.plan)]
    reached = {(row["table"], row["epsilon"]): row["ratio"] for row in rows if row["algorithm"] == "attainable"}
    assert len(reached) == 4 and all(1 <= ratio < 1.1 for ratio in reached.values())
    assert reached["made/up, unit", 0.3] > reached["made/up, unit", 1.0]
    for row in rows:
        row["ratio"] = {"auto": 1.001, "eugkm": 1.0, "attainable": 1.001}[row["algorithm"]]
    assert real.report(rows, "").count(": holds.") == 2
    next(row for row in rows if row["algorithm"] == "auto" and "common" in row["table"])["ratio"] = 1.3
    said = real.report(rows, "")
    assert said.count(": holds.") == 1 and "within 3 % of the best id in 50% of 2 cells" in said and "1.300" in said
