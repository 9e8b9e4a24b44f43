"""Densities that belong to the samplers: what a test adds up is the law that was drawn from."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from dpviz.core.mechanisms import (
    Exponential,
    Gaussian,
    KNorm,
    Laplace,
    NoisyThreshold,
    SparseLaplace,
    draw_absent_codes,
)
from dpviz.core.noise import StudyNoise
from dpviz.core.queries import SparseCounts


def _noise(seed=0):
    return StudyNoise(np.random.default_rng(seed))


def _counts(pairs, universe):
    codes, values = zip(*sorted(pairs.items()), strict=True) if pairs else ((), ())
    return SparseCounts(np.array(codes, dtype=np.int64), np.array(values, dtype=float), universe)


@pytest.mark.parametrize(
    ("mechanism", "law"), [(Laplace(1.0, 0.7), stats.laplace(scale=0.7)), (Gaussian(1.0, 0.7), stats.norm(scale=0.7))]
)
def test_the_tail_and_ratios_of_densities_are_those_of_the_noise(mechanism, law):
    for level in (-40.0, -1.0, 0.0, 0.3, 7.0, 500.0):
        assert mechanism.log_above(np.array([level]))[0] == pytest.approx(law.logsf(level), abs=1e-12, rel=1e-9)
    released, here, there = np.array([0.3, -2.0]), np.array([0.0, 1.0]), np.array([1.0, 1.0])
    ratio = mechanism.log_density(released, here) - mechanism.log_density(released, there)
    assert ratio == pytest.approx((law.logpdf(released - here) - law.logpdf(released - there)).sum())


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_spherical_noise_has_the_density_that_its_ratio_assumes(dim):
    # Radius Gamma(d, s) with a uniform direction is density exp(-r/s): r^(d-1) of surface is in the Gamma law.
    mechanism = KNorm(1.0, 0.5)
    released, here, there = np.full((1, dim), 0.3), np.zeros((1, dim)), np.ones((1, dim))
    ratio = mechanism.log_density(released, here) - mechanism.log_density(released, there)
    surface = 2 * math.pi ** (dim / 2) / special.gamma(dim / 2)

    def density(at):
        radius = np.linalg.norm(released - at)
        return stats.gamma(dim, scale=0.5).pdf(radius) / surface / radius ** (dim - 1)

    assert ratio == pytest.approx(math.log(density(here) / density(there)))
    assert mechanism.compute_sd(dim) ** 2 * dim == pytest.approx(stats.gamma(dim, scale=0.5).moment(2))


def test_a_selection_is_normalised_and_a_prior_counts():
    losses = np.array([[1.0, 3.0], [2.0, 1e6]])
    plain = Exponential(2.0, 0.5)
    weights = np.array([plain.log_density(i, losses) for i in range(4)])
    assert special.logsumexp(weights) == pytest.approx(0) and weights[0] - weights[1] == pytest.approx(4)
    leaning = Exponential(2.0, 0.5, np.log(np.array([[0.1, 0.7], [0.2, 0.0001]])))
    assert leaning.log_density(1, losses) - leaning.log_density(0, losses) == pytest.approx(math.log(7) - 4)
    forbidden = Exponential(2.0, 0.5, np.array([[-np.inf, 0.0], [0.0, 0.0]]))
    assert all(forbidden.draw(losses, _noise(seed)) != 0 for seed in range(200))


THRESHOLDS = [NoisyThreshold(Laplace(1.0, 1.5), 2.0), NoisyThreshold(Gaussian(1.0, 1.5), 2.0)]


@pytest.mark.slow
@pytest.mark.parametrize(("mechanism", "truth"), [(THRESHOLDS[0], {0: 1.0, 3: 6.0}), (THRESHOLDS[1], {2: 3.0})])
def test_thresholds_draw_every_subset_with_its_probability(mechanism, truth):
    counts = _counts(truth, 4)
    subsets = [np.array(s, dtype=np.int64) for r in range(5) for s in itertools.combinations(range(4), r)]
    law = np.exp([mechanism.log_density(subset, counts) for subset in subsets])
    assert law.sum() == pytest.approx(1)
    place = {tuple(subset): i for i, subset in enumerate(subsets)}
    source = _noise(3)
    many = 4_000
    drawn = np.bincount([place[tuple(mechanism.draw(counts, source))] for _ in range(many)], minlength=len(subsets))
    likely = law * many >= 5
    seen = [*drawn[likely], drawn[~likely].sum() + 1]
    assert stats.chisquare(seen, [*(law[likely] * many), law[~likely].sum() * many + 1]).pvalue > 1e-3


@given(st.integers(0, 2**32 - 1), st.integers(0, 3))
def test_no_release_of_a_threshold_or_a_cut_tells_more_than_it_costs(seed, extra):
    rng = np.random.default_rng(seed)
    truth = {int(code): float(rng.integers(1, 9)) for code in rng.integers(0, 40, 5)}
    more = dict(truth)
    code = int(rng.integers(0, 40))
    more[code] = more.get(code, 0.0) + 1
    here, there = _counts(truth, 40), _counts(more, 40)
    source = _noise(seed)
    for mechanism in (NoisyThreshold(Laplace(1.0, 0.8), 1.0 + extra), SparseLaplace(Laplace(1.0, 0.8), 0.5 * extra)):
        for table in (here, there):
            released = mechanism.draw(table, source)
            ratio = mechanism.log_density(released, here) - mechanism.log_density(released, there)
            assert abs(ratio) <= 1 / 0.8 + 1e-9


def test_absent_codes_of_a_huge_universe_are_not_the_small_ones():
    codes = draw_absent_codes(_counts({2**60 + 1: 3.0}, 2**62), 5000, _noise(1))
    assert stats.kstest(codes / 2.0**62, "uniform").pvalue > 1e-3
    assert len(np.unique(codes)) == 5000


def test_sparse_counts_add_up_like_dense_ones():
    rng = np.random.default_rng(0)
    every = np.split(rng.integers(-1, 30, 48), [0, 5, 45, 45])
    first, *others = (SparseCounts.of(chunk, 30) for chunk in every)
    counts = sum(others, first).get_counts(np.arange(30))
    np.testing.assert_array_equal(counts, np.bincount(np.concatenate(every) + 1, minlength=31)[1:])
