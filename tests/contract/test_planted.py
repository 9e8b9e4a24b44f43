"""Known mistakes, planted one at a time: the contract must turn red for each.

A guard that cannot fail guards nothing. Every test here breaks the package on purpose and asserts that the very checks
of the other contract tests raise.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from math import sqrt

import numpy as np
import pytest
from scipy import stats

import dpviz.privacy.partitions
import dpviz.table.rows
import tests.contract.test_invariance as invariance_tests
import tests.contract.test_noise as noise_tests
import tests.contract.test_sensitivity as sensitivity_tests
from dpviz.algorithms.registry import CARDS
from dpviz.algorithms.steps import CentersStep
from dpviz.privacy.accounting import Accounting, Budget
from dpviz.privacy.ledger import Ledger
from dpviz.privacy.losses import Loss, SwapLoss
from dpviz.privacy.mechanisms import Exponential, Laplace
from dpviz.privacy.noise import StudyNoise
from dpviz.privacy.queries import Count, Relation, Sensitivity, SparseCounts, Sum
from dpviz.privacy.room import DataRoom
from dpviz.privacy.sparse_mechanisms import NoisyThreshold, SparseLaplace, absent_codes
from dpviz.table import lattice
from dpviz.table.domain import Region
from dpviz.table.lattice import inward
from tests.contract.checks import check_ledger, check_loss, check_replay
from tests.contract.questions import check_move, regions, room_over
from tests.contract.tables import BOUGHT, PUBLIC, REPLACE, World, neighbours

BALL = World("ball in nine columns", dim=9, radius=1.0, n_public=400)
PERSONS = World("persons", rows_per_person=3)
CARD = CARDS["dplloyd"]
SU = {"k": 3, "epsilon": 1.0, "delta": 0.0, "params": {"preset": "su"}, "seed": 0}
TUNED = {**SU, "params": {"preset": "tuned"}}
GAUSSIAN = {**SU, "delta": 1e-6, "params": {"preset": "gaussian"}}

caught = pytest.raises(AssertionError)


def losses(world, *, seeds: int = 4, **request) -> None:
    """The loss replay over the neighbours of a world, with some draws of the noise: a mistake shows in one of them."""
    for seed in range(seeds):
        for one, other in neighbours(world, few=True):
            check_loss(CARD, one, other, **{**request, "seed": seed})


@pytest.mark.some(5)
@pytest.mark.parametrize("request_", [SU, TUNED, GAUSSIAN], ids=["su", "tuned", "gaussian"])
@pytest.mark.parametrize("world", [BOUGHT, PUBLIC, REPLACE, BALL, PERSONS], ids=str)
def test_without_a_mistake_all_is_green(world, request_):
    losses(world, seeds=1, **request_)
    check_replay(CARD, world.table(), **request_)
    check_ledger(CARD, world.table(), **request_)


@pytest.mark.parametrize("query", [Count, Sum])
@pytest.mark.parametrize("request_", [SU, TUNED, GAUSSIAN], ids=["su", "tuned", "gaussian"])
def test_half_the_sensitivity(query, request_, monkeypatch):
    whole = query.sensitivity

    def half(self, relation, region):
        declared = whole(self, relation, region)
        return Sensitivity(declared.l1 / 2, declared.l2 / 2, declared.block / 2, declared.range)

    monkeypatch.setattr(query, "sensitivity", half)
    with caught:
        losses(PUBLIC, **request_)


@pytest.mark.parametrize("query", [Count, Sum])
@pytest.mark.parametrize("request_", [SU, TUNED, GAUSSIAN], ids=["su", "tuned", "gaussian"])
def test_replace_counted_as_add_remove(query, request_, monkeypatch):
    declared = query.sensitivity
    monkeypatch.setattr(query, "sensitivity", lambda self, relation, r: declared(self, Relation.ADD_REMOVE, r))
    with caught:
        losses(World("line, replace", dim=1, relation=Relation.REPLACE), **request_)


@pytest.mark.parametrize("request_", [SU, TUNED, GAUSSIAN], ids=["su", "tuned", "gaussian"])
def test_a_person_counted_as_a_row(request_, monkeypatch):
    monkeypatch.setattr(Sensitivity, "times", lambda self, rows_per_person: self)
    with caught:
        losses(PERSONS, **request_)


def test_all_rows_of_a_person_kept(monkeypatch):
    monkeypatch.setattr(dpviz.table.rows, "keep_rows_per_person", lambda values, persons, most: np.arange(len(values)))
    with caught:
        losses(PERSONS, **SU)


def test_sums_of_a_ball_short_of_root_d(monkeypatch):
    # The printed recovery noise of Balcan et al.: an l1 mechanism calibrated to an l2 radius.
    monkeypatch.setattr(Region, "l1_radius", property(lambda self: self.radius))
    with caught:
        losses(BALL, **SU)
    with caught:
        sensitivity_tests.test_some_pair_moves_every_answer_as_far_as_declared(
            Sum, dpviz.privacy.partitions.Everything, "ball", Relation.ADD_REMOVE, 1
        )


def test_sums_of_a_box_calibrated_to_one_coordinate(monkeypatch):
    declared = Sum.sensitivity

    def one_coordinate(self, relation, region):
        return dataclasses.replace(declared(self, relation, region), l1=1.0, l2=1.0, block=1.0)

    monkeypatch.setattr(Sum, "sensitivity", one_coordinate)
    for request in (SU, TUNED, GAUSSIAN):
        with caught:
            losses(World("six columns", dim=6, n_public=400), **request)


def test_the_noise_of_sums_and_counts_exchanged(monkeypatch):
    # A tuple unpacked in the wrong order: each question is drawn with, and booked as, the other one's noise.
    answer = DataRoom._answer

    def exchanged(self, bought, *, note):
        queries, mechanisms = zip(*bought, strict=True)
        return answer(self, list(zip(queries, mechanisms[::-1], strict=True)), note=note)

    monkeypatch.setattr(DataRoom, "_answer", exchanged)
    with caught:
        losses(World("six columns", dim=6, n_public=400), **SU)
    with caught:
        losses(World("six columns", dim=6, n_public=400), **GAUSSIAN)


def test_a_share_booked_at_half_its_price(monkeypatch):
    monkeypatch.setattr(Laplace, "cost", lambda self, accounting: self.sensitivity / self.scale / 2)
    with caught:
        check_ledger(CARD, PUBLIC.table(), **SU)
    with caught:
        noise_tests.test_release(Accounting.PURE, stats.laplace, Relation.ADD_REMOVE)


def test_rounds_that_each_spend_the_whole_budget(monkeypatch):
    monkeypatch.setattr(Budget, "rounds", lambda self, number, weights=None: [self] * number)
    with pytest.raises(ValueError, match="is left"):  # the ledger itself refuses
        check_ledger(CARD, PUBLIC.table(), **SU)


def test_a_release_that_nobody_books(monkeypatch):
    charge = Ledger.charge
    monkeypatch.setattr(Ledger, "charge", lambda self, *entries: charge(self, *entries[:1]))
    with caught:
        check_ledger(CARD, PUBLIC.table(), **SU)


@pytest.mark.parametrize("mistake", ["half the noise", "one noise for all cells", "no noise on empty cells"])
def test_noise_that_is_not_the_ledgers(mistake, monkeypatch):
    laplace, draw = StudyNoise.laplace, Laplace.draw
    if mistake == "half the noise":
        monkeypatch.setattr(StudyNoise, "laplace", lambda self, scale, shape: laplace(self, scale / 2, shape))
    elif mistake == "one noise for all cells":
        monkeypatch.setattr(
            StudyNoise, "laplace", lambda self, scale, shape: np.broadcast_to(laplace(self, scale, ()), shape)
        )
    else:
        monkeypatch.setattr(
            Laplace, "draw", lambda self, truth, noise: np.where(truth != 0, draw(self, truth, noise), truth)
        )
    with caught:
        noise_tests.test_counts_and_sums_in_one_pass(Accounting.PURE, stats.laplace)


def test_noise_that_depends_on_rows(monkeypatch):
    bought = DataRoom.mechanism

    def local(self, query, kind, share, **options):
        mechanism = bought(self, query, kind, share, **options)
        return dataclasses.replace(mechanism, scale=mechanism.scale * (1 + 1e-6 * len(self._rows)))

    monkeypatch.setattr(DataRoom, "mechanism", local)
    with caught:
        losses(PUBLIC, **SU)


def test_the_range_of_a_selection_halved(monkeypatch):
    def halved(self, relation, region):
        return Sensitivity(np.inf, np.inf, range=region.diameter**2 / (2 if relation is Relation.ADD_REMOVE else 1))

    far = np.ones((1, 3))
    for query in (SwapLoss(far, np.r_[far, -far]), Loss(np.stack([far, -far]))):
        monkeypatch.setattr(type(query), "sensitivity", halved)
        domain = regions(3)["box"]
        crowd = np.zeros((4, 3))
        with caught:
            rooms = (room_over(rows, domain, Relation.ADD_REMOVE) for rows in (np.r_[crowd, far], crowd))
            check_move(query, *rooms)
        with caught:
            rooms = (room_over(np.r_[crowd, row], domain, Relation.REPLACE) for row in (far, -far))
            check_move(query, *rooms)


def test_a_selection_sharper_than_paid(monkeypatch):
    weights = Exponential._log_weights
    monkeypatch.setattr(Exponential, "_log_weights", lambda self, truth: 2 * weights(self, truth))
    with caught:
        noise_tests.test_select("Loss", Accounting.PURE, False)


def test_empty_cubes_left_out(monkeypatch):
    # As in the authors' code: a lone row then makes an otherwise impossible output possible.
    def skipping(self, truth, noise):
        awake = noise.exponential(1.0, truth.values.shape) > -self.log_active(truth.values)
        return truth.codes[awake]

    monkeypatch.setattr(NoisyThreshold, "draw", skipping)
    with caught:
        noise_tests.test_activate(Accounting.PURE, stats.laplace)
    with caught:
        noise_tests.test_empty_cubes_wake_up_one_by_one_in_a_huge_universe()


def test_cubes_listed_in_order_of_discovery(monkeypatch):
    def unsorted(self, truth, noise):
        awake = noise.exponential(1.0, truth.values.shape) > -self.log_active(truth.values)
        spurious = noise.binomial(truth.universe - len(truth.codes), float(np.exp(self.log_active(np.zeros(1))[0])))
        return np.r_[truth.codes[awake], absent_codes(truth, spurious, noise)]

    monkeypatch.setattr(NoisyThreshold, "draw", unsorted)
    with caught:
        noise_tests.test_activate(Accounting.PURE, stats.laplace)


@pytest.mark.parametrize(
    "mistake", ["empty cells left out", "order of discovery", "noise beyond the cut only positive"]
)
def test_a_sparse_histogram_that_gives_rows_away(mistake, monkeypatch):
    draw = SparseLaplace.draw

    def wrong(self, truth, noise):
        right = draw(self, truth, noise)
        empty = truth.at(right.codes) == 0
        if mistake == "empty cells left out":
            return SparseCounts(right.codes[~empty], right.values[~empty], right.universe)
        if mistake == "order of discovery":
            order = np.argsort(empty, kind="stable")
            return SparseCounts(right.codes[order], right.values[order], right.universe)
        return SparseCounts(right.codes, np.where(empty, np.abs(right.values), right.values), right.universe)

    monkeypatch.setattr(SparseLaplace, "draw", wrong)
    with pytest.raises((AssertionError, ValueError)):
        noise_tests.test_release_sparse(Accounting.PURE)


def test_a_private_number_of_rows_used_unpaid(monkeypatch):
    monkeypatch.setattr(DataRoom, "n", property(lambda self: max(1, len(self._rows))))
    with caught:
        check_replay(CARD, PUBLIC.table(), **{**TUNED, "k": 1, "epsilon": 10.0})
    with caught:
        check_replay(CARD, PUBLIC.table(), **{**GAUSSIAN, "k": 1, "epsilon": 10.0})


def test_an_unpaid_look_at_rows():
    def peeking(room, k, params, rng) -> Iterator[CentersStep]:
        for step in CARD.plan(room, k, params, rng):
            yield dataclasses.replace(step, centers=step.centers + 1e-9 * len(room._rows))

    with caught:
        check_replay(dataclasses.replace(CARD, plan=peeking), PUBLIC.table(), **SU)


def test_true_answers_passed_on(monkeypatch):
    monkeypatch.setattr(DataRoom, "_draw", lambda self, mechanism, truth: truth)
    with caught:
        noise_tests.test_counts_and_sums_in_one_pass(Accounting.PURE, stats.laplace)
    with caught:
        noise_tests.test_release(Accounting.GDP, stats.norm, Relation.ADD_REMOVE)


def test_rows_that_are_not_clipped(monkeypatch):
    monkeypatch.setattr(Region, "rows", lambda self, values: inward(np.clip(values, -self.half, self.half), 20))
    with caught:
        losses(World("ball", radius=0.8, n_public=400), **SU)


def off_the_lattice(monkeypatch):
    """Rows and points as they come, so that products and sums of them are rounded by place."""
    monkeypatch.setattr(Region, "rows", Region.clip)
    monkeypatch.setattr(lattice, "points", lambda values: np.asarray(values, dtype=float))
    monkeypatch.setattr(lattice, "mark_bits", lambda centers, radius, bits: None)


@pytest.mark.parametrize("question", ["Sum over Voronoi", "Sum over Projected", "ResidualSum over Voronoi"])
def test_rows_and_points_off_their_lattice(question, monkeypatch):
    off_the_lattice(monkeypatch)
    with caught:
        for seed in range(60):
            invariance_tests.test_the_bytes_of_every_true_answer.hypothesis.inner_test(question, seed, 5, 150)


@pytest.mark.parametrize("question", ["ResidualSum over Voronoi", "Pull over Voronoi"])
def test_shortened_rows_that_are_not_rounded_again(question, monkeypatch):
    monkeypatch.setattr(dpviz.privacy.sums.lattice, "inward", lambda values, bits: np.asarray(values))
    monkeypatch.setattr(dpviz.privacy.sums.lattice, "whole", lambda values, bits: values * 2.0**bits)
    with caught:
        for seed in range(60):
            invariance_tests.test_the_bytes_of_every_true_answer.hypothesis.inner_test(question, seed, 3, 150)


@pytest.mark.parametrize("question", ["Loss", "SwapLoss", "SwapLoss of distances"])
def test_losses_that_are_added_before_they_are_rounded(question, monkeypatch):
    monkeypatch.setattr(np, "floor", lambda values, out=None: values)
    monkeypatch.setattr(np, "ceil", lambda values, out=None: values)
    with caught:
        for seed in range(60):
            invariance_tests.test_the_bytes_of_every_true_answer.hypothesis.inner_test(question, seed, 3, 150)


def test_gaussian_noise_short_of_root_two_under_replace(monkeypatch):
    declared = Count.sensitivity

    def short(self, relation, region):
        return dataclasses.replace(declared(self, relation, region), l2=sqrt(1.0))

    monkeypatch.setattr(Count, "sensitivity", short)
    with caught:
        losses(REPLACE, **GAUSSIAN)
