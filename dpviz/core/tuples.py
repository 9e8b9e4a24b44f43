"""Tables of k-tuples: a private test whether they agree, and what is released of their points where they do.

A tuple is k points of a block of rows; one unit of privacy changes one tuple. Nothing of a tuple leaves a mechanism
but what it releases: a status, and noisy points.

Tuples agree if small far-apart balls around one tuple's points hold all the others. Balls are Δ-far if the distance
between any two centres is at least Δ radii. The test reads a sample of tuples, draws balls around the points of each,
and asks how many tuples do not have exactly one point in each ball. What its status costs is in
``docs/proofs/blocks.md``.

References
----------
Cohen, Kaplan, Mansour, Stemmer & Tsfadia 2021, Figs. 1 and 2, Defs. 4.1 and 4.4, Lemma 2.10 (the test), Fig. 3
(PrivatekAverages), Fig. 4 (PrivatekNoisyCenters) and Claim 4.6. The printed λ of Fig. 4 is not private: see
``compute_distance_bounds``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from math import ceil, exp, expm1, inf, log, log1p, log2, prod, sqrt
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from dpviz.core.accounting import Accounting, Budget, LossKind, gdp_mu, refuse_unpriced
from dpviz.core.arrays import Array, Codes
from dpviz.core.check import RequestError
from dpviz.core.content import order_by_content
from dpviz.core.domain import Region
from dpviz.core.lattice import ExactRows
from dpviz.core.mechanisms import NoDensity
from dpviz.core.noise import StudyNoise
from dpviz.core.queries import AsAsked, OfAllRows, Relation, Sensitivity

# More sampled tuples than this are never needed: with δ = 1e-300 it is some hundreds.
_MOST_SAMPLED = 2000
# Temporary numbers of one pass over the tuples.
_NUMBERS = 2**20


class PartitionConstants(NamedTuple):
    """The constants of a test, all public: ``sampled`` tuples (m), ε₁ of the vote, and ℓ, the misfits allowed for."""

    sampled: int
    vote_epsilon: float
    misfits: float


@dataclass(frozen=True)
class PartitionTest:
    """The test, for tables of ``number`` tuples that differ in one of them.

    Its status is (ε, δ)-DP with ε = ``epsilon``; with probability 1 - ``beta`` it passes tuples that fit.

    Parameters
    ----------
    epsilon, delta, beta : float
    far : float
        Δ, in radii of a ball.
    number : int
        Tuples; public.
    printed : bool
        Whether ε₁ is the paper's bound; otherwise it is solved exactly from amplification by sampling, a little larger.
    """

    epsilon: float
    delta: float
    beta: float
    far: float
    number: int
    printed: bool = False

    @property
    def plan(self) -> PartitionConstants | None:
        """Its constants; None where there are too few tuples, and the answer is ⊥ whatever they are."""
        plan = _plan(self.number, self.epsilon, self.delta, self.beta, self.printed)
        return plan if plan is not None and self.number >= 2 * plan.misfits + 2 else None

    @property
    def misfit_limit(self) -> float:
        """A sampled tuple passes if its noisy number of misfits is at most this."""
        return self.misfit_scale * log(self._constants.sampled / self.beta)

    @property
    def vote_limit(self) -> float:
        """The test passes if the noisy number of tuples that passed is at least this."""
        return self._constants.sampled - log(1 / self.beta) / self._constants.vote_epsilon

    @property
    def _constants(self) -> PartitionConstants:
        plan = self.plan
        assert plan is not None, "too few tuples to ask"
        return plan

    @property
    def misfit_scale(self) -> float:
        """Scale of the Laplace noise on a number of misfits.

        Half of ε pays for the m counts of misfits, which one tuple may all change by one.
        """
        return self._constants.sampled / (self.epsilon / 2)

    def centers(self, tuples: Array, noise: StudyNoise) -> Array | None:
        """Of ``tuples`` (n_t, k, d), the points (k, d) of the first sampled one that passed, in a random order, or ⊥.

        Not a release: whoever calls adds noise, and lets the outcome ⊥ show. Half of ε pays for the counts of misfits,
        the other half, amplified by sampling, for the vote. O(m n_t k² d).

        Parameters
        ----------
        tuples
        noise

        Returns
        -------
        array of shape (k, d) or None
            Secret; None where no tuple passed.
        """
        plan = self.plan
        if plan is None or len(tuples) == 0:
            return None
        sample = tuples[np.argsort(noise.uniform((len(tuples),)))[: plan.sampled]]
        misfits = np.array([count_misfits(one, tuples, self.far) for one in sample])
        noisy_misfits = misfits + noise.laplace(self.misfit_scale, misfits.shape)
        passing = noisy_misfits <= self.misfit_limit
        noisy_votes = passing.sum() + float(noise.laplace(1 / plan.vote_epsilon, ()))
        if noisy_votes < self.vote_limit or not passing.any():
            return None
        first: Array = sample[int(np.argmax(passing))]
        return first[np.argsort(noise.uniform((len(first),)))]


def count_misfits(one: Array, tuples: Array, far: float) -> int:
    """ℓ: how many of ``tuples`` (n_t, k, d) do not have exactly one point in each ball around the points of ``one``.

    The radius of a ball is the distance of its centre to the nearest other centre over ``far``.

    Parameters
    ----------
    one : array of shape (k, d)
    tuples : array of shape (n_t, k, d)
        Same coordinates.
    far : float
        Δ, in radii of a ball.

    Returns
    -------
    int
    """
    k = len(one)
    radii = measure_to_nearest(one) / far
    if not radii.all():
        return len(tuples)
    fitting, step = 0, max(1, _NUMBERS // (k * k * one.shape[1]))
    for start in range(0, len(tuples), step):
        part = tuples[start : start + step]
        inside = ((part[:, :, None, :] - one) ** 2).sum(axis=3) <= radii**2
        fitting += int((inside.sum(axis=1) == 1).all(axis=1).sum())
    return len(tuples) - fitting


def measure_to_nearest(points: Array) -> Array:
    """Distance of each of ``points`` (k, d) to the nearest other one, shape (k,)."""
    gaps = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    np.fill_diagonal(gaps, np.inf)
    return np.asarray(gaps.min(axis=1))


@lru_cache(maxsize=4096)
def _plan(number: int, epsilon: float, delta: float, beta: float, printed: bool) -> PartitionConstants | None:
    """m is the smallest integer above (2 ln 1/δ + ln 1/β) / ε₁, where ε₁ falls with m."""
    wanted = 2 * log(1 / delta) + log(1 / beta)
    for sampled in range(1, min(number, _MOST_SAMPLED) + 1):
        vote_epsilon = _compute_vote_epsilon(number, sampled, epsilon, printed)
        if vote_epsilon is None:
            return None
        if sampled > wanted / vote_epsilon:
            return PartitionConstants(sampled, vote_epsilon, 2 * sampled / epsilon * log(sampled / (beta * delta)))
    return None


def _compute_vote_epsilon(number: int, sampled: int, epsilon: float, printed: bool) -> float | None:
    """ε₁: what a vote of a sample may cost, so that it costs ε/2 of whoever may not be in the sample."""
    if not printed:
        return log1p(number / sampled * expm1(epsilon / 2))
    argument = epsilon * number / (2 * sampled) - 3
    return log(argument) if argument > 1 else None


def group_by_nearest(tuples: Array, centers: Array) -> list[Array]:
    """The points of all tuples (n_t, k, d) by their nearest of ``centers`` (k, d), in the order of these.

    Parameters
    ----------
    tuples, centers

    Returns
    -------
    list of k arrays of shape (m_j, d)
    """
    points = tuples.reshape(-1, tuples.shape[2])
    nearest: Codes = np.concatenate(
        [
            ((part[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
            for part in np.array_split(points, max(1, points.size * len(centers) // _NUMBERS))
        ]
    )
    return [points[nearest == i] for i in range(len(centers))]


@dataclass(frozen=True, eq=False)
class TupleTable:
    """Tuples as they came, shape (n_t, k, d); tables add up by standing below each other."""

    values: Array

    def __add__(self, other: TupleTable) -> TupleTable:
        return TupleTable(np.concatenate([self.values, other.values]))

    def __len__(self) -> int:
        return len(self.values)

    def order_by_content(self) -> TupleTable:
        """The tuples in an order that follows from what they are: that of the file has no say in a study's draw."""
        return TupleTable(self.values[order_by_content(self.values.reshape(len(self), prod(self.values.shape[1:])))])


