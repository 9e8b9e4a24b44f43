"""What is left out saves nothing. That answers add up, whatever is asked, is in contract/test_invariance."""

import numpy as np
import pytest

from dpviz.core import losses
from dpviz.core.losses import SwapLoss
from tests.core.asked import asked


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
