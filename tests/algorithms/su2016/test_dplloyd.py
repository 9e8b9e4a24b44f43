"""DPLloyd: its presets, its rounds and shares, and what its noise does to centres."""

from math import sqrt

import numpy as np

from dpviz.algorithms.tools.lloyd_round import (
    TYPICAL_OFFSET,
    compute_center_noise_sd,
    compute_count_to_sum_ratio,
    compute_noisy_means,
)
from dpviz.core.accounting import Accounting
from dpviz.core.domain import Region
from dpviz.core.mechanisms import Laplace, Measurement
from tests.cases import for_each


@for_each("dim", [1, 2, 6, 40])
@for_each(("accounting", "spherical"), [(Accounting.PURE, False), (Accounting.PURE, True), (Accounting.GDP, False)])
def test_the_split_between_counts_and_sums_has_the_least_error(dim, accounting, spherical):
    # Squared error of sum / count at a typical centre: noise of the sum plus (offset² d) times noise of the count.
    def error(ratio):
        count, total = ratio / (1 + ratio), 1 / (1 + ratio)
        if accounting is not Accounting.PURE:
            of_sums, of_counts = dim * dim / total, 1 / count
        elif spherical:
            of_sums, of_counts = dim * (dim + 1) * dim / total**2, 2 / count**2
        else:
            of_sums, of_counts = 2 * dim * dim**2 / total**2, 2 / count**2
        return of_sums + TYPICAL_OFFSET**2 * dim * of_counts

    best = compute_count_to_sum_ratio(dim, accounting, spherical=spherical)
    others = [best * factor for factor in (0.8, 0.97, 1.03, 1.25)]
    assert all(error(best) < error(other) for other in others)


def released(value: np.ndarray, *, sd: float) -> Measurement:
    return Measurement(value, Laplace(1.0, sd / sqrt(2)))


def test_means_are_not_taken_from_counts_that_say_nothing():
    region = Region(np.ones(2), sqrt(2))
    fallback = np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6], [0.7, 0.8]])
    counts = released(np.array([100.0, 3.0, -50.0, 1e-9]), sd=4.0)
    sums = released(np.array([[50.0, -20.0], [50.0, 50.0], [1e9, 1.0], [5.0, 5.0]]), sd=2.0)
    means = compute_noisy_means(counts, sums, fallback, region)
    np.testing.assert_allclose(means, [[0.5, -0.2], *fallback[1:]])
    np.testing.assert_allclose(compute_center_noise_sd(counts, sums), [0.02, 0.25, 0.25, 0.25])


def test_means_stay_in_the_region():
    counts, sums = released(np.array([10.0]), sd=1.0), released(np.array([[1e6, -1e6]]), sd=1.0)
    inside = compute_noisy_means(counts, sums, np.zeros((1, 2)), Region.ball(2, 0.5))
    assert np.linalg.norm(inside) <= 0.5
