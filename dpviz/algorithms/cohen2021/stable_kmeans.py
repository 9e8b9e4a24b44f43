"""k-means of stable tables: tuples of blocks find the clusters, noisy means of all rows finish (Cohen et al. 2021)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpviz.algorithms.card import Card, Guarantee, Setting, always, knob
from dpviz.algorithms.cohen2021 import FAMILY, PAPER
from dpviz.algorithms.cohen2021.tuple_plan import (
    FINEST,
    average_test,
    finish,
    halves,
    noisy_center_test,
    operations_of,
    smallest_n_of,
)
from dpviz.algorithms.cohen2021.tuple_source import TupleParams, TupleSource
from dpviz.algorithms.steps import Step
from dpviz.privacy.accounting import Accounting
from dpviz.privacy.room import DataRoom

# Part of the budget that finds the clusters.
TUPLES_PART = 0.5
_CENTERS, _AVERAGES = "noisy centres", "averages"


@dataclass(frozen=True)
class StableParams(TupleParams):
    """Parameters of stable-kmeans."""

    clusters_by: str = knob(
        _CENTERS,
        help="What finds the clusters: noisy centres (k-noisy-centers) or averages (k-averages) of the blocks.",
        choices=(_CENTERS, _AVERAGES),
    )


def stable_kmeans(room: DataRoom, k: int, params: StableParams, rng: np.random.Generator) -> Iterator[Step]:
    """Half of the budget on tuples of secret blocks, the other half on noisy means of the cells that they found.

    O(n k d) for blocks and means and O(m n_t k² d) for the test of n_t tuples.

    **Guarantee.** Add/remove or replace; (ε, δ)-DP, whatever the answer. Bounds are public; n is public or bought. Of ε
    the test uses 1 at most, the means the rest. There is no pure version: with probability δ a test may miss that
    tuples disagree.
    """
    source = TupleSource.of(room, k, params, rng)
    yield source.stand_in()
    share = halves(room.budget, TUPLES_PART)
    if params.clusters_by == _AVERAGES:
        step = average_test(source, share.tuples, finest=FINEST)
    else:
        step = noisy_center_test(source, share.tuples, far=None)
    yield step
    yield from finish(source, step, share.means)


def _smallest_n(setting: Setting, params: StableParams) -> float:
    finest = FINEST if params.clusters_by == _AVERAGES else None
    return smallest_n_of(setting, params, TUPLES_PART, finest=finest)


CARD = Card(
    id="stable-kmeans",
    title="Stable k-means",
    family=FAMILY,
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
    guarantees=(Guarantee.APPROX,),
    params=StableParams,
    plan=stable_kmeans,
    accounting=always(Accounting.BASIC),
    smallest_n=_smallest_n,
    hopeless="there are fewer tuples than the test can be asked about, and the answer is ⊥",
    operations=operations_of,
    sample="towns",
    formula=(
        r"\hat c_i=\frac{\sum_{x\in V_i}x+\mathcal N(0,\sigma^2)}{|V_i|+\mathcal N(0,\sigma_0^2)},\quad "
        r"V_i=\{x:\ i=\arg\min_j\|x-\tilde c_j\|\}"
    ),
)
