"""From noisy counts and sums to centres: post-processing that never trusts a tiny noisy count."""

from __future__ import annotations

import numpy as np

from dpviz.arrays import Array
from dpviz.privacy.mechanisms import Additive
from dpviz.privacy.released import Released
from dpviz.table.domain import Region

Noisy = Released[Array, Additive]


def noisy_means(noisy_counts: Noisy, noisy_sums: Noisy, fallback: Array, region: Region) -> Array:
    """Released means per cluster, shape (k, d), moved into ``region``; ``fallback`` where the noisy count is tiny.

    A count below twice its noise (and below 1) says nothing: dividing by it would throw the centre far away.
    """
    trusted = noisy_counts.value >= max(1.0, 2 * noisy_counts.sd)
    counts = np.where(trusted, noisy_counts.value, 1.0)
    means = np.where(trusted[:, None], noisy_sums.value / counts[:, None], fallback)
    return region.clip(means)


def center_noise_sd(noisy_counts: Noisy, noisy_sums: Noisy) -> Array:
    """Standard deviation of the noise on one coordinate of each mean, shape (k,); from released values only."""
    sd: Array = noisy_sums.sd / np.maximum(noisy_counts.value, max(1.0, 2 * noisy_counts.sd))
    return sd
