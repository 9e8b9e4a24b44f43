"""What Su et al. predict before any run: the error of a centre in closed form, from public quantities alone.

Clusters are taken to be of like size, n/k rows each. The mean squared error of a centre is, to first order, what every
row of its cluster loses on top of its k-means loss; so a prediction is an excess over k-means, in the units of a loss
per row (unit coordinates squared).

References
----------
Su, Cao, Li, Bertino & Jin 2016, §6: Eqs. 6-7 (DPLloyd), 9-10 (uniform grid), 13-15 (hybrid).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from dpviz.algorithms.card import Params, Setting
from dpviz.algorithms.registry import card_of
from dpviz.algorithms.su2016.dplloyd import DPLloydParams, planned_rounds
from dpviz.algorithms.su2016.eugkm import EUGkMParams, cells_per_axis, epsilon_per_row
from dpviz.algorithms.su2016.hybrid import HybridParams, threshold_epsilon
from dpviz.algorithms.tools.cubes import cube_grid
from dpviz.algorithms.tools.lloyd_round import TYPICAL_OFFSET, count_to_sum_ratio
from dpviz.privacy.accounting import Budget
from dpviz.privacy.ledger import Ledger
from dpviz.privacy.mechanisms import noise_kind
from dpviz.privacy.noise import StudyNoise
from dpviz.privacy.partitions import Voronoi
from dpviz.privacy.queries import Count, Sum
from dpviz.privacy.room import DataRoom
from dpviz.table.domain import Region
from dpviz.table.rows import Rows


@dataclass(frozen=True)
class Prediction:
    """Expected excess loss per row, unit coordinates squared.

    Parameters
    ----------
    noise : float
        What the noise costs.
    bias_bound : float
        The most that reading rows at the middle of their grid cell costs; 0 where rows are read as they are.
    holds : bool
        Whether centres stay apart: beyond half their typical spacing the first-order formulas mean nothing.
    """

    noise: float
    bias_bound: float
    holds: bool

    @property
    def excess(self) -> float:
        """Noise and bias together."""
        return self.noise + self.bias_bound


def moments_error(region: Region, *, k: int, n: float, sum_variance: float, count_variance: float) -> float:
    """Eq. 6 over all axes: squared error of a noisy sum over a noisy count, for clusters of n/k rows.

    Parameters
    ----------
    sum_variance : float
        Of the noise on a cluster's whole sum vector (all axes together).
    count_variance : float
        Of the noise on its count.
    """
    offset = TYPICAL_OFFSET**2 * float((region.half**2).sum())
    return (k / n) ** 2 * (sum_variance + offset * count_variance)


def dplloyd_error(dim: int, *, k: int, n: float, epsilon: float, rounds: int) -> float:
    """Eq. 7 in the unit cube (r = 1): squared error of a centre after one of ``rounds`` equal rounds."""
    return 2 * dim * (1 + TYPICAL_OFFSET**2) * (k * rounds * (dim + 1) / (n * epsilon)) ** 2


def grid_variance(dim: int, *, k: int, n: float, epsilon: float, cells: float) -> float:
    """Eq. 9 in the unit cube: squared error of a centre from the noise of ``cells`` cell counts."""
    return 2 * dim * cells * float(k ** ((dim - 2) / dim)) / (3 * (n * epsilon) ** 2)


def grid_bias_bound(dim: int, *, cells: float) -> float:
    """Eq. 10 in the unit cube: the most that the rows' unknown place inside their cell can move a centre, squared."""
    return dim / float(cells ** (2 / dim))


def half_spacing(region: Region, k: int) -> float:
    """Half the typical distance between k centres that share the region's box evenly."""
    side = float(np.exp(np.log(region.half).mean()))
    return side * float(k ** (-1 / region.dim))


def prediction_of(region: Region, k: int, *, noise: float, bias_bound: float = 0.0) -> Prediction:
    """A prediction that knows whether it holds."""
    return Prediction(noise, bias_bound, sqrt(noise) <= half_spacing(region, k))


