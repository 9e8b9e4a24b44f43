"""Candidate centres: the middles of all cubes of a few randomly shifted trees (Balcan et al. 2017, Alg. 2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpviz.algorithms.balcan2017.private_partition import MOST_CUBES, TreeStep, private_partition
from dpviz.algorithms.balcan2017.projection import Projection
from dpviz.algorithms.tools.public_points import sphere_packing
from dpviz.arrays import Array, Codes
from dpviz.privacy.accounting import Budget
from dpviz.privacy.partitions import CubeTree
from dpviz.table.domain import Region

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Candidates:
    """Released candidate centres.

    Parameters
    ----------
    points : array of shape (m, p)
    depths : int array of shape (m,)
        Level of the cube that each is the middle of; -1 for points that were added without data.
    finest : bool array of shape (m,)
        Whether no child of the cube woke up: together these cubes show where the rows are.
    """

    points: Array
    depths: Codes
    finest: Mask

    def thinned(self, most: int, rng: np.random.Generator) -> Candidates:
        """At most ``most`` of them, the finest first and otherwise by public coins."""
        if len(self.points) <= most:
            return self
        kept = np.sort(np.lexsort((rng.random(len(self.points)), ~self.finest))[:most])
        return Candidates(self.points[kept], self.depths[kept], self.finest[kept])


def grow_trees(
    view: Projection, budget: Budget, shifts: int, depth: int, rng: np.random.Generator, *, empty_rate: float
) -> Iterator[TreeStep]:
    """One private partition for each of ``shifts`` random shifts of the root cube, at equal shares.

    **Guarantee.** ``budget``.

    References
    ----------
    Balcan et al. 2017, Alg. 2. The printed cube [-Λ, Λ] + v need not contain the rows: here its edge is 4Λ.
    """
    half = float(view.room.region.half.max())
    for shift, share in enumerate(budget.rounds(shifts), start=1):
        v = rng.uniform(-half, half, view.room.dim)
        root = CubeTree(origin=v - 2 * half, side=4 * half)
        yield from private_partition(
            view, share, root, depth, rng, empty_rate=empty_rate, shift=shift, most_cubes=MOST_CUBES // shifts
        )


def candidates_of(trees: Sequence[CubeTree], k: int, region: Region, rng: np.random.Generator) -> Candidates:
    """The middles of all active cubes, moved into ``region``, each once; at least k. Post-processing."""
    levels = [(tree, level) for tree in trees for level in range(tree.depth + 1)]
    middles = np.concatenate([region.clip(tree.centers(level)) for tree, level in levels])
    depths = np.concatenate([np.full(len(tree.corners(level)), level) for tree, level in levels])
    finest = np.concatenate([_childless(tree, level) for tree, level in levels])
    first = np.sort(np.unique(middles, axis=0, return_index=True)[1])
    found = Candidates(middles[first], depths[first], finest[first])
    return found if len(first) >= k else _padded(found, k, region, rng)


def _childless(tree: CubeTree, level: int) -> Mask:
    childless = np.ones(len(tree.corners(level)), dtype=np.bool_)
    if level < tree.depth:
        childless[tree.parents(level + 1)] = False
    return childless


def _padded(found: Candidates, k: int, region: Region, rng: np.random.Generator) -> Candidates:
    missing = k - len(found.points)
    return Candidates(
        np.concatenate([found.points, sphere_packing(missing, region, rng)]),
        np.concatenate([found.depths, np.full(missing, -1)]),
        np.concatenate([found.finest, np.zeros(missing, dtype=np.bool_)]),
    )
