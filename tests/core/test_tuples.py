"""Mechanisms on tables of tuples: the test, noisy centres, averages, and the numbers that the paper gives."""

from math import exp, log, log1p, sqrt

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq

from dpviz.algorithms.balcan2017.projection import draw_orthonormal_frame
from dpviz.algorithms.cohen2021.tested_tuples import compute_printed_far, find_smallest_number
from dpviz.core.accounting import Accounting, Budget, gdp_epsilon
from dpviz.core.check import RequestError
from dpviz.core.noise import StudyNoise
from dpviz.core.queries import Sensitivity
from dpviz.core.tuples import (
    NoisyCenters,
    PartitionTest,
    PrivateAverage,
    TupleAverages,
    TupleTable,
    compute_classic_multiplier,
    count_misfits,
    measure_pair_distances,
)
from tests.cases import for_each
from tests.contract.laws import check_frequencies, check_independent, check_scale
from tests.core.tuple_checks import CHEAP, SMALL, tight_tuples

ONE_TUPLE = Sensitivity(l1=1.0, l2=1.0)
CENTERS = NoisyCenters(**SMALL, far=1400.0)
AVERAGES = TupleAverages(**SMALL, dim=2, finest=1e-4, bound=1.0, printed=True)


def _noise(seed=0):
    return StudyNoise(np.random.default_rng(seed))


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


@pytest.mark.parametrize(("epsilon", "delta", "fewest"), [(1, 1e-6, 1698), (1, exp(-28), 4296), (0.5, 1e-6, 3393)])
def test_the_fewest_tuples_are_those_of_the_printed_formulas(epsilon, delta, fewest):
    constants = {"epsilon": epsilon / 2, "delta": delta / 4, "beta": 0.025}
    assert find_smallest_number(**constants, printed=True) == fewest
    assert find_smallest_number(**constants, printed=False) < fewest
    for printed, number in ((True, fewest), (False, find_smallest_number(**constants, printed=False))):
        check_plan(PartitionTest(**constants, far=7.0, number=number, printed=printed))
        check_plan(PartitionTest(**constants, far=7.0, number=50 * number, printed=printed))
        assert PartitionTest(**constants, far=7.0, number=number - 1, printed=printed).plan is None


def test_the_papers_delta_is_557():
    assert compute_printed_far(epsilon=1, delta=1e-6, k=2, beta=0.05) == pytest.approx(557.3, abs=0.1)


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


def test_misfits_are_those_of_brute_force():
    """ℓ by brute force, and the same whatever the order of points in tuples."""
    rng = np.random.default_rng(0)
    for _ in range(30):
        k, dim = int(rng.integers(2, 5)), int(rng.integers(1, 4))
        far = float(rng.uniform(2, 8))
        places = rng.uniform(-1, 1, (k, dim))
        tuples = np.stack([(places + 0.06 * rng.normal(size=(k, dim)))[rng.permutation(k)] for _ in range(40)])
        found = count_misfits(tuples[0], tuples, far)
        assert found == naive_misfits(tuples[0], tuples, far)
        shuffled = np.stack([t[rng.permutation(k)] for t in tuples])
        assert count_misfits(tuples[0][::-1], shuffled, far) == found


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


@pytest.mark.some(1)
@pytest.mark.parametrize("misfits", [60, 90])
def test_the_status_has_the_law_of_its_formulas(misfits):
    test, noise = NoisyCenters(**CHEAP, far=1400.0).test, _noise()
    tuples = tight_tuples(test.number, dim=1, misfits=misfits)
    passed, rate = sum(test.centers(tuples, noise) is not None for _ in range(500)), status_rate(test, misfits)
    assert 0.05 < rate < 0.95, "too sure to tell"
    assert stats.binomtest(passed, 500, rate).pvalue > 1e-3, (passed, rate)


