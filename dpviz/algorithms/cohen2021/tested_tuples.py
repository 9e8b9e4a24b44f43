"""k-means in secret blocks, or a table of k-tuples, tested for agreement (Cohen et al. 2021, Figs. 3 and 4).

What agrees is averaged, or shown with noise, or tells where the clusters are whose means, or the parts of a mixture
whose covariances, all rows then measure. Tuples are made by secret blocks of rows, one each, or the rows are tuples
themselves.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from math import ceil, exp, log, sqrt
from typing import Any

import numpy as np
from scipy.optimize import brentq

from dpviz.algorithms.balcan2017.projection import draw_orthonormal_frame
from dpviz.algorithms.baselines.sample_aggregate import count_most_blocks
from dpviz.algorithms.card import Card, Params, Setting, always, param_field, read_card
from dpviz.algorithms.steps import CentersStep, Step
from dpviz.algorithms.tools.lloyd_round import run_lloyd_round
from dpviz.algorithms.tools.solvers import SignedPoints, draw_kmeans_pp_seeds, find_best_of_starts, pack_spheres
from dpviz.core import (
    Accounting,
    Array,
    BlockKMeans,
    Budget,
    EachRow,
    LocalNoise,
    PrivateSession,
    Relation,
    mechanisms,
    partitions,
    queries,
    tuples,
)

# Rows of a block for each cluster, in the paper's runs.
_ROWS_PER_CLUSTER = 15
_RECORDS, _TUPLES = "records", "tuples"
# The claim behind the test holds for ε up to 1.
MOST_EPSILON = 1.0
# The noise that the practical preset aims at, as a part of the distance between centres.
_RELATIVE_NOISE = 0.05
# Radius of the smallest cloud of tuples' points that averages tell apart, unit coordinates.
FINEST = 1e-4
_SLACK = 1 - 1e-12


@dataclass(frozen=True)
class TupleParams(Params):
    """Parameters of algorithms on tuples."""

    preset: str = param_field("practical", choices=("practical", "paper"))
    beta: float = param_field(0.05, low=1e-6, high=0.5)
    rows_per_tuple: int | None = param_field(None, low=2, high=100_000)

    @property
    def printed(self) -> bool:
        """Whether constants are the paper's."""
        return self.preset == "paper"

    @property
    def given(self) -> bool:
        """Whether each row is a tuple already."""
        return False

    def count_rows_of_tuple(self, k: int) -> int:
        """Fewest rows that make a tuple."""
        return 1 if self.given else self.rows_per_tuple or _ROWS_PER_CLUSTER * k


@dataclass(frozen=True)
class GivenTupleParams(TupleParams):
    """Parameters of algorithms that serve tables of tuples, too."""

    rows: str = param_field(_RECORDS, choices=(_RECORDS, _TUPLES))

    @property
    def given(self) -> bool:
        return self.rows == _TUPLES

    def points_per_row(self, k: int) -> int:
        """k in a table of tuples."""
        return k if self.given else 1

    def refusal(self, relation: Relation) -> str | None:
        """A table of tuples is served under replace only."""
        if not self.given or relation is Relation.REPLACE:
            return None
        return (
            "With rows = tuples the number of tuples is public, and one of them may be replaced by another: declare "
            "the relation replace, or choose rows = records."
        )


