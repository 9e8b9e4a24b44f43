"""Randomised answers: each mechanism knows how to draw, what a draw cost, and how likely it was.

``draw`` is the release; ``cost`` is what the ledger charges, computed from the very object that draws; ``log_density``
(up to a constant that does not depend on the truth) lets a test re-add the privacy loss of a whole run. Choices and
peeling are proved in ``docs/proofs/choices.md``.

References
----------
Dwork et al. 2006 (Laplace). Hardt & Talwar 2010 (K-norm). McSherry & Talwar 2007 (exponential). Durfee & Rogers 2019,
Lemma 4.2 (one-shot Gumbel noise is peeling).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, log, sqrt
from typing import Any, ClassVar, Protocol, Self, TypeVar, overload

import numpy as np
from scipy.special import log_ndtr, logsumexp

from dpviz.core import check
from dpviz.core.accounting import Accounting, Budget
from dpviz.core.arrays import Array, Codes
from dpviz.core.domain import Region
from dpviz.core.loss_kinds import LossKind, compute_amount, compute_ratio
from dpviz.core.noise import NoiseSource
from dpviz.core.queries import Query, Relation, Sensitivity

Answer = TypeVar("Answer", covariant=True)
Drawer = TypeVar("Drawer", covariant=True)


class NoDensity(TypeError):
    """The density of a release cannot be written down: tests audit its law by frequencies instead."""


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
        """The release.

        Parameters
        ----------
        truth : object
            What the question's ``truth`` returned.
        noise : NoiseSource
            Where randomness comes from.

        Returns
        -------
        Answer
            What leaves the session.
        """
        ...

    def log_density(self, released: Any, truth: Any) -> float:
        """How likely ``released`` was, up to a constant that does not depend on the truth.

        Parameters
        ----------
        released : object
            What ``draw`` returned.
        truth : object
            What the question's ``truth`` returned.

        Returns
        -------
        float
            A natural logarithm, up to a constant.
        """
        ...


class Kind(Protocol[Answer, Drawer]):
    """A class of mechanisms: how one is bought, and what it releases."""

    def calibrated(self, *price: Any, **options: Any) -> Drawer:
        """The mechanism that a share buys for a sensitivity, with public options.

        Parameters
        ----------
        *price
            A share of the budget, or what else the kind is bought with.
        **options
            Public settings of the kind.

        Returns
        -------
        Drawer
            With the least noise that the price buys.
        """
        ...

    def draw(self, *drawn: Any, **options: Any) -> Answer:
        """What a mechanism of this kind releases.

        Parameters
        ----------
        *drawn
            What a draw is made of.
        **options
            Public settings of the kind.

        Returns
        -------
        Answer
            What leaves the session.
        """
        ...


def calibrate_mechanism(
    query: Query, kind: Kind[Any, Drawer], share: Budget, relation: Relation, region: Region
) -> Drawer:
    """What ``share`` buys to answer ``query`` about rows in ``region``, one a person: for forecasts without a
    session.

    Parameters
    ----------
    query : Query
        What would be asked.
    kind : Kind
        How it would be randomised.
    share : Budget
        Part of the session's budget.
    relation : Relation
        How neighbouring tables differ.
    region : Region
        Where rows live, unit coordinates.

    Returns
    -------
    Drawer
        With the noise that a session of that region would use.
    """
    return kind.calibrated(share, query.sensitivity(relation, region))


class Priced:
    """A draw that costs what its kind of loss, its sensitivity and its scale say."""

    def cost(self: Mechanism[Any], accounting: Accounting) -> float:
        return compute_amount(self.loss, accounting, sensitivity=self.sensitivity, scale=self.scale)


def _calibrate_exactly(mechanism: Calibrated | Gaussian) -> None:
    """What is drawn and what is charged follow from the same numbers: floats of Python, which do not round further."""
    for name in ("sensitivity", "scale"):
        object.__setattr__(mechanism, name, float(getattr(mechanism, name)))


@dataclass(frozen=True)
class Calibrated(Priced):
    """A draw calibrated to one norm of the answer's change, its ``sensitivity``: ε = sensitivity / scale."""

    name: ClassVar[str]
    loss: ClassVar[LossKind]
    norm: ClassVar[str]
    sensitivity: float
    scale: float

    def __post_init__(self) -> None:
        _calibrate_exactly(self)

    @classmethod
    def calibrated(cls, share: Budget, sensitivity: Sensitivity, **options: Any) -> Self:
        """The mechanism that ``share`` buys for this sensitivity.

        Parameters
        ----------
        share : Budget
            Part of the session's budget.
        sensitivity : Sensitivity
            The most that one unit of privacy changes the answer, in the answer's own units.
        **options
            Public settings of the kind.

        Returns
        -------
        Self
            With the least noise that the share buys.
        """
        change: float = getattr(sensitivity, cls.norm)
        return cls(change, change / compute_ratio(cls.loss, share, mechanism=cls.name), **options)


