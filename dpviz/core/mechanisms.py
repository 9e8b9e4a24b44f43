"""Randomised answers: each mechanism knows how to draw, what a draw cost, and how likely it was.

``draw`` is the release; ``cost`` is what the ledger charges, computed from the very object that draws; ``log_density``
(up to a constant that does not depend on the truth) lets a test re-add the privacy loss of a whole run. Choices and
peeling are proved in ``docs/proofs/choices.md``; so is that what is drawn of the histogram of a universe too large to
write down has the law of noise on every cell. What a session answers is a ``Measurement``: value and mechanism.

References
----------
Dwork et al. 2006 (Laplace). Hardt & Talwar 2010 (K-norm). McSherry & Talwar 2007 (exponential). Durfee & Rogers 2019,
Lemma 4.2 (one-shot Gumbel noise is peeling). Balcan et al. 2017, Alg. 1 (noisy threshold). Cormode et al. 2012 (sparse
release of noisy histograms).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import inf, log, sqrt
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, Self, TypeVar, overload

import numpy as np
from scipy.special import log_ndtr, logsumexp

from dpviz.core.accounting import Accounting, Budget, LossKind, compute_amount, compute_ratio
from dpviz.core.arrays import Array, Codes
from dpviz.core.check import RequestError, at_least
from dpviz.core.domain import Region
from dpviz.core.noise import StudyNoise
from dpviz.core.partitions import find_code_range
from dpviz.core.queries import Query, Relation, Sensitivity, SparseCounts

Answer = TypeVar("Answer", covariant=True)
Drawer = TypeVar("Drawer", covariant=True)


class NoDensity(TypeError):
    """The density of a release cannot be written down: tests audit its law by frequencies instead."""


class Mechanism(Protocol[Answer]):
    """A randomised answer: how it is drawn, what that costs, and how likely an outcome was."""

    @property
    def name(self) -> str:
        """What the ledger calls it."""

    @property
    def loss(self) -> LossKind:
        """What is proved of its privacy loss, by which it is priced."""

    @property
    def sensitivity(self) -> float:
        """The sensitivity that it is calibrated to, in its own norm."""

    @property
    def scale(self) -> float:
        """The scale of its noise, in the units of the answer."""

    def cost(self, accounting: Accounting) -> float:
        """What a draw costs, from the very object that draws."""

    def draw(self, truth: Any, noise: StudyNoise) -> Answer:
        """The release.

        Parameters
        ----------
        truth
            What the question's ``truth`` returned.
        noise

        Returns
        -------
        Answer
        """

    def log_density(self, released: Any, truth: Any) -> float:
        """How likely ``released`` was, up to a constant that does not depend on the truth.

        Parameters
        ----------
        released, truth
            What ``draw`` and the question's ``truth`` returned.

        Returns
        -------
        float
            A natural logarithm.
        """


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
        """


