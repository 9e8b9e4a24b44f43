"""The plan of ``auto``: which stages there are, and what each buys with which noise; made before a row is read.

How many cells a grid has follows from public and released numbers, before what it is laid over is known. Many cells
show where rows are, few are full enough to be told from noise. What trees of details make of a histogram hardly depends
on noise in single cells, so that they may be smaller than where cells are only smoothed.

Everything here follows from k, the number of columns, ε, δ, the relation and n. If n had to be bought it is a release:
then only Gaussian shares depend on it, and only in how they divide one fixed total, which every accounting allows.

Where nothing else is said, constants were chosen by hand on the tuning families of ``benchmarks/families.py``; those of
a grid over few columns on all of its families, but not on its judged tables, which ``benchmarks/utility.py`` runs
(``docs/findings.md``).

"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from math import ceil, exp, fsum, log, log2, sqrt
from typing import Literal, NamedTuple

import numpy as np
from scipy.optimize import brentq

from dpviz.algorithms.card import FLAT_DIM, THIN, Setting
from dpviz.algorithms.steps import Step
from dpviz.core import Accounting, Array, Budget, NoiseDraws, PrivateSession, compose_epsilon, mechanisms, queries

Noise = Literal["Laplace", "K-norm", "Gaussian", "exponential"]
# Of noise that is added.
_KINDS: dict[Noise, mechanisms.Kind[Array, mechanisms.Additive]]
_KINDS = {"Laplace": mechanisms.Laplace, "K-norm": mechanisms.KNorm, "Gaussian": mechanisms.Gaussian}


class StagePart(NamedTuple):
    """What a ``stage`` buys with some ``noise``; ``round`` is 0 before the rounds.

    ``weight`` is ε for pure noise and μ² for Gaussian noise, before all parts are calibrated together.
    """

    stage: str
    what: str
    noise: Noise
    weight: float
    round: int = 0

    @property
    def name(self) -> str:
        """A word for each part of a plan."""
        return ("swap_" if self.stage == "swap" else "") + self.what + (f"_{self.round}" if self.round else "")

    def asks(self, query: queries.Query, shares: Paid) -> mechanisms.Question:
        """The question that its share pays for."""
        return mechanisms.Question(query, _KINDS[self.noise], shares[self])

    def draws(self, share: Budget | None = None) -> NoiseDraws:
        """Its noise beside what one person changes: by its weight, or as ``share`` buys it."""
        gaussian = self.noise == "Gaussian"
        if share is None:
            return NoiseDraws(gaussian, 1 / (sqrt(self.weight) if gaussian else self.weight))
        # ρ is 1 / (2 · the multiplier squared), and ε of pure noise is 1 over it.
        of_rho = share.accounting is Accounting.PLD
        return NoiseDraws(gaussian, 1 / (sqrt(2 * share.amount) if of_rho else share.amount))


# What each part may spend.
Paid = Mapping[StagePart, Budget]


class Zoom(NamedTuple):
    """Over few columns: coarse cells of the whole domain, and the middle of the rows along thin columns beside them."""

    zoom: StagePart
    beside: StagePart | None = None


class ProjectionStage(NamedTuple):
    """Over many columns: the middle of the rows, the axes along which they spread (None: public coins), how far.

    ``near`` is the middle of the rows that are not far away, for a grid that follows a tail; None where none is made.
    """

    middle: StagePart
    near: StagePart | None
    axes: StagePart | None
    radii: StagePart


class Cells(NamedTuple):
    """One grid, after tests: in a view with many clusters whether fine cells would do, over few columns finer ones.

    Its noise is smoothed, or read through ``trees`` of details; in a view these come beside smoothing.
    """

    fine_test: StagePart | None
    finer_test: StagePart | None
    finest_test: StagePart | None
    grid: StagePart
    trees: bool


class Swap(NamedTuple):
    """Counts and spreads of all clusters before a round: some are split, as many centres dropped."""

    counts: StagePart
    spread: StagePart


class Round(NamedTuple):
    """A round of polishing: lengths of residuals where the clipping radius follows them, counts, sums."""

    radii: StagePart | None
    counts: StagePart
    sums: StagePart


# How many cells a grid has.
# Chosen by hand on the tuning families of ``benchmarks/families.py``.

_NOISE_PART = 0.3  # cells of a grid that is smoothed: so many that their noise is this part of a cluster
# Rows in a cell that is read through trees: so many scales of noise, where rows fill a domain of one column evenly.
_SCALES_PER_CELL = 3.0
# No fewer cells in all, or for each cluster.
_FEWEST_CELLS = 32
_CELLS_PER_CLUSTER = 4
# No more for each cluster and axis, over few columns and over a view.
_PER_AXIS_FLAT = 20.0
_PER_AXIS_VIEW = 12.0
# No more in all.
_MOST_FLAT = 60_000
_MOST_VIEW = 20_000
# Cells that widen outwards, over those of a grid of equal ones: they have to be few, so that rows far away share one.
_WIDENING_PART = 0.25
# But no fewer in all, or for each cluster.
_FEWEST_WIDENING = 100.0
_WIDENING_PER_CLUSTER = 20.0
_LEAST_SIDE = 1e-12  # of a cell, of the longest column; more rows than any table has would ask for it
_ENOUGH_SCALES = 25.0  # rows of a cluster have to be so many scales for finer grids to be tried


# Finer grids that are tried have so many times the cells; rows of a cluster have to be so many scales for any of that.
FINER = (4.0, 16.0)


def count_smoothed_cells(n: float, k: int, scale: float, axes: int, *, flat: bool) -> float:
    """Cells whose noise, in the mean of a cluster, is a part of the cluster: about (0.3 n / sd)² / k, within limits."""
    return _limit_cells((_NOISE_PART * n / (sqrt(2) * scale)) ** 2 / k, k, axes, flat=flat)


def count_tree_cells(n: float, k: int, scale: float, half: Array) -> float:
    """Cells whose part of the spread over a box of ``half`` widths (d,) is their noise over the rows, within limits.

    In a cube these are (n / (3 scales))^(2d / (2 + d)), as a density in d columns is best read from a histogram. Along
    a thin column rows spread so little that there are few cells, or one.
    """
    widths, rows = half / half.max(), n / (_SCALES_PER_CELL * scale)

    def compare(log_side: float) -> float:
        side = exp(log_side)
        within = float((np.minimum(side, widths) ** 2).sum() / (widths**2).sum())
        return within - float(np.maximum(1.0, widths / side).prod()) / rows**2

    side = exp(brentq(compare, log(_LEAST_SIDE), 0.0, xtol=1e-12)) if rows > 1 else 1.0
    return _limit_cells(float(np.maximum(1.0, widths / side).prod()), k, len(half), flat=True)


def count_widening_cells(n: float, k: int, scale: float, dim: int) -> float:
    """Cells of a grid that widens outwards: a part of those of equal ones, within limits."""
    few = max(_FEWEST_WIDENING, _WIDENING_PER_CLUSTER * k)
    equal = count_tree_cells(n, k, scale, np.ones(dim))
    return max(_WIDENING_PART * equal, min(few, _count_most(k, dim, flat=True)))


def list_finer_cells(n: float, k: int, scale: float, half: Array) -> list[float]:
    """The numbers of cells of finer grids, within limits: those below them are worth trying."""
    cells = count_tree_cells(n, k, scale, half)
    return [min(times * cells, _count_most(k, len(half), flat=True)) for times in FINER]


def _limit_cells(wanted: float, k: int, axes: int, *, flat: bool) -> float:
    return max(1.0, min(max(wanted, _CELLS_PER_CLUSTER * k, _FEWEST_CELLS), _count_most(k, axes, flat=flat)))


def _count_most(k: int, axes: int, *, flat: bool) -> float:
    per_axis, most = (_PER_AXIS_FLAT, _MOST_FLAT) if flat else (_PER_AXIS_VIEW, _MOST_VIEW)
    return float(min(most, k * per_axis ** min(axes, 40)))


# Up to so many clusters a coarse grid on a few axes tells them apart; those are so many.
FEW_CLUSTERS, _FEW_AXES = 12, 5
# Beyond so many columns a matrix of second moments is too large to be worth its noise.
MOST_FOR_AXES = 1000
# By losses that count a row up to so many squared radii of a cluster seeds are chosen.
CAP = 12.0

# Parts of the budget for all that finds the clusters, chosen by hand on the tuning families of
# `benchmarks/families.py`: for a grid over few columns between these, the less the more rows there are to polish with.
_FIND_GRID_MANY_ROWS, _FIND_GRID_FEW_ROWS = 0.70, 0.95
_FIND_HALFWAY = 500.0  # rows of a cluster, over ε, at which that part is halfway between the two
# The part for the grid where n is not known, over one column, over more than three (chosen on real tables, too), and
# over a view.
_FIND_GRID_UNKNOWN_N, _FIND_GRID_ONE_COLUMN, _FIND_GRID_BOX, _FIND_GRID_VIEW = 0.85, 0.75, 0.4, 0.3
# Of that part, for zooming in; up to the last where that makes all rows so many scales of its noise.
_FIND_ZOOM, _FIND_ZOOM_SCALES, _FIND_ZOOM_MOST = 0.04, 17.0, 0.065
# Of ε, for the middle of the rows along thin columns. Chosen on real tables (docs/findings.md).
_FIND_BESIDE = 0.05
# Of that part, for each test whether finer cells would do, and in a view for the one whether fine cells would.
_FIND_FINER_TEST, _FIND_FINE_TEST = 0.02, 0.02
_FIND_LOOK, _FIND_MIDDLE = 0.2, 0.15  # part of μ² for the look at many columns; of it, for the middle of the rows
_FIND_NEAR, _FIND_PURE_NEAR = 0.003, 0.01  # of μ², or without δ of ε, for the middle of the rows that are not far away
# Without δ, parts of ε for the middle, the radii, the grid; the rest is for axes and polishing.
_FIND_PURE_MIDDLE, _FIND_PURE_RADII, _FIND_PURE_GRID = 0.08, 0.02, 0.4
_FIND_PURE_AXES, _FIND_PURE_MIDDLE_BESIDE = 0.07, 0.04  # for axes, where bought, and for the middle beside them
# Axes are bought where a view has not room for all, and noise alone shows less than this part of what each would have
# if rows spread alike.
_FIND_AXES_CLEAR = 0.12
# Distances are bought at the ε for which a hundredth of the rows is three scales of their noise: so many rows over n,
# within limits; and where n is not known.
_FIND_RADII_ROWS, _FIND_LEAST_RADII, _FIND_MOST_RADII, _FIND_RADII_UNKNOWN_N = 300.0, 0.03, 0.15, 0.06
_FIND_CHOICE, _FIND_PURE_CHOICE = 0.05, 0.1  # parts of ε for the choice of seeds, with δ and without
_FIND_CHOICE_NOISE = 0.16  # what the noise of that choice may be, of the loss of one cluster's rows

# Parts of the budget of polishing, and how many rounds it has, chosen on the same families: at most so many, and as
# many as keep the noise of a mean, over the radius of a cluster, in proportion to this.
_POLISH_MOST_ROUNDS, _POLISH_ROUND_NOISE = 12, 0.02
# With δ and many clusters a centre goes so much farther than to the mean, but in the last round. Up to so many columns:
# in more of them clusters hardly overlap, and means are where they end after two rounds.
_POLISH_STRIDE_MANY, _POLISH_MOST_FOR_STRIDE = 1.3, 20
_POLISH_NOISY = 0.001  # from this noise of a mean on the clipping radius follows the residuals
# Parts of a round for counts, with δ and without, and for lengths of residuals.
_POLISH_COUNTS, _POLISH_PURE_COUNTS, _POLISH_ROUND_RADII = 0.12, 0.15, 0.06
# Parts of polishing for splits, over few columns and over a view, and of a split for counts.
_POLISH_SWAP_FLAT, _POLISH_SWAP_VIEW, _POLISH_SWAP_COUNTS = 0.15, 0.2, 0.3
# A split needs its noise below this part of the rows of a cluster; the last for few clusters without a δ, where it
# takes ε from few rounds and hardly any cluster is missed.
_POLISH_GATE_FLAT, _POLISH_GATE_VIEW, _POLISH_GATE_PURE_FEW = 0.2, 0.5, 0.15
_POLISH_MOST_SWAP_AXES = 64  # axes along which spreads are measured, at most


@dataclass(frozen=True)
class AutoPlan:
    """What ``auto`` will do; ``choice`` is which of several solutions on the histogram is polished, by rows' losses."""

    first: Zoom | ProjectionStage
    cells: Cells
    choice: StagePart | None
    polishing: tuple[Swap | Round, ...]
    axes: int
    swap_axes: int
    stride: float
    unit_variance: float

    @property
    def parts(self) -> list[StagePart]:
        """What all stages buy, in the order of spending."""
        every = (*self.first, *self.cells, self.choice, *(part for stage in self.polishing for part in stage))
        return [part for part in every if isinstance(part, StagePart)]

    @property
    def rounds(self) -> int:
        """Rounds of polishing."""
        return sum(isinstance(stage, Round) for stage in self.polishing)

    @property
    def adaptive(self) -> bool:
        """Whether the clipping radius follows the residuals from round to round."""
        return any(isinstance(stage, Round) and stage.radii is not None for stage in self.polishing)

    def make_step(self, session: PrivateSession, shares: Paid) -> PlanStep:
        """What the plan will cost, after what was bought already: the number of rows, if it is not public."""
        bought, planned = session.ledger.draws, self.parts
        rows = tuple(StagePart(ROWS, ROWS, "Gaussian" if draw.gaussian else "Laplace", 0.0) for draw in bought)
        splits = sum(isinstance(stage, Swap) for stage in self.polishing)
        rounds = "1 round" if self.rounds == 1 else f"{self.rounds} rounds"
        chances = {0: "no chance", 1: "one chance"}.get(splits, f"{splits} chances")
        read = "before a row is read" if session.n_is_public else "before any other row is read than to count them"
        return PlanStep(
            title=f"The plan, {read}: {rounds} of polishing, {chances} to split clusters",
            parts=(*rows, *planned),
            draws=(*bought, *(part.draws(shares[part]) for part in planned)),
            delta=session.ledger.delta,
        )

    def shares(self, session: PrivateSession) -> dict[StagePart, Budget]:
        """The budget of ``session``, less what was spent already, divided among all parts.

        **Guarantee.** Together the shares are worth the whole budget of the session, whatever is asked with them.
        """
        if session.accounting is Accounting.PLD:
            bought = session.calibrate(**{part.name: part.draws() for part in self.parts})
        else:
            bought = session.budget.split(**{part.name: part.weight for part in self.parts})
        return {part: bought[part.name] for part in self.parts}


