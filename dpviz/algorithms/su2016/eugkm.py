"""EUGkM: k-means on a noisy uniform grid (Su et al. 2016, §4.2); and Hybrid, which may add a step of DPLloyd (§6.3).

Of EUGkM only ``release_grid`` asks the session a question; all else is post-processing of what it released.
"""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from math import exp, log, pow, sqrt

import numpy as np

from dpviz.algorithms.card import MOST_IN_A_GRID, PURE, Card, Params, Setting, param_field, read_card
from dpviz.algorithms.steps import CentersStep, GridStep, Step
from dpviz.algorithms.tools import solvers
from dpviz.algorithms.tools.lloyd_round import TYPICAL_OFFSET, run_lloyd_rounds
from dpviz.core import Array, Budget, Flags, PrivateSession, Region, Relation, mechanisms, partitions, queries
from dpviz.words import round_percent

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
_BY_THETA, _SIGNED = "theta", "signed"


@dataclass(frozen=True)
class GridParams(Params):
    """Parameters of whoever solves k-means on a grid."""

    preset: str = param_field("tuned", choices=("su", "tuned"))
    theta: float = param_field(10.0, low=0.01, high=1000.0)
    starts: int = param_field(30, low=1, high=300)

    def choose_cells_per_axis(self, n: int, epsilon: float, k: int, dim: int) -> float:
        """How fine the grid is, before rounding; from public or bought numbers only."""
        return compute_cells_per_axis(n, epsilon, self.theta, dim)

    def read_counts(self, points: solvers.SignedPoints) -> solvers.SignedPoints:
        """The noisy counts as k-means takes them."""
        return points


@dataclass(frozen=True)
class EUGkMParams(GridParams):
    """Parameters of EUGkM."""

    fineness: str = param_field(_BY_THETA, choices=(_BY_THETA, "errors"))
    counts: str = param_field(_SIGNED, choices=(_SIGNED, "whole"))

    def choose_cells_per_axis(self, n: int, epsilon: float, k: int, dim: int) -> float:
        """As ``GridParams`` does it, or as many as make the errors least; cells along an axis."""
        if self.fineness == _BY_THETA:
            return super().choose_cells_per_axis(n, epsilon, k, dim)
        return compute_cells_of_least_error(n, epsilon, k, dim)

    def read_counts(self, points: solvers.SignedPoints) -> solvers.SignedPoints:
        """As they are, or whole and never below 0."""
        if self.counts == _SIGNED:
            return points
        return replace(points, weights=np.maximum(np.rint(points.weights), 0.0))


def eugkm(session: PrivateSession, k: int, params: EUGkMParams, rng: np.random.Generator) -> Iterator[Step]:
    """Release a noisy grid once, under ε-DP, then solve k-means on it at will. O(nd + starts · M k d), M cells."""
    yield from run_grid_kmeans(session, k, session.budget, params, rng)


def run_grid_kmeans(
    session: PrivateSession, k: int, budget: Budget, params: GridParams, rng: np.random.Generator, *, why: str = ""
) -> Generator[Step, None, Array]:
    """EUGkM for a part of the budget; it returns the centres (k, d), unit coordinates; ``why`` opens the first title.

    **Guarantee.** ``budget``, spent on the grid alone: add/remove or replace. Bounds are public; n is public or
    bought, and only sets the grid size.
    """
    per_axis = params.choose_cells_per_axis(session.n, compute_epsilon_per_row(session, budget), k, session.dim)
    wanted = max(1, round(per_axis)) ** session.dim
    if wanted > session.most_cells:
        why += "As fine as cells can be numbered, or drawn: "
    grid = release_grid(
        session, solvers.make_cube_grid(session.region.half, min(wanted, session.most_cells)), budget, why=why
    )
    yield grid
    cells, starts = make_problem(grid, k, session.region, params, rng)
    best = solvers.find_best_of_starts(cells, starts, session.region)
    solution = best.solution
    yield solvers.StartsStep.of(best, len(cells), "kept cell", then="; no row is read again")
    yield CentersStep(
        title=f"Start {best.chosen + 1} has the least loss on the grid and is released",
        centers=solution.centers,
        # Of all cells: what did not stand out still adds up to its rows.
        noisy_counts=solvers.sum_mass_near(params.read_counts(list_all_cells(grid, session.region)), solution.centers),
        previous=best.start,
        center_noise_sd=solvers.compute_mean_noise_sd(cells, solution),
    )
    return solution.centers


