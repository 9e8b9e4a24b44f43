"""Candidates from private trees, local swaps, recovery in the full space (Balcan et al. 2017, Algs. 1-5, §6.2).

Candidate centres are the middles of all cubes of a few randomly shifted trees, in which cubes that hold many rows are
split, level by level (Algs. 1-2). Centres are exchanged against them one private choice at a time (Alg. 3).

Two variants share the search. Sparse rows in very many columns keep a few chosen coordinates of each centre (Alg. 5).
k-median has candidates and swaps on distances, and private medians in the full space (§6.2).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil, inf, log, sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from dpviz.algorithms.balcan2017.projection import (
    Cells,
    Projection,
    draw_gaussian_frame,
    draw_orthonormal_frame,
    project,
)
from dpviz.algorithms.card import PURE_OR_ZCDP, Card, Params, Setting, param_field, read_card
from dpviz.algorithms.steps import CentersStep, Step
from dpviz.algorithms.tools.lloyd_round import compute_count_to_sum_ratio, revive, run_lloyd_round
from dpviz.algorithms.tools.solvers import draw_kmeans_pp_seeds, pack_spheres
from dpviz.core import (
    Accounting,
    Array,
    Budget,
    Codes,
    Flags,
    PrivateSession,
    Region,
    losses,
    mechanisms,
    partitions,
    queries,
)

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
    tree, cubes, session = root, 1, view.session
    for level, share in enumerate(budget.rounds(depth), start=1):
        children, note = queries.SparseCount(tree), f"tree {shift}, level {level}"
        noise = session.mechanism(children, mechanisms.choose_noise_kind(share.accounting), share)
        threshold = compute_quiet_threshold(noise, empty_rate)
        active = session.ask(children, mechanisms.NoisyThreshold, share, note=note, threshold=threshold).value
        number, most = tree.n_cells, int(min(max(0, most_cubes - cubes), session.most_cells // 2**session.dim))
        tree = tree.with_level(active if len(active) <= most else np.sort(rng.choice(active, most, replace=False)))
        cubes += tree.n_active
        yield TreeStep(
            title=f"Level {level}: {len(active):,} of {number:,} cubes woke up, threshold {threshold:,.0f} rows",
            tree=tree,
            region=session.region,
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
    """Released candidate centres ``points`` (m, p), each the middle of a cube of level ``depths`` (m,).

    A depth of -1 is that of points that were added without data. The cubes of the ``finest`` (m,) had no child that
    woke up: together they show where the rows are.
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
        root = partitions.CubeTree(origin=rng.uniform(-half, half, view.session.dim) - 2 * half, side=4 * half)
        yield from grow_private_partition(
            view, share, root, depth, rng, empty_rate=empty_rate, shift=shift, most_cubes=MOST_CUBES // shifts
        )


def list_candidates(
    trees: Sequence[partitions.CubeTree], k: int, region: Region, rng: np.random.Generator
) -> Candidates:
    """Middles (m, p) of all active cubes, in ``region``, each once, with their depths; at least k. Post-processing."""
    levels = [(tree, level) for tree in trees for level in range(tree.depth + 1)]
    middles = np.concatenate([region.clip(tree.centers(level)) for tree, level in levels])
    split = [tree.parents(level + 1) if level < tree.depth else () for tree, level in levels]
    cubes = [np.arange(len(tree.corners(level))) for tree, level in levels]
    depths = np.concatenate([np.full(len(of_level), level) for of_level, (_, level) in zip(cubes, levels, strict=True)])
    finest = ~np.concatenate([np.isin(of_level, places) for of_level, places in zip(cubes, split, strict=True)])
    first = np.sort(np.unique(middles, axis=0, return_index=True)[1])
    points, depths, finest = middles[first], depths[first], finest[first]
    missing = k - len(points)
    if missing > 0:
        points = np.concatenate([points, pack_spheres(missing, region, rng)])
        depths, finest = np.r_[depths, np.full(missing, -1)], np.r_[finest, np.zeros(missing, dtype=np.bool_)]
    return Candidates(points, depths, finest)


# Swaps that are asked for even where none is likely to stand out, and at most.
_LEAST, _MOST = 3, 20
_FILLING = 1e-9


