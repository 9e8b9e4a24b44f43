"""Verdicts on mechanisms on tuples, which planted mistakes must fail."""

from __future__ import annotations

from math import e, exp, log, log1p, sqrt

import numpy as np
from scipy import stats
from scipy.optimize import brentq

from dpviz.core.accounting import Accounting, gdp_epsilon
from dpviz.core.noise import StudyNoise
from dpviz.core.tuples import NoisyCenters, PartitionTest, TupleAverages, TupleTable, count_misfits

# A large δ needs fewer tuples, which makes a draw cheap.
CHEAP = {"epsilon": 1.0, "delta": 0.01, "k": 2, "number": 560, "beta": 0.05}
SMALL = {"epsilon": 1.0, "delta": 1e-6, "k": 2, "number": 1720, "beta": 0.05}


def tight_tuples(number: int, k: int = 2, dim: int = 2, *, jitter: float = 0.0, misfits: int = 0, seed: int = 0):
    """Tuples around k far-apart points, their points in a random order; the last ``misfits`` have two at one place."""
    rng = np.random.default_rng(seed)
    places = np.zeros((k, dim))
    places[:, 0] = np.linspace(-0.8, 0.8, k)
    tuples = places + jitter * rng.standard_normal((number, k, dim))
    if misfits:
        tuples[-misfits:, 0] = tuples[-misfits:, 1]
    return rng.permuted(tuples, axis=1) if dim == 1 else np.stack([t[rng.permutation(k)] for t in tuples])


def amplified(vote_epsilon: float, *, sampled: int, number: int) -> float:
    """ε of a mechanism that is ``vote_epsilon``-DP on a sample without replacement (Cohen et al. 2021, Lemma 2.10)."""
    return log1p(sampled / number * (exp(vote_epsilon) - 1))


def check_plan(test: PartitionTest) -> None:
    """m is the least that the formulas allow, ε₁ costs at most half of ε after sampling, and too few tuples are ⊥."""
    plan = test.plan
    assert plan is not None
    wanted = 2 * log(1 / test.delta) + log(1 / test.beta)
    assert plan.sampled > wanted / plan.vote_epsilon
    assert amplified(plan.vote_epsilon, sampled=plan.sampled, number=test.number) <= test.epsilon / 2 * (1 + 1e-9)
    assert plan.misfits == 2 * plan.sampled / test.epsilon * log(plan.sampled / (test.beta * test.delta))
    assert test.number >= 2 * plan.misfits + 2


def check_status_rate(test: PartitionTest, misfits: int, *, runs: int, seed: int = 0) -> None:
    """How often the test passes is what the formulas say, for tuples of which so many do not fit."""
    tuples = tight_tuples(test.number, dim=1, misfits=misfits)
    noise = StudyNoise(np.random.default_rng(seed))
    passed = sum(test.centers(tuples, noise) is not None for _ in range(runs))
    rate = status_rate(test, misfits)
    assert 0.05 < rate < 0.95, "too sure to tell"
    assert stats.binomtest(passed, runs, rate).pvalue > 1e-3, (passed / runs, rate)


def status_rate(test: PartitionTest, misfits: int) -> float:
    """Chance of passing: m votes of tuples that fit, each with noise, and a noisy sum of them."""
    plan = test.plan
    assert plan is not None
    m, scale = plan.sampled, plan.sampled / (test.epsilon / 2)
    votes = stats.laplace(scale=scale).cdf(scale * log(m / test.beta) - misfits)
    total = 0.0
    for fitting in range(1, m + 1):
        sampled = stats.hypergeom(test.number, test.number - misfits, m).pmf(fitting)
        law = stats.binom(fitting, votes).pmf(np.arange(fitting + 1))
        needed = m - log(1 / test.beta) / plan.vote_epsilon
        enough = stats.laplace(scale=1 / plan.vote_epsilon).sf(needed - np.arange(fitting + 1))
        total += sampled * float((law * enough)[1:].sum())
    return total


def check_reach(mechanism: NoisyCenters, *, levels: int = 40) -> None:
    """λ is ε/4k-DP between tuples whose distances differ by as much as they may, whatever it comes out as."""
    ratio = (mechanism.far + 2) / (mechanism.far - 2)
    assert mechanism.k == 2
    here, there = np.array([[-0.5], [0.5]]), ratio * np.array([[-0.5], [0.5]])
    scale = 4 * mechanism.k / mechanism.epsilon

    def reach(centers, laplace):
        return float(mechanism.compute_distance_bounds(centers, np.full(2, laplace))[0])

    for laplace in np.linspace(-6, 6, levels) * scale:
        target = reach(here, laplace)
        if target <= 0 or target > exp(99):
            continue
        span = 60 * scale
        if (reach(there, -span) - target) * (reach(there, span) - target) > 0:
            raise AssertionError("some λ is impossible for the neighbour")
        other = brentq(lambda x, target=target: reach(there, x) - target, -span, span, xtol=1e-9)
        step = 1e-4 * scale
        slopes = [reach(c, x + step) - reach(c, x - step) for c, x in ((here, laplace), (there, other))]
        loss = abs((abs(other) - abs(laplace)) / scale + log(slopes[1] / slopes[0]))
        assert loss <= mechanism.epsilon / (4 * mechanism.k) * (1 + 1e-3), loss


