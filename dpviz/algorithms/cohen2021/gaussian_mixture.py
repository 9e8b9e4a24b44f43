"""Mixtures of far-apart Gaussians: tuples of blocks find the parts, noisy moments of all rows measure them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from dpviz.algorithms.card import Card, Guarantee, Setting, knob
from dpviz.algorithms.cohen2021.naive_mixture import naive_mixture, naive_smallest_n
from dpviz.algorithms.cohen2021.stable_kmeans import TUPLES_PART
from dpviz.algorithms.cohen2021.tuple_plan import halves, noisy_center_test, operations_of, smallest_n_of
from dpviz.algorithms.cohen2021.tuple_source import TupleParams, TupleSource
from dpviz.algorithms.cohen2021.tuple_steps import MixtureStep
from dpviz.algorithms.steps import CentersStep, Step
from dpviz.algorithms.tools.lloyd_round import lloyd_round
from dpviz.arrays import Array
from dpviz.privacy.accounting import Accounting, Budget
from dpviz.privacy.mechanisms import Gaussian
from dpviz.privacy.partitions import Voronoi
from dpviz.privacy.room import DataRoom
from dpviz.privacy.sums import ResidualMoments, power_sums

_NAIVE = "naive"
# The second measure takes this part of what the tuples leave.
_MOMENTS_PART = 0.6


@dataclass(frozen=True)
class MixtureParams(TupleParams):
    """Parameters of gaussian-mixture."""

    preset: str = knob(
        "practical",
        help="paper: constants as printed (with the corrected λ). practical: one exactly calibrated Gaussian for all "
        "centres. naive: a bad idea, for the lesson: noise on every row, then a fit to the noisy rows.",
        choices=("practical", "paper", _NAIVE),
    )
    largest_sd: float = knob(
        0.001,
        help="Largest standard deviation of a part along any axis, in unit coordinates; public. Rows farther from "
        "their centre than it allows are moved nearer.",
        low=1e-6,
        high=1.0,
    )
    smallest_sd: float = knob(
        1e-6, help="Smallest standard deviation of a part, in unit coordinates; public.", low=1e-9, high=1.0
    )


def gaussian_mixture(room: DataRoom, k: int, params: MixtureParams, rng: np.random.Generator) -> Iterator[Step]:
    """Half of the budget on tuples of secret blocks, a fifth on means of their cells, the rest on covariances.

    O(n k d) for blocks and means, O(m n_t k² d) for the test of n_t tuples, O(n d²) for covariances.

    **Guarantee.** Add/remove or replace; (ε, δ)-DP, whatever the answer (``naive``: ε-DP, even for each row on its
    own). Bounds and the smallest and largest standard deviation are public; n is public or bought. A test of tuples
    uses ε = 1 at most. It has no pure version: with probability δ it may miss that tuples disagree.
    """
    if params.preset == _NAIVE:
        yield from naive_mixture(room, k, rng, smallest_sd=params.smallest_sd)
        return
    source = TupleSource.of(room, k, params, rng)
    yield source.stand_in()
    share = halves(room.budget, TUPLES_PART)
    assert share.means is not None
    test = noisy_center_test(source, share.tuples, far=None)
    yield test
    start = test.centers if test.centers is not None else source.anchors
    part = share.means.split(means=1 - _MOMENTS_PART, moments=_MOMENTS_PART)
    origin = "the noisy centres" if test.passed else "⊥: centres that know no data"
    means = lloyd_round(
        room,
        Voronoi(start),
        part.means,
        start,
        title=f"Noisy means of the cells of {origin}",
        note="means of the cells",
    )
    yield means
    mixture, sd = measure(room, means, part.moments, params)
    yield mixture
    yield CentersStep(
        title="Means, measured once more around themselves",
        centers=mixture.centers,
        noisy_counts=means.noisy_counts,
        previous=means.centers,
        center_noise_sd=sd,
        count_noise_sd=means.count_noise_sd,
    )


def measure(room: DataRoom, means: CentersStep, share: Budget, params: MixtureParams) -> tuple[MixtureStep, Array]:
    """Weights, means and covariances of the cells of ``means``, and the noise of a coordinate of each mean (k,).

    **Guarantee.** ``share``. Rows are moved to within R = σ_max (√d + √(2 ln n)) of their centre.
    """
    assert means.noisy_counts is not None and means.count_noise_sd is not None
    radius = clip_radius(room.dim, room.n, params.largest_sd)
    query = ResidualMoments(Voronoi(means.centers), radius)
    noisy = room.ask(query, Gaussian, share, note="covariances of the cells")
    counts = np.maximum(means.noisy_counts, max(1.0, 2 * means.count_noise_sd))
    first, second = power_sums(noisy.value, room.dim, radius)
    shift = first / counts[:, None]
    length = np.linalg.norm(shift, axis=1, keepdims=True)
    shift *= np.minimum(1.0, radius / np.maximum(length, radius))
    spread = second / counts[:, None, None] - shift[:, :, None] * shift[:, None, :]
    weights = np.maximum(means.noisy_counts, 0.0) + 1e-12
    step = MixtureStep(
        title="Weights, means and covariances from noisy moments",
        weights=weights / weights.sum(),
        centers=room.region.clip(means.centers + shift),
        covariances=bounded(spread, params.smallest_sd, params.largest_sd),
        clip_radius=radius,
    )
    return step, noisy.sd * radius / counts


def clip_radius(dim: int, n: int, largest_sd: float) -> float:
    """R: within it lie nearly all rows of a Gaussian with that standard deviation."""
    return largest_sd * (sqrt(dim) + sqrt(2 * log(max(2, n))))


def bounded(covariances: Array, smallest_sd: float, largest_sd: float) -> Array:
    """The nearest covariances (k, d, d) whose standard deviations lie within the public bounds."""
    values, vectors = np.linalg.eigh((covariances + covariances.transpose(0, 2, 1)) / 2)
    low = min(smallest_sd, largest_sd)
    kept = np.clip(values, low**2, largest_sd**2)
    made: Array = (vectors * kept[:, None, :]) @ vectors.transpose(0, 2, 1)
    return made


def _smallest_n(setting: Setting, params: MixtureParams) -> float:
    if params.preset == _NAIVE:
        return naive_smallest_n(setting)
    return smallest_n_of(setting, params, TUPLES_PART)


CARD = Card(
    id="gaussian-mixture",
    title="Gaussian mixture",
    family="Cohen et al. 2021",
    paper="Cohen, Kaplan, Mansour, Stemmer & Tsfadia: Differentially-Private Clustering of Easy Instances. ICML 2021, "
    "mixtures of Gaussians",
    summary="Finds the parts of a mixture through tuples of secret blocks, then measures each part's weight, mean and "
    "covariance with noise.",
    story=(
        "The rows are dealt into secret blocks, each block's parts are found without noise, and a private test asks "
        "whether the blocks agree; if so, half of the budget buys a rough centre of each part. Rows go to their "
        "nearest rough centre, and noisy counts and sums give weights and means. Around these means rows of a Gaussian "
        "of bounded width cannot be far: so they are moved to within a small public radius, and their squares and "
        "products are released with noise of that radius instead of the whole domain's. The noise on such sums is "
        "shared by all rows of a part. The preset naive is a bad idea, kept as a lesson: it adds noise as wide as the "
        "domain to every single row, and a mixture fitted to what is left fails even with a hundred million rows."
    ),
    when="A few Gaussian parts a thousand times farther apart than wide, with a known bound on their width. The naive "
    "preset never.",
    guarantees=(Guarantee.APPROX,),
    params=MixtureParams,
    plan=gaussian_mixture,
    accounting=lambda params, delta: Accounting.BASIC,
    smallest_n=_smallest_n,
    hopeless="there are fewer tuples than the test can be asked about (naive: rows to see through their noise)",
    operations=operations_of,
    sample="towns",
    formula=(
        r"\hat\Sigma_i=\frac{\sum_{x\in V_i}uu^\top+\mathrm{noise}}{\hat n_i}-\hat s_i\hat s_i^\top,\quad "
        r"u=\mathrm{clip}_R(x-\hat c_i),\quad R=\sigma_{\max}\left(\sqrt d+\sqrt{2\ln n}\right)"
    ),
)
