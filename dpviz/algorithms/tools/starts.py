"""Solving points that stand in for the rows from many starts, for free: where these lie, and what they came to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpviz.algorithms.steps import Step
from dpviz.algorithms.tools.public_points import sphere_packing
from dpviz.algorithms.tools.solvers import BestOf, weighted_kmeans_pp
from dpviz.arrays import Array
from dpviz.table.domain import Region


@dataclass(frozen=True, eq=False, kw_only=True)
class StartsStep(Step):
    """Many starts solved on a synopsis: their synopsis losses (m,), and the centres (k, d) of the chosen one."""

    losses: Array
    chosen: int
    centers: Array

    @classmethod
    def of(cls, best: BestOf, points: int, singular: str, plural: str = "", *, then: str = "") -> StartsStep:
        """The step after ``best`` was found on so many ``points``, which are called ``singular`` or ``plural``."""
        starts, called = len(best.losses), singular if points == 1 else plural or f"{singular}s"
        return cls(
            title=f"{starts:,} start{'' if starts == 1 else 's'} solved on {points:,} {called}{then}",
            losses=best.losses,
            chosen=best.chosen,
            centers=best.solution.centers,
        )


def starts_on_coreset(
    points: Array, weights: Array, k: int, number: int, region: Region, rng: np.random.Generator
) -> list[Array]:
    """Where to start on the coreset: all of its points and some without data if there are at most k, else k-means++."""
    if len(points) <= k:
        return [np.concatenate([points, sphere_packing(k, region, rng)])[:k]]
    return [points[weighted_kmeans_pp(points, weights, k, rng)] for _ in range(number)]