def compute_cells_per_axis(n: int, epsilon: float, theta: float, dim: int) -> float:
    """m = (nε/θ)^(2/(2+d)) (Eq. 4), before rounding; the grid has m^d cells."""
    return float((n * (epsilon / theta)) ** (2 / (2 + dim)))


def compute_cells_of_least_error(n: int, epsilon: float, k: int, dim: int) -> float:
    """m, before rounding, where the noise of Eq. 9 and the bias of Eq. 10 are least together."""
    # With M cells they are 2 d M k^((d-2)/d) / (3 n² ε²) and d / M^(2/d) in the unit cube; their sum is least at M = (3
    # n² ε² / (d k^((d-2)/d)))^(d/(d+2)). Eq. 10 is a bound: real biases are less, and a coarser grid may do.
    # k^((d-2)/d) is 1/k at one column.
    return float((3 * (n * epsilon) ** 2 / (dim * k ** ((dim - 2) / dim))) ** (1 / (2 + dim)))


def compute_epsilon_per_row(session: PrivateSession, budget: Budget) -> float:
    """1 over the scale of the noise on a cell that ``budget`` buys: ε, less for replace and for many rows a person."""
    kind = mechanisms.choose_noise_kind(session.accounting)
    return 1 / session.mechanism(queries.Count(partitions.Everything()), kind, budget).scale


def release_grid(session: PrivateSession, grid: partitions.Grid, budget: Budget, *, why: str = "") -> GridStep:
    """Noisy counts of all cells of ``grid``; of a large grid, the cells whose noisy count is beyond a public cut.

    **Guarantee.** ``budget``, for the session's relation. Every cell carries noise, empty ones included: a large grid
    is sampled exactly as if all its cells had been noised and the small ones then cut away.
    """
    scale = 1 / compute_epsilon_per_row(session, budget)
    size = f"{why}{describe_grid(grid)}"
    if grid.n_cells <= DENSE_CELLS:
        noisy = session.release(queries.Count(grid), budget, note="grid cells")
        return GridStep(
            title=f"{size}; every count carries noise of sd {noisy.sd:.3g}",
            grid=grid,
            codes=np.arange(grid.n_cells),
            noisy_counts=noisy.value,
            sd=noisy.sd,
        )
    cut = max(0.0, log(grid.n_cells / LISTED_CELLS))
    sparse = session.ask(
        queries.SparseCount(grid), mechanisms.SparseLaplace, budget, note="grid cells", cutoff_in_scales=cut
    )
    return GridStep(
        title=f"{size}; released are the {len(sparse.value.codes):,} beyond {cut * scale:.3g} noisy rows, up or down",
        grid=grid,
        codes=sparse.value.codes,
        noisy_counts=sparse.value.values,
        sd=sparse.sd,
        cutoff=cut * scale,
    )


def describe_grid(grid: partitions.Grid) -> str:
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


def make_problem(
    grid: GridStep, k: int, region: Region, params: GridParams, rng: np.random.Generator
) -> tuple[solvers.SignedPoints, list[Array]]:
    """What to solve on a released grid. ``tuned`` becomes ``su`` where fewer than k cells stand out.

    The cells that enter the loss, and where solutions start: shape (k, d) each, unit coordinates.
    """
    if params.preset == "tuned":
        cells = params.read_counts(find_clear_cells(grid, region))
        if np.count_nonzero(cells.weights > 0) >= k:
            middles = region.clip(cells.columns.T.astype(np.float64))
            seeds = solvers.draw_many_kmeans_pp_seeds(middles, cells.weights, k, params.starts, rng)
            return cells, [middles[seed] for seed in seeds]
    starts = [solvers.pack_spheres(k, region, rng) for _ in range(params.starts)]
    return params.read_counts(list_all_cells(grid, region)), starts


