"""Attacks that are run: sound releases stay inside the bound, and what is not sound leaves it."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.auditing.attacks import audit_of_an_attack, outlier, runs_on
from dpviz.runs.meaning.membership import Attack, AttackTrial, Share, attack, compute_staircase
from dpviz.runs.meaning.windows import bound_advantage
from tests.cases import for_each


def record(found: list[AttackTrial], name: str) -> Attack:
    return attack(*([getattr(one, name) for one in found if one.present is there] for there in (True, False)))


def test_a_staircase_goes_from_never_to_always():
    steps = compute_staircase(np.array([3.0, 1.0, 2.0]), np.array([0.0, 2.0]))
    np.testing.assert_allclose(steps, [[0, 0], [0, 1 / 3], [0.5, 2 / 3], [0.5, 1], [1, 1]])


def test_the_threshold_comes_from_other_runs_than_the_record():
    # What looks like a perfect attack on one half is a coin on the other.
    present, absent = [1.0, 0.0] * 20, [0.0, 1.0] * 20
    found = attack(present, absent)
    assert found.hits == Share(0, 20)
    assert found.false_alarms == Share(20, 20)


def test_certainty_is_found_out():
    found = attack(np.linspace(1, 2, 60).tolist(), np.linspace(-2, -1, 60).tolist())
    assert found.advantage == 1
    assert found.passes(epsilon=1.0, delta=0.0)


def test_both_worlds_have_noise_of_their_own():
    found = runs_on(outlier(), "dplloyd", 1.0, 2)
    assert len({one.centers.tobytes() for one in found}) == 4


def test_more_runs_go_on_where_the_first_ended():
    rows = outlier()
    at_once = [one.nearness for one in runs_on(rows, "dplloyd", 1.0, 4)]
    parts = [one.nearness for first in (0, 2) for one in runs_on(rows, "dplloyd", 1.0, 2, first=first)]
    assert parts == at_once


def test_plain_k_means_gives_the_person_away():
    found = runs_on(outlier(), "kmeans++", 1.0, 30)
    assert all(one.log_ratio is None for one in found)
    plain = record(found, "nearness")
    assert plain.advantage == 1
    assert plain.passes(epsilon=1.0, delta=1e-6)


@pytest.mark.slow
def test_a_release_with_a_third_of_the_noise_passes_the_line_of_its_claim_and_an_honest_one_does_not():
    # More algorithms, at more ε and full sizes, are attacked by ``python -m benchmarks.audits``.
    audit = audit_of_an_attack("auto", 1.0, times=3)
    assert audit.thinned and audit.thinned(80) > 0
    # Who reads all answers comes close to the line.
    assert -0.4 * bound_advantage(epsilon=1.0, delta=1e-6) < audit.honest(80) <= 0


# The first has no densities; in the local model there are as many seats as rows are declared, and one table has a row
# less.
@for_each("algorithm", ["sample-aggregate", "lsh-local"])
def test_where_no_answer_can_be_weighed_only_the_centres_are_attacked(algorithm):
    found = runs_on(outlier(), algorithm, 1.0, 2)
    assert len(found) == 4 and all(one.log_ratio is None for one in found)
