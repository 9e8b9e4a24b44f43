"""Answers against naive loops. That they add up over chunks, whatever is asked, is in contract/test_invariance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.core import losses
from dpviz.core.losses import Loss, SwapLoss
from tests.core.asked import asked

SEEDS = st.integers(0, 2**32 - 1)


def _loss(rows, centers):
    return sum(min(((row - center) ** 2).sum() for center in centers) for row in rows)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("k", [1, 4])
def test_candidates_that_are_left_out_save_nothing(order, k, monkeypatch):
    rng = np.random.default_rng(order)
    middles, compared, list_blocks = rng.uniform(-2, 2, (12, 2)), [], losses._list_blocks

    def watch(*given):
        for mine, within in list_blocks(*given):
            compared.append((mine.stop - mine.start) * within)
            yield mine, within

    rows = middles[rng.integers(0, 12, 900)] + rng.normal(0, 0.1, (900, 2))
    rows[:20] = rng.uniform(-4, 4, (20, 2))
    query = SwapLoss(middles[:k] + 0.05, np.r_[middles, rng.uniform(-4, 4, (60, 2))], order)
    monkeypatch.setattr(losses, "_list_blocks", watch)
    found = asked(query, rows)
    np.testing.assert_array_equal(asked(query, rows, block_numbers=1), found)
    few = sum(compared) / 2
    monkeypatch.setattr(losses, "_ROUNDED_UP", np.inf)
    compared.clear()
    np.testing.assert_array_equal(asked(query, rows), found)
    assert sum(compared) == 900 * 72
    assert k == 1 or few < 0.8 * sum(compared), "nothing was left out"


@given(seed=SEEDS)
def test_losses(seed):
    rng = np.random.default_rng(seed)
    sets, rows = rng.uniform(-1, 1, (3, 2, 2)), rng.uniform(-1, 1, (25, 2))
    expected = [_loss(rows, centers) for centers in sets]
    np.testing.assert_allclose(asked(Loss(sets), rows), expected, rtol=1e-4)
