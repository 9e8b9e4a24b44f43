"""The line that no attack can pass."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.runs.meaning.windows import bound_advantage, bound_hits, find_turning_point

BUDGETS = st.tuples(st.floats(0.01, 8.0), st.sampled_from([0.0, 1e-6, 0.05]))


@given(BUDGETS)
def test_the_advantage_is_the_farthest_that_the_line_is_above_guessing(budget):
    epsilon, delta = budget
    turn = find_turning_point(epsilon=epsilon, delta=delta)
    across = np.append(np.linspace(0, 1, 401), turn)
    above = bound_hits(across, epsilon=epsilon, delta=delta) - across
    assert above.max() == pytest.approx(bound_advantage(epsilon=epsilon, delta=delta), abs=1e-9)
    assert bound_hits(turn, epsilon=epsilon, delta=delta) - turn == pytest.approx(above.max(), abs=1e-9)


@given(BUDGETS, st.floats(0.0, 1.0))
def test_the_line_keeps_both_promises(budget, rate):
    epsilon, delta = budget
    hits = bound_hits(rate, epsilon=epsilon, delta=delta)
    assert hits <= np.exp(epsilon) * rate + delta + 1e-9
    # The same for "not in": misses against right rejections.
    assert 1 - rate <= np.exp(epsilon) * (1 - hits) + delta + 1e-9 or hits == 1
