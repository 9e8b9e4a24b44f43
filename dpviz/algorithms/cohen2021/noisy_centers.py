"""PrivatekNoisyCenters on tuples of disjoint blocks, or on a table of tuples (Cohen et al. 2021, Fig. 4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpviz.algorithms.card import Card, Guarantee, Setting, always, knob
from dpviz.algorithms.cohen2021 import FAMILY, PAPER
from dpviz.algorithms.cohen2021.tuple_plan import finish, halves, noisy_center_test, operations_of, smallest_n_of
from dpviz.algorithms.cohen2021.tuple_source import GivenTupleParams, TupleSource
from dpviz.algorithms.steps import Step
from dpviz.privacy.accounting import Accounting
from dpviz.privacy.room import DataRoom


@dataclass(frozen=True)
class NoisyCenterParams(GivenTupleParams):
    """Parameters of k-noisy-centers."""

    far: float | None = knob(
        None,
        help="Δ: how many radii apart the balls must be that hold the tuples' points. More means less noise and more "
        "⊥; empty: by the preset's rule.",
        low=7,
        high=1e9,
    )


def noisy_centers(room: DataRoom, k: int, params: NoisyCenterParams, rng: np.random.Generator) -> Iterator[Step]:
    """k-means in secret blocks, a private test whether the blocks agree, and noisy centres of one of them.

    With ``rows`` = tuples the rows take the place of the blocks' centres. O(n k d) for the blocks and O(m n_t k² d) for
    the test of n_t tuples.

    **Guarantee.** Add/remove or replace (tuples: replace only); (ε, δ)-DP, whatever the answer. Bounds are public; n is
    public or bought. Of ε the test uses 1 at most: the surplus buys noisy means of rows (of the points that rows hold,
    of which one tuple changes k). There is no pure version: with probability δ a test may miss that tuples disagree.
    """
    source = TupleSource.of(room, k, params, rng)
    yield source.stand_in()
    share = halves(room.budget, 1.0)
    step = noisy_center_test(source, share.tuples, far=params.far)
    yield step
    yield from finish(source, step, share.means)


def _smallest_n(setting: Setting, params: NoisyCenterParams) -> float:
    return smallest_n_of(setting, params, 1.0)


CARD = Card(
    id="k-noisy-centers",
    title="k-noisy-centers",
    family=FAMILY,
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
    guarantees=(Guarantee.APPROX,),
    params=NoisyCenterParams,
    plan=noisy_centers,
    accounting=always(Accounting.BASIC),
    smallest_n=_smallest_n,
    hopeless="there are fewer tuples than the test can be asked about, and the answer is ⊥",
    operations=operations_of,
    sample="towns",
    formula=(
        r"\hat c_i=c_i+\mathcal N(0,\sigma_i^2),\quad \sigma_i\propto\lambda_i=\tfrac{2}{\Delta}\,"
        r"\min_{j\ne i}\|c_i-c_j\|\;e^{s(1+\frac{4k}{\varepsilon}\ln\frac{4k}{\delta}+\mathrm{Lap}(4k/\varepsilon))},"
        r"\quad s=\ln\tfrac{\Delta+2}{\Delta-2}"
    ),
)
