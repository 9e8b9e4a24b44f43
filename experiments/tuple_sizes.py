"""How many samples the tests of k-tuples need: mixtures of Cohen et al. 2021, tuples by their law, sizes by search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import exp, inf, log, sqrt
from typing import Any

import numpy as np

from dpviz.algorithms.cohen2021.tested_tuples import compute_printed_far, find_smallest_number
from dpviz.core.arrays import Array
from dpviz.core.noise import StudyNoise
from dpviz.core.tuples import NoisyCenters, TupleAverages, TupleTable

EPSILON, DELTA, BETA = 1.0, exp(-28), 0.05
_CONSTANTS: dict[str, Any] = {"epsilon": EPSILON, "delta": DELTA, "beta": BETA, "printed": True}
FINEST = 0.1
PAPER_TUPLES = 3781
SAMPLES_PER_CLUSTER = 15


@dataclass(frozen=True)
class _Search:
    """How the fewest tuples are searched.

    Chosen by us.

    Parameters
    ----------
    ratio : float
        Sizes are searched on a grid of this ratio.
    least, most : float
        Between these; beyond the last one the answer is "not reached".
    below : int
        Averages are useful with fewer tuples than their constants ask for: a search begins at one in so many of
        these.
    """

    ratio: float = sqrt(2)
    least: float = 2.0
    most: float = 2.0**40
    below: int = 4


_SEARCH = _Search()


Seed = tuple[int, ...]


@dataclass(frozen=True)
class Mixture:
    """k standard Gaussians around ``reach`` times plus and minus the first k/2 unit vectors, in d dimensions."""

    k: int
    d: int
    reach: float

    @property
    def means(self) -> Array:
        """Shape (k, d)."""
        axes = np.eye(self.d)[: self.k // 2]
        return self.reach * np.concatenate([axes, -axes])

    @property
    def bound(self) -> float:
        """Λ of the paper's runs."""
        return 2.0**10 * self.k * sqrt(self.d)

    def tuples(self, number: int, samples: int, rng: np.random.Generator) -> Array:
        """``number`` tuples (number, k, d) of k-means on ``samples`` samples each, drawn by their law.

        Clusters this far apart are found without a slip, so that a centre is the mean of the samples of its Gaussian:
        normal around its mean with variance one over their number. No sample is drawn itself.

        Parameters
        ----------
        number, samples : int
            How many tuples, and of how many samples each.
        rng : Generator

        Returns
        -------
        array of shape (number, k, d)
        """
        sizes = _deal_samples(number, samples, self.k, rng)
        noise = rng.standard_normal((number, self.k, self.d))
        noise /= np.sqrt(np.maximum(sizes, 1))[:, :, None]
        noise += self.means
        return noise

    def farthest(self, centers: Array) -> float:
        """Over all means, the largest distance to the nearest of ``centers`` (k, d)."""
        return float(np.linalg.norm(self.means[:, None] - centers, axis=2).min(axis=1).max())

    def separated(self, centers: Array, samples: float) -> bool:
        """Whether each of ``samples`` samples is nearest to one and the same of ``centers`` (k, d) as its Gaussian.

        The farthest of n normal samples lies about √(2 ln n) standard deviations out.

        Parameters
        ----------
        centers : array of shape (k, d)
        samples : float
            How many samples there are.

        Returns
        -------
        bool
        """
        means = self.means
        own = centers[((means[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)]
        gaps = own[:, None] - own
        length = np.linalg.norm(gaps, axis=2)
        np.fill_diagonal(length, 1.0)
        middle = (own[:, None] + own) / 2
        room = ((means[:, None] - middle) * gaps).sum(axis=2) / np.maximum(length, 1e-300)
        np.fill_diagonal(room, np.inf)
        apart = len(np.unique(own, axis=0)) == self.k
        return bool(apart and room.min() >= sqrt(2 * log(max(samples, 2.0))))


def _deal_samples(number: int, samples: int, k: int, rng: np.random.Generator) -> Array:
    """How many of ``samples`` samples come from each of k Gaussians, ``number`` times; (number, k)."""
    sizes, left = np.empty((number, k)), np.full(number, samples)
    for place in range(k - 1):
        taken = rng.binomial(left, 1 / (k - place))
        sizes[:, place] = taken
        left = left - taken
    sizes[:, k - 1] = left
    return sizes


@cache
def count_needed_tuples() -> int:
    """The fewest tuples that the test can be asked about, by the formulas as printed."""
    return find_smallest_number(epsilon=EPSILON / 2, delta=DELTA / 4, beta=BETA / 2, printed=True)


def draw_noisy_centers(mixture: Mixture, samples: int, rng: np.random.Generator) -> Array | None:
    """What PrivatekNoisyCenters answers with as many tuples as it needs, of ``samples`` samples each.

    Parameters
    ----------
    mixture : Mixture
    samples : int
    rng : Generator

    Returns
    -------
    array of shape (k, d) or None
        None for ⊥.
    """
    number = count_needed_tuples()
    far = compute_printed_far(epsilon=EPSILON, delta=DELTA, k=mixture.k, beta=BETA)
    mechanism = NoisyCenters(**_CONSTANTS, k=mixture.k, number=number, far=far)
    return mechanism.draw(TupleTable(mixture.tuples(number, samples, rng)), StudyNoise(rng)).centers


def search_noisy_centers_samples(mixture: Mixture, *, seed: Seed, draws: int) -> float:
    """The fewest samples of a tuple with which four in five of ``draws`` runs of PrivatekNoisyCenters separate them.

    Parameters
    ----------
    mixture : Mixture
    seed : tuple of int
    draws : int
        Runs at each size.

    Returns
    -------
    float
        NaN where no size is enough.
    """
    number = count_needed_tuples()

    def succeeds(size: int, rng: np.random.Generator) -> bool:
        centers = draw_noisy_centers(mixture, size, rng)
        return centers is not None and mixture.separated(centers, size * number)

    return _search_fewest(succeeds, SAMPLES_PER_CLUSTER * mixture.k, draws, seed)


def predict_noisy_centers_samples(mixture: Mixture) -> float:
    """The samples of a tuple from which Theorem 4.11 applies: its centres then lie in balls that are 2 Δ + 2 far.

    A centre is the mean of 1/k of the samples, and lies within √d + √(2 ln(k t / β)) of its standard deviations for all
    t tuples at once.

    Parameters
    ----------
    mixture : Mixture

    Returns
    -------
    float

    References
    ----------
    Cohen et al. 2021, Theorem 4.11, with the Δ of its proof.
    """
    far = compute_printed_far(epsilon=EPSILON, delta=DELTA, k=mixture.k, beta=BETA)
    within = sqrt(mixture.d) + sqrt(2 * log(mixture.k * count_needed_tuples() / BETA))
    apart = mixture.reach * (2.0 if mixture.k == 2 else sqrt(2))
    return mixture.k * (within * (2 * far + 2) / apart) ** 2


def search_averages_tuples(mixture: Mixture, *, seed: Seed, draws: int, within: float = inf) -> float:
    """The fewest tuples with which four in five of ``draws`` runs of PrivatekAverages separate the mixture.

    Runs must also find every mean to ``within`` standard deviations.

    Parameters
    ----------
    mixture : Mixture
    seed : tuple of int
    draws : int
        Runs at each size.
    within : float
        How far from each mean a centre may lie, in standard deviations.

    Returns
    -------
    float
        NaN where no number is enough.
    """
    samples = SAMPLES_PER_CLUSTER * mixture.k

    def succeeds(size: int, rng: np.random.Generator) -> bool:
        tuples = TupleTable(mixture.tuples(size, samples, rng))
        centers = _make_averages(mixture, size).draw(tuples, StudyNoise(rng)).centers
        if centers is None or mixture.farthest(centers) > within:
            return False
        return mixture.separated(centers, size * samples)

    return _search_fewest(succeeds, compute_averages_tuples(mixture) / _SEARCH.below, draws, seed)


def compute_averages_tuples(mixture: Mixture) -> float:
    """The tuples from which an average is not mostly noise, by the constants of its parts."""
    number = 1e6
    for _ in range(4):  # ℓ falls a little where there are more tuples
        average = _make_averages(mixture, round(number)).average
        assert average is not None
        number = average.fewest
    return number


def _make_averages(mixture: Mixture, number: int) -> TupleAverages:
    return TupleAverages(**_CONSTANTS, k=mixture.k, number=number, dim=mixture.d, finest=FINEST, bound=mixture.bound)


def _search_fewest(succeeds: Callable[[int, np.random.Generator], bool], start: float, draws: int, seed: Seed) -> float:
    """The least size of a grid around ``start`` down to which, or from which on, four in five of the draws succeed.

    Each draw has coins of its own, which depend on ``seed`` and the size alone: mixtures with one seed differ by what
    they are, not by luck.
    """

    def reliable(size: float) -> bool:
        lost = 0
        for draw in range(draws):
            lost += not succeeds(round(size), np.random.default_rng((*seed, round(size), draw)))
            if lost > draws / 5:
                return False
        return True

    size = start
    if reliable(size):
        while size > _SEARCH.least and reliable(size / _SEARCH.ratio):
            size /= _SEARCH.ratio
    else:
        size *= _SEARCH.ratio
        while not reliable(size):
            size *= _SEARCH.ratio
            if size > _SEARCH.most:
                return float("nan")
    return float(round(size))