@dataclass(frozen=True, eq=False)
class TupleSource:
    """A session whose rows are tuples, or make them.

    ``anchors`` (k, d), public: what a block with fewer than k distinct rows answers, and what stands in for ⊥.
    """

    session: PrivateSession
    points: PrivateSession
    params: TupleParams
    anchors: Array
    salt: int

    @classmethod
    def of(cls, session: PrivateSession, k: int, params: TupleParams, rng: np.random.Generator) -> TupleSource:
        """The source that ``params`` ask for; no row is read."""
        points = session.unfold(params.points_per_row(k))
        return cls(session, points, params, pack_spheres(k, points.region, rng), int(rng.integers(2**20)))

    @property
    def k(self) -> int:
        return len(self.anchors)

    @property
    def most(self) -> int:
        """As many tuples as there can be."""
        number = max(1, self.session.n // self.params.count_rows_of_tuple(self.k))
        return number if self.params.given else min(number, count_most_blocks(self.k, self.session.dim))

    def tuples(self, number: int) -> PrivateSession:
        """A session over ``number`` tuples, of which one unit of privacy replaces one."""
        if self.params.given:
            return self.session
        return self.session.blocks(BlockKMeans(self.anchors, match=False, salt=self.salt), number)

    def make_placeholder(self) -> CentersStep:
        """The first step: centres that know no data."""
        return CentersStep(title="Sphere packing, which stands in for ⊥: no row has been read", centers=self.anchors)


@dataclass(frozen=True, eq=False, kw_only=True)
class TupleTestStep(Step):
    """The answer of a test of tuples, with its public numbers; ``centers`` (k, d) are released if it ``passed``.

    * ``number``, ``needed``: tuples, and how many the formulas ask for: with fewer the answer is ⊥ before any row is
      read.
    * ``rows_per_tuple``: rows of a block, on average; 1 where rows are tuples.
    * ``sampled``: m, the tuples that are tried; 0 where none is.
    * ``far``: Δ.
    * ``misfit_limit``, ``misfit_scale``: noisy misfits up to which a sampled tuple passes, and the scale of the Laplace
      noise on them.
    * ``vote_limit``, ``vote_scale``: noisy votes from which the test passes, and the scale of the Laplace noise on
      them.
    * ``center_noise_sd`` (k,): typical standard deviation of the noise, estimated from the released distances alone:
      the true one depends on rows and is not released.
    * ``anchors`` (k, d): public: what blocks with fewer than k distinct rows answer, and what stands in for ⊥.
    * ``salt``: public coin of the models of the blocks.
    * ``given``: whether each row of the table is a tuple; otherwise tuples are models of secret blocks.
    """

    passed: bool
    centers: Array | None
    center_noise_sd: Array | None
    number: int
    needed: int
    rows_per_tuple: float
    sampled: int
    far: float
    misfit_limit: float
    misfit_scale: float
    vote_limit: float
    vote_scale: float
    anchors: Array
    salt: int
    given: bool = False


def halve_budget(budget: Budget, part: float) -> tuple[Budget, Budget | None]:
    """``part`` of the budget for the tuples, but at most ε = 1 of it; what is left, if anything, for means of rows."""
    epsilon = min(part * budget.amount, MOST_EPSILON)
    if part == 1.0 and epsilon == budget.amount:
        return budget, None
    delta = min(part, 0.5) * budget.delta
    surplus = Budget(budget.accounting, (budget.amount - epsilon) * _SLACK, (budget.delta - delta) * _SLACK)
    return Budget(budget.accounting, epsilon * _SLACK, delta * _SLACK), surplus


def count_needed_tuples(share: Budget, params: TupleParams) -> int:
    """Fewest tuples that the test can be asked about with ``share``; from public numbers only."""
    half, quarter = share.amount / 2, share.delta / 4
    return find_smallest_number(epsilon=half, delta=quarter, beta=params.beta / 2, printed=params.printed)


@lru_cache(maxsize=1024)
def find_smallest_number(*, epsilon: float, delta: float, beta: float, printed: bool) -> int:
    """The fewest tuples for which a test with these constants can pass; from public numbers only."""

    def feasible(number: int) -> bool:
        return tuples.PartitionTest(epsilon, delta, beta, 1.0, number, printed).plan is not None

    high = 2
    while not feasible(high):
        high *= 2
    return bisect_left(range(high + 1), True, key=feasible)


def run_noisy_center_test(source: TupleSource, share: Budget, *, far: float | None) -> TupleTestStep:
    """As many tuples as the test needs, or as there can be, and noisy points of one of them.

    One centre is far from nothing: it needs no test, and is averaged.

    **Guarantee.** ``share``: (ε, δ), whatever the answer.
    """
    k, params = source.k, source.params
    if k == 1:
        return run_average_test(source, share, finest=FINEST)
    needed = count_needed_tuples(share, params)
    # ``needed`` tuples if blocks can make them and the fewest rows do not go short; given ones are all taken.
    number = source.most if params.given else min(needed, source.most)
    far = far or choose_far(share, params, k)
    options: dict[str, Any] = {"k": k, "number": number, "far": far, "beta": params.beta, "printed": params.printed}
    session, note = source.tuples(number), "test of tuples, noisy centres of one"
    released = session.ask(tuples.Tuples(k), tuples.NoisyCenters, share, note=note, **options)
    return _make_outcome(source, released, needed=needed, possible=released.mechanism.test.plan is not None)


def run_average_test(source: TupleSource, share: Budget, *, finest: float, turned: bool = False) -> TupleTestStep:
    """As many tuples as there can be, and averages of their points; ``finest`` is the least radius that is looked for.

    **Guarantee.** ``share``: (ε, δ), whatever the answer.
    """
    k, dim, params, number = source.k, source.points.dim, source.params, source.most
    options: dict[str, Any] = {"k": k, "number": number, "dim": dim, "finest": finest, "beta": params.beta}
    options |= {"bound": float(source.points.region.half.max()), "printed": params.printed}
    if turned:
        options["axes"] = draw_orthonormal_frame(dim, dim, np.random.default_rng(source.salt))
    session, note = source.tuples(number), "test of tuples, averages of clusters"
    released = session.ask(tuples.Tuples(k), tuples.TupleAverages, share, note=note, **options)
    needed = count_averaged_tuples(share, params, k, dim, finest)
    possible = released.mechanism.test.plan is not None and (params.printed or number >= needed)
    return _make_outcome(source, released, needed=needed, possible=possible)


def count_averaged_tuples(share: Budget, params: TupleParams, k: int, dim: int, finest: float) -> int:
    """Fewest tuples whose averages are not noise, from public numbers only; ``finest``: the least radius looked for."""

    def wanted(number: int) -> int:
        average = tuples.TupleAverages(
            epsilon=share.amount,
            delta=share.delta,
            k=k,
            number=number,
            dim=dim,
            finest=finest,
            bound=1.0,
            beta=params.beta,
            printed=params.printed,
        ).average
        assert average is not None
        return ceil(average.fewest)

    # ℓ falls where there are more tuples, and with it what is wanted.
    low = count_needed_tuples(share, params) if k > 1 else 1
    high = max(low, wanted(low))
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if middle >= wanted(middle) else (middle + 1, high)
    return high


def choose_far(share: Budget, params: TupleParams, k: int) -> float:
    """Δ by the preset's rule."""
    epsilon, delta = share.amount, share.delta
    if params.printed:
        return compute_printed_far(epsilon=epsilon, delta=delta, k=k, beta=params.beta)
    return compute_far(_RELATIVE_NOISE, epsilon=epsilon, delta=delta, k=k)


@lru_cache(maxsize=1024)
def compute_far(relative: float, *, epsilon: float, delta: float, k: int) -> float:
    """Δ at which the noise is typically ``relative`` times the distance between points; from public numbers only."""

    def excess(log_far: float) -> float:
        # The noise does not depend on how many tuples there are.
        planned = tuples.NoisyCenters(epsilon=epsilon, delta=delta, k=k, number=0, far=exp(log_far), beta=1.0)
        return log(planned.relative_sd / relative)

    high = log(8.0)
    while excess(high) > 0:
        high += 1
    return exp(brentq(excess, log(6.5), high)) if excess(log(6.5)) > 0 else 6.5


def compute_printed_far(*, epsilon: float, delta: float, k: int, beta: float) -> float:
    """Δ of the paper's experiments."""
    return max(7.0, 10 / epsilon * k * log(k / delta) * sqrt(log(k / beta)))


def compute_smallest_n(setting: Setting, params: TupleParams, part: float, *, finest: float | None = None) -> float:
    """Rows for as many tuples as the public formulas ask for; ``finest`` for averages, None for noisy centres."""
    share, _ = halve_budget(Budget(Accounting.BASIC, setting.epsilon, setting.delta or 1e-6), part)
    if finest is not None or setting.k == 1:
        dim = max(1, setting.dim // params.points_per_row(setting.k))
        needed = count_averaged_tuples(share, params, setting.k, dim, finest or FINEST)
    else:
        needed = count_needed_tuples(share, params)
    return float(needed * params.count_rows_of_tuple(setting.k))


def count_operations(setting: Setting, params: TupleParams) -> float:
    """k-means in every block, the test, and a pass for means."""
    return 30.0 * setting.rows * setting.k * setting.dim


def _make_outcome(
    source: TupleSource,
    released: mechanisms.Measurement[tuples.NoisyTuple, tuples.NoisyCenters | tuples.TupleAverages],
    *,
    needed: int,
    possible: bool,
) -> TupleTestStep:
    """The released record as a step; its centres moved into the region, which is free.

    ``possible`` says whether public numbers allow the test to be asked at all.
    """
    passed, centers, test = released.value.passed, released.value.centers, released.mechanism.test
    what, sd, number = "averages", None, test.number
    if isinstance(released.mechanism, tuples.NoisyCenters):
        what = "noisy centres"
        if centers is not None:
            gaps = np.linalg.norm(centers[:, None] - centers, axis=2)
            np.fill_diagonal(gaps, np.inf)
            sd = released.mechanism.relative_sd * gaps.min(axis=1)
    if passed and source.k == 1:
        makers = "rows" if source.params.given else "blocks"
        title = f"One centre needs no test: the average of {number:,} {makers} is released"
    elif passed:
        title = f"{number:,} tuples agree: {what} are released"
    elif possible:
        title = f"⊥: {number:,} tuples do not agree about far-apart centres; the budget is spent"
    else:
        title = f"⊥, by public numbers alone: {number:,} tuples where {needed:,} are needed; the budget is spent"
    plan = test.plan if possible else None
    return TupleTestStep(
        title=title,
        passed=passed,
        centers=None if centers is None else source.points.region.clip(centers),
        center_noise_sd=sd,
        number=number,
        needed=needed,
        rows_per_tuple=source.session.n / number,
        sampled=plan.sampled if plan is not None else 0,
        far=test.far,
        misfit_limit=test.misfit_limit if plan is not None else 0.0,
        misfit_scale=test.misfit_scale if plan is not None else 0.0,
        vote_limit=test.vote_limit if plan is not None else 0.0,
        vote_scale=1 / plan.vote_epsilon if plan is not None else 0.0,
        anchors=source.anchors,
        salt=source.salt,
        given=source.params.given,
    )


# Part of the budget that finds the clusters, where their means are measured after it.
TUPLES_PART = 0.5
_GIVEN = "given"
_CENTERS, _AVERAGES = "noisy centres", "averages"


@dataclass(frozen=True)
class NoisyCenterParams(GivenTupleParams):
    """Parameters of k-noisy-centers."""

    far: float | None = param_field(None, low=7, high=1e9)


@dataclass(frozen=True)
class AverageParams(GivenTupleParams):
    """Parameters of k-averages."""

    finest: float = param_field(FINEST, low=1e-9, high=0.5)
    axes: str = param_field(_GIVEN, choices=(_GIVEN, "turned"))


@dataclass(frozen=True)
class StableParams(TupleParams):
    """Parameters of stable-kmeans."""

    clusters_by: str = param_field(_CENTERS, choices=(_CENTERS, _AVERAGES))

    @property
    def finest(self) -> float | None:
        """Radius of the smallest cloud that averages tell apart; None for noisy centres."""
        return FINEST if self.clusters_by == _AVERAGES else None


def noisy_centers(
    session: PrivateSession, k: int, params: NoisyCenterParams, rng: np.random.Generator
) -> Iterator[Step]:
    """k-means in secret blocks, a private test whether they agree, noisy centres of one (Fig. 4): as ``run_tested``."""
    yield from run_tested(session, k, params, rng, 1.0, partial(run_noisy_center_test, far=params.far))


def averages(session: PrivateSession, k: int, params: AverageParams, rng: np.random.Generator) -> Iterator[Step]:
    """k-means in secret blocks, a private test whether they agree, averages of them (Fig. 3): as ``run_tested``."""
    test = partial(run_average_test, finest=params.finest, turned=params.axes != _GIVEN)
    yield from run_tested(session, k, params, rng, 1.0, test)


def stable_kmeans(session: PrivateSession, k: int, params: StableParams, rng: np.random.Generator) -> Iterator[Step]:
    """Half of the budget on tuples of secret blocks, half on noisy means of the cells they found: as ``run_tested``."""
    by_centers, by_averages = partial(run_noisy_center_test, far=None), partial(run_average_test, finest=FINEST)
    test = by_centers if params.finest is None else by_averages
    yield from run_tested(session, k, params, rng, TUPLES_PART, test)


TupleTest = Callable[[TupleSource, Budget], TupleTestStep]


def run_tested(
    session: PrivateSession, k: int, params: TupleParams, rng: np.random.Generator, part: float, test: TupleTest
) -> Iterator[Step]:
    """A part of the budget for a test of tuples, what is left of it for noisy means of the cells that it found.

    With ``rows`` = tuples the rows take the place of the blocks' centres. O(n k d) for blocks and means, O(m n_t k² d)
    for the test of n_t tuples.

    **Guarantee.** Add/remove or replace (tuples: replace only); (ε, δ)-DP, whatever the answer. Bounds are public; n is
    public or bought. Of ε the test and what it releases use 1 at most: the surplus buys noisy means of rows (of the
    points that rows hold, of which one tuple changes k). There is no pure version: with probability δ a test may miss
    that tuples disagree.
    """
    source = TupleSource.of(session, k, params, rng)
    yield source.make_placeholder()
    share, left = halve_budget(session.budget, part)
    step = test(source, share)
    yield step
    # What is released at last: the centres, or those that know no data; where something is left, means of their cells,
    # under ⊥ as well, where they are one round of Lloyd from centres that know no data.
    start = step.anchors if step.centers is None else step.centers
    if left is not None:
        yield run_lloyd_round(source.points, left, start, title=name_means(step), note="means of the cells")
    elif step.passed:
        yield CentersStep(
            title="The released centres", centers=start, center_noise_sd=step.center_noise_sd, released=True
        )
    else:
        yield CentersStep(title="⊥: these centres know no data, they were packed without it", centers=start)


def name_means(step: TupleTestStep) -> str:
    """The title of the round that measures means after a test."""
    return f"Noisy means of the cells of {'the noisy centres' if step.passed else '⊥: centres that know no data'}"


_card = partial(Card, accounting=always(Accounting.BASIC), operations=count_operations)

NOISY_CENTERS = _card(
    **read_card("k-noisy-centers"),
    params=NoisyCenterParams,
    plan=noisy_centers,
    smallest_n=lambda setting, params: compute_smallest_n(setting, params, 1.0),
)

AVERAGES = _card(
    **read_card("k-averages"),
    params=AverageParams,
    plan=averages,
    smallest_n=lambda setting, params: compute_smallest_n(setting, params, 1.0, finest=params.finest),
)

STABLE = _card(
    **read_card("stable-kmeans"),
    params=StableParams,
    plan=stable_kmeans,
    smallest_n=lambda setting, params: compute_smallest_n(setting, params, TUPLES_PART, finest=params.finest),
)

# Mixtures of far-apart Gaussians: tuples of blocks find the parts, noisy moments of all rows measure them.

_NAIVE = "naive"
# The second measure takes this part of what the tuples leave.
_MOMENTS_PART = 0.6
# Of the preset naive: starts on the noisy rows, and how many of these the memory holds; the others are left out.
_STARTS, _MOST_ROWS = 3, 1_000_000
BADGE = "A bad idea"


@dataclass(frozen=True, eq=False, kw_only=True)
class MixtureStep(Step):
    """A released mixture: noisy weights (k,), means (k, d), covariances (k, d, d), unit coordinates.

    ``clip_radius`` is the public radius that residuals were clipped to; None where they were not.
    """

    weights: Array
    centers: Array
    covariances: Array
    clip_radius: float | None = None


@dataclass(frozen=True)
class MixtureParams(TupleParams):
    """Parameters of gaussian-mixture."""

    preset: str = param_field("practical", choices=("practical", "paper", _NAIVE))
    largest_sd: float = param_field(0.001, low=1e-6, high=1.0)
    smallest_sd: float = param_field(1e-6, low=1e-9, high=1.0)


def gaussian_mixture(
    session: PrivateSession, k: int, params: MixtureParams, rng: np.random.Generator
) -> Iterator[Step]:
    """Half of the budget on tuples of secret blocks, a fifth on means of their cells, the rest on covariances.

    O(n k d) for blocks and means, O(m n_t k² d) for the test of n_t tuples, O(n d²) for covariances.

    **Guarantee.** Add/remove or replace; (ε, δ)-DP, whatever the answer (``naive``: ε-DP, even for each row on its
    own). Bounds and the smallest and largest standard deviation are public; n is public or bought. A test of tuples
    uses ε = 1 at most. It has no pure version: with probability δ it may miss that tuples disagree.
    """
    if params.preset == _NAIVE:
        yield from fit_naive_mixture(session, k, rng, smallest_sd=params.smallest_sd)
        return
    source = TupleSource.of(session, k, params, rng)
    yield source.make_placeholder()
    share, left = halve_budget(session.budget, TUPLES_PART)
    assert left is not None
    test = run_noisy_center_test(source, share, far=None)
    yield test
    start = source.anchors if test.centers is None else test.centers
    part = left.split(means=1 - _MOMENTS_PART, moments=_MOMENTS_PART)
    means = run_lloyd_round(session, part.means, start, title=name_means(test), note="means of the cells")
    yield means
    mixture, sd = measure(session, means, part.moments, params)
    yield mixture
    yield CentersStep(
        title="Means, measured once more around themselves",
        centers=mixture.centers,
        noisy_counts=means.noisy_counts,
        previous=means.centers,
        center_noise_sd=sd,
        count_noise_sd=means.count_noise_sd,
    )


def measure(
    session: PrivateSession, means: CentersStep, share: Budget, params: MixtureParams
) -> tuple[MixtureStep, Array]:
    """Weights, means and covariances of the cells of ``means``, and the noise of a coordinate of each mean (k,).

    **Guarantee.** ``share``. Rows are moved to within R = σ_max (√d + √(2 ln n)) of their centre.
    """
    assert means.noisy_counts is not None and means.count_noise_sd is not None
    radius = params.largest_sd * (sqrt(session.dim) + sqrt(2 * log(max(2, session.n))))
    query = queries.ResidualMoments(partitions.Voronoi(means.centers), radius)
    noisy = session.ask(query, mechanisms.Gaussian, share, note="covariances of the cells")
    counts = np.maximum(means.noisy_counts, max(1.0, 2 * means.count_noise_sd))
    first, second = queries.read_power_sums(noisy.value, session.dim, radius)
    shift = first / counts[:, None]
    shift *= np.minimum(1.0, radius / np.maximum(np.linalg.norm(shift, axis=1, keepdims=True), radius))
    spread = second / counts[:, None, None] - shift[:, :, None] * shift[:, None, :]
    weights = np.maximum(means.noisy_counts, 0.0) + 1e-12
    step = MixtureStep(
        title="Weights, means and covariances from noisy moments",
        weights=weights / weights.sum(),
        centers=session.region.clip(means.centers + shift),
        covariances=bound_covariances(spread, params.smallest_sd, params.largest_sd),
        clip_radius=radius,
    )
    return step, noisy.sd * radius / counts


def bound_covariances(covariances: Array, smallest_sd: float, largest_sd: float) -> Array:
    """The nearest covariances (k, d, d) whose standard deviations lie within the public bounds, unit coordinates."""
    values, vectors = np.linalg.eigh((covariances + covariances.transpose(0, 2, 1)) / 2)
    kept = np.clip(values, min(smallest_sd, largest_sd) ** 2, largest_sd**2)
    return np.asarray((vectors * kept[:, None, :]) @ vectors.transpose(0, 2, 1))


def fit_naive_mixture(
    session: PrivateSession, k: int, rng: np.random.Generator, *, smallest_sd: float
) -> Iterator[Step]:
    """Noise as wide as the domain on every row, k-means on the noisy rows, and covariances less that of the noise.

    **Guarantee.** ε-DP, for each row on its own, too: nobody has to be trusted with rows. ``smallest_sd`` is public.
    """
    yield CentersStep(
        title=f"{BADGE}: every row will carry noise of its own; none has been read",
        centers=pack_spheres(k, session.region, rng),
    )
    number = min(session.n, _MOST_ROWS)
    rows = session.ask(EachRow(), LocalNoise, session.budget, note="noise on every row", number=number)
    noisy_rows, sd = rows.value, rows.sd
    data = SignedPoints.of(noisy_rows, np.ones(len(noisy_rows)))
    seeds = [draw_kmeans_pp_seeds(noisy_rows, data.weights, k, rng) for _ in range(_STARTS)]
    starts = [session.region.clip(noisy_rows[start]) for start in seeds]
    centers = find_best_of_starts(data, starts, session.region).solution.centers
    nearest = partitions.Voronoi(centers).assign(noisy_rows)
    spread = np.zeros((k, session.dim, session.dim))
    for i in range(k):
        residual = noisy_rows[nearest == i] - centers[i]
        spread[i] = residual.T @ residual / max(1, len(residual)) - sd**2 * np.eye(session.dim)
    mixture = MixtureStep(
        title=f"{BADGE}: a mixture fitted to rows with noise of {sd:.3g} (unit coordinates) on every coordinate",
        weights=np.bincount(nearest, minlength=k) / max(1, len(noisy_rows)),
        centers=centers,
        covariances=bound_covariances(spread, smallest_sd, session.region.diameter),
    )
    yield mixture
    yield CentersStep(
        title=f"{BADGE}: k-means on {number:,} noisy rows",
        centers=mixture.centers,
        noisy_counts=mixture.weights * number,
        center_noise_sd=sd / np.sqrt(np.maximum(mixture.weights * number, 1.0)),
    )


def _compute_mixture_smallest_n(setting: Setting, params: MixtureParams) -> float:
    """Rows as tuples ask for them; ``naive``: from which a fit might tell two parts apart that noise has made one."""
    if params.preset != _NAIVE:
        return compute_smallest_n(setting, params, TUPLES_PART)
    # An optimistic guess. Parts closer than their width show in third moments only, whose error needs the sixth power
    # of width over distance.
    spacing = setting.k ** (-1 / setting.dim)
    sd = 2 * np.sqrt(setting.dim) * np.sqrt(setting.dim + 1) / setting.epsilon
    return float(setting.k * 20 * (1 + sd / spacing) ** 6)


MIXTURE = _card(
    **read_card("gaussian-mixture"), params=MixtureParams, plan=gaussian_mixture, smallest_n=_compute_mixture_smallest_n
)

CARDS = (NOISY_CENTERS, AVERAGES, STABLE, MIXTURE)
