"""Known mistakes of algorithms on tuples, planted one at a time: a check must turn red for each."""

from __future__ import annotations

import dataclasses
from math import log, sqrt

import numpy as np
import pytest

import dpviz.privacy.tuples.center_noise
import dpviz.privacy.tuples.partition_test
import tests.contract.test_sensitivity as sensitivity_tests
from dpviz.algorithms.cohen2021.tested_tuples import TupleSource
from dpviz.algorithms.registry import CARDS
from dpviz.algorithms.steps import CentersStep
from dpviz.privacy.accounting import gdp_mu
from dpviz.privacy.ledger import BudgetExceeded, Entry
from dpviz.privacy.noise import StudyNoise
from dpviz.privacy.partitions import Voronoi
from dpviz.privacy.queries import Count, Relation, Sensitivity
from dpviz.privacy.sums import ResidualMoments
from dpviz.privacy.tuples.center_noise import NoisyCenters
from dpviz.privacy.tuples.partition_test import PartitionTest, Plan
from dpviz.privacy.tuples.tuple_averages import PrivateAverage, TupleAverages
from dpviz.privacy.tuples.tuples import NoisyTuple
from dpviz.table.lattice import FACTOR_BITS
from tests.contract.checks import check_ledger, check_loss, check_replay, run_of
from tests.contract.questions import check_move, regions, room_over
from tests.contract.tables import BOUGHT, PUBLIC, REPLACE, neighbours
from tests.privacy import tuple_checks as ok

REQUEST = {"k": 2, "epsilon": 1.0, "delta": 1e-6, "params": {}, "seed": 0}
CENTERS = NoisyCenters(**ok.CHEAP, far=1400.0)
AVERAGES = TupleAverages(**ok.SMALL, dim=1, finest=1e-4, bound=1.0, printed=True)
caught = pytest.raises(AssertionError)


@pytest.mark.parametrize("card", ["k-noisy-centers", "k-averages"])
def test_without_a_mistake_all_is_green(card):
    for world in (BOUGHT, PUBLIC, REPLACE):
        check_ledger(CARDS[card], world.table(), **REQUEST)
        check_replay(CARDS[card], world.table(), **REQUEST)
    ok.check_reach(CENTERS)
    ok.check_group_budget(AVERAGES)
    ok.check_order(CENTERS)
    ok.check_price_of_noise(CENTERS)


def test_the_printed_reach(monkeypatch):
    # λ = (2/Δ)(1 + γ) m scales its own noise with a distance that may differ between neighbours.
    def printed(self, centers, laplace):
        gap = float(np.linalg.norm(centers[0] - centers[1]))
        gamma = 4 / (self.far - 2) * (laplace + 4 * self.k / self.epsilon * log(4 * self.k / self.delta) + 1)
        return 2 / self.far * (1 + gamma) * gap

    monkeypatch.setattr(NoisyCenters, "reach", printed)
    for far in (7.0, 100.0, 557.0):
        with caught:
            ok.check_reach(NoisyCenters(**ok.SMALL, far=far))


@pytest.mark.parametrize("printed", [False, True])
def test_gaussian_noise_that_takes_the_share_of_the_reach_as_well(printed, monkeypatch):
    # At ε/2 instead of ε/4 the whole costs 5/4 of what is booked.
    mechanism = NoisyCenters(**ok.CHEAP | {"number": 700}, far=1400.0, printed=printed)
    ok.check_price_of_noise(mechanism)

    def thinner(self):
        k, epsilon, delta = self.k, self.epsilon, self.delta
        return 2 * k / epsilon * sqrt(2 * log(10 * k / delta)) if printed else sqrt(k) / gdp_mu(epsilon / 2, delta / 8)

    monkeypatch.setattr(NoisyCenters, "sd_of_reach", property(thinner))
    with caught:
        ok.check_price_of_noise(mechanism)


@pytest.mark.parametrize("part", ["misfits", "vote", "reach"])
def test_laplace_noise_of_half_the_scale_in_one_part_of_a_release(part, monkeypatch):
    laplace, turn = ok.Overheard.laplace, iter(("misfits", "vote", "reach"))
    monkeypatch.setattr(
        ok.Overheard, "laplace", lambda self, scale, shape: laplace(self, scale / (1 + (next(turn) == part)), shape)
    )
    with caught:
        ok.check_price_of_noise(CENTERS)


@pytest.mark.parametrize("times", [0.25, 4.0])
def test_noise_of_the_test_that_is_not_paid_for(times, monkeypatch):
    laplace = StudyNoise.laplace
    monkeypatch.setattr(StudyNoise, "laplace", lambda self, scale, shape: laplace(self, scale * times, shape))
    with caught:
        ok.check_status_rate(CENTERS.test, 60, runs=400)


def test_a_vote_without_amplification_taken_for_one_with_it(monkeypatch):
    # Half of ε for the vote as if every tuple were in the sample: too little; all of ε₁ on the whole table: too much.
    monkeypatch.setattr(dpviz.privacy.tuples.partition_test, "_vote_epsilon", lambda *_: 8.0)
    dpviz.privacy.tuples.partition_test._plan.cache_clear()
    with caught:
        ok.check_plan(PartitionTest(0.5, 2.5e-7, 0.025, 7.0, 1600))
    dpviz.privacy.tuples.partition_test._plan.cache_clear()


def test_a_test_with_too_few_tuples(monkeypatch):
    few = PartitionTest(0.5, 2.5e-7, 0.025, 7.0, 1300)
    asked = Plan(9, 3.6, 2 * 9 / 0.5 * log(9 / (0.025 * 2.5e-7)))
    monkeypatch.setattr(PartitionTest, "plan", property(lambda self: asked))
    with caught:
        ok.check_plan(few)


