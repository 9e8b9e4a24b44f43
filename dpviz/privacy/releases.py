"""What the room's doors for counts and sums release: noisy numbers, and how noisy they are."""

from __future__ import annotations

from typing import NamedTuple

from dpviz.privacy.mechanisms import Gaussian, KNorm, Laplace
from dpviz.table.domain import Array


class Noisy(NamedTuple):
    """A released array and the standard deviation of the noise on one entry."""

    noisy: Array
    sd: float


class NoisyMoments(NamedTuple):
    """Released counts (n_cells,) and sums (n_cells, d), and the standard deviation of the noise on one entry."""

    noisy_counts: Array
    noisy_sums: Array
    count_sd: float
    sum_sd: float


def sd_of(mechanism: Laplace | Gaussian | KNorm, noisy: Array) -> float:
    """Standard deviation of the noise on one entry of ``noisy``."""
    return mechanism.sd_in(noisy.shape[-1]) if isinstance(mechanism, KNorm) else mechanism.sd
