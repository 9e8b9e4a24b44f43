"""What a run spends: what it drew, all of the request, never more, and never after the ledger said no."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

from dpviz.algorithms.card import Card
from dpviz.algorithms.registry import CARDS
from dpviz.algorithms.steps import CentersStep
from dpviz.privacy.accounting import Accounting
from dpviz.privacy.ledger import BudgetExceeded, Ledger
from dpviz.privacy.losses import Loss
from dpviz.privacy.mechanisms import Exponential, noise_kind
from dpviz.privacy.noise import StudyNoise
from dpviz.privacy.partitions import CubeTree, Everything, Grid, Voronoi
from dpviz.privacy.queries import Count, SparseCount, Sum
from dpviz.privacy.released import Question
from dpviz.privacy.sparse_mechanisms import NoisyThreshold, SparseLaplace
from tests.contract.checks import check_ledger, run_of
from tests.contract.rooms import RowsTouched, exploding_room, in_room
from tests.contract.tables import BOUGHT, PERSONS, PUBLIC, REPLACE, SETTINGS, WORLDS, World, is_fast, named, small_table

EPSILONS = [0.1, 1.0, 35.0]
# What an account depends on, each setting meets: how n is known, the relation, rows a person. Shapes are dealt in turn.
DECLARED = [BOUGHT, PUBLIC, REPLACE, PERSONS]
IN_A_BALL = [world for world in WORLDS if world.radius and world.dim == 2]
SHAPES = [world for world in WORLDS if world.dim != 2]


def accounts() -> list[tuple[int, World, float]]:
    """Every setting (by its place) in all of these worlds; ε in turn, so that all of them meet in pairs."""
    dealt = []
    for turn in range(len(SETTINGS)):
        hand = [*DECLARED, IN_A_BALL[turn // 3 % len(IN_A_BALL)], SHAPES[turn // 3 % len(SHAPES)]]
        dealt += [(turn, world, EPSILONS[(turn + place) % len(EPSILONS)]) for place, world in enumerate(hand)]
    return dealt


ACCOUNTS = accounts()


def _fast(place: int) -> bool:
    """One account of one setting of each card, another one for its neighbour."""
    turn, of_it = divmod(place, len(ACCOUNTS) // len(SETTINGS))
    return is_fast(turn, 1) and of_it == (turn + turn // 6) % 6


@pytest.mark.parametrize(
    ("card", "params", "delta", "at"),
    [
        pytest.param(*SETTINGS[turn], tuple(at), marks=() if _fast(place) else pytest.mark.slow)
        for place, (turn, *at) in enumerate(ACCOUNTS)
    ],
    ids=named,
)
def test_entries_are_what_was_drawn_and_add_up_to_the_request(card, params, delta, at):
    world, epsilon = at
    check_ledger(card, world.table(), k=3, epsilon=epsilon, delta=delta, params=params, seed=1)


def test_every_setting_meets_what_its_account_depends_on():
    every = range(len(SETTINGS))
    assert {*product(every, DECLARED)} | {*product(every, EPSILONS)} <= {
        (turn, value) for turn, *values in ACCOUNTS for value in values
    }
    assert {*product(WORLDS, EPSILONS)} == {(world, epsilon) for _, world, epsilon in ACCOUNTS}
    fast = [account for place, account in enumerate(ACCOUNTS) if _fast(place)]
    assert {SETTINGS[turn][0].id for turn, _, _ in fast} == {card.id for card, _, _ in SETTINGS}
    assert {*DECLARED, *EPSILONS} <= {value for _, *values in fast for value in values}


def one_mean(room, k, params, rng) -> Iterator[CentersStep]:
    """A plan of one charge, which needs no number of rows: the noisy sum of all of them, k times."""
    noisy_sum = room.release(Sum(Everything()), room.budget, note="all rows").value
    yield CentersStep(title="One sum", centers=room.region.clip(np.repeat(noisy_sum, k, axis=0)))


# No card of the registry is like this, but the next one may be.
ONE_CHARGE = dataclasses.replace(CARDS["dplloyd"], id="one-charge", plan=one_mean, needs_n=False)


def check_refused(card: Card, at: int, **request) -> None:
    """A run whose ledger has nothing left at its charge number ``at`` stops there, and reads no row for it."""
    charge = Ledger.charge
    charged = 0

    def refusing(self: Ledger, *entries):
        nonlocal charged
        charged += 1
        if charged == at:
            self.cap = self.spent
        charge(self, *entries)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Ledger, "charge", refusing)
        with pytest.raises(BudgetExceeded):
            run_of(card, BOUGHT.table(), room=exploding_room(answers_before=at - 1), **request)
    assert charged == at


def charges_of(card: Card, **request) -> int:
    """How many times a run charges its ledger."""
    with pytest.MonkeyPatch.context() as patch:
        charge, calls = Ledger.charge, []
        patch.setattr(Ledger, "charge", lambda self, *entries: (calls.append(entries), charge(self, *entries))[1])
        run_of(card, BOUGHT.table(), **request)
    return len(calls)


@pytest.mark.parametrize(("card", "params", "delta"), [*SETTINGS, (ONE_CHARGE, {}, 0.0)], ids=named)
def test_a_run_of_a_smaller_ledger_stops_before_the_row_that_it_cannot_pay(card, params, delta):
    request = {"k": 3, "epsilon": 1.0, "delta": delta, "params": params, "seed": 3}
    last = charges_of(card, **request)
    for at in sorted({1, min(2, last), last}):
        check_refused(card, at, **request)


def test_a_card_of_one_charge_keeps_the_contract():
    request = {"k": 3, "delta": 0.0, "params": {}, "seed": 1}
    assert charges_of(ONE_CHARGE, epsilon=1.0, **request) == 1
    for world, epsilon in product(WORLDS, EPSILONS):
        check_ledger(ONE_CHARGE, world.table(), epsilon=epsilon, **request)


def test_a_plan_that_reads_a_row_after_the_last_charge_it_can_pay_is_caught():
    def helping_itself(room, k, params, rng):
        try:
            yield from one_mean(room, k, params, rng)
        except BudgetExceeded:
            room._true_answers([Sum(Everything())])
            raise

    with pytest.raises(RowsTouched):
        check_refused(
            dataclasses.replace(ONE_CHARGE, plan=helping_itself), 1, k=3, epsilon=1.0, delta=0.0, params={}, seed=3
        )


_AXES = Voronoi(np.array([[0.5, 0.5], [-0.5, -0.5]]))
_TREE = CubeTree(np.full(2, -1.0), 2.0)
DOORS = {
    "release": lambda room, share: room.release(Count(_AXES), share, note="x"),
    "release sums": lambda room, share: room.release(Sum(_AXES), share, note="x"),
    "spherical": lambda room, share: room.release(Sum(_AXES), share, note="x", spherical=True),
    "ask_together": lambda room, share: room.ask_together(
        Question(Count(_AXES), noise_kind(share.accounting), share),
        Question(Sum(_AXES), noise_kind(share.accounting), share),
        note="x",
    ),
    "cut": lambda room, share: room.ask(
        SparseCount(Grid.over(room.region, 4)), SparseLaplace, share, note="x", cutoff_in_scales=2
    ),
    "select": lambda room, share: room.ask(Loss(np.zeros((2, 1, 2))), Exponential, share, note="x"),
    "activate": lambda room, share: room.ask(SparseCount(_TREE), NoisyThreshold, share, note="x", threshold=3.0),
    "buy_n": lambda room, share: room.buy_n(share),
}


def _opened(room, accounting=Accounting.PURE):
    return in_room(small_table(n_public=400), room).open(
        epsilon=1.0, delta=1e-6, accounting=accounting, noise=StudyNoise(np.random.default_rng(0))
    )


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("accounting", [Accounting.PURE, Accounting.ZCDP], ids=lambda a: a.value)
def test_every_door_asks_the_ledger_before_it_touches_a_row(door, accounting):
    room = _opened(exploding_room(), accounting)
    with pytest.raises(RowsTouched):  # the room does explode when the share can be paid
        DOORS[door](room, room.budget.fraction(0.5))
    assert len(room.ledger.entries) >= 1
    room = _opened(exploding_room(), accounting)
    with pytest.raises(BudgetExceeded, match="is left"):
        DOORS[door](room, room.budget.fraction(1.0001))
    assert room.ledger.entries == []


@pytest.mark.parametrize("door", DOORS)
def test_every_door_draws_on_one_ledger(door):
    room = _opened(None)
    DOORS[door](room, room.budget.fraction(0.5))
    before = len(room.ledger.entries)
    with pytest.raises(BudgetExceeded):
        DOORS[door](room.project(np.eye(2), room.region), room.ledger.budget.fraction(0.51))
    assert len(room.ledger.entries) == before


def test_what_cannot_be_a_price_is_refused():
    for amount in (0.0, -0.5, float("nan")):
        room = _opened(exploding_room())
        share = type(room.budget)(Accounting.PURE, amount)
        with pytest.raises((BudgetExceeded, ZeroDivisionError)):
            room.release(Count(Everything()), share, note="x")
        assert room.ledger.entries == []
