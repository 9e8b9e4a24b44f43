"""The plan of a claim: which runs it asks for, what it keeps, and when it stops."""

from dataclasses import replace
from io import StringIO

import numpy as np
import pandas as pd
import pytest

from dpviz.app.charts.studies.stored_verdicts import ClaimFinding, ClaimVerdict, MarginInterval
from experiments import redraw
from experiments.claim import Claim
from experiments.material import RECIPE
from experiments.planner import RunPlan, find_key, settle_verdict
from experiments.redraw import weigh_table
from experiments.trials import Series
from experiments.verdict_table import judge_looks, list_lines, select_look


@pytest.fixture(autouse=True)
def _few_draws(monkeypatch):
    monkeypatch.setattr(redraw, "DRAWS", 30)
    monkeypatch.setattr(redraw, "PATH_DRAWS", 30)


def planted(seen=None):
    """A claim of two places: at one the answer is clear, at the other runs disagree."""

    def run(spread):
        def rows(repeat):
            rng = np.random.default_rng((repeat, round(100 * spread)))
            if seen is not None:
                seen.append((spread, repeat))
            for line, loss in (("a", 1.0), ("b", 1.0 + 0.4)):
                yield {"line": line, "nicv": loss * np.exp(spread * rng.standard_normal())}

        return rows

    def list_blocks(repeats):
        for k, spread in ((2, 0.01), (3, 0.6)):
            facts = {"data": "made up", "origin": RECIPE, "n": 10, "d": 2, "k": k, "epsilon": 1.0}
            yield Series(facts=facts, lines=("a", "b"), repeats=repeats, run=run(spread))

    def judge(table):  # hundreds of times: in arrays
        losses, places = table["nicv"].to_numpy(), table["k"].to_numpy()
        better = (table["line"] == "a").to_numpy()
        medians = [[np.median(losses[(places == k) & (better == a)]) for a in (False, True)] for k in (2, 3)]
        margins = [float(worse / best) for worse, best in medians]
        return ClaimVerdict(tuple(ClaimFinding("a is better", margin >= 1, "", margin) for margin in margins))

    return Claim("planted", "", "", (), 5, 5, list_blocks, judge, ())


def plan(seen=None, stored=None, look=0, looks=4, waiting=None):
    table = pd.DataFrame() if stored is None else stored
    return RunPlan(planted(seen), 5, None, looks=looks, stored=table, look=look, waiting=waiting)


def follow(found):
    while not found.done:
        for _ in found.runs():
            pass
        found.take_look()
    return found


@pytest.mark.slow
def test_only_what_is_open_is_run_again(monkeypatch):
    monkeypatch.setattr(redraw, "PATH_DRAWS", 60)
    seen = []
    found = follow(plan(seen, looks=2))
    runs = pd.DataFrame(seen, columns=["spread", "repeat"]).groupby("spread")["repeat"].nunique()
    assert runs[0.01] == 5 and runs[0.6] == 10
    assert len(seen) == len(set(seen)), "no run is run twice"
    clear, unclear = found.verdict.findings
    assert clear.interval.runs == 5 and unclear.interval.runs == runs[0.6]
    assert clear.interval.high < 1 or clear.interval.low > 1
    assert found.look == 2


def test_an_interrupted_plan_comes_to_the_same_table():
    whole = follow(plan(looks=2))
    stopped = plan(looks=2)
    for _ in stopped.runs():
        pass
    stopped.take_look()
    runs = stopped.runs()
    for _ in range(3):
        next(runs)
    judged, kept = (pd.read_csv(StringIO(stopped.table(every=every).to_csv(index=False))) for every in (False, True))
    assert len(judged) < len(kept) and judged["repeat"].max() == 4, "a look that is not complete judges nothing"
    resumed = plan(stored=judged, look=1, looks=2, waiting=kept.iloc[len(judged) :])
    assert [one.margin for one in resumed.verdict.findings] == [one.margin for one in stopped.verdict.findings]
    again = follow(resumed)
    order = ["k", "line", "repeat"]
    pd.testing.assert_frame_equal(
        again.table().sort_values(order, ignore_index=True), whole.table().sort_values(order, ignore_index=True)
    )
    assert [finding.margin for finding in again.verdict.findings] == [one.margin for one in whole.verdict.findings]
    _look_again(whole)


def _look_again(found):
    """Each look can be taken again from the table that is stored, and the first one that decides a finding stands."""
    table, verdict, again = found.table(), found.verdict, None
    assert sorted(table["look"].unique()) == [1, 2]
    for look in (1, 2):
        now = weigh_table(found.claim.judge, select_look(table, look), looks=2).verdict
        again = now if again is None else settle_verdict(again, now)
    for kept, made, look in zip(verdict.findings, again.findings, (1, 2), strict=True):
        assert (kept.margin, kept.interval) == (made.margin, replace(made.interval, look=look))
    assert judge_looks(found.claim.judge, table, pd.DataFrame(list_lines("planted", verdict))) == verdict


def test_a_decided_finding_stays_and_an_open_one_moves():
    def finding(margin, low, high, today=None):
        return ClaimFinding("x", margin >= 1, "", margin, interval=MarginInterval(low, high, 5), today=today)

    decided, unsure, later = finding(1.2, 1.1, 1.3), finding(1.2, 0.9, 1.3), finding(1.0, 0.9, 1.1)
    no_interval = ClaimFinding("x", True, "", 2.0)
    before = ClaimVerdict((decided, unsure, finding(1.2, 0.9, 1.3, today=decided), no_interval))
    now = ClaimVerdict((later, later, finding(0.8, 0.7, 0.9, today=later), later))
    settled = settle_verdict(before, now).findings
    assert settled[:2] == (decided, later) and settled[3] == later
    assert settled[2] == finding(0.8, 0.7, 0.9, today=decided), "each with its own"


def test_a_cell_is_the_same_before_it_is_written_and_after_it_was_read():
    cell = {"data": "x", "n": 107_091, "epsilon": 1.0, "delta": np.exp(-28), "line": "a", "power": float("nan")}
    read = pd.read_csv(StringIO(pd.DataFrame([cell]).to_csv(index=False, float_format="%.6g")))
    assert find_key(cell) == find_key(read.to_dict("records")[0])