def test_every_laplace_number_has_the_scale_of_its_formula():
    drawn = []

    class Recording(StudyNoise):
        def laplace(self, scale, shape):
            drawn.append((scale, shape))
            return super().laplace(scale, shape)

    CENTERS.draw(TupleTable(tight_tuples(SMALL["number"])), Recording(np.random.default_rng(1)))
    plan = CENTERS.test.plan
    # The test has half of ε, of which its counts of misfits have half: m/ε₂; the vote: 1/ε₁; λ: 4k/ε.
    assert drawn == [(plan.sampled / 0.25, (plan.sampled,)), (1 / plan.vote_epsilon, ()), (8.0, (2,))]
    assert CENTERS.test.misfit_limit == pytest.approx(plan.sampled / 0.25 * log(plan.sampled / 0.025))
    assert CENTERS.test.vote_limit == pytest.approx(plan.sampled - log(1 / 0.025) / plan.vote_epsilon)


def test_too_few_tuples_are_answered_bottom_without_a_draw():
    few = NoisyCenters(**{**SMALL, "number": 1500}, far=1400.0)
    assert not few.draw(TupleTable(tight_tuples(1500)), None).passed
    few = TupleAverages(**{**SMALL, "number": 1500}, dim=2, finest=1e-4, bound=1.0)
    assert not few.draw(TupleTable(tight_tuples(1500)), None).passed
    # Enough for the test, but not for averages: released as noise by the paper's preset only.
    useless = TupleAverages(**SMALL, dim=2, finest=1e-4, bound=1.0)
    assert not useless.draw(TupleTable(tight_tuples(SMALL["number"])), None).passed


@pytest.mark.parametrize("far", [7.0, 100.0, 557.0])
def test_the_reach_is_as_private_as_it_is_paid_for(far):
    """λ is ε/4k-DP between tuples whose distances differ by as much as they may, whatever it comes out as."""
    mechanism, ratio = NoisyCenters(**SMALL, far=far), (far + 2) / (far - 2)
    here, there = np.array([[-0.5], [0.5]]), ratio * np.array([[-0.5], [0.5]])
    scale = 4 * mechanism.k / mechanism.epsilon

    def reach(centers, laplace):
        return float(mechanism.compute_distance_bounds(centers, np.full(2, laplace))[0])

    for laplace in np.linspace(-6, 6, 40) * scale:
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


def test_noisy_centres_have_the_noise_that_is_planned():
    # At a huge Δ the reach hardly varies, and the noise is Gaussian.
    k = 8
    mechanism = NoisyCenters(**{**CHEAP, "k": k}, far=1e6)
    tuples, noise = TupleTable(tight_tuples(mechanism.number, k, dim=1)), _noise(2)
    found = [r.centers for r in (mechanism.draw(tuples, noise) for _ in range(180)) if r.passed]
    assert len(found) > 150
    shift = np.array(found)[:, :, 0] - np.linspace(-0.8, 0.8, k)
    check_scale(shift.ravel(), stats.norm, 1.6 / (k - 1) * mechanism.relative_sd)
    check_independent(shift / shift.std())


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


@pytest.mark.parametrize(
    ("epsilon", "delta", "k", "printed"), [(1.0, 0.01, 2, False), (1.0, 1e-6, 3, True), (0.3, 1e-4, 2, False)]
)
def test_the_noise_of_noisy_centres_costs_what_is_booked(epsilon, delta, k, printed):
    """The noise that a draw takes, priced part by part, costs what is booked: all of ε, and no more.

    Of the test, one tuple moves each of m counts of misfits by 1, and a vote of a sample by 1; of the release, the
    logarithm of each of k distances by s, and the k points by λ each, at δ/8k each or δ/8 together.
    """
    number = find_smallest_number(epsilon=epsilon / 2, delta=delta / 4, beta=0.025, printed=printed)
    mechanism = NoisyCenters(epsilon=epsilon, delta=delta, k=k, number=number, far=1400.0, beta=0.05, printed=printed)
    noise = Overheard(0)
    released = mechanism.draw(TupleTable(tight_tuples(mechanism.number, k, dim=1)), noise).centers
    assert released is not None
    misfits, vote, reach = noise.laplace_scales
    tested = (1 / misfits).sum() + amplified(1 / float(vote), sampled=len(misfits), number=mechanism.number)
    measured = (1 / reach).sum()
    places = np.linspace(-0.8, 0.8, k)[:, None]
    multiplier = float(np.min((released - places)[:, 0] / mechanism.compute_distance_bounds(places, np.zeros(k))))
    if printed:
        moved = k * sqrt(2 * log(1.25 * 8 * k / mechanism.delta)) / multiplier
    else:
        moved = gdp_epsilon(sqrt(k) / multiplier, mechanism.delta / 8)
    total = tested + measured + moved
    # The printed bound on the vote leaves some of its share.
    least = 0.9 if printed else 0.999
    assert least * mechanism.epsilon <= total <= mechanism.epsilon * (1 + 1e-6), (tested, measured, moved)
    assert mechanism.cost(Accounting.BASIC) == mechanism.epsilon