@dataclass(frozen=True, eq=False, kw_only=True)
class SwapStep(Step):
    """One private swap: centre ``removed`` gave way to candidate ``added``; ``centers`` (k, p) after it.

    Where the choice was to stay, ``added`` is the candidate that centre ``removed`` already is. One ``of_iterates`` is
    no swap, but the choice of one of all centres so far.
    """

    candidates: Array
    centers: Array
    previous: Array
    removed: int
    added: int
    region: Region
    frame: Array | None = None
    of_iterates: bool = False


def local_swap(
    view: Projection,
    candidates: Array,
    start: Codes,
    budget: Budget,
    swaps: int,
    *,
    keep: float,
    choose_iterate: bool,
    order: int = 2,
) -> Iterator[SwapStep]:
    """``swaps`` private choices of a centre to remove and a candidate (m, p) to put in its place. O(T n |C| p).

    Each choice is made by the exponential mechanism over all k·|C| swaps at once. The public prior ``keep`` lies on
    staying as one is: where no gain stands out of the noise, a random swap would only undo a good start. ``start`` (k,)
    are indices of candidates, of which there are more than k.

    **Guarantee.** ``budget``, in equal shares for all choices.

    References
    ----------
    Balcan et al. 2017, Alg. 3. Its range 8Λ² is right for replace and any centres; that of the centres at hand is less.
    """
    held, iterates = start, [start]
    shares = budget.rounds(swaps + choose_iterate)
    for t, share in enumerate(shares[:swaps], start=1):
        question = losses.SwapLoss(candidates[held], candidates, order)
        prior = compute_log_prior(held, len(candidates), keep)
        chosen = view.session.ask(question, mechanisms.Exponential, share, note=f"swap {t}", log_prior=prior).value
        removed, added = divmod(chosen, len(candidates))
        swapped = np.where(np.arange(len(held)) == removed, added, held)
        stays = held[removed] == added
        told = "no gain stands out of the noise, the centres stay" if stays else f"centre {removed + 1} gives way"
        yield _make_step(f"Swap {t} of {swaps}: {told}", view, candidates, held, swapped, removed)
        held = swapped
        iterates.append(held)
    if choose_iterate:
        of_iterates = losses.Loss(candidates[np.stack(iterates)], order)
        t = view.session.ask(of_iterates, mechanisms.Exponential, shares[-1], note="choice among iterates").value
        taken = f"Of all iterates, the one after swap {t} is taken"
        yield replace(_make_step(taken, view, candidates, held, iterates[t], 0), of_iterates=True)


def count_useful_swaps(view: Projection, k: int, n_candidates: int, budget: Budget, *, order: int = 2) -> int:
    """How many swaps can each stand out of the noise, from public and released quantities: 3 to 20, at most k.

    A cluster of n/k rows without a centre loses about their number times the spacing of k centres, to the power of the
    loss. Among m swaps the exponential mechanism finds a gain of its scale times ln m and a few more: of that of
    centres which may lie anywhere, since those to come are not known.
    """
    session = view.session
    at_stake = session.n / k * (session.region.radius * k ** (-1 / session.dim)) ** order
    rim = np.eye(1, session.dim) * session.region.radius
    question = losses.SwapLoss(rim, rim, order)
    for swaps in range(min(k, _MOST), _LEAST, -1):
        scale = session.mechanism(question, mechanisms.Exponential, budget.fraction(1 / swaps)).scale
        if scale * (log(k * n_candidates) + 5) <= at_stake:
            return swaps
    return min(k, _LEAST)


def compute_log_prior(held: Codes, n_candidates: int, keep: float) -> Array:
    """Public prior of swaps (k, n_candidates): C∖Z alike, ``keep`` on exchanging a centre for itself; ``held`` is Z."""
    k = len(held)
    prior = np.full((k, n_candidates), log((1 - keep) / (k * (n_candidates - k))))
    prior[:, held] = -inf
    prior[np.arange(k), held] = log(keep / k) if keep > 0 else -inf
    return prior