def list_all_cells(step: GridStep, region: Region) -> solvers.SignedPoints:
    """The middles of all listed cells that can hold a row, with their signed noisy counts."""
    return _make_points(step, np.ones(len(step.codes), dtype=bool), region)


def find_clear_cells(step: GridStep, region: Region) -> solvers.SignedPoints:
    """The cells that stand out from the noise, alone or with their neighbours, with their signed noisy counts.

    A grid over many columns has far more empty cells than full ones, and their noise would drown the loss. A cell is
    kept if its noisy count is more than chance gives in any cell of the grid, or if the noisy count of the rest of its
    block of 2^d neighbours is. The rest is kept or dropped as a whole, negative counts included, so that a block that
    is kept has an unbiased sum.
    """
    grid, scale = step.grid, step.sd / sqrt(2)
    blocks = partitions.Grid(grid.half, (grid.cells_per_axis + 1) // 2)
    block = np.concatenate([blocks.number_cells(grid.places(step.codes[part]) // 2) for part in _split_slices(step)])
    _, place = np.unique(block, return_inverse=True)
    alone = step.noisy_counts > scale * log(max(2, grid.n_cells))
    rest = np.bincount(place, np.where(alone, 0.0, step.noisy_counts))
    cut = _compute_cut_in_scales(step)
    # Variance, in scales squared, of the noise that the cut leaves in a block of empty cells.
    variance = float(np.minimum(grid.cells_per_axis, 2).prod()) * exp(-cut) * (cut**2 + 2 * cut + 2)
    chance = log(max(2, blocks.n_cells))
    together = rest > scale * max(chance, sqrt(2 * chance * variance))
    return _make_points(step, alone | together[place], region)


def _make_points(step: GridStep, kept: Flags, region: Region) -> solvers.SignedPoints:
    """The middles of the kept cells within reach of the region's ball.

    A middle outside the ball stands for rows inside it and is moved to its surface; a cell beyond it is empty.
    """
    columns, weights = [], []
    half_cell = step.grid.half / step.grid.cells_per_axis
    for part in _split_slices(step):
        middles = step.grid.centers(step.codes[part][kept[part]])
        in_reach = np.linalg.norm(np.maximum(np.abs(middles) - half_cell, 0), axis=1) <= region.radius
        columns.append(region.clip(middles[in_reach]).astype(np.float32))
        weights.append(step.noisy_counts[part][kept[part]][in_reach])
    cut = _compute_cut_in_scales(step)
    weight_sd = step.sd * sqrt((cut**2 + 2 * cut + 2) / 2)
    return solvers.SignedPoints.of(np.concatenate(columns), np.concatenate(weights), weight_sd=weight_sd)


def _compute_cut_in_scales(step: GridStep) -> float:
    return 0.0 if step.cutoff is None else step.cutoff * sqrt(2) / step.sd


def _split_slices(step: GridStep) -> Iterator[slice]:
    """The listed cells in parts that bound memory; at least one part."""
    return (slice(begin, begin + _PART) for begin in range(0, max(1, len(step.codes)), _PART))


def compute_smallest_n(setting: Setting, params: GridParams) -> float:
    """Records at which Eq. 4 gives four cells along each axis: θ/ε · 4^((2+d)/2); twice that under replace."""
    epsilon = setting.epsilon / (2 if setting.relation is Relation.REPLACE else 1)
    return params.theta / epsilon * pow(_ENOUGH_PER_AXIS, min(2 + setting.dim, 900) / 2)


def count_operations(setting: Setting, params: GridParams) -> float:
    """Rough number of elementary operations: the rows once, the cells for each start."""
    n, dim = float(setting.n or 10_000), setting.dim
    per_axis = params.choose_cells_per_axis(int(n), setting.epsilon, setting.k, dim)
    cells = min(max(1.0, per_axis) ** min(dim, 60), 2e6)
    of_start = setting.k * (_PASSES[params.preset] * cells * dim + _PER_CENTER[params.preset])
    return 10 * n * dim + params.starts * of_start


CARD = Card(
    **read_card("eugkm"),
    params=EUGkMParams,
    plan=eugkm,
    accounting=PURE,
    smallest_n=compute_smallest_n,
    most_coded=MOST_IN_A_GRID,
    operations=count_operations,
)


@dataclass(frozen=True)
class HybridParams(GridParams):
    """Parameters of Hybrid: those of EUGkM, and how the budget is divided where both branches are used."""

    split: float = param_field(0.5, low=0.05, high=0.95)
    steps: int = param_field(1, low=1, high=10)


def hybrid(session: PrivateSession, k: int, params: HybridParams, rng: np.random.Generator) -> Iterator[Step]:
    """EUGkM, then noisy Lloyd steps from its centres if ε is above ``compute_threshold_epsilon``; else EUGkM alone.

    **Guarantee.** Add/remove or replace; ε-DP. Bounds are public; n is public or bought, and sets the branch and the
    grid size.
    """
    epsilon = compute_epsilon_per_row(session, session.budget)
    least = compute_threshold_epsilon(session.n, k, session.region.half, params)
    rounded = f"{float(f'{least:.2g}'):,g}"
    if epsilon < least:
        why = f"ε = {epsilon:.3g} is below {rounded}: the grid alone, as EUGkM. "
        yield from run_grid_kmeans(session, k, session.budget, params, rng, why=why)
        return
    shares = session.budget.split(grid=params.split, lloyd=1 - params.split)
    bought = round_percent(params.split)
    why = f"ε = {epsilon:.3g} is at least {rounded}: a grid, then Lloyd. {bought} of ε buys the grid. "
    centers = yield from run_grid_kmeans(session, k, shares.grid, params, rng, why=why)
    yield from run_lloyd_rounds(
        session,
        centers,
        shares.lloyd.rounds(params.steps),
        title="Step {t} of {rounds} of Lloyd on the rows, from the centres of the grid",
        note="Lloyd step {t}",
        ratio=1 / session.region.l1_radius if params.preset == "su" else None,
        spherical=params.preset == "tuned",
        counts_down=False,
    )


def compute_threshold_epsilon(n: int, k: int, half: Array, params: HybridParams) -> float:
    """The ε from which the noise of the Lloyd steps is less than the grid's (Eqs. 11-15), by public quantities.

    ``half`` (d,), half-widths of the box, unit coordinates.
    """
    # With a box of half-widths r, an even split and one step this is (X/Y)^((2+d)/(2d)) as printed, with ρ = .225 (2ρ
    # is TYPICAL_OFFSET), which the paper does not state. Eq. 14, more than one round of DPLloyd to compare with, always
    # holds.
    dim, squares = len(half), float((half**2).sum())
    rounds = k * params.steps * (float(half.sum()) + 1) / ((1 - params.split) * n)
    lloyd = 2 * (dim + TYPICAL_OFFSET**2 * squares) * rounds**2
    grid = 2 * squares * k ** ((dim - 2) / dim) / 3 / params.theta ** (2 * dim / (2 + dim)) / n ** (4 / (2 + dim))
    return float((lloyd / grid) ** ((2 + dim) / (2 * dim)))


HYBRID = Card(
    **read_card("hybrid"),
    params=HybridParams,
    plan=hybrid,
    accounting=PURE,
    smallest_n=compute_smallest_n,
    most_coded=MOST_IN_A_GRID,
    operations=count_operations,
)

CARDS = (CARD, HYBRID)
