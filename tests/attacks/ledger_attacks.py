"""Attacks on what is charged: conversions, sums, searches for noise, and what is public to begin with."""

from itertools import product
from math import sqrt

import numpy as np
import pytest

from dpviz import PrivateKMeans
from dpviz.core import accounting, ledger, mechanisms
from dpviz.core.accounting import Accounting, NoiseDraws, compose_epsilon, gdp_delta, gdp_epsilon, zcdp_epsilon
from dpviz.core.check import RequestError
from dpviz.core.ledger import BudgetExceeded, Ledger
from dpviz.core.mechanisms import Exponential, Gaussian, Laplace, Question
from dpviz.core.partitions import Everything, Voronoi
from dpviz.core.queries import Count, Weights
from dpviz.tables import GivenRows
from tests.attacks.cases import LINE_TABLE, attack, planted
from tests.contract.sessions import open_seeded

PURE, GDP, ZCDP, PLD = Accounting.PURE, Accounting.GDP, Accounting.ZCDP, Accounting.PLD


@planted(accounting, "_compute_delta_costs")
def _without_logarithm(_, delta):
    return delta * accounting._ALL_ORDERS / accounting._ORDERS_LESS_ONE


@attack("SmartNoise 621", twin=_without_logarithm)
@attack("SmartNoise 624", twin=_without_logarithm)
def a_conversion_has_its_logarithm():
    for rho, delta in product((1e-3, 0.1, 1.0, 9.0), (1e-9, 1e-6, 1e-3)):
        exact, said = gdp_epsilon(sqrt(2 * rho), delta), zcdp_epsilon.__wrapped__(rho, delta)
        assert exact <= said <= 1.35 * exact + 0.05


@planted(Ledger, "charge")
def _first_entry_only(right, self, *entries):
    return right(self, *entries[:1])


@attack("diffprivlib 104", twin=_first_entry_only)
def every_question_is_booked():
    session = open_seeded(LINE_TABLE)
    query, shares = Count(Everything()), session.budget.rounds(2)
    session.ask_together(*(Question(query, Laplace, share) for share in shares), note="x")
    assert len(session.ledger.entries) == 2
    assert session.ledger.spent_epsilon == pytest.approx(1.0)


@planted(Ledger, "_total")
def _alike_costs_once(_, self, entries):
    return sum({entry.amount for entry in entries})


@attack("PipelineDP 113", twin=_alike_costs_once)
def a_budget_is_spent_once():
    session = open_seeded(LINE_TABLE)
    session.release(Count(Everything()), session.ledger.budget, note="x")
    with pytest.raises(BudgetExceeded):
        session.release(Count(Everything()), session.ledger.budget, note="x")


def _a_little_less_noise(monkeypatch):
    right = accounting.calibrate_scale
    monkeypatch.setattr(ledger, "calibrate_scale", lambda *draws, **target: 0.97 * right(*draws, **target))
    exact = accounting.gdp_mu
    monkeypatch.setattr(accounting, "gdp_mu", lambda epsilon, delta: 1.01 * exact(epsilon, delta))


@attack("Opacus 346", twin=_a_little_less_noise)
def a_search_ends_on_the_safe_side():
    for epsilon in (0.3, 2.0):
        assert gdp_delta(sqrt(GDP.compute_capacity(epsilon=epsilon, delta=1e-6)), epsilon) <= 1e-6
        assert zcdp_epsilon(ZCDP.compute_capacity(epsilon=epsilon, delta=1e-6), 1e-6) <= epsilon
        booked = Ledger(PLD, epsilon, 1e-6)
        booked.announce(NoiseDraws(False, 1.0, 3), NoiseDraws(True, 2.0))
        assert compose_epsilon(booked.planned, 1e-6) <= epsilon


@planted(mechanisms, "compute_amount")
def _upside_down(right, loss, accounting, *, sensitivity, scale, delta=0.0):
    return right(loss, accounting, sensitivity=scale, scale=sensitivity, delta=delta)


@attack("PySyft 6914", twin=_upside_down)
def less_noise_costs_more():
    for kind, accountings in ((Laplace, (PURE, ZCDP)), (Exponential, (PURE, ZCDP)), (Gaussian, (GDP, ZCDP))):
        for one in accountings:
            costs = [kind(1.0, scale).cost(one) for scale in (0.1, 1.0, 10.0)]
            assert costs[0] > costs[1] > costs[2]


def _everything_has_a_price(monkeypatch):
    for module in (ledger, accounting):
        monkeypatch.setattr(module, "refuse_unpriced", lambda *asked, **named: None)


@attack("OpenDP 1908", twin=_everything_has_a_price)
def what_has_no_price_is_not_drawn():
    session = open_seeded(LINE_TABLE, GDP, delta=1e-6)
    read = []
    session._compute_true_answers = lambda queries: read.append(queries) or [np.zeros((1, 1))]
    with pytest.raises(RequestError, match="cannot be paid"):
        session.ask(Weights(Voronoi(np.zeros((1, 1)))), Exponential, session.budget, note="x")
    assert not read and not session.ledger.entries


@planted(PrivateKMeans, "_make_table")
def _bounds_of_the_rows(right, self, given: GivenRows, groups):
    self.bounds = (-1.0, 1.0) if self.bounds is None else self.bounds
    return right(self, given, groups)


@attack("diffprivlib 20", twin=_bounds_of_the_rows)
@attack("Synthcity 278", twin=_bounds_of_the_rows)
def no_bound_is_read_from_the_rows():
    rows = np.random.default_rng(0).uniform(-1, 1, (50, 1))
    with pytest.raises(ValueError, match="bounds"):
        PrivateKMeans(2, epsilon=1.0, algorithm="dplloyd", random_state=0).fit(rows)
