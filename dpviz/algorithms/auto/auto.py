"""auto: seeds from one noisy histogram of a fitted view, then noisy means of shortened residuals.

Seeds are k-means solved on readings of one histogram, and the rows choose among the solutions: solving costs nothing,
and the best solution on noisy cells need not be the best for the rows, as a histogram over a view of many columns sums
the noise of all of its cells and says nothing of what lies beside the view.

Sizes follow from what was released: the synopsis says how many rows lie in the cells of a cluster, rounds say it again,
with noise of another size, and together they say it best. Where clusters cannot be told apart on the synopsis it is off
by more than its noise, as earlier rounds are where centres still move. Constants of sizes were chosen on the families
of ``benchmarks/families.py`` that do not judge; ``benchmarks/cluster_sizes.py`` says how often intervals hold.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import islice, takewhile
from math import exp, log10, sqrt
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from dpviz.algorithms.auto.auto_plan import CAP, FEW_CLUSTERS, AutoPlan, Paid, StagePart, Zoom, count_columns, make_plan
from dpviz.algorithms.auto.loss_diagnostic import diagnose_loss
from dpviz.algorithms.auto.polishing import PolishStep, run_residual_rounds
from dpviz.algorithms.auto.private_projection import ProjectionStep, project_privately
from dpviz.algorithms.auto.view_synopsis import SynopsisStep, release_flat_synopsis, release_view_synopses
from dpviz.algorithms.auto.zooming import zoom
from dpviz.algorithms.card import (
    FLAT_DIM,
    Card,
    Expectation,
    Params,
    Setting,
    find_wide_columns,
    param_field,
    pure_or,
    read_card,
)
from dpviz.algorithms.size_estimates import Sizes, combine_sizes
from dpviz.algorithms.steps import CentersStep, Step
from dpviz.algorithms.tools.solvers import SignedPoints, StartsStep, choose_starts, find_best_of_starts
from dpviz.core import Accounting, Array, Codes, PrivateSession, Region, losses, mechanisms, partitions, queries

# How solutions are told apart and compared.
# Chosen by hand on the tuning families of ``benchmarks/families.py``.

# Seeds of the second reading of a histogram are taken if they are so many sds of noise better by its raw counts.
_CLEAR_SDS = 1.0
_SAME_PART = 0.1  # solutions are one whose centres lie within this part of the squared radius of a cluster
_MOST_SOLUTIONS = 16  # solutions that may be chosen from, at most
_AS_GOOD_LOSS = 1.02  # solutions are as good on a synopsis whose losses there are within this factor


_FEW = 32
"""Centres that are compared with those of another solution before the next ones are."""

_LEAST_CAP = 1e-8
"""Of the squared diameter. Noise alone can put all cells onto their centres, and a cap of nothing has no noise."""


class Seeds(NamedTuple):
    """Solutions on a synopsis, in the space of the rows: centres ``every`` (starts, k, d) from each start, the squared
    radii (starts,) of their clusters, and which of them is taken: at first the best on the synopsis."""

    synopsis: SynopsisStep
    solved: StartsStep
    every: Array
    radii2: Array
    taken: int

    @property
    def centers(self) -> Array:
        """Of the solution that is taken, (k, d)."""
        return np.asarray(self.every[self.taken])

    @property
    def radius2(self) -> float:
        """Mean squared distance of a row to its centre, by the synopsis."""
        return float(self.radii2[self.taken])

    @property
    def distances(self) -> Array:
        """Squared distance of the middle of each cell of the synopsis to the nearest seed, along the view; (m,)."""
        cells, frame = self.synopsis.grid.centers(self.synopsis.codes), self.synopsis.frame
        squared = cdist(cells, self.centers if frame is None else self.centers @ frame.T, "sqeuclidean")
        return np.asarray(squared.min(axis=1))

    def list_distinct(self, most: int) -> list[Seeds]:
        """Up to ``most`` different solutions, the best on the synopsis first.

        Two are one where each centre of the second has one of the first within a part of a cluster's radius.
        """
        kept: list[int] = []
        for start in np.argsort(self.radii2, kind="stable").tolist():
            if all(_differ(self.every[start], self.every[other], _SAME_PART * self.radius2) for other in kept):
                kept.append(start)
        return [self._replace(taken=start) for start in kept[:most]]


def _differ(centers: Array, others: Array, close: float) -> bool:
    """Whether some of ``centers`` has none of the others as ``close``, squared: a few of many often tell."""
    parts = (centers[begin : begin + _FEW] for begin in range(0, len(centers), _FEW))
    return any(cdist(part, others, "sqeuclidean").min(axis=1).max() > close for part in parts)


def solve_seeds(
    session: PrivateSession,
    k: int,
    synopsis: SynopsisStep,
    seen: ProjectionStep | None,
    beside: Array | None,
    number: int,
    rng: np.random.Generator,
) -> Seeds:
    """k-means from a ``number`` of starts on the synopsis; unit coordinates."""
    points, weights, region, middle = synopsis.cloud()
    starts = choose_starts(points, weights, k, number, region, rng)
    best = find_best_of_starts(SignedPoints.of(points, weights), starts, region)
    radii2 = np.maximum(best.losses, 0.0) / max(float(weights.sum()), 1.0)
    radii2 += synopsis.spread_in_cell
    centers = np.stack([solution.centers for solution in best.solutions]) + middle
    if seen is not None and synopsis.frame is not None:
        around, frame = seen.projection, synopsis.frame
        centers = around.middle + (centers - frame @ around.middle) @ frame
        radii2 += around.measure_beside(frame)
    elif synopsis.frame is not None:
        # Along thin columns in the middle of all rows, or of the domain, until the first round.
        centers = centers @ synopsis.frame + (0.0 if beside is None else beside)
    every = np.stack([session.region.clip(those) for those in centers])
    solved = replace(StartsStep.of(best, len(points), "cell"), centers=every[best.chosen])
    return Seeds(synopsis, solved, every, radii2, best.chosen)


def choose_best_read(found: list[Seeds]) -> Seeds:
    """The seeds whose loss on the noisy counts themselves is less, by more than its noise; else the first.

    What one reading of a histogram takes for noise the other may have kept. Noisy counts are right on average, so that
    what they say of two sets of centres is, too; its noise is known.
    """
    best, *others = found
    for other in others:
        gain, synopsis = best.distances - other.distances, best.synopsis
        if float(synopsis.noisy_counts @ gain) > _CLEAR_SDS * synopsis.sd * float(np.linalg.norm(gain)):
            best = other
    return best


def choose_by_rows(
    session: PrivateSession, found: list[Seeds], part: StagePart, shares: Paid, *, tail: bool = False
) -> tuple[Seeds, str]:
    """One of the solutions of all readings, the likelier the less the rows lose under it; and what was done, in words.

    Where there is a ``tail``, rows beyond the cap decide what is best, which their capped losses cannot tell: then rows
    choose among those only that are as good on the synopsis.

    **Guarantee.** The share of the part, of bounded range. A row counts up to a cap under each solution; the solutions
    and the cap are released.
    """
    candidates = [seeds for one in found for seeds in one.list_distinct(_MOST_SOLUTIONS // len(found))]
    if tail:
        best = min(seeds.radius2 for seeds in candidates)
        candidates = [seeds for seeds in candidates if seeds.radius2 <= _AS_GOOD_LOSS * best]
    widest = session.region.diameter**2
    cap = min(max(CAP * choose_best_read(found).radius2, _LEAST_CAP * widest), widest)
    centers = np.stack([seeds.centers for seeds in candidates])
    question = losses.CappedLosses(centers, caps=np.full(len(candidates), cap))
    chosen = session.ask(question, mechanisms.Exponential, shares[part], note="choice of seeds")
    words = f"Of {len(candidates)} solutions that differ the rows choose one: the seeds"
    return candidates[chosen.value], "The solutions are one: the seeds" if len(candidates) == 1 else words


# Rows in a cell on the border of two clusters may all be in either: their variance, of an even share of them.
_EITHER = 1 / 12
_TINY = 1e-9


def measure_extents(synopsis: SynopsisStep, centers: Array) -> tuple[Array, Array, Array]:
    """Each cell that was kept goes to the centre (k, d) nearest to its middle, along the view; unit coordinates.

    Rows of each cluster (k,), their mean squared distance to its centre along the view (k,), and the variance of the
    rows (k,): noise, and cells that may be another cluster's.
    """
    points, weights, _, middle = synopsis.cloud()
    inside = centers if synopsis.frame is None else centers @ synopsis.frame.T
    k, kept = len(centers), slice(0, len(synopsis.kept))
    # The two nearest of each point: with many clusters a table of all distances would be large.
    apart, nearest = map(np.asarray, cKDTree(inside).query(points + middle, k=[1, 2]))
    own, far = nearest[:, 0], apart[:, 0] ** 2
    border = np.zeros(len(points), dtype=bool)
    border[kept] = apart[kept, 1] - apart[kept, 0] < np.sqrt(12 * synopsis.spreads / points.shape[1])
    far[kept] += synopsis.spreads
    rows: Array = np.bincount(own, weights, k).astype(np.float64)
    # A cluster of which no cell was kept may hold rows, too.
    variance = synopsis.sd**2 * (1 + np.bincount(own, minlength=k)) + _EITHER * np.bincount(own, weights**2 * border, k)
    return rows, np.bincount(own, weights * far, k) / np.maximum(rows, _TINY), variance


def estimate_sizes(steps: Sequence[Step], region: Region) -> Sizes | None:
    """Sizes (k,) of the clusters of a finished run, by its synopsis and the counts of all rounds after the last split.

    Sources are weighed by the inverse of their variance. None where there is no round.

    **Guarantee.** Post-processing of released values.
    """
    values, variances, last = list[Array](), list[Array](), steps[-1] if steps else None
    for step in takewhile(lambda step: isinstance(step, PolishStep), reversed(steps)):
        if isinstance(step, PolishStep) and step.noisy_counts is not None and step.count_noise_sd is not None:
            values.append(step.noisy_counts)
            variances.append(np.full(len(step.centers), step.count_noise_sd**2))
    if not values or not isinstance(last, PolishStep):
        return None
    synopsis = next((step for step in steps if isinstance(step, SynopsisStep)), None)
    if synopsis is not None:
        rows, _, own = measure_extents(synopsis, last.centers)
        values.append(rows)
        variances.append(own)
    return combine_sizes(values, variances)


# How ``auto`` solves and clips.
# Chosen by hand on the tuning families of ``benchmarks/families.py``.

# Starts of k-means on a synopsis over few columns, and over a view.
_STARTS_FLAT = 20
_STARTS_VIEW = 10
_RADII = 2.0  # a cluster of squared radius v fills a ball of about so many times √v
# A clipping radius is widened up to here, where noise allows it, so that fewer residuals are shortened.
_NOISE_ALLOWED = 0.0005
_ROUNDS_PER_BUDGET = 6.0  # rounds that divide the budget of polishing, as that estimate has it
_LEAST_CLIPPING_RADIUS = 2.0**-20  # in unit coordinates
# Where there is a tail: so many radii of a cluster, as long as the noise of its mean adds no more than about such a
# part of a cluster's loss.
_TAIL_RADII = 8.0
_TAIL_NOISE = 0.003
_GOOD_LOSS = 1.1  # a run that loses so many times as much as k-means++ is good enough to be recommended


@dataclass(frozen=True)
class AutoParams(Params):
    """Parameters of auto."""

    starts: int | None = param_field(None, low=1, high=300)


def auto(session: PrivateSession, k: int, params: AutoParams, rng: np.random.Generator) -> Iterator[Step]:
    """Look, grid, denoise, seed, polish; the last step has the centres, unit coordinates. T rounds: O(T n k d + n d²).

    **Guarantee.** Add/remove or replace. ε-DP at δ = 0 (Laplace and K-norm noise, a choice); else (ε, δ)-DP by privacy
    loss distributions of Laplace and Gaussian noise and of a choice together, calibrated once before the first row is
    read. Bounds are public; n is public or bought. Which grid, box, axes and clipping radius are used follows from
    releases; what is spent on each does not. Whether columns are thin, and a grid lies over the wide ones, follows from
    bounds and k: then what finds the clusters is asked of these, of which a row has one image, and one middle of the
    others.

    Ledger, and why a row of norm at most R (two rows under replace) moves each answer no farther:

    - zoom, grid, fine grid, radii, counts: a partition, so one cell by 1; two cells under replace (l1 2, l2 √2). Fine
      and coarse cells around a box are one partition.
    - fine, finer and finest test: Σ max(count - t, 0) is 1-Lipschitz in the one count that moves (two under replace).
      Cell sizes and t follow from public and released numbers before the test is asked, and all tests of the plan are
      asked, whatever the first one says: the plan's list of questions is the same for all tables. What trees of details
      make of the grid, and which of two readings of it is solved, is post-processing.
    - middle: one vector of norm R, along thin columns alone of their norm; of rows that are near, one of norm 1, in two
      released medians, asked for whether there is a tail or not. Sums of residuals: one vector of norm η in one
      cluster, as clusters are disjoint; two such vectors, perhaps opposite ones in one cluster, under replace. Where
      there is a tail residuals are counted in the released η of their own cluster, and the vector has norm 1.
    - cells that follow a tail, or widen outwards from where most rows lie: a partition, as a row is compared with a
      table of borders that follow from releases. Of the same grid's share there is one grid, whichever it is.
    - how far distances are counted, in which bins, and which axes of a view have cells: bounds, n and releases say so.
    - choice: a row adds to the loss of each solution something in [0, c], c released; a choice by the exponential
      mechanism is of bounded range, and costs no more than Laplace noise of the same ε (``LossKind``).
    - second moments: |v vᵀ| = |v|² <= R₁² in Euclidean norm; |v vᵀ - w wᵀ|² = |v|⁴ + |w|⁴ - 2 (v·w)² <= 2 R₁⁴. The
      map A -> (A_ii, √2 A_ij) keeps norms, so that equal noise on its entries is noise on the matrix.

    Composition: the list of draws is fixed before the first answer, that of a bought n included; Gaussian draws that
    share a fixed μ² may divide it as releases suggest (``DrawList``, to which the session keeps the plan). K-norm noise
    is dominated by Laplace noise of the same multiplier (``dpviz.core.accounting``).
    """
    plan = _plan_session(session, k, session.n)
    shares = plan.shares(session)
    yield plan.make_step(session, shares)
    seen, tail, frame, beside = None, None, None, None
    if isinstance(plan.first, Zoom):
        narrow, frame = _keep_columns(session, find_wide_columns(session.region.half))
        zoomed = replace(zoom(narrow, plan.first, shares), frame=frame)
        rows = zoomed.rows
        if plan.first.beside is not None:
            beside = _find_middle_beside(session, rows, plan.first.beside, shares)
        yield replace(zoomed, beside=beside)
        readings = [replace(release_flat_synopsis(narrow, k, plan.cells, shares, zoomed), frame=frame)]
    else:
        seen = project_privately(session, plan.first, shares, plan.axes, rng)
        yield seen
        tail, rows = seen.tail, seen.rows
        readings = release_view_synopses(session, k, plan.cells, shares, seen)
    number = params.starts or (_STARTS_FLAT if seen is None else _STARTS_VIEW)
    found = [solve_seeds(session, k, reading, seen, beside, number, rng) for reading in readings]
    seeds = choose_best_read(found)
    yield seeds.synopsis
    yield seeds.solved
    title = f"Start {seeds.solved.chosen + 1} gives the seeds"
    if plan.choice is not None:
        seeds, title = choose_by_rows(session, found, plan.choice, shares, tail=tail is not None)
    yield CentersStep(title=title, centers=seeds.centers, released=True)
    if seen is not None and plan.swap_axes < session.dim:
        frame = seen.projection.basis[: plan.swap_axes]
    clipping_radius = _choose_clipping_radius(session, rows, k, plan, seeds.radius2, seen)
    own = None
    # Of many clusters each has so few rows that the noise of a wide radius is more than what it no longer cuts.
    if seen is not None and tail is not None and k <= FEW_CLUSTERS:
        own = _choose_own_radii(session, rows, plan, clipping_radius, seeds, seen)
    yield from run_residual_rounds(session, rows, seeds.centers, clipping_radius, frame, plan, shares, own)


def _plan_session(session: PrivateSession, k: int, n: int) -> AutoPlan:
    return make_plan(Setting.of(session, k, n), n_public=session.n_is_public, spherical=session.spherical)


def _keep_columns(session: PrivateSession, kept: Codes) -> tuple[PrivateSession, Array | None]:
    """The rows along the columns ``kept`` (p,), and the frame (p, d) of these; None where all are."""
    if len(kept) == session.dim:
        return session, None
    half, frame = session.region.half[kept], np.eye(session.dim)[kept]
    return session.project(frame, Region(half, min(session.region.radius, float(np.linalg.norm(half))))), frame


def _find_middle_beside(session: PrivateSession, rows: float, part: StagePart, shares: Paid) -> Array:
    """The noisy middle (d,) of the rows along thin columns, 0 along the wide ones; unit coordinates."""
    thin = np.setdiff1d(np.arange(session.dim), find_wide_columns(session.region.half))
    narrow, _ = _keep_columns(session, thin)
    asked = part.asks(queries.Sum(partitions.Everything()), shares)
    (total,) = narrow.ask_together(asked, note="middle of the rows along thin columns")
    middle = np.zeros(session.dim)
    middle[thin] = narrow.region.clip(total.value[0] / rows)
    return middle


def _choose_clipping_radius(
    session: PrivateSession, rows: float, k: int, plan: AutoPlan, radius2: float, seen: ProjectionStep | None
) -> float:
    """Two radii of a cluster; more where the noise stays small, because heavy tails are cut less."""
    widest = session.region.diameter
    clipping_radius = min(_RADII * sqrt(radius2), seen.projection.clipping_radius if seen is not None else widest)
    clipping_radius = max(clipping_radius, _LEAST_CLIPPING_RADIUS * session.region.radius)
    noise = _ROUNDS_PER_BUDGET * k**2 * session.dim * plan.unit_variance * clipping_radius**2
    noise /= rows**2 * max(radius2, 1e-300)
    return min(clipping_radius * max(1.0, sqrt(_NOISE_ALLOWED / noise)), widest)


def _choose_own_radii(
    session: PrivateSession, rows: float, plan: AutoPlan, clipping_radius: float, seeds: Seeds, seen: ProjectionStep
) -> Array:
    """Clipping radii (k,) where there is a tail: some radii of the cluster itself, but no more than noise allows."""
    assert seeds.synopsis.frame is not None
    own_rows, radii2, _ = measure_extents(seeds.synopsis, seeds.centers)
    radii2 = radii2 + seen.projection.measure_beside(seeds.synopsis.frame)
    allowed = _TAIL_NOISE * rows * seeds.radius2 * np.maximum(own_rows, 1.0) / (session.dim * plan.unit_variance)
    own = np.minimum(_TAIL_RADII * np.sqrt(radii2), np.maximum(np.sqrt(allowed), clipping_radius))
    return np.maximum(own, _LEAST_CLIPPING_RADIUS * session.region.radius)


def _count_operations(setting: Setting, params: AutoParams) -> float:
    n, dim = float(setting.n or 10_000), setting.dim
    # Swaps among the cells of a grid that is as fine as the rows allow; in more columns it is coarse.
    swaps = 400.0 * setting.k * min(n * setting.epsilon / 10, 30_000) if (setting.wide or dim) <= FLAT_DIM else 0.0
    return 50.0 * n * dim + 1e6 * setting.k + 5e6 + swaps


CARD = Card(
    **read_card("auto"),
    params=AutoParams,
    plan=auto,
    accounting=pure_or(Accounting.PLD),
    # Of a private number of rows only follows how Gaussian draws divide a fixed total.
    draws=lambda session, k, params: [
        part.draws() for part in _plan_session(session, k, session.n if session.n_is_public else 1).parts
    ],
    # Records of one row a person from which on half of all runs lose at most a tenth more than k-means++.
    smallest_n=lambda setting, params: find_fewest_rows(replace(setting, rows_per_person=1), _GOOD_LOSS),
    expect=lambda setting, params: expect_loss(setting),
    loss_diagnostic=diagnose_loss,
    sizes=estimate_sizes,
    operations=_count_operations,
)


# What losses are told apart from, between the lines of the table: a little below what k-means++ loses.
_BELOW_ONE = 0.99
# Of 1 to 1e12 on a log scale: to a thousandth, of which two digits are said.
_HALVINGS = 16


def find_regime(setting: Setting) -> str:
    """Which part of the table a setting belongs to."""
    plan = _plan_setting(setting)
    if plan.axes <= FLAT_DIM:
        return "flat"
    return ("few" if plan.cells.fine_test is None else "many") + (", pure" if setting.delta <= 0 else "")


def compute_mean_noise(setting: Setting) -> float:
    """Standard deviation of the noise of a mean, at a clipping radius of two radii of a cluster, in such radii."""
    return 2 * (setting.k / setting.rows) * sqrt(count_columns(setting) * _plan_setting(setting).unit_variance)


@cache
def load_stored_table() -> dict[str, Array]:
    """For each part of the table, a line each (m, 7): decimal logarithm of the noise of a mean; median and upper decile
    of compact clusters, of unknown ones and of tails, see ``Expectation``.

    The first line of each is the limit without noise.
    """
    lines: dict[str, list[list[float]]] = {}
    with (files("dpviz.algorithms.auto") / "expectation.csv").open(encoding="utf-8") as file:
        for part, *numbers in islice(csv.reader(file), 1, None):
            lines.setdefault(part, []).append([float(number) for number in numbers])
    return {part: np.array(those) for part, those in lines.items()}


def expect_loss(setting: Setting) -> Expectation:
    """The table at a setting, between its lines; beyond its ends the nearest line."""
    noise, *announced = load_stored_table()[find_regime(setting)].T
    place = log10(compute_mean_noise(setting))
    # Losses are near 1 or many times that: between lines their distance from about 1 grows in proportion.
    at = (exp(np.interp(place, noise, np.log(column - _BELOW_ONE))) + _BELOW_ONE for column in announced)
    median, decile, wide_median, wide, tails_median, tails = at
    return Expectation(median, decile, wide, tails, wide_median, tails_median)


def find_fewest_rows(setting: Setting, median: float) -> float:
    """Rows from which on the expected median is at most ``median``, by bisection; up to 10¹²."""
    low, high = 1.0, 1e12
    for _ in range(_HALVINGS):
        middle = sqrt(low * high)
        at = replace(setting, n=max(1, round(middle)))
        low, high = (low, middle) if expect_loss(at).median <= median else (middle, high)
    return high


def _plan_setting(setting: Setting) -> AutoPlan:
    return make_plan(replace(setting, n=setting.n or 10_000), n_public=setting.n is not None)
