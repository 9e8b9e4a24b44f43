"""What Su et al. predict before any run: the error of a centre in closed form, from public quantities alone.

Clusters are taken to be of like size, n/k rows each. The mean squared error of a centre is, to first order, what every
row of its cluster loses on top of its k-means loss; so a prediction is an excess over k-means, in the units of a loss
per row (unit coordinates squared).

References
----------
Su, Cao, Li, Bertino & Jin 2016, §6: Eqs. 6-7 (DPLloyd), 9-10 (uniform grid), 13-15 (hybrid).
"""

from collections.abc import Callable
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from dpviz.algorithms.card import Card, Params, Setting
from dpviz.algorithms.su2016.dplloyd import DPLloydParams, plan_rounds
from dpviz.algorithms.su2016.eugkm import GridParams, HybridParams, compute_epsilon_per_row, compute_threshold_epsilon
from dpviz.algorithms.tools.lloyd_round import TYPICAL_OFFSET, compute_count_to_sum_ratio
from dpviz.algorithms.tools.solvers import make_cube_grid
from dpviz.core import Accounting, Budget, Ledger, PrivateSession, Region, mechanisms, partitions, queries


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


def predict(card: Card, params: Params, setting: Setting, region: Region) -> Prediction | None:
    """The prediction for an algorithm, or None where no formula exists or the number of rows is not public.

    Parameters
    ----------
    card : Card
    params : Params
    setting : Setting
    region : Region

    Returns
    -------
    Prediction or None
        In loss over that of k-means++.
    """
    formula = _FORMULAS.get(card.id)
    if formula is None or setting.n is None:
        return None
    ledger = Ledger(card.accounting(params, setting.delta), setting.epsilon, setting.delta)
    session = PrivateSession.over_no_rows(region, setting.relation, setting.rows_per_person, ledger, setting.n)
    noise, bias = formula(session, setting.k, params)
    # What k centres that share the box evenly typically lie apart, halved.
    spacing = float(np.exp(np.log(region.half).mean())) * float(setting.k ** (-1 / region.dim))
    return Prediction(noise, bias, sqrt(noise) <= spacing)


def predict_floor(setting: Setting) -> float | None:
    """What one perfect step would lose, over the loss of k-means++: a line that no algorithm can beat by much.

    Its clusters, and how many rows they have, are known for nothing, and so is how far a typical row lies from its
    centre; the whole budget buys the noise of their means, each row counting up to that distance. Clusters of like size
    have the least noise. The loss itself drops out: one perfect step loses 1 + d sd² (k/n)² times as much as none, with
    the sd of a sum in the unit ball.

    Returns
    -------
    float or None
        At least 1; None where the number of rows is not public.
    """
    if setting.n is None:
        return None
    kinds = [Accounting.PURE, *([Accounting.GDP] if setting.delta > 0 else [])]
    sd = min(
        setting.calibrate(
            queries.Sum(partitions.Everything()),
            mechanisms.choose_noise_kind(accounting, spherical=True),
            setting.budget(accounting),
        ).compute_sd(setting.dim)
        for accounting in kinds
    )
    return 1.0 + setting.dim * (sd * setting.rows_per_person * setting.k / setting.n) ** 2


Excess = tuple[float, float]  # of noise, and at most of bias


def _predict_dplloyd(session: PrivateSession, k: int, params: DPLloydParams) -> Excess:
    rounds = params.rounds or plan_rounds(session, k, params.preset)
    last = session.budget.rounds(rounds, params.weigh_rounds(rounds))[-1]
    return _predict_lloyd(session, k, last, preset=params.preset)


def _predict_lloyd(session: PrivateSession, k: int, budget: Budget, *, preset: str) -> Excess:
    """Eq. 6 over all axes, a noisy sum over a noisy count, with the noise of a last round that ``budget`` buys.

    For ``su`` in the unit cube that is Eq. 7.
    """
    spherical = preset == "tuned"
    ratio = 1 / session.region.l1_radius
    if preset != "su":
        ratio = compute_count_to_sum_ratio(session.dim, session.accounting, spherical=spherical)
    share = budget.split(counts=ratio, sums=1.0)
    cells = partitions.Voronoi(np.zeros((k, session.dim)))
    of_counts = session.mechanism(queries.Count(cells), session.noise_kind(), share.counts).compute_sd(1)
    kind = session.noise_kind(spherical=spherical)
    of_sums = session.mechanism(queries.Sum(cells), kind, share.sums).compute_sd(session.dim)
    offset = TYPICAL_OFFSET**2 * session.region.squared_corner
    return (k / session.n) ** 2 * (session.dim * of_sums**2 + offset * of_counts**2), 0.0


def _predict_grid(session: PrivateSession, k: int, params: GridParams) -> Excess:
    """Eqs. 9 and 10 for the grid that is really laid: whole cells, and a box of unequal sides."""
    dim, half, epsilon = session.dim, session.region.half, compute_epsilon_per_row(session, session.budget)
    grid = make_cube_grid(half, max(1, round(params.choose_cells_per_axis(session.n, epsilon, k, dim))) ** dim)
    # Of one centre in the unit cube, from the noise of the counts of its cells.
    variance = 2 * dim * grid.n_cells * float(k ** ((dim - 2) / dim)) / (3 * (session.n * epsilon) ** 2)
    return float((half**2).sum()) / dim * variance, float(((half / grid.cells_per_axis) ** 2).sum())


def _predict_hybrid(session: PrivateSession, k: int, params: HybridParams) -> Excess:
    """Eq. 13 where the rule takes the step of Lloyd, else the grid on the whole budget."""
    least = compute_threshold_epsilon(session.n, k, session.region.half, params)
    if compute_epsilon_per_row(session, session.budget) < least:
        return _predict_grid(session, k, params)
    shares = session.budget.split(grid=params.split, lloyd=1 - params.split)
    return _predict_lloyd(session, k, shares.lloyd.rounds(params.steps)[-1], preset=params.preset)


_FORMULAS: dict[str, Callable[[PrivateSession, int, Any], Excess]] = {
    "dplloyd": _predict_dplloyd,
    "eugkm": _predict_grid,
    "hybrid": _predict_hybrid,
}