def count_columns(setting: Setting) -> int:
    """How many columns clusters are found along: those a grid can lie over, but of many clusters no more than three."""
    over = setting.wide or setting.dim
    return setting.dim if over > FLAT_DIM and setting.k > FEW_CLUSTERS else over


def make_plan(setting: Setting, *, n_public: bool, spherical: bool = True) -> AutoPlan:
    """The plan for a setting whose number of rows is public, or was bought; ``spherical`` if there is K-norm noise."""
    k, dim, n, over = setting.k, setting.dim, setting.rows, count_columns(setting)
    flat = over <= FLAT_DIM or (over == setting.wide and k <= FEW_CLUSTERS)
    many = not flat and k > FEW_CLUSTERS
    # What one person changes: noise grows in proportion.
    moved = setting.rows_per_person * setting.relation.rows
    finding = _plan_flat_finding if flat else _plan_view_finding if setting.delta > 0 else _plan_pure_view_finding
    first, cells, epsilon, mu2 = finding(replace(setting, dim=over), moved, n_public=n_public, spherical=spherical)
    # Where no row has a say in the axes, solutions are known in some directions only, and rows cannot tell them apart.
    by_rows = isinstance(first, ProjectionStage) and first.axes is not None and not many
    choice = _plan_choice(setting, moved, n_public=n_public) if by_rows else None
    if choice is not None:
        # What a choice takes of μ² is a guess; all parts are calibrated together.
        epsilon -= choice.weight
        mu2 *= 1 - 2 * _FIND_CHOICE

    # Rounds have what is left of ε without the middle along thin columns, and this the difference.
    beside, whole = flat * _compute_share_beside(setting) * setting.epsilon, mu2
    if beside:
        epsilon -= beside
        mu2 = _compute_mu2(setting, epsilon)
    # In the squared scale of one number with noise: K-norm noise of a vector, or Laplace noise on its l1 norm.
    of_vector = dim + 1 if spherical else 2 * dim
    gaussian, rounds, variance = _choose_kind_of_rounds(
        k, over, n, of_vector / epsilon**2, mu2, moved, choose=flat and n_public
    )
    if over > FLAT_DIM:
        # Gaussian noise hardly grows with more rounds; that of pure noise grows with their number. The square root is
        # measured: 1.003 times the loss of k-means++, where as many rounds as with Gaussian noise came to 6.4
        # (docs/findings.md).
        rounds = _POLISH_MOST_ROUNDS if gaussian else rounds if flat else int(sqrt(rounds))
    swap_axes, swap = min(over, _POLISH_MOST_SWAP_AXES), _POLISH_SWAP_FLAT if flat else _POLISH_SWAP_VIEW
    of_spread = _compute_spread_variance(swap_axes, spherical=spherical)
    unit_sd = moved * (1 / sqrt(swap * mu2) if gaussian else sqrt(of_spread) / (swap * epsilon))
    gate = _POLISH_GATE_FLAT if flat else _POLISH_GATE_VIEW if gaussian or many else _POLISH_GATE_PURE_FEW
    clear = unit_sd * sqrt(2 * swap_axes) <= gate * n / k
    vector: Noise = "Gaussian" if gaussian else "K-norm" if spherical else "Laplace"
    if isinstance(first, Zoom) and beside:
        first = first._replace(beside=StagePart("zoom", "beside", vector, whole - mu2 if gaussian else beside))
    # The rounds before which clusters may be split. Two halve what each buys, which without a δ is twice the noise.
    splits = [rounds // 2 + 1] if flat else [rounds // 2 + 1, 3 * rounds // 4 + 1] if gaussian else [rounds]
    splits = splits if rounds >= 2 and k >= 2 and clear else []
    adaptive = _compute_noise_to_signal(k, over, n, variance) >= _POLISH_NOISY
    left = mu2 if gaussian else epsilon
    polishing = _plan_polishing(left, rounds, splits, swap=swap, vector=vector, adaptive=adaptive)
    axes_of_view = over if flat else min(dim, max(_FEW_AXES, ceil(log2(k)) + 2) if many else _FEW_AXES)
    stride = _POLISH_STRIDE_MANY if many and gaussian and dim <= _POLISH_MOST_FOR_STRIDE else 1.0
    return AutoPlan(first, cells, choice, tuple(polishing), axes_of_view, swap_axes, stride, variance)


# How clusters are found, and what ε and μ² are left.
Finding = tuple[Zoom | ProjectionStage, Cells, float, float]


def _plan_flat_finding(setting: Setting, moved: float, *, n_public: bool, spherical: bool) -> Finding:
    """Over few columns, with δ and without: a part of ε for all that finds the clusters, and of it one for zooming in.

    That is a little more where it shows where most rows lie.
    """
    rows = setting.rows * setting.epsilon / (_FIND_HALFWAY * setting.k * moved)
    share = _FIND_GRID_FEW_ROWS - (_FIND_GRID_FEW_ROWS - _FIND_GRID_MANY_ROWS) * rows / (1 + rows)
    share = _FIND_GRID_ONE_COLUMN if setting.dim == 1 else share if n_public else _FIND_GRID_UNKNOWN_N
    share = _FIND_GRID_BOX if setting.dim > FLAT_DIM else share
    found = setting.epsilon * (share - _compute_share_beside(setting))
    epsilon, clear = setting.epsilon - found, _FIND_ZOOM_SCALES * moved / (found * setting.rows)
    zoom = clear if setting.dim > 1 and n_public and _FIND_ZOOM < clear <= _FIND_ZOOM_MOST else _FIND_ZOOM
    cells = _plan_flat_cells(setting, found, zoom, moved, n_public=n_public)
    return Zoom(StagePart("zoom", "zoom", "Laplace", zoom * found)), cells, epsilon, _compute_mu2(setting, epsilon)


def _compute_share_beside(setting: Setting) -> float:
    """The part of ε for the middle of the rows along thin columns, where these are wide enough for it to matter."""
    return _FIND_BESIDE if setting.beside > THIN else 0.0


def _plan_view_finding(setting: Setting, moved: float, *, n_public: bool, spherical: bool) -> Finding:
    """Over a view of the columns, with δ."""
    found = setting.epsilon * _FIND_GRID_VIEW
    mu2 = _compute_mu2(setting, setting.epsilon - found)
    rows_share = _FIND_RADII_ROWS * moved / setting.rows if n_public else _FIND_RADII_UNKNOWN_N * found
    radii = float(np.clip(rows_share, _FIND_LEAST_RADII * found, _FIND_MOST_RADII * found))
    middle = StagePart("look", "middle", "Gaussian", mu2 * _FIND_LOOK * _FIND_MIDDLE)
    near, axes, beside = None, None, 0.0
    if setting.dim <= MOST_FOR_AXES:
        axes = StagePart("look", "axes", "Gaussian", mu2 * _FIND_LOOK * (1 - _FIND_MIDDLE))
        near = StagePart("look", "near", "Gaussian", mu2 * _FIND_NEAR)
        beside = _FIND_LOOK * (1 - _FIND_MIDDLE) + _FIND_NEAR
    mu2 *= 1 - _FIND_LOOK * _FIND_MIDDLE - beside
    first = ProjectionStage(middle, near, axes, StagePart("look", "radii", "Laplace", radii))
    return first, _plan_view_cells(found - radii, setting.k > FEW_CLUSTERS), setting.epsilon - found, mu2


def _plan_pure_view_finding(setting: Setting, moved: float, *, n_public: bool, spherical: bool) -> Finding:
    """Over a view of the columns, without δ."""
    noise: Noise = "K-norm" if spherical else "Laplace"
    epsilon, dim = setting.epsilon, setting.dim
    edge = moved * sqrt(_compute_spread_variance(dim, spherical=spherical) * 2 * dim)
    edge /= _FIND_PURE_AXES * epsilon * setting.rows
    bought = _FIND_PURE_AXES * epsilon * (dim > _FEW_AXES and edge <= _FIND_AXES_CLEAR / dim)
    middle = (_FIND_PURE_MIDDLE_BESIDE if bought else _FIND_PURE_MIDDLE) * epsilon
    radii, grid = _FIND_PURE_RADII * epsilon, _FIND_PURE_GRID * epsilon
    near = _FIND_PURE_NEAR * epsilon * (bought > 0 and setting.k <= FEW_CLUSTERS)
    first = ProjectionStage(
        StagePart("look", "middle", noise, middle),
        StagePart("look", "near", noise, near) if near else None,
        StagePart("look", "axes", noise, bought) if bought else None,
        StagePart("look", "radii", "Laplace", radii),
    )
    left = epsilon - middle - radii - grid - bought
    return first, _plan_view_cells(grid - near, setting.k > FEW_CLUSTERS), left, 0.0


def _compute_mu2(setting: Setting, epsilon: float) -> float:
    return Accounting.GDP.compute_capacity(epsilon=epsilon, delta=setting.delta) if setting.delta > 0 else 0.0


def _plan_flat_cells(setting: Setting, epsilon: float, zoom: float, moved: float, *, n_public: bool) -> Cells:
    """The grid over few columns, and tests whether finer ones would do, as far as these may be of any use.

    The part ``zoom`` of ``epsilon`` is spent already.

    What is bought does not follow from a number of rows that is a release: both tests are, then. Over one column they
    and trees of details lose more than they bring (``docs/findings.md``).
    """
    if setting.dim == 1:
        return Cells(None, None, None, StagePart("grid", "grid", "Laplace", (1 - zoom) * epsilon), trees=False)
    n, k, tested = setting.rows, setting.k, (1 - zoom - len(FINER) * _FIND_FINER_TEST) * epsilon
    trees = n / (k * (moved / tested)) >= _ENOUGH_SCALES  # rows in a cluster that trees of details tell from noise
    tests = len(FINER)
    if n_public:
        tried = list_finer_cells(n, k, moved / tested, np.ones(setting.dim)) if trees else []
        tests = sum(cells < _count_most(k, setting.dim, flat=True) for cells in tried)
    finer = [StagePart("grid", what, "Laplace", _FIND_FINER_TEST * epsilon) for what in ("finer_test", "finest_test")]
    grid = StagePart("grid", "grid", "Laplace", (1 - zoom - tests * _FIND_FINER_TEST) * epsilon)
    return Cells(None, finer[0] if tests > 0 else None, finer[1] if tests > 1 else None, grid, trees)


def _plan_view_cells(epsilon: float, many: bool) -> Cells:
    """The grid over axes of a view, and the test whether fine cells would do."""
    test = _FIND_FINE_TEST * epsilon if many else 0.0
    grid = StagePart("grid", "grid", "Laplace", epsilon - test)
    return Cells(StagePart("grid", "fine_test", "Laplace", test) if many else None, None, None, grid, trees=not many)


def _plan_choice(setting: Setting, moved: float, *, n_public: bool) -> StagePart | None:
    """Asked for where its noise is a part of the loss of one cluster of n/k rows, whatever the clusters are.

    With a δ not where the number of rows is a release: what is no Gaussian noise may not follow from one.
    """
    share = (_FIND_CHOICE if setting.delta > 0 else _FIND_PURE_CHOICE) * setting.epsilon
    small = moved * CAP * setting.k <= _FIND_CHOICE_NOISE * share * setting.rows
    fixed = n_public or setting.delta <= 0
    return StagePart("choice", "losses", "exponential", share) if small and fixed else None


def _choose_kind_of_rounds(
    k: int, dim: int, n: float, pure: float, mu2: float, moved: float, *, choose: bool
) -> tuple[bool, int, float]:
    """Gaussian or ``pure`` noise, how many rounds it feeds, and the variance of a query with the whole budget."""
    normal = 1 / mu2 if mu2 else np.inf
    variance = moved**2 * (min(pure, normal) if choose or not mu2 else normal)
    rounds = int(np.clip(_POLISH_ROUND_NOISE / _compute_noise_to_signal(k, dim, n, variance), 1, _POLISH_MOST_ROUNDS))
    return bool(mu2) and not (choose and pure * rounds < normal), rounds, variance


def _compute_noise_to_signal(k: int, dim: int, n: float, variance: float) -> float:
    """Of a mean at a clipping radius of two radii, over the squared radius."""
    return 4 * (k / n) ** 2 * dim * variance


def _compute_spread_variance(axes: int, *, spherical: bool) -> float:
    """Variance of pure noise of ε = 1 on an entry of second moments along ``axes`` of rows of norm at most 1."""
    return axes * (axes + 1) / 2 + 1 if spherical else 2 * (1 + (axes - 1) / sqrt(2)) ** 2


def _plan_polishing(
    whole: float, rounds: int, before: list[int], *, swap: float, vector: Noise, adaptive: bool
) -> Iterator[Swap | Round]:
    """Later rounds get more: round t in proportion to t²."""
    weights = np.arange(1, rounds + 1) ** 2.0
    weights *= whole * (1 - swap * bool(before)) / weights.sum()
    of_counts = _POLISH_COUNTS if vector == "Gaussian" else _POLISH_PURE_COUNTS
    number: Noise = "Gaussian" if vector == "Gaussian" else "Laplace"
    for t, weight in enumerate(weights.tolist(), start=1):
        if t in before:
            of_swap = whole * swap / len(before)
            yield Swap(
                StagePart("swap", "counts", number, of_swap * _POLISH_SWAP_COUNTS, t),
                StagePart("swap", "spread", vector, of_swap * (1 - _POLISH_SWAP_COUNTS), t),
            )
        radii = _POLISH_ROUND_RADII if adaptive and t < rounds else 0.0
        yield Round(
            StagePart("round", "radii", number, weight * radii, t) if radii else None,
            StagePart("round", "counts", number, weight * (1 - radii) * of_counts, t),
            StagePart("round", "sums", vector, weight * (1 - radii) * (1 - of_counts), t),
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class PlanStep(Step):
    """How the budget is divided among ``parts``, in the order of spending, and the ``draws`` of noise that each buys.

    The size of noise is told beside what one person changes. The first part may be the number of rows, of a stage of
    its own: without it there is no plan.
    """

    parts: tuple[StagePart, ...]
    draws: tuple[NoiseDraws, ...]
    delta: float

    @property
    def public(self) -> bool:
        """Whether no row has been read for it."""
        return self.parts[0].stage != ROWS

    @property
    def names(self) -> tuple[str, ...]:
        """A word for each part."""
        return tuple(part.name for part in self.parts)

    @property
    def noises(self) -> tuple[str, ...]:
        """The kind of noise on each part."""
        return tuple(part.noise for part in self.parts)

    @cached_property
    def fractions(self) -> Array:
        """What each part adds to the ε that is spent, in the order of spending; together 1.

        Without δ the ε of the parts add up. With it the ε after each question is what the noise so far composes to, as
        the ledger counts it; parts of one round are asked together and divide what it adds by the ε, or the ρ, of each.
        """
        added, before = np.zeros(len(self.parts)), 0.0
        epsilons = [draw.times / draw.multiplier for draw in self.draws]
        stages = [(part.stage, part.round, "" if part.round else part.what) for part in self.parts]
        for _, asked_together in groupby(range(len(stages)), key=stages.__getitem__):
            places = list(asked_together)
            alone = np.array([self.draws[i].rho if self.draws[i].gaussian else epsilons[i] for i in places])
            end = places[-1] + 1
            pure = self.delta == 0
            whole = fsum(epsilons[:end]) if pure else compose_epsilon(self.draws[:end], self.delta, whole=self.draws)
            after = max(before, whole)
            added[places] = (after - before) * alone / alone.sum()
            before = after
        return added / before


# The part that is bought before there can be a plan, if the number of rows is not public.
ROWS = "rows"