def calibrate_mechanism(
    query: Query, kind: Kind[Any, Drawer], share: Budget, relation: Relation, region: Region
) -> Drawer:
    """What ``share`` buys to answer ``query`` about rows in ``region``, one a person: for forecasts without a
    session.

    Parameters
    ----------
    query
    kind
    share
    relation
    region

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


@dataclass(frozen=True)
class Calibrated(Priced):
    """A draw calibrated to one norm of the answer's change, its ``sensitivity``, which the scale divides."""

    name: ClassVar[str]
    loss: ClassVar[LossKind]
    norm: ClassVar[str]
    sensitivity: float
    scale: float

    def __post_init__(self) -> None:
        # What is drawn and what is charged follow from the same numbers: floats of Python, which do not round further.
        for name in ("sensitivity", "scale"):
            object.__setattr__(self, name, float(getattr(self, name)))

    @classmethod
    def calibrated(cls, share: Budget, sensitivity: Sensitivity, **options: Any) -> Self:
        """The mechanism that ``share`` buys for this sensitivity.

        Parameters
        ----------
        share
        sensitivity
        **options
            Public settings of the kind.

        Returns
        -------
        Self
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

    def draw(self, truth: Array, noise: StudyNoise) -> Array:
        return truth + noise.laplace(self.scale, truth.shape)

    def log_density(self, released: Array, truth: Array) -> float:
        return -float(np.abs(released - truth).sum()) / self.scale

    def log_above(self, level: Array) -> Array:
        """ln Pr[noise > level]."""
        scaled = level / self.scale
        return np.where(scaled > 0, -scaled - log(2), np.log1p(-np.exp(np.minimum(scaled, 0)) / 2))


@dataclass(frozen=True)
class Gaussian(Calibrated):
    """Independent Gaussian noise on every entry; ``sensitivity`` is l2. μ = sensitivity / scale.

    ``delta`` is its own part of δ, under basic composition only.
    """

    name: ClassVar[str] = "gaussian"
    loss: ClassVar[LossKind] = LossKind.GAUSSIAN
    norm: ClassVar[str] = "l2"
    delta: float = 0.0

    @classmethod
    def calibrated(cls, share: Budget, sensitivity: Sensitivity, **options: Any) -> Self:
        """The Gaussian noise that ``share`` buys for this sensitivity, and the share's part of δ."""
        multiplier = 1 / compute_ratio(cls.loss, share, mechanism=cls.name)
        return cls(sensitivity.l2, sensitivity.l2 * multiplier, share.delta, **options)

    def compute_sd(self, width: int) -> float:
        """Standard deviation of one entry, whatever the ``width`` of a row."""
        return self.scale

    def cost(self, accounting: Accounting) -> float:
        return compute_amount(self.loss, accounting, sensitivity=self.sensitivity, scale=self.scale, delta=self.delta)

    def draw(self, truth: Array, noise: StudyNoise) -> Array:
        return truth + noise.normal(self.scale, truth.shape)

    def log_density(self, released: Array, truth: Array) -> float:
        return -float(((released - truth) ** 2).sum()) / (2 * self.scale**2)

    def log_above(self, level: Array) -> Array:
        """ln Pr[noise > level]."""
        return log_ndtr(-level / self.scale)


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

    def draw(self, truth: Array, noise: StudyNoise) -> Array:
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
    accounting
    spherical
        Whether density shall depend on the Euclidean norm of each row of the answer.

    Returns
    -------
    Kind
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

    def draw(self, truth: Array, noise: StudyNoise) -> int:
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
        """Peeling for which all draws together cost ``share``.

        Parameters
        ----------
        share
        sensitivity
        draws
            How many entries are drawn of each line.
        magnitudes
            Whether the entries of largest magnitude are wanted instead of those of least loss.

        Returns
        -------
        Peeling
        """
        at_least(1, draws=draws)
        return cls(Exponential.calibrated(share.fraction(1 / draws), sensitivity), draws, magnitudes)

    @property
    def draws(self) -> int:
        return self.number

    def draw(self, truth: Array, noise: StudyNoise) -> Codes:
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
        return np.asarray(-(loss - loss.min(axis=-1, keepdims=True)) / self.scale)


