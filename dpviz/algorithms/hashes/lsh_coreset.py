"""A private coreset from a tree of hashes, clustered without reading rows again (Google 2021)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor, log2, sqrt

import numpy as np

from dpviz.algorithms.card import Card, Params, Setting, param_field, pure_or, read_card
from dpviz.algorithms.steps import CentersStep, Step
from dpviz.algorithms.tools.lloyd_round import run_lloyd_rounds
from dpviz.algorithms.tools.solvers import SignedPoints, StartsStep, choose_starts, find_best_of_starts, sum_mass_near
from dpviz.core import (
    Accounting,
    Array,
    Budget,
    Codes,
    Flags,
    NoiseDraws,
    PrivateSession,
    Shares,
    mechanisms,
    partitions,
    queries,
)

MOST_LEVELS = 20


# Constants of the practical preset, chosen by hand; ``python -m benchmarks.lsh_coreset`` shows what they come to.

# Parts of the budget.
_CENTER = 0.02
_TREE = 0.15
_SUMS = 0.35
_POLISHING = 0.48
_ROUNDS = 2  # of polishing
_LAST_TO_FIRST = 1.8  # what the last of these rounds gets for one of the first
_LOW_NOISE = 10.0  # a leaf with this many times √d σ/Λ rows has a point whose noise is a tenth of the radius
_BRANCH = 3.0  # a node is split from this many times the smallest leaf on
# Leaves that an equal share of the rows must allow: fewer merge clusters, more are mostly noise.
_LEAVES_PER_CENTER = 8.0
_MOST_PER_CENTER = 64.0
_MORE_LEVELS = 4  # beyond those that rows in equal halves would fill: planes do not halve clusters
# Planes through one point of a plane make few cells: up to so many columns they are shifted at random, by this part
# of the spread of a uniform point.
_SHIFTED_UP_TO = 2
_SHIFT = 0.5


# The preset `paper`: noise multipliers, as Chang & Kamath print them; the part of the budget under pure ε, for which
# they print none; rows of an equal share over those of the smallest leaf.
_PRINTED_SUMS, _PRINTED_COUNTS = 1.0, 20.0
_PRINTED_PURE_SUMS, _PRINTED_LEAVES_PER_CENTER = 0.8, 2.0


@dataclass(frozen=True, eq=False, kw_only=True)
class HashTreeStep(Step):
    """Noisy counts of all asked prefixes. Nodes below ``min_node`` rows are dropped, from ``min_branch`` on split.

    ``count_sd`` is the standard deviation of the noise on one count; ``noise_name`` is its law.
    """

    hashes: partitions.HashCodes
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


@dataclass(frozen=True)
class LshCoresetParams(Params):
    """Parameters of the coreset of hashes."""

    preset: str = param_field("practical", choices=("practical", "paper"))
    levels: int | None = param_field(None, low=1, high=MOST_LEVELS)
    starts: int = param_field(10, low=1, high=300)
    polishing: int | None = param_field(None, low=0, high=10)
    centering: bool | None = param_field(None)
    consistency: bool | None = param_field(None)
    reassign_lost: bool | None = param_field(None)

    @property
    def practical(self) -> bool:
        """Whether what is left empty follows this preset."""
        return self.preset == "practical"

    @property
    def rounds(self) -> int:
        """Rounds of polishing."""
        return (_ROUNDS if self.practical else 0) if self.polishing is None else self.polishing

    def wants(self, switch: bool | None) -> bool:
        """A switch by the preset's rule where it is left empty."""
        return self.practical if switch is None else switch


