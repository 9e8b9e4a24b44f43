"""Noisy points of one tuple, if a private test finds that all tuples agree (PrivatekNoisyCenters).

References
----------
Cohen, Kaplan, Mansour, Stemmer & Tsfadia 2021, Fig. 4 and Claim 4.6. The printed λ is not private: see
``compute_distance_bounds``.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log, sqrt
from typing import ClassVar

import numpy as np

from dpviz.core.accounting import gdp_mu
from dpviz.core.arrays import Array
from dpviz.core.check import RequestError
from dpviz.core.noise import NoiseSource
from dpviz.core.tuples.partition_check import measure_to_nearest
from dpviz.core.tuples.tuple_averages import compute_classic_multiplier
from dpviz.core.tuples.tuples import TupleMechanism

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

    def draw_noisy_points(self, centers: Array, tuples: Array, noise: NoiseSource) -> Array:
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
        bounds: Array = np.exp(np.minimum(log_bounds, _MOST_LOG_BOUND))
        return bounds