@dataclass(frozen=True)
class NoisyThreshold(DerivedMechanism):
    """Releases which cells of a huge universe hold more than ``threshold`` rows after noise: sorted codes only.

    A cell of m rows is released with probability f(m) = Pr[m + noise > threshold], the empty cells included: their
    number is drawn from the exact binomial law, then that many distinct empty codes uniformly. Skipping the empty
    cells would make an output impossible on one of two neighbouring tables.
    """

    once: Laplace | Gaussian
    threshold: float

    @classmethod
    def calibrated(cls, share: Budget, sensitivity: Sensitivity, *, threshold: float) -> NoisyThreshold:
        """Noise on each cell for which the release costs ``share``.

        Parameters
        ----------
        share
        sensitivity
        threshold
            Rows that a noisy count has to exceed.

        Returns
        -------
        NoisyThreshold
        """
        return cls(choose_noise_kind(share.accounting).calibrated(share, sensitivity), threshold)

    @property
    def name(self) -> str:
        return f"{self.once.name} threshold"

    def log_active(self, count: Array) -> Array:
        """ln f(count)."""
        return self.once.log_above(self.threshold - count)

    def log_inactive(self, count: Array) -> Array:
        """ln (1 - f(count))."""
        return self.once.log_above(count - self.threshold)

    def draw(self, truth: SparseCounts, noise: StudyNoise) -> Codes:
        awake = noise.exponential(1.0, truth.values.shape) > -self.log_active(truth.values)
        empty_rate = float(np.exp(self.log_active(np.zeros(1))[0]))
        spurious = noise.binomial(truth.universe - len(truth.codes), empty_rate)
        return np.sort(np.r_[truth.codes[awake], draw_absent_codes(truth, spurious, noise)])

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
class SparseLaplace(DrawnNoise):
    """Laplace noise on every cell of a huge universe, of which only |noisy count| > ``cutoff`` is released.

    Exactly the law of dense noise followed by the cut, at the cost of the non-empty and the released cells only. The
    cut is two-sided, so what is released of an empty region stays unbiased.
    """

    name: ClassVar[str] = "sparse laplace"
    once: Laplace
    cutoff: float

    @classmethod
    def calibrated(cls, share: Budget, sensitivity: Sensitivity, *, cutoff_in_scales: float) -> SparseLaplace:
        """Noise on each cell for which the release costs ``share``.

        Parameters
        ----------
        share
        sensitivity
        cutoff_in_scales
            Noisy counts nearer to 0 than this, in scales of the noise, are not shown.

        Returns
        -------
        SparseLaplace
        """
        once = Laplace.calibrated(share, sensitivity)
        return cls(once, cutoff_in_scales * once.scale)

    def draw(self, truth: SparseCounts, noise: StudyNoise) -> SparseCounts:
        noisy = self.once.draw(truth.values, noise)
        kept = np.abs(noisy) > self.cutoff
        beyond = noise.binomial(truth.universe - len(truth.codes), float(np.exp(-self.cutoff / self.scale)))
        codes = np.r_[truth.codes[kept], draw_absent_codes(truth, beyond, noise)]
        sign = np.where(noise.uniform((beyond,)) < 0.5, -1.0, 1.0)
        values = np.r_[noisy[kept], sign * (self.cutoff + noise.exponential(self.scale, (beyond,)))]
        order = np.argsort(codes)
        return SparseCounts(codes[order], values[order], truth.universe)

    def log_density(self, released: SparseCounts, truth: SparseCounts) -> float:
        shown = -np.abs(released.values - truth.get_counts(released.codes)).sum() / self.scale
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
        return np.where(gap > 0, outside, inside)


def draw_absent_codes(truth: SparseCounts, number: int, noise: StudyNoise) -> Codes:
    """``number`` distinct codes drawn uniformly from the cells that ``truth`` does not list.

    Parameters
    ----------
    truth
    number
    noise

    Returns
    -------
    int array of shape (number,)
        Sorted.
    """
    if 2 * number > truth.universe - len(truth.codes):
        absent = np.setdiff1d(np.arange(truth.universe), truth.codes, assume_unique=True)
        return absent[np.argsort(noise.uniform(absent.shape))[:number]]
    drawn: Codes = np.zeros(0, dtype=np.int64)
    while len(drawn) < number:
        pool = np.r_[truth.codes, drawn, noise.codes(truth.universe, 2 * (number - len(drawn)) + 16)]
        # Keep first occurrences in the order drawn: sorting before the cut would favour small codes.
        order = np.argsort(pool, kind="stable")
        again = order[1:][pool[order[1:]] == pool[order[:-1]]]
        drawn = np.delete(pool, again)[len(truth.codes) :]
    return drawn[:number]


@dataclass(frozen=True)
class NoisyExcess(DrawnNoise):
    """Sum over all cells of max(count - ``threshold``, 0), with Laplace noise; shape (1,).

    The positive part never falls where a count rises, and moves no faster than it. So the sum rises at most by what
    the counts that rise do so together, and falls at most by what those that fall do: by 1 for one row, also where it
    is exchanged, for then one count rises while another falls. A row in a cell above the threshold that goes, or moves
    below it, attains that.
    """

    name: ClassVar[str] = "laplace excess"
    once: Laplace
    threshold: float

    @classmethod
    def calibrated(cls, share: Budget, sensitivity: Sensitivity, *, threshold: float) -> NoisyExcess:
        """Noise on the sum of excesses that costs ``share``.

        Parameters
        ----------
        share
        sensitivity
        threshold
            Rows of a cell beyond which they count; at least 0.

        Returns
        -------
        NoisyExcess
        """
        if not threshold >= 0:
            # Below 0 empty cells would count too: a row would bring its cell to more than one row's worth.
            raise RequestError("An excess is over a threshold of at least 0 rows: give one.")
        return cls(Laplace.calibrated(share, replace(sensitivity, l1=sensitivity.one_way)), threshold)

    def draw(self, truth: SparseCounts, noise: StudyNoise) -> Array:
        return self.once.draw(self._excess(truth), noise)

    def log_density(self, released: Array, truth: SparseCounts) -> float:
        return self.once.log_density(released, self._excess(truth))

    def _excess(self, truth: SparseCounts) -> Array:
        return np.array([np.maximum(truth.values - self.threshold, 0.0).sum()])


