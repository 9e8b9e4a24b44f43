"""Attacks that are run: sound releases stay inside the bound, and what is not sound leaves it."""

from __future__ import annotations

import doctest
from dataclasses import replace

import numpy as np
import pytest

from dpviz.meaning import membership
from dpviz.meaning.membership import Attack, Share, Trial, attack, staircase, trials
from dpviz.meaning.strongest_test import most_advantage
from dpviz.meaning.worlds import worlds
from dpviz.runs.request import Contender, Request
from tests.pages.site import sample_table

RICH, PAIRS = 45, 80


def test_doctests():
    assert doctest.testmod(membership).failed == 0


def scores(algorithm: str, epsilon: float, *, pairs: int = PAIRS, seed: int = 5) -> list[Trial]:
    asked = Request(Contender(algorithm), k=3, epsilon=epsilon, delta=1e-6, seed=seed)
    return [one for one in trials(worlds(sample_table("outlier"), RICH), asked, pairs) if isinstance(one, Trial)]


def record(found: list[Trial], name: str) -> Attack:
    return attack(*([getattr(one, name) for one in found if one.present is there] for there in (True, False)))


def test_a_staircase_goes_from_never_to_always():
    steps = staircase(np.array([3.0, 1.0, 2.0]), np.array([0.0, 2.0]))
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
    found = scores("dplloyd", 1.0, pairs=2)
    assert len({one.centers.tobytes() for one in found}) == 4


def test_more_runs_go_on_where_the_first_ended():
    rows = worlds(sample_table("outlier"), RICH)
    asked = Request(Contender("dplloyd"), k=3, epsilon=1.0, delta=1e-6, seed=5)
    at_once = [one.nearness for one in trials(rows, asked, 4) if isinstance(one, Trial)]
    parts = [one.nearness for first in (0, 2) for one in trials(rows, asked, 2, first=first) if isinstance(one, Trial)]
    assert parts == at_once


def test_plain_k_means_gives_the_person_away():
    found = scores("kmeans++", 1.0, pairs=30)
    assert all(one.log_ratio is None for one in found)
    plain = record(found, "nearness")
    assert plain.advantage == 1
    assert plain.passes(epsilon=1.0, delta=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
@pytest.mark.parametrize("algorithm", ["auto", "dplloyd", "eugkm", "balcan", "lsh-coreset"])
def test_no_attack_passes_the_line(algorithm, epsilon):
    # Of sound releases chance alone takes at most 1 in 20 beyond it; the seed is fixed.
    found = scores(algorithm, epsilon)
    for attacker in ("nearness", "log_ratio"):
        assert not record(found, attacker).passes(epsilon=epsilon, delta=1e-6), attacker


@pytest.mark.slow
def test_who_reads_all_answers_comes_close_to_the_line():
    found = record(scores("auto", 1.0, pairs=300), "log_ratio")
    assert found.advantage > 0.6 * most_advantage(epsilon=1.0, delta=1e-6)


@pytest.mark.slow
def test_a_release_with_a_third_of_the_noise_passes_the_line_of_its_claim():
    """The negative twin: what spends 3 ε and claims ε is found out."""
    found = record(scores("eugkm", 3.0, pairs=200), "log_ratio")
    assert found.passes(epsilon=1.0, delta=1e-6)
    assert not found.passes(epsilon=3.0, delta=1e-6)


def test_without_densities_only_the_centres_are_attacked():
    asked = Request(Contender("sample-aggregate"), k=3, epsilon=1.0, delta=1e-6, seed=1)
    found = [one for one in trials(worlds(sample_table("outlier"), RICH), asked, 2) if isinstance(one, Trial)]
    assert all(one.log_ratio is None for one in found)
    assert replace(asked, seed=2) != asked


def test_where_somebody_has_no_seat_no_answer_is_weighed():
    # In the local model there are as many seats as rows are declared, and one world has a row less.
    found = scores("lsh-local", 1.0, pairs=2)
    assert len(found) == 4 and all(one.log_ratio is None for one in found)
