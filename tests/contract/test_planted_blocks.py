"""Known mistakes of sample and aggregate, planted one at a time: the contract must turn red for each."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import dpviz.privacy.quantiles
import tests.contract.test_noise as noise_tests
from dpviz.algorithms.registry import CARDS
from dpviz.privacy.accounting import Accounting, Budget
from dpviz.privacy.block_models import BlockKMeans
from dpviz.privacy.quantiles import Columns, ExponentialQuantile, Medians, Quantiles, SmoothMedian
from dpviz.privacy.queries import Relation, Sum
from dpviz.privacy.room import DataRoom
from dpviz.privacy.sums import BoxSum
from dpviz.table.domain import Region
from dpviz.table.lattice import ROW_BITS
from tests.contract.checks import check_ledger, check_loss, check_replay
from tests.contract.questions import check_move, regions, room_over
from tests.contract.rooms import CoupledBlocks
from tests.contract.tables import PUBLIC, REPLACE, lone_rows, neighbours

GKM, MEDIAN = CARDS["gkm"], CARDS["sample-aggregate"]
ASKED = {"k": 3, "epsilon": 1.0, "delta": 0.0, "params": {}, "seed": 0}
CARDS_AND_PRESETS = [(card, {"preset": preset}) for card in (GKM, MEDIAN) for preset in ("paper", "practical")]
LINE = (np.array([-1.0]), np.array([1.0]))

caught = pytest.raises(AssertionError)


def _lone_losses(card, **request):
    for seed in range(12):
        check_loss(card, *lone_rows(REPLACE), **{**ASKED, "k": 1, "seed": seed, **request})


@pytest.mark.parametrize(("card", "params"), CARDS_AND_PRESETS)
def test_without_a_mistake_all_is_green(card, params):
    for one, other in neighbours(PUBLIC, few=True):
        check_loss(card, one, other, **{**ASKED, "params": params})
    _lone_losses(card, params=params)
    check_replay(card, PUBLIC.table(), **{**ASKED, "params": params})
    check_ledger(card, PUBLIC.table(), **{**ASKED, "params": params})


@pytest.mark.parametrize("relation", Relation)
def test_a_quantile_without_its_half(relation, monkeypatch):
    # As in the code of GUPT: each quantile costs twice its share.
    whole = Quantiles.sensitivity

    def half(self, relation, region):
        declared = whole(self, relation, region)
        return dataclasses.replace(declared, l1=declared.l1 / 2, l2=declared.l2 / 2, range=declared.range / 2)

    monkeypatch.setattr(Quantiles, "sensitivity", half)
    domain = regions(1)["box"]
    crowd, end = np.zeros((6, 1)), np.ones((1, 1))
    tables = (np.r_[crowd, end], np.r_[crowd, -end] if relation is Relation.REPLACE else crowd)
    with caught:
        check_move(Quantiles((0.5,), *LINE), *(room_over(rows, domain, relation) for rows in tables))
    with caught:
        noise_tests.test_quantiles()


def test_gaps_widened_so_that_ties_cannot_hide_them(monkeypatch):
    def widened(self, truth):
        gaps = np.maximum(np.diff(truth.edges, axis=0), 0.02)
        scores = truth.rank_scores(np.arange(len(gaps), dtype=float))
        return np.log(gaps) - scores[:, :, None] / self.scale

    monkeypatch.setattr(ExponentialQuantile, "_log_weights", widened)
    with caught:
        noise_tests.test_quantiles()


def _losses_of_medians(accounting=Accounting.PURE):
    """The loss of one median between tables that differ in one value, over releases all along the line."""
    share = Budget(accounting, 1.0, 1e-6 if accounting is Accounting.BASIC else 0.0)
    sensitivity = Medians(*LINE).sensitivity(Relation.REPLACE, Region(np.ones(1), 1.0))
    mechanism = SmoothMedian.bought(share, sensitivity)
    for ones in range(8):
        values = np.r_[-np.ones(7 - ones), np.zeros(2), np.ones(ones)]
        for new in (-1.0, 1.0):
            other = np.r_[values[:-1], new]
            here, there = (Columns(v[:, None], *LINE, (0.5,)) for v in (values, other))
            for released in np.linspace(-4, 4, 41):
                point = np.array([released])
                assert abs(mechanism.log_density(point, here) - mechanism.log_density(point, there)) <= 1 + 1e-9


def test_noise_by_what_the_table_at_hand_can_move(monkeypatch):
    # Local instead of smooth sensitivity: where no value can move the median there would be no noise.
    _losses_of_medians()
    monkeypatch.setattr(
        dpviz.privacy.quantiles,
        "smooth_sensitivity",
        lambda edges, place, smoothness: float(max(edges[place + 1] - edges[place], edges[place] - edges[place - 1])),
    )
    with caught:
        _losses_of_medians()


@pytest.mark.parametrize("times", [2.0, 10.0])
def test_smooth_noise_too_small(times, monkeypatch):
    whole = SmoothMedian.noise_per_bound.fget
    monkeypatch.setattr(SmoothMedian, "noise_per_bound", property(lambda self: whole(self) / times))
    with caught:
        _losses_of_medians()


def test_a_smooth_bound_in_the_ledger():
    # A scale that follows the rows is refused by the replay on a neighbour: noise that is booked must be public.
    class Telling(SmoothMedian):
        def draw(self, truth, noise):
            object.__setattr__(self, "scale", self.scale * (1 + self._law(truth)[1][0]))
            return super().draw(truth, noise)

    mechanisms = [Telling(1.0, 1.0), Telling(1.0, 1.0)]
    for mechanism, value in zip(mechanisms, (0.0, 1.0), strict=True):
        mechanism.draw(Columns(np.full((9, 1), value), *LINE, (0.5,)), noise_tests.StudyNoise(np.random.default_rng(0)))
    assert mechanisms[0] != mechanisms[1]


@pytest.mark.parametrize(("card", "params"), CARDS_AND_PRESETS)
def test_a_private_number_of_rows_sets_the_number_of_blocks(card, params, monkeypatch):
    monkeypatch.setattr(DataRoom, "n", property(lambda self: max(1, len(self._rows))))
    with caught:
        check_replay(card, PUBLIC.table(), **{**ASKED, "params": params, "epsilon": 10.0})


def test_blocks_dealt_by_place(monkeypatch):
    # A row that comes moves all later rows to other blocks. Before, each block held one row twice, and answered with
    # the anchors; afterwards each holds two different ones.
    monkeypatch.setattr(CoupledBlocks, "_secret_blocks", lambda self, number: np.arange(len(self._rows)) % number)
    eleven = np.column_stack([1 - np.arange(11) / 100, np.ones(11)])
    one, other = PUBLIC.table(np.r_[eleven, eleven]), PUBLIC.table(np.r_[eleven, eleven[:1], eleven])
    with caught:
        for seed in range(20):
            check_loss(GKM, one, other, **{**ASKED, "k": 2, "params": {"preset": "paper"}, "seed": seed})


def test_models_that_look_at_other_blocks(monkeypatch):
    # Centres put in order by the mean of all models: one row then moves many of them.
    fit = BlockKMeans.fit

    def matched_to_each_other(self, rows, block, number):
        lines = fit(self, rows, block, number)
        return lines + lines.sum(axis=0)

    monkeypatch.setattr(BlockKMeans, "fit", matched_to_each_other)
    corner = np.ones((9, 2))
    tables = PUBLIC.table(corner), PUBLIC.table(corner[:0])
    with caught:
        for seed in range(20):
            check_loss(GKM, *tables, **{**ASKED, "k": 1, "seed": seed})


def test_sums_over_blocks_of_half_the_sensitivity(monkeypatch):
    whole = Sum.sensitivity

    def half(self, relation, region):
        declared = whole(self, relation, region)
        return dataclasses.replace(declared, l1=declared.l1 / 2, l2=declared.l2 / 2, block=declared.block / 2)

    monkeypatch.setattr(Sum, "sensitivity", half)
    for params in ({"preset": "paper"}, {"preset": "practical"}):
        with caught:
            _lone_losses(GKM, params=params)


def test_block_values_that_are_not_clipped_to_the_range(monkeypatch):
    def unclipped(self, rows, cell):
        return ((rows.values - self.middle) / self.half).sum(axis=0, keepdims=True) * 2**ROW_BITS

    monkeypatch.setattr(BoxSum, "tally", unclipped)
    rows = (np.full((3, 1), value) for value in (0.0, 1.0))
    one, other = (room_over(values, regions(1)["box"], Relation.ADD_REMOVE) for values in rows)
    with caught:
        check_move(BoxSum(np.array([-0.1]), np.array([0.1])), one, other)