@dataclass(frozen=True)
class Laplace(Calibrated):
    """Independent Laplace noise on every entry."""

    name: ClassVar[str] = "laplace"
    loss: ClassVar[LossKind] = LossKind.LAPLACE_LIKE
    norm: ClassVar[str] = "l1"

    def compute_sd(self, width: int) -> float:
        """Standard deviation of one entry, whatever the ``width`` of a row."""
        return sqrt(2) * self.scale

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

    def __post_init__(self) -> None:
        _calibrate_exactly(self)

    @classmethod
    def calibrated(cls, share: Budget, sensitivity: Sensitivity) -> Gaussian:
        """The Gaussian noise that ``share`` buys for this sensitivity.

        Parameters
        ----------
        share : Budget
            Part of the session's budget.
        sensitivity : Sensitivity
            The most that one unit of privacy changes the answer, in the answer's own units.

        Returns
        -------
        Gaussian
            With scale l2 sensitivity / μ.
        """
        multiplier = 1 / compute_ratio(cls.loss, share, mechanism=cls.name)
        return cls(sensitivity.l2, sensitivity.l2 * multiplier, share.delta)

    def compute_sd(self, width: int) -> float:
        """Standard deviation of one entry, whatever the ``width`` of a row."""
        return self.scale

    def cost(self, accounting: Accounting) -> float:
        return compute_amount(self.loss, accounting, sensitivity=self.sensitivity, scale=self.scale, delta=self.delta)

    def draw(self, truth: Array, noise: NoiseSource) -> Array:
        return truth + noise.normal(self.scale, truth.shape)

    def log_density(self, released: Array, truth: Array) -> float:
        return -float(((released - truth) ** 2).sum()) / (2 * self.scale**2)

    def log_above(self, level: Array) -> Array:
        """ln Pr[noise > level]."""
        tail: Array = log_ndtr(-level / self.scale)
        return tail


@dataclass(frozen=True)
class KNorm(Calibrated):
    """Noise of density exp(-norm / scale) on every row of the answer, calibrated to the sum of the row norms.

    Less noise than Laplace for vectors of bounded Euclidean norm.
    """

    name: ClassVar[str] = "k-norm"
    loss: ClassVar[LossKind] = LossKind.LAPLACE_LIKE
    norm: ClassVar[str] = "block"

    def compute_sd(self, width: int) -> float:
        """Standard deviation of one entry of a row of ``width`` numbers."""
        return self.scale * sqrt(width + 1)

    def draw(self, truth: Array, noise: NoiseSource) -> Array:
        return truth + noise.spherical(self.scale, truth.shape)

    def log_density(self, released: Array, truth: Array) -> float:
        return -float(np.linalg.norm(released - truth, axis=-1).sum()) / self.scale


Additive = Laplace | Gaussian | KNorm


@overload
def choose_noise_kind(accounting: Accounting) -> Kind[Array, Laplace | Gaussian]: ...
@overload
def choose_noise_kind(accounting: Accounting, *, spherical: bool) -> Kind[Array, Additive]: ...
def choose_noise_kind(accounting: Accounting, *, spherical: bool = False) -> Kind[Array, Additive]:
    """Noise that is added to an array: Laplace, or K-norm if ``spherical``, under pure accounting; else Gaussian.

    Parameters
    ----------
    accounting : Accounting
        How costs add up.
    spherical : bool
        Whether density shall depend on the Euclidean norm of each row of the answer.

    Returns
    -------
    Kind
        A kind that the session accepts.
    """
    if accounting is not Accounting.PURE:
        return Gaussian
    return KNorm if spherical else Laplace


