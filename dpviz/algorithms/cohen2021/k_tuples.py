"""k-means in secret blocks, or a table of k-tuples, tested for agreement (Cohen et al. 2021, Figs. 3 and 4).

What agrees is averaged, or shown with noise, or tells where the clusters are whose means all rows then measure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from dpviz.algorithms.card import Card, Guarantee, always, param_field, read_texts
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
from dpviz.algorithms.steps import Step
from dpviz.core import Accounting, Budget, PrivateSession

# Part of the budget that finds the clusters, where their means are measured after it.
TUPLES_PART = 0.5
_GIVEN = "given"
_CENTERS, _AVERAGES = "noisy centres", "averages"


@dataclass(frozen=True)
class NoisyCenterParams(GivenTupleParams):
    """Parameters of k-noisy-centers."""

    far: float | None = param_field(None, low=7, high=1e9)


@dataclass(frozen=True)
class AverageParams(GivenTupleParams):
    """Parameters of k-averages."""

    finest: float = param_field(FINEST, low=1e-9, high=0.5)
    axes: str = param_field(_GIVEN, choices=(_GIVEN, "turned"))


@dataclass(frozen=True)
class StableParams(TupleParams):
    """Parameters of stable-kmeans."""

    clusters_by: str = param_field(_CENTERS, choices=(_CENTERS, _AVERAGES))

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
    guarantees=(Guarantee.APPROX,),
    accounting=always(Accounting.BASIC),
    operations=count_operations,
)

NOISY_CENTERS = _card(
    **read_texts("k-noisy-centers"),
    params=NoisyCenterParams,
    plan=noisy_centers,
    smallest_n=lambda setting, params: compute_smallest_n(setting, params, 1.0),
)

AVERAGES = _card(
    **read_texts("k-averages"),
    params=AverageParams,
    plan=averages,
    smallest_n=lambda setting, params: compute_smallest_n(setting, params, 1.0, finest=params.finest),
)

STABLE = _card(
    **read_texts("stable-kmeans"),
    params=StableParams,
    plan=stable_kmeans,
    smallest_n=lambda setting, params: compute_smallest_n(setting, params, TUPLES_PART, finest=params.finest),
)

CARDS = (NOISY_CENTERS, AVERAGES, STABLE)
