"""EUGkM: k-means on a noisy uniform grid (Su et al. 2016, §4.2).

Only ``release_grid`` asks the room a question; everything else is post-processing of what it released.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from math import exp, log, pow, sqrt
from typing import NamedTuple

import numpy as np

from dpviz.algorithms.card import Card, Guarantee, Params, Setting, always, knob, released_always
from dpviz.algorithms.regime import MOST_IN_A_GRID
from dpviz.algorithms.steps import CentersStep, GridStep, Step
from dpviz.algorithms.su2016 import FAMILY, PAPER
from dpviz.algorithms.tools.cubes import cube_grid
from dpviz.algorithms.tools.public_points import sphere_packing
from dpviz.algorithms.tools.solvers import (
    SignedPoints,
    StartsStep,
    best_of_starts,
    mass_near,
    mean_noise_sd,
    weighted_kmeans_pp,
)
from dpviz.arrays import Array, Flags
from dpviz.privacy.accounting import Accounting, Budget
from dpviz.privacy.mechanisms import noise_kind
from dpviz.privacy.partitions import Everything, Grid
from dpviz.privacy.queries import Count, Relation, SparseCount
from dpviz.privacy.room import DataRoom
from dpviz.privacy.sparse_mechanisms import SparseLaplace
from dpviz.table.domain import Region

# Up to this many cells all are listed; beyond, the cut leaves about LISTED_CELLS empty ones. Cells whose coordinates
# are in memory at a time. Chosen by hand, not measured.
DENSE_CELLS, LISTED_CELLS = 2**21, 1e6
_PART = 2**16
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
        help="su: all cells, and starts that ignore the data, as printed. tuned: only cells that are above the noise, "
        "alone or with their neighbours, are kept, and k-means++ starts on them. Both release the same grid for the "
        "same ε.",
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
    wanted = max(1, round(per_axis)) ** room.dim
    if wanted > room.most_cells:
        why += "As fine as cells can be numbered, or drawn: "
    grid = release_grid(room, cube_grid(room.region.half, min(wanted, room.most_cells)), budget, why=why)
    yield grid
    cells, starts = problem_on(grid, k, room.region, params, rng)
    best = best_of_starts(cells, starts, room.region)
    solution = best.solution
    yield StartsStep.of(best, len(cells), "kept cell", then="; no row is read again")
    yield CentersStep(
        title=f"Start {best.chosen + 1} has the least loss on the grid and is released",
        centers=solution.centers,
        # Of all cells: what did not stand out still adds up to its rows.
        noisy_counts=mass_near(all_cells(grid, room.region), solution.centers),
        previous=best.start,
        center_noise_sd=mean_noise_sd(cells, solution),
    )
    return solution.centers


def cells_per_axis(n: int, epsilon: float, theta: float, dim: int) -> float:
    """m = (nε/θ)^(2/(2+d)), before rounding; the grid has m^d cells.

    References
    ----------
    Su et al. 2016, Eq. 4.
    """
    return float((n * (epsilon / theta)) ** (2 / (2 + dim)))


def epsilon_per_row(room: DataRoom, budget: Budget) -> float:
    """1 over the scale of the noise on a cell that ``budget`` buys: ε, less for replace and for many rows a person."""
    return 1 / room.mechanism(Count(Everything()), noise_kind(room.accounting), budget).scale


def release_grid(room: DataRoom, grid: Grid, budget: Budget, *, why: str = "") -> GridStep:
    """Noisy counts of all cells of ``grid``; of a large grid, the cells whose noisy count is beyond a public cut.

    **Guarantee.** ``budget``, for the room's relation. Every cell carries noise, empty ones included: a large grid is
    sampled exactly as if all its cells had been noised and the small ones then cut away.
    """
    scale = 1 / epsilon_per_row(room, budget)
    size = f"{why}{grid_in_words(grid)}"
    if grid.n_cells <= DENSE_CELLS:
        noisy = room.release(Count(grid), budget, note="grid cells")
        return GridStep(
            title=f"{size}; every count carries noise of ±{noisy.sd:.3g}",
            grid=grid,
            codes=np.arange(grid.n_cells),
            noisy_counts=noisy.value,
            sd=noisy.sd,
        )
    cut = max(0.0, log(grid.n_cells / LISTED_CELLS))
    sparse = room.ask(SparseCount(grid), SparseLaplace, budget, note="grid cells", cutoff_in_scales=cut)
    return GridStep(
        title=f"{size}; released are the {len(sparse.value.codes):,} whose noisy count is beyond ±{cut * scale:.3g}",
        grid=grid,
        codes=sparse.value.codes,
        noisy_counts=sparse.value.values,
        sd=sparse.sd,
        cutoff=cut * scale,
    )


def grid_in_words(grid: Grid) -> str:
    """Cells along the axes and in all."""
    sizes = [int(m) for m in grid.cells_per_axis]
    if grid.n_cells == 1:
        return "One cell, the whole box"
    if len(sizes) <= 3:
        return f"{' × '.join(f'{m:,}' for m in sizes)} cells"
    low, high = min(sizes), max(sizes)
    each = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    total = f"{grid.n_cells:,}" if grid.n_cells < 10**9 else f"{grid.n_cells:.2g}"
    return f"{each} cells along each of {len(sizes)} axes, {total} in all"


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


def all_cells(step: GridStep, region: Region) -> SignedPoints:
    """The middles of all listed cells that can hold a row, with their signed noisy counts."""
    return _points(step, np.ones(len(step.codes), dtype=bool), region)


def standing_out(step: GridStep, region: Region) -> SignedPoints:
    """The cells that stand out from the noise, alone or with their neighbours, with their signed noisy counts.

    A grid over many columns has far more empty cells than full ones, and their noise would drown the loss. A cell is
    kept if its noisy count is more than chance gives in any cell of the grid, or if the noisy count of the rest of its
    block of 2^d neighbours is. The rest is kept or dropped as a whole, negative counts included, so that a block that
    is kept has an unbiased sum.
    """
    grid, scale = step.grid, step.sd / sqrt(2)
    blocks = Grid(grid.half, (grid.cells_per_axis + 1) // 2)
    block = np.concatenate([blocks.numbered(grid.places(step.codes[part]) // 2) for part in _slices(step)])
    _, place = np.unique(block, return_inverse=True)
    alone = step.noisy_counts > scale * log(max(2, grid.n_cells))
    rest = np.bincount(place, np.where(alone, 0.0, step.noisy_counts))
    cut = _cut_in_scales(step)
    # Variance, in scales squared, of the noise that the cut leaves in a block of empty cells.
    variance = float(np.minimum(grid.cells_per_axis, 2).prod()) * exp(-cut) * (cut**2 + 2 * cut + 2)
    chance = log(max(2, blocks.n_cells))
    together = rest > scale * max(chance, sqrt(2 * chance * variance))
    return _points(step, alone | together[place], region)


def _points(step: GridStep, kept: Flags, region: Region) -> SignedPoints:
    """The middles of the kept cells within reach of the region's ball.

    A middle outside the ball stands for rows inside it and is moved to its surface; a cell beyond it is empty.
    """
    columns, weights = [], []
    half_cell = step.grid.half / step.grid.cells_per_axis
    for part in _slices(step):
        middles = step.grid.centers(step.codes[part][kept[part]])
        nearest = np.linalg.norm(np.maximum(np.abs(middles) - half_cell, 0), axis=1)
        in_reach = nearest <= region.radius
        columns.append(region.clip(middles[in_reach]).astype(np.float32))
        weights.append(step.noisy_counts[part][kept[part]][in_reach])
    cut = _cut_in_scales(step)
    weight_sd = step.sd * sqrt((cut**2 + 2 * cut + 2) / 2)
    return SignedPoints.of(np.concatenate(columns), np.concatenate(weights), weight_sd=weight_sd)


def _cut_in_scales(step: GridStep) -> float:
    return 0.0 if step.cutoff is None else step.cutoff * sqrt(2) / step.sd


def _slices(step: GridStep) -> Iterator[slice]:
    """The listed cells in parts that bound memory; at least one part."""
    return (slice(begin, begin + _PART) for begin in range(0, max(1, len(step.codes)), _PART))


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
    does="Grid",
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
    most_coded=MOST_IN_A_GRID,
    hopeless="the grid has fewer than four cells along an axis, too coarse to tell where clusters lie",
    operations=operations,
    sample="fifteen",
    formula=(
        r"M=\left(\frac{n\,\varepsilon}{\theta}\right)^{\frac{2d}{2+d}},\quad "
        r"\tilde n_j=n_j+\mathrm{Laplace}(1/\varepsilon)"
    ),
    release=released_always,
)
