"""Advice: the cheapest algorithm at the smallest ε that is enough, from synthetic tables of that size, and how sure."""

from dataclasses import replace
from math import sqrt

import numpy as np
import pandas as pd
import pytest

from dpviz.algorithms.card import Setting
from dpviz.core.check import RequestError
from dpviz.core.queries import Relation
from dpviz.runs.advice.advice import EPSILONS as TRIED
from dpviz.runs.advice.advice import SyntheticStudy, Target, choose_cheapest, foresee
from tests.cases import for_each

ROWS, EPSILONS = 100_000, (0.01, 0.1, 1.0, 10.0)
AT = Setting(4, 4, 1.0, 0.0, n=ROWS)
USUAL = Target()


def study(**ratios: dict[tuple[int, int], list[list[float]]]) -> SyntheticStudy:
    """``ratios``: of each algorithm and (d, k), a list a synthetic table, of its ratios at EPSILONS."""
    cost = {"auto": 0.3, "dplloyd": 0.1, "balcan": 0.2}
    lines = [
        {
            **{"family": str(place), "n": ROWS, "d": d, "k": k, "epsilon": epsilon, "delta": 0.0},
            **{"algorithm": name, "ratio": ratio, "seconds": cost[name]},
        }
        for name, sizes in ratios.items()
        for (d, k), tables in sizes.items()
        for place, curve in enumerate(tables)
        for epsilon, ratio in zip(EPSILONS, curve, strict=True)
        if ratio == ratio
    ]
    return SyntheticStudy.of(pd.DataFrame(lines))


def test_the_smallest_epsilon_that_holds_on_enough_stand_ins_is_advised() -> None:
    good, bad = [2.0, 1.08, 1.05, 1.01], [2.0, 1.5, 1.08, 1.01]
    four_of_five = study(auto={(4, 4): [good, good, good, good, bad]})
    three_of_five = study(auto={(4, 4): [good, good, good, bad, bad]})
    found = foresee(AT, study=four_of_five).advise(USUAL)
    assert found.best is not None and (found.best.epsilon, found.best.share) == (0.1, pytest.approx(0.8))
    assert (found.n_tables, found.beyond) == (5, False) and found.each == (0.1, 0.1, 0.1, 0.1, 1.0)
    later = foresee(AT, study=three_of_five).advise(USUAL)
    assert later.best is not None and later.best.epsilon == 1.0
    half = foresee(AT, study=three_of_five).advise(Target(1.1, 0.5))
    assert half.best is not None and half.best.epsilon == 0.1


def test_one_algorithm_must_hold_from_there_on_not_now_one_and_then_another() -> None:
    early, late = [1.05, 1.05, 1.5, 1.5], [2.0, 2.0, 1.05, 1.05]
    both = study(auto={(4, 4): [early] * 3}, dplloyd={(4, 4): [late] * 3})
    found = foresee(AT, study=both).advise(USUAL)
    assert found.best is not None and (found.best.algorithm, found.best.epsilon) == ("dplloyd", 1.0)
    assert foresee(AT, study=both).list_needed(USUAL) == {"auto": np.inf, "dplloyd": 1.0}


