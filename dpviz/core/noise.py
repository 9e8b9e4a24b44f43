"""The only place that draws noise.

``StudyNoise`` is for studies and teaching: seedable, floating-point, fast; it is not hardened against an adversary who
inspects the low-order bits of a release (Mironov 2012). Release-grade noise is ``exact_noise``.
"""

from __future__ import annotations

import numpy as np

from dpviz.core.arrays import Array, Codes

ArrayShape = tuple[int, ...]


class StudyNoise:
    """Noise from a seeded NumPy generator: simulation only."""

    hardened = False

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def laplace(self, scale: float, shape: ArrayShape) -> Array:
        """Density exp(-|x| / scale) / (2 scale).

        Parameters
        ----------
        scale
        shape

        Returns
        -------
        array
        """
        return self._rng.laplace(0.0, scale, shape)

    def normal(self, sd: float, shape: ArrayShape) -> Array:
        """Mean 0, standard deviation ``sd``.

        Parameters
        ----------
        sd
        shape

        Returns
        -------
        array
        """
        return self._rng.normal(0.0, sd, shape)

    def exponential(self, scale: float, shape: ArrayShape) -> Array:
        """Mean ``scale``.

        Parameters
        ----------
        scale
        shape

        Returns
        -------
        array
            Independent draws, none below 0.
        """
        return self._rng.exponential(scale, shape)

    def gumbel(self, scale: float, shape: ArrayShape) -> Array:
        """Standard Gumbel times ``scale``.

        Parameters
        ----------
        scale
        shape

        Returns
        -------
        array
        """
        return self._rng.gumbel(0.0, scale, shape)

    def cauchy(self, scale: float, shape: ArrayShape) -> Array:
        """Density 1 / (π scale (1 + (x / scale)²)): no mean and no variance.

        Parameters
        ----------
        scale
        shape

        Returns
        -------
        array
        """
        return scale * self._rng.standard_cauchy(shape)

    def spherical(self, scale: float, shape: ArrayShape) -> Array:
        """Uniform directions with radius Gamma(d, scale), the K-norm mechanism for a Euclidean ball.

        Parameters
        ----------
        scale
        shape

        Returns
        -------
        array
            Of that shape; vectors are independent of each other.
        """
        direction = self._rng.normal(size=shape)
        direction /= np.linalg.norm(direction, axis=-1, keepdims=True)
        radius = self._rng.gamma(shape[-1], scale, (*shape[:-1], 1))
        return direction * radius

    def uniform(self, shape: ArrayShape) -> Array:
        """On [0, 1)."""
        return self._rng.random(shape)

    def binomial(self, trials: int, probability: float) -> int:
        """Successes in up to 2^62 trials.

        Parameters
        ----------
        trials
        probability

        Returns
        -------
        int
        """
        return int(self._rng.binomial(trials, probability))

    def codes(self, below: int, size: int) -> Codes:
        """Uniform integers in [0, below), ``below`` up to 2^62.

        Parameters
        ----------
        below, size

        Returns
        -------
        int array of shape (size,)
        """
        return self._rng.integers(0, below, size)
