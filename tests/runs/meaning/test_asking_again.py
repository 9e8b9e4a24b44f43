"""What asking again buys, and what it costs."""

from itertools import product
from math import comb, exp

import numpy as np
import pytest

from dpviz.runs import AskingAgain, Contender, Request
from dpviz.runs.meaning.asking_again import compose_repeated_epsilon, measure_gain, measure_noise_left, price_together
from dpviz.runs.meaning.membership import AttackTrial
from dpviz.runs.meaning.windows import bound_advantage
from dpviz.runs.one_run import run
from tests.pages.site import sample_table


def test_the_spread_of_averages_falls_with_the_root_of_their_number():
    releases = np.random.default_rng(1).normal(size=(4_096, 3, 2))
    spreads = [measure_noise_left(releases, times) for times in (1, 4, 16, 64)]
    np.testing.assert_allclose(spreads, np.sqrt(2) / np.sqrt([1, 4, 16, 64]), rtol=0.12)
    entries = run("eugkm", sample_table("outlier").private, k=3, epsilon=0.2, seed=1).entries
    trials = [AttackTrial(True, np.arange(6.0).reshape(3, 2) + 0.1 * one, 0.0, None) for one in releases[:128]]
    told = AskingAgain.of(trials, entries, Request(Contender("eugkm"), 3, 0.2)).noise
    assert [*told] == [1, 4, 16], "of two averages of 64 a spread would be luck"
    np.testing.assert_allclose([told[1] / told[times] for times in told], [1, 2, 4], rtol=0.25)


def test_reading_more_answers_gains_more_and_never_more_than_the_bound():
    # Randomised responses of ε = 0.5: the worst there is.
    epsilon, rng = 0.5, np.random.default_rng(3)
    kept = 1 / (1 + exp(-epsilon))
    present, absent = (np.where(rng.random(40_000) < share, epsilon, -epsilon) for share in (kept, 1 - kept))
    gains = [measure_gain(present, absent, times, rng) for times in (1, 5, 25)]
    assert gains == sorted(gains)
    for times, gained in zip((1, 5, 25), gains, strict=True):
        assert gained <= bound_advantage(epsilon=times * epsilon) + 0.03
    assert gains[0] == pytest.approx(bound_advantage(epsilon=epsilon), abs=0.03)


def optimal(epsilon: float, times: int, delta: float) -> float:
    """Kairouz, Oh & Viswanath 2015, Theorem 3.3, by its own sum, for δ = 0: the least ε on its grid."""
    least = times * epsilon
    for i in range(times // 2 + 1):
        terms = (
            comb(times, place) * (exp((times - place) * epsilon) - exp((times - 2 * i + place) * epsilon))
            for place in range(i)
        )
        if sum(terms) / (1 + exp(epsilon)) ** times <= delta:
            least = (times - 2 * i) * epsilon
    return least


def test_pure_releases_compose_as_the_theorem_says():
    for epsilon, times in product((0.1, 1.0), (1, 4, 16, 64)):
        grid = optimal(epsilon, times, 1e-6)
        assert grid - 2 * epsilon < compose_repeated_epsilon(epsilon, times, 1e-6) <= grid * (1 + 1e-6), (
            epsilon,
            times,
        )


@pytest.mark.parametrize(("algorithm", "delta"), [("eugkm", 0.0), ("auto", 1e-6), ("auto", 0.0)])
def test_composed_is_never_more_than_added_and_less_for_many(algorithm, delta):
    entries = run(algorithm, sample_table("outlier").private, k=3, epsilon=0.2, delta=delta, seed=1).entries
    prices = [price_together(entries, times, epsilon=0.2, delta=delta) for times in (1, 4, 64)]
    for price in prices:
        assert price.added == pytest.approx(0.2 * price.times) and price.composed <= price.added
        assert price.delta == pytest.approx(price.times * delta if delta else 1e-6)
    assert prices[-1].composed < 0.7 * prices[-1].added