def check_group_budget(mechanism: TupleAverages) -> None:
    """All points that may change, in all clusters, cost ε/2 and δ/4 together, and the parts of an average its ε."""
    average, plan = mechanism.average, mechanism.test.plan
    assert average is not None and plan is not None
    changes = 2 * mechanism.k * (plan.misfits + 1)
    assert changes * average.epsilon <= mechanism.epsilon / 2 * (1 + 1e-9)
    assert changes * exp(mechanism.epsilon / 2) * average.delta <= mechanism.delta / 4 * (1 + 1e-9)
    assert mechanism.epsilon <= 1 < e
    radius = average.comparisons / average.pair_scale
    multiplier = average.mean_sd * average.expected / (2 * np.sqrt(average.dim))
    mean = np.sqrt(2 * np.log(1.25 / average.delta)) / multiplier
    assert radius + average.epsilon / 2 + mean <= average.epsilon * (1 + 1e-9)


def check_order(mechanism: NoisyCenters | TupleAverages, *, draws: int = 40) -> None:
    """Released points come in lexicographic order, which says nothing of their order in the tuple."""
    tuples = tight_tuples(mechanism.number, mechanism.k, dim=1, jitter=1e-7)
    noise = StudyNoise(np.random.default_rng(3))
    found = [mechanism.draw(TupleTable(tuples), noise) for _ in range(draws)]
    assert any(released.passed for released in found)
    for released in found:
        if released.centers is not None:
            assert (np.diff(released.centers[:, 0]) >= 0).all()


class Overheard(StudyNoise):
    """Orders as usual; Laplace noise of 0 and Gaussian noise of 1, whose scales are written down."""

    def __init__(self, seed: int) -> None:
        super().__init__(np.random.default_rng(seed))
        self.laplace_scales: list[np.ndarray] = []

    def laplace(self, scale, shape):
        self.laplace_scales.append(np.full(shape, scale))
        return np.zeros(shape)

    def normal(self, sd, shape):
        return np.full(shape, sd)


def check_price_of_noise(mechanism: NoisyCenters) -> None:
    """The noise that a draw takes, priced part by part, costs what is booked: all of ε, and no more.

    Of the test, one tuple moves each of m counts of misfits by 1, and a vote of a sample by 1; of the release, the
    logarithm of each of k distances by s, and the k points by λ each, at δ/8k each or δ/8 together.
    """
    k, noise = mechanism.k, Overheard(0)
    released = mechanism.draw(TupleTable(tight_tuples(mechanism.number, k, dim=1)), noise).centers
    assert released is not None
    misfits, vote, reach = noise.laplace_scales
    tested = (1 / misfits).sum() + amplified(1 / float(vote), sampled=len(misfits), number=mechanism.number)
    measured = (1 / reach).sum()
    places = np.linspace(-0.8, 0.8, k)[:, None]
    multiplier = float(np.min((released - places)[:, 0] / mechanism.compute_distance_bounds(places, np.zeros(k))))
    if mechanism.printed:
        moved = k * sqrt(2 * log(1.25 * 8 * k / mechanism.delta)) / multiplier
    else:
        moved = gdp_epsilon(sqrt(k) / multiplier, mechanism.delta / 8)
    total = tested + measured + moved
    # The printed bound on the vote leaves some of its share.
    least = 0.9 if mechanism.printed else 0.999
    assert least * mechanism.epsilon <= total <= mechanism.epsilon * (1 + 1e-6), (tested, measured, moved)
    assert mechanism.cost(Accounting.BASIC) == mechanism.epsilon


def naive_misfits(one: np.ndarray, tuples: np.ndarray, far: float) -> int:
    """ℓ, written down naively."""
    count = 0
    for other in tuples:
        fits = True
        for i, center in enumerate(one):
            radius = min(np.linalg.norm(center - c) for j, c in enumerate(one) if j != i) / far
            fits &= sum(np.linalg.norm(point - center) <= radius for point in other) == 1
        count += not fits
    return count


def check_misfits(count=count_misfits) -> None:
    """ℓ by brute force, and the same whatever the order of points in tuples."""
    rng = np.random.default_rng(0)
    for _ in range(30):
        k, dim = int(rng.integers(2, 5)), int(rng.integers(1, 4))
        far = float(rng.uniform(2, 8))
        places = rng.uniform(-1, 1, (k, dim))
        tuples = np.stack([(places + 0.06 * rng.normal(size=(k, dim)))[rng.permutation(k)] for _ in range(40)])
        found = count(tuples[0], tuples, far)
        assert found == naive_misfits(tuples[0], tuples, far)
        shuffled = np.stack([t[rng.permutation(k)] for t in tuples])
        assert count(tuples[0][::-1], shuffled, far) == found
