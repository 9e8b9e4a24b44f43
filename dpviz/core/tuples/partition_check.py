"""A private test whether tuples agree: do small far-apart balls around one tuple's points hold all the others?

Balls are Δ-far if the distance between any two centres is at least Δ radii. The test reads a sample of tuples, draws
balls around the points of each, and asks how many tuples do not have exactly one point in each ball. What its status
costs is in ``docs/proofs/blocks.md``.

References
----------
Cohen, Kaplan, Mansour, Stemmer & Tsfadia 2021, Figs. 1 and 2, Defs. 4.1 and 4.4, Lemma 2.10.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import expm1, log, log1p
from typing import NamedTuple

import numpy as np

from dpviz.core.arrays import Array, Codes
from dpviz.core.noise import NoiseSource

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

    def centers(self, tuples: Array, noise: NoiseSource) -> Array | None:
        """Of ``tuples`` (n_t, k, d), the points (k, d) of the first sampled one that passed, in a random order, or ⊥.

        Not a release: whoever calls adds noise, and lets the outcome ⊥ show. Half of ε pays for the counts of misfits,
        the other half, amplified by sampling, for the vote. O(m n_t k² d).

        Parameters
        ----------
        tuples : array of shape (n_t, k, d)
            Unit coordinates.
        noise : NoiseSource
            Where randomness comes from.

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
        The points of a tuple.
    tuples : array of shape (n_t, k, d)
        Same coordinates.
    far : float
        Δ, in radii of a ball.

    Returns
    -------
    int
        From 0 to n_t.
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
    nearest: Array = gaps.min(axis=1)
    return nearest


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
    """The points of all tuples (n_t, k, d) by their nearest of ``centers`` (k, d).

    Parameters
    ----------
    tuples : array of shape (n_t, k, d)
        Unit coordinates.
    centers : array of shape (k, d)
        Same coordinates.

    Returns
    -------
    list of k arrays of shape (m_j, d)
        In the order of the centres.
    """
    points = tuples.reshape(-1, tuples.shape[2])
    nearest: Codes = np.concatenate(
        [
            ((part[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
            for part in np.array_split(points, max(1, points.size * len(centers) // _NUMBERS))
        ]
    )
    return [points[nearest == i] for i in range(len(centers))]
