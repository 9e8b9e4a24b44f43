"""How far the rows seem to reach: a group that lies far out counts, a bin that noise alone fills does not."""

import numpy as np

from dpviz.algorithms.auto.private_projection import _find_clipping_radius, _widen

SCALE, BINS, FARTHEST = 200.0, 40, 40.0
ROWS = np.r_[10_000.0, 40_000.0, 40_000.0, 10_000.0, np.zeros(BINS - 4)]


def reach_of(counts: np.ndarray) -> float:
    look = (counts, FARTHEST, SCALE, int(ROWS.sum()))
    return _widen(_find_clipping_radius(*look), *look)


def test_noise_alone_hardly_ever_widens_the_view():
    noise = np.random.default_rng(0).laplace(scale=SCALE, size=(3_000, BINS))
    reached = np.array([reach_of(ROWS + each) for each in noise])
    assert (reached >= 3).all()
    # Thresholds of 4 and 6 scales for a lone bin let one look in twenty through.
    assert (reached > 6).mean() < 0.01


def test_a_group_far_out_counts_and_a_lone_bin_that_noise_could_fill_does_not():
    # Neighbours count together; where there are hardly any rows, all bins may hold some.
    for far, reached in (([12.0], 31), ([7.0, 7.0], 32), ([8.0], 4)):
        rows = ROWS.copy()
        rows[30 : 30 + len(far)] = np.array(far) * SCALE
        assert reach_of(rows) == reached
    assert _find_clipping_radius(np.zeros(BINS), FARTHEST, SCALE, 10) == FARTHEST


def test_bins_that_are_light_one_by_one_count_where_they_hold_many_rows_together():
    """A fifth of the rows lies in bins of which hardly any stands out of the noise, as where one column dominates."""
    rows, scale = np.r_[np.full(8, 5_250.0), np.linspace(700, 70, 31), 0.0], 175.0
    noise = np.random.default_rng(0).laplace(scale=scale, size=(300, BINS))
    # With a quarter of all rows their sum, too, is little more than noise: to reach farther out would cost more.
    for some, least, most in ((rows, 20, BINS), (rows / 4, 1, 8)):
        given = [(some + each, FARTHEST, scale, int(some.sum())) for each in noise]
        reached = [_widen(_find_clipping_radius(*look), *look) for look in given]
        assert least < np.quantile(reached, 0.05) <= np.quantile(reached, 0.9) <= most
