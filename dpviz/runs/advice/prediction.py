"""What Su et al. predict before any run: the error of a centre in closed form, from public quantities alone.

Clusters are taken to be of like size, n/k rows each. The mean squared error of a centre is, to first order, what every
row of its cluster loses on top of its k-means loss; so a prediction is an excess over k-means, in the units of a loss
per row (unit coordinates squared).

References
----------
Su, Cao, Li, Bertino & Jin 2016, §6: Eqs. 6-7 (DPLloyd), 9-10 (uniform grid), 13-15 (hybrid).
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from dpviz.algorithms.card import Setting
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
from dpviz.runs.request import Contender
from dpviz.table.domain import Region
from dpviz.table.rows import Rows


class Prediction(NamedTuple):
    """Expected excess loss per row, unit coordinates squared: what the noise costs, and what a grid's cells cost.

    ``bias_bound`` is the most that reading rows at the middle of their cell costs; 0 where rows are read as they are.
    It ``holds`` where centres stay apart: beyond half their typical spacing the first-order formulas mean nothing.
    """

    noise: float
    bias_bound: float
    holds: bool

    @property
    def excess(self) -> float:
        """Noise and bias together."""
        return self.noise + self.bias_bound


def predict(contender: Contender, setting: Setting, region: Region) -> Prediction | None:
    """The prediction for an algorithm, or None where no formula exists or the number of rows is not public."""
    formula = _FORMULAS.get(contender.algorithm)
    if formula is None or setting.n is None:
        return None
    params = contender.settings
    accounting = contender.card.accounting(params, setting.delta)
    # A room over no rows: it knows every noise scale that a real one would draw with, and can read nothing.
    room = DataRoom(
        Rows.of(np.empty((0, region.dim)), region),
        region,
        setting.relation,
        setting.rows_per_person,
        Ledger(accounting, setting.epsilon, setting.delta),
        StudyNoise(np.random.default_rng(0)),
        setting.n,
    )
    noise, bias = formula(room, setting.k, params)
    # What k centres that share the box evenly typically lie apart, halved.
    spacing = float(np.exp(np.log(region.half).mean())) * float(setting.k ** (-1 / region.dim))
    return Prediction(noise, bias, sqrt(noise) <= spacing)


class _Excess(NamedTuple):
    noise: float
    bias_bound: float = 0.0


def _dplloyd(room: DataRoom, k: int, params: DPLloydParams) -> _Excess:
    rounds = params.rounds or planned_rounds(room, k, params.preset)
    return _lloyd(room, k, room.budget, rounds=rounds, preset=params.preset)


def _lloyd(room: DataRoom, k: int, budget: Budget, *, rounds: int, preset: str) -> _Excess:
    """Eq. 6 over all axes, a noisy sum over a noisy count, with the noise of this preset's last round.

    For ``su`` in the unit cube that is Eq. 7.
    """
    spherical = preset == "tuned"
    ratio = 1 / room.region.l1_radius
    if preset != "su":
        ratio = count_to_sum_ratio(room.dim, room.accounting, spherical=spherical)
    share = budget.rounds(rounds)[-1].split(counts=ratio, sums=1.0)
    cells = Voronoi(np.zeros((k, room.dim)))
    of_counts = room.mechanism(Count(cells), noise_kind(room.accounting), share.counts).sd_in(1)
    of_sums = room.mechanism(Sum(cells), noise_kind(room.accounting, spherical=spherical), share.sums).sd_in(room.dim)
    offset = TYPICAL_OFFSET**2 * room.region.squared_corner
    return _Excess((k / room.n) ** 2 * (room.dim * of_sums**2 + offset * of_counts**2))


def _grid(room: DataRoom, k: int, params: EUGkMParams | HybridParams) -> _Excess:
    """Eqs. 9 and 10 for the grid that is really laid: whole cells, and a box of unequal sides."""
    dim, half, epsilon = room.dim, room.region.half, epsilon_per_row(room, room.budget)
    grid = cube_grid(half, max(1, round(cells_per_axis(room.n, epsilon, params.theta, dim))) ** dim)
    # Of one centre in the unit cube, from the noise of the counts of its cells.
    variance = 2 * dim * grid.n_cells * float(k ** ((dim - 2) / dim)) / (3 * (room.n * epsilon) ** 2)
    return _Excess(float((half**2).sum()) / dim * variance, float(((half / grid.cells_per_axis) ** 2).sum()))


def _hybrid(room: DataRoom, k: int, params: HybridParams) -> _Excess:
    """Eq. 13 where the rule takes the step of Lloyd, else the grid on the whole budget."""
    if epsilon_per_row(room, room.budget) < threshold_epsilon(room.n, k, room.region.half, params):
        return _grid(room, k, params)
    shares = room.budget.split(grid=params.split, lloyd=1 - params.split)
    return _lloyd(room, k, shares.lloyd, rounds=params.steps, preset=params.preset)


_FORMULAS: dict[str, Callable[[DataRoom, int, Any], _Excess]] = {"dplloyd": _dplloyd, "eugkm": _grid, "hybrid": _hybrid}
