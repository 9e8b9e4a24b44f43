"""A private look at rows of many columns: their middle, how far they reach, and the axes along which they spread.

Constants were chosen by hand on the tuning families of ``benchmarks/families.py``.
"""

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from scipy.ndimage import label

from dpviz.algorithms.auto.auto_plan import Paid, ProjectionStage, StagePart
from dpviz.algorithms.auto.zooming import count_rows
from dpviz.algorithms.steps import Step
from dpviz.core import Array, PrivateSession, Region, mechanisms, partitions, queries

# How a look is taken and a tail is seen.
# Chosen by hand on the tuning families of ``benchmarks/families.py``.

# Bins of lengths; where a tail is looked for, the first is cut so often, each time at 1/√2 of the length.
_BINS = 40
_FINER_BINS = 15
# Where columns are of unlike lengths, the shortest at most the first part of the longest, bins reach no farther than
# rows can lie, and are so few that rows which fill them evenly are so many scales of noise in each, but no fewer than
# the last. Chosen on real tables (docs/findings.md).
_UNLIKE = 0.5
_SCALES_PER_BIN, _FEWEST_BINS = 10.0, 12
_SURE_SDS = 3.0  # half of the rows surely lie within a length whose noisy count is so many sds of its noise beyond half
# There may be a tail where nearly all rows reach beyond so many sure medians, but no farther than this part of the
# domain: beyond, it is a group that lies far out. Chosen, like the next two, on tables of log-normal columns and of
# columns that are mostly 0 (docs/findings.md).
_TAIL_REACH = 1.8
_TAIL_MOST = 0.6
# Then axes are measured so many times farther out, as bins far away hold few rows each. There is a tail if this part
# of the spread is along one axis.
_TAIL_WIDER = 2.0
_TAIL_SHARE = 0.5
# Bins with fewer noise scales than the first are empty, and neighbours that are not, if they hold together fewer than
# the second, are too: in 40 empty bins chance exceeds 4 scales in three looks of ten, 10 in one of a thousand.
_EMPTY_BELOW = 4.0
_EMPTY_TOGETHER = 10.0
# This part of the rows, and so many scales, must lie farther out.
_FAR_PART = 0.01
_FAR_SCALES = 6.0
# Bins that are empty one by one may be full together: they hold this part of the rows, and so many sds of their noise.
# Then the view reaches as far as bins hold so many rows together as is asked of full ones, and so many sds as the last
# says; not where there may be a tail, which the view follows by itself. Chosen on real tables, too (docs/findings.md).
_TOGETHER_PART = 0.05
_TOGETHER_SDS = 4.0
_BEYOND_SDS = 2.5
# A bought axis under so many times the noise edge is a random direction, lowered by this part of the edge.
_CLEAR_EDGES = 2.0
_EDGE_PART = 0.5
_LEAST_VARIANCE = 0.5  # an axis has at least this part of an equal share of the spread


_TINY = 1e-12


@dataclass(frozen=True, eq=False)
class PrivateProjection:
    """What the rows look like, all released.

    ``middle`` (d,); ``basis`` (q, d), orthonormal axes, the widest first; ``variances`` (q,), noisy variances along
    the axes, none too small to be believed; ``spread``: noisy mean squared distance from the middle; ``captured``
    (q,), noisy variances as they were measured, at least 0.
    """

    middle: Array
    clipping_radius: float
    basis: Array
    variances: Array
    spread: float
    captured: Array

    def measure_beside(self, frame: Array) -> float:
        """Of the spread what lies beside the axes ``frame`` (p, d), some of the basis."""
        used = (self.basis @ frame.T).argmax(axis=0)
        return max(self.spread - float(self.captured[used].sum()), 0.0)


@dataclass(frozen=True, eq=False)
class Tail:
    """Rows that lie far out along one axis, while most lie close together around ``middle`` (d,): all released."""

    middle: Array
    median: float


@dataclass(frozen=True, eq=False, kw_only=True)
class ProjectionStep(Step):
    """The noisy middle, clipping radius and axes of the rows.

    The first ``axes`` of the look's basis make the view. Variances under ``noise_edge`` (0: axes from public coins) may
    be noise alone. ``noisy_radii`` (bins,) counts rows by their distance from ``read_around`` (d,), the noisy sum over
    the declared number of rows, from 0 to ``outer_radius``, with Laplace noise of ``radii_scale``, of several draws in
    the first one where that was cut. ``rows`` are how many all counts speak of. ``tail`` is None where none was seen.
    """

    projection: PrivateProjection
    rows: float
    read_around: Array
    axes: int
    noise_edge: float
    noisy_radii: Array
    radii_scale: float
    outer_radius: float
    tail: Tail | None = None