def predict(algorithm: str, params: Params | Mapping[str, Any], setting: Setting, region: Region) -> Prediction | None:
    """The prediction for an algorithm, or None where no formula exists or the number of rows is not public."""
    if algorithm not in _FORMULAS or setting.n is None:
        return None
    card = card_of(algorithm)
    chosen = params if isinstance(params, Params) else card.params.parse(params)
    accounting = card.accounting(chosen, setting.delta)
    # A room over no rows: it knows every noise scale that a real one would draw with, and can read nothing.
    room = DataRoom(
        Rows(np.empty((0, region.dim))),
        region,
        setting.relation,
        setting.rows_per_person,
        Ledger(accounting, setting.epsilon, setting.delta),
        StudyNoise(np.random.default_rng(0)),
        setting.n,
    )
    return _FORMULAS[algorithm](room, setting.k, chosen)


def _dplloyd(room: DataRoom, k: int, params: DPLloydParams) -> Prediction:
    rounds = params.rounds or planned_rounds(room, k, params.preset)
    return _lloyd(room, k, room.budget, rounds=rounds, preset=params.preset)


def _lloyd(room: DataRoom, k: int, budget: Budget, *, rounds: int, preset: str) -> Prediction:
    """Eq. 6 with the noise of this preset's last round; for ``su`` in the unit cube that is Eq. 7."""
    spherical = preset == "tuned"
    ratio = 1 / room.region.l1_radius
    if preset != "su":
        ratio = count_to_sum_ratio(room.dim, room.accounting, spherical=spherical)
    share = budget.rounds(rounds)[-1].split(counts=ratio, sums=1.0)
    cells = Voronoi(np.zeros((k, room.dim)))
    of_counts = room.mechanism(Count(cells), noise_kind(room.accounting), share.counts).sd_in(1)
    of_sums = room.mechanism(Sum(cells), noise_kind(room.accounting, spherical=spherical), share.sums).sd_in(room.dim)
    variances = {"sum_variance": room.dim * of_sums**2, "count_variance": of_counts**2}
    return prediction_of(room.region, k, noise=moments_error(room.region, k=k, n=room.n, **variances))


def _eugkm(room: DataRoom, k: int, params: EUGkMParams) -> Prediction:
    return _grid(room, k, room.budget, params)


def _grid(room: DataRoom, k: int, budget: Budget, params: EUGkMParams) -> Prediction:
    """Eqs. 9 and 10 for the grid that is really laid: whole cells, and a box of unequal sides."""
    epsilon, half = epsilon_per_row(room, budget), room.region.half
    per_axis = cells_per_axis(room.n, epsilon, params.theta, room.dim)
    grid = cube_grid(half, max(1, round(per_axis)) ** room.dim)
    square = float((half**2).sum()) / room.dim
    noise = square * grid_variance(room.dim, k=k, n=room.n, epsilon=epsilon, cells=float(grid.n_cells))
    bias = float(((half / grid.cells_per_axis) ** 2).sum())
    return prediction_of(room.region, k, noise=noise, bias_bound=bias)


def _hybrid(room: DataRoom, k: int, params: HybridParams) -> Prediction:
    """Eq. 13 where the rule takes the step of Lloyd, else the grid on the whole budget."""
    if epsilon_per_row(room, room.budget) < threshold_epsilon(room.n, k, room.region.half, params):
        return _grid(room, k, room.budget, params)
    shares = room.budget.split(grid=params.split, lloyd=1 - params.split)
    return _lloyd(room, k, shares.lloyd, rounds=params.steps, preset=params.preset)


_FORMULAS: dict[str, Callable[[DataRoom, int, Any], Prediction]] = {
    "dplloyd": _dplloyd,
    "eugkm": _eugkm,
    "hybrid": _hybrid,
}
