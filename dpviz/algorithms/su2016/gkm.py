"""GkM: k-means on secret blocks, averaged with noise (Su et al. 2016, §4.1.2; the GUPT way of sample and aggregate)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpviz.algorithms.baselines.sample_aggregate import Blocking, BlocksStep, Box, align_field, count_operations, deal
from dpviz.algorithms.card import PURE_OR_ZCDP, Card, Params, Setting, param_field, read_card
from dpviz.algorithms.steps import CentersStep, Step
from dpviz.core import Array, Budget, ExponentialQuantile, PrivateSession, Quantiles, mechanisms, partitions, queries

# How many blocks there are, and how their centres are read.
# The first is the paper's, the quartiles' distance is Tukey's fence, and the others were chosen by hand.

_PAPER_POWER = 0.4  # number of blocks: n to this power in the paper
_QUARTILES = (0.25, 0.75)  # what is bought of the blocks' centres, for their range
_RANGE_REACH = 1.5  # so many distances of the quartiles the range reaches beyond them
_TELLING_RANKS = 10.0  # a quantile is noise where ε of one quantile times the number of blocks is less than this
_NARROWEST_RANGE = 1e-9  # narrower ranges than this part of the domain would drown in rounding


@dataclass(frozen=True, eq=False, kw_only=True)
class RangesStep(Step):
    """Where the centres of blocks lie: a box from ``lower`` to ``upper`` (k, d) for each centre.

    The boxes are released where they are ``estimated``, else they are the public domain. ``noise_sd`` (k, d) is the
    standard deviation of the noise that averages over the blocks will carry.
    """

    blocks: BlocksStep
    lower: Array
    upper: Array
    noise_sd: Array
    estimated: bool

    @property
    def public(self) -> bool:
        """Whether the boxes are the domain, which everybody knows."""
        return not self.estimated


@dataclass(frozen=True)
class GkMParams(Params):
    """Parameters of GkM."""

    preset: str = param_field("practical", choices=("practical", "paper"))
    block: str | None = param_field(None, choices=("n0.4", "3k"))
    rows_per_block: int | None = param_field(None, low=1, high=10_000_000)
    range: str = param_field("estimate", choices=("estimate", "domain"))
    align: str = align_field()

    def choose_blocking(self, k: int) -> Blocking:
        """How many blocks there are."""
        block = self.block or ("n0.4" if self.preset == "paper" else "3k")
        by_power = block == "n0.4" and not self.rows_per_block
        return Blocking.for_clusters(k, _PAPER_POWER if by_power else None, self.rows_per_block)


def gkm(session: PrivateSession, k: int, params: GkMParams, rng: np.random.Generator) -> Iterator[Step]:
    """k-means on secret blocks, then noisy averages of what the blocks found. The last step is the release. O(n k d).

    **Guarantee.** Add/remove or replace; ε-DP at δ = 0, else zCDP for (ε, δ). One person is in one block, whatever the
    number of their rows: one model is replaced. Bounds and anchors are public; n is public or bought, and sets the
    number of blocks.
    """
    blocks = deal(session, k, params.choose_blocking(k).choose_number(session.n), rng, align=params.align)
    yield blocks
    models, shares = blocks.fit(session), session.budget.split(ranges=1.0, averages=1.0)
    box, share, query = Box.around(models), session.budget, None
    # Whether the blocks are so many that noisy quartiles say something; from public quantities.
    quartiles = Quantiles(box.lower, box.upper, _QUARTILES)
    ranks = models.n * models.mechanism(quartiles, ExponentialQuantile, shares.ranges).epsilon_of_one
    if params.range == "estimate" and ranks >= _TELLING_RANKS:
        box, share = estimate_box(models, box, shares.ranges), shares.averages
        query = queries.BoxSum(box.lower, box.upper)
    middle, half = (0.0, np.ones(models.dim)) if query is None else (query.middle, query.half)
    # In the whole domain the models' own region is smaller than its box if a ball cuts it.
    asked, spherical = query or queries.Sum(partitions.Everything()), params.preset == "practical"
    noise, shape = models.mechanism(asked, models.noise_kind(spherical=spherical), share), blocks.anchors.shape
    sd = (half * noise.compute_sd(models.dim) / blocks.number).reshape(shape)
    yield RangesStep(
        title="Ranges as declared" if query is None else "Noisy quartiles of the blocks",
        blocks=blocks,
        lower=box.lower.reshape(shape),
        upper=box.upper.reshape(shape),
        noise_sd=sd,
        estimated=query is not None,
    )
    noisy_sum = models.release(asked, share, note="averages over blocks", spherical=spherical).value[0]
    centers = (middle + half * noisy_sum / blocks.number).reshape(shape)
    yield CentersStep(
        title=f"Averages over {blocks.number:,} blocks, with noise",
        centers=session.region.clip(centers),
        previous=blocks.anchors,
        center_noise_sd=np.sqrt((sd**2).mean(axis=1)),
    )


def estimate_box(models: PrivateSession, domain: Box, share: Budget) -> Box:
    """Noisy quartiles of every coordinate of the models, widened by 1.5 of their distance, within the domain.

    **Guarantee.** ``share``, divided between all quartiles.
    """
    question = Quantiles(domain.lower, domain.upper, _QUARTILES)
    quartiles = models.ask(question, ExponentialQuantile, share, note="ranges of block centres")
    low, high = np.sort(quartiles.value, axis=0)
    reach = _RANGE_REACH * (high - low)
    lower, upper = np.maximum(low - reach, domain.lower), np.minimum(high + reach, domain.upper)
    least = _NARROWEST_RANGE * (domain.upper - domain.lower)
    narrow = upper - lower < least
    middle = np.clip((lower + upper) / 2, domain.lower + least, domain.upper - least)
    return Box(np.where(narrow, middle - least, lower), np.where(narrow, middle + least, upper))


def _compute_smallest_n(setting: Setting, params: GkMParams) -> float:
    """Records at which the noise of an average over the whole domain is half the typical distance between centres.

    Also so many that a block has three rows for each cluster. A person is in one block, so persons' rows cost nothing.
    """
    k, dim = setting.k, setting.dim
    budget = setting.budget(PURE_OR_ZCDP(params, setting.delta))
    kind = mechanisms.choose_noise_kind(budget.accounting, spherical=params.preset == "practical")
    noise = setting.calibrate(queries.Sum(partitions.Everything()), kind, budget, of_blocks=True)
    number = noise.compute_sd(k * dim) / float(k ** (-1 / dim))
    return params.choose_blocking(k).smallest_n(number) / setting.rows_per_person


CARD = Card(
    **read_card("gkm"),
    params=GkMParams,
    plan=gkm,
    accounting=PURE_OR_ZCDP,
    smallest_n=_compute_smallest_n,
    operations=count_operations,
)
