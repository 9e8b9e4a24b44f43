"""The losses of a window: its lower side stands where they say."""

from __future__ import annotations

import numpy as np

from dpviz.app.charts.meaning import compute_losses
from tests.runs.meaning.test_windows import CASES, asked


def test_curves_pass_through_what_is_accepted_at_the_sides() -> None:
    setting, _ = CASES["window"]
    window = asked(setting, most_rows=12_000)
    losses = compute_losses(window, setting.n)
    upper = losses["upper"].to_numpy()
    assert (upper[losses["epsilon"] >= window.least] <= 1.1).all() and (
        upper[losses["epsilon"] < window.least] > 1.1
    ).any()
    both = losses.merge(compute_losses(window, 12_000), on="epsilon")
    assert (both["upper_y"] <= both["upper_x"] + 1e-9).all()
    assert np.isclose(window.belief(window.most), 0.25, atol=0.01)
