"""Mixtures of far-apart Gaussians: tuples of blocks find the parts, noisy moments of all rows measure them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from dpviz.algorithms.card import Card, Setting, always, param_field, read_texts
from dpviz.algorithms.cohen2021.tested_tuples import (
    TUPLES_PART,
    TupleParams,
    TupleSource,
    compute_smallest_n,
    count_operations,
    halve_budget,
    name_means,
    run_noisy_center_test,
)
from dpviz.algorithms.steps import CentersStep, Step
from dpviz.algorithms.tools.lloyd_round import run_lloyd_round
from dpviz.algorithms.tools.solvers import SignedPoints, draw_kmeans_pp_seeds, find_best_of_starts, pack_spheres
from dpviz.core import Accounting, Array, Budget, EachRow, LocalNoise, PrivateSession, mechanisms, partitions, queries

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
    means = run_lloyd_round(
        session, partitions.Voronoi(start), part.means, start, title=name_means(test), note="means of the cells"
    )
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
    length = np.linalg.norm(shift, axis=1, keepdims=True)
    shift *= np.minimum(1.0, radius / np.maximum(length, radius))
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
    low = min(smallest_sd, largest_sd)
    kept = np.clip(values, low**2, largest_sd**2)
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


def _compute_smallest_n(setting: Setting, params: MixtureParams) -> float:
    """Rows as tuples ask for them; ``naive``: from which a fit might tell two parts apart that noise has made one."""
    if params.preset != _NAIVE:
        return compute_smallest_n(setting, params, TUPLES_PART)
    # An optimistic guess. Parts closer than their width show in third moments only, whose error needs the sixth power
    # of width over distance.
    spacing = setting.k ** (-1 / setting.dim)
    sd = 2 * np.sqrt(setting.dim) * np.sqrt(setting.dim + 1) / setting.epsilon
    return float(setting.k * 20 * (1 + sd / spacing) ** 6)


CARD = Card(
    **read_texts("gaussian-mixture"),
    params=MixtureParams,
    plan=gaussian_mixture,
    accounting=always(Accounting.BASIC),
    smallest_n=_compute_smallest_n,
    operations=count_operations,
)
