"""Known mistakes in noisy D² seeding, planted one at a time: the contract must turn red for each."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import dpviz.algorithms.baselines.kvariates
import dpviz.privacy.kernel_draw
import tests.privacy.test_kernel_draw as draw_tests
from dpviz.algorithms.registry import CARDS
from dpviz.check import RequestError
from dpviz.privacy.accounting import Accounting, Budget
from dpviz.privacy.kernel_draw import DistanceWeights, KernelDraw, WeightSensitivity
from dpviz.privacy.noise import StudyNoise
from dpviz.privacy.queries import Relation
from dpviz.privacy.room import DataRoom
from dpviz.table.domain import Region
from tests.contract.checks import check_ledger, check_loss, check_replay, run_of
from tests.contract.rooms import exploding_room, in_room
from tests.contract.tables import BOUGHT, PUBLIC, REPLACE, World, neighbours

caught = pytest.raises(AssertionError)

ORIGIN = np.zeros((1, 2))

CARD = CARDS["kvariates"]
LOCAL = {"k": 3, "epsilon": 2.0, "delta": 0.0, "params": {"preset": "local"}, "seed": 0}
CAPPED = {**LOCAL, "params": {"preset": "capped"}}


@pytest.mark.parametrize("request_", [LOCAL, CAPPED], ids=["local", "capped"])
def test_without_a_mistake_all_is_green(request_):
    for world in (BOUGHT, REPLACE, World("persons", rows_per_person=3)):
        for one, other in neighbours(world, few=True):
            check_loss(CARD, one, other, **request_)
        check_ledger(CARD, world.table(), **request_)
        check_replay(CARD, world.table(), **request_)


def test_half_the_noise(monkeypatch):
    whole = StudyNoise.spherical
    monkeypatch.setattr(StudyNoise, "spherical", lambda self, scale, shape: whole(self, scale / 2, shape))
    with caught:
        draw_tests.test_the_density_is_that_of_the_sampler([0.3], 0.0)


def test_rows_drawn_by_their_place_in_the_table(monkeypatch):
    monkeypatch.setattr(
        dpviz.privacy.kernel_draw,
        "_row_at",
        lambda truth, weights, where: int(np.searchsorted(np.cumsum(weights), where * weights.sum(), side="right")),
    )
    with caught:
        draw_tests.test_rows_are_drawn_by_weight_wherever_they_stand(2)


@pytest.mark.slow
def test_the_public_part_never_drawn(monkeypatch):
    # Noise for a row among others, and no others to be among.
    draw = KernelDraw.draw
    monkeypatch.setattr(
        KernelDraw, "draw", lambda self, truth, noise: draw(dataclasses.replace(self, public_weight=0.0), truth, noise)
    )
    with caught:
        draw_tests.test_the_density_is_that_of_the_sampler([0.3], 2.0)


def test_noise_by_the_weight_that_rows_really_have(monkeypatch):
    # The spread constants of the paper's theorem: how far this table's rows are apart, not how far any could be.
    bought = KernelDraw.bought

    def by_spread(share, sensitivity, **options):
        return bought(share, dataclasses.replace(sensitivity, apart=sensitivity.apart / 4), **options)

    monkeypatch.setattr(KernelDraw, "bought", staticmethod(by_spread))
    with caught:
        draw_tests.test_no_person_more_or_less_shows_by_more_than_was_paid(3.0, 0.0)


def test_a_replaced_row_paid_as_an_added_one(monkeypatch):
    declared = DistanceWeights.sensitivity
    monkeypatch.setattr(
        DistanceWeights, "sensitivity", lambda self, relation, r: declared(self, Relation.ADD_REMOVE, r)
    )
    with caught:
        draw_tests.test_weights_of_an_exchange()


def test_a_person_counted_as_a_row(monkeypatch):
    monkeypatch.setattr(WeightSensitivity, "times", lambda self, rows_per_person: self)
    with caught:
        draw_tests.check_share(1.0, Relation.ADD_REMOVE, 40.0, 5)


def test_draws_that_are_not_divided_among_seeds(monkeypatch):
    monkeypatch.setattr(Budget, "rounds", lambda self, number, weights=None: [self] * number)
    with pytest.raises(RequestError, match="is left"):
        run_of(CARD, PUBLIC.table(), **LOCAL)


def test_seeds_that_are_not_moved_into_the_region_are_refused(monkeypatch):
    clip = Region.clip
    wide = Region(np.full(2, 50.0), 100.0)

    def clips_later(self, points):
        return clip(wide, points) if np.shape(points) == (2,) else clip(self, points)

    monkeypatch.setattr(Region, "clip", clips_later)
    with pytest.raises(RequestError, match="outside the region"):
        run_of(CARD, PUBLIC.table(), **LOCAL)


@pytest.mark.parametrize("request_", [LOCAL, CAPPED], ids=["local", "capped"])
def test_public_points_outside_the_region_are_refused(request_, monkeypatch):
    honest = dpviz.algorithms.baselines.kvariates.random_points
    monkeypatch.setattr(dpviz.algorithms.baselines.kvariates, "random_points", lambda *asked: 1.01 * honest(*asked))
    with pytest.raises(RequestError, match="outside the region"):
        run_of(CARD, PUBLIC.table(), room=exploding_room(), **request_)


def test_the_room_refuses_points_of_a_mechanism_before_it_charges():
    noise = StudyNoise(np.random.default_rng(0))
    table = in_room(PUBLIC.table(), exploding_room())
    room = table.open(epsilon=1.0, delta=0.0, accounting=Accounting.PURE, noise=noise)
    question = DistanceWeights(np.zeros((1, 2)))
    for beyond in (np.array([[1.0, 1.1]]), np.array([[np.nan, 0.0]]), np.array([[0.0, 0.0], [-np.inf, 0.0]])):
        with pytest.raises(RequestError, match="outside the region"):
            room.ask(question, KernelDraw, room.budget, note="x", public_points=beyond, public_weight=1.0)
    for weight, points in ((-0.5, ORIGIN), (np.inf, ORIGIN), (np.nan, ORIGIN), (1.0, ORIGIN[:0])):
        with pytest.raises(RequestError, match="public part"):
            room.ask(question, KernelDraw, room.budget, note="x", public_points=points, public_weight=weight)
    assert room.ledger.entries == []


def test_points_outside_the_region_would_lose_more_than_is_paid():
    for place, refused in ((1.0, False), (5.0, True)):
        draw = dataclasses.replace(draw_tests.bought(1.0, floor=2.0), points=np.array([[place]]))
        most = draw_tests.worst(draw, draw_tests.weighed([1.0], -1.0), draw_tests.weighed([], -1.0))
        assert (most > 1.0) == refused


def test_a_floor_by_the_private_number_of_rows(monkeypatch):
    monkeypatch.setattr(DataRoom, "n", property(lambda self: max(1, len(self._rows))))
    with caught:
        for one, other in neighbours(World("p", n_public=60), few=True):
            check_loss(CARD, one, other, **CAPPED)


def test_a_step_that_shows_the_drawn_row(monkeypatch):
    monkeypatch.setattr(StudyNoise, "spherical", lambda self, scale, shape: np.zeros(shape))
    with caught:
        draw_tests.test_the_density_is_that_of_the_sampler([0.3], 0.0)
