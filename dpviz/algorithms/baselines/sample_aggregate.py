"""Sample and aggregate: k-means on secret blocks, a private median of every coordinate (Nissim et al. 2007).

What every algorithm on secret disjoint blocks of rows shares is here: how many blocks, their models, and how models are
aligned.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dpviz.algorithms.card import Card, Params, Setting, param_field, pure_or, read_card
from dpviz.algorithms.steps import CentersStep, Step
from dpviz.algorithms.tools.solvers import pack_spheres
from dpviz.core import (
    Accounting,
    Array,
    BlockKMeans,
    ExponentialQuantile,
    Medians,
    PrivateSession,
    Quantiles,
    SmoothMedian,
    mechanisms,
)

# Rows of a block for each cluster that it has to find (GkM-3K; GUPT).
_ROWS_FOR_A_CLUSTER = 3
# A public coin of k-means' seeding is below this.
_COINS = 2**31
# Numbers in the largest array over all blocks: k-means in them takes seconds, and 32 MiB an array.
_MOST_NUMBERS = 2**22
# Elementary operations that k-means takes in its block for a row, a centre and a column.
_PASSES = 25.0


@dataclass(frozen=True, eq=False, kw_only=True)
class BlocksStep(Step):
    """Rows are dealt to ``number`` secret blocks of about ``rows_each`` rows, and k-means runs in each: public values.

    ``anchors`` (k, d) are the public points that the centres of a block are put in order by; ``matched`` says whether
    by matching, or else by sorting, and the anchors only stand in where a block has too few rows. Of ``salt`` the
    seeding of k-means is made.
    """

    anchors: Array
    number: int
    rows_each: float
    matched: bool
    salt: int

    @property
    def public(self) -> bool:
        """Always: what the blocks find is secret."""
        return True

    def fit(self, session: PrivateSession) -> PrivateSession:
        """A session over the blocks' models, each the flattened centres of k-means on its own rows. O(n k d)."""
        # Whoever comes, goes or is exchanged changes one of the models, with all of that person's rows.
        return session.blocks(BlockKMeans(self.anchors, match=self.matched, salt=self.salt), self.number)


