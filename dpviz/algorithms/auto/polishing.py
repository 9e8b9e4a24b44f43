"""Polishing: rounds of Lloyd on shortened residuals, so that noise is in proportion to clusters, not to the domain.

Between rounds a centre may change its place, by noisy counts and spreads of all clusters. Where nothing else is said,
constants were chosen by hand on the tuning families of ``benchmarks/families.py``.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt

import numpy as np

from dpviz.algorithms.auto.auto_plan import AutoPlan, Paid, Round, Swap
from dpviz.algorithms.steps import CentersStep
from dpviz.algorithms.tools.lloyd_round import Noisy
from dpviz.core import Array, Codes, Flags, PrivateSession, partitions, queries

# How rounds shorten and splits decide.
# Chosen by hand on the tuning families of ``benchmarks/families.py``.

# A count below so many sds of its noise is raised to it; below so many, the centre stays; and a count is at least
# this.
_RAISED_SDS = 3.0
_STAY_SDS = 2.0
_LEAST_COUNT = 2.0
# The clipping radius follows this quantile of the residuals, and a few bins more, where bins that are full, which takes
# so many scales, hold this part of all rows: below it bins that noise filled would decide (docs/findings.md).
_QUANTILE = 0.9
_MORE_BINS = 1.5
_FULL_BIN = 1.5
_CLEAR_PART = 0.8
_WIDER_SPREAD = 2.0  # the spread of a cluster that may be two is measured so many times farther out
# What splitting a Gaussian across its widest axis removes of the spread along it: 2/π. That a split is taken where it
# saves more than the other centre's loss costs, without a margin, is measured (docs/findings.md).
_SPLIT_SAVES = 0.64
_RAISED_FOR_SPLIT = 0.5  # for a split, counts are raised to this part of their noise


@dataclass(frozen=True, eq=False, kw_only=True)
class PolishStep(CentersStep):
    """Centres after a round on residuals, which were shortened to ``clipping_radius`` first, unit coordinates.

    With ``clipping_radii`` (k,) each cluster has one of its own; ``clipping_radius`` is the longest of them.
    """

    clipping_radius: float
    clipping_radii: Array | None = None

    @property
    def stays(self) -> Flags:
        """Which centres stayed because the count of their rows may be noise, (k,)."""
        assert self.noisy_counts is not None and self.count_noise_sd is not None
        return _find_lost(self.noisy_counts, self.count_noise_sd)

    @property
    def kept_part(self) -> Array:
        """The part of its mean residual that each centre of a last round went along with, (k,): all noise is 0."""
        assert self.previous is not None and self.center_noise_sd is not None
        moved = np.linalg.norm(self.centers - self.previous, axis=1) / np.maximum(self.center_noise_sd, 1e-12)
        return np.asarray(moved / ((moved + np.sqrt(moved**2 + 4 * self.centers.shape[1])) / 2))


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


def run_residual_rounds(
    session: PrivateSession,
    rows: float,
    start: Array,
    clipping_radius: float,
    frame: Array | None,
    plan: AutoPlan,
    shares: Paid,
    clipping_radii: Array | None = None,
) -> Iterator[CentersStep]:
    """The plan's noisy steps from released ``start`` (k, d) to the means of the clusters, unit coordinates.

    With ``clipping_radii`` (k,), released, each cluster keeps its own: only spreads are measured within the one
    ``clipping_radius``. In ``frame`` (p, d) rows look for their nearest centre; None: all columns.

    **Guarantee.** The shares of all rounds and splits. Reaches are released, or follow from releases, before they are
    used.
    """
    centers = start
    for stage in plan.polishing:
        if isinstance(stage, Swap):
            within = (_WIDER_SPREAD if plan.adaptive else 1.0) * clipping_radius
            split = split_and_drop(session, centers, within, frame, stage, shares)
            yield split
            centers = split.centers
            if clipping_radii is not None:
                clipping_radii = clipping_radii.copy()
                clipping_radii[split.dropped] = clipping_radii[split.split]
            continue
        step, lengths = _run_round(session, centers, clipping_radius, clipping_radii, stage, shares, plan)
        yield step
        centers = step.centers
        if lengths is not None:
            clipping_radius *= _shrink(lengths, rows)


def _run_round(
    session: PrivateSession,
    centers: Array,
    clipping_radius: float,
    clipping_radii: Array | None,
    stage: Round,
    shares: Paid,
    plan: AutoPlan,
) -> tuple[PolishStep, Noisy | None]:
    """One round, and the noisy lengths of the residuals if the clipping radius adapts.

    Rows are read once, for counts, sums of residuals shortened to ``clipping_radius``, or to the one of
    ``clipping_radii`` that is their cluster's, and perhaps a histogram of their lengths. A residual has length at most
    ``clipping_radius`` in one cluster. A mean whose noise is as long as itself hardly moves; with many clusters all
    others go beyond it, but in the last round, as there a mean of rows is slow to get where it ends.
    """
    cells, ahead = partitions.Voronoi(centers), plan.rounds - stage.sums.round
    how_many = stage.counts.asks(queries.Count(cells), shares)
    asked: queries.Query = queries.ResidualSum(cells, centers, clipping_radius)
    longest, scaled = np.full(len(centers), clipping_radius), np.ones(len(centers))
    if clipping_radii is not None:
        asked = queries.ScaledResidualSum(cells, centers, clipping_radii)
        longest = scaled = clipping_radii
    radii = queries.Radii(cells, centers, clipping_radius)
    how_far = () if stage.radii is None else (stage.radii.asks(radii, shares),)
    together = (how_many, stage.sums.asks(asked, shares), *how_far)
    counts, sums, *lengths = session.ask_together(*together, note=f"round {stage.sums.round}")
    total, sd = sums.value * scaled[:, None], sums.sd * scaled
    shrunk = np.maximum(0.0, 1 - session.dim * sd**2 / np.maximum((total**2).sum(axis=1), 1e-300))
    size = np.maximum(counts.value, max(_RAISED_SDS * counts.sd, _LEAST_COUNT))
    move = (plan.stride if ahead else 1.0) * shrunk[:, None] * total / size[:, None]
    norm = np.linalg.norm(move, axis=1, keepdims=True)
    move *= np.minimum(1.0, longest[:, None] / np.maximum(norm, 1e-300))
    move[_find_lost(counts.value, counts.sd)] = 0.0
    # In hundredths of the width of the domain, in two digits.
    least, largest = (float(f"{50 * radius:.2g}") for radius in (longest.min(), longest.max()))
    widths = f"{largest:g}" if least == largest else f"{least:g} to {largest:g}"
    step = PolishStep(
        title=f"Round {stage.sums.round} of {plan.rounds}: a row pulls from up to {widths} % of the width",
        ahead=ahead,
        centers=session.region.clip(centers + move),
        noisy_counts=counts.value,
        previous=centers,
        center_noise_sd=sd / size,
        count_noise_sd=counts.sd,
        clipping_radius=float(longest.max()),
        clipping_radii=clipping_radii,
    )
    # Lengths in all clusters together say nothing of clipping radii that differ.
    return step, lengths[0] if lengths and clipping_radii is None else None


def _find_lost(counts: Array, sd: float) -> Flags:
    """Of which centres the noisy ``counts`` (k,) may be noise alone."""
    lost: Flags = counts <= _STAY_SDS * sd
    return lost


def _shrink(lengths: Noisy, n: float) -> float:
    """The part of the clipping radius within which most residuals of ``n`` rows lie; 1 where noise hides it."""
    filled = np.where(lengths.value > _FULL_BIN * lengths.sd, lengths.value, 0.0).cumsum()
    if filled[-1] < _CLEAR_PART * n:
        return 1.0
    return min(1.0, (int(np.searchsorted(filled, _QUANTILE * filled[-1])) + _MORE_BINS) / len(filled))


def split_and_drop(
    session: PrivateSession, centers: Array, clipping_radius: float, frame: Array | None, stage: Swap, shares: Paid
) -> SplitStep:
    """Noisy counts and spreads of all clusters; where a cluster is two, one of its halves takes the cheapest centre.

    **Guarantee.** The shares of the stage. ``centers`` (k, d) and ``clipping_radius`` are released. The spread of a row
    has Euclidean length at most ``clipping_radius``² in one cluster; what is split and dropped follows from released
    numbers.
    """
    cells = partitions.Voronoi(centers)
    spread = queries.Spread(cells, centers, clipping_radius, frame)
    counts, spreads = session.ask_together(
        stage.counts.asks(queries.Count(cells), shares),
        stage.spread.asks(spread, shares),
        note=f"before round {stage.counts.round}: counts and spreads",
    )
    values, vectors = np.linalg.eigh(queries.unpack_symmetric(spreads.value, spread.axes))
    widest = vectors[:, :, -1] if frame is None else vectors[:, :, -1] @ frame
    size = np.maximum(counts.value, _RAISED_FOR_SPLIT * counts.sd)
    gain = _SPLIT_SAVES * np.maximum(0.0, values[:, -1] - spreads.sd * sqrt(2 * spread.axes))
    half_axis = np.sqrt(np.maximum(values[:, -1], 0.0) / size)[:, None] * widest
    moved, exchanges = _exchange_centers(centers, size, gain, half_axis)
    columns = np.array(exchanges, dtype=np.float64).reshape(-1, 4).T
    words = f"{len(exchanges)} split, as many centres dropped" if exchanges else "nothing is split"
    return SplitStep(
        title=f"Spreads before round {stage.counts.round}: {words}",
        centers=session.region.clip(moved),
        noisy_counts=counts.value,
        previous=centers,
        count_noise_sd=counts.sd,
        split=columns[0].astype(np.int64),
        dropped=columns[1].astype(np.int64),
        gains=columns[2],
        costs=columns[3],
        gain_of_each=gain,
        cost_of_each=_plan_dropping(_measure_apart(centers, centers), size)[1],
    )


def _measure_apart(some: Array, centers: Array) -> Array:
    """Squared distances of ``some`` (m, d) to all ``centers`` (k, d); (m, k)."""
    return np.asarray(((some[:, None] - centers) ** 2).sum(axis=2))


def _plan_dropping(apart: Array, size: Array) -> tuple[Codes, Array]:
    """Who takes over the rows of each centre, and at what loss, both (k,); the diagonal of ``apart`` is overwritten."""
    np.fill_diagonal(apart, np.inf)
    neighbour = apart.argmin(axis=1)
    return neighbour, size * size[neighbour] / (size + size[neighbour]) * apart.min(axis=1)


def _exchange_centers(
    centers: Array, size: Array, gain: Array, half_axis: Array
) -> tuple[Array, list[tuple[int, int, float, float]]]:
    """The best split against the cheapest centre, again and again, each cluster touched once.

    Of each exchange the cluster that gives one half, the centre that takes it, what that saves, and what it costs.
    """
    centers, k = centers.copy(), len(centers)
    apart = _measure_apart(centers, centers)
    touched = np.zeros(k, dtype=bool)
    exchanges = []
    for _ in range(k // 2):
        neighbour, cost = _plan_dropping(apart, size)
        j = int(np.where(touched, -1.0, gain).argmax())
        cost[touched | (np.arange(k) == j) | (neighbour == j)] = np.inf
        i = int(cost.argmin())
        if touched[j] or not gain[j] > cost[i]:
            break
        exchanges.append((j, i, float(gain[j]), float(cost[i])))
        touched[[i, j, neighbour[i]]] = True
        centers[i], centers[j] = centers[j] - half_axis[j], centers[j] + half_axis[j]
        apart[[i, j]] = _measure_apart(centers[[i, j]], centers)
        apart[:, [i, j]] = apart[[i, j]].T
    return centers, exchanges
