"""Known mistakes in the baselines, planted one at a time: the contract must turn red for each."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from dpviz.algorithms.registry import CARDS
from dpviz.privacy.mechanisms import Gaussian
from dpviz.privacy.queries import Sum
from dpviz.privacy.room import DataRoom
from dpviz.table.domain import Region
from tests.contract.checks import check_centers, check_ledger, check_loss, check_replay, run_of
from tests.contract.tables import BOUGHT, PUBLIC, REPLACE, neighbours

caught = pytest.raises(AssertionError)

SULQ = CARDS["sulq"]
PAPER = {"k": 3, "epsilon": 1.0, "delta": 1e-6, "params": {"preset": "paper"}, "seed": 0}
TUNED = {**PAPER, "params": {"preset": "tuned"}}


def losses(card, world, **request) -> None:
    """The loss replay over the neighbours of a world."""
    for one, other in neighbours(world, few=True):
        check_loss(card, one, other, **request)


@pytest.mark.slow
@pytest.mark.parametrize("request_", [PAPER, TUNED], ids=["paper", "tuned"])
def test_sulq_without_a_mistake_is_green(request_):
    for world in (BOUGHT, PUBLIC, REPLACE):
        losses(SULQ, world, **request_)
        check_ledger(SULQ, world.table(), **request_)
        check_replay(SULQ, world.table(), **request_)


def test_sulq_with_sums_noised_for_one_coordinate(monkeypatch):
    declared = Sum.sensitivity
    monkeypatch.setattr(
        Sum, "sensitivity", lambda self, relation, region: dataclasses.replace(declared(self, relation, region), l2=1.0)
    )
    with caught:
        losses(SULQ, PUBLIC, **PAPER)


def test_sulq_with_rounds_booked_at_half_their_price(monkeypatch):
    cost = Gaussian.cost
    monkeypatch.setattr(Gaussian, "cost", lambda self, accounting: cost(self, accounting) / 2)
    with caught:
        check_ledger(SULQ, PUBLIC.table(), **PAPER)


def test_sulq_with_rounds_by_the_private_number_of_rows(monkeypatch):
    monkeypatch.setattr(DataRoom, "n", property(lambda self: max(1, len(self._rows))))
    with caught:
        check_replay(SULQ, PUBLIC.table(), **{**TUNED, "k": 1, "epsilon": 10.0})


def test_sulq_whose_means_are_not_moved_into_the_region(monkeypatch):
    monkeypatch.setattr(Region, "clip", lambda self, points: np.asarray(points))
    with caught:
        for seed in range(20):
            check_centers(run_of(SULQ, PUBLIC.table(), **{**PAPER, "epsilon": 0.2, "seed": seed}), 3)
