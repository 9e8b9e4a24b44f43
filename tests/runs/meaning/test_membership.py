"""Attacks that are run: sound releases stay inside the bound, and what is not sound leaves it."""

import pytest

from benchmarks.auditing.attacks import audit_of_an_attack, outlier, runs_on
from dpviz.runs.meaning.membership import ReferenceTrial, Share, attack, attack_work
from dpviz.runs.meaning.windows import bound_advantage
from dpviz.runs.request import Contender, Request


def test_the_threshold_comes_from_other_runs_than_the_record():
    # What looks like a perfect attack on one half is a coin on the other.
    present, absent = [1.0, 0.0] * 20, [0.0, 1.0] * 20
    found = attack(present, absent)
    assert found.hits == Share(0, 20) and found.false_alarms == Share(20, 20)


def test_both_worlds_have_noise_of_their_own():
    assert len({one.centers.tobytes() for one in runs_on(outlier(), "dplloyd", 1.0, 2)}) == 4


def test_plain_k_means_runs_before_the_first_pairs_and_not_again():
    asked = Request(Contender("dplloyd"), k=3, epsilon=1.0, seed=0)
    found = ([*attack_work(outlier(), asked, 1, first)] for first in (0, 1))
    assert [sum(isinstance(one, ReferenceTrial) for one in each) for each in found] == [64, 0]


def test_plain_k_means_gives_the_person_away():
    found = runs_on(outlier(), "kmeans++", 1.0, 30)
    assert all(one.log_ratio is None for one in found)
    plain = attack(*([one.nearness for one in found if one.present is there] for there in (True, False)))
    assert plain.advantage == 1 and plain.passes(epsilon=1.0, delta=1e-6)


@pytest.mark.slow
def test_a_release_with_a_third_of_the_noise_passes_the_line_of_its_claim_and_an_honest_one_does_not():
    # More algorithms, at more ε and full sizes, are attacked by ``python -m benchmarks.audits``.
    audit = audit_of_an_attack("auto", 1.0, times=3)
    assert audit.thinned and audit.thinned(80) > 0
    # Who reads all answers comes close to the line.
    assert -0.4 * bound_advantage(epsilon=1.0, delta=1e-6) < audit.honest(80) <= 0
