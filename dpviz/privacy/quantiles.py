"""Private quantiles: a place among the sorted values by the exponential mechanism, or a median with fitted noise.

What a ledger sees of them is public: how far a score, or how many values, can change, and ε. The noise of a smooth
median follows the rows and is written down nowhere.

References
----------
Smith 2011, §3 (exponential mechanism over the gaps). Nissim, Raskhodnikova & Smith 2007, §2-3 (smooth sensitivity).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, isfinite, log
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from dpviz.arrays import Array
from dpviz.check import RequestError
from dpviz.privacy.accounting import Accounting, Budget, pure_to_rho, rho_to_pure
from dpviz.privacy.loss_kinds import LossKind
from dpviz.privacy.mechanisms import pure_cost, pure_share
from dpviz.privacy.noise import NoiseSource
from dpviz.privacy.queries import Sensitivity
from dpviz.privacy.ranks import Columns

# Noise never gets narrower than this part of the box: else numbers would round it away, and show a row.
_LEAST_PART = 1e-9
# A smoother bound than this is not needed, and its powers would overflow.
_SMOOTHEST = 50.0
# The (ε, δ) proof of Laplace noise by smooth sensitivity is used up to this ε of one median.
_MOST_EPSILON = 8.0
# Pairs of ranks in one temporary block.
_PAIRS = 2**22


@dataclass(frozen=True)
class ExponentialQuantile:
    """For each column and level, a number of density proportional to exp(-score / scale) between two public bounds.

    The score of a place depends on how many values lie on its left, so the density is constant between neighbouring
    values: a gap is drawn, then a place in it. Gaps are never widened, or densities would be measured by the rows.

    Parameters
    ----------
    sensitivity : float
        Ranges of all scores, added up where ε add up and in the Euclidean norm where their squares do (zCDP).
    scale : float
        Noise of a score.
    total : float
        The ranges added up: all releases together are (total / scale)-DP.
    range : float
        The range of the score of one release.
    """

    name: ClassVar[str] = "exponential quantile"
    loss: ClassVar[LossKind] = LossKind.BOUNDED_RANGE
    sensitivity: float
    scale: float
    total: float
    range: float

    @classmethod
    def bought(cls, share: Budget, sensitivity: Sensitivity) -> ExponentialQuantile:
        if share.accounting is Accounting.ZCDP:
            scale = sensitivity.l2 / rho_to_pure(share.amount, bounded_range=True)
            return cls(sensitivity.l2, scale, sensitivity.l1, sensitivity.range)
        return cls(sensitivity.l1, sensitivity.l1 / pure_share(share), sensitivity.l1, sensitivity.range)

    @property
    def epsilon_of_one(self) -> float:
        """ε of the release of one place."""
        return self.range / self.scale

    def cost(self, accounting: Accounting) -> float:
        if accounting is Accounting.ZCDP:
            return pure_to_rho(self.sensitivity / self.scale, bounded_range=True)
        return self.total / self.scale

    def draw(self, truth: Columns, noise: NoiseSource) -> Array:
        """Released places, shape (levels, d)."""
        weights, edges = self._log_weights(truth), truth.edges
        gap = (weights + noise.gumbel(1.0, weights.shape)).argmax(axis=1)
        column = np.arange(edges.shape[1])
        left, right = edges[gap, column], edges[gap + 1, column]
        released: Array = np.minimum(left + (right - left) * noise.uniform(gap.shape), right)
        return released

    def log_density(self, released: Array, truth: Columns) -> float:
        inside = truth.edges[1:-1]
        ranks = np.stack([(inside <= place).sum(axis=0) for place in released]).astype(np.float64)
        wanted = np.array(truth.levels)[:, None] * len(inside)
        normal = logsumexp(self._log_weights(truth), axis=1)
        return float((-np.abs(ranks - wanted) / self.scale - normal).sum())

    def _log_weights(self, truth: Columns) -> Array:
        """ln of the mass of every gap, not normalised, shape (levels, n + 1, d)."""
        gaps = np.diff(truth.edges, axis=0)
        scores = truth.rank_scores(np.arange(len(gaps), dtype=np.float64))
        with np.errstate(divide="ignore"):
            weights: Array = np.log(gaps) - scores[:, :, None] / self.scale
        return weights


@dataclass(frozen=True)
class SmoothMedian:
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
        Cauchy noise as small as its loss allows (shift / scale + β), instead of the five times of the textbook.
    """

    sensitivity: float
    scale: float
    delta: float = 0.0
    tight: bool = True

    @classmethod
    def bought(cls, share: Budget, sensitivity: Sensitivity, *, tight: bool = True) -> SmoothMedian:
        if not isfinite(sensitivity.l1):
            raise RequestError("A median with smooth noise needs a fixed number of rows: ask it of blocks of rows.")
        if share.accounting not in (Accounting.PURE, Accounting.BASIC):
            raise RequestError(f"A smooth median cannot be paid under {share.accounting.value} accounting.")
        return cls(sensitivity.l1, sensitivity.l1 / pure_share(share), share.delta, tight)

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
        if self.delta:
            return min(self._epsilon / (2 * log(2 * self.sensitivity / self.delta)), _SMOOTHEST)
        return min(1 / self.scale / 6, _SMOOTHEST)

    @property
    def noise_per_bound(self) -> float:
        """Scale of the noise for a smooth bound of 1."""
        if self.delta:
            return 2 / self._epsilon
        return 1 / (1 / self.scale - self.smoothness) if self.tight else 6 * self.scale

    def cost(self, accounting: Accounting) -> float:
        return pure_cost(accounting, self.sensitivity / self.scale)

    def draw(self, truth: Columns, noise: NoiseSource) -> Array:
        """Released medians, shape (d,)."""
        middle, spread = self._law(truth)
        unit = noise.laplace(1.0, middle.shape) if self.delta else noise.cauchy(1.0, middle.shape)
        return middle + spread * unit

    def log_density(self, released: Array, truth: Columns) -> float:
        middle, spread = self._law(truth)
        away = np.abs(released - middle) / spread
        shape = -away if self.delta else -np.log1p(away**2)
        return float((shape - np.log(spread)).sum())

    @property
    def _epsilon(self) -> float:
        return min(1 / self.scale, _MOST_EPSILON)

    def _law(self, truth: Columns) -> tuple[Array, Array]:
        """True medians and the scale of the noise of each, shape (d,)."""
        edges = truth.edges
        place = median_place(len(truth.values))
        bound = np.array([smooth_sensitivity(column, place, self.smoothness) for column in edges.T])
        least = _LEAST_PART * (truth.upper - truth.lower)
        # A constant is smooth too, and so is the larger of two smooth bounds.
        return edges[place], self.noise_per_bound * np.maximum(bound, least)


def median_place(n: int) -> int:
    """Where the lower median of ``n`` sorted values stands between two bounds."""
    return (n + 1) // 2


def smooth_sensitivity(edges: Array, place: int, smoothness: float) -> float:
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
    one, other = _unexceeded(left * near), _unexceeded(right * far)
    rows = np.column_stack([left, np.ones(len(left))])[one] * near[one, None]
    columns = np.column_stack([np.ones(len(right)), right])[other] * far[other, None]
    step = max(1, _PAIRS // len(columns))
    most = max(float((rows[start : start + step] @ columns.T).max()) for start in range(0, len(rows), step))
    return most * exp(smoothness)


def _unexceeded(parts: Array) -> npt.NDArray[np.bool_]:
    """Which ``parts`` are larger than all before them, the first one in any case."""
    larger: npt.NDArray[np.bool_] = parts > np.r_[-np.inf, np.maximum.accumulate(parts)[:-1]]
    return larger
