"""Sample and aggregate: k-means on secret blocks, a private median of every coordinate (Nissim et al. 2007)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpviz.algorithms.card import TOO_COARSE, Card, Guarantee, Params, Setting, param_field, pure_or, read_texts
from dpviz.algorithms.steps import CentersStep, Step
from dpviz.algorithms.tools.secret_blocks import (
    ROWS_FOR_A_CLUSTER,
    Blocking,
    align_field,
    count_block_operations,
    deal,
    fit_models,
    make_domain_box,
)
from dpviz.core import (
    Accounting,
    Array,
    ExponentialQuantile,
    Medians,
    PrivateSession,
    Quantiles,
    Region,
    Relation,
    SmoothMedian,
    mechanisms,
)

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
        return Blocking(ROWS_FOR_A_CLUSTER * k, None if block == "3k" else 0.5)


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
    models = fit_models(session, blocks)
    box, note = make_domain_box(models), "medians over blocks"
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
    region = Region(side, float(np.linalg.norm(side)))
    number = (
        _TELLING_RANKS / mechanisms.calibrate_mechanism(question, kind, budget, Relation.REPLACE, region).epsilon_of_one
    )
    return params.choose_blocking(setting.k).smallest_n(number) / setting.rows_per_person


CARD = Card(
    **read_texts("sample-aggregate"),
    does="Blocks",
    deals_persons=True,
    guarantees=(Guarantee.PURE, Guarantee.APPROX),
    params=SampleAggregateParams,
    plan=sample_aggregate,
    accounting=_choose_accounting,
    smallest_n=_compute_smallest_n,
    categories=TOO_COARSE,
    operations=count_block_operations,
    sample="city",
    release="models of secret blocks have no release-grade noise",
)