@dataclass(frozen=True)
class PathCounts(DrawnNoise):
    """Noisy counts of a binary tree of code prefixes that grows where it finds many rows: one histogram answers all.

    Releases noisy counts of the two children of the root, then of both children of every node that is heavy enough. A
    node is split when its noisy count is at least ``min_branch``, on ``levels`` levels in all; its children are asked
    alike whether they hold rows or not, and every count that was asked is released. What is asked depends on noisy
    counts only, and one row changes one count on each level: the cost is ``levels`` times that of one count. Under
    replace two paths change, which the sensitivity of one level's counts says.

    References
    ----------
    Chang, Ghazi, Kumar & Manurangsi 2021 and the blog post on practical differentially private clustering (2021):
    prefix trees of hashes.
    """

    once: Laplace | Gaussian
    levels: int
    min_branch: float

    @classmethod
    def calibrated(cls, share: Budget, sensitivity: Sensitivity, *, levels: int, min_branch: float) -> PathCounts:
        """Noise on the counts of all ``levels`` that costs ``share`` together.

        Parameters
        ----------
        share
        sensitivity
        levels
        min_branch
            The noisy count from which a node is split.

        Returns
        -------
        PathCounts
        """
        at_least(1, levels=levels)
        kind = Laplace if share.accounting in (Accounting.PURE, Accounting.PLD) else Gaussian
        return cls(kind.calibrated(share.fraction(1 / levels), sensitivity), levels, min_branch)

    @property
    def name(self) -> str:
        return f"{self.once.name} path"

    @property
    def draws(self) -> int:
        return self.levels

    def draw(self, truth: SparseCounts, noise: StudyNoise) -> SparseCounts:
        return self.walk(truth, lambda counts: self.once.draw(counts, noise))

    def walk(self, truth: SparseCounts, draw: Callable[[Any], Array]) -> SparseCounts:
        """The answers of all levels, from the root down.

        Parameters
        ----------
        truth
            Rows by whole code.
        draw
            Of the counts of some nodes to noisy ones.

        Returns
        -------
        SparseCounts
            Noisy counts by heap number.
        """
        nodes = np.array([2, 3], dtype=np.int64)
        levels, counts = [], []
        for _ in range(self.levels):
            noisy = draw(count_below(nodes, truth))
            levels.append(nodes)
            counts.append(noisy)
            nodes = list_children(nodes[noisy >= self.min_branch])
        return SparseCounts(np.concatenate(levels), np.concatenate(counts), 2 * truth.universe)

    def log_density(self, released: SparseCounts, truth: SparseCounts) -> float:
        return self.once.log_density(released.values, count_below(released.codes, truth))


def list_children(nodes: Codes) -> Codes:
    """Heap numbers of both children of each node, sorted if ``nodes`` are."""
    return (2 * nodes[:, None] + np.arange(2)).ravel()


def count_below(nodes: Codes, histogram: SparseCounts) -> Any:
    """Rows below each node, from the histogram of whole codes.

    Parameters
    ----------
    nodes : int array of shape (m,)
        Heap numbers.
    histogram
        Rows by whole code.

    Returns
    -------
    int array of shape (m,)
    """
    depth = histogram.universe.bit_length() - 1
    before = np.r_[0, np.cumsum(histogram.values)]
    first, end = (np.searchsorted(histogram.codes, edge) for edge in find_code_range(nodes, depth))
    return before[end] - before[first]


@dataclass(frozen=True, eq=False)
class Measurement(Generic[Answer, Drawer]):
    """A value that left the session, and the very mechanism that drew it; what that tells of its noise is public."""

    value: Answer
    mechanism: Drawer

    @property
    def sd(self: Measurement[Any, Additive | DrawnNoise]) -> float:
        """Standard deviation of the noise on one entry."""
        return self.mechanism.compute_sd(self.value.shape[-1] if isinstance(self.value, np.ndarray) else 1)


class Question(NamedTuple):
    """A query, the kind of noise that is added to its answer, and the share that pays for it."""

    query: Query
    kind: Kind[Array, Additive]
    share: Budget
