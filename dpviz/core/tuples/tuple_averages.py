"""Averages of the points that tuples have in each of k clusters, if a private test finds that they agree.

References
----------
Cohen, Kaplan, Mansour, Stemmer & Tsfadia 2021, Fig. 3 (PrivatekAverages) and Claim 4.6.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, exp, log, log2, sqrt
from typing import ClassVar

import numpy as np

from dpviz.core.arrays import Array
from dpviz.core.noise import NoiseSource
from dpviz.core.tuples.partition_check import group_by_nearest
from dpviz.core.tuples.tuples import TupleMechanism

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
        mean = self.mean_sd * self.expected / 2
        return float(max(radius, middle, mean))

    def draw(self, points: Array, noise: NoiseSource) -> Array:
        """The noisy average (d,) of ``points`` (n, d), of which ``expected`` is only about n.

        Parameters
        ----------
        points : array of shape (n, d)
            Unit coordinates.
        noise : NoiseSource
            Where randomness comes from.

        Returns
        -------
        array of shape (d,)
            Unit coordinates.
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

    def find_radius_exponent(self, distances: Array, noise: NoiseSource) -> int:
        """Noisy binary search for the least j with three quarters of the pairs within ``finest`` times 2^j.

        One point changes one of the ``distances``, and so each count of pairs by at most 1.

        Parameters
        ----------
        distances : array of shape (pairs,)
            Within disjoint pairs of points.
        noise : NoiseSource
            Where randomness comes from.

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

    def choose_interior(self, values: Array, radius: float, noise: NoiseSource) -> float:
        """A point of the public grid in the middle of ``values`` (n,), by the exponential mechanism.

        The score min(values up to it, values beyond it) moves by 0 or 1, one-signed, so that its range is 1. All grid
        points between two values have one score: they are drawn as one, by their number.

        Parameters
        ----------
        values : array of shape (n,)
            Along one axis.
        radius : float
            Of the points' cluster; it sets the grid.
        noise : NoiseSource
            Where randomness comes from.

        Returns
        -------
        float
            A point of the grid, in the units of the values.
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
    """σ/Δ of (ε, δ)-DP Gaussian noise for ε below 1 (Dwork & Roth 2014, Thm. 3.22; Thm. 2.8 of Cohen et al.).

    Parameters
    ----------
    epsilon, delta : float
        Of the guarantee.

    Returns
    -------
    float
        Standard deviation over l2 sensitivity.
    """
    assert 0 < epsilon < 1
    return sqrt(2 * log(1.25 / delta)) / epsilon


def measure_pair_distances(points: Array, noise: NoiseSource) -> Array:
    """Distances within random disjoint pairs of ``points`` (n, d), shape (n // 2,).

    However the pairs of n points fall, those of n + 1 can be drawn so that at most one is another.

    Parameters
    ----------
    points : array of shape (n, d)
        Any coordinates.
    noise : NoiseSource
        Where randomness comes from.

    Returns
    -------
    array of shape (n // 2,)
        In the units of the points.
    """
    order = np.argsort(noise.uniform((len(points),)))
    half = len(points) // 2
    gaps = points[order[:half]] - points[order[half : 2 * half]]
    distances: Array = np.sqrt((gaps**2).sum(axis=1))
    return distances


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

    def draw_noisy_points(self, centers: Array, tuples: Array, noise: NoiseSource) -> Array:
        """Averages of the clouds around the points of the sampled tuple."""
        average = self.average
        assert average is not None
        return np.stack([average.draw(cloud, noise) for cloud in group_by_nearest(tuples, centers)])