def start_on_cubes(candidates: Candidates, k: int, rng: np.random.Generator) -> Codes:
    """Distinct indices (k,) of candidates that serve the finest cubes well: free, for these are released already.

    Greedy k-means++ and then the local search itself, over cubes instead of rows; a cube weighs 2^depth, since a
    threshold that is met in half the space is met by a denser cluster.
    """
    points, cubes = candidates.points, candidates.points[candidates.finest]
    weights = np.where(candidates.finest, np.exp2(candidates.depths), 0.0)
    # Other candidates weigh next to nothing, but enough to fill up where there are fewer finest cubes than clusters.
    held = draw_kmeans_pp_seeds(points, np.maximum(weights, _FILLING), k, rng)
    for _ in range(2 * k):
        centers = points[held]
        gains = losses.compute_swap_gains(
            cubes, weights[candidates.finest], partitions.Voronoi(centers).assign(cubes), centers, points
        )
        gains[:, held] = 0
        best = int(gains.argmin())
        if gains.flat[best] >= -1e-9 * weights.sum():
            break
        held[best // len(points)] = best % len(points)
    return held


def _make_step(title: str, view: Projection, candidates: Array, before: Codes, after: Codes, removed: int) -> SwapStep:
    return SwapStep(
        title=title,
        candidates=candidates,
        centers=candidates[after],
        previous=candidates[before],
        removed=removed,
        added=int(after[removed]),
        region=view.session.region,
        frame=view.frame,
    )


# Constants of the practical preset, chosen by hand; ``python -m benchmarks.leaderboard`` shows what they come to.

# Parts of the budget.
_TREE = 0.30
_SWAPS = 0.15
_MEANS = 0.55
_LAST_TO_FIRST = 1.8  # what the last of several rounds of means gets for one of the first
# Expected number of empty children of a cube that wake up: below 1, or the tree grows without rows.
_SPURIOUS_CUBES = 0.01
_KEEP_PRIOR = 0.99  # prior mass on keeping the centres in a private swap
# A round of polishing is worth its share while the noise of a mean stays below this part of the centres' spacing.
_TOLERABLE_NOISE = 0.06


# Dimensions of cubes up to which all children of some hundred cubes can be drawn one by one.
_MOST_DRAWN = 10
# One swap compares at most about this many pairs of a row and a candidate: half a second.
_PAIRS = 1e8
# The gains of all swaps come from one matrix product: this much faster than a pass over the rows.
_GAIN_SPEED = 12


@dataclass(frozen=True, eq=False, kw_only=True)
class CandidatesStep(Step):
    """Candidate centres (m, p) with the tree depth (m,) that each comes from (-1: added without data)."""

    candidates: Array
    depths: Codes
    region: Region
    frame: Array | None = None


@dataclass(frozen=True)
class BalcanParams(Params):
    """Parameters of Balcan et al.'s algorithm."""

    preset: str = param_field("practical", choices=("practical", "paper"))
    dimensions: int | None = param_field(None, low=1, high=40)
    shifts: int | None = param_field(None, low=1, high=8)
    levels: int | None = param_field(None, low=1, high=20)
    swaps: int | None = param_field(None, low=0, high=200)
    polishing: int | None = param_field(None, low=0, high=20)


class Constants(NamedTuple):
    """What the parameters decide, from public quantities only; ``swaps`` is None where noise is to decide."""

    practical: bool
    swaps: int | None
    dimensions: int
    shifts: int
    levels: int
    empty_rate: float
    keep: float
    tree: float
    swapping: float
    means: float


def balcan(session: PrivateSession, k: int, params: BalcanParams, rng: np.random.Generator) -> Iterator[Step]:
    """Project, find candidates, swap, recover the means in the full space, polish. The last step is the release.

    O(L n p + T n |C| p + R n k d) for L levels, T swaps and R rounds of means.

    **Guarantee.** Add/remove or replace; ε-DP at δ = 0, else zCDP for (ε, δ). Bounds are public; n is public or bought
    and sets dimensions, levels and rounds. A branch is taken on released values only, and every branch costs the same.
    """
    view, centers, budget = yield from find_centers(session, k, params, rng)
    cells, before = view.cells(centers), view.lift(centers, session.region)
    weights = _weigh_rounds(params, session, k, budget)
    # The paper's recovery adds Laplace noise of scale Λ/ε to every coordinate, √d too little for rows in a Euclidean
    # ball: here it is K-norm noise (pure) or Gaussian.
    for t, share in enumerate(budget.rounds(len(weights), weights)):
        name = "Recovery" if t == 0 else f"Polishing {t} of {len(weights) - 1}"
        title = f"{name}: {len(centers)} noisy means in {session.dim} dimensions"
        step = run_lloyd_round(session, share, before, title=title, note=name.lower(), cells=cells, spherical=True)
        yield step
        before, revived = step.centers, params.preset == "practical" and t + 1 < len(weights)
        if revived and step.noisy_counts is not None and step.count_noise_sd is not None:
            # A start on the tree knows small clusters: idle is only what cannot be told from an empty one.
            floor = max(1.0, 2 * step.count_noise_sd)
            before = revive(before, step.noisy_counts, session.n, session.region, rng, idle_below=floor)
        cells = partitions.Voronoi(before)


def find_centers(
    session: PrivateSession, k: int, params: BalcanParams, rng: np.random.Generator, *, order: int = 2
) -> Generator[Step, None, tuple[Projection, Array, Budget]]:
    """Project, find candidates, and pick k of them by private swaps: a generator of steps.

    It returns where it looked, the centres (k, p) there, and the budget that is left for the full space.

    **Guarantee.** The parts ``tree`` and ``swapping`` of the session's budget.
    """
    c = choose_constants(params, session.n, session.dim)
    draw_frame = draw_orthonormal_frame if c.practical else draw_gaussian_frame
    view = project(session, draw_frame(c.dimensions, session.dim, rng) if c.dimensions < session.dim else None)
    share = session.budget.split(tree=c.tree, rest=c.swapping + c.means)
    trees: list[partitions.CubeTree] = []
    for grown in grow_trees(view, share.tree, c.shifts, c.levels, rng, empty_rate=c.empty_rate):
        trees[grown.shift - 1 :] = [grown.tree]
        yield grown
    candidates = list_candidates(trees, k, view.session.region, rng)
    added = int((candidates.depths < 0).sum())
    yield CandidatesStep(
        title=f"{len(candidates.points):,} candidate centres: the middles of all cubes that woke up"
        + (f", and {added:,} added without data" if added else ""),
        candidates=candidates.points,
        depths=candidates.depths,
        region=view.session.region,
        frame=view.frame,
    )

    few = candidates.thin(max(4 * k, int(min(2000, _PAIRS / session.n))), rng)
    start = start_on_cubes(few, k, rng) if c.practical else rng.choice(len(few.points), k, replace=False)
    centers = few.points[start]
    # Where there is nothing to swap, the means take the share.
    swapping = len(few.points) > k and c.swaps != 0
    rest = share.rest.split(swaps=c.swapping if swapping else 0.0, means=c.means)
    if swapping:
        useful = count_useful_swaps(view, k, len(few.points), rest.swaps, order=order) if c.practical else k
        number, paper = c.swaps or useful, not c.practical
        for swap in local_swap(
            view, few.points, start, rest.swaps, number, keep=c.keep, choose_iterate=paper, order=order
        ):
            centers = swap.centers
            yield swap
    return view, centers, rest.means


def choose_constants(params: BalcanParams, n: int, dim: int) -> Constants:
    """What a preset decides for ``n`` rows (public or bought) of ``dim`` columns."""
    practical, swaps = params.preset == "practical", params.swaps
    if practical:
        by_rule = dim if dim <= 6 else max(2, min(dim, ceil(log(n) / 2) + 2))
        p = min(dim, params.dimensions or by_rule)
        made = Constants(practical, swaps, p, 1, 6, _SPURIOUS_CUBES / 2**p, _KEEP_PRIOR, _TREE, _SWAPS, _MEANS)
    else:
        # Alg. 4 gives trees, swaps and recovery 2 : 2 : 1; how the polishing of §7 is paid is not printed: half of all.
        by_rule = dim if dim <= 5 else max(1, int(log(n) / 2))
        p = min(dim, params.dimensions or by_rule)
        made = Constants(practical, swaps, p, 2, max(1, int(log(n))), 0.5 / max(n, 2) ** 2, 0.0, 0.2, 0.2, 0.6)
    return made._replace(shifts=params.shifts or made.shifts, levels=params.levels or made.levels)


def _weigh_rounds(params: BalcanParams, session: PrivateSession, k: int, budget: Budget) -> list[float]:
    """How recovery and polishing divide their budget: growing shares, since the last means are what is released."""
    if params.preset == "paper":
        polishing = 8 if params.polishing is None else params.polishing
        return [0.1] + [0.5 / max(1, polishing)] * polishing
    if params.polishing is not None:
        return _grow_weights(params.polishing)
    spacing = session.n / k * k ** (-1 / session.dim) / session.rows_per_person
    for polishing in (3, 2):
        last = budget.rounds(polishing + 1, _grow_weights(polishing))[-1]
        if compute_row_noise(last, Setting.of(session, k, session.n)) <= _TOLERABLE_NOISE * spacing:
            return _grow_weights(polishing)
    return _grow_weights(1)


def _grow_weights(polishing: int) -> list[float]:
    return [float(weight) for weight in np.linspace(1, _LAST_TO_FIRST, polishing + 1)]


def compute_row_noise(budget: Budget, setting: Setting) -> float:
    """Length of the noise on a cluster's sum that a round of means buys with ``budget``, in radii of the domain."""
    ratio = compute_count_to_sum_ratio(setting.dim, budget.accounting, spherical=True)
    share = budget.split(counts=ratio, sums=1.0).sums
    kind = mechanisms.choose_noise_kind(budget.accounting, spherical=True)
    noise = setting.calibrate(queries.Sum(partitions.Everything()), kind, share)
    return sqrt(setting.dim) * noise.compute_sd(setting.dim)


def _compute_smallest_n(setting: Setting, params: BalcanParams) -> float:
    """Two thresholds' worth of rows in each of k clusters, and means whose noise is half the centres' spacing."""

    def noise(budget: Budget, part: float) -> float:
        return compute_row_noise(budget.fraction(part), setting) / float(setting.k ** (-1 / setting.dim))

    return compute_smallest_n(setting, params, noise)


def compute_smallest_n(setting: Setting, params: BalcanParams, noise: Callable[[Budget, float], float]) -> float:
    """Two thresholds' worth of rows in each of k clusters, and twice the ``noise`` that a part of the budget leaves."""
    c = choose_constants(params, setting.n or 10_000, setting.dim)
    budget = setting.budget(PURE_OR_ZCDP(params, setting.delta))
    share = budget.fraction(c.tree / c.shifts / c.levels)
    any_tree = queries.SparseCount(partitions.CubeTree(np.zeros(1), 1.0))
    counts = setting.calibrate(any_tree, mechanisms.choose_noise_kind(share.accounting), share)
    return setting.k * max(2 * compute_quiet_threshold(counts, c.empty_rate), 2 * noise(budget, c.means))


def explain_release_refusal(setting: Setting, params: BalcanParams) -> str | None:
    """Release-grade noise is drawn on every child of a cube, of which there are 2^p."""
    dimensions = choose_constants(params, setting.n or 10_000, setting.dim).dimensions
    if dimensions <= _MOST_DRAWN:
        return None
    return f"cubes of {dimensions} dimensions have too many children to draw noise on; at most {_MOST_DRAWN} will do"


def count_operations(setting: Setting, params: BalcanParams) -> float:
    """Rough number of elementary operations."""
    n, c = setting.rows, choose_constants(params, setting.n or 1, setting.dim)
    searched = max(4.0 * setting.k, min(500.0, _PAIRS / max(n, 1.0)))
    rounds = 4 if params.polishing is None else params.polishing + 1
    return n * (
        c.shifts * c.levels * c.levels * c.dimensions
        + (params.swaps if params.swaps is not None else min(setting.k, 10))
        * searched
        * (c.dimensions + 6)
        / _GAIN_SPEED
        + rounds * setting.k * setting.dim
    )


CARD = Card(
    **read_card("balcan"),
    params=BalcanParams,
    plan=balcan,
    accounting=PURE_OR_ZCDP,
    smallest_n=_compute_smallest_n,
    operations=count_operations,
    release=explain_release_refusal,
)


# Constants of the recovery, chosen by hand: the paper's own parts cost more than they claim (docs/proofs).

# Parts of the recovery's budget: which coordinates, how large they are, how many rows.
_CHOICE = 0.45
_SIZES = 0.45
_SPARSE_COUNTS = 0.10
_CLEAR_SDS = 2.0  # a mean within so many standard deviations of its noise is set to 0


@dataclass(frozen=True, eq=False, kw_only=True)
class CoordinatesStep(Step):
    """The ``coordinates`` (k, J) chosen for each cluster, and the noisy means there; all others are 0.

    ``noise_sd`` (k,) is the standard deviation of the noise on one mean; ``nonzeros`` how many entries of a row count.
    """

    coordinates: Codes
    noisy_means: Array
    noise_sd: Array
    noisy_counts: Array
    nonzeros: int


@dataclass(frozen=True)
class SparseParams(Params):
    """Parameters of the sparse variant."""

    nonzeros: int = param_field(20, low=1, high=10_000)
    eta: float = param_field(1.0, low=0.05, high=2)
    rounds: int | None = param_field(None, low=1, high=6)
    dimensions: int | None = param_field(None, low=1, high=40)
    levels: int | None = param_field(None, low=1, high=20)
    swaps: int | None = param_field(None, low=0, high=200)


def _find_search(params: SparseParams | KMedianParams) -> BalcanParams:
    """How k cubes are searched for."""
    return BalcanParams(dimensions=params.dimensions, levels=params.levels, swaps=params.swaps)


def balcan_sparse(session: PrivateSession, k: int, params: SparseParams, rng: np.random.Generator) -> Iterator[Step]:
    """Find k cubes in a projection, then recover each cluster's largest coordinates only.

    The last step is the release. O(L n p + T n |C| p + N + k d) for N entries that are not 0.

    **Guarantee.** Add/remove or replace; ε-DP at δ = 0, else zCDP for (ε, δ). Bounds and s are public; n is public or
    bought and sets dimensions, levels and swaps.
    """
    few = session.sparsify(params.nonzeros)
    view, centers, whole = yield from find_centers(few, k, _find_search(params), rng)
    cells = view.cells(centers)
    rounds = _plan_sparse_rounds(params, session.accounting)
    for budget in whole.rounds(rounds, list(range(2, 2 + rounds))):
        step = recover_coordinates(few, cells, budget, params)
        yield step
        centers = np.zeros((k, session.dim))
        np.put_along_axis(centers, step.coordinates, step.noisy_means, axis=1)
        # Rows follow the centres in all columns from now on: a projection to a few dimensions blurs them.
        centers = few.region.clip(centers)
        cells = partitions.Voronoi(centers)
    yield CentersStep(
        title=f"Centres with at most {step.coordinates.shape[1]} of {session.dim:,} coordinates that are not 0",
        centers=centers,
        noisy_counts=step.noisy_counts,
        center_noise_sd=step.noise_sd,
    )


def recover_coordinates(session: PrivateSession, cells: Cells, budget: Budget, params: SparseParams) -> CoordinatesStep:
    """The largest coordinates of each cell's mean, and noisy values for them, unit coordinates.

    **Guarantee.** ``budget``: .45 for the choice, .45 for the sums, .10 for the counts; cells in parallel.

    References
    ----------
    Balcan et al. 2017, Alg. 5 (corrected: see ``privacy/sums/chosen_coordinates.py``).
    """
    share = budget.split(choice=_CHOICE, sizes=_SIZES, counts=_SPARSE_COUNTS)
    counts = session.release(queries.Count(cells), share.counts, note="counts")
    kept = min(session.dim, ceil(2 * params.nonzeros / params.eta))
    question, note = queries.Weights(cells), "largest coordinates"
    chosen = session.ask(question, mechanisms.Peeling, share.choice, note=note, draws=kept, magnitudes=True).value
    sums = session.release(queries.ChosenSum(cells, chosen), share.sizes, note="sums of the chosen coordinates")
    per_row = np.maximum(counts.value, max(1.0, 2 * counts.sd))
    half = session.region.half[chosen]
    clear = np.abs(sums.value) > _CLEAR_SDS * sums.sd
    means = np.where(clear, np.clip(sums.value / per_row[:, None], -half, half), 0.0)
    return CoordinatesStep(
        title=f"{kept} of {session.dim:,} coordinates chosen for each cluster, then measured",
        coordinates=chosen,
        noisy_means=means,
        noise_sd=sums.sd / per_row,
        noisy_counts=counts.value,
        nonzeros=params.nonzeros,
    )


def _plan_sparse_rounds(params: SparseParams, accounting: Accounting) -> int:
    return params.rounds or (1 if accounting is Accounting.PURE else 2)


def _compute_sparse_smallest_n(setting: Setting, params: SparseParams) -> float:
    """Two thresholds' worth of rows in each cluster, and sums whose noise is half of a full coordinate of all rows."""

    def noise(budget: Budget, part: float) -> float:
        amount = budget.fraction(part * _SIZES / _plan_sparse_rounds(params, budget.accounting)).amount
        few = min(params.nonzeros, setting.dim)
        return few * sqrt(2) / amount if budget.accounting is Accounting.PURE else sqrt(few / (2 * amount))

    return compute_smallest_n(setting, _find_search(params), noise)


SPARSE = Card(
    **read_card("balcan-sparse"),
    params=SparseParams,
    plan=balcan_sparse,
    accounting=PURE_OR_ZCDP,
    smallest_n=_compute_sparse_smallest_n,
    operations=lambda setting, params: count_operations(setting, _find_search(params)),
)

# Constants of the rounds of medians, which are not the paper's: chosen by hand.

_ROUND_COUNTS = 0.1  # part of a round's budget, for the counts that scale its step
_FIRST_STEP = 0.5  # in spacings of k centres
# Under Gaussian noise and under pure ε.
_ROUNDS_GAUSSIAN = 12
_ROUNDS_PURE = 5
_FIRST_REACH = 1.0  # how far the places of a first draw lie from a centre, in spacings of k centres
_ZOOM = 0.5  # of the next draw, as a part of that
_DRAWS = 5  # draws of each centre, one among the places around the last


_WALKED, _DRAWN = "walked", "drawn"
# Places along an axis where a cube of them is few enough to be drawn from; with more columns they lie along the axes.
_PER_AXIS = {1: 33, 2: 21, 3: 9}
_ALONG_AXES = (0.25, 0.5, 1.0)


@dataclass(frozen=True)
class KMedianParams(Params):
    """Parameters of the k-median variant."""

    dimensions: int | None = param_field(None, low=1, high=40)
    levels: int | None = param_field(None, low=1, high=20)
    swaps: int | None = param_field(None, low=0, high=200)
    rounds: int | None = param_field(None, low=1, high=50)
    medians: str = param_field(_WALKED, choices=(_WALKED, _DRAWN))


def balcan_kmedian(session: PrivateSession, k: int, params: KMedianParams, rng: np.random.Generator) -> Iterator[Step]:
    """Find k cubes by private swaps on distances, then walk to the medians of their clusters, which are released.

    O(L n p + T n |C| p + R n k d) for L levels, T swaps and R steps; drawn medians take R n m d, with m places.

    **Guarantee.** Add/remove or replace; ε-DP at δ = 0, else zCDP for (ε, δ). Bounds are public; n is public or bought.
    """
    view, centers, budget = yield from find_centers(session, k, _find_search(params), rng, order=1)
    cells, start = view.cells(centers), view.lift(centers, session.region)
    if params.medians == _DRAWN:
        yield from draw_medians(session, cells, start, budget, params.rounds or _DRAWS)
    else:
        yield from run_median_rounds(session, cells, start, budget, params.rounds or plan_rounds(budget.accounting))


def draw_medians(
    session: PrivateSession, cells: Cells, start: Array, budget: Budget, draws: int
) -> Iterator[CentersStep]:
    """``draws`` private draws of every centre among places around it, each time over half the way, unit coordinates.

    A centre z of the cluster C has the law exp(-Σ_{x in C} |x - z| / scale), as in the log-concave sampler that §6.2
    refers to, but on finitely many public places, where it is drawn exactly: a sampler of the continuous law would only
    come near it, and the guarantee would need to say how near. What a row adds differs from place to place by at most
    their distance, so that the noise shrinks with the reach. ``start`` (k, d) is released.

    **Guarantee.** ``budget``: a tenth for counts, the rest for the draws alike; clusters in parallel.

    References
    ----------
    Balcan et al. 2017, §6.2; Bassily, Smith & Thakurta 2014 (log-concave sampling); McSherry & Talwar 2007 (the
    exponential mechanism).
    """
    region, k = session.region, len(start)
    reach = _FIRST_REACH * region.radius * k ** (-1 / region.dim)
    around, centers = list_places(region.dim), start
    share = budget.split(counts=_ROUND_COUNTS, draws=1 - _ROUND_COUNTS)
    counts = session.release(queries.Count(cells), share.counts, note="counts")
    for t, part in enumerate(share.draws.rounds(draws), start=1):
        places = region.clip(centers[:, None] + reach * _ZOOM ** (t - 1) * around)
        question, note = losses.MedianLoss(cells, places), f"draw {t}: medians"
        chosen = session.ask(question, mechanisms.Peeling, part, note=note, draws=1).value[:, 0]
        moved = places[np.arange(k), chosen]
        yield CentersStep(
            title=f"Draw {t} of {draws}: each centre is one of {len(around)} places around it, "
            "the likelier the less it is away from its rows",
            centers=moved,
            noisy_counts=counts.value,
            previous=centers,
            count_noise_sd=counts.sd,
        )
        centers = moved
        cells = partitions.Voronoi(centers)


def list_places(dim: int) -> Array:
    """Public places (m, dim) in the unit ball, the middle first: a cube, or with more than three columns the axes.

    >>> [len(list_places(dim)) for dim in (1, 2, 3, 4, 10)]
    [33, 317, 257, 25, 61]
    """
    if dim in _PER_AXIS:
        along = np.linspace(-1.0, 1.0, _PER_AXIS[dim])
        places = np.stack(np.meshgrid(*[along] * dim, indexing="ij"), axis=-1).reshape(-1, dim)
    else:
        axes = np.concatenate([np.eye(dim), -np.eye(dim)])
        places = np.concatenate([np.zeros((1, dim)), *(step * axes for step in _ALONG_AXES)])
    length = np.linalg.norm(places, axis=1)
    return places[np.argsort(length, kind="stable")][: int((length <= 1 + 1e-9).sum())]


def run_median_rounds(
    session: PrivateSession, cells: Cells, start: Array, budget: Budget, rounds: int
) -> Iterator[CentersStep]:
    """``rounds`` noisy subgradient steps from released ``start`` (k, d) down the summed distances, unit coordinates.

    Each row pulls its centre with force 1, so that the noise does not depend on the size of the domain; a noisy count
    of the cluster turns the sum of pulls into a mean of at most 1. Steps shrink like 1/t, and what is released is the
    mean of the later half of all iterates.

    **Guarantee.** ``budget``. The pulls of one row have Euclidean norm 1 over all clusters together (2 under replace).

    References
    ----------
    Balcan et al. 2017, §6.2, which samples from a log-concave density instead, as ``draw_medians`` does; Bassily, Smith
    & Thakurta 2014 (noisy subgradients).
    """
    region, k = session.region, len(start)
    first = _FIRST_STEP * region.radius * k ** (-1 / region.dim)
    centers, walked, noise = start, list[Array](), np.zeros(k)
    for t, part in enumerate(budget.rounds(rounds), start=1):
        share = part.split(counts=_ROUND_COUNTS, pulls=1 - _ROUND_COUNTS)
        counts = session.release(queries.Count(cells), share.counts, note=f"step {t}: counts")
        pulls = session.release(queries.Pull(cells, centers), share.pulls, note=f"step {t}: pulls", spherical=True)
        scale = np.maximum(counts.value, max(1.0, 2 * counts.sd))
        moved = region.clip(centers + first / t * pulls.value / scale[:, None])
        walked.append(moved)
        # What every step has added: a later one takes little of it back.
        noise = np.hypot(noise, first / t * pulls.sd / scale)
        released = region.clip(np.mean(walked[len(walked) // 2 :], axis=0)) if t == rounds else moved
        yield CentersStep(
            title=f"Step {t} of {rounds} towards the medians"
            + ("; the mean of the later half is released" if t == rounds else ""),
            centers=released,
            noisy_counts=counts.value,
            previous=centers,
            center_noise_sd=noise,
            count_noise_sd=counts.sd,
        )
        centers = moved
        cells = partitions.Voronoi(centers)


def plan_rounds(accounting: Accounting) -> int:
    """Steps that a budget feeds: Gaussian noise composes better than pure noise."""
    return _ROUNDS_PURE if accounting is Accounting.PURE else _ROUNDS_GAUSSIAN


def _compute_kmedian_smallest_n(setting: Setting, params: KMedianParams) -> float:
    """Two thresholds' worth of rows in each of k clusters, and pulls whose noise is half of what all rows pull."""

    def noise(budget: Budget, part: float) -> float:
        rounds = params.rounds or plan_rounds(budget.accounting)
        share = budget.fraction(part / rounds * (1 - _ROUND_COUNTS))
        nowhere = partitions.Voronoi(np.zeros((1, setting.dim)))
        kind = mechanisms.choose_noise_kind(budget.accounting, spherical=True)
        pulls = setting.calibrate(queries.Pull(nowhere, nowhere.centers), kind, share)
        return sqrt(setting.dim) * pulls.compute_sd(setting.dim)

    return compute_smallest_n(setting, _find_search(params), noise)


def _count_kmedian_operations(setting: Setting, params: KMedianParams) -> float:
    places = 6.0 * len(list_places(setting.dim)) if params.medians == _DRAWN else 0.0
    return count_operations(setting, _find_search(params)) + 12.0 * setting.rows * (setting.k + places) * setting.dim


KMEDIAN = Card(
    **read_card("balcan-kmedian"),
    params=KMedianParams,
    plan=balcan_kmedian,
    accounting=PURE_OR_ZCDP,
    smallest_n=_compute_kmedian_smallest_n,
    operations=_count_kmedian_operations,
    release=lambda setting, params: explain_release_refusal(setting, _find_search(params)),
)

CARDS = (CARD, SPARSE, KMEDIAN)
