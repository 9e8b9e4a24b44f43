"""Nothing is spent after the ledger said no, and no row is read for it. What a run books is in test_replay."""

import dataclasses
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

from dpviz.algorithms.card import Card, always
from dpviz.algorithms.registry import CARDS, list_private_cards
from dpviz.algorithms.steps import CentersStep
from dpviz.core import mechanisms
from dpviz.core.accounting import Accounting, DrawList, NoiseDraws, NotAnnounced
from dpviz.core.check import RequestError
from dpviz.core.ledger import BudgetExceeded, Ledger
from dpviz.core.losses import Loss
from dpviz.core.partitions import CubeTree, Everything, Grid, Voronoi
from dpviz.core.queries import Count, SparseCount, Sum
from dpviz.runs.audits.contract import run_card
from tests.cases import about
from tests.contract import tables
from tests.contract.sessions import RowsTouched, exploding_session, open_seeded


def one_mean(session, k, params, rng) -> Iterator[CentersStep]:
    """A plan of one charge, which needs no number of rows: the noisy sum of all of them, k times."""
    noisy_sum = session.release(Sum(Everything()), session.budget, note="all rows").value
    yield CentersStep(title="One sum", centers=session.region.clip(np.repeat(noisy_sum, k, axis=0)))


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
            run_card(card, tables.BOUGHT.table(), session=exploding_session(answers_before=at - 1), **request)
    assert charged == at


def charges_of(card: Card, **request) -> int:
    """How many times a run charges its ledger."""
    with pytest.MonkeyPatch.context() as patch:
        charge, calls = Ledger.charge, []
        patch.setattr(Ledger, "charge", lambda self, *entries: (calls.append(entries), charge(self, *entries))[1])
        run_card(card, tables.BOUGHT.table(), **request)
    return len(calls)


@pytest.mark.parametrize(("card", "params", "delta"), [*tables.in_turn(0), (ONE_CHARGE, {}, 0.0)], ids=tables.named)
def test_a_run_of_a_smaller_ledger_stops_before_the_row_that_it_cannot_pay(card, params, delta):
    request = {"k": 3, "epsilon": 1.0, "delta": delta, "params": params, "seed": 3}
    last = charges_of(card, **request)
    for at in sorted({1, min(2, last), last}):
        check_refused(card, at, **request)


def test_a_plan_that_reads_a_row_after_the_last_charge_it_can_pay_is_caught():
    def helping_itself(session, k, params, rng):
        try:
            yield from one_mean(session, k, params, rng)
        except BudgetExceeded:
            session._compute_true_answers([Sum(Everything())])
            raise

    with pytest.raises(RowsTouched):
        check_refused(
            dataclasses.replace(ONE_CHARGE, plan=helping_itself), 1, k=3, epsilon=1.0, delta=0.0, params={}, seed=3
        )


COMPOSED = [one for one in tables.SETTINGS if one[0].accounting(one[0].params.parse(one[1]), one[2]) is Accounting.PLD]


def announced_by(card: Card, table, **request) -> list[DrawList]:
    """The lists of draws that a run fixes, each before anything was drawn."""
    with pytest.MonkeyPatch.context() as patch:
        announce, lists = Ledger.announce, []

        def noted(self: Ledger, *planned, **more):
            announce(self, *planned, **more)
            assert self.entries == []
            lists.append(self.announced)

        patch.setattr(Ledger, "announce", noted)
        run_card(card, table, **request)
    return lists


def test_under_loss_distributions_every_card_fixes_one_list_of_draws_whatever_is_answered():
    assert {card.id for card, _, _ in COMPOSED} == {card.id for card in list_private_cards() if card.draws is not None}
    for (card, params, delta), case in product(
        COMPOSED, (tables.BOUGHT, tables.PUBLIC, tables.REPLACE, tables.PERSONS)
    ):
        with about(card.id, params, case):
            request = {"k": 3, "epsilon": 1.0, "delta": delta, "params": params}
            (one,) = announced_by(card, case.table(tables.make_blobs(400, case.dim)), seed=1, **request)
            (other,) = announced_by(
                card, case.table(tables.make_blobs(400, case.dim, seed=9)[::-1] ** 2), seed=2, **request
            )
            assert one == other


