"""Private quantiles: a place among the sorted values by the exponential mechanism, or a median with fitted noise.

What a ledger sees of them is public: how far a score, or how many values, can change, and ε. The noise of a smooth
median follows the rows and is written down nowhere. Both are proved in ``docs/proofs/choices.md``.

References
----------
Smith 2011, §3 (exponential mechanism over the gaps). Nissim, Raskhodnikova & Smith 2007, §2-3 (smooth sensitivity).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from math import ceil, exp, expm1, inf, isfinite, log, log1p, sqrt
from typing import ClassVar

import numpy as np
from scipy.optimize import brentq
from scipy.special import logsumexp

from dpviz.core.accounting import Accounting, Budget, LossKind, compute_amount, compute_ratio
from dpviz.core.arrays import Array, Flags
from dpviz.core.check import RequestError, within
from dpviz.core.domain import Region
from dpviz.core.lattice import ExactRows
from dpviz.core.mechanisms import Priced
from dpviz.core.noise import StudyNoise
from dpviz.core.queries import AsAsked, OfBox, Relation, Sensitivity

# Noise never gets narrower than this part of the box: else numbers would round it away, and show a row.
_LEAST_PART = 1e-9
# A smoother bound than this is not needed, and its powers would overflow.
_SMOOTHEST = 50.0
# The textbook's (ε, δ) proof of Laplace noise by smooth sensitivity is used up to this ε of one median.
_MOST_EPSILON = 8.0
# A smoothness is found by inverting a formula: rounded down by this, the formula does not exceed what was paid.
_SOLVED = 1.0 - 1e-9
# Where one price for all releases is the sum of their ε.
_EPSILONS_ADD_UP = (Accounting.PURE, Accounting.BASIC)
# A quotient that is a whole number stays one.
_WHOLE = 1.0 - 1e-9
# Pairs of ranks in one temporary block.
_PAIRS = 2**22


@dataclass(frozen=True, eq=False)
class ClippedColumns:
    """Rows clipped to a public box, asked for quantiles; those of two chunks add up to those of both.

    ``values`` (n, d), in any order: only ranks are looked at; ``lower``, ``upper`` (d,), the box, unit coordinates;
    public.
    """

    values: Array
    lower: Array
    upper: Array
    levels: tuple[float, ...]

    def __add__(self, other: ClippedColumns) -> ClippedColumns:
        return ClippedColumns(np.concatenate([self.values, other.values]), self.lower, self.upper, self.levels)

    def order_by_content(self) -> ClippedColumns:
        """As they are: every column is sorted before it is looked at."""
        return self

    @cached_property
    def edges(self) -> Array:
        """Each column in ascending order between its two bounds, shape (n + 2, d)."""
        return np.concatenate([self.lower[None], np.sort(self.values, axis=0), self.upper[None]])


@dataclass(frozen=True, eq=False)
class _InBox(AsAsked, OfBox):
    """A question about ranks of the columns of all rows, clipped to a box."""

    levels: tuple[float, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        for level in self.levels:
            within(0.0, 1.0, level=level)

    def tally(self, rows: ExactRows, cell: object) -> ClippedColumns:
        return ClippedColumns(np.clip(rows.values, self.lower, self.upper), self.lower, self.upper, self.levels)


@dataclass(frozen=True, eq=False)
class Quantiles(_InBox):
    """The quantiles of every column of the rows, clipped to the box ``lower`` (d,) to ``upper`` (d,).

    A place is scored by |rows on its left - level · rows|; the score's change between neighbouring tables is what the
    sensitivity bounds: one range for each column and level, added up in the l1 and the Euclidean norm.
    """

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """Replaced, a row moves the score of a place by up to 1 one way, of another the other way: range 2.

        Added, it moves rows-on-the-left by 1 and level · rows by the level: range 2 max(level, 1 - level).
        """
        replaced = relation is Relation.REPLACE
        ranges = [2.0 if replaced else 2 * max(level, 1 - level) for level in self.levels]
        columns = len(self.lower)
        return Sensitivity(columns * sum(ranges), sqrt(columns * sum(r * r for r in ranges)), range=max(ranges))


@dataclass(frozen=True, eq=False)
class Medians(_InBox):
    """The median of every column of rows whose number is fixed, clipped to the box ``lower`` to ``upper`` (d,).

    The sensitivity says how many values of each column change, added up over columns: what a mechanism with noise by
    smooth sensitivity is calibrated to.
    """

    levels: tuple[float, ...] = field(default=(0.5,), init=False)

    def sensitivity(self, relation: Relation, region: Region) -> Sensitivity:
        """One value of each column is replaced; nothing is proved where a row may come or go."""
        if relation is Relation.ADD_REMOVE:
            return Sensitivity(inf, inf)
        return Sensitivity(l1=len(self.lower), l2=sqrt(len(self.lower)), range=1.0)


@dataclass(frozen=True)
class ExponentialQuantile:
    """For each column and level, a number of density proportional to exp(-score / scale) between two public bounds.

    The score of a place depends on how many values lie on its left, so the density is constant between neighbouring
    values: a gap is drawn, then a place in it. Gaps are never widened, or densities would be measured by the rows.

    Parameters
    ----------
    sensitivity : float
        Ranges of all scores added up; where each release is priced by itself, all ranges are as the largest.
    scale : float
        Noise of a score.
    total : float
        The ranges added up: all releases together are (total / scale)-DP.
    range : float
        The largest range of the score of one release.
    """

    name: ClassVar[str] = "exponential quantile"
    loss: ClassVar[LossKind] = LossKind.BOUNDED_RANGE
    sensitivity: float
    scale: float
    total: float
    range: float

    @classmethod
    def calibrated(cls, share: Budget, sensitivity: Sensitivity) -> ExponentialQuantile:
        """Noise for which all quantiles together cost ``share``.

        Parameters
        ----------
        share : Budget
        sensitivity : Sensitivity
            Ranges of the scores, over columns and levels.

        Returns
        -------
        ExponentialQuantile
            With one scale for all scores.
        """
        one = cls(sensitivity.l1, inf, sensitivity.l1, sensitivity.range)
        if share.accounting in _EPSILONS_ADD_UP:
            return replace(one, scale=one.total / compute_ratio(cls.loss, share, mechanism=cls.name))
        scale = one.range / compute_ratio(cls.loss, share.fraction(1 / one.draws), mechanism=cls.name)
        return replace(one, sensitivity=one.draws * one.range, scale=scale)

    @property
    def draws(self) -> int:
        """Releases of the largest range that together cost no less than all of these.

        The price of a range grows at least in proportion to it.
        """
        return ceil(self.total / self.range * _WHOLE)

    @property
    def epsilon_of_one(self) -> float:
        """ε of the release of one place."""
        return self.range / self.scale

    def cost(self, accounting: Accounting) -> float:
        if accounting in _EPSILONS_ADD_UP:
            return compute_amount(self.loss, accounting, sensitivity=self.total, scale=self.scale)
        return self.draws * compute_amount(self.loss, accounting, sensitivity=self.range, scale=self.scale)

    def draw(self, truth: ClippedColumns, noise: StudyNoise) -> Array:
        """Released places, shape (levels, d)."""
        weights, edges = self._log_weights(truth), truth.edges
        gap = (weights + noise.gumbel(1.0, weights.shape)).argmax(axis=1)
        column = np.arange(edges.shape[1])
        left, right = edges[gap, column], edges[gap + 1, column]
        return np.asarray(np.minimum(left + (right - left) * noise.uniform(gap.shape), right))

    def log_density(self, released: Array, truth: ClippedColumns) -> float:
        inside = truth.edges[1:-1]
        ranks = np.stack([(inside <= place).sum(axis=0) for place in released]).astype(np.float64)
        wanted = np.array(truth.levels)[:, None] * len(inside)
        normal = logsumexp(self._log_weights(truth), axis=1)
        return float((-np.abs(ranks - wanted) / self.scale - normal).sum())

    def _log_weights(self, truth: ClippedColumns) -> Array:
        """ln of the mass of every gap, not normalised, shape (levels, n + 1, d)."""
        gaps = np.diff(truth.edges, axis=0)
        wanted = np.array(truth.levels)[:, None] * len(truth.values)
        scores = np.abs(np.arange(len(gaps), dtype=np.float64) - wanted)  # of the rows on the left of each gap
        with np.errstate(divide="ignore"):
            weights: Array = np.log(gaps) - scores[:, :, None] / self.scale
        return weights


@dataclass(frozen=True)
class SmoothMedian(Priced):
    """The median of each column plus noise in proportion to a smooth bound on how far one value can move it.

    Cauchy noise is ε-DP; with a ``delta``, Laplace noise is (ε, δ)-DP. Each column gets an equal part of both. The
    bound itself is private: neither the ledger nor a result may hold it.

    Parameters
    ----------
    sensitivity : float
        Values that may change, one in each column.
    scale : float
        1/ε of one column: ε of all is sensitivity / scale.
    delta : float
        Of all columns; 0 for Cauchy noise.
    tight : bool
        Cauchy noise as small as its loss allows (shift / scale + β), instead of the five times of the textbook; with a
        ``delta``, bounds as smooth as ``compute_laplace_smoothness`` allows, instead of ε / (2 ln(2/δ)).
    """

    sensitivity: float
    scale: float
    delta: float = 0.0
    tight: bool = True

    @classmethod
    def calibrated(cls, share: Budget, sensitivity: Sensitivity, *, tight: bool = True) -> SmoothMedian:
        """Medians of all columns that cost ``share`` together.

        Parameters
        ----------
        share : Budget
        sensitivity : Sensitivity
            Values that may change, over columns.
        tight : bool
            Whether noise is as small as its loss allows, instead of as in the textbook.

        Returns
        -------
        SmoothMedian
            With Cauchy noise, or Laplace noise where the share has a δ.
        """
        if not isfinite(sensitivity.l1):
            raise RequestError("A median with smooth noise needs a fixed number of rows: ask it of blocks of rows.")
        if share.accounting not in _EPSILONS_ADD_UP:
            raise RequestError(f"A smooth median cannot be paid under {share.accounting.value} accounting.")
        epsilon = compute_ratio(LossKind.PURE, share, mechanism="smooth median")
        return cls(sensitivity.l1, sensitivity.l1 / epsilon, share.delta, tight)

    @property
    def name(self) -> str:
        return "laplace smooth median" if self.delta else "cauchy smooth median"

    @property
    def loss(self) -> LossKind:
        return LossKind.APPROXIMATE if self.delta else LossKind.PURE

    @property
    def epsilon_of_one(self) -> float:
        """ε of the median of one column."""
        return 1 / self.scale

    @property
    def smoothness(self) -> float:
        """β: one changed value changes the bound by a factor of at most e^β."""
        if self.delta and self.tight:
            return compute_laplace_smoothness(1 / self.scale, self.delta / self.sensitivity)
        if self.delta:
            return min(self._epsilon / (2 * log(2 * self.sensitivity / self.delta)), _SMOOTHEST)
        return min(1 / self.scale / 6, _SMOOTHEST)

    @property
    def noise_per_bound(self) -> float:
        """Scale of the noise for a smooth bound of 1."""
        if self.delta:
            return 2 / self._epsilon
        return 1 / (1 / self.scale - self.smoothness) if self.tight else 6 * self.scale

    def draw(self, truth: ClippedColumns, noise: StudyNoise) -> Array:
        """Released medians, shape (d,)."""
        middle, spread = self._compute_law(truth)
        unit = noise.laplace(1.0, middle.shape) if self.delta else noise.cauchy(1.0, middle.shape)
        return middle + spread * unit

    def log_density(self, released: Array, truth: ClippedColumns) -> float:
        middle, spread = self._compute_law(truth)
        away = np.abs(released - middle) / spread
        shape = -away if self.delta else -np.log1p(away**2)
        return float((shape - np.log(spread)).sum())

    @property
    def _epsilon(self) -> float:
        return 1 / self.scale if self.tight else min(1 / self.scale, _MOST_EPSILON)

    def _compute_law(self, truth: ClippedColumns) -> tuple[Array, Array]:
        """True medians and the scale of the noise of each, shape (d,)."""
        edges = truth.edges
        place = find_median_place(len(truth.values))
        bound = np.array([compute_smooth_sensitivity(column, place, self.smoothness) for column in edges.T])
        least = _LEAST_PART * (truth.upper - truth.lower)
        # A constant is smooth too, and so is the larger of two smooth bounds.
        return edges[place], self.noise_per_bound * np.maximum(bound, least)


@lru_cache(maxsize=256)
def compute_laplace_smoothness(epsilon: float, delta: float) -> float:
    """The largest β for which the median plus 2 S / ε times Laplace noise is (ε, δ)-DP, S a β-smooth bound.

    The δ that is needed is largest where the scales differ by e^β and the medians by α = ε/2 scales (proved in
    ``docs/proofs/choices.md``); with w = e^β - 1 it is

        (1 - e^(-β)) / 2 · (e^(-(ε - α + β)/w) + e^(-(ε + α + β)/w)).

    References
    ----------
    Nissim, Raskhodnikova & Smith 2007, Def. 2.5 and Lemma 2.6 (β = ε / (2 ln(2/δ)) by sliding and dilation).
    """
    wanted, largest = log(delta), min(epsilon / 2, _SMOOTHEST)

    def excess(smoothness: float) -> float:
        stretch = expm1(smoothness)
        tails = -(epsilon / 2 + smoothness) / stretch + log1p(exp(-epsilon / stretch))
        return tails + log(-expm1(-smoothness) / 2) - wanted

    if excess(largest) <= 0:
        return largest
    least = largest
    while excess(least) > 0:
        least /= 2
    return float(brentq(excess, least, largest, rtol=1e-12)) * _SOLVED


def find_median_place(n: int) -> int:
    """Where the lower median of ``n`` sorted values stands between two bounds."""
    return (n + 1) // 2


def compute_smooth_sensitivity(edges: Array, place: int, smoothness: float) -> float:
    """max over t of e^(-βt) times the most that t + 1 replaced values can move the value at ``place``; O(n²) at worst.

    ``edges`` (n + 2,) are the sorted values between their two bounds; values beyond either end stand for the bound.
    The most is a difference over t + 1 ranks around ``place``: written as left part plus right part, all pairs are one
    product of two thin matrices, and only parts that no nearer part exceeds can be in the largest pair.

    References
    ----------
    Nissim, Raskhodnikova & Smith 2007, Claim 3.3.
    """
    left, right = edges[place] - edges[place::-1], edges[place:] - edges[place]
    near, far = (np.exp(-smoothness * np.arange(len(side))) for side in (left, right))
    one, other = _find_unexceeded(left * near), _find_unexceeded(right * far)
    rows = np.column_stack([left, np.ones(len(left))])[one] * near[one, None]
    columns = np.column_stack([np.ones(len(right)), right])[other] * far[other, None]
    step = max(1, _PAIRS // len(columns))
    most = max(float((rows[start : start + step] @ columns.T).max()) for start in range(0, len(rows), step))
    return most * exp(smoothness)


def _find_unexceeded(parts: Array) -> Flags:
    """Which ``parts`` are larger than all before them, the first one in any case."""
    return np.asarray(parts > np.r_[-np.inf, np.maximum.accumulate(parts)[:-1]])
