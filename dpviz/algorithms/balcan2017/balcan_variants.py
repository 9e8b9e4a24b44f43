"""Two variants of one search for k cubes: for sparse rows in very many columns, and for k-median (Balcan et al. 2017).

Sparse rows keep a few chosen coordinates of each centre (Alg. 5). k-median has candidates and swaps on distances, and
private medians in the full space (§6.2).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np

from dpviz.algorithms.balcan2017.balcan import (
    ACCOUNTING,
    BalcanParams,
    choose_constants,
    compute_smallest_n,
    count_operations,
    explain_release_refusal,
    find_centers,
)
from dpviz.algorithms.card import Card, Guarantee, Params, Setting, param_field, read_texts
from dpviz.algorithms.steps import CentersStep, Step
from dpviz.core import Accounting, Array, Budget, Codes, PrivateSession, Region, losses, mechanisms, partitions, queries

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

    @property
    def search(self) -> BalcanParams:
        """How k cubes are searched for."""
        return BalcanParams(dimensions=self.dimensions, levels=self.levels, swaps=self.swaps)


def balcan_sparse(session: PrivateSession, k: int, params: SparseParams, rng: np.random.Generator) -> Iterator[Step]:
    """Find k cubes in a projection, then recover each cluster's largest coordinates only.

    The last step is the release. O(L n p + T n |C| p + N + k d) for N entries that are not 0.

    **Guarantee.** Add/remove or replace; ε-DP at δ = 0, else zCDP for (ε, δ). Bounds and s are public; n is public or
    bought and sets dimensions, levels and swaps.
    """
    few = session.sparsify(params.nonzeros)
    c = choose_constants(params.search, session.n, session.dim)
    view, centers, whole = yield from find_centers(few, k, c, rng)
    cells: partitions.Voronoi | partitions.ProjectedCells = view.cells(centers)
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


def recover_coordinates(
    session: PrivateSession, cells: partitions.Voronoi | partitions.ProjectedCells, budget: Budget, params: SparseParams
) -> CoordinatesStep:
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
    means = np.where(
        np.abs(sums.value) > _CLEAR_SDS * sums.sd, np.clip(sums.value / per_row[:, None], -half, half), 0.0
    )
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

    return compute_smallest_n(setting, params.search, noise)


SPARSE = Card(
    **read_texts("balcan-sparse"),
    guarantees=(Guarantee.PURE, Guarantee.APPROX),
    params=SparseParams,
    plan=balcan_sparse,
    accounting=ACCOUNTING,
    smallest_n=_compute_sparse_smallest_n,
    operations=lambda setting, params: count_operations(setting, params.search),
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

    @property
    def search(self) -> BalcanParams:
        """How k cubes are searched for."""
        return BalcanParams(dimensions=self.dimensions, levels=self.levels, swaps=self.swaps)


def balcan_kmedian(session: PrivateSession, k: int, params: KMedianParams, rng: np.random.Generator) -> Iterator[Step]:
    """Find k cubes by private swaps on distances, then walk to the medians of their clusters.

    The last step is the release. O(L n p + T n |C| p + R n k d) for L levels, T swaps and R steps towards the medians;
    drawn ones take R n m d, with m places.

    **Guarantee.** Add/remove or replace; ε-DP at δ = 0, else zCDP for (ε, δ). Bounds are public; n is public or bought
    and sets dimensions, levels and swaps.
    """
    c = choose_constants(params.search, session.n, session.dim)
    view, centers, budget = yield from find_centers(session, k, c, rng, order=1)
    cells, start = view.cells(centers), view.lift(centers, session.region)
    if params.medians == _DRAWN:
        yield from draw_medians(session, cells, start, budget, params.rounds or _DRAWS)
    else:
        yield from run_median_rounds(session, cells, start, budget, params.rounds or plan_rounds(budget.accounting))


def draw_medians(
    session: PrivateSession,
    cells: partitions.Voronoi | partitions.ProjectedCells,
    start: Array,
    budget: Budget,
    draws: int,
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
        chosen = session.ask(
            losses.MedianLoss(cells, places), mechanisms.Peeling, part, note=f"draw {t}: medians", draws=1
        ).value[:, 0]
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
    session: PrivateSession,
    cells: partitions.Voronoi | partitions.ProjectedCells,
    start: Array,
    budget: Budget,
    rounds: int,
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
        share, nowhere = (
            budget.fraction(part / rounds * (1 - _ROUND_COUNTS)),
            partitions.Voronoi(np.zeros((1, setting.dim))),
        )
        pull = queries.Pull(nowhere, nowhere.centers)
        kind = mechanisms.choose_noise_kind(budget.accounting, spherical=True)
        pulls = mechanisms.calibrate_mechanism(pull, kind, share, setting.relation, Region.ball(setting.dim, 1.0))
        return sqrt(setting.dim) * pulls.compute_sd(setting.dim)

    return compute_smallest_n(setting, params.search, noise)


def _count_operations(setting: Setting, params: KMedianParams) -> float:
    places = 6.0 * len(list_places(setting.dim)) if params.medians == _DRAWN else 0.0
    return count_operations(setting, params.search) + 12.0 * setting.rows * (setting.k + places) * setting.dim


KMEDIAN = Card(
    **read_texts("balcan-kmedian"),
    guarantees=(Guarantee.PURE, Guarantee.APPROX),
    params=KMedianParams,
    plan=balcan_kmedian,
    accounting=ACCOUNTING,
    smallest_n=_compute_kmedian_smallest_n,
    operations=_count_operations,
    release=lambda setting, params: explain_release_refusal(setting, params.search),
)

CARDS = (SPARSE, KMEDIAN)
