"""Prices follow from what is proved of a draw's loss, never from what it is called; what is not proved is refused."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from dpviz.core.accounting import Accounting, Budget, LossKind, compute_amount, compute_ratio
from dpviz.core.check import RequestError
from dpviz.core.ledger import Entry, Ledger
from dpviz.core.local_model import LocalNoise
from dpviz.core.mechanisms import (
    Exponential,
    Gaussian,
    KNorm,
    Laplace,
    NoisyThreshold,
    PathCounts,
    Peeling,
    SparseLaplace,
)
from dpviz.core.private_session import MECHANISMS
from dpviz.core.quantiles import ExponentialQuantile, SmoothMedian
from dpviz.core.queries import Sensitivity
from dpviz.core.tuples import NoisyCenters
from dpviz.runs.meaning.independent_accounting import compute_independent_epsilon
from tests.cases import about
from tests.core.tuple_checks import SMALL

PURE, GDP, ZCDP, BASIC, PLD = (Accounting(value) for value in ("pure", "gdp", "zcdp", "basic", "pld"))
LAPLACE, GAUSSIAN, EXPONENTIAL = Laplace(1.0, 2.0), Gaussian(1.0, 2.0, 1e-7), Exponential(1.0, 2.0)
DRAWN = {
    LossKind.LAPLACE_LIKE: (LAPLACE, KNorm(1.0, 2.0), SparseLaplace(LAPLACE, 3.0), PathCounts(LAPLACE, 3, 1.0)),
    LossKind.GAUSSIAN: (GAUSSIAN, NoisyThreshold(GAUSSIAN, 3.0), PathCounts(GAUSSIAN, 3, 1.0)),
    LossKind.BOUNDED_RANGE: (EXPONENTIAL, Peeling(EXPONENTIAL, 3), ExponentialQuantile(1.0, 2.0, 1.0, 1.0)),
    LossKind.PURE: (SmoothMedian(1.0, 2.0), LocalNoise(KNorm(1.0, 2.0), 9)),
    LossKind.APPROXIMATE: (SmoothMedian(1.0, 2.0, 1e-7), NoisyCenters(**SMALL, far=1400.0)),
}
PROVED = {
    PURE: {LossKind.LAPLACE_LIKE, LossKind.BOUNDED_RANGE, LossKind.PURE},
    GDP: {LossKind.GAUSSIAN},
    ZCDP: {LossKind.LAPLACE_LIKE, LossKind.BOUNDED_RANGE, LossKind.PURE, LossKind.GAUSSIAN},
    PLD: {LossKind.LAPLACE_LIKE, LossKind.GAUSSIAN, LossKind.BOUNDED_RANGE},
}


def booked(mechanism, accounting):
    """The charge for a draw."""
    return Entry.of(mechanism, "Count", accounting, delta=1e-6, note="x")


def test_an_accounting_takes_the_losses_it_has_a_proof_for():
    for (accounting, proved), (kind, drawn) in product(PROVED.items(), DRAWN.items()):
        for mechanism in drawn:
            with about(accounting.value, mechanism.name):
                assert mechanism.loss is kind
                if kind in proved:
                    assert booked(mechanism, accounting).to_dict()["loss"] == kind.value
                else:
                    with pytest.raises(RequestError, match=f"cannot be paid under {accounting.value}"):
                        booked(mechanism, accounting)


def test_every_mechanism_says_what_its_loss_is():
    for kind in MECHANISMS:
        assert isinstance(getattr(kind, "loss", None), LossKind | property), kind.__name__


def test_a_mechanism_without_a_kind_of_loss_has_no_price():
    class Nameless(Laplace):
        pass

    for accounting, loss in product([*PROVED, BASIC], [None, "laplace", "gaussian"]):
        Nameless.loss = loss
        with about(accounting.value, loss), pytest.raises(RequestError, match="cannot be paid"):
            booked(Nameless(1.0, 2.0), accounting)


def test_what_a_choice_costs_is_told_from_what_pure_noise_costs():
    # The loss of a choice has half the range: both books have it, and not for noise of the same ε.
    choice, noise = booked(EXPONENTIAL, ZCDP), booked(SmoothMedian(1.0, 2.0), ZCDP)
    assert 0.99 * 0.5**2 / 8 < choice.amount < 0.5**2 / 8 and 0.97 * 0.5**2 / 2 < noise.amount < 0.5**2 / 2
    many = [replace(one, sensitivity=40 * one.sensitivity, draws=40) for one in (choice, noise)]
    of_choices, of_noise = (compute_independent_epsilon([one], delta=1e-6) for one in many)
    assert of_choices < 0.6 * of_noise


def _most_told(ratios: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Hockey-stick divergence at e^s of a pair whose ratio of probabilities is the lower or the upper of two."""
    low, high = ratios
    often = (1 - low) / (high - low)
    return often * np.maximum(high - np.exp(s), 0) + (1 - often) * np.maximum(low - np.exp(s), 0)