def lsh_coreset(session: PrivateSession, k: int, params: LshCoresetParams, rng: np.random.Generator) -> Iterator[Step]:
    """A tree of noisy counts over hyperplane hashes, noisy sums of its leaves, k-means on these points, polishing.

    O(n d D + R n k d + starts · m k d) for D planes, R rounds of polishing and m leaves; 3 + R reads of the rows.

    **Guarantee.** Add/remove or replace. At δ = 0 ε-DP (Laplace and K-norm noise); else ``practical`` is μ-GDP for
    (ε, δ) (Gaussian noise only) and ``paper`` is (ε, δ)-DP by privacy loss distributions. Bounds are public; n is
    public or bought and sets thresholds and levels. What is asked depends on released values only.
    """
    levels = params.levels or MOST_LEVELS
    if session.accounting is Accounting.PLD:  # by the printed noise multipliers
        share = session.calibrate(**_name_draws(params, levels))
    else:
        share = session.budget.split(**_choose_weights(params))
    min_node = _choose_min_node(session, k, params, share.sums)
    min_branch = _BRANCH * min_node
    if params.practical and params.levels is None:
        levels = int(np.clip(ceil(log2(max(2.0, session.n / min_branch))) + _MORE_LEVELS, 1, MOST_LEVELS))
    hashes = _draw_planes(session, levels, params, share, rng)

    options, question = {"levels": levels, "min_branch": min_branch}, queries.SparseCount(hashes)
    prefixes = session.ask(question, mechanisms.PathCounts, share.tree, note="counts of hashes", **options)
    tree = CountedTree.of(prefixes.value, n=session.n, min_node=min_node)
    yield HashTreeStep(
        title=f"A tree of hashes: {len(tree.nodes) - 1:,} noisy counts on {tree.depth} levels",
        hashes=hashes,
        tree=tree,
        min_node=min_node,
        min_branch=min_branch,
        count_sd=prefixes.sd,
        noise_name=prefixes.mechanism.once.name,
    )

    counts = make_counts_consistent(tree) if params.wants(params.consistency) else tree.noisy_counts
    of_leaves = queries.Sum(partitions.HashTree(hashes, tree.leaves))
    sums = session.release(of_leaves, share.sums, note="sums of leaves", spherical=True)
    # The last cell holds the rows of dropped nodes: no point of the coreset.
    size = np.maximum(counts[tree.leaf], max(1.0, min_node / 2))
    points = session.region.clip(sums.value[:-1] / size[:, None])
    weights = compute_leaf_weights(tree, counts, reassign_lost=params.wants(params.reassign_lost))
    yield CoresetStep(
        title=f"A coreset of {len(points):,} points, the noisy means of the leaves",
        points=points,
        weights=weights,
        point_noise_sd=sums.sd / size,
    )

    coreset = SignedPoints.of(points, weights)
    starts = choose_starts(points, weights, k, params.starts, session.region, rng)
    best = find_best_of_starts(coreset, starts, session.region)
    centers = best.solution.centers
    yield StartsStep.of(best, len(points), "weighted point", then="; no row is read again")
    mass = np.maximum(best.solution.mass, max(1.0, min_node / 2))
    yield CentersStep(
        title=f"Start {best.chosen + 1} has the least loss on the coreset",
        centers=centers,
        noisy_counts=sum_mass_near(coreset, centers),
        previous=best.start,
        center_noise_sd=sums.sd * np.sqrt(np.maximum(best.solution.members, 1)) / mass,
    )
    if params.rounds:
        budgets = share.polishing.rounds(params.rounds, np.linspace(1, _LAST_TO_FIRST, params.rounds).tolist())
        title, note = "Polishing {t} of {rounds}: noisy means of all rows, dropped ones included", "polishing {t}"
        yield from run_lloyd_rounds(
            session, centers, budgets, title=title, note=note, spherical=True, idle_by_noise=True, rng=rng
        )


def _name_draws(params: LshCoresetParams, levels: int) -> dict[str, NoiseDraws]:
    """Of ``paper``: whatever was added to its two releases takes its part of the rest, in the currency of ρ."""
    weights = {
        name: weight for name, weight in _choose_weights(params).items() if name not in ("sums", "tree") and weight
    }
    printed = {"sums": NoiseDraws(True, _PRINTED_SUMS), "tree": NoiseDraws(False, _PRINTED_COUNTS, levels)}
    per_weight = sum(draws.rho for draws in printed.values()) / (_SUMS + _TREE)
    return printed | {name: NoiseDraws.gaussian_of(weight * per_weight) for name, weight in weights.items()}