def test_a_plug_in_that_chooses_the_kind_of_noise_after_an_answer_is_refused_and_reads_no_row():
    def choosing(session, k, params, rng):
        counts, sums = NoiseDraws(True, 4.0), NoiseDraws(True, 1.0)
        share = session.calibrate(counts=counts, sums=sums)
        found = session.ask(Count(Everything()), mechanisms.Gaussian, share.counts, note="how many")
        kind = mechanisms.Laplace if found.value[0] > 0 else mechanisms.Gaussian
        noisy_sum = session.ask(Sum(Everything()), kind, share.sums.fraction(0.01), note="all rows").value
        yield CentersStep(title="One sum", centers=session.region.clip(np.repeat(noisy_sum, k, axis=0)))

    card = dataclasses.replace(ONE_CHARGE, plan=choosing, accounting=always(Accounting.PLD))
    request = {"k": 3, "epsilon": 1.0, "delta": 1e-6, "params": {}, "seed": 3}
    with pytest.raises(NotAnnounced, match="'all rows' draws Laplace noise"):
        run_card(card, tables.PUBLIC.table(), session=exploding_session(answers_before=1), **request)
    # Nor is anything read for a card that needs a number of rows, and lists no draws.
    with pytest.raises(RequestError, match="announced before the first answer"):
        run_card(dataclasses.replace(card, needs_n=True), tables.BOUGHT.table(), session=exploding_session(), **request)


_AXES = Voronoi(np.array([[0.5, 0.5], [-0.5, -0.5]]))
_TREE = CubeTree(np.full(2, -1.0), 2.0)
DOORS = {
    "release": lambda session, share: session.release(Count(_AXES), share, note="x"),
    "release sums": lambda session, share: session.release(Sum(_AXES), share, note="x"),
    "spherical": lambda session, share: session.release(Sum(_AXES), share, note="x", spherical=True),
    "ask_together": lambda session, share: session.ask_together(
        mechanisms.Question(Count(_AXES), mechanisms.choose_noise_kind(share.accounting), share),
        mechanisms.Question(Sum(_AXES), mechanisms.choose_noise_kind(share.accounting), share),
        note="x",
    ),
    "cut": lambda session, share: session.ask(
        SparseCount(Grid.over(session.region, 4)), mechanisms.SparseLaplace, share, note="x", cutoff_in_scales=2
    ),
    "select": lambda session, share: session.ask(Loss(np.zeros((2, 1, 2))), mechanisms.Exponential, share, note="x"),
    "activate": lambda session, share: session.ask(
        SparseCount(_TREE), mechanisms.NoisyThreshold, share, note="x", threshold=3.0
    ),
    "buy_n": lambda session, share: session.buy_n(share),
}


def _opened(session, accounting=Accounting.PURE):
    return open_seeded(tables.make_small_table(n_public=400), accounting, delta=1e-6, kind=session)


def test_every_door_asks_the_ledger_before_it_touches_a_row():
    for (name, door), accounting in product(DOORS.items(), (Accounting.PURE, Accounting.ZCDP)):
        with about(name, accounting.value):
            session = _opened(exploding_session(), accounting)
            with pytest.raises(RowsTouched):  # the session does explode when the share can be paid
                door(session, session.budget.fraction(0.5))
            assert len(session.ledger.entries) >= 1
            session = _opened(exploding_session(), accounting)
            with pytest.raises(BudgetExceeded, match="is left"):
                door(session, session.budget.fraction(1.0001))
            assert session.ledger.entries == []


def test_what_cannot_be_a_price_is_refused():
    for amount in (0.0, -0.5, float("nan")):
        session = _opened(exploding_session())
        with pytest.raises(RequestError):
            session.release(Count(Everything()), type(session.budget)(Accounting.PURE, amount), note="x")
        assert session.ledger.entries == []


def test_every_door_draws_on_one_ledger():
    for name, door in DOORS.items():
        with about(name):
            session = _opened(None)
            door(session, session.budget.fraction(0.5))
            before = len(session.ledger.entries)
            with pytest.raises(BudgetExceeded):
                door(session.project(np.eye(2), session.region), session.ledger.budget.fraction(0.51))
            assert len(session.ledger.entries) == before
