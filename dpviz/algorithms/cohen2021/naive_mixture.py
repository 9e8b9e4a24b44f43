"""A bad idea, kept as a lesson: noise on every row, then a fit to the noisy rows (Cohen et al. 2021, experiments)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dpviz.algorithms.card import Setting
from dpviz.algorithms.cohen2021.tuple_steps import MixtureStep
from dpviz.algorithms.steps import CentersStep, Step
from dpviz.algorithms.tools.solvers import SignedPoints, best_of_starts, weighted_kmeans_pp
from dpviz.algorithms.tools.sphere_packing import sphere_packing
from dpviz.arrays import Array
from dpviz.privacy.local_model import EachRow, LocalNoise
from dpviz.privacy.partitions import Voronoi
from dpviz.privacy.room import DataRoom

_STARTS = 3
# More noisy rows would fill the memory; the others are left out.
_MOST_ROWS = 1_000_000
BADGE = "A bad idea"


def naive_mixture(room: DataRoom, k: int, rng: np.random.Generator, *, smallest_sd: float) -> Iterator[Step]:
    """Noise as wide as the domain on every row, k-means on the noisy rows, and covariances less that of the noise.

    **Guarantee.** ε-DP, for each row on its own, too: nobody has to be trusted with rows.
    """
    yield CentersStep(
        title=f"{BADGE}: every row will carry noise of its own; none has been read",
        centers=sphere_packing(k, room.region, rng),
    )
    number = min(room.n, _MOST_ROWS)
    rows = room.ask(EachRow(), LocalNoise, room.budget, note="noise on every row", number=number)
    noisy_rows, sd = rows.value, rows.sd
    data = SignedPoints.of(noisy_rows, np.ones(len(noisy_rows)))
    starts = [noisy_rows[weighted_kmeans_pp(noisy_rows, data.weights, k, rng)] for _ in range(_STARTS)]
    centers = best_of_starts(data, [room.region.clip(start) for start in starts], room.region).solution.centers
    mixture = _parts(noisy_rows, centers, sd, smallest_sd, room)
    yield mixture
    yield CentersStep(
        title=f"{BADGE}: k-means on {number:,} noisy rows",
        centers=mixture.centers,
        noisy_counts=mixture.weights * number,
        center_noise_sd=sd / np.sqrt(np.maximum(mixture.weights * number, 1.0)),
    )


def naive_smallest_n(setting: Setting) -> float:
    """Rows from which a fit might tell two parts apart that noise has made one: an optimistic guess.

    Parts closer than their width show in third moments only, whose error needs the sixth power of width over distance.
    """
    spacing = setting.k ** (-1 / setting.dim)
    sd = 2 * np.sqrt(setting.dim) * np.sqrt(setting.dim + 1) / setting.epsilon
    return float(setting.k * 20 * (1 + sd / spacing) ** 6)


def _parts(rows: Array, centers: Array, sd: float, smallest_sd: float, room: DataRoom) -> MixtureStep:
    k = len(centers)
    nearest = Voronoi(centers).assign(rows)
    weights = np.bincount(nearest, minlength=k) / max(1, len(rows))
    spread = np.zeros((k, room.dim, room.dim))
    for i in range(k):
        residual = rows[nearest == i] - centers[i]
        spread[i] = residual.T @ residual / max(1, len(residual)) - sd**2 * np.eye(room.dim)
    values, vectors = np.linalg.eigh(spread)
    kept = np.clip(values, smallest_sd**2, room.region.diameter**2)
    return MixtureStep(
        title=f"{BADGE}: a mixture fitted to rows with noise of {sd:.3g} (unit coordinates) on every coordinate",
        weights=weights,
        centers=centers,
        covariances=(vectors * kept[:, None, :]) @ vectors.transpose(0, 2, 1),
    )
