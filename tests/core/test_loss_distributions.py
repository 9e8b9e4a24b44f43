"""Laplace and Gaussian noise together, by loss distributions."""

from math import comb, exp

import numpy as np
import pytest
from scipy import stats

from dpviz.core.accounting import (
    Accounting,
    DrawList,
    NoiseDraws,
    NotAnnounced,
    calibrate_scale,
    compose_epsilon,
    compose_guarantees,
    gdp_epsilon,
    scale_draws,
)
from dpviz.core.check import RequestError
from dpviz.core.ledger import BudgetExceeded, Entry
from dpviz.core.mechanisms import Gaussian, Laplace, PathCounts, Question
from dpviz.core.noise import StudyNoise
from dpviz.core.partitions import Everything
from dpviz.core.queries import Count, Sensitivity, Sum
from dpviz.core.replay import open_as
from dpviz.runs.meaning.independent_accounting import compute_independent_epsilon
from tests.contract.sessions import exploding_session
from tests.contract.tables import make_small_table

PLD = Accounting.PLD
ONE = Sensitivity(1.0, 1.0, 1.0, 1.0)
GOOGLE = (NoiseDraws(True, 1.0), NoiseDraws(False, 20.0, 21))


@pytest.mark.parametrize(("epsilon", "alpha"), [(0.1, 37.6), (1.0, 4.34), (10.0, 0.555)])
def test_the_multipliers_of_a_gaussian_sum_and_twenty_one_laplace_counts(epsilon, alpha):
    # Computed once with dp-accounting at δ = 1e-6, and rounded up to three digits.
    found = calibrate_scale(GOOGLE, epsilon=epsilon, delta=1e-6)
    assert alpha * 0.985 <= found <= alpha
    assert 0.9999 * epsilon <= compose_epsilon(scale_draws(GOOGLE, found), 1e-6) <= epsilon


def _session(*planned, epsilon=1.0, needs_n=True, kind=None):
    noise = StudyNoise(np.random.default_rng(0))
    request = {"epsilon": epsilon, "delta": 1e-6, "accounting": PLD, "noise": noise, "needs_n": needs_n}
    return open_as(make_small_table(), kind).open(**request, draws=(lambda session: planned) if planned else None)


@pytest.mark.parametrize("epsilon", [0.1, 20.0])
def test_shares_of_a_room_use_up_what_a_bought_n_has_left(epsilon):
    session = _session(NoiseDraws(True, 1.0), NoiseDraws(False, 20.0), epsilon=epsilon)
    assert 0 < session.ledger.spent_fraction < 0.5
    share = session.calibrate(sums=NoiseDraws(True, 1.0), counts=NoiseDraws(False, 20.0))
    session.release(Sum(Everything()), share.sums, note="x")
    session.ask(Count(Everything()), Laplace, share.counts, note="x")
    sums, counts = session.ledger.entries[1:]
    assert counts.scale / counts.sensitivity == pytest.approx(20 * sums.scale / sums.sensitivity)
    assert 0.999 * epsilon <= session.ledger.spent_epsilon <= epsilon
    assert 0.99 * epsilon <= compute_independent_epsilon(session.ledger.entries, delta=1e-6) <= epsilon
    with pytest.raises(BudgetExceeded):
        session.ask(Count(Everything()), Laplace, share.counts, note="x")
    with pytest.raises(RequestError, match="once"):
        session.ledger.announce(NoiseDraws(True, 1.0))


COUNTS, SUMS = Count(Everything()), Sum(Everything())


def test_whoever_chooses_the_kind_of_noise_after_an_answer_is_refused_before_a_row_is_read():
    planned = {True: NoiseDraws(True, 1.0), False: NoiseDraws(False, 1.0)}
    for announced, other in ((True, Laplace), (False, Gaussian)):
        kind = exploding_session(answers_before=1)
        session = _session(NoiseDraws(True, 4.0), planned[announced], needs_n=False, kind=kind)
        share = session.calibrate(first=NoiseDraws(True, 4.0), then=planned[announced])
        session.ask(COUNTS, Gaussian, share.first, note="first")
        entries, left = list(session.ledger.entries), session.ledger.announced
        # The other kind, at prices that are left, alone or beside what is on the list.
        for asked in (share.then.fraction(0.1), share.then.fraction(0.001)):
            with pytest.raises(NotAnnounced, match="fixed before the first answer"):
                session.ask(SUMS, other, asked, note="then")
        both = [Question(COUNTS, kind, share.then.fraction(0.01)) for kind in (Gaussian, Laplace)]
        with pytest.raises(NotAnnounced):
            session.ask_together(*both, note="then")
        assert (session.ledger.entries, session.ledger.announced) == (entries, left)


