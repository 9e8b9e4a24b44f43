"""One answer to: which ε? Stored study, smallest ε and frontier are one reading; where they differ, why is checked."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from math import inf, isfinite

import numpy as np
import pandas as pd
import pytest

from dpviz.algorithms.card import Setting
from dpviz.charts.studies.curves import Curves
from dpviz.charts.studies.smallest import Smallest
from dpviz.runs.advice.advice import EPSILONS, Advice, advise
from dpviz.runs.advice.recommendation import compared, recommend, why_apart
from dpviz.runs.advice.target import Target, from_on, reached_by, steps_apart
from dpviz.runs.clipped_rows import JudgedTable
from dpviz.runs.open_table import declare
from dpviz.runs.request import Contender
from dpviz.runs.smallest_epsilon import SmallestEpsilon, smallest_epsilons
from dpviz.runs.study.grid import Grid, epsilons_between
from dpviz.runs.study.study import study_rows, tidy
from dpviz.table.declaration import Declaration
from dpviz.table.made_tables import simulate

DELTA = 1e-6
CONTENDERS = (Contender("auto"), Contender("eugkm"), Contender("dplloyd"))
TARGETS = (1.02, 1.1, 1.3, 2.0)
SIZES = [
    *((1_000, 2, 3), (3_000, 2, 8), (10_000, 2, 3), (5_000, 1, 4), (2_000, 3, 5)),
    *((20_000, 3, 8), (5_000, 6, 3), (20_000, 6, 8), (4_000, 12, 4), (400, 2, 2)),
]
USUAL = Target()


@cache
def runs(n: int, d: int, k: int) -> pd.DataFrame:
    """A study on a stand-in of so many rows, as the page makes one."""
    made = simulate((-1.0,) * d, (1.0,) * d, n, d, k, seed=0)
    names = tuple(f"x_{j + 1}" for j in range(d))
    table = declare(made, Declaration(names, lower=(-1.0,) * d, upper=(1.0,) * d, n_public=n))
    judged = JudgedTable.of(table.private, table.private.reveal(note="test"), None)
    grid = Grid(CONTENDERS, (k,), epsilons_between(0.1, 10.0), (DELTA,), repeats=5)
    return tidy([item for item in study_rows(judged, grid) if isinstance(item, dict)])


@pytest.mark.slow
@pytest.mark.parametrize(("n", "d", "k"), SIZES)
def test_recommendation_smallest_epsilon_and_frontier_agree_within_one_tried_epsilon_or_say_why(
    n: int, d: int, k: int
) -> None:
    frame = runs(n, d, k)
    tried = sorted(frame["epsilon"].unique())
    for loss in TARGETS:
        target = Target(loss)
        advice = advise(Setting(d, k, 1.0, DELTA, n=n), target=target)
        answers = smallest_epsilons(frame, target)
        found = recommend(target, advice, answers, tried, CONTENDERS)
        # The picture's title is the recommendation, and both are what the runs say, counted here anew.
        assert Smallest(Curves(frame), answers, found).finding == found.finding
        kept = (frame["ratio"] <= loss).groupby([frame["contender"], frame["epsilon"]]).mean().unstack()
        least = min(from_on(tried, line.to_numpy() >= target.share - 1e-9) for _, line in kept.iterrows())
        assert found.epsilon == answers[0].epsilon == least
        if loss == USUAL.loss and isfinite(least):
            assert Curves(frame).finding.startswith(f"From ε = {least:g} on, {found.who} stays within 10 %")
        # The stored study agrees within one tried ε, or a reason is named, and it is true.
        apart = steps_apart(advice.epsilon, least, tried)
        assert (found.apart is None) == (apart <= 1)
        if found.apart is not None:
            _is_true(found.apart.kind, advice, answers, tried)
            assert found.apart.words in compared(found, advice)


def _is_true(kind: str, advice: Advice, answers: list[SmallestEpsilon], tried: list[float]) -> None:
    assert advice.leading is not None
    titles = {"auto": "Auto", "eugkm": "EUGkM", "dplloyd": "DPLloyd"}
    own = next((one for one in answers if one.contender == titles.get(advice.leading.algorithm)), None)
    if own is None:
        assert kind == "not compared"
        return
    match kind:
        case "another algorithm":
            assert answers[0].epsilon < own.epsilon and steps_apart(own.epsilon, advice.epsilon, tried) <= 1
        case "few runs":
            assert own.low <= advice.epsilon <= own.high
        case "other sizes":
            assert advice.beyond
        case "among them":
            near = [steps_apart(own.epsilon, each, tried) for each in advice.each]
            assert min(near) <= 1 or min(advice.each) <= own.epsilon <= max(advice.each)
        case "unlike them":
            assert all(steps_apart(own.epsilon, each, tried) > 1 for each in advice.each)
        case _:
            raise AssertionError(kind)


ADVICE = advise(Setting(2, 15, 1.0, DELTA, n=5_000), target=USUAL)
# The stored study may be made again: what is said of it is true of any.
ADVISED, RANGE = ADVICE.epsilon, f"ε = {min(ADVICE.each):g} to {max(ADVICE.each):g}"
TRIED = (0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0)


def answer(name: str, epsilon: float, *, low: float | None = None, high: float | None = None) -> SmallestEpsilon:
    return SmallestEpsilon(name, epsilon, low or epsilon, high or epsilon, 0.1, 10.0, 45, 1.04)


@pytest.mark.parametrize(
    ("answers", "kind", "words"),
    [
        ([answer("Auto", ADVISED)], None, f"agrees (ε = {ADVISED:g})"),
        ([answer("EUGkM", 0.2)], "not compared", "Auto was not compared here"),
        ([answer("EUGkM", 0.2), answer("Auto", 1.0)], "another algorithm", "EUGkM needs less here than Auto"),
        ([answer("Auto", 0.5, low=0.3, high=3.0)], "few runs", "Auto may need between 0.3 and 3"),
        ([answer("Auto", 0.5)], "among them", f"({RANGE}), and this one is among those that need less"),
        ([answer("Auto", inf)], "unlike them", "this one is harder than each of the 18 tables"),
    ],
)
def test_why_they_differ_is_said(answers: list[SmallestEpsilon], kind: str | None, words: str) -> None:
    found = recommend(USUAL, ADVICE, answers, TRIED, CONTENDERS)
    assert (found.apart.kind if found.apart else None) == kind
    assert words in compared(found, ADVICE)


def test_sizes_that_were_not_studied_are_the_reason() -> None:
    beyond = replace(ADVICE, beyond=True)
    reason = why_apart(beyond, [answer("Auto", 0.5)], TRIED, CONTENDERS)
    assert reason is not None and reason.kind == "other sizes"


def test_before_any_run_the_stored_study_answers_and_then_the_runs() -> None:
    before = recommend(USUAL, ADVICE)
    assert (before.epsilon, before.who, before.measured) == (ADVISED, "Auto", False)
    assert re.fullmatch(rf"Choose ε = {ADVISED:g} or more with Auto: .* in 8 of 10 made-up tables\.", before.sentence)
    after = recommend(USUAL, ADVICE, [answer("EUGkM", 0.2)], TRIED, CONTENDERS)
    assert after.measured and after.sentence.endswith("at most 1.1× in 8 of 10 runs.") and after.epsilon == 0.2
    out_of_reach = recommend(USUAL, None, [answer("EUGkM", inf)], TRIED, CONTENDERS)
    assert not out_of_reach.reached and out_of_reach.who == "" and "No ε up to 10" in out_of_reach.finding


def test_the_rule_is_the_share_of_runs_and_monotone_from_there_up() -> None:
    losses = np.array([1.0, 1.05, 1.09, 1.1, 3.0])
    assert USUAL.met(losses) and not Target(share=0.9).met(losses)
    assert reached_by(losses, 0.8) == 1.1 and reached_by(losses, 0.5) == 1.09
    assert not USUAL.met(losses, np.array([1.0, 1.0, 1.0, 1.0, 2.0]))
    good, bad = losses, losses + 1
    assert USUAL.least({0.1: good, 1.0: bad, 2.0: good, 5.0: good}) == 2.0
    assert USUAL.least({0.1: good, 1.0: bad}) == inf
    assert USUAL.met(np.array([1.0, np.nan])) and not USUAL.met(np.array([np.nan]))
    assert EPSILONS[0] == 0.01 and steps_apart(0.18, 0.2, TRIED) == 0
