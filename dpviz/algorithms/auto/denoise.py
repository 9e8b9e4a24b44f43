"""What stands out of a noisy histogram: smoothing as little as it takes, and the projection onto counts that add up.

Free post-processing of released counts. Without it a few spikes of noise, far away from all rows, take a centre each.
"""

from __future__ import annotations

from math import log, pi, sqrt

import numpy as np
from scipy.ndimage import gaussian_filter

from dpviz.arrays import Array

# Widths of the smoothing, in cells.
WIDTHS = (0.0, 0.6, 1.0, 1.6, 2.5, 4.0)


def smoothed(noisy_counts: Array, sd: float, *, caution: float) -> Array:
    """Each cell at the least width of smoothing at which it stands out of its noise; 0 where it never does.

    Parameters
    ----------
    noisy_counts : array with one axis for each axis of the grid
    sd : float
        Standard deviation of the (Laplace) noise on a cell.
    caution : float
        A factor on the threshold that chance exceeds about once in a whole grid of empty cells.
    """
    dim = noisy_counts.ndim
    kept, undecided = np.zeros_like(noisy_counts), np.ones(noisy_counts.shape, dtype=bool)
    for width in WIDTHS:
        averaged = 1.0 if width == 0 else min(1.0, (2 * sqrt(pi) * width) ** -dim)
        level = noisy_counts if width == 0 else gaussian_filter(noisy_counts, width, mode="constant")
        noise = sd if width == 0 else sd * (2 * sqrt(pi) * width) ** (-dim / 2)
        clear = undecided & (level > caution * _threshold(noisy_counts.size, dim, width, averaged) * noise)
        kept[clear] = level[clear]
        undecided &= ~clear
    return kept


def _threshold(cells: int, dim: int, width: float, averaged: float) -> float:
    """In standard deviations: Gaussian where many cells are averaged, Laplace, whose tails are heavier, at width 0."""
    apart = max(log(max(cells / max(1.0, (2 * width) ** dim), 2.0)), 0.0)
    normal = sqrt(2 * apart)
    return normal + max(0.0, apart / sqrt(2) - normal) * sqrt(averaged)


def onto_total(noisy_counts: Array, total: float) -> Array:
    """The counts, none negative, that add up to ``total`` and lie nearest to ``noisy_counts`` (m,)."""
    ordered = np.sort(noisy_counts)[::-1]
    surplus = ordered.cumsum() - total
    usable = np.flatnonzero(ordered > surplus / np.arange(1, len(ordered) + 1))
    if len(usable) == 0:
        return np.full(len(noisy_counts), total / len(noisy_counts))
    last = usable[-1]
    projected: Array = np.maximum(noisy_counts - surplus[last] / (last + 1), 0.0)
    return projected