def test_without_a_list_the_first_charge_is_all_of_it():
    session = _session(needs_n=False, kind=exploding_session(answers_before=1))
    session.ask(COUNTS, Laplace, session.budget.fraction(0.1), note="first")
    for kind in (Laplace, Gaussian):
        with pytest.raises(NotAnnounced):
            session.ask(COUNTS, kind, session.budget.fraction(0.1), note="then")


def test_gaussian_draws_may_be_divided_as_answers_suggest_and_laplace_draws_only_get_more_noise():
    fixed = DrawList.of((NoiseDraws(True, 1.0), NoiseDraws(False, 2.0, 3), NoiseDraws(False, 5.0)))
    left = fixed.subtract(NoiseDraws(True, 2.0), note="x").subtract(NoiseDraws(True, 2.0), note="x")
    assert left.gaussian == pytest.approx(0.5)
    with pytest.raises(NotAnnounced):
        left.subtract(NoiseDraws(True, 1.0), note="x")
    # In any order, and the one with the most noise that is allowed is the one that is gone.
    assert fixed.subtract(NoiseDraws(False, 6.0), note="x").laplace == (2.0, 2.0, 2.0)
    assert fixed.subtract(NoiseDraws(False, 4.0, 2), note="x").laplace == (2.0, 5.0)
    for draws, times in (
        (NoiseDraws(False, 1.999), "sensitivities[.]"),
        (NoiseDraws(False, 4.0, 4), "sensitivities 4 times[.]"),
        (NoiseDraws(False, 5.0, 5), "sensitivities 5 times[.]"),
    ):
        with pytest.raises(NotAnnounced, match=times):
            fixed.subtract(draws, note="x")


def test_a_choice_of_the_kind_after_an_answer_would_break_the_promise():
    # The δ at ε of a Gaussian answer and then, by its loss, the worse of two draws that were each calibrated to it.
    epsilon, delta, first = 1.0, 1e-6, NoiseDraws(True, 12.0)
    mu = 1 / first.multiplier
    gaussian, laplace = (
        calibrate_scale((NoiseDraws(kind, 1.0),), (first,), epsilon=epsilon, delta=delta) for kind in (True, False)
    )
    loss, width = np.linspace(mu**2 / 2 - 9 * mu, mu**2 / 2 + 9 * mu, 40_001, retstep=True)
    density = stats.norm.pdf(loss, mu**2 / 2, mu)
    of_gaussian = gdp_delta_at(1 / gaussian, epsilon - loss)
    of_laplace = np.maximum(0.0, -np.expm1((epsilon - loss - 1 / laplace) / 2))
    alone = [float((density * one).sum() * width) for one in (of_gaussian, of_laplace)]
    chosen = float((density * np.maximum(of_gaussian, of_laplace)).sum() * width)
    assert max(alone) <= delta * 1.001 and chosen > 1.5 * delta


def gdp_delta_at(mu, epsilon):
    return stats.norm.cdf(mu / 2 - epsilon / mu) - np.exp(epsilon) * stats.norm.cdf(-mu / 2 - epsilon / mu)


def test_a_path_of_counts_is_that_many_draws():
    share = _session(NoiseDraws(False, 20.0, 100)).calibrate(path=NoiseDraws(False, 20.0, 100))
    mechanism = PathCounts.calibrated(share.path, ONE, levels=100, min_branch=1.0)
    entry = Entry.of(mechanism, "SparseCount", PLD, delta=1e-6, note="")
    found = entry.list_draws()
    assert (found.gaussian, found.times) == (False, 100) and found.multiplier == pytest.approx(mechanism.scale)
    # One draw with the whole path's sensitivity would cost much more.
    assert compose_epsilon((NoiseDraws(False, entry.scale / entry.sensitivity),), 1e-6) > 1.2


