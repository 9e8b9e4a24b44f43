"""Candidate centres: the middles of all cubes of a few randomly shifted private trees (Balcan et al. 2017, Algs. 1-2).

In a tree, cubes that hold many rows are split, level by level.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from scipy.special import ndtri

from dpviz.algorithms.balcan2017.projection import Projection
from dpviz.algorithms.steps import Step
from dpviz.algorithms.tools.public_points import pack_spheres
from dpviz.core import Array, Budget, Codes, Flags, Region, mechanisms, partitions, queries

# All trees of a run together keep at most this many cubes.
MOST_CUBES = 20_000


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeStep(Step):
    """A private partition after a level, in the space that ``frame`` (p, d) maps rows to (None: the same space).

    A child cube is active when its count plus noise of ``noise_scale`` exceeds ``threshold``; only the decision is
    released. ``shift`` numbers the random shifts.
    """

    tree: partitions.CubeTree
    region: Region
    threshold: float
    noise_name: str
    noise_scale: float
    shift: int
    frame: Array | None = None


def grow_private_partition(
    view: Projection,
    budget: Budget,
    root: partitions.CubeTree,
    depth: int,
    rng: np.random.Generator,
    *,
    empty_rate: float,
    shift: int = 1,
    most_cubes: int = MOST_CUBES,
) -> Iterator[TreeStep]:
    """The tree grown from ``root`` by ``depth`` noisy decisions about every child of every active cube.

    **Guarantee.** ``budget``: one row changes the count of one child a level, and each level pays an equal share. A
    level is asked, and paid, even where no cube is left to split. Empty children are asked like all others.

    References
    ----------
    Balcan et al. 2017, Alg. 1. Its loop makes one more round than it outputs, and its ε' = ε / (2 log n) is twice too
    small under add/remove: here ``depth`` levels share the budget exactly.
    """
    tree, cubes = root, 1
    for level, share in enumerate(budget.rounds(depth), start=1):
        children, note = queries.SparseCount(tree), f"tree {shift}, level {level}"
        noise = view.session.mechanism(children, mechanisms.choose_noise_kind(share.accounting), share)
        threshold = compute_quiet_threshold(noise, empty_rate)
        active = view.session.ask(children, mechanisms.NoisyThreshold, share, note=note, threshold=threshold).value
        number, fan = tree.n_cells, 2**view.session.dim
        most = int(min(max(0, most_cubes - cubes), view.session.most_cells // fan))
        tree = tree.with_level(active if len(active) <= most else np.sort(rng.choice(active, most, replace=False)))
        cubes += tree.n_active
        yield TreeStep(
            title=f"Level {level}: {len(active):,} of {number:,} cubes woke up, threshold {threshold:,.0f} rows",
            tree=tree,
            region=view.session.region,
            threshold=threshold,
            noise_name=noise.name,
            noise_scale=noise.scale,
            shift=shift,
            frame=view.frame,
        )


def compute_quiet_threshold(noise: mechanisms.Laplace | mechanisms.Gaussian, empty_rate: float) -> float:
    """The threshold γ that an empty cube exceeds with probability ``empty_rate`` (below 1/2)."""
    if isinstance(noise, mechanisms.Laplace):
        return -noise.scale * log(2 * empty_rate)
    return -noise.scale * float(ndtri(empty_rate))


@dataclass(frozen=True, eq=False)
class Candidates:
    """Released candidate centres.

    ``points`` (m, p); ``depths`` (m,), level of the cube that each is the middle of; -1 for points that were added
    without data; ``finest`` (m,), whether no child of the cube woke up: together these cubes show where the rows
    are.
    """

    points: Array
    depths: Codes
    finest: Flags

    def thin(self, most: int, rng: np.random.Generator) -> Candidates:
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
    """
    # Alg. 2 prints the cube [-Λ, Λ] + v, which need not contain the rows: here its edge is 4Λ.
    half = float(view.session.region.half.max())
    for shift, share in enumerate(budget.rounds(shifts), start=1):
        v = rng.uniform(-half, half, view.session.dim)
        root = partitions.CubeTree(origin=v - 2 * half, side=4 * half)
        yield from grow_private_partition(
            view, share, root, depth, rng, empty_rate=empty_rate, shift=shift, most_cubes=MOST_CUBES // shifts
        )


def list_candidates(
    trees: Sequence[partitions.CubeTree], k: int, region: Region, rng: np.random.Generator
) -> Candidates:
    """The middles of all active cubes, moved into ``region``, each once; at least k. Post-processing.

    Returns points of the projection, unit coordinates, with the depth of their cubes.
    """
    levels = [(tree, level) for tree in trees for level in range(tree.depth + 1)]
    middles = np.concatenate([region.clip(tree.centers(level)) for tree, level in levels])
    depths = np.concatenate([np.full(len(tree.corners(level)), level) for tree, level in levels])
    finest = np.concatenate([_find_childless(tree, level) for tree, level in levels])
    first = np.sort(np.unique(middles, axis=0, return_index=True)[1])
    points, depths, finest = middles[first], depths[first], finest[first]
    missing = k - len(points)
    if missing > 0:
        points = np.concatenate([points, pack_spheres(missing, region, rng)])
        depths, finest = np.r_[depths, np.full(missing, -1)], np.r_[finest, np.zeros(missing, dtype=np.bool_)]
    return Candidates(points, depths, finest)


def _find_childless(tree: partitions.CubeTree, level: int) -> Flags:
    childless = np.ones(len(tree.corners(level)), dtype=np.bool_)
    if level < tree.depth:
        childless[tree.parents(level + 1)] = False
    return childless