def test_misfits_that_only_need_some_point_in_each_ball():
    def lenient(one, tuples, far):
        k = len(one)
        gaps = np.linalg.norm(one[:, None] - one, axis=2) + np.diag(np.full(k, np.inf))
        inside = np.linalg.norm(tuples[:, :, None, :] - one, axis=3) <= gaps.min(axis=1) / far
        return int((~inside.any(axis=1).any(axis=1)).sum())

    with caught:
        ok.check_misfits(lenient)


def test_averages_paid_for_one_change_only(monkeypatch):
    average = TupleAverages.average.fget

    def alone(self):
        right = average(self)
        plan = self.test.plan
        return dataclasses.replace(right, epsilon=right.epsilon * (plan.misfits + 1))

    monkeypatch.setattr(TupleAverages, "average", property(alone))
    with caught:
        ok.check_group_budget(AVERAGES)


def test_a_radius_whose_comparisons_each_take_the_whole_share(monkeypatch):
    monkeypatch.setattr(PrivateAverage, "pair_scale", property(lambda self: 4 / self.epsilon))
    with caught:
        ok.check_group_budget(AVERAGES)


def test_points_released_in_the_order_of_a_secret_tuple(monkeypatch):
    monkeypatch.setattr(NoisyTuple, "of", classmethod(lambda cls, centers: cls(centers)))
    with caught:
        ok.check_order(CENTERS)


def test_a_budget_that_is_kept_where_the_answer_is_bottom():
    # Too few tuples for a test: the answer is known beforehand, but what is promised is a charge whatever it is.
    def saving(room, k, params, rng):
        yield CentersStep(title="⊥", centers=np.zeros((k, room.dim)))

    with pytest.raises((AssertionError, IndexError)):
        check_ledger(
            dataclasses.replace(CARDS["k-noisy-centers"], plan=saving, needs_n=False), PUBLIC.table(), **REQUEST
        )


def test_a_second_try_after_bottom():
    card = CARDS["k-noisy-centers"]

    def again(room, k, params, rng):
        for _ in range(2):
            yield from card.plan(room, k, params, rng)

    with pytest.raises(BudgetExceeded):
        run_of(dataclasses.replace(card, plan=again), PUBLIC.table(), **REQUEST)


def test_tuples_as_many_as_there_really_are(monkeypatch):
    # The number of tuples must be public: one that follows the rows changes the noise between neighbours.
    monkeypatch.setattr(TupleSource, "most", property(lambda self: self.room.n))
    monkeypatch.setattr("dpviz.privacy.room.DataRoom.n", property(lambda self: max(1, len(self._rows))))
    with caught:
        for one, other in neighbours(PUBLIC, few=True):
            check_loss(CARDS["k-noisy-centers"], one, other, **REQUEST)


def test_a_price_below_what_is_drawn(monkeypatch):
    whole = Entry.of
    monkeypatch.setattr(
        Entry, "of", lambda *args, **kwargs: dataclasses.replace(whole(*args, **kwargs), epsilon=0.5, amount=0.5)
    )
    with caught:
        check_ledger(CARDS["k-noisy-centers"], PUBLIC.table(), **REQUEST)


def test_residuals_that_are_not_moved_within_their_radius(monkeypatch):
    def unbounded(self, rows, cell):
        factor = np.trunc((rows.values - self.over.centers[cell]) / self.radius * 2**FACTOR_BITS)
        features = np.concatenate([factor, factor**2, factor[:, :1] * factor[:, 1:]], axis=1)
        return features.sum(axis=0)[None]

    monkeypatch.setattr(ResidualMoments, "tally", unbounded)
    domain = regions(2)["box"]
    rooms = (room_over(rows, domain, Relation.ADD_REMOVE) for rows in (np.ones((5, 2)), np.ones((4, 2))))
    with caught:
        check_move(ResidualMoments(Voronoi(np.zeros((1, 2))), 0.1), *rooms)


def test_second_moments_of_two_rows_taken_for_the_worst_of_two_cells(monkeypatch):
    # √4.5 in one cell is more than the 2 of two cells.
    declared = ResidualMoments.sensitivity
    monkeypatch.setattr(
        ResidualMoments,
        "sensitivity",
        lambda self, relation, region: Sensitivity(
            np.inf, 2.0 if relation is Relation.REPLACE else declared(self, relation, region).l2
        ),
    )
    with caught:
        sensitivity_tests.test_some_pair_moves_every_answer_as_far_as_declared(
            ResidualMoments, None, "ball", Relation.REPLACE, 1
        )


@pytest.mark.parametrize("card", ["stable-kmeans", "gaussian-mixture"])
def test_half_the_sensitivity_of_what_measures_the_cells(card, monkeypatch):
    for query in (Count, ResidualMoments):
        whole = query.sensitivity
        for one, other in neighbours(PUBLIC, few=True):
            check_loss(CARDS[card], one, other, **REQUEST)
        monkeypatch.setattr(
            query,
            "sensitivity",
            lambda self, relation, region, whole=whole: dataclasses.replace(
                whole(self, relation, region), l2=whole(self, relation, region).l2 / 2
            ),
        )
        if query is ResidualMoments and card != "gaussian-mixture":
            continue
        with caught:
            for one, other in neighbours(PUBLIC, few=True):
                check_loss(CARDS[card], one, other, **REQUEST)
        monkeypatch.setattr(query, "sensitivity", whole)
