"""PrivatekAverages on tuples of disjoint blocks (Cohen et al. 2021, Fig. 3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpviz.algorithms.card import Card, Guarantee, Setting, knob
from dpviz.algorithms.sphere_packing import sphere_packing
from dpviz.algorithms.steps import CentersStep, Step
from dpviz.algorithms.tuple_plan import FINEST, TupleParams, average_test, finish, halves, operations_of, smallest_n_of
from dpviz.privacy.accounting import Accounting
from dpviz.privacy.room import DataRoom


@dataclass(frozen=True)
class AverageParams(TupleParams):
    """Parameters of k-averages."""

    finest: float = knob(
        FINEST,
        help="Radius of the smallest cloud of centres that is told apart, in unit coordinates; public.",
        low=1e-9,
        high=0.5,
    )


def averages(room: DataRoom, k: int, params: AverageParams, rng: np.random.Generator) -> Iterator[Step]:
    """k-means in secret blocks, a private test whether the blocks agree, and private averages of their centres.

    O(n k d) for the blocks and O(m n_t k² d) for the test of n_t tuples.

    **Guarantee.** Add/remove or replace; (ε, δ)-DP, whatever the answer. Bounds are public; n is public or bought. Of ε
    the test and the averages use 1 at most: the surplus buys noisy means of rows. There is no pure version: with
    probability δ a test may miss that tuples disagree.
    """
    anchors, salt = sphere_packing(k, room.region, rng), int(rng.integers(2**20))
    yield CentersStep(title="Sphere packing, which stands in for ⊥: no row has been read", centers=anchors)
    share = halves(room.budget, 1.0)
    step = average_test(room, k, share.tuples, params, anchors, salt, finest=params.finest)
    yield step
    yield from finish(room, step, share.means)


def _smallest_n(setting: Setting, params: AverageParams) -> float:
    return smallest_n_of(setting, params, 1.0, finest=params.finest)


CARD = Card(
    id="k-averages",
    title="k-averages",
    family="Cohen et al. 2021",
    paper="Cohen, Kaplan, Mansour, Stemmer & Tsfadia: Differentially-Private Clustering of Easy Instances. ICML 2021, "
    "Fig. 3",
    summary="Clusters secret blocks of rows without noise, tests privately whether all blocks say the same, and "
    "releases private averages of what they say.",
    story=(
        "Deal the rows into secret blocks and run plain k-means in each: a block's k centres are a tuple, and one "
        "person can change one tuple only. A private test asks whether nearly all tuples have one point in each of k "
        "balls that lie at least seven radii apart; if not, the answer is ⊥ and the budget is spent. If so, the points "
        "of all tuples fall into k clouds, and each cloud gets a private average: its radius, a point in its middle, "
        "and a clipped mean with noise. The price is hidden in the proof: the test lets hundreds of tuples disagree, "
        "so each average must be private for that many changes at once. That takes about half a million tuples for "
        "every cluster and column; with fewer this program answers ⊥ rather than noise."
    ),
    when="Tens of millions of rows in clusters that are a few times farther apart than wide. With fewer "
    "rows k-noisy-centers, if they are farther apart still.",
    guarantees=(Guarantee.APPROX,),
    params=AverageParams,
    plan=averages,
    accounting=lambda params, delta: Accounting.BASIC,
    smallest_n=_smallest_n,
    hopeless="an average that is private for hundreds of changed tuples at once is noise, and the answer is ⊥",
    operations=operations_of,
    sample="towns",
    formula=(
        r"\hat\varepsilon=\frac{\varepsilon}{4k(\ell+1)},\quad \hat\delta=\frac{\delta}{8k\,e^{\varepsilon/2}(\ell+1)},"
        r"\quad \ell=\frac{2m}{\varepsilon}\ln\frac{m}{\beta\delta}"
    ),
)