def test_group_privacy_adds_up_to_the_budget():
    # All points that may change, in all clusters, cost ε/2 and δ/4 together, and the parts of an average its ε.
    for k, number in ((2, 1600), (3, 10_000), (8, 10**7)):
        averages = TupleAverages(**{**SMALL, "k": k, "number": number}, dim=3, finest=1e-3, bound=1.0)
        average, plan = averages.average, averages.test.plan
        assert average is not None and plan is not None
        changes = 2 * averages.k * (plan.misfits + 1)
        assert changes * average.epsilon <= averages.epsilon / 2 * (1 + 1e-9)
        assert changes * exp(averages.epsilon / 2) * average.delta <= averages.delta / 4 * (1 + 1e-9)
        assert averages.epsilon <= 1
        radius = average.comparisons / average.pair_scale
        multiplier = average.mean_sd * average.expected / (2 * np.sqrt(average.dim))
        mean = np.sqrt(2 * np.log(1.25 / average.delta)) / multiplier
        assert radius + average.epsilon / 2 + mean == pytest.approx(average.epsilon)
        # And no less than there is.
        changes = 2 * k * (averages.test.plan.misfits + 1)
        assert changes * exp(averages.epsilon / 2) * averages.average.delta == pytest.approx(averages.delta / 4)
    alone = TupleAverages(**{**SMALL, "k": 1}, dim=2, finest=1e-4, bound=1.0).average
    # A replaced tuple is one point less and one more.
    assert 2 * alone.epsilon == pytest.approx(SMALL["epsilon"])
    assert alone.delta * (1 + exp(alone.epsilon)) == pytest.approx(SMALL["delta"])


def _placed(average, middle, exponent):
    """The average of a cloud that is known to lie there, of 2 to the ``exponent`` times the finest radius."""

    class Placed(PrivateAverage):
        def choose_interior(self, values, radius, noise):
            return middle

        def find_radius_exponent(self, distances, noise):
            return exponent

    return Placed(**vars(average))


class _Still(StudyNoise):
    """No Gaussian noise, but it tells how much there would be."""

    sd = 0.0

    def normal(self, sd, shape):
        self.sd = sd
        return np.zeros(shape)


@for_each(
    "dim, turned, middle, exponent",
    [(3, None, 0, 0), (400, 7, 0, 0), (3, 7, 0, 6), (400, None, 0.1, 6), (1, None, 0.1, 6)],
)
def test_a_point_moves_a_sum_by_what_its_noise_is_paid_for(dim, turned, middle, exponent):
    axes = None if turned is None else draw_orthonormal_frame(dim, dim, np.random.default_rng(turned))
    average = _placed(PrivateAverage(0.5, 1e-8, 1000, 1e-3, 1.0, dim, axes), middle, exponent)
    cloud, frame = np.full((1000, dim), middle), np.eye(dim) if axes is None else axes
    # Room for a point in the direction of any column, and not much more.
    assert np.abs(frame).max() <= average.narrow < 1.6 * np.abs(frame).max()
    far = np.vstack([cloud, np.full(dim, 10.0) @ frame])  # beyond the width of a cloud along every axis
    noise = _Still(np.random.default_rng(0))
    moved = average.expected * np.linalg.norm(average.draw(far, noise) - average.draw(cloud, noise))
    paid = noise.sd / compute_classic_multiplier(average.epsilon / 4, average.delta)
    assert 0.999 * paid < moved <= paid * (1 + 1e-9)


