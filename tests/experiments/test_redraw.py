"""Intervals of margins: what is drawn again, how often they hold the truth, and what they leave undecided."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal
from scipy.stats import norm as normal

from dpviz.app.charts.studies.stored_verdicts import ClaimFinding, ClaimVerdict, MarginInterval, Outcome
from experiments import redraw
from experiments.evidence import compare_lines, conclude
from experiments.redraw import LOOKS, PATH_TAIL, draw_runs, find_interval, redraw_verdicts, weigh_table
from tests.cases import about, for_each
from tests.experiments.planted import lines


def losses(first, second):
    """Two lines at one place, a run for each of their losses."""
    parts = [
        {**lines({line: loss})[0], "nicv": loss, "repeat": repeat}
        for line, of_line in (("a", first), ("b", second))
        for repeat, loss in enumerate(of_line)
    ]
    return pd.DataFrame(parts)


def few(found):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(redraw, "DRAWS", 40)
        return weigh_table(a_is_better, found).verdict


def a_is_better(found):
    return conclude(found, compare_lines(found, ["a"], ["b"], says="a is better"))


def test_a_margin_that_many_runs_agree_on_is_decided():
    better = few(losses([1.0, 1.01, 1.02, 0.99, 1.0], [1.5, 1.4, 1.6, 1.5, 1.5])).findings[0]
    assert better.outcome is Outcome.HOLDS and 1.3 < better.interval.low <= better.margin <= better.interval.high
    worse = few(losses([1.5, 1.4, 1.6, 1.5, 1.5], [1.0, 1.01, 1.02, 0.99, 1.0])).findings[0]
    assert worse.outcome is Outcome.FAILS and worse.interval.runs == 5


@given(st.lists(st.sampled_from([Outcome.HOLDS, Outcome.FAILS, Outcome.UNDECIDED]), min_size=1, max_size=6))
def test_a_claim_is_undecided_where_what_is_undecided_could_make_it_another(outcomes):
    def claim(each):
        intervals = {Outcome.HOLDS: (1.5, 2.0), Outcome.FAILS: (0.4, 0.6), Outcome.UNDECIDED: (0.8, 1.2)}
        return ClaimVerdict(
            tuple(ClaimFinding("x", True, "", 1.0, interval=MarginInterval(*intervals[one], 5)) for one in each)
        ).outcome

    could = {
        claim([settled if one is Outcome.UNDECIDED else one for one in outcomes])
        for settled in (Outcome.HOLDS, Outcome.FAILS)
    }
    if Outcome.UNDECIDED in outcomes and could != {Outcome.IN_PART}:
        assert claim(outcomes) is Outcome.UNDECIDED
    else:
        assert could == {claim(outcomes)}


def held(runs, tables, without=False):
    """In what part of tables of a known law, whose ratio is 1.2, the interval holds it."""
    rng, groups = np.random.default_rng(runs), np.repeat([0, 1], runs)
    chosen, right = draw_runs(groups, 300), 0
    for _ in range(tables):
        found = np.exp(0.3 * rng.standard_normal(2 * runs)) * np.where(groups == 1, 1.2, 1.0)
        drawn = np.median(found[chosen].reshape(-1, 2, runs), axis=2)
        margin = np.median(found[groups == 1]) / np.median(found[groups == 0])
        between = find_interval(margin, drawn[:, 1] / drawn[:, 0], 5 if without else runs)
        assert between.low <= margin <= between.high
        right += between.low <= 1.2 <= between.high
    return right / tables


@for_each("runs", [2, 3, 4, 5, 20])
def test_nine_intervals_in_ten_hold_the_ratio_of_a_known_law(runs):
    assert 0.86 <= held(runs, 500) < 1.0  # one that never misses is too wide to decide anything


def test_two_runs_need_the_widening():
    """The negative twin: redraws alone miss often."""
    assert held(2, 500, without=True) < 0.8


def compute_missing(looks):
    """In what part of paths of Gaussian looks that double one or more misses: their means share runs."""
    steps, end = np.arange(looks), np.full(looks, normal.isf(PATH_TAIL))
    alike = 2.0 ** (-np.abs(np.subtract.outer(steps, steps)) / 2)
    return 1 - multivariate_normal.cdf(end, cov=alike, lower_limit=-end, abseps=1e-4)


def test_the_tail_of_a_path_is_that_of_gaussian_looks_which_double():
    """All looks miss together in less than a tenth of the paths, and one more would be too many."""
    assert compute_missing(1) == pytest.approx(2 * PATH_TAIL, rel=1e-6)
    assert compute_missing(LOOKS) == pytest.approx(0.094, abs=5e-4), "what the docstring of PATH_TAIL says"
    assert compute_missing(LOOKS + 1) > 0.1


def test_runs_are_drawn_among_the_same_line_at_the_same_place_and_keep_their_rows():
    parts = [
        {**row, "iteration": step, "nicv": 100 * place + 10 * row["repeat"] + step}
        for place, k in enumerate((2, 3))
        for row in lines({"a": 1.0}, k=k)
        for step in range(4)
    ]
    found = pd.DataFrame(parts)
    again = []
    redraw_verdicts(again.append, found, 50)
    assert all(len(one) == len(found) for one in again)
    for one in again:
        assert (one["k"].to_numpy() == found["k"].to_numpy()).all()
        assert ((one["nicv"] // 100).to_numpy() == (found["k"] - 2).to_numpy()).all()
        traces = one["nicv"].to_numpy().reshape(-1, 4)
        assert (traces - traces[:, :1] == np.arange(4)).all()
    assert len({tuple(one["nicv"]) for one in again}) > 20


def test_counts_that_are_equal_to_what_is_asked_for_hold_and_losses_do_not():
    """Equal counts are an answer once redraws agree; of a loss on its line digits could tip it."""
    for (low, high), counted, measured in (
        ((1.0, 1.0), Outcome.HOLDS, Outcome.UNDECIDED),
        ((1.0, 2.0), Outcome.HOLDS, Outcome.UNDECIDED),
        ((1.1, 2.0), Outcome.HOLDS, Outcome.HOLDS),
        ((0.5, 1.0), Outcome.UNDECIDED, Outcome.UNDECIDED),
        ((0.9995, 1.0), Outcome.UNDECIDED, Outcome.UNDECIDED),
        ((0.5, 0.9995), Outcome.FAILS, Outcome.UNDECIDED),
        ((0.5, 0.9), Outcome.FAILS, Outcome.FAILS),
    ):
        for is_count, outcome in ((True, counted), (False, measured)):
            finding = ClaimFinding("x", high >= 1, "", high, interval=MarginInterval(low, high, 6), counted=is_count)
            with about(low, high, is_count):
                assert finding.outcome is outcome and (finding.runs_needed > 0) == (outcome is Outcome.UNDECIDED)
    on_the_line = ClaimFinding("x", True, "", 1.0, interval=MarginInterval(0.5, 1.0, 6), counted=True)
    assert on_the_line.runs_needed == 12 and replace(on_the_line, counted=False).runs_needed == np.inf
