"""Intervals cover what is true in nine of ten releases, whatever the rows, and say nothing where noise drowns all."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.releases.tallies import Interval, bound_quantile, bound_ratio, bound_share, bound_sum, to_plain

SEEDS = st.integers(0, 2**32 - 1)
# Nine tenths, less three standard deviations of a share of so many draws.
DRAWS = 600
LEAST = 0.9 - 3 * np.sqrt(0.09 / DRAWS)
SHAPES = {
    "even": np.full(16, 60.0),
    "one heap": np.r_[np.zeros(7), 900.0, np.zeros(8)],
    "two heaps": np.r_[400.0, np.zeros(14), 400.0],
    "slope": np.arange(16) * 10.0,
    "few": np.full(16, 3.0),
    "one": np.r_[np.zeros(15), 1.0],
}


@pytest.mark.parametrize(("shape", "scale"), list(zip(SHAPES, [2.0, 40.0, 2.0, 1000.0, 40.0, 1000.0], strict=True)))
def test_a_quantile_is_covered_in_nine_of_ten_draws(shape, scale):
    rng, counts, edges = np.random.default_rng(1), SHAPES[shape], np.linspace(0, 32, 17)
    numbers = np.repeat((edges[1:] + edges[:-1]) / 2, counts.astype(int))
    for level in (0.25, 0.5):
        true = np.quantile(numbers, level, method="inverted_cdf")
        found = [bound_quantile(counts + rng.laplace(0, scale, 16), edges, level, scale * 2**0.5) for _ in range(DRAWS)]
        assert np.mean([one.low <= true <= one.high for one in found]) >= LEAST
        assert all(0 <= one.low <= one.value <= one.high <= 32 for one in found)


@pytest.mark.parametrize(
    ("counts", "scale"),
    [([500.0, 300, 20, 0], 2.0), ([500.0, 300, 20, 0], 1000.0), ([0.0, 0, 0, 9], 2.0), ([50.0, 50, 50, 50], 40.0)],
    ids=str,
)
def test_a_share_is_covered_in_nine_of_ten_draws(counts, scale):
    rng, counts = np.random.default_rng(2), np.array(counts)
    noisy = counts + rng.laplace(0, scale, (DRAWS, 4))
    for place in range(4):
        true, found = counts[place] / counts.sum(), [bound_share(one, place, scale * 2**0.5) for one in noisy]
        assert np.mean([one.low - 1e-12 <= true <= one.high + 1e-12 for one in found]) >= LEAST
        assert all(0 <= one.low <= one.value <= one.high <= 1 for one in found)


@given(SEEDS, st.integers(1, 40), st.floats(0.05, 0.95))
def test_without_noise_a_quantile_is_in_its_bin_and_a_share_is_itself(seed, m, level):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 30, m).astype(float)
    counts[rng.integers(m)] += 1
    edges = np.sort(rng.uniform(-5, 5, m + 1)) + np.arange(m + 1)
    place = int(np.searchsorted(np.cumsum(counts), level * counts.sum()))
    found = bound_quantile(counts, edges, level, 0.0)
    assert found.low <= edges[place] + 1e-9 and edges[place] - 1e-9 <= found.value <= edges[place + 1] + 1e-9
    one = bound_share(counts, place, 0.0)
    assert one.low == pytest.approx(one.high, abs=1e-6) == pytest.approx(counts[place] / counts.sum(), abs=1e-6)


def test_sums_and_ratios():
    rng = np.random.default_rng(3)
    over, under = 300 + 15 * rng.normal(size=DRAWS), 1000 + 120 * rng.normal(size=DRAWS)
    found = [bound_ratio(a, 15.0, b, 120.0) for a, b in zip(over, under, strict=True)]
    assert np.mean([one.low <= 0.3 <= one.high for one in found]) >= LEAST
    assert np.mean([one.low > 0.15 and one.high < 0.6 for one in found]) > 0.9
    assert bound_ratio(0.25, 0.0, 0.5, 0.0) == Interval(0.5, 0.5, 0.5)
    assert bound_ratio(-5.0, 1.0, 100.0, 1.0).value == 0.0
    assert bound_ratio(5.0, 1.0, 1.0, 10.0).high == np.inf and np.isnan(bound_ratio(5.0, 1.0, -1.0, 1.0).value)
    assert bound_sum(10.0, 100.0) == Interval(10.0, 0.0, pytest.approx(185.07))


def test_plain_values_are_json():
    value = {"a": (np.float64(1.5), float("inf")), "b": [np.int64(3), "x", None]}
    assert json.loads(json.dumps(to_plain(value), allow_nan=False)) == {"a": [1.5, None], "b": [3, "x", None]}


def test_the_ends_of_a_share_are_where_its_statistic_reaches_the_noise():
    counts, sd, normal = np.array([300.0, 500.0, 200.0, 50.0]), 12.0, bound_sum(0.0, 1.0).high
    for place in range(4):
        found = bound_share(counts, place, sd)
        for p in (found.low, found.high):
            noise = sd * np.sqrt((1 - p) ** 2 + p**2 * (len(counts) - 1))
            assert abs(counts[place] - p * counts.sum()) == pytest.approx(normal * noise)
        assert found.low < found.value < found.high


def test_counts_that_noise_made_negative_are_evened_out_from_both_sides():
    found = bound_quantile(np.array([10.0, -4.0, 10.0]), np.arange(4.0), 0.5, 0.1)
    assert found.value == 1.0  # up to the edges 0 to 3 lie 0, 8, 8 and 16
    assert bound_quantile(np.array([10.0, 30.0, 10.0]), np.arange(4.0), 0.4, 0.1).value == pytest.approx(4 / 3)
