"""The ρ of a known ε is the largest Rényi divergence of order α over α: never less, and no more than it has to be."""

from itertools import product
from math import exp, log, sinh

import numpy as np
import pytest
from dp_accounting import LaplaceDpEvent, SelfComposedDpEvent
from dp_accounting.rdp import RdpAccountant
from scipy.special import logsumexp

from dpviz.core.accounting import compute_choice_rho, compute_laplace_rho, compute_pure_rho, find_epsilon, zcdp_epsilon
from tests.cases import about

COSTS = {"laplace": compute_laplace_rho, "choice": compute_choice_rho, "pure": compute_pure_rho}
EPSILONS = [0.03, 0.3, 0.499, 0.5, 1.0, 3.0, 12.0]
ORDERS = 1 + np.r_[1e-5, np.geomspace(1e-3, 1e4, 60)]


def _pair_divergences(p, q):
    """Rényi divergences of two laws on the same few outcomes, at all ``ORDERS``."""
    powers = ORDERS[:, None] * np.log(p) + (1 - ORDERS[:, None]) * np.log(q)
    return logsumexp(powers, axis=1) / (ORDERS - 1)


def _laplace(epsilon):
    """Mironov 2017, Table II."""
    a = ORDERS
    logs = np.stack([np.log(a / (2 * a - 1)) + (a - 1) * epsilon, np.log((a - 1) / (2 * a - 1)) - a * epsilon])
    return logsumexp(logs, axis=0) / (a - 1)


def _pure(epsilon):
    p = np.array([exp(epsilon), 1.0]) / (1 + exp(epsilon))
    return _pair_divergences(p, p[::-1])


def _choice(epsilon):
    """Losses of two values, up and up - ε: the worst of many."""
    worst = np.zeros(len(ORDERS))
    for up in np.linspace(0, epsilon, 402)[1:-1]:
        q = (1 - exp(up - epsilon)) / (exp(up) - exp(up - epsilon))
        worst = np.maximum(worst, _pair_divergences(np.array([q * exp(up), 1 - q * exp(up)]), np.array([q, 1 - q])))
    return worst


DIVERGENCES = {"laplace": _laplace, "choice": _choice, "pure": _pure}


@pytest.mark.parametrize("kind", COSTS)
def test_a_cost_bounds_the_divergence_of_every_order_and_one_order_needs_it(kind):
    for epsilon in EPSILONS:
        with about(f"ε = {epsilon}"):
            needed, rho = DIVERGENCES[kind](epsilon) / ORDERS, COSTS[kind](epsilon)
            assert (needed <= rho * (1 + 1e-7) + 1e-12).all() and needed.max() > rho * (1 - 1e-3)
            assert np.argmax(needed) < 5, "the order near 1 needs most"


def test_the_two_forms_of_the_cost_of_a_choice_are_one():
    # The series below, the closed form above: a jump between them would be a wrong coefficient.
    for below, above in ((0.4999999, 0.5000001), (0.49, 0.51)):
        half = (compute_choice_rho(below) + compute_choice_rho(above)) / 2
        assert half == pytest.approx(
            log(sinh(0.25) / 0.25) + 0.25 / np.tanh(0.25) - 1, rel=(above - below) ** 2 + 1e-13
        )


def test_discrete_laplace_noise_costs_its_own_form_and_one_quantum_more_of_laplace_noise_pays_for_it():
    # Δ/t - (1 - e^(-Δ/t)) / (t sinh(1/t)), on whole numbers of sensitivity Δ and noise of scale t.
    for shift, scale in product((1, 2, 7), (0.3, 1.0, 9.0)):
        with about(f"Δ = {shift}, t = {scale}"):
            at = np.arange(-int(60 * scale) - 9, int(60 * scale) + shift + 10)
            normal = np.log(np.tanh(0.5 / scale))
            p, q = (np.exp(normal - np.abs(at - middle) / scale) for middle in (0, shift))
            needed = _pair_divergences(p, q) / ORDERS
            rho = shift / scale - (1 - exp(-shift / scale)) / (scale * sinh(1 / scale))
            assert (needed <= rho * (1 + 1e-7)).all() and needed.max() > rho * (1 - 1e-3)
            assert compute_laplace_rho(shift / scale) < rho < compute_laplace_rho((shift + 1) / scale)
            if shift == 1:
                assert rho == pytest.approx(compute_pure_rho(1 / scale)), "randomised response"


def test_a_change_that_is_spread_over_entries_costs_no_more_than_in_one():
    for cost, parts in product(COSTS.values(), ([0.5, 0.5], [0.1, 0.2, 0.7], [1e-3] * 50, [4.0, 3.0])):
        assert sum(cost(part) for part in parts) <= cost(sum(parts))


def test_the_price_of_a_range_grows_at_least_in_proportion_to_it():
    # So that ranges which differ are paid by as many of the largest.
    epsilons = np.geomspace(1e-3, 30, 400)
    for cost in COSTS.values():
        assert (np.diff(np.array([cost(float(epsilon)) for epsilon in epsilons]) / epsilons) > 0).all()


@pytest.mark.parametrize("kind", COSTS)
def test_what_a_rho_buys_costs_no_more_and_hardly_less(kind):
    for rho in np.geomspace(1e-18, 1e5, 70).tolist():
        paid = COSTS[kind](find_epsilon(COSTS[kind], rho))
        assert rho * (1 - 1e-12) < paid <= rho, rho


def test_dp_accounting_finds_no_more_for_many_laplace_draws_and_nearly_as_much():
    for epsilon, times, delta in ((0.1, 400, 1e-6), (0.02, 5000, 1e-9), (0.3, 60, 1e-6)):
        accountant = RdpAccountant(orders=list(1 + np.geomspace(1e-2, 1e3, 400)))
        accountant.compose(SelfComposedDpEvent(LaplaceDpEvent(1 / epsilon), times))
        rho = times * compute_laplace_rho(epsilon)
        with about(f"ε = {epsilon}, {times} times"):
            found = accountant.get_epsilon(delta)
            assert zcdp_epsilon(0.9 * rho, delta) < found <= zcdp_epsilon(rho, delta) * (1 + 1e-3)
