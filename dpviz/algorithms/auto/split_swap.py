"""Splitting the widest clusters and dropping the cheapest centres, by noisy counts and spreads of all clusters."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import numpy as np

from dpviz.algorithms.steps import CentersStep
from dpviz.arrays import Array, Codes
from dpviz.privacy.accounting import Budget
from dpviz.privacy.mechanisms import Gaussian, Kind, KNorm, Laplace
from dpviz.privacy.partitions import Voronoi
from dpviz.privacy.queries import Count
from dpviz.privacy.released import Question
from dpviz.privacy.room import DataRoom
from dpviz.privacy.sums import Spread, symmetric

# What splitting a Gaussian across its widest axis removes of the spread along it: 2/π.
_SPLIT_SAVES = 0.64
_LEAST_COUNT = 0.5


@dataclass(frozen=True, eq=False, kw_only=True)
class SplitStep(CentersStep):
    """Centres after some clusters were split: ``split`` (m,) gave one half to centre ``dropped`` (m,).

    ``gains`` (m,) are what each split saves and ``costs`` (m,) what dropping the other centre loses, by noisy counts
    and spreads, unit coordinates squared. ``gain_of_each`` and ``cost_of_each`` (k,) are those of all clusters before
    anything moved: a pair is exchanged where its gain is more than its cost.
    """

    split: Codes
    dropped: Codes
    gains: Array
    costs: Array
    gain_of_each: Array
    cost_of_each: Array


def split_and_drop(
    room: DataRoom,
    centers: Array,
    reach: float,
    frame: Array | None,
    counts_share: Budget,
    spread_share: Budget,
    *,
    gaussian: bool,
    before: int,
) -> SplitStep:
    """Noisy counts and spreads of all clusters; where a cluster is two, one of its halves takes the cheapest centre.

    **Guarantee.** Both shares. The spread of a row has Euclidean length at most ``reach``² in one cluster; what is
    split and dropped follows from released numbers.
    """
    cells = Voronoi(centers)
    spread = Spread(cells, centers, reach, frame)
    kinds = noise_kinds(gaussian)
    counts, spreads = room.ask_together(
        Question(Count(cells), kinds.counts, counts_share),
        Question(spread, kinds.vectors, spread_share),
        note=f"before round {before}: counts and spreads",
    )
    values, vectors = np.linalg.eigh(symmetric(spreads.value, spread.axes))
    widest = vectors[:, :, -1] if frame is None else vectors[:, :, -1] @ frame
    size = np.maximum(counts.value, _LEAST_COUNT * counts.sd)
    gain = _SPLIT_SAVES * np.maximum(0.0, values[:, -1] - spreads.sd * sqrt(2 * spread.axes))
    half_axis = np.sqrt(np.maximum(values[:, -1], 0.0) / size)[:, None] * widest
    moved, pairs, saved, lost = _exchange(centers, size, gain, half_axis)
    number = len(pairs)
    words = "nothing is split" if number == 0 else f"{number} split, as many centres dropped"
    return SplitStep(
        title=f"Spreads before round {before}: {words}",
        centers=room.region.clip(moved),
        noisy_counts=counts.value,
        previous=centers,
        count_noise_sd=counts.sd,
        split=np.array([j for j, _ in pairs], dtype=np.int64),
        dropped=np.array([i for _, i in pairs], dtype=np.int64),
        gains=np.array(saved),
        costs=np.array(lost),
        gain_of_each=gain,
        cost_of_each=_dropping(centers, size).cost,
    )


class NoiseKinds(NamedTuple):
    """The noise on counts, and on the vectors of each cluster."""

    counts: Kind[Array, Laplace | Gaussian]
    vectors: Kind[Array, KNorm | Gaussian]


def noise_kinds(gaussian: bool) -> NoiseKinds:
    """Gaussian noise for both, or the pure noise that is least for each."""
    return NoiseKinds(Gaussian, Gaussian) if gaussian else NoiseKinds(Laplace, KNorm)


class _Dropping(NamedTuple):
    """Who would take over the rows of each centre, and what these lose by it, both of shape (k,)."""

    neighbour: Codes
    cost: Array


def _dropping(centers: Array, size: Array) -> _Dropping:
    apart = ((centers[:, None] - centers) ** 2).sum(axis=2)
    np.fill_diagonal(apart, np.inf)
    neighbour = apart.argmin(axis=1)
    return _Dropping(neighbour, size * size[neighbour] / (size + size[neighbour]) * apart.min(axis=1))


def _exchange(
    centers: Array, size: Array, gain: Array, half_axis: Array
) -> tuple[Array, list[tuple[int, int]], list[float], list[float]]:
    """The best split against the cheapest centre, again and again, each cluster touched once."""
    centers, k = centers.copy(), len(centers)
    touched = np.zeros(k, dtype=bool)
    pairs: list[tuple[int, int]] = []
    saved: list[float] = []
    lost: list[float] = []
    for _ in range(k // 2):
        neighbour, cost = _dropping(centers, size)
        j = int(np.where(touched, -1.0, gain).argmax())
        cost[touched | (np.arange(k) == j) | (neighbour == j)] = np.inf
        i = int(cost.argmin())
        if touched[j] or not gain[j] > cost[i]:
            break
        pairs.append((j, i))
        saved.append(float(gain[j]))
        lost.append(float(cost[i]))
        touched[[i, j, neighbour[i]]] = True
        centers[i], centers[j] = centers[j] - half_axis[j], centers[j] + half_axis[j]
    return centers, pairs, saved, lost
