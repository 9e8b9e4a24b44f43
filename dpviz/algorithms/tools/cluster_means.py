"""From noisy counts and sums to centres: post-processing that never trusts a tiny noisy count."""

from __future__ import annotations

import numpy as np

from dpviz.arrays import Array
from dpviz.privacy.answers import NoisyMoments
from dpviz.table.domain import Region


def noisy_means(moments: NoisyMoments, fallback: Array, region: Region) -> Array:
    """Released means per cluster, shape (k, d), moved into ``region``; ``fallback`` where the noisy count is tiny.

    A count below twice its noise (and below 1) says nothing: dividing by it would throw the centre far away.
    """
    floor = max(1.0, 2 * moments.count_sd)
    trusted = moments.noisy_counts >= floor
    counts = np.where(trusted, moments.noisy_counts, 1.0)
    means = np.where(trusted[:, None], moments.noisy_sums / counts[:, None], fallback)
    return region.clip(means)


def center_noise_sd(moments: NoisyMoments) -> Array:
    """Standard deviation of the noise on one coordinate of each mean, shape (k,); from released values only."""
    floor = max(1.0, 2 * moments.count_sd)
    sd: Array = moments.sum_sd / np.maximum(moments.noisy_counts, floor)
    return sd