def delta_of_responses(epsilon: float, times: int, total: float) -> float:
    """The δ at ``total`` of randomised responses of one ε (Kairouz, Oh & Viswanath 2015, Theorem 3.3), exactly."""
    losses = (times - 2 * np.arange(times + 1)) * epsilon
    likely = [
        comb(times, flip) * exp((times - flip) * epsilon) / (1 + exp(epsilon)) ** times for flip in range(times + 1)
    ]
    return float(np.sum(np.array(likely) * np.clip(1 - np.exp(total - losses), 0, None)))


@pytest.mark.parametrize(("times", "delta"), [(2, 1e-5), (10, 1e-5), (100, 1e-5), (100, 1e-9)])
def test_guarantees_add_up_to_what_the_worst_mechanisms_would(times, delta):
    alike = compose_guarantees([(0.1, 0.0)] * times, delta)
    assert delta_of_responses(0.1, times, alike) <= delta * (1 + 1e-6)
    assert delta_of_responses(0.1, times, alike * (1 - 1e-6)) > delta * (1 - 1e-6)
    # A little more each, and all different, so that none is composed with itself.
    others = compose_guarantees([(0.1 + 1e-9 * step, 0.0) for step in range(times)], delta)
    assert alike <= others <= alike * (1 + 2e-3)


def test_guarantees_of_which_little_is_left_for_a_composition_cost_their_sum_or_more():
    assert compose_guarantees([], 1e-6) == 0
    assert compose_guarantees([(0.1, 0.0), (0.2, 0.0)], 0.0) == pytest.approx(0.3)
    assert compose_guarantees([(1e4, 0.0), (1.0, 0.0)], 1e-6) == 10001
    assert compose_guarantees([(0.1, 1e-6)] * 20, 1e-6) == np.inf
    assert compose_guarantees([(0.1, 1e-8)] * 20, 1e-6) > compose_guarantees([(0.1, 0.0)] * 20, 1e-6)


@pytest.mark.parametrize("laplace", [(), (NoiseDraws(False, 0.1),)], ids=["gaussian", "and laplace"])
def test_draws_too_large_to_compose_add_up_by_kind(laplace):
    # Two draws of μ = 20 / √2 are one of μ = 20, and Laplace noise of ε = 10 comes on top.
    found = compose_epsilon((NoiseDraws(True, 2**0.5 / 20, 1), NoiseDraws(True, 2**0.5 / 20, 1), *laplace), 1e-6)
    assert found == pytest.approx(gdp_epsilon(20.0, 1e-6) + 10.0 * len(laplace))


def test_some_of_a_whole_compose_as_they_do_alone():
    """On the coarser grid of all draws a few of them come out no lower, and higher by a little of the whole only."""
    whole = (
        NoiseDraws(False, 9.0),
        NoiseDraws(False, 4.0),
        NoiseDraws(True, 6.0),
        NoiseDraws(True, 3.0),
        NoiseDraws(False, 5.0),
    )
    together = compose_epsilon(whole, 1e-6)
    for number in range(1, len(whole) + 1):
        some, alone = (compose_epsilon(whole[:number], 1e-6, whole=grid) for grid in (whole, ()))
        assert alone - 1e-3 * together <= some <= alone + 4e-3 * together
    assert compose_epsilon(whole, 1e-6, whole=whole) == together
    # At next to no δ the ε of Laplace noise add up.
    laplace = (NoiseDraws(False, 9.0), NoiseDraws(False, 4.0), NoiseDraws(False, 5.0))
    assert compose_epsilon(laplace, 1e-12) == pytest.approx(1 / 9 + 1 / 4 + 1 / 5, rel=5e-3)
    # Of a whole that protects nobody, some may protect.
    loud = (*whole, NoiseDraws(False, 0.001))
    assert compose_epsilon(whole, 1e-6, whole=loud) == together
