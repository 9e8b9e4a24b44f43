"""One noisy round of Lloyd's iteration, shared by every algorithm that measures cluster means."""

from __future__ import annotations

from math import sqrt

import numpy as np

from dpviz.algorithms.card import Setting
from dpviz.algorithms.steps import CentersStep
from dpviz.algorithms.tools.cluster_means import center_noise_sd, noisy_means
from dpviz.arrays import Array
from dpviz.privacy.accounting import Accounting, Budget, gdp_mu
from dpviz.privacy.partitions import Projected, Voronoi
from dpviz.privacy.room import DataRoom

# Typical distance of a centre from the middle of its axis, in half-widths: 2ρ with the ρ = .225 of Su et al.
TYPICAL_OFFSET = 0.45


def count_to_sum_ratio(dim: int, accounting: Accounting, *, spherical: bool) -> float:
    """The best ratio of the budget for counts to the budget for sums, from the error of sum / count.

    With noise of total variance a/x² (or a/x) on the sum and b/y² (or b/y) on the count times the centre's norm, the
    least sum at x + y = 1 has y/x = ∛(b/a) for pure mechanisms and √(b/a) for Gaussian ones.

    References
    ----------
    Su et al. 2016, Eqs. 5-6 (Laplace); the others follow by the same Lagrange argument.
    """
    if accounting is not Accounting.PURE:
        return TYPICAL_OFFSET / sqrt(dim)
    if spherical:
        return float((2 * TYPICAL_OFFSET**2 / (dim * (dim + 1))) ** (1 / 3))
    return float((TYPICAL_OFFSET**2 / dim**2) ** (1 / 3))


def gaussian_rounds(room: DataRoom, k: int) -> int:
    """Rounds of Gaussian noise that the whole budget can feed, from public quantities: 2 to 7.

    References
    ----------
    Diaa et al. 2025 (FastLloyd), its rule for the number of rounds.
    """
    multiplier = room.rows_per_person / gdp_mu(room.ledger.epsilon, room.ledger.delta)
    rounds = 0.004 * room.n**2 / (k**3 * room.dim * (TYPICAL_OFFSET + sqrt(room.dim)) ** 2 * multiplier**2)
    return int(np.clip(rounds, 2, 7))


def gaussian_smallest_n(setting: Setting, rounds: int) -> float:
    """Records at which Gaussian noise of a mean, in each of ``rounds``, is half the distance between centres."""
    k, dim = setting.k, setting.dim
    # Without δ there is no such run: a Gaussian of that ε at a small δ has about this μ.
    mu = gdp_mu(setting.epsilon, setting.delta) if setting.delta > 0 else setting.epsilon / 5
    return float(k ** (1 + 1 / dim) * sqrt(dim * rounds) * (sqrt(dim) + TYPICAL_OFFSET) / mu)


def lloyd_round(
    room: DataRoom,
    cells: Voronoi | Projected,
    budget: Budget,
    fallback: Array,
    *,
    title: str,
    note: str,
    ratio: float | None = None,
    spherical: bool = False,
) -> CentersStep:
    """Noisy counts and sums of ``cells``, turned into centres inside the room's region.

    **Guarantee.** ``budget``, for the room's relation; empty cells are measured like all others.

    Parameters
    ----------
    fallback : array of shape (k, d)
        Where a centre goes whose noisy count says nothing; unit coordinates.
    ratio : float
        Budget for counts over budget for sums; None takes ``count_to_sum_ratio``.
    spherical : bool
        K-norm instead of Laplace noise on the sums (pure accounting only).
    """
    if ratio is None:
        ratio = count_to_sum_ratio(room.dim, room.accounting, spherical=spherical)
    share = budget.split(counts=ratio, sums=1.0)
    moments = room.release_moments(cells, counts=share.counts, sums=share.sums, note=note, spherical=spherical)
    return CentersStep(
        title=title,
        centers=noisy_means(moments, fallback, room.region),
        noisy_counts=moments.counts.value,
        previous=fallback,
        center_noise_sd=center_noise_sd(moments),
        count_noise_sd=moments.counts.sd,
    )
