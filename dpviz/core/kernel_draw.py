"""A row drawn in proportion to its weight, released under noise that hides which one it was.

The law of a draw and what it costs are in ``docs/proofs/blocks.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import exp, expm1, inf, log, log1p
from typing import Any, ClassVar

import numpy as np
from scipy.special import logsumexp

from dpviz.core.accounting import Budget, LossKind, compute_ratio
from dpviz.core.arrays import Array, Codes
from dpviz.core.check import RequestError
from dpviz.core.content import order_by_content
from dpviz.core.domain import Region
from dpviz.core.lattice import ExactRows, OnLattice
from dpviz.core.losses import bound_distance
from dpviz.core.mechanisms import Priced
from dpviz.core.noise import StudyNoise
from dpviz.core.queries import AsAsked, OfAllRows, Relation, Sensitivity
from dpviz.core.stored_rows import compute_squared_norms

# The kernel's ε is found by inverting a formula: rounded down by this, the formula never exceeds what was paid.
_SOLVED = 1.0 - 1e-9
# Beyond this ε, e^ε - 1 is e^ε to the last bit, and may overflow.
_LARGE = 40.0


@dataclass(frozen=True)
class WeightSensitivity(Sensitivity):
    """How a person changes a weighted set of rows: ``l1`` is the weight that changes hands."""

    apart: float = inf
    exchanged: bool = False

    def times(self, rows: int) -> WeightSensitivity:
        """For so many rows, all of which may be drawn."""
        return replace(self, l1=rows * self.l1)


@dataclass(frozen=True, eq=False)
class WeightedRows:
    """Rows and their weights, chunk by chunk: the rows themselves are not copied."""

    rows: tuple[Any, ...]
    weights: tuple[Array, ...]

    def __add__(self, other: WeightedRows) -> WeightedRows:
        return WeightedRows(self.rows + other.rows, self.weights + other.weights)

    def order_by_content(self) -> WeightedRows:
        """All of them in an order that follows from what they are."""
        rows = np.concatenate(self.rows)
        order = order_by_content(rows)
        return WeightedRows((rows[order],), (self.compute_weights()[order],))

    @property
    def dim(self) -> int:
        return int(self.rows[0].shape[1])

    def compute_weights(self) -> Array:
        """Weights of all rows, shape (n,)."""
        return np.concatenate(self.weights)

    def column(self, axis: int) -> Array:
        """One coordinate of all rows, shape (n,)."""
        return np.concatenate([chunk[:, axis] for chunk in self.rows]).astype(np.float64)

    def row(self, index: int) -> Array:
        """The row at that place, shape (d,)."""
        return np.array([self.column(axis)[index] for axis in range(self.dim)])


@dataclass(frozen=True, eq=False)
class DistanceWeights(OnLattice, AsAsked, OfAllRows, rounded=("points",)):
    """Every row with its squared distance to the nearest of ``points`` (m, d); without points all weigh the same.

    ``points`` must lie in the session's region, or a weight could exceed what is declared; the session checks it.
    """

    points: Array

    @property
    def width(self) -> int:
        return 2 * int(self.points.shape[1]) + 2

    def tally(self, rows: ExactRows, cell: Codes) -> WeightedRows:
        """One pass for each point. O(rows m d)."""
        weights = np.full(len(rows), np.inf if len(self.points) else 1.0)
        for point in self.points:
            np.minimum(weights, compute_squared_norms(rows.values - point), out=weights)
        return WeightedRows((rows.stored,), (weights,))

    def sensitivity(self, relation: Relation, region: Region) -> WeightSensitivity:
        """A row's weight is at most the square of the most that any row lies from its nearest point; 1 without points.

        The points are public or released, so this is too. Where the one that is closest to 0 is p, it is at most
        (radius + |p|)².
        """
        once = bound_distance(self.points[None], region) ** 2 if len(self.points) else 1.0
        exchanged = relation is Relation.REPLACE
        return WeightSensitivity(relation.rows * once, inf, apart=region.diameter, exchanged=exchanged)


@dataclass(frozen=True)
class KernelDraw(Priced):
    """Releases a point of density p = (Σ w_i K(c - x_i) + τ U(c)) / (Σ w_i + τ), with K-norm noise K of ``scale`` b.

    U is the even mixture of K around public ``points`` of the region, τ their ``public_weight``. A person who comes
    turns p into (1 - λ') p + λ' K', where K' is a mixture of K around that person's rows and λ' at most λ = w / (w + τ)
    for rows of weight w in all. Any two mixtures of K around points of the region have a ratio of at most e^ε_K, with
    ε_K the diameter over b. So p changes by a factor of at most e^ε with ε = ln(1 + λ (e^ε_K - 1)). Where rows come and
    go at once it is min(2 ε, ε_K). If nothing weighs anything, all rows weigh the same; without rows K lies around 0.

    ``sensitivity`` is ε times the scale.

    References
    ----------
    Nock, Canyasse, Boreli & Nielsen 2016 (k-variates++), whose own privacy theorem rests on constants of the data.
    """

    name: ClassVar[str] = "kernel draw"
    loss: ClassVar[LossKind] = LossKind.PURE
    scale: float
    change: WeightSensitivity
    public_weight: float
    points: Array = field(compare=False)

    @classmethod
    def calibrated(
        cls, share: Budget, sensitivity: Sensitivity, *, public_points: Array, public_weight: float
    ) -> KernelDraw:
        """The kernel for which a draw costs ``share``.

        Parameters
        ----------
        share : Budget
        sensitivity : Sensitivity
            How a person changes the weighted rows.
        public_points : array of shape (m, d)
            Unit coordinates; the floor of the density lies around them.
        public_weight : float
            τ, the weight of that floor.

        Returns
        -------
        KernelDraw
        """
        if not isinstance(sensitivity, WeightSensitivity):
            raise RequestError("A kernel draw is made among weighted rows: ask for DistanceWeights.")
        if not 0 <= public_weight < inf or (public_weight > 0 and not len(public_points)):
            raise RequestError("The public part of a draw needs points and a finite weight of at least 0: give both.")
        epsilon = compute_ratio(cls.loss, share, mechanism=cls.name)
        part = _compute_largest_part(sensitivity, public_weight)
        of_kernel = _compute_kernel_epsilon(epsilon, part)
        if sensitivity.exchanged:
            of_kernel = max(epsilon, _compute_kernel_epsilon(epsilon / 2, part))
        return cls(sensitivity.apart / (of_kernel * _SOLVED), sensitivity, public_weight, public_points)

    @property
    def sensitivity(self) -> float:
        """ε times the scale, from the very scale that draws."""
        of_kernel = self.change.apart / self.scale
        part = _compute_largest_part(self.change, self.public_weight)
        # log1p is exact where ε is small; where it is large, e^ε would overflow.
        if of_kernel < _LARGE:
            epsilon = log1p(part * expm1(of_kernel))
        else:
            epsilon = of_kernel + log(part + (1 - part) * exp(-of_kernel))
        return self.scale * (min(2 * epsilon, of_kernel) if self.change.exchanged else epsilon)

    def draw(self, truth: WeightedRows, noise: StudyNoise) -> Array:
        which, where = noise.uniform((2,))
        weights = truth.compute_weights()
        total = float(weights.sum())
        if which * (total + self.public_weight) < self.public_weight:
            middle = self.points[int(where * len(self.points))]
        elif len(weights):
            middle = truth.row(_find_row(truth, weights if total > 0 else np.ones(len(weights)), where))
        else:
            middle = np.zeros(truth.dim)
        return np.asarray(middle + noise.spherical(self.scale, (truth.dim,)))

    def log_density(self, released: Array, truth: WeightedRows) -> float:
        weights = truth.compute_weights()
        if not weights.any() and not self.public_weight:
            weights = np.ones(len(weights))
        away = [np.linalg.norm(released - points, axis=1) for points in truth.rows]
        if not len(weights) and not self.public_weight:
            return -float(np.linalg.norm(released)) / self.scale
        share = np.full(len(self.points), self.public_weight / max(1, len(self.points)))
        distances = np.concatenate([*away, np.linalg.norm(released - self.points, axis=1)])
        every = np.concatenate([weights, share])
        return float(logsumexp(-distances / self.scale, b=every) - log(every.sum()))


def _compute_largest_part(change: WeightSensitivity, public_weight: float) -> float:
    """The most that one person's rows are of all weight: λ."""
    weight = change.l1 / 2 if change.exchanged else change.l1
    return weight / (weight + public_weight)


def _compute_kernel_epsilon(epsilon: float, part: float) -> float:
    """The ε_K for which ln(1 + λ (e^ε_K - 1)) is ``epsilon``."""
    if epsilon < _LARGE:
        return log1p(expm1(epsilon) / part)
    return epsilon - log(part)


def _find_row(truth: WeightedRows, weights: Array, where: float) -> int:
    """The row at the part ``where`` of all weight, rows lying in the order of their coordinates, not of the table.

    One coordinate after the other: of the rows that share the coordinate at which the part is reached, the next one
    decides. Rows that agree in all are one and the same.
    """
    rows, left = np.arange(len(weights)), where * float(weights.sum())
    for axis in range(truth.dim):
        values = truth.column(axis)[rows]
        order = np.argsort(values, kind="stable")
        reached = np.cumsum(weights[rows][order])
        place = min(int(np.searchsorted(reached, left, side="right")), len(rows) - 1)
        value = values[order[place]]
        first = int(np.searchsorted(values[order], value, side="left"))
        left -= float(reached[first - 1]) if first else 0.0
        rows = rows[values == value]
    return int(rows[0])