@dataclass(frozen=True, eq=False)
class Tuples(AsAsked, OfAllRows):
    """The rows themselves, each a tuple of ``k`` points flattened: a question for mechanisms on tuples only."""

    k: int

    def tally(self, rows: ExactRows, cell: Codes) -> TupleTable:
        columns = rows.values.shape[1]
        return TupleTable(rows.values.copy().reshape(len(rows), self.k, columns // self.k))

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """One tuple is replaced, the unit here; where their number is private there is no bound."""
        changed = 1.0 if relation is Relation.REPLACE else inf
        return Sensitivity(l1=changed, l2=changed)


@dataclass(frozen=True, eq=False)
class NoisyTuple:
    """What a mechanism on tuples releases: k points (k, d) in lexicographic order, or ⊥ (None).

    ⊥ says that the tuples did not agree, or were too few to be asked. The order says nothing: that of the secret tuple
    would.
    """

    centers: Array | None = None

    @property
    def passed(self) -> bool:
        """Whether the test passed."""
        return self.centers is not None


@dataclass(frozen=True, kw_only=True)
class TupleMechanism:
    """What mechanisms on tables of ``number`` k-tuples share: they test and release in one, (ε, δ)-DP as a whole.

    One of the tuples is replaced; ε is at most 1, and half of it pays for the test. The guarantee is (ε, δ), so that
    the log ratio of densities has no bound (``exact`` is False).

    Parameters
    ----------
    epsilon, delta : float
    k, number : int
        Points of a tuple; tuples.
    far : float
        Δ of the test.
    beta : float
        Chance of ⊥ for tuples that fit.
    printed : bool
        Whether ε₁ of the test is the paper's bound, and other constants are the paper's.
    """

    name: ClassVar[str]
    loss: ClassVar[LossKind] = LossKind.APPROXIMATE
    exact: ClassVar[bool] = False
    sensitivity: ClassVar[float] = 1.0  # one tuple
    epsilon: float
    delta: float
    k: int
    number: int
    far: float
    beta: float
    printed: bool = False

    @classmethod
    def calibrated(cls, share: Budget, sensitivity: Sensitivity, **constants: Any) -> Self:
        """The mechanism that ``share`` buys where one tuple is replaced, whose number is public.

        Parameters
        ----------
        share
        sensitivity
        **constants
            Δ, β and the like, by name; public.

        Returns
        -------
        Self
            With the test and the noise that the share pays for.
        """
        if share.accounting is not Accounting.BASIC or not 0 < share.delta < 1:
            raise RequestError(
                "Mechanisms on tuples are (ε, δ)-DP: pay for them under basic accounting with delta > 0."
            )
        if share.amount > 1:
            raise RequestError(f"A test of tuples takes at most ε = 1, not {share.amount:g}: spend the rest elsewhere.")
        if sensitivity.l1 != 1:
            raise RequestError("Mechanisms on tuples need a public number of tuples, of which one may be replaced.")
        return cls(epsilon=share.amount, delta=share.delta, **constants)

    @property
    def scale(self) -> float:
        return 1 / self.epsilon

    @property
    def test(self) -> PartitionTest:
        """The test at ε/2, δ/4, β/2."""
        return PartitionTest(self.epsilon / 2, self.delta / 4, self.beta / 2, self.far, self.number, self.printed)

    @property
    def hopeless(self) -> bool:
        """Whether the answer is ⊥ whatever the tuples are, by public numbers alone."""
        return self.test.plan is None

    def cost(self, accounting: Accounting) -> float:
        refuse_unpriced(self.loss, accounting, mechanism=self.name)
        return self.epsilon

    def draw(self, truth: TupleTable, noise: StudyNoise) -> NoisyTuple:
        if len(truth) != self.number:
            raise RequestError("The number of tuples is not the public one that the noise was bought for.")
        if self.hopeless:
            return NoisyTuple()
        # One centre is far from nothing: it needs no test.
        centers = self.test.centers(truth.values, noise) if self.k > 1 else truth.values[0]
        if centers is None:
            return NoisyTuple()
        noisy = self.draw_noisy_points(centers, truth.values, noise)
        ordered = noisy[np.lexsort(noisy.T[::-1])]
        ordered.flags.writeable = False
        return NoisyTuple(ordered)

    def draw_noisy_points(self, centers: Array, tuples: Array, noise: StudyNoise) -> Array:
        """Points (k, d) to release, given those (k, d) of a secret tuple with which ``tuples`` (n_t, k, d) agree.

        Parameters
        ----------
        centers, tuples
        noise

        Returns
        -------
        array of shape (k, d)
            Unit coordinates.
        """
        raise NotImplementedError

    def log_density(self, released: NoisyTuple, truth: TupleTable) -> float:
        if self.hopeless:
            return 0.0
        raise NoDensity(f"{self.name} is (ε, δ)-DP.")


# So many pairs of points must lie within a radius for it to be taken, as a part of the expected number.
_PAIRS = 0.75
# With at most this chance some coordinate of a turned cloud lies beyond the width that is counted with.
_MISSED = 0.05
# Δ: balls so far apart that whatever two tuples that pass say, all but k (ℓ + 1) points get the same nearest ball.
FAR = 7.0


@dataclass(frozen=True)
class PrivateAverage:
    """The average of a cloud of points whose place and width nobody knows: radius, interior point, clipped mean.

    (ε, δ)-DP if a point comes or goes, whatever the points. Their number is private; it is expected to be near a public
    one, by which sums are divided. All constants are public.

    Parameters
    ----------
    epsilon, delta : float
        A quarter of ε pays for the radius, half of it for the interior point, a quarter and δ for the mean.
    expected : int
        The number of points that sums are divided by.
    finest : float
        The smallest radius that is told apart.
    bound : float
        Coordinates lie in [-bound, bound].
    dim : int
    axes : array of shape (d, d) or None
        A public random rotation, one axis a row. Along each of them a cloud is about √d narrower than its radius, and
        what is cut to that width needs so much less noise; no gain below some forty columns. None: the columns.

    References
    ----------
    Cohen et al. 2021, Prop. 2.9, which asks for such an average; the three parts are the textbook's. §4.2.1 and Nissim,
    Stemmer & Vadhan 2016 (the rotation).
    """

    epsilon: float
    delta: float
    expected: int
    finest: float
    bound: float
    dim: int
    axes: Array | None = field(default=None, compare=False)

    @property
    def narrow(self) -> float:
        """Half the width along an axis that holds nearly every point of a cloud, in radii."""
        if self.axes is None:
            return 1.0
        return min(1.0, sqrt(2 * log(2 * self.dim * self.expected / _MISSED) / self.dim))

    @property
    def farthest(self) -> float:
        """Largest coordinate along an axis."""
        return self.bound if self.axes is None else self.bound * sqrt(self.dim)

    @property
    def coarsest(self) -> int:
        """J: the radius ``finest`` times 2^J holds everything."""
        return max(0, ceil(log2(2 * self.bound * sqrt(self.dim) / self.finest)))

    @property
    def comparisons(self) -> int:
        """Steps of the search among J + 1 radii."""
        return ceil(log2(self.coarsest + 1))

    @property
    def pair_scale(self) -> float:
        """Scale of the Laplace noise on a number of pairs."""
        return 4 * max(1, self.comparisons) / self.epsilon

    @property
    def mean_sd(self) -> float:
        """Standard deviation of the noise on a coordinate of the mean, in radii.

        The classic constant, which is proved for ε below 1: at budgets this small the exact one drowns in rounding.
        """
        of_sum = 2 * sqrt(self.dim) * compute_classic_multiplier(self.epsilon / 4, self.delta)
        return self.narrow * of_sum / self.expected

    @property
    def fewest(self) -> float:
        """The points from which the radius, the middle and the mean are not mostly noise."""
        # An eighth of the points lies between all pairs and the three quarters of them that are asked for.
        radius = 8 * 3 * self.pair_scale
        middle = 4 * (self.coarsest + 4) * 2 * self.dim / self.epsilon
        return float(max(radius, middle, self.mean_sd * self.expected / 2))

    def draw(self, points: Array, noise: StudyNoise) -> Array:
        """The noisy average (d,) of ``points`` (n, d), of which ``expected`` is only about n.

        Parameters
        ----------
        points
        noise

        Returns
        -------
        array of shape (d,)
            In the units of the points.
        """
        points = points if self.axes is None else points @ self.axes.T
        radius = self.finest * 2 ** self.find_radius_exponent(measure_pair_distances(points, noise), noise)
        side = self.narrow * radius
        middle = np.array([self.choose_interior(points[:, axis], side, noise) for axis in range(self.dim)])
        reach = 2 * side
        shift = np.clip(points - middle, -reach, reach).sum(axis=0) + noise.normal(
            self.mean_sd * radius * self.expected, (self.dim,)
        )
        average: Array = middle + shift / self.expected
        return np.clip(average if self.axes is None else average @ self.axes, -self.bound, self.bound)

    def find_radius_exponent(self, distances: Array, noise: StudyNoise) -> int:
        """Noisy binary search for the least j with three quarters of the pairs within ``finest`` times 2^j.

        One point changes one of the ``distances``, and so each count of pairs by at most 1.

        Parameters
        ----------
        distances : array of shape (pairs,)
            Within disjoint pairs of points.
        noise

        Returns
        -------
        int
            The exponent j.
        """
        low, high = 0, self.coarsest
        wanted = _PAIRS * self.expected / 2
        for _ in range(self.comparisons):
            middle = (low + high) // 2
            within = int((distances <= self.finest * 2**middle).sum())
            if within + float(noise.laplace(self.pair_scale, ())) >= wanted:
                high = middle
            else:
                low = min(middle + 1, high)
        return high

    def choose_interior(self, values: Array, radius: float, noise: StudyNoise) -> float:
        """A point of the public grid in the middle of ``values`` (n,), by the exponential mechanism.

        The score min(values up to it, values beyond it) moves by 0 or 1, one-signed, so that its range is 1. All grid
        points between two values have one score: they are drawn as one, by their number.

        Parameters
        ----------
        values : array of shape (n,)
            Along one axis.
        radius
            Of the points' cluster; it sets the grid.
        noise

        Returns
        -------
        float
            In the units of the values.
        """
        step = radius / sqrt(self.dim)
        top = int(np.floor(2 * self.farthest / step))
        first = np.clip(np.ceil((np.sort(values) + self.farthest) / step), 0, top + 1)
        edges = np.r_[0.0, first, top + 1.0]
        points = np.diff(edges)
        below = np.arange(len(points))
        score = np.minimum(below, len(values) - below)
        with np.errstate(divide="ignore"):
            log_weight = np.log(points) + self.epsilon / (2 * self.dim) * score
        chosen = int(np.argmax(log_weight + noise.gumbel(1.0, log_weight.shape)))
        offset = int(noise.codes(int(points[chosen]), 1)[0])
        return float(edges[chosen] + offset) * step - self.farthest


def compute_classic_multiplier(epsilon: float, delta: float) -> float:
    """σ/Δ, Δ in l2, of (ε, δ)-DP Gaussian noise for ε < 1 (Dwork & Roth 2014, Thm. 3.22; Thm. 2.8 of Cohen et al.).

    Parameters
    ----------
    epsilon, delta

    Returns
    -------
    float
    """
    assert 0 < epsilon < 1
    return sqrt(2 * log(1.25 / delta)) / epsilon


def measure_pair_distances(points: Array, noise: StudyNoise) -> Array:
    """Distances within random disjoint pairs of ``points`` (n, d), in their units.

    However the pairs of n points fall, those of n + 1 can be drawn so that at most one is another.

    Parameters
    ----------
    points
    noise

    Returns
    -------
    array of shape (n // 2,)
    """
    order = np.argsort(noise.uniform((len(points),)))
    half = len(points) // 2
    gaps = points[order[:half]] - points[order[half : 2 * half]]
    return np.asarray(np.sqrt((gaps**2).sum(axis=1)))


@dataclass(frozen=True, kw_only=True)
class TupleAverages(TupleMechanism):
    """Given that the test passes, the average of the points that tuples have in each of k clusters.

    At most k (ℓ + 1) points of neighbouring tables lie in another cluster then, each of which changes two clusters:
    every average is paid for that often. ``printed``: averages are released even where their public constants say that
    they are noise; otherwise the answer is ⊥ there.

    Parameters
    ----------
    dim : int
        Columns of a point.
    finest : float
        Radius of the smallest cloud of points that is told apart, unit coordinates.
    bound : float
        Largest coordinate.
    axes : array of shape (d, d) or None
        A public rotation, along whose axes averages are taken; None: along the columns.
    """

    name: ClassVar[str] = "tuple averages"
    far: float = field(default=FAR, init=False)
    dim: int
    finest: float
    bound: float
    axes: Array | None = field(default=None, compare=False)

    @property
    def average(self) -> PrivateAverage | None:
        """The average of one cluster; None where the test cannot pass.

        2k(ℓ+1) changed points at ε/(4k(ℓ+1)) cost ε/2; with one point a tuple there is nothing to test, and a replaced
        tuple is one point less and one more.
        """
        if self.k == 1:
            epsilon, delta = self.epsilon / 2, self.delta / (1 + exp(self.epsilon / 2))
        else:
            plan = self.test.plan
            if plan is None:
                return None
            changed = self.k * (plan.misfits + 1)
            epsilon = self.epsilon / (4 * changed)
            delta = self.delta / (8 * changed * exp(self.epsilon / 2))
        return PrivateAverage(epsilon, delta, self.number, self.finest, self.bound, self.dim, self.axes)

    @property
    def hopeless(self) -> bool:
        """Whether the answer is ⊥ whatever the tuples are, by public numbers alone."""
        average = self.average
        return average is None or (self.number < average.fewest and not self.printed)

    def draw_noisy_points(self, centers: Array, tuples: Array, noise: StudyNoise) -> Array:
        """Averages of the clouds around the points of the sampled tuple."""
        average = self.average
        assert average is not None
        return np.stack([average.draw(cloud, noise) for cloud in group_by_nearest(tuples, centers)])


# Beyond any distance between points of a region, and its square is finite.
_MOST_LOG_BOUND = 100.0


@dataclass(frozen=True, kw_only=True)
class NoisyCenters(TupleMechanism):
    """Given that the test passes, the points c of a sampled tuple, with noise.

    Between neighbours they differ by at most 2/Δ times their distance m to the nearest other one. A bound λ on that,
    itself private, scales Gaussian noise. ``printed``: each point has noise of its own with the paper's classic
    constant; otherwise all points share one exactly calibrated Gaussian, about √k better.
    """

    name: ClassVar[str] = "noisy centres"

    def __post_init__(self) -> None:
        if self.k < 2 or not self.far > 6:
            raise RequestError(
                f"A test of {self.k}-tuples at Δ = {self.far:g} says nothing: give k of at least 2 and Δ above 6."
            )

    @property
    def stretch(self) -> float:
        """s: the most that the logarithm of a distance between neighbours' points may move."""
        return log((self.far + 2) / (self.far - 2))

    @property
    def sd_of_bound(self) -> float:
        """Standard deviation of the noise on a coordinate for λ = 1.

        As printed each of k points moves by λ at (ε/4k, δ/8k); together they move by √k at (ε/4, δ/8).
        """
        if self.printed:
            return 4 * self.k / self.epsilon * sqrt(2 * log(10 * self.k / self.delta))
        part = (self.epsilon / 4, self.delta / 8)
        return sqrt(self.k) / (gdp_mu(*part) or 1 / compute_classic_multiplier(*part))

    @property
    def relative_sd(self) -> float:
        """Typical standard deviation of a coordinate, over the distance to the nearest other point: at the median λ."""
        return self.sd_of_bound * 2 / self.far * exp(min(self.stretch * self._offset, 600.0))

    @property
    def _offset(self) -> float:
        return 1 + 4 * self.k / self.epsilon * log(4 * self.k / self.delta)

    def draw_noisy_points(self, centers: Array, tuples: Array, noise: StudyNoise) -> Array:
        """The sampled tuple itself, with noise."""
        secret_bounds = self.compute_distance_bounds(centers, noise.laplace(4 * self.k / self.epsilon, (self.k,)))
        sd = self.sd_of_bound * secret_bounds
        return centers + sd[:, None] * noise.normal(1.0, centers.shape)

    def compute_distance_bounds(self, centers: Array, laplace: Array) -> Array:
        """λ (k,): how far each of ``centers`` (k, d) may be from its neighbour's; Laplace noise of scale 4k/ε inside.

        ln m moves by at most s = ln((Δ+2)/(Δ-2)) between neighbours, so that λ is ε/4k-DP for each point, and at least
        2/Δ times the neighbour's m but with probability δ/8k. The printed λ scales the noise and its offset with m
        itself, which costs more than it is paid for.

        Parameters
        ----------
        centers : array of shape (k, d)
            Of a secret tuple, unit coordinates.
        laplace : array of shape (k,)
            Draws of scale 4k/ε.

        Returns
        -------
        array of shape (k,)
            Unit coordinates.
        """
        with np.errstate(divide="ignore"):
            log_bounds = np.log(2 / self.far * measure_to_nearest(centers)) + self.stretch * (self._offset + laplace)
        # A cut of what is private already.
        return np.exp(np.minimum(log_bounds, _MOST_LOG_BOUND))
