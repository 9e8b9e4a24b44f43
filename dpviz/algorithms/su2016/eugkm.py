"""EUGkM: k-means on a noisy uniform grid (Su et al. 2016, §4.2)."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from math import log, pow
from typing import NamedTuple

import numpy as np

from dpviz.algorithms.card import Card, Guarantee, Params, Setting, always, knob
from dpviz.algorithms.steps import CentersStep, GridStep, Step
from dpviz.algorithms.su2016 import FAMILY, PAPER
from dpviz.algorithms.su2016.grid_synopsis import (
    all_cells,
    cells_per_axis,
    cube_grid,
    epsilon_per_row,
    release_grid,
    standing_out,
)
from dpviz.algorithms.tools.public_points import sphere_packing
from dpviz.algorithms.tools.solvers import SignedPoints, best_of_starts, mass_near, mean_noise_sd, weighted_kmeans_pp
from dpviz.algorithms.tools.starts import StartsStep
from dpviz.arrays import Array
from dpviz.privacy.accounting import Accounting, Budget
from dpviz.privacy.known import MOST_CELLS
from dpviz.privacy.queries import Relation
from dpviz.privacy.room import DataRoom
from dpviz.table.domain import Region

# Fewer cells along an axis than this say little about where a cluster lies.
_ENOUGH_PER_AXIS = 4
# Elementary operations that one start takes for a cell, a centre and a column, and for a centre whatever the grid.
# ``tuned`` leaves out the cells that do not stand out, which are most of them.
_PASSES = {"su": 2.0, "tuned": 0.06}
_PER_CENTER = {"su": 2e5, "tuned": 4e4}


@dataclass(frozen=True)
class EUGkMParams(Params):
    """Parameters of EUGkM."""

    preset: str = knob(
        "tuned",
        help="su: all cells, and starts that ignore the data, as printed. tuned: only cells that stand out from the "
        "noise, and k-means++ starts on them. Both release the same grid for the same ε.",
        choices=("su", "tuned"),
    )
    theta: float = knob(10.0, help="θ of the grid size: smaller means finer, noisier cells.", low=0.01, high=1000.0)
    starts: int = knob(30, help="Starts that are solved on the grid; the best one there is kept.", low=1, high=300)


def eugkm(room: DataRoom, k: int, params: EUGkMParams, rng: np.random.Generator) -> Iterator[Step]:
    """Release a noisy grid once, then solve k-means on it as often as one likes. O(nd + starts · M k d), M cells.

    **Guarantee.** Add/remove or replace; ε-DP. Bounds are public; n is public or bought, and only sets the grid size.
    """
    yield from grid_kmeans(room, k, room.budget, params, rng)


def grid_kmeans(
    room: DataRoom, k: int, budget: Budget, params: EUGkMParams, rng: np.random.Generator, *, why: str = ""
) -> Generator[Step, None, Array]:
    """EUGkM for a part of the budget, as a generator of steps that returns the centres; ``why`` opens the first title.

    **Guarantee.** ``budget``, spent on the grid alone.
    """
    per_axis = cells_per_axis(room.n, epsilon_per_row(room, budget), params.theta, room.dim)
    if room.dim * log(per_axis) > log(MOST_CELLS):
        why += "As fine as cells can be numbered: "
    grid = release_grid(room, cube_grid(room.region, per_axis), budget, why=why, note="grid cells")
    yield grid
    cells, starts = problem_on(grid, k, room.region, params, rng)
    best = best_of_starts(cells, starts, room.region)
    solution = best.solution
    yield StartsStep.of(best, len(cells), "cell", then="; no row is read again")
    yield CentersStep(
        title=f"Start {best.chosen + 1} has the least loss on the grid and is released",
        centers=solution.centers,
        # Of all cells: what did not stand out still adds up to its rows.
        noisy_counts=mass_near(all_cells(grid, room.region), solution.centers),
        previous=best.start,
        center_noise_sd=mean_noise_sd(cells, solution),
    )
    return solution.centers


class Problem(NamedTuple):
    """The cells that enter the loss, and where solutions start: shape (k, d) each, unit coordinates."""

    cells: SignedPoints
    starts: list[Array]


def problem_on(grid: GridStep, k: int, region: Region, params: EUGkMParams, rng: np.random.Generator) -> Problem:
    """What to solve on a released grid. ``tuned`` becomes ``su`` where fewer than k cells stand out."""
    if params.preset == "tuned":
        cells = standing_out(grid, region)
        if np.count_nonzero(cells.weights > 0) >= k:
            middles = region.clip(cells.columns.T.astype(np.float64))
            seeds = (weighted_kmeans_pp(middles, cells.weights, k, rng) for _ in range(params.starts))
            return Problem(cells, [middles[seed] for seed in seeds])
    return Problem(all_cells(grid, region), [sphere_packing(k, region, rng) for _ in range(params.starts)])


def smallest_n(setting: Setting, params: EUGkMParams) -> float:
    """Records at which Eq. 4 gives four cells along each axis: θ/ε · 4^((2+d)/2); twice that under replace."""
    epsilon = setting.epsilon / (2 if setting.relation is Relation.REPLACE else 1)
    return params.theta / epsilon * pow(_ENOUGH_PER_AXIS, min(2 + setting.dim, 900) / 2)


def operations(setting: Setting, params: EUGkMParams) -> float:
    """Rough number of elementary operations: the rows once, the cells for each start."""
    n, dim = float(setting.n or 10_000), setting.dim
    cells = min(max(1.0, cells_per_axis(int(n), setting.epsilon, params.theta, dim)) ** min(dim, 60), 2e6)
    of_start = setting.k * (_PASSES[params.preset] * cells * dim + _PER_CENTER[params.preset])
    return 10 * n * dim + params.starts * of_start


CARD = Card(
    id="eugkm",
    title="EUGkM",
    family=FAMILY,
    paper=f"{PAPER}, §4.2",
    summary="k-means on a uniform grid whose cells are counted once, with noise.",
    story=(
        "Lay a grid over the declared bounds, count the rows of every cell and add noise to every count, the empty "
        "cells included. That one release costs the whole of ε, and nothing reads a row after it. "
        "So k-means may be solved on the noisy cells from thirty different starts, and the best of them be kept, for "
        "free. The grid has fewer cells when n·ε is small, because many nearly empty cells would be mostly noise. "
        "With every further column the same number of cells gets coarser: beyond six columns they say little."
    ),
    when="One to four columns, at any ε and also with many clusters; up to six if n·ε is large. Not for more columns.",
    guarantees=(Guarantee.PURE,),
    params=EUGkMParams,
    plan=eugkm,
    accounting=always(Accounting.PURE),
    smallest_n=smallest_n,
    hopeless="the grid has fewer than four cells along an axis, too coarse to tell where clusters lie",
    operations=operations,
    sample="fifteen",
    formula=(
        r"M=\left(\frac{n\,\varepsilon}{\theta}\right)^{\frac{2d}{2+d}},\quad "
        r"\tilde n_j=n_j+\mathrm{Laplace}(1/\varepsilon)"
    ),
)
