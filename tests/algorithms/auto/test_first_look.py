"""How far the rows seem to reach: a group that lies far out counts, a bin that noise alone fills does not."""

from __future__ import annotations

import numpy as np

from dpviz.algorithms.auto.first_look import _reach

SCALE, BINS, FARTHEST = 200.0, 40, 40.0
ROWS = np.r_[10_000.0, 40_000.0, 40_000.0, 10_000.0, np.zeros(BINS - 4)]


def reach_of(counts: np.ndarray) -> float:
    return _reach(counts, FARTHEST, SCALE, int(ROWS.sum()))


def test_noise_alone_hardly_ever_widens_the_view():
    noise = np.random.default_rng(0).laplace(scale=SCALE, size=(3_000, BINS))
    reached = np.array([reach_of(ROWS + each) for each in noise])
    assert (reached >= 3).all()
    # Thresholds of 4 and 6 scales for a lone bin let one look in twenty through.
    assert (reached > 6).mean() < 0.01


def test_a_group_far_out_counts():
    rows = ROWS.copy()
    rows[30] = 12 * SCALE
    assert reach_of(rows) == 31
    rows[30], rows[31] = 7 * SCALE, 7 * SCALE  # neighbours count together
    assert reach_of(rows) == 32


def test_a_lone_bin_that_noise_could_fill_does_not():
    rows = ROWS.copy()
    rows[30] = 8 * SCALE
    assert reach_of(rows) == 4


def test_with_hardly_any_rows_all_bins_may_hold_some():
    assert _reach(np.zeros(BINS), FARTHEST, SCALE, 10) == FARTHEST