def _choose_weights(params: LshCoresetParams) -> dict[str, float]:
    if not params.practical and not params.rounds and not params.wants(params.centering):
        return {"center": 0.0, "tree": 1 - _PRINTED_PURE_SUMS, "sums": _PRINTED_PURE_SUMS, "polishing": 0.0}
    centering = _CENTER if params.wants(params.centering) else 0.0
    return {"center": centering, "tree": _TREE, "sums": _SUMS, "polishing": _POLISHING if params.rounds else 0.0}


def _choose_min_node(session: PrivateSession, k: int, params: LshCoresetParams, share: Budget) -> float:
    """The fewest rows of a leaf: a point with little noise, as long as there are enough leaves for k centres."""
    noise = session.mechanism(queries.Sum(partitions.Everything()), session.noise_kind(spherical=True), share)
    quiet = _LOW_NOISE * sqrt(session.dim) * noise.compute_sd(session.dim) / session.region.radius
    if not params.practical:
        return float(max(1, min(floor(quiet), floor(session.n / (_PRINTED_LEAVES_PER_CENTER * k)))))
    least, most = (session.n / (leaves * k) for leaves in (_MOST_PER_CENTER, _LEAVES_PER_CENTER))
    return float(max(1.0, np.clip(quiet, least, most)))


def _draw_planes(
    session: PrivateSession, levels: int, params: LshCoresetParams, share: Shares, rng: np.random.Generator
) -> partitions.HashCodes:
    """Random directions from public coins, through the middle of the bounds or through a released middle of the rows.

    **Guarantee.** The share ``center`` if the middle is bought, else nothing.
    """
    planes, offsets = rng.normal(size=(levels, session.dim)), np.zeros(levels)
    if params.practical and session.dim <= _SHIFTED_UP_TO:
        spread = _SHIFT * session.region.radius / sqrt(session.dim + 2)
        offsets = spread * rng.normal(size=levels) * np.linalg.norm(planes, axis=1)
    if params.wants(params.centering):
        everything = queries.Sum(partitions.Everything())
        total = session.release(everything, share.center, note="middle of the rows", spherical=True).value[0]
        offsets = offsets + planes @ session.region.clip(total / session.n)
    return partitions.HashCodes(planes, offsets)


def _choose_accounting(params: LshCoresetParams, delta: float) -> Accounting:
    return pure_or(Accounting.GDP if params.practical else Accounting.PLD)(params, delta)


def _compute_smallest_n(setting: Setting, params: LshCoresetParams) -> float:
    """Records at which half a cluster's point has noise of half the radius: 4 k √d σ/Λ."""
    accounting = _choose_accounting(params, setting.delta)
    if accounting is Accounting.PLD:
        # Many small Laplace losses compose to nearly those of Gaussian noise of the same multiplier.
        squared = _PRINTED_SUMS**-2 + (params.levels or MOST_LEVELS) * _PRINTED_COUNTS**-2
        share = Budget(Accounting.GDP, setting.budget(Accounting.GDP).amount / (squared * _PRINTED_SUMS**2))
    else:
        share = setting.budget(accounting).split(**_choose_weights(params)).sums
    kind = mechanisms.choose_noise_kind(accounting, spherical=True)
    noise = setting.calibrate(queries.Sum(partitions.Everything()), kind, share)
    return 4 * setting.k * sqrt(setting.dim) * noise.compute_sd(setting.dim)


def _count_operations(setting: Setting, params: LshCoresetParams) -> float:
    solving = 20.0 * params.starts * _LEAVES_PER_CENTER * setting.k * setting.k * setting.dim
    levels = params.levels or MOST_LEVELS
    return setting.rows * setting.dim * (2 * levels + params.rounds * setting.k) + solving


CARD = Card(
    **read_card("lsh-coreset"),
    params=LshCoresetParams,
    plan=lsh_coreset,
    accounting=_choose_accounting,
    draws=lambda session, k, params: list(_name_draws(params, params.levels or MOST_LEVELS).values()),
    smallest_n=_compute_smallest_n,
    operations=_count_operations,
)


