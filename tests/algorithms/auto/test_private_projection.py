"""How far the rows seem to reach: a group that lies far out counts, a bin that noise alone fills does not."""

from __future__ import annotations

import numpy as np

from dpviz.algorithms.auto.auto_plan import StagePart
from dpviz.algorithms.auto.private_projection import _buy_axes, _find_clipping_radius, _read_medians, _widen
from dpviz.core.accounting import Accounting
from tests.contract.sessions import open_seeded
from tests.contract.tables import make_small_table

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


def test_axes_that_noise_may_have_made_are_believed_less_and_no_axis_is_thin():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(4_000, 6)) * [0.3, 0.1, 0.1, 0.08, 0.05, 0.01]
    part, believed = StagePart("look", "axes", "Gaussian", 1.0), []
    for epsilon in (0.03, 1e5):
        session = open_seeded(
            make_small_table(rows, n_public=len(rows)), Accounting.ZCDP, epsilon=epsilon, delta=1e-6, seed=rng
        )
        look, edge = _buy_axes(session, np.zeros(6), 1.0, part, {part: session.budget})
        thin, doubtful = 0.5 * look.spread / 6, look.captured < 2 * edge
        assert (look.variances <= np.maximum(look.captured, thin)).all() and look.variances.min() == thin
        np.testing.assert_array_equal(look.variances[~doubtful], np.maximum(look.captured, thin)[~doubtful])
        believed.append((look.variances < look.captured).any())
    assert believed == [True, False]
    assert look.variances[0] == np.float64(look.captured[0]) and abs(look.captured[0] - 0.09) < 0.01


def test_half_of_the_rows_surely_lie_within_the_sure_median_where_noise_hides_fewer():
    edges, rng = np.linspace(0.0, FARTHEST, BINS + 1), np.random.default_rng(1)
    middle = float(np.interp(ROWS.sum() / 2, np.r_[0.0, ROWS.cumsum()], edges))
    noisy = [
        _read_medians(ROWS + each, edges, SCALE, int(ROWS.sum())) for each in rng.laplace(scale=SCALE, size=(300, BINS))
    ]
    surely, about = np.array(noisy).T
    assert (surely > middle).mean() > 0.98
    assert abs(np.median(about) - middle) < 0.05
    assert (about >= surely / 2).all()
    assert _read_medians(np.zeros(BINS), edges, SCALE, 1000) == (FARTHEST, FARTHEST)


def test_of_many_rows_a_hundredth_may_lie_farther_out():
    few, many = ROWS.copy(), ROWS.copy()
    few[30], many[30] = 900.0, 1_100.0  # of a hundred thousand, with next to no noise
    assert [_find_clipping_radius(rows, FARTHEST, 1.0, 100_000) for rows in (few, many)] == [4, 31]


def test_the_widest_axis_of_noise_alone_is_at_its_edge():
    session = open_seeded(make_small_table(np.zeros((2, 40)), n_public=1_000), Accounting.ZCDP, delta=1e-6, seed=1)
    part = StagePart("look", "axes", "Gaussian", 1.0)
    look, edge = _buy_axes(session, np.zeros(40), 1.0, part, {part: session.budget})
    assert 0.85 * edge < look.captured[0] < 1.1 * edge