class Blocking(NamedTuple):
    """How many blocks there are: as many as hold ``rows`` rows each, or n to a ``power``."""

    rows: int
    power: float | None = None

    @classmethod
    def for_clusters(cls, k: int, power: float | None, rows: int | None = None) -> Blocking:
        """So many rows each, or as many as ``k`` clusters need."""
        return cls(rows or _ROWS_FOR_A_CLUSTER * k, power)

    def choose_number(self, n: int) -> int:
        """Blocks of n rows."""
        return max(1, n // self.rows if self.power is None else round(n**self.power))

    def smallest_n(self, number: float) -> float:
        """Rows that make so many blocks, none of which is too small."""
        if self.power is None:
            return max(number, 1.0) * self.rows
        return float(max(number ** (1 / self.power), self.rows ** (1 / (1 - self.power))))


def align_field() -> Any:
    """How the centres of blocks are put in order, as a parameter."""
    return param_field("anchors", choices=("anchors", "sorted"))


class Box(NamedTuple):
    """Bounds of a block's k centres, flattened, shape (k * d,) each, unit coordinates."""

    lower: Array
    upper: Array

    @classmethod
    def around(cls, models: PrivateSession) -> Box:
        """The public box that models lie in."""
        half = np.minimum(models.region.half, models.region.radius)
        return cls(-half, half)


def deal(session: PrivateSession, k: int, number: int, rng: np.random.Generator, *, align: str) -> BlocksStep:
    """The plan of ``number`` blocks, from public values and coins alone; no row is read."""
    number = min(number, count_most_blocks(k, session.dim))
    rows_each = session.n / number
    return BlocksStep(
        title=f"{number:,} secret blocks of about {rows_each:,.0f} rows, k-means in each",
        anchors=pack_spheres(k, session.region, rng),
        number=number,
        rows_each=rows_each,
        matched=align == "anchors",
        salt=int(rng.integers(_COINS)),
    )


def count_most_blocks(k: int, dim: int) -> int:
    """As many blocks as there is memory for: a public or noisy number of records may be far above the table's."""
    return max(1, _MOST_NUMBERS // (k * max(k, dim)))


def count_operations(setting: Setting, params: Params) -> float:
    """Rough number of elementary operations of k-means in all blocks."""
    return _PASSES * setting.rows * setting.k * setting.dim


# A median says something where the number of blocks times its ε is at least this.
_TELLING_RANKS = 20.0
_MEDIAN = (0.5,)


@dataclass(frozen=True, eq=False, kw_only=True)
class MedianLawStep(Step):
    """What a private median can tell of ``number`` blocks, before it is asked: public numbers only.

    Each of ``medians`` coordinates has ``epsilon_each``; ``smooth`` medians carry noise by smooth sensitivity, others
    are places drawn by the exponential mechanism.
    """

    number: int
    medians: int
    epsilon_each: float
    smooth: bool

    @property
    def public(self) -> bool:
        """Always: the number of blocks follows from the number of rows that is declared or was bought."""
        return True


@dataclass(frozen=True)
class SampleAggregateParams(Params):
    """Parameters of sample and aggregate."""

    preset: str = param_field("practical", choices=("practical", "paper"))
    aggregate: str | None = param_field(None, choices=("smooth", "em_median"))
    block: str | None = param_field(None, choices=("sqrt", "3k"))
    align: str = align_field()

    @property
    def smooth(self) -> bool:
        """Whether medians carry noise by smooth sensitivity."""
        return (self.aggregate or ("smooth" if self.preset == "paper" else "em_median")) == "smooth"

    def choose_blocking(self, k: int) -> Blocking:
        """How many blocks there are."""
        block = self.block or ("sqrt" if self.preset == "paper" else "3k")
        return Blocking.for_clusters(k, None if block == "3k" else 0.5)


def sample_aggregate(
    session: PrivateSession, k: int, params: SampleAggregateParams, rng: np.random.Generator
) -> Iterator[Step]:
    """k-means on secret blocks, then a private median of each of the k d coordinates. O(n k d).

    **Guarantee.** Add/remove or replace; ε-DP at δ = 0; else (ε, δ) by basic composition (smooth) or zCDP
    (em_median). One person is in one block, whatever the number of their rows: one model is replaced. Bounds and
    anchors are public; n is public or bought, and sets the number of blocks.
    """
    blocks = deal(session, k, params.choose_blocking(k).choose_number(session.n), rng, align=params.align)
    yield blocks
    models, note = blocks.fit(session), "medians over blocks"
    box = Box.around(models)
    question, kind = _choose_median(params.smooth, box.lower, box.upper)
    yield MedianLawStep(
        title="How much of the blocks' order a median of this ε can see",
        number=blocks.number,
        medians=models.dim,
        epsilon_each=models.mechanism(question, kind, session.budget).epsilon_of_one,
        smooth=params.smooth,
    )
    if params.smooth:
        tight = params.preset == "practical"
        medians = models.ask(question, SmoothMedian, session.budget, note=note, tight=tight).value
    else:
        medians = models.ask(question, ExponentialQuantile, session.budget, note=note).value[0]
    yield CentersStep(
        title=f"Private medians over {blocks.number:,} blocks, coordinate by coordinate",
        centers=session.region.clip(medians.reshape(blocks.anchors.shape)),
        previous=blocks.anchors,
        released=True,
    )


def _choose_median(
    smooth: bool, lower: Array, upper: Array
) -> tuple[Medians | Quantiles, mechanisms.Kind[Array, SmoothMedian | ExponentialQuantile]]:
    """The question for the median of every coordinate in a box, and what answers it."""
    return (Medians(lower, upper), SmoothMedian) if smooth else (Quantiles(lower, upper, _MEDIAN), ExponentialQuantile)


def _choose_accounting(params: SampleAggregateParams, delta: float) -> Accounting:
    return pure_or(Accounting.BASIC if params.smooth else Accounting.ZCDP)(params, delta)


def _compute_smallest_n(setting: Setting, params: SampleAggregateParams) -> float:
    """Records at which the number of blocks times ε of one median is 20; rows of one person are in one block."""
    budget = setting.budget(_choose_accounting(params, setting.delta))
    side = np.ones(setting.k * setting.dim)
    question, kind = _choose_median(params.smooth, -side, side)
    number = _TELLING_RANKS / setting.calibrate(question, kind, budget, of_blocks=True).epsilon_of_one
    return params.choose_blocking(setting.k).smallest_n(number) / setting.rows_per_person


CARD = Card(
    **read_card("sample-aggregate"),
    params=SampleAggregateParams,
    plan=sample_aggregate,
    accounting=_choose_accounting,
    smallest_n=_compute_smallest_n,
    operations=count_operations,
)
