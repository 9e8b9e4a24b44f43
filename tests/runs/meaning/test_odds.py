"""What can be believed after a release."""

from math import exp, isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.core.check import RequestError
from dpviz.runs.meaning.windows import Belief

PROBABILITIES = st.floats(0.0, 1.0)
EPSILONS = st.floats(1e-3, 30.0)


@given(PROBABILITIES.filter(lambda p: 1e-6 < p < 1 - 1e-6), st.floats(1e-3, 8.0))
def test_odds_change_by_the_factor_to_both_sides(prior, epsilon):
    belief = Belief.bound(prior, epsilon=epsilon)
    before = prior / (1 - prior)
    assert isclose(belief.most / (1 - belief.most), before * exp(epsilon), rel_tol=1e-6)
    assert isclose(belief.least / (1 - belief.least), before * exp(-epsilon), rel_tol=1e-6)


@pytest.mark.parametrize("prior", [-0.1, 1.1])
def test_no_probability_is_refused(prior):
    with pytest.raises(RequestError, match="from 0 to 1"):
        Belief.bound(prior, epsilon=1.0)


def test_large_budgets_move_to_certainty_and_overflow_nothing():
    assert Belief.bound(0.5, epsilon=1e4) == (0.0, 1.0)