def test_no_budget_is_advised_that_is_less_than_any_that_was_studied() -> None:
    always = study(auto={(4, 4): [[1.0] * 4] * 3})
    for n, least in ((ROWS, 0.01), (ROWS // 10, 0.1), (ROWS // 1000, 10.0)):
        at = replace(AT, n=n)
        found = foresee(at, study=always).advise(USUAL)
        assert found.epsilon == least and found.each == (least,) * 3
        assert not [one.words for one in found.changes if one.words.startswith("k = ")], "of no fewer clusters"
        assert foresee(at, study=always).tabulate(["auto"], TRIED)["epsilon"].min() == least
    few = replace(AT, n=ROWS // 2000)
    found = foresee(few, study=always).advise(USUAL)
    assert (found.best, found.others, found.each) == (None, (), ()) and "so few rows" in found.write("certainty")[0]
    assert foresee(few, study=always).tabulate(["auto"], TRIED).empty


def test_rows_and_budget_count_together_and_a_person_of_several_rows_costs_as_many() -> None:
    one = study(auto={(4, 4): [[8.0, 4.0, 2.0, 1.0]]})

    def loss(**asked: object) -> float:
        at = replace(AT, **asked)
        (found,) = foresee(at, study=one).list_outlooks(at.epsilon)
        return found.median

    assert loss(epsilon=1.0) == pytest.approx(2.0)
    assert loss(epsilon=0.1, n=10 * ROWS) == pytest.approx(2.0)
    assert loss(rows_per_person=10) == pytest.approx(4.0)
    assert loss(epsilon=sqrt(0.1)) == pytest.approx(sqrt(8.0))
    assert loss(relation=Relation.REPLACE) == loss(epsilon=0.5)
    assert loss(epsilon=100.0) == pytest.approx(1.0)  # beyond what was studied: the nearest


def test_stand_ins_count_by_their_nearness_in_d_and_k() -> None:
    sizes = study(auto={(2, 4): [[1.0] * 4], (8, 4): [[4.0] * 4]})
    shares = {dim: sizes.weights(replace(AT, dim=dim)).tolist() for dim in (1, 2, 4, 8, 50)}
    assert shares[1] == shares[2] == [1.0, 0.0] and shares[50] == shares[8] == [0.0, 1.0]
    assert shares[4] == pytest.approx([0.5, 0.5])
    assert not foresee(replace(AT, dim=4), study=sizes).advise(USUAL).beyond
    assert foresee(replace(AT, dim=50), study=sizes).advise(Target(5)).beyond


def test_what_did_not_run_on_the_stand_ins_or_cannot_run_here_is_not_advised() -> None:
    gaps = study(auto={(4, 4): [[1.5] * 4] * 2}, dplloyd={(4, 4): [[np.nan] * 3 + [1.0]] * 2})
    found = choose_cheapest(foresee(AT, study=gaps).list_outlooks(AT.epsilon))
    assert found is not None and found.algorithm == "auto"
    at_ten = choose_cheapest(foresee(AT, study=gaps).list_outlooks(10.0))
    assert at_ten is not None and at_ten.algorithm == "dplloyd"
    few = foresee(replace(AT, n=20), study=gaps).list_outlooks(AT.epsilon)
    assert "dplloyd" not in [one.algorithm for one in few]


@for_each(("setting", "loss"), [(AT, 1.0), (AT, float("nan")), (replace(AT, n=None), 1.1)])
def test_a_question_without_an_answer_is_refused(setting: Setting, loss: float) -> None:
    with pytest.raises(RequestError):
        foresee(setting, study=study(auto={(4, 4): [[1.0] * 4]})).advise(Target(loss))


@pytest.mark.slow
def test_the_stored_study_is_what_its_bench_measures() -> None:
    bench = pytest.importorskip("benchmarks.advice")
    shipped = pd.read_csv(bench.STORED)
    family, size = bench.FAMILIES[0], bench.Size(bench.FIT_ROWS, 6, 3)
    table = bench.generated(family, size, bench.TABLE_SEED)
    asked = {"family": family.name, "d": 6, "k": 3, "epsilon": 1.6, "delta": bench.DELTA}
    lines = shipped[(shipped[list(asked)] == pd.Series(asked)).all(axis=1)].set_index("algorithm")["ratio"]
    measured = bench.medians(table, 3, epsilon=1.6, delta=bench.DELTA, repeats=2, hopeless=False)
    ratios = {line["algorithm"]: line["ratio"] for line in measured}
    assert set(ratios) == set(lines.index)
    for name in ("lsh-coreset", "dplloyd", "balcan"):
        assert ratios[name] == pytest.approx(lines[name], rel=2e-3)
