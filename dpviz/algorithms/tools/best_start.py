"""Where a solver starts on weighted points that stand in for the rows."""

from __future__ import annotations

import numpy as np

from dpviz.algorithms.tools.solvers import weighted_kmeans_pp
from dpviz.algorithms.tools.sphere_packing import sphere_packing
from dpviz.arrays import Array
from dpviz.table.domain import Region


def starts_on_coreset(
    points: Array, weights: Array, k: int, number: int, region: Region, rng: np.random.Generator
) -> list[Array]:
    """Where to start on the coreset: all of its points and some without data if there are at most k, else k-means++."""
    if len(points) <= k:
        return [np.concatenate([points, sphere_packing(k, region, rng)])[:k]]
    return [points[weighted_kmeans_pp(points, weights, k, rng)] for _ in range(number)]