@pytest.mark.parametrize("epsilon", [0.01, 4.0])
def test_no_choice_tells_more_than_laplace_noise_of_the_same_epsilon(epsilon):
    """Nor does it tell less than it has to: some range attains what is said of it, and twice the range is too much."""
    s = np.linspace(-2 * epsilon, 2 * epsilon, 401)
    x = np.exp((np.minimum(s, epsilon) - epsilon) / 2)
    laplace = np.where(s < -epsilon, 1 - np.exp(s), 1 - x)
    told = np.max([_most_told(np.exp([t - epsilon, t]), s) for t in np.linspace(1e-9, epsilon - 1e-9, 2001)], axis=0)
    assert (told <= laplace + 1e-12).all()
    within = np.abs(s) < epsilon
    np.testing.assert_allclose(told[within], ((1 - x) ** 2 / -np.expm1(-epsilon))[within], atol=1e-5)
    assert (_most_told(np.exp([-epsilon, epsilon]), s) > laplace + 1e-6 * epsilon).any()


def test_among_loss_distributions_a_choice_is_priced_as_laplace_noise():
    assert booked(EXPONENTIAL, PLD).list_draws() == booked(LAPLACE, PLD).list_draws()
    assert booked(EXPONENTIAL, PLD).amount == booked(LAPLACE, PLD).amount
    assert Exponential.calibrated(Budget(PLD, 0.125), Sensitivity(np.inf, np.inf, range=3.0)).scale == pytest.approx(
        6.0
    )


def test_a_ledger_takes_no_price_of_another_accounting():
    ledger = Ledger(GDP, 1.0, 1e-6)
    for mechanism, accounting in ((GAUSSIAN, ZCDP), (LAPLACE, PURE)):
        with pytest.raises(RequestError, match="adds up under gdp"):
            ledger.charge(booked(mechanism, accounting))
    assert ledger.entries == []


def test_under_basic_composition_a_draw_says_its_part_of_delta():
    assert booked(GAUSSIAN, BASIC).delta == 1e-7 and booked(LAPLACE, BASIC).delta == 0.0
    with pytest.raises(RequestError, match="part of delta"):
        booked(NoisyThreshold(GAUSSIAN, 3.0), BASIC)


def test_as_many_draws_as_are_paid_for_are_a_number_of_at_least_one():
    # With a number below 1 a negative share would buy noise of a negative scale, and cost what it should.
    share, one = Budget(PURE, 1.0), Sensitivity(1.0, 1.0, 1.0, 1.0)
    for number in (0, -1, 0.5):
        with pytest.raises(RequestError, match="at least 1"):
            Peeling.calibrated(share, one, draws=number)
        with pytest.raises(RequestError, match="at least 1"):
            PathCounts.calibrated(share, one, levels=number, min_branch=1.0)


def test_what_a_share_buys_costs_the_share():
    for kind in (LossKind.LAPLACE_LIKE, LossKind.BOUNDED_RANGE, LossKind.PURE, LossKind.GAUSSIAN):
        for accounting in (*PROVED, BASIC):
            if accounting is BASIC or kind in PROVED[accounting]:
                delta = 1e-6 if accounting is BASIC else 0.0
                ratio = compute_ratio(kind, Budget(accounting, 0.7, delta), mechanism="x")
                paid = compute_amount(kind, accounting, sensitivity=3.0, scale=3.0 / ratio, delta=delta)
                assert paid == pytest.approx(0.7, rel=1e-5), (kind, accounting)
    assert compute_amount(LossKind.PURE, ZCDP, sensitivity=2.0, scale=1.0) == pytest.approx(2 * math.tanh(1))
    assert compute_amount(LossKind.GAUSSIAN, GDP, sensitivity=2.0, scale=1.0) == 4.0