def test_pairs_are_disjoint_and_all_but_one_point_has_one():
    for n in (0, 1, 2, 7, 8):
        distances = measure_pair_distances(2.0 ** np.arange(n)[:, None], _noise(n))
        assert len(distances) == n // 2 == len(set(distances.tolist()))


@pytest.mark.parametrize("finest", [1e-4, 0.4, 1.9])
def test_the_search_for_a_radius_makes_the_comparisons_that_are_paid_for_whatever_it_finds(finest):
    average = PrivateAverage(3.0, 1e-6, 100, finest, 1.0, 1)
    for distances in (np.zeros(50), np.full(50, 0.02), np.full(50, 2.0), np.zeros(0)):
        noise = Overheard(0)
        average.find_radius_exponent(distances, noise)
        assert sum(1 / float(scale) for scale in noise.laplace_scales) == pytest.approx(average.epsilon / 4)


@pytest.mark.some(1)
@pytest.mark.parametrize("dim", [1, 4])
def test_interior_points_have_the_exponential_law_on_the_grid(dim):
    # Half of ε pays for the interior points of all axes together, a score of range 1 for each.
    values = np.array([-0.6, -0.3, -0.3, 0.1, 0.5, 0.55, 0.9])
    average = PrivateAverage(2.0, 1e-6, 7, 1e-3, 1.0, dim)
    step = 0.25
    grid = np.arange(-1, 1.001, step)
    below = (values <= grid[:, None] + 1e-12).sum(axis=1)
    law = np.exp(2.0 / (2 * dim) * np.minimum(below, len(values) - below))
    noise, radius = _noise(5), step * np.sqrt(dim)
    drawn = np.round((np.array([average.choose_interior(values, radius, noise) for _ in range(3000)]) + 1) / step)
    check_frequencies(np.bincount(drawn.astype(int), minlength=len(grid)), law / law.sum())


def test_what_cannot_be_bought():
    share = Budget(Accounting.BASIC, 1.0, 1e-6)
    options = {"k": 2, "number": 1600, "far": 500.0, "beta": 0.05}
    assert NoisyCenters.calibrated(share, ONE_TUPLE, **options).cost(Accounting.BASIC) == 1.0
    for wrong, said in (
        (Budget(Accounting.PURE, 1.0), "basic accounting"),
        (Budget(Accounting.ZCDP, 1.0), "basic accounting"),
        (Budget(Accounting.BASIC, 1.5, 1e-6), "at most"),
        (Budget(Accounting.BASIC, 1.0, 0.0), "delta > 0"),
    ):
        with pytest.raises(RequestError, match=said):
            NoisyCenters.calibrated(wrong, ONE_TUPLE, **options)
    with pytest.raises(RequestError, match="public number"):
        NoisyCenters.calibrated(share, Sensitivity(l1=np.inf, l2=np.inf), **options)
    for wrong in ({"k": 1}, {"far": 6.0}):
        with pytest.raises(RequestError, match="says nothing"):
            NoisyCenters.calibrated(share, ONE_TUPLE, **{**options, **wrong})
    for mechanism in (CENTERS, AVERAGES):
        with pytest.raises(RequestError, match="cannot be paid"):
            mechanism.cost(Accounting.PURE)
        with pytest.raises(RequestError, match="public one"):
            mechanism.draw(TupleTable(tight_tuples(9)), _noise())


def test_the_radius_is_the_least_that_holds_three_quarters_of_the_pairs():
    average = PrivateAverage(200.0, 1e-6, 1000, 1e-3, 1.0, 1)
    distances = np.full(500, 0.01)
    # 0.001 · 2⁴ is the first radius above 0.01.
    assert {average.find_radius_exponent(distances, _noise(seed)) for seed in range(20)} == {4}
    assert {average.find_radius_exponent(distances[:300], _noise(seed)) for seed in range(20)} == {average.coarsest}
    # Of 500.5 pairs three quarters are more than 375.
    odd = PrivateAverage(20_000.0, 1e-6, 1001, 1e-3, 1.0, 1)
    assert {odd.find_radius_exponent(distances[:375], _noise(seed)) for seed in range(20)} == {odd.coarsest}
