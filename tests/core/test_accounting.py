"""Conversions between (ε, δ), μ and ρ, and budgets that divide without growing."""

import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from dpviz.core.accounting import (
    Accounting,
    Budget,
    compute_spent_epsilon,
    gdp_delta,
    gdp_epsilon,
    gdp_mu,
    zcdp_epsilon,
    zcdp_rho,
)
from dpviz.core.check import RequestError
from tests.cases import about

EPSILONS = [1e-3, 0.1, 1.0, 5.0, 35.0, 200.0]
DELTAS = [1e-12, 1e-6, 1e-3, 0.3]


def _gap(x: float, mu: float, epsilon: float) -> float:
    return stats.norm.pdf(x, mu) - math.exp(epsilon) * stats.norm.pdf(x)


def test_the_gaussian_delta_is_the_integral_it_stands_for():
    # δ(ε) = ∫ max(0, p - e^ε q) for N(μ, 1) against N(0, 1), written down naively.
    for mu, epsilon in product((0.01, 0.3, 1.0, 4.0), EPSILONS[:-1]):
        with about(f"μ = {mu}, ε = {epsilon}"):
            low = epsilon / mu + mu / 2
            high, points = max(low, mu) + 40, [max(low, mu)]
            expected = integrate.quad(_gap, low, high, (mu, epsilon), limit=400, points=points)[0]
            assert gdp_delta(mu, epsilon) == pytest.approx(expected, rel=1e-5, abs=1e-13)


def test_mu_and_rho_are_the_largest_that_keep_the_promise():
    for epsilon, delta in product(EPSILONS, DELTAS):
        with about(f"ε = {epsilon}, δ = {delta}"):
            mu, rho = gdp_mu(epsilon, delta), zcdp_rho(epsilon, delta)
            assert gdp_delta(mu, epsilon) <= delta < gdp_delta(mu * 1.00001, epsilon)
            assert epsilon * (1 - 1e-2) <= gdp_epsilon(mu, delta) <= epsilon * (1 + 1e-9)
            assert zcdp_epsilon(rho, delta) <= epsilon
            assert zcdp_epsilon(rho * 1.001, delta) > epsilon * (1 - 1e-6)
            # zCDP of a Gaussian may not promise more than the exact Gaussian does: ρ <= μ²/2.
            assert rho <= mu**2 / 2


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=30), st.floats(1e-3, 1e3))
def test_parts_never_add_up_to_more_than_the_whole(weights, amount):
    budget = Budget(Accounting.PURE, amount)
    for parts in (
        budget.rounds(len(weights), weights),
        [getattr(budget.split(**{f"w{i}": w for i, w in enumerate(weights)}), f"w{i}") for i in range(len(weights))],
        [part for one in budget.rounds(3) for part in one.rounds(len(weights), weights)],
    ):
        total = math.fsum(part.amount for part in parts)
        assert amount * (1 - 1e-11) <= total <= amount
        assert sum(part.amount for part in reversed(parts)) <= amount * (1 + 1e-12)


@pytest.mark.parametrize("accounting", [Accounting.GDP, Accounting.ZCDP])
def test_what_gaussian_noise_cannot_be_bought_with(accounting):
    with pytest.raises(RequestError, match="delta > 0"):
        accounting.compute_capacity(epsilon=1.0, delta=0.0)
    with pytest.raises(RequestError, match="too little"):
        accounting.compute_capacity(epsilon=1e-12, delta=1e-300)
    with pytest.raises(RequestError, match="epsilon is"):
        accounting.compute_capacity(epsilon=-1.0, delta=1e-6)


def test_capacity_and_spent_are_inverse():
    for epsilon, accounting in product(EPSILONS, (Accounting.PURE, Accounting.GDP, Accounting.ZCDP)):
        with about(f"ε = {epsilon}", accounting.value):
            cap = accounting.compute_capacity(epsilon=epsilon, delta=1e-6)
            assert 0.998 * epsilon <= compute_spent_epsilon(accounting, cap, delta=1e-6) <= epsilon
            assert compute_spent_epsilon(accounting, cap / 2, delta=1e-6) < epsilon
            assert compute_spent_epsilon(accounting, 0.0, delta=1e-6) == 0.0
    assert compute_spent_epsilon(Accounting.NONE, 1.0, delta=0.0) == math.inf
    assert Accounting.NONE.compute_capacity(epsilon=1.0, delta=0.0) == math.inf
