"""k-means in secret blocks, or a table of k-tuples, tested for agreement (Cohen et al. 2021, Figs. 3 and 4).

What agrees is averaged, or shown with noise, or tells where the clusters are whose means all rows then measure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from dpviz.algorithms.card import Card, Guarantee, always, param_field
from dpviz.algorithms.cohen2021 import FAMILY, PAPER
from dpviz.algorithms.cohen2021.tested_tuples import (
    FINEST,
    GivenTupleParams,
    TupleParams,
    TupleSource,
    TupleTestStep,
    compute_smallest_n,
    count_operations,
    finish,
    halve_budget,
    run_average_test,
    run_noisy_center_test,
)
from dpviz.algorithms.regime import TOO_COARSE
from dpviz.algorithms.steps import Step
from dpviz.core import Accounting, Budget, PrivateSession

# Part of the budget that finds the clusters, where their means are measured after it.
TUPLES_PART = 0.5
_GIVEN = "given"
_CENTERS, _AVERAGES = "noisy centres", "averages"


@dataclass(frozen=True)
class NoisyCenterParams(GivenTupleParams):
    """Parameters of k-noisy-centers."""

    far: float | None = param_field(
        None,
        help="Δ: how many radii apart the balls must be that hold the tuples' points. More means less noise and more "
        "⊥; empty: by the preset's rule.",
        low=7,
        high=1e9,
    )


@dataclass(frozen=True)
class AverageParams(GivenTupleParams):
    """Parameters of k-averages."""

    finest: float = param_field(
        FINEST,
        help="Radius of the smallest cloud of centres that is told apart, in unit coordinates; public.",
        low=1e-9,
        high=0.5,
    )
    axes: str = param_field(
        _GIVEN,
        help="given: averages are taken column by column. turned: along the axes of a random rotation, along which a "
        "cloud is narrower, so that noise grows with the root of the columns; no gain below some forty of them.",
        choices=(_GIVEN, "turned"),
    )


@dataclass(frozen=True)
class StableParams(TupleParams):
    """Parameters of stable-kmeans."""

    clusters_by: str = param_field(
        _CENTERS,
        help="What finds the clusters: noisy centres (k-noisy-centers) or averages (k-averages) of the blocks.",
        choices=(_CENTERS, _AVERAGES),
    )

    @property
    def finest(self) -> float | None:
        """Radius of the smallest cloud that averages tell apart; None for noisy centres."""
        return FINEST if self.clusters_by == _AVERAGES else None


def noisy_centers(
    session: PrivateSession, k: int, params: NoisyCenterParams, rng: np.random.Generator
) -> Iterator[Step]:
    """k-means in secret blocks, a private test whether the blocks agree, and noisy centres of one of them (Fig. 4).

    **Guarantee.** As ``run_tested``.
    """
    yield from run_tested(session, k, params, rng, 1.0, partial(run_noisy_center_test, far=params.far))


def averages(session: PrivateSession, k: int, params: AverageParams, rng: np.random.Generator) -> Iterator[Step]:
    """k-means in secret blocks, a private test whether they agree, and private averages of their centres (Fig. 3).

    **Guarantee.** As ``run_tested``.
    """
    test = partial(run_average_test, finest=params.finest, turned=params.axes != _GIVEN)
    yield from run_tested(session, k, params, rng, 1.0, test)


def stable_kmeans(session: PrivateSession, k: int, params: StableParams, rng: np.random.Generator) -> Iterator[Step]:
    """Half of the budget on tuples of secret blocks, the other half on noisy means of the cells that they found.

    **Guarantee.** As ``run_tested``.
    """
    by_centers, by_averages = partial(run_noisy_center_test, far=None), partial(run_average_test, finest=FINEST)
    test = by_centers if params.finest is None else by_averages
    yield from run_tested(session, k, params, rng, TUPLES_PART, test)


def run_tested(
    session: PrivateSession,
    k: int,
    params: TupleParams,
    rng: np.random.Generator,
    part: float,
    test: Callable[[TupleSource, Budget], TupleTestStep],
) -> Iterator[Step]:
    """A part of the budget for a test of tuples, what is left of it for noisy means of the cells that it found.

    With ``rows`` = tuples the rows take the place of the blocks' centres. O(n k d) for blocks and means, O(m n_t k² d)
    for the test of n_t tuples.

    **Guarantee.** Add/remove or replace (tuples: replace only); (ε, δ)-DP, whatever the answer. Bounds are public; n is
    public or bought. Of ε the test and what it releases use 1 at most: the surplus buys noisy means of rows (of the
    points that rows hold, of which one tuple changes k). There is no pure version: with probability δ a test may miss
    that tuples disagree.
    """
    source = TupleSource.of(session, k, params, rng)
    yield source.make_placeholder()
    share = halve_budget(session.budget, part)
    step = test(source, share.tuples)
    yield step
    yield from finish(source, step, share.means)


_card = partial(
    Card,
    does="Tuples",
    at_once=True,
    family=FAMILY,
    guarantees=(Guarantee.APPROX,),
    accounting=always(Accounting.BASIC),
    operations=count_operations,
    sample="towns",
    release="a private test of tuples has no release-grade noise",
)

NOISY_CENTERS = _card(
    id="k-noisy-centers",
    title="k-noisy-centers",
    paper=f"{PAPER}, Fig. 4",
    summary="Clusters secret blocks of rows without noise (or takes rows that are k points each), tests privately "
    "whether all say the same, and then adds noise to what one of them says.",
    story=(
        "Deal the rows into more than a thousand secret blocks and run plain k-means in each: a block's k centres are "
        "a tuple, and one person can change one tuple only. A private test asks whether small balls, far apart, around "
        "the points of one tuple hold exactly one point of nearly every other tuple. If they do not, the answer is ⊥, "
        "and the budget is spent: a second try would be a second look at the rows. If they do, no person can move the "
        "points of a tuple far, so a little noise hides them, scaled to the distance between the centres. The noise "
        "depends on Δ, how far apart the balls are: the clusters must be tiny beside the distances between them."
    ),
    when="Two or a few clusters that are a thousand times farther apart than wide, and tens of thousands of rows at "
    "least; with rows = tuples some 1,600 rows that hold k such points each, as in the sample of 5,000 laboratories. "
    "On anything else it answers ⊥.",
    params=NoisyCenterParams,
    plan=noisy_centers,
    smallest_n=lambda setting, params: compute_smallest_n(setting, params, 1.0),
    hopeless="there are fewer tuples than the test can be asked about, and the answer is ⊥",
    formula=(
        r"\hat c_i=c_i+\mathcal N(0,\sigma_i^2),\quad \sigma_i\propto\lambda_i=\tfrac{2}{\Delta}\,"
        r"\min_{j\ne i}\|c_i-c_j\|\;e^{s(1+\frac{4k}{\varepsilon}\ln\frac{4k}{\delta}+\mathrm{Lap}(4k/\varepsilon))},"
        r"\quad s=\ln\tfrac{\Delta+2}{\Delta-2}"
    ),
)

AVERAGES = _card(
    id="k-averages",
    title="k-averages",
    paper=f"{PAPER}, Fig. 3",
    summary="Clusters secret blocks of rows without noise (or takes rows that are k points each), tests privately "
    "whether all say the same, and releases private averages of what they say.",
    story=(
        "Deal the rows into secret blocks and run plain k-means in each: a block's k centres are a tuple, and one "
        "person can change one tuple only. A private test asks whether nearly all tuples have one point in each of k "
        "balls that lie at least seven radii apart; if not, the answer is ⊥ and the budget is spent. If so, the points "
        "of all tuples fall into k clouds, and each cloud gets a private average: its radius, a point in its middle, "
        "and a clipped mean with noise. The price is hidden in the proof: the test lets hundreds of tuples disagree, "
        "so each average must be private for that many changes at once. That takes about half a million tuples for "
        "every cluster and column; with fewer this program answers ⊥ rather than noise."
    ),
    when="Tens of millions of rows in clusters that are a few times farther apart than wide, or with rows = tuples a "
    "million rows that hold k such points each: the sample of two million thermometers. With fewer rows, such as any "
    "file in sample_data, it answers ⊥; then k-noisy-centers, if the clusters are farther apart still.",
    params=AverageParams,
    plan=averages,
    smallest_n=lambda setting, params: compute_smallest_n(setting, params, 1.0, finest=params.finest),
    categories=TOO_COARSE,
    hopeless="an average that is private for hundreds of changed tuples at once is noise, and the answer is ⊥",
    formula=(
        r"\hat\varepsilon=\frac{\varepsilon}{4k(\ell+1)},\quad \hat\delta=\frac{\delta}{8k\,e^{\varepsilon/2}(\ell+1)},"
        r"\quad \ell=\frac{2m}{\varepsilon}\ln\frac{m}{\beta\delta}"
    ),
)

STABLE = _card(
    id="stable-kmeans",
    title="Stable k-means",
    paper=f"{PAPER}, k-means under stability",
    summary="Finds the clusters through tuples of secret blocks with half of the budget, and measures their means "
    "with the other half.",
    story=(
        "If every sample of the rows has the same clusters, the table is stable, and a few rows are enough to see "
        "them. So the rows are dealt into secret blocks, each is clustered without noise, and a private test asks "
        "whether the blocks agree; half of the budget pays for it and for rough centres. Every row then goes to its "
        "nearest rough centre, and the other half of the budget buys noisy counts and sums of these cells, which is "
        "precise: one round of Lloyd, started in the right place. If the blocks disagree the answer is ⊥, and that "
        "round starts from centres that know no data. The title of the last step says which of the two it was."
    ),
    when="A few clusters a thousand times farther apart than wide, and a hundred thousand rows. Otherwise it is one "
    "round of DPLloyd with half of the budget.",
    params=StableParams,
    plan=stable_kmeans,
    smallest_n=lambda setting, params: compute_smallest_n(setting, params, TUPLES_PART, finest=params.finest),
    hopeless="there are fewer tuples than the test can be asked about, and the answer is ⊥",
    formula=(
        r"\hat c_i=\frac{\sum_{x\in V_i}x+\mathcal N(0,\sigma^2)}{|V_i|+\mathcal N(0,\sigma_0^2)},\quad "
        r"V_i=\{x:\ i=\arg\min_j\|x-\tilde c_j\|\}"
    ),
)

CARDS = (NOISY_CENTERS, AVERAGES, STABLE)
