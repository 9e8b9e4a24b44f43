"""Non-private optimisers on public or released points: free post-processing, never shown a row.

Every function here sees what has already been released (cells of a grid with noisy counts, candidate centres) and may
look at it as often as it likes.
"""

from __future__ import annotations

from math import log

import numpy as np

from dpviz.table.domain import Array, Codes


def weighted_kmeans_pp(points: Array, weights: Array, k: int, rng: np.random.Generator) -> Codes:
    """Indices into ``points`` (m, d) of k seeds, drawn by greedy k-means++ with ``weights`` (m,); shape (k,).

    Negative weights count as 0; if none is positive, all points weigh the same. Of 2 + ln k proposals each seed takes
    the one that lowers the weighted loss most. Seeds are distinct points as long as there are k of positive weight.

    References
    ----------
    Arthur & Vassilvitskii 2007, §2.2 and §5 (the greedy variant).
    """
    weights = np.maximum(weights, 0.0)
    if not weights.any():
        weights = np.ones(len(points))
    trials = 2 + int(log(k))
    seeds = np.empty(k, dtype=np.int64)
    seeds[0] = _draw(weights, 1, rng)[0]
    nearest = _squared_distance(points, points[seeds[0]])
    for i in range(1, k):
        proposals = _draw(weights * nearest, trials, rng)
        distances = [np.minimum(nearest, _squared_distance(points, points[j])) for j in proposals]
        best = int(np.argmin([distance @ weights for distance in distances]))
        seeds[i], nearest = proposals[best], distances[best]
    return seeds


def farthest_first(points: Array, k: int, start: int = 0) -> Codes:
    """Indices into ``points`` (m, d): ``start``, then k - 1 times the point farthest from all before; shape (k,).

    References
    ----------
    Gonzalez 1985.
    """
    chosen = np.empty(k, dtype=np.int64)
    chosen[0] = start
    nearest = _squared_distance(points, points[start])
    for i in range(1, k):
        chosen[i] = int(nearest.argmax())
        np.minimum(nearest, _squared_distance(points, points[chosen[i]]), out=nearest)
    return chosen


def _draw(mass: Array, size: int, rng: np.random.Generator) -> Codes:
    """Indices drawn in proportion to ``mass``, uniformly if there is none (fewer distinct points than seeds)."""
    cumulative = np.cumsum(mass)
    if cumulative[-1] <= 0:
        return rng.integers(0, len(mass), size)
    drawn: Codes = np.searchsorted(cumulative, rng.random(size) * cumulative[-1], side="right")
    return np.minimum(drawn, len(mass) - 1)


def _squared_distance(points: Array, point: Array) -> Array:
    """Squared Euclidean distances to one point, shape (m,)."""
    difference = points - point
    squared: Array = np.einsum("md,md->m", difference, difference)
    return squared
