"""From noisy counts and sums to centres: post-processing that never trusts a tiny noisy count."""

from __future__ import annotations

import numpy as np

from dpviz.arrays import Array
from dpviz.privacy.released import Moments
from dpviz.table.domain import Region


def noisy_means(moments: Moments, fallback: Array, region: Region) -> Array:
    """Released means per cluster, shape (k, d), moved into ``region``; ``fallback`` where the noisy count is tiny.

    A count below twice its noise (and below 1) says nothing: dividing by it would throw the centre far away.
    """
    trusted = moments.counts.value >= max(1.0, 2 * moments.counts.sd)
    counts = np.where(trusted, moments.counts.value, 1.0)
    means = np.where(trusted[:, None], moments.sums.value / counts[:, None], fallback)
    return region.clip(means)


def center_noise_sd(moments: Moments) -> Array:
    """Standard deviation of the noise on one coordinate of each mean, shape (k,); from released values only."""
    sd: Array = moments.sums.sd / np.maximum(moments.counts.value, max(1.0, 2 * moments.counts.sd))
    return sd