def are_unlike(region: Region) -> bool:
    """Whether columns of a ``region`` of numbers alone are of unlike lengths: bounds are public."""
    return region.blocks is None and bool(region.half.min() <= _UNLIKE * region.half.max())


def project_privately(
    session: PrivateSession, stage: ProjectionStage, shares: Paid, axes: int, rng: np.random.Generator
) -> ProjectionStep:
    """The noisy middle, radius and axes of the rows of ``session``, unit coordinates.

    **Guarantee.** The shares of the stage. One row adds a vector of length at most R to the sum, 1 to one bin, and,
    if they are bought, a vector of length at most 1, in two released medians, to the second sum, and a matrix of
    Euclidean length at most R₁² to the second moments. Whether there is a tail follows from releases; how many bins
    there are and how far they reach, from bounds, the size of noise, the number of rows and the released middle.

    References
    ----------
    Dwork, Talwar, Thakurta & Zhang 2014 (Gaussian noise on second moments). The noise is drawn in an orthonormal basis
    of the symmetric matrices, so that entries off the diagonal have half the variance of those on it.
    """
    everything = partitions.Everything()
    (total,) = session.ask_together(stage.middle.asks(queries.Sum(everything), shares), note="middle of the rows")
    around, finer = session.region.clip(total.value[0] / session.n), 0 if stage.near is None else _FINER_BINS
    far = queries.Radii(everything, around[None], 2 * session.region.radius, _BINS, finer)
    if are_unlike(session.region):
        scale = session.mechanism(far, mechanisms.Laplace, shares[stage.radii]).scale
        farthest = float(np.linalg.norm(session.region.half + np.abs(around)))
        bins = int(np.clip(session.n / (_SCALES_PER_BIN * scale), _FEWEST_BINS, _BINS))
        far = replace(far, outer_radius=min(farthest, session.region.radius + float(np.linalg.norm(around))), bins=bins)
    (radii,) = session.ask_together(stage.radii.asks(far, shares), note="distances from the middle")
    scale, noisy_radii = radii.mechanism.scale, np.r_[radii.value[: far.finer + 1].sum(), radii.value[far.finer + 1 :]]
    # No row lies farther from there than the region reaches.
    filled = far.edges[:-1] <= np.linalg.norm(around) + session.region.radius
    rows = count_rows(session, (radii.value[filled], radii.sd))
    middle = session.region.clip(total.value[0] / rows)
    clipping_radius = _find_clipping_radius(noisy_radii, far.outer_radius, scale, rows)
    (surely, about), tail = _read_medians(radii.value, far.edges, scale, rows), None
    if stage.near is not None:
        # Asked for whether there is a tail or not: what is bought does not hang on the answers.
        within = min(2 * about, far.outer_radius)
        close = queries.ScaledResidualSum(partitions.Voronoi(middle[None]), middle[None], np.array([within]))
        (near,) = session.ask_together(stage.near.asks(close, shares), note="middle of the rows that are near")
        tail = Tail(session.region.clip(middle + within * near.value[0] / rows), about)
    # Distances were read from a first middle: from where it moved to they may all be so much more or less.
    moved = float(np.linalg.norm(middle - around))
    reaches = _TAIL_REACH * (surely + moved) < clipping_radius - moved
    far_out = tail is not None and reaches and clipping_radius <= _TAIL_MOST * session.region.radius
    if far_out:
        clipping_radius = min(_TAIL_WIDER * clipping_radius, session.region.radius)
    else:
        clipping_radius = _widen(clipping_radius, noisy_radii, far.outer_radius, scale, rows)
    if stage.axes is not None:
        seen, noise_edge = _buy_axes(session, rows, middle, clipping_radius, stage.axes, shares)
    else:
        # Axes from public coins: nothing is bought. The radii say how wide the rows are on average.
        basis, _ = np.linalg.qr(rng.normal(size=(session.dim, min(session.dim, max(axes, 64)))))
        weight, noise_edge = np.maximum(noisy_radii, 0.0), 0.0
        length = np.minimum((np.arange(len(weight)) + 0.5) / len(weight) * far.outer_radius, clipping_radius)
        spread = max(float(weight @ length**2) / max(float(weight.sum()), 1.0), _TINY * clipping_radius**2)
        variances = np.full(basis.shape[1], spread / session.dim)
        seen = PrivateProjection(middle, clipping_radius, basis.T, variances, spread, variances)
    far_out = far_out and float(seen.captured[0]) > _TAIL_SHARE * seen.spread
    return ProjectionStep(
        title=f"A look: {axes} axes for {session.dim} coordinates, and where rows are clipped",
        projection=seen,
        rows=rows,
        read_around=around,
        axes=axes,
        noise_edge=noise_edge,
        noisy_radii=noisy_radii,
        radii_scale=scale,
        outer_radius=far.outer_radius,
        tail=tail if far_out else None,
    )


