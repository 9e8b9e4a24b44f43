"""A private look at rows of many columns: their middle, how far they reach, and the axes along which they spread.

Constants were chosen by hand on the tuning families of ``benchmarks/families.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.ndimage import label

from dpviz.algorithms.auto.stages import FirstLook, Paid, Part
from dpviz.algorithms.steps import Step
from dpviz.arrays import Array
from dpviz.privacy.partitions import Everything
from dpviz.privacy.queries import Sum
from dpviz.privacy.room import DataRoom
from dpviz.privacy.sums import Radii, Spread, symmetric

_BINS = 40
# Bins with fewer noise scales than this are empty, and neighbours that are not, if they hold together fewer than the
# second number, are too: in 40 empty bins chance exceeds 4 scales in three looks of ten, 10 in one of a thousand.
_EMPTY_BELOW, _EMPTY_TOGETHER = 4.0, 10.0
# So much of the rows, and so many scales, must lie farther out.
_FAR_PART, _FAR_SCALES = 0.01, 6.0
# A bought axis under this many times the noise edge is a random direction, lowered by this part of the edge.
_CLEAR_EDGES, _LOWERED = 2.0, 0.5
_LEAST_VARIANCE = 0.5
_TINY = 1e-12


@dataclass(frozen=True, eq=False)
class Look:
    """What the rows look like, all released.

    Parameters
    ----------
    middle : array of shape (d,)
    reach : float
        Nearly all rows lie within it from the middle.
    basis : array of shape (q, d)
        Orthonormal axes, the widest first.
    variances : array of shape (q,)
        Noisy variances along the axes, none too small to be believed.
    spread : float
        Noisy mean squared distance from the middle.
    captured : array of shape (q,)
        Noisy variances as they were measured, at least 0.
    """

    middle: Array
    reach: float
    basis: Array
    variances: Array
    spread: float
    captured: Array

    def beside(self, frame: Array) -> float:
        """Of the spread what lies beside the axes ``frame`` (p, d), some of the basis."""
        used = (self.basis @ frame.T).argmax(axis=0)
        return max(self.spread - float(self.captured[used].sum()), 0.0)


@dataclass(frozen=True, eq=False, kw_only=True)
class LookStep(Step):
    """The noisy middle, reach and axes of the rows.

    The first ``axes`` of the look's basis make the view. Variances under ``noise_edge`` (0: axes from public coins) may
    be noise alone. ``noisy_radii`` (bins,) counts rows by their distance from the middle, from 0 to ``radii_reach``,
    with Laplace noise of ``radii_scale``.
    """

    look: Look
    axes: int
    noise_edge: float
    noisy_radii: Array
    radii_scale: float
    radii_reach: float


def look(room: DataRoom, stage: FirstLook, shares: Paid, axes: int, rng: np.random.Generator) -> LookStep:
    """The noisy middle, radius and axes of the rows of ``room``.

    **Guarantee.** The shares of the stage. One row adds a vector of length at most R to the sum, 1 to one bin, and,
    if the axes are bought, a matrix of Euclidean length at most R₁² to the second moments.

    References
    ----------
    Dwork, Talwar, Thakurta & Zhang 2014 (Gaussian noise on second moments). The noise is drawn in an orthonormal basis
    of the symmetric matrices, so that entries off the diagonal have half the variance of those on it.
    """
    (total,) = room.ask_together(stage.middle.asks(Sum(Everything()), shares), note="middle of the rows")
    middle = room.region.clip(total.value[0] / room.n)
    far = Radii(Everything(), middle[None], 2 * room.region.radius, _BINS)
    (radii,) = room.ask_together(stage.radii.asks(far, shares), note="distances from the middle")
    reach = _reach(radii.value, far.reach, radii.mechanism.scale, room.n)
    if stage.axes is not None:
        seen, noise_edge = _bought_axes(room, middle, reach, stage.axes, shares)
    else:
        seen, noise_edge = _public_axes(room, middle, reach, radii.value, far.reach, axes, rng), 0.0
    return LookStep(
        title=f"A look: {axes} axes for {room.dim} columns, and how far nearly all rows reach",
        look=seen,
        axes=axes,
        noise_edge=noise_edge,
        noisy_radii=radii.value,
        radii_scale=radii.mechanism.scale,
        radii_reach=far.reach,
    )


def _reach(noisy_radii: Array, farthest: float, scale: float, n: int) -> float:
    """The upper edge of the last bin beyond which clearly filled bins still hold some rows.

    One bin that noise alone fills, far away from all rows, would widen the whole view.
    """
    filled = np.where(noisy_radii > _EMPTY_BELOW * scale, noisy_radii, 0.0)
    stretch, _ = label(filled)
    held = np.bincount(stretch, filled)
    filled[held[stretch] < _EMPTY_TOGETHER * scale] = 0.0
    beyond = filled[::-1].cumsum()[::-1]
    clear = np.flatnonzero(beyond > max(_FAR_PART * n, _FAR_SCALES * scale))
    return float(farthest * (clear[-1] + 1) / len(noisy_radii)) if len(clear) else farthest


def _bought_axes(room: DataRoom, middle: Array, reach: float, part: Part, shares: Paid) -> tuple[Look, float]:
    """The axes of noisy second moments, and the variance that noise alone would show."""
    spread_of_rows = part.asks(Spread(Everything(), middle[None], reach), shares)
    (moments,) = room.ask_together(spread_of_rows, note="second moments")
    values, vectors = np.linalg.eigh(symmetric(moments.value, room.dim)[0] / room.n)
    edge = moments.sd * sqrt(2 * room.dim) / room.n
    values, basis = values[::-1], vectors.T[::-1]
    spread = max(float(values.sum()), _TINY * reach**2)
    captured = np.maximum(values, 0.0)
    lowered = captured - _LOWERED * edge * (captured < _CLEAR_EDGES * edge)
    variances = np.maximum(lowered, _LEAST_VARIANCE * spread / room.dim)
    return Look(middle, reach, basis, variances, spread, captured), edge


def _public_axes(
    room: DataRoom,
    middle: Array,
    reach: float,
    noisy_radii: Array,
    farthest: float,
    axes: int,
    rng: np.random.Generator,
) -> Look:
    """Axes from public coins: nothing is bought. The radii say how wide the rows are on average."""
    basis, _ = np.linalg.qr(rng.normal(size=(room.dim, min(room.dim, max(axes, 64)))))
    weight = np.maximum(noisy_radii, 0.0)
    length = np.minimum((np.arange(len(weight)) + 0.5) / len(weight) * farthest, reach)
    spread = max(float(weight @ length**2) / max(float(weight.sum()), 1.0), _TINY * reach**2)
    variances = np.full(basis.shape[1], spread / room.dim)
    return Look(middle, reach, basis.T, variances, spread, variances)
