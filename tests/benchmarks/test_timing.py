"""What is said of an aim that is measured by time: a verdict on a quiet machine, the load on a busy one."""

from __future__ import annotations

import os

from benchmarks import timing


def test_nothing_is_judged_by_time_while_others_want_the_cores(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    for load, verdicts in ((1.9, ("holds", "DOES NOT HOLD")), (2.3, ("not judged: load 2.3",) * 2)):
        monkeypatch.setattr(os, "getloadavg", lambda load=load: (load, 0.0, 0.0))
        assert (timing.judge(True), timing.judge(False)) == verdicts
        assert timing.machine().endswith(f"load {load}")
