"""What a session refuses whatever a plan does: public points outside the region, a second try, a budget that is
kept."""

import dataclasses

import numpy as np
import pytest

import dpviz.algorithms.baselines.kvariates
import dpviz.algorithms.su2016.pgkm
from dpviz.algorithms.registry import CARDS
from dpviz.core.check import RequestError
from dpviz.core.kernel_draw import DistanceWeights, KernelDraw
from dpviz.core.ledger import BudgetExceeded
from dpviz.runs.audits.contract import run_card
from tests.contract.sessions import exploding_session, open_seeded
from tests.contract.tables import PUBLIC

ORIGIN = np.zeros((1, 2))
TUPLES = {"k": 2, "epsilon": 1.0, "delta": 1e-6, "params": {}, "seed": 0}
PURE = {"k": 3, "epsilon": 2.0, "delta": 0.0, "seed": 0}


@pytest.mark.parametrize("preset", ["local", "capped"])
def test_public_points_outside_the_region(preset, monkeypatch):
    honest = dpviz.algorithms.baselines.kvariates.draw_random_points
    monkeypatch.setattr(
        dpviz.algorithms.baselines.kvariates, "draw_random_points", lambda *asked: 1.01 * honest(*asked)
    )
    with pytest.raises(RequestError, match="outside the region"):
        run_card(CARDS["kvariates"], PUBLIC.table(), session=exploding_session(), **PURE, params={"preset": preset})


@pytest.mark.parametrize("preset", ["paper", "practical"])
def test_candidates_that_leave_the_region(preset, monkeypatch):
    for breed in ("cross_and_mutate", "move_centers"):
        whole = getattr(dpviz.algorithms.su2016.pgkm, breed)
        monkeypatch.setattr(
            dpviz.algorithms.su2016.pgkm, breed, lambda *args, whole=whole: whole(*args) + 0.9 * np.sign(whole(*args))
        )
    with pytest.raises(RequestError, match="outside the region"):
        run_card(CARDS["pgkm"], PUBLIC.table(), **PURE, params={"preset": preset})


def test_points_of_a_mechanism_before_it_is_charged():
    session = open_seeded(PUBLIC.table(), kind=exploding_session())
    question = DistanceWeights(np.zeros((1, 2)))
    for beyond in (np.array([[1.0, 1.1]]), np.array([[np.nan, 0.0]]), np.array([[0.0, 0.0], [-np.inf, 0.0]])):
        with pytest.raises(RequestError, match="outside the region"):
            session.ask(question, KernelDraw, session.budget, note="x", public_points=beyond, public_weight=1.0)
    for weight, points in ((-0.5, ORIGIN), (np.inf, ORIGIN), (np.nan, ORIGIN), (1.0, ORIGIN[:0])):
        with pytest.raises(RequestError, match="public part"):
            session.ask(question, KernelDraw, session.budget, note="x", public_points=points, public_weight=weight)
    assert session.ledger.entries == []


def test_a_second_try_after_bottom():
    card = CARDS["k-noisy-centers"]

    def again(session, k, params, rng):
        for _ in range(2):
            yield from card.plan(session, k, params, rng)

    with pytest.raises(BudgetExceeded):
        run_card(dataclasses.replace(card, plan=again), PUBLIC.table(), **TUPLES)