def _read_medians(noisy_radii: Array, edges: Array, scale: float, n: float) -> tuple[float, float]:
    """Lengths within which half of the rows lie, surely and about, by noisy counts between ``edges``.

    The second is at least half of the first.
    """
    within = noisy_radii.cumsum()
    least = within - _SURE_SDS * sqrt(2) * scale * np.sqrt(np.arange(1, len(within) + 1))
    # From 0 at the first edge upwards; what never reaches a number reaches it at the last edge.
    rising = (np.r_[0.0, np.maximum.accumulate(np.maximum(held, 0.0))] for held in (least, within))
    surely, about = (float(np.interp(n / 2, held, edges)) for held in rising)
    return surely, max(about, surely / 2)


def _find_clipping_radius(noisy_radii: Array, farthest: float, scale: float, n: float) -> float:
    """The upper edge of the last bin beyond which clearly filled bins still hold some rows.

    One bin that noise alone fills, far away from all rows, would widen the whole view.
    """
    filled = np.where(noisy_radii > _EMPTY_BELOW * scale, noisy_radii, 0.0)
    stretch, _ = label(filled)
    filled[np.bincount(stretch, filled)[stretch] < _EMPTY_TOGETHER * scale] = 0.0
    clear = np.flatnonzero(filled[::-1].cumsum()[::-1] > max(_FAR_PART * n, _FAR_SCALES * scale))
    return float(farthest * (clear[-1] + 1) / len(noisy_radii)) if len(clear) else farthest


def _widen(clipping_radius: float, noisy_radii: Array, farthest: float, scale: float, n: float) -> float:
    """A clipping radius beyond which bins that are too light to be told from noise one by one hold few rows in all."""
    together, least = noisy_radii[::-1].cumsum()[::-1], max(_FAR_PART * n, _FAR_SCALES * scale)
    sds = scale * np.sqrt(2.0 * np.arange(len(together), 0, -1))
    edges = farthest * np.arange(len(together) + 1) / len(together)
    hidden = together > np.maximum(max(_TOGETHER_PART * n, least), _TOGETHER_SDS * sds)
    if not hidden[edges[:-1] >= clipping_radius].any():
        return clipping_radius
    return float(edges[1:][together > np.maximum(least, _BEYOND_SDS * sds)].max())


def _buy_axes(
    session: PrivateSession, rows: float, middle: Array, clipping_radius: float, part: StagePart, shares: Paid
) -> tuple[PrivateProjection, float]:
    """The axes of noisy second moments, and the variance that noise alone would show."""
    spread_of_rows = part.asks(queries.Spread(partitions.Everything(), middle[None], clipping_radius), shares)
    (moments,) = session.ask_together(spread_of_rows, note="second moments")
    values, vectors = np.linalg.eigh(queries.unpack_symmetric(moments.value, session.dim)[0] / rows)
    edge = moments.sd * sqrt(2 * session.dim) / rows
    values, basis = values[::-1], vectors.T[::-1]
    spread = max(float(values.sum()), _TINY * clipping_radius**2)
    captured = np.maximum(values, 0.0)
    lowered = captured - _EDGE_PART * edge * (captured < _CLEAR_EDGES * edge)
    variances = np.maximum(lowered, _LEAST_VARIANCE * spread / session.dim)
    return PrivateProjection(middle, clipping_radius, basis, variances, spread, captured), edge
