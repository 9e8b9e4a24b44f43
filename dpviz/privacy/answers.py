"""What a room is asked, and what it answers with noise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from dpviz.arrays import Array
from dpviz.privacy.accounting import Budget
from dpviz.privacy.mechanisms import Gaussian, KNorm, Laplace
from dpviz.privacy.queries import Query


class Question(NamedTuple):
    """A query, the kind of mechanism that answers it, and the share that pays for it; ``options`` are public."""

    query: Query
    kind: type[Any]
    share: Budget
    options: Mapping[str, Any] = {}


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
