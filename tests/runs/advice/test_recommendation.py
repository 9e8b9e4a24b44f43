"""One answer to: which ε? Stored study, smallest ε and frontier are one reading; where they differ, why is checked."""

from math import inf

import numpy as np
import pandas as pd

from benchmarks.families import Size
from benchmarks.recommended import CONTENDERS, DELTA, SIZES, readings
from dpviz.algorithms.card import Setting
from dpviz.runs.advice.advice import EPSILONS, Target, count_steps_apart, find_reached_loss, foresee
from dpviz.runs.advice.recommendation import Recommendation
from dpviz.runs.request import Division
from dpviz.runs.smallest_epsilon import SmallestEpsilon
from dpviz.runs.study.grid import StudyGrid
from dpviz.runs.study.study import KEYS, tidy
from tests.cases import for_each

USUAL = Target()


def as_stored(size: Size, *, shift: float, wobble: float) -> pd.DataFrame:
    """Runs that lose what the stored study says at ε / ``shift``, two in five of them so many times more."""
    setting = Setting(size.d, size.k, 1.0, DELTA, n=size.n)
    lines = []
    for epsilon in StudyGrid.list_epsilons(0.1, 10.0):
        forecast = foresee(setting).tabulate([who.algorithm for who in CONTENDERS], [epsilon / shift])
        for _, line in forecast.drop_duplicates("contender").iterrows():
            facts = dict.fromkeys(KEYS, "") | {"contender": line["contender"], "k": size.k, "epsilon": epsilon}
            excess = max(0.0, line["ratio"] - 1)
            lines += [
                {
                    **facts,
                    "repeat": repeat,
                    "ratio": 1 + excess * worse,
                    "trial": f"{line['contender']} {epsilon} {repeat}",
                }
                for repeat, worse in enumerate((1.0, 1.0, 1.0, wobble, wobble))
            ]
    return tidy(lines)


def test_stored_study_runs_and_picture_give_one_answer_or_a_true_reason() -> None:
    """Runs like those of the stored study, and such as need a tenth or ten times the ε; all are planted, none runs."""
    kinds = set()
    for place, size in enumerate(SIZES):
        shift, wobble = (0.1, 1.0, 10.0)[place % 3], (1.0, 4.0)[place % 2]
        for line in readings(as_stored(size, shift=shift, wobble=wobble), size):
            assert not line["wrong"], (line, shift, wobble)
            kinds.add(line["why"])
    assert kinds >= {"", "few runs", "other sizes", "among them", "unlike them"}, kinds


ADVICE = foresee(Setting(2, 15, 1.0, DELTA, n=5_000)).advise(USUAL)
# The stored study may be made again: what is said of it is true of any.
ADVISED, RANGE = ADVICE.epsilon, f"ε = {min(ADVICE.each):g} to {max(ADVICE.each):g}"
TRIED = (0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0)


def answer(name: str, epsilon: float, *, low: float | None = None, high: float | None = None) -> SmallestEpsilon:
    return SmallestEpsilon(name, epsilon, low or epsilon, high or epsilon, 0.1, 10.0, 45, 1.04)


@for_each(
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
    found = Recommendation.of(USUAL, ADVICE, answers, TRIED, CONTENDERS)
    assert (found.apart.kind if found.apart else None) == kind
    assert words in found.compare_with(ADVICE)


def test_runs_on_the_table_are_told_as_the_release_whose_centres_get_as_much() -> None:
    advice = foresee(Setting(2, 15, 1.0, DELTA, n=5_000), share=0.8).advise(USUAL)
    found = Recommendation.of(USUAL, advice, [answer("Auto", 0.7)], TRIED, CONTENDERS, share=0.8)
    assert found.epsilon == 0.875 and found.finding.startswith("Choose ε = 0.875 or more with Auto")
    assert "leaves 80 % of its ε for the centres: the 0.875 of one is 0.7 of the runs" in found.describe_share()
    assert Recommendation.of(USUAL, advice, [answer("Auto", 0.7)], TRIED, CONTENDERS).describe_share() == ""
    for parts in (Division(), Division(0.5), Division(0.2, missing=0.07)):
        for epsilon in TRIED:
            told = Recommendation.of(USUAL, None, [answer("Auto", epsilon)], TRIED, share=parts.find_share())
            centers = parts.divide(told.epsilon, bought=0).centers
            assert epsilon * (1 - 1e-9) <= centers <= 1.01 * epsilon


def test_where_no_epsilon_will_do_it_is_said_of_whom_that_was_tried() -> None:
    asked = ((3, "dplloyd"), (300, ""))
    one, any_of_all = (foresee(Setting(d, 5, 1.0, 0.0, n=5_000), algorithm=who).advise(USUAL) for d, who in asked)
    both = [answer("Auto", inf), answer("EUGkM", inf)]
    for advice, answers, who in (
        (one, (), "DPLloyd"),
        (any_of_all, (), "any algorithm that was tried"),
        (one, both[:1], "Auto"),
        (one, both, "any algorithm that was tried"),
    ):
        assert Recommendation.of(USUAL, advice, answers, TRIED, CONTENDERS).finding.endswith(f", with {who}")


def test_the_rule_is_the_share_of_runs_and_monotone_from_there_up() -> None:
    losses = np.array([1.0, 1.05, 1.09, 1.1, 3.0])
    assert USUAL.is_met(losses) and not Target(share=0.9).is_met(losses)
    assert find_reached_loss(losses, 0.8) == 1.1 and find_reached_loss(losses, 0.5) == 1.09
    assert find_reached_loss(losses, 0.8, np.array([1.0, 1.0, 1.0, 1.0, 2.0])) == 3.0
    good, bad = losses, losses + 1
    assert USUAL.find_least({0.1: good, 1.0: bad, 2.0: good, 5.0: good}) == 2.0
    assert USUAL.find_least({0.1: good, 1.0: bad}) == inf
    assert USUAL.is_met(np.array([1.0, np.nan])) and not USUAL.is_met(np.array([np.nan]))
    assert EPSILONS[0] == 0.01 and [*EPSILONS] == sorted({*EPSILONS}) and count_steps_apart(0.18, 0.2, TRIED) == 0
