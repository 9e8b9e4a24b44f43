"""Known mistakes in private genetic search, planted one at a time: the contract must turn red for each."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import dpviz.algorithms.su2016.pgkm
import tests.contract.test_sensitivity as sensitivity_tests
import tests.privacy.test_peeling as peeling_tests
import tests.privacy.test_pool_loss as pool_tests
from dpviz.algorithms.registry import CARDS
from dpviz.check import RequestError
from dpviz.privacy.losses import Loss, PoolLoss
from dpviz.privacy.mechanisms import Exponential, Peeling
from dpviz.privacy.queries import Relation
from dpviz.privacy.room import DataRoom
from tests.contract.checks import check_ledger, check_loss, check_replay, run_of
from tests.contract.tables import BOUGHT, PUBLIC, REPLACE, World, neighbours

caught = pytest.raises(AssertionError)

CARD = CARDS["pgkm"]
PAPER = {"k": 3, "epsilon": 2.0, "delta": 0.0, "params": {"preset": "paper"}, "seed": 0}
PRACTICAL = {**PAPER, "params": {"preset": "practical"}}
CONCENTRATED = {**PAPER, "delta": 1e-6}


@pytest.mark.some(1)
@pytest.mark.parametrize("request_", [PAPER, PRACTICAL, CONCENTRATED], ids=["paper", "practical", "zcdp"])
def test_without_a_mistake_all_is_green(request_):
    for world in (BOUGHT, REPLACE, World("persons", rows_per_person=3)):
        for one, other in neighbours(world, few=True):
            check_loss(CARD, one, other, **request_)
        check_ledger(CARD, world.table(), **request_)
        check_replay(CARD, world.table(), **request_)


@pytest.mark.parametrize("request_", [PAPER, CONCENTRATED], ids=["pure", "zcdp"])
def test_ten_draws_for_the_price_of_one(request_, monkeypatch):
    # The ledger alone would not see it: every single draw is honest.
    monkeypatch.setattr(
        Peeling, "bought", classmethod(lambda cls, share, s, *, draws: cls(Exponential.bought(share, s), draws))
    )
    monkeypatch.setattr(Peeling, "cost", lambda self, accounting: self.once.cost(accounting))
    with caught:
        check_ledger(CARD, PUBLIC.table(), **request_)


def test_draws_with_replacement(monkeypatch):
    def again_and_again(self, truth, noise):
        return np.array([self.once.draw(truth, noise) for _ in range(self.draws)])

    monkeypatch.setattr(Peeling, "draw", again_and_again)
    with pytest.raises((AssertionError, ValueError)):
        peeling_tests.test_every_ordered_pick_comes_with_its_probability(2)


def test_draws_listed_without_their_order(monkeypatch):
    draw = Peeling.draw
    monkeypatch.setattr(Peeling, "draw", lambda self, truth, noise: np.sort(draw(self, truth, noise)))
    with caught:
        peeling_tests.test_every_ordered_pick_comes_with_its_probability(2)


def test_a_spread_that_misses_the_farthest_pair(monkeypatch):
    monkeypatch.setattr(PoolLoss, "spread", property(lambda self: float(np.abs(np.diff(self.sets, axis=0)).mean())))
    with caught:
        for seed in range(5):
            pool_tests.test_no_row_exceeds_it_whatever_centre_is_nearest.hypothesis.inner_test(seed, 3, 2, 1.0)


def test_a_range_short_of_its_factor_of_two(monkeypatch):
    declared = PoolLoss.sensitivity

    def short(self, relation, region):
        found = declared(self, relation, region)
        return dataclasses.replace(found, range=found.range / 2)

    monkeypatch.setattr(PoolLoss, "sensitivity", short)
    with caught:
        pool_tests.test_the_range_is_attained_at_every_spread("ball", 0.1)
    with caught:
        sensitivity_tests.test_some_pair_moves_every_answer_as_far_as_declared(
            PoolLoss, None, "box", Relation.ADD_REMOVE, 1
        )


@pytest.mark.parametrize("kind", [Loss, PoolLoss])
def test_scores_divided_by_the_private_number_of_rows(kind, monkeypatch):
    # The paper's NICV: a row that comes changes every other row's part of the score, and the range with it.
    tally = Loss.tally
    monkeypatch.setattr(Loss, "tally", lambda self, chunk, cell: 400 * tally(self, chunk, cell) / max(1, len(chunk)))
    with caught:
        sensitivity_tests.test_some_pair_moves_every_answer_as_far_as_declared(
            kind, None, "box", Relation.ADD_REMOVE, 1
        )


@pytest.mark.parametrize("request_", [PAPER, PRACTICAL], ids=["paper", "practical"])
def test_mutants_that_leave_the_region_are_refused(request_, monkeypatch):
    for breed in ("crossed_and_mutated", "moved_centers"):
        whole = getattr(dpviz.algorithms.su2016.pgkm, breed)
        monkeypatch.setattr(
            dpviz.algorithms.su2016.pgkm, breed, lambda *args, whole=whole: whole(*args) + 0.9 * np.sign(whole(*args))
        )
    with pytest.raises(RequestError, match="outside the region"):
        run_of(CARD, PUBLIC.table(), **request_)


def test_rounds_by_the_private_number_of_rows(monkeypatch):
    monkeypatch.setattr(DataRoom, "n", property(lambda self: 20_000 * len(self._rows)))
    with pytest.raises((AssertionError, IndexError)):
        check_replay(CARD, PUBLIC.table(), **PRACTICAL)
