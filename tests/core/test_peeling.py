"""Peeling: its law is that of draws one after the other, and each of them is paid."""

from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from dpviz.core.accounting import Accounting, Budget
from dpviz.core.mechanisms import Exponential, Peeling
from dpviz.core.noise import StudyNoise
from dpviz.core.queries import Sensitivity

RANGE = Sensitivity(np.inf, np.inf, range=3.0)
PURE, ZCDP = Accounting.PURE, Accounting.ZCDP
LOSSES = np.array([0.0, 1.0, 1.5, 4.0])


@pytest.mark.slow
@pytest.mark.parametrize("draws", [2, 4])
def test_every_ordered_pick_comes_with_its_probability(draws):
    peeling = Peeling(Exponential(3.0, 1.7), draws)
    picks = list(permutations(range(4), draws))
    law = np.exp([peeling.log_density(np.array(pick), LOSSES) for pick in picks])
    assert law.sum() == pytest.approx(1)
    noise = StudyNoise(np.random.default_rng(0))
    drawn = [tuple(peeling.draw(LOSSES, noise)) for _ in range(10_000)]
    counts = np.array([drawn.count(pick) for pick in picks])
    enough = law * len(drawn) >= 5
    for wrong, accepted in ((1.0, True), (0.8, False), (1.25, False)):
        other = Peeling(Exponential(3.0, 1.7 * wrong), draws)
        expected = np.exp([other.log_density(np.array(pick), LOSSES) for pick in picks])
        grouped = np.r_[counts[enough], counts[~enough].sum()], np.r_[expected[enough], expected[~enough].sum()]
        kept = grouped[1] > 0
        pvalue = stats.chisquare(grouped[0][kept], grouped[1][kept] / grouped[1][kept].sum() * len(drawn)).pvalue
        assert (pvalue > 1e-3) if accepted else (pvalue < 1e-6)


def test_no_entry_is_drawn_twice():
    peeling = Peeling(Exponential(3.0, 1.7), 3)
    for never in ([0, 1, 0], [2, 2, 1]):
        assert peeling.log_density(np.array(never), LOSSES) == -np.inf
    assert peeling.log_density(np.array([[0, 1, 2], [3, 3, 1]]), np.stack([LOSSES, LOSSES])) == -np.inf


def test_of_magnitudes_the_largest_are_drawn():
    sure = Peeling.calibrated(Budget(PURE, 1e4), RANGE, draws=2, magnitudes=True)
    assert sure.draw(np.array([1.0, -4.0, 2.0, 3.0]), StudyNoise(np.random.default_rng(0))).tolist() == [1, 3]


def test_no_neighbour_loses_more_than_was_paid():
    peeling = Peeling.calibrated(Budget(PURE, 2.0), RANGE, draws=3)
    for seed in range(8):
        rng = np.random.default_rng(seed)
        losses, change = rng.uniform(0, 20, 6), rng.choice([0.0, 3.0], 6)
        for pick in permutations(range(6), 3):
            ratio = peeling.log_density(np.array(pick), losses) - peeling.log_density(np.array(pick), losses + change)
            assert abs(ratio) <= peeling.cost(PURE) * (1 + 1e-9), seed


def test_some_neighbour_loses_nearly_all_that_was_paid():
    # All but the three picked entries lose by the whole range.
    losses, change = np.zeros(10_000), np.full(10_000, 3.0)
    change[:3] = 0.0
    peeling = Peeling.calibrated(Budget(PURE, 2.0), RANGE, draws=3)
    pick = np.arange(3)
    ratio = peeling.log_density(pick, losses + change) - peeling.log_density(pick, losses)
    assert 0.99 * 2.0 <= ratio <= 2.0