@dataclass(frozen=True, eq=False)
class CountedTree:
    """The root and every node that was asked, in the order of heap numbers, level by level.

    ``nodes`` (m,); ``noisy_counts`` (m,), as they were released; the root's is the public or paid number of rows;
    ``kept`` (m,), A node whose noisy count is too small is dropped: it was asked, but is no part of the tree;
    ``split`` (m,), whether its two children were asked.
    """

    nodes: Codes
    noisy_counts: Array
    kept: Flags
    split: Flags

    @classmethod
    def of(cls, released: queries.SparseCounts, *, n: float, min_node: float) -> CountedTree:
        """From the counts of a ``PathCounts`` release; nodes below ``min_node`` rows are dropped, the root never is."""
        nodes, noisy = np.r_[1, released.codes], np.r_[float(n), released.values]
        kept = noisy >= min_node
        kept[0] = True
        return cls(nodes, noisy, kept, np.isin(2 * nodes, nodes))

    @property
    def depth(self) -> int:
        """The deepest level that was asked."""
        return int(partitions.find_level(self.nodes[-1:])[0])

    def levels(self) -> list[slice]:
        """Places of the nodes of level 0, 1, ..."""
        edges = np.searchsorted(partitions.find_level(self.nodes), np.arange(self.depth + 2))
        return [slice(int(first), int(end)) for first, end in pairwise(edges)]

    def children(self, level: slice) -> tuple[Codes, Codes]:
        """Places of the split nodes of a level, and of their first children; the second ones follow."""
        parents = np.flatnonzero(self.split[level]) + level.start
        return parents, np.searchsorted(self.nodes, 2 * self.nodes[parents]).astype(np.int64)

    @property
    def leaf(self) -> Flags:
        """Kept nodes that were not split, or lost both children; shape (m,)."""
        parents, first = self.children(slice(0, len(self.nodes)))
        leaf: Flags = self.kept & ~self.split
        leaf[parents[~(self.kept[first] | self.kept[first + 1])]] = True
        return leaf

    @property
    def leaves(self) -> Codes:
        """Heap numbers of the leaves, sorted."""
        return self.nodes[self.leaf]


def make_counts_consistent(tree: CountedTree) -> Array:
    """Counts of all nodes in which every split node is the sum of its children, shape (m,).

    From the bottom up a node's own count is averaged with the sum of its children by inverse variance; then, from the
    top down, what is missing to a node's count is shared by its children. All counts carry the same noise; the root is
    taken as exact.

    References
    ----------
    Hay, Rastogi, Miklau & Suciu 2010, §4.
    """
    best, variance = tree.noisy_counts.copy(), np.ones(len(tree.nodes))
    variance[0] = 0.0
    for level in reversed(tree.levels()):
        parents, first = tree.children(level)
        below, spread = best[first] + best[first + 1], variance[first] + variance[first + 1]
        weight = spread / (variance[parents] + spread)
        best[parents] = weight * best[parents] + (1 - weight) * below
        variance[parents] *= weight
    for level in tree.levels():
        parents, first = tree.children(level)
        part = variance[first] / (variance[first] + variance[first + 1])
        missing = best[parents] - best[first] - best[first + 1]
        best[first] += part * missing
        best[first + 1] += (1 - part) * missing
    return best


def compute_leaf_weights(tree: CountedTree, counts: Array, *, reassign_lost: bool) -> Array:
    """What ``counts`` (nodes,), rows, say about the leaves, never below 0, shape (leaves,).

    With ``reassign_lost``, where one of two children was dropped, all that is left of the other grows in proportion
    until it makes up its parent's count; nothing shrinks.
    """
    growth = np.ones(len(tree.nodes))
    if reassign_lost:
        for level in tree.levels():
            parents, first = tree.children(level)
            for one, other in ((first, first + 1), (first + 1, first)):
                alone = tree.kept[one] & ~tree.kept[other]
                more = np.maximum(counts[parents] / np.maximum(counts[one], 1.0), 1.0)
                growth[one] = growth[parents] * np.where(alone, more, 1.0)
    return np.maximum((counts * growth)[tree.leaf], 0.0)