@dataclass(frozen=True)
class Exponential(Calibrated):
    """Selects the entry of least loss with Gumbel noise, calibrated to the range of the losses' change.

    Pr[entry] is proportional to prior · exp(-loss / scale) with a public prior (None: all entries alike). ε is that of
    pure DP and of bounded range alike: the prior cancels in every ratio.
    """

    name: ClassVar[str] = "exponential"
    loss: ClassVar[LossKind] = LossKind.BOUNDED_RANGE
    norm: ClassVar[str] = "range"
    log_prior: Array | None = field(default=None, compare=False)

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
class DerivedMechanism:
    """What is computed from draws of another mechanism, ``once``: its loss is theirs, and so is its price.

    Draws that follow each other add up, in the norm of the noise.
    """

    once: Mechanism[Any]

    @property
    def draws(self) -> int:
        """Draws that one row takes part in."""
        return 1

    @property
    def loss(self) -> LossKind:
        return self.once.loss

    @property
    def sensitivity(self) -> float:
        """Of all draws together."""
        times = sqrt(self.draws) if self.loss is LossKind.GAUSSIAN else self.draws
        return times * self.once.sensitivity

    @property
    def scale(self) -> float:
        return self.once.scale

    def cost(self, accounting: Accounting) -> float:
        return self.draws * self.once.cost(accounting)


@dataclass(frozen=True)
class DrawnNoise(DerivedMechanism):
    """What noise that is added leaves behind: the standard deviation of an entry is known."""

    once: Additive

    def compute_sd(self, width: int) -> float:
        """Standard deviation of one entry of a row of ``width`` numbers, before anything is cut."""
        return self.once.compute_sd(width)


@dataclass(frozen=True)
class Peeling(DerivedMechanism):
    """``number`` times the exponential mechanism, each time among the entries that are left; the best one first.

    Given what was drawn before, each draw is an exponential mechanism over fewer entries, whose losses change by no
    larger range. So the cost is ``number`` times that of one draw. Gumbel noise added once to all entries and sorted
    gives the same law. Lines of a matrix belong to disjoint cells and are peeled side by side, for the price of one.

    ``magnitudes`` says whether the entries of largest magnitude are drawn, instead of those of least loss.
    """

    name: ClassVar[str] = "peeling"
    once: Exponential
    number: int
    magnitudes: bool = False

    @classmethod
    def calibrated(cls, share: Budget, sensitivity: Sensitivity, *, draws: int, magnitudes: bool = False) -> Peeling:
        """Peeling for which all ``draws`` together cost ``share``.

        Parameters
        ----------
        share : Budget
            Part of the session's budget.
        sensitivity : Sensitivity
            The most that one unit of privacy changes the answer, in the answer's own units.
        draws : int
            How many entries are drawn of each line.
        magnitudes : bool
            Whether the entries of largest magnitude are wanted instead of those of least loss.

        Returns
        -------
        Peeling
            With one scale for all draws.
        """
        check.at_least(1, draws=draws)
        return cls(Exponential.calibrated(share.fraction(1 / draws), sensitivity), draws, magnitudes)

    @property
    def draws(self) -> int:
        return self.number

    def draw(self, truth: Array, noise: NoiseSource) -> Codes:
        utility = self._utility(truth)
        order = np.argsort(-(utility + noise.gumbel(1.0, utility.shape)), axis=-1, kind="stable")
        return order[..., : self.draws]

    def log_density(self, released: Codes, truth: Array) -> float:
        left, entries = np.atleast_2d(self._utility(truth)), np.atleast_2d(released)
        if (np.diff(np.sort(entries, axis=1), axis=1) == 0).any():
            return -inf  # no entry is drawn twice
        drawn = np.take_along_axis(left, entries, axis=1)
        np.put_along_axis(left, entries, -np.inf, axis=1)
        # From the last draw to the first: each was one of what was never drawn and of what was drawn no earlier.
        among = np.column_stack([logsumexp(left, axis=1), drawn[:, ::-1]])
        return float(drawn.sum() - np.logaddexp.accumulate(among, axis=1)[:, 1:].sum())

    def _utility(self, truth: Array) -> Array:
        loss = -np.abs(truth) if self.magnitudes else truth
        utility: Array = -(loss - loss.min(axis=-1, keepdims=True)) / self.scale
        return utility
