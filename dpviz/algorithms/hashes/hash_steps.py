"""Steps of algorithms that hash rows: the tree of noisy counts, and the coreset of its leaves."""

from __future__ import annotations

from dataclasses import dataclass

from dpviz.algorithms.hashes.hash_levels import CountedTree
from dpviz.algorithms.steps import Step
from dpviz.arrays import Array
from dpviz.privacy.hash_partitions import HashCodes


@dataclass(frozen=True, eq=False, kw_only=True)
class HashTreeStep(Step):
    """Noisy counts of all asked prefixes. Nodes below ``min_node`` rows are dropped, from ``min_branch`` on split.

    ``count_sd`` is the standard deviation of the noise on one count; ``noise_name`` is its law.
    """

    hashes: HashCodes
    tree: CountedTree
    min_node: float
    min_branch: float
    count_sd: float
    noise_name: str


@dataclass(frozen=True, eq=False, kw_only=True)
class CoresetStep(Step):
    """Weighted points (m, d) that stand for all rows, ``weights`` (m,) of released counts.

    ``point_noise_sd`` (m,) is the standard deviation of the noise on one coordinate of each point.
    """

    points: Array
    weights: Array
    point_noise_sd: Array
