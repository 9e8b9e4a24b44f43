"""Private partition: cubes that hold many rows are split, level by level (Balcan et al. 2017, Alg. 1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import log

import numpy as np
from scipy.special import ndtri

from dpviz.algorithms.balcan2017.projection import Projection
from dpviz.algorithms.steps import Step
from dpviz.arrays import Array, Codes
from dpviz.privacy.accounting import Budget
from dpviz.privacy.mechanisms import Gaussian, Laplace, noise_kind
from dpviz.privacy.partitions import CubeTree
from dpviz.privacy.queries import SparseCount
from dpviz.privacy.sparse_mechanisms import NoisyThreshold
from dpviz.table.domain import Region

# All trees of a run together keep at most this many cubes.
MOST_CUBES = 20_000


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeStep(Step):
    """A private partition after a level, in the space that ``frame`` (p, d) maps rows to (None: the same space).

    A child cube is active when its count plus noise of ``noise_scale`` exceeds ``threshold``; only the decision is
    released. ``shift`` numbers the random shifts.
    """

    tree: CubeTree
    region: Region
    threshold: float
    noise_name: str
    noise_scale: float
    shift: int
    frame: Array | None = None


def private_partition(
    view: Projection,
    budget: Budget,
    root: CubeTree,
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

    Parameters
    ----------
    empty_rate : float
        Probability that a child without rows wakes up; the threshold follows from it and the noise.
    most_cubes : int
        Beyond this a level keeps a random part of what woke up, by public coins.

    References
    ----------
    Balcan et al. 2017, Alg. 1. Its loop makes one more round than it outputs, and its ε' = ε / (2 log n) is twice too
    small under add/remove: here ``depth`` levels share the budget exactly.
    """
    tree, cubes = root, 1
    for level, share in enumerate(budget.rounds(depth), start=1):
        children, note = SparseCount(tree), f"tree {shift}, level {level}"
        noise = view.room.mechanism(children, noise_kind(share.accounting), share)
        threshold = quiet_threshold(noise, empty_rate)
        active = view.room.ask(children, NoisyThreshold, share, note=note, threshold=threshold).value
        number = tree.n_cells
        tree = tree.grown(_keep(active, most_cubes - cubes, rng))
        cubes += tree.n_active
        yield TreeStep(
            title=f"Level {level}: {len(active):,} of {number:,} cubes woke up, threshold {threshold:,.0f} rows",
            tree=tree,
            region=view.room.region,
            threshold=threshold,
            noise_name=noise.name,
            noise_scale=noise.scale,
            shift=shift,
            frame=view.frame,
        )


def quiet_threshold(noise: Laplace | Gaussian, empty_rate: float) -> float:
    """The threshold γ that an empty cube exceeds with probability ``empty_rate`` (below 1/2)."""
    if isinstance(noise, Laplace):
        return -noise.scale * log(2 * empty_rate)
    return -noise.scale * float(ndtri(empty_rate))


def _keep(active: Codes, most: int, rng: np.random.Generator) -> Codes:
    return active if len(active) <= most else np.sort(rng.choice(active, max(0, most), replace=False))
