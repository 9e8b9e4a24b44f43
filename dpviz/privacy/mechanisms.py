"""Randomised answers: each mechanism knows how to draw, what a draw cost, and how likely it was.

``draw`` is the release; ``cost`` is what the ledger charges, computed from the very object that draws; ``log_density``
(up to a constant that does not depend on the truth) lets a test re-add the privacy loss of a whole run.

References
----------
Dwork et al. 2006 (Laplace). Hardt & Talwar 2010 (K-norm). McSherry & Talwar 2007 (exponential). Balcan et al. 2017,
Alg. 1 (noisy threshold). Cormode et al. 2012 (sparse release of noisy histograms).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import log, sqrt
from typing import Any, ClassVar, Protocol, TypeVar, overload

import numpy as np
from scipy.special import log_ndtr, logsumexp

from dpviz.arrays import Array, Codes
from dpviz.check import RequestError
from dpviz.privacy.accounting import Accounting, Budget, gdp_epsilon, gdp_mu, pure_to_rho, rho_to_pure
from dpviz.privacy.loss_kinds import LossKind
from dpviz.privacy.noise import NoiseSource
from dpviz.privacy.queries import Query, Relation, Sensitivity
from dpviz.privacy.sparse import SparseCounts
from dpviz.table.domain import Region

Answer = TypeVar("Answer", covariant=True)
Drawer = TypeVar("Drawer", covariant=True)


class NoDensity(TypeError):
    """The density of a release cannot be written down: tests audit its law by frequencies instead."""


def pure_share(share: Budget, *, bounded_range: bool = False) -> float:
    """The ε that ``share`` buys for a mechanism that is ε-DP.

    Raises
    ------
    RequestError
        Under GDP accounting, which adds up Gaussian mechanisms only.
    """
    match share.accounting:
        case Accounting.PURE | Accounting.BASIC:
            return share.amount
        case Accounting.ZCDP | Accounting.PLD:
            return rho_to_pure(share.amount, bounded_range=bounded_range)
        case _:
            raise RequestError(f"A pure mechanism cannot be paid under {share.accounting.value} accounting.")


def gaussian_multiplier(share: Budget) -> float:
    """σ/Δ of Gaussian noise that ``share`` buys."""
    match share.accounting:
        case Accounting.GDP:
            return 1 / sqrt(share.amount)
        case Accounting.ZCDP | Accounting.PLD:
            return 1 / sqrt(2 * share.amount)
        case Accounting.BASIC:
            return 1 / gdp_mu(share.amount, share.delta)
        case _:
            raise RequestError(f"Gaussian noise cannot be paid under {share.accounting.value} accounting.")


def pure_cost(accounting: Accounting, epsilon: float, *, bounded_range: bool = False) -> float:
    """What a mechanism that is ε-DP costs."""
    return (
        epsilon
        if accounting in (Accounting.PURE, Accounting.BASIC)
        else pure_to_rho(epsilon, bounded_range=bounded_range)
    )


def _gaussian_cost(accounting: Accounting, multiplier: float) -> float:
    return multiplier**-2 / (1 if accounting is Accounting.GDP else 2)


class Mechanism(Protocol[Answer]):
    """A randomised answer: how it is drawn, what that costs, and how likely an outcome was."""

    @property
    def name(self) -> str:
        """What the ledger calls it."""
        ...

    @property
    def loss(self) -> LossKind:
        """What is proved of its privacy loss, by which it is priced."""
        ...

    @property
    def sensitivity(self) -> float:
        """The sensitivity that it is calibrated to, in its own norm."""
        ...

    @property
    def scale(self) -> float:
        """The scale of its noise, in the units of the answer."""
        ...

    def cost(self, accounting: Accounting) -> float:
        """What a draw costs, from the very object that draws."""
        ...

    def draw(self, truth: Any, noise: NoiseSource) -> Answer:
        """The release."""
        ...

    def log_density(self, released: Any, truth: Any) -> float:
        """How likely ``released`` was, up to a constant that does not depend on the truth."""
        ...


class Kind(Protocol[Answer, Drawer]):
    """A class of mechanisms: how one is bought, and what it releases."""

    def bought(self, *price: Any, **options: Any) -> Drawer:
        """The mechanism that a share buys for a sensitivity, with public options."""
        ...

    def draw(self, *drawn: Any, **options: Any) -> Answer:
        """What a mechanism of this kind releases."""
        ...


def mechanism_for(query: Query, kind: Kind[Any, Drawer], share: Budget, relation: Relation, region: Region) -> Drawer:
    """What ``share`` buys to answer ``query`` about rows in ``region``, one a person: for forecasts without a room."""
    return kind.bought(share, query.sensitivity(relation, region))


@dataclass(frozen=True)
class Laplace:
    """Independent Laplace noise on every entry; ``sensitivity`` is l1. Pure ε = sensitivity / scale."""

    name: ClassVar[str] = "laplace"
    loss: ClassVar[LossKind] = LossKind.LAPLACE_LIKE
    sensitivity: float
    scale: float

    @classmethod
    def bought(cls, share: Budget, sensitivity: Sensitivity) -> Laplace:
        return cls(sensitivity.l1, sensitivity.l1 / pure_share(share))

    def sd_in(self, width: int) -> float:
        """Standard deviation of one entry, whatever the ``width`` of a row."""
        return sqrt(2) * self.scale

    def cost(self, accounting: Accounting) -> float:
        return pure_cost(accounting, self.sensitivity / self.scale)

    def draw(self, truth: Array, noise: NoiseSource) -> Array:
        return truth + noise.laplace(self.scale, truth.shape)

    def log_density(self, released: Array, truth: Array) -> float:
        return -float(np.abs(released - truth).sum()) / self.scale

    def log_above(self, level: Array) -> Array:
        """ln Pr[noise > level]."""
        scaled = level / self.scale
        tail: Array = np.where(scaled > 0, -scaled - log(2), np.log1p(-np.exp(np.minimum(scaled, 0)) / 2))
        return tail


@dataclass(frozen=True)
class Gaussian:
    """Independent Gaussian noise on every entry; ``sensitivity`` is l2. μ = sensitivity / scale.

    ``delta`` is its own part of δ, under basic composition only.
    """

    name: ClassVar[str] = "gaussian"
    loss: ClassVar[LossKind] = LossKind.GAUSSIAN
    sensitivity: float
    scale: float
    delta: float = 0.0

    @classmethod
    def bought(cls, share: Budget, sensitivity: Sensitivity) -> Gaussian:
        return cls(sensitivity.l2, sensitivity.l2 * gaussian_multiplier(share), share.delta)

    def sd_in(self, width: int) -> float:
        """Standard deviation of one entry, whatever the ``width`` of a row."""
        return self.scale

    def cost(self, accounting: Accounting) -> float:
        if accounting is Accounting.BASIC:
            return gdp_epsilon(self.sensitivity / self.scale, self.delta)
        return _gaussian_cost(accounting, self.scale / self.sensitivity)

    def draw(self, truth: Array, noise: NoiseSource) -> Array:
        return truth + noise.normal(self.scale, truth.shape)

    def log_density(self, released: Array, truth: Array) -> float:
        return -float(((released - truth) ** 2).sum()) / (2 * self.scale**2)

    def log_above(self, level: Array) -> Array:
        """ln Pr[noise > level]."""
        tail: Array = log_ndtr(-level / self.scale)
        return tail


@dataclass(frozen=True)
class KNorm:
    """Noise of density exp(-norm / scale) on every row of the answer; ``sensitivity`` is of the row norms' sum.

    Less noise than Laplace for vectors of bounded Euclidean norm. Pure ε = sensitivity / scale.
    """

    name: ClassVar[str] = "k-norm"
    loss: ClassVar[LossKind] = LossKind.LAPLACE_LIKE
    sensitivity: float
    scale: float

    @classmethod
    def bought(cls, share: Budget, sensitivity: Sensitivity) -> KNorm:
        return cls(sensitivity.block, sensitivity.block / pure_share(share))

    def sd_in(self, width: int) -> float:
        """Standard deviation of one entry of a row of ``width`` numbers."""
        return self.scale * sqrt(width + 1)

    def cost(self, accounting: Accounting) -> float:
        return pure_cost(accounting, self.sensitivity / self.scale)

    def draw(self, truth: Array, noise: NoiseSource) -> Array:
        return truth + noise.spherical(self.scale, truth.shape)

    def log_density(self, released: Array, truth: Array) -> float:
        return -float(np.linalg.norm(released - truth, axis=-1).sum()) / self.scale


Additive = Laplace | Gaussian | KNorm


@overload
def noise_kind(accounting: Accounting) -> Kind[Array, Laplace | Gaussian]: ...
@overload
def noise_kind(accounting: Accounting, *, spherical: bool) -> Kind[Array, Additive]: ...
def noise_kind(accounting: Accounting, *, spherical: bool = False) -> Kind[Array, Additive]:
    """Noise that is added to an array: Laplace, or K-norm if ``spherical``, under pure accounting; else Gaussian."""
    if accounting is not Accounting.PURE:
        return Gaussian
    return KNorm if spherical else Laplace


@dataclass(frozen=True)
class Exponential:
    """Selects the entry of least loss with Gumbel noise; ``sensitivity`` is the range of the losses' change.

    Pr[entry] is proportional to prior · exp(-loss / scale) with a public prior (None: all entries alike). ε =
    sensitivity / scale, both for pure DP and as bounded range: the prior cancels in every ratio.
    """

    name: ClassVar[str] = "exponential"
    loss: ClassVar[LossKind] = LossKind.BOUNDED_RANGE
    sensitivity: float
    scale: float
    log_prior: Array | None = field(default=None, compare=False)

    @classmethod
    def bought(cls, share: Budget, sensitivity: Sensitivity, *, log_prior: Array | None = None) -> Exponential:
        return cls(sensitivity.range, sensitivity.range / pure_share(share, bounded_range=True), log_prior)

    def cost(self, accounting: Accounting) -> float:
        return pure_cost(accounting, self.sensitivity / self.scale, bounded_range=True)

    def draw(self, truth: Array, noise: NoiseSource) -> int:
        utility = self._log_weights(truth)
        return int(np.argmax(noise.gumbel(1.0, utility.shape) + utility))

    def log_density(self, released: int, truth: Array) -> float:
        utility = self._log_weights(truth)
        return float(utility[released] - logsumexp(utility))

    def _log_weights(self, truth: Array) -> Array:
        utility: Array = -(truth.ravel() - truth.min()) / self.scale
        return utility if self.log_prior is None else utility + self.log_prior.ravel()


@dataclass(frozen=True)
class NoisyThreshold:
    """Releases which cells of a huge universe hold more than ``threshold`` rows after noise: sorted codes only.

    A cell of m rows is released with probability f(m) = Pr[m + noise > threshold], the empty cells included: their
    number is drawn from the exact binomial law, then that many distinct empty codes uniformly. Skipping the empty
    cells would make an output impossible on one of two neighbouring tables.
    """

    test: Laplace | Gaussian
    threshold: float

    @classmethod
    def bought(cls, share: Budget, sensitivity: Sensitivity, *, threshold: float) -> NoisyThreshold:
        return cls(noise_kind(share.accounting).bought(share, sensitivity), threshold)

    @property
    def name(self) -> str:
        return f"{self.test.name} threshold"

    @property
    def loss(self) -> LossKind:
        return self.test.loss

    @property
    def sensitivity(self) -> float:
        return self.test.sensitivity

    @property
    def scale(self) -> float:
        return self.test.scale

    def cost(self, accounting: Accounting) -> float:
        return self.test.cost(accounting)

    def log_active(self, count: Array) -> Array:
        """ln f(count)."""
        return self.test.log_above(self.threshold - count)

    def log_inactive(self, count: Array) -> Array:
        """ln (1 - f(count))."""
        return self.test.log_above(count - self.threshold)

    def draw(self, truth: SparseCounts, noise: NoiseSource) -> Codes:
        awake = noise.exponential(1.0, truth.values.shape) > -self.log_active(truth.values)
        empty_rate = float(np.exp(self.log_active(np.zeros(1))[0]))
        spurious = noise.binomial(truth.universe - len(truth.codes), empty_rate)
        return np.sort(np.r_[truth.codes[awake], absent_codes(truth, spurious, noise)])

    def log_density(self, released: Codes, truth: SparseCounts) -> float:
        awake = np.isin(truth.codes, released, assume_unique=True)
        spurious = len(released) - int(awake.sum())
        asleep = truth.universe - len(truth.codes) - spurious
        none = np.zeros(1)
        return float(
            self.log_active(truth.values[awake]).sum()
            + self.log_inactive(truth.values[~awake]).sum()
            + spurious * self.log_active(none)[0]
            + asleep * self.log_inactive(none)[0]
        )


@dataclass(frozen=True)
class SparseLaplace:
    """Laplace noise on every cell of a huge universe, of which only |noisy count| > ``cutoff`` is released.

    Exactly the law of dense noise followed by the cut, at the cost of the non-empty and the released cells only. The
    cut is two-sided, so what is released of an empty region stays unbiased.
    """

    name: ClassVar[str] = "sparse laplace"
    loss: ClassVar[LossKind] = LossKind.LAPLACE_LIKE
    sensitivity: float
    scale: float
    cutoff: float = field(default=0.0)

    @classmethod
    def bought(cls, share: Budget, sensitivity: Sensitivity, *, cutoff_in_scales: float) -> SparseLaplace:
        scale = sensitivity.l1 / pure_share(share)
        return cls(sensitivity.l1, scale, cutoff_in_scales * scale)

    def sd_in(self, width: int) -> float:
        """Standard deviation of one entry before the cut."""
        return sqrt(2) * self.scale

    def cost(self, accounting: Accounting) -> float:
        return pure_cost(accounting, self.sensitivity / self.scale)

    def draw(self, truth: SparseCounts, noise: NoiseSource) -> SparseCounts:
        noisy = truth.values + noise.laplace(self.scale, truth.values.shape)
        kept = np.abs(noisy) > self.cutoff
        beyond = noise.binomial(truth.universe - len(truth.codes), float(np.exp(-self.cutoff / self.scale)))
        codes = np.r_[truth.codes[kept], absent_codes(truth, beyond, noise)]
        sign = np.where(noise.uniform((beyond,)) < 0.5, -1.0, 1.0)
        values = np.r_[noisy[kept], sign * (self.cutoff + noise.exponential(self.scale, (beyond,)))]
        order = np.argsort(codes)
        return SparseCounts(codes[order], values[order], truth.universe)

    def log_density(self, released: SparseCounts, truth: SparseCounts) -> float:
        shown = -np.abs(released.values - truth.at(released.codes)).sum() / self.scale
        hidden = truth.values[~np.isin(truth.codes, released.codes, assume_unique=True)]
        n_hidden_empty = truth.universe - len(np.union1d(truth.codes, released.codes))
        log_empty = n_hidden_empty * self._log_hidden(np.zeros(1))[0] if n_hidden_empty else 0.0
        return float(shown + self._log_hidden(hidden).sum() + log_empty)

    def _log_hidden(self, count: Array) -> Array:
        """ln Pr[|count + noise| <= cutoff], in two forms so that neither cancels."""
        gap, cut = (np.abs(count) - self.cutoff) / self.scale, self.cutoff / self.scale
        with np.errstate(divide="ignore"):
            outside = -gap - log(2) + np.log(-np.expm1(-2 * cut))
            inside = np.log1p(-(np.exp(np.minimum(gap, 0)) + np.exp(-np.abs(count) / self.scale - cut)) / 2)
        hidden: Array = np.where(gap > 0, outside, inside)
        return hidden


def absent_codes(truth: SparseCounts, number: int, noise: NoiseSource) -> Codes:
    """``number`` distinct codes drawn uniformly from the cells that ``truth`` does not list."""
    if 2 * number > truth.universe - len(truth.codes):
        absent = np.setdiff1d(np.arange(truth.universe), truth.codes, assume_unique=True)
        return absent[np.argsort(noise.uniform(absent.shape))[:number]]
    drawn: Codes = np.zeros(0, dtype=np.int64)
    while len(drawn) < number:
        more = noise.codes(truth.universe, 2 * (number - len(drawn)) + 16)
        # Keep first occurrences in the order drawn: sorting before the cut would favour small codes.
        pool = np.r_[drawn, more[~np.isin(more, truth.codes)]]
        first = np.sort(np.unique(pool, return_index=True)[1])
        drawn = pool[first]
    return drawn[:number]
