"""PrivatekAverages on tuples of disjoint blocks, or on a table of tuples (Cohen et al. 2021, Fig. 3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpviz.algorithms.card import Card, Guarantee, Setting, always, knob
from dpviz.algorithms.cohen2021 import FAMILY, PAPER
from dpviz.algorithms.cohen2021.tuple_plan import FINEST, average_test, finish, halves, operations_of, smallest_n_of
from dpviz.algorithms.cohen2021.tuple_source import GivenTupleParams, TupleSource
from dpviz.algorithms.steps import Step
from dpviz.privacy.accounting import Accounting
from dpviz.privacy.room import DataRoom


@dataclass(frozen=True)
class AverageParams(GivenTupleParams):
    """Parameters of k-averages."""

    finest: float = knob(
        FINEST,
        help="Radius of the smallest cloud of centres that is told apart, in unit coordinates; public.",
        low=1e-9,
        high=0.5,
    )


def averages(room: DataRoom, k: int, params: AverageParams, rng: np.random.Generator) -> Iterator[Step]:
    """k-means in secret blocks, a private test whether the blocks agree, and private averages of their centres.

    With ``rows`` = tuples the rows take the place of the blocks' centres. O(n k d) for the blocks and O(m n_t k² d) for
    the test of n_t tuples.

    **Guarantee.** Add/remove or replace (tuples: replace only); (ε, δ)-DP, whatever the answer. Bounds are public; n is
    public or bought. Of ε the test and the averages use 1 at most: the surplus buys noisy means of rows (of the points
    that rows hold, of which one tuple changes k). There is no pure version: with probability δ a test may miss that
    tuples disagree.
    """
    source = TupleSource.of(room, k, params, rng)
    yield source.stand_in()
    share = halves(room.budget, 1.0)
    step = average_test(source, share.tuples, finest=params.finest)
    yield step
    yield from finish(source, step, share.means)


def _smallest_n(setting: Setting, params: AverageParams) -> float:
    return smallest_n_of(setting, params, 1.0, finest=params.finest)


CARD = Card(
    id="k-averages",
    title="k-averages",
    family=FAMILY,
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
    guarantees=(Guarantee.APPROX,),
    params=AverageParams,
    plan=averages,
    accounting=always(Accounting.BASIC),
    smallest_n=_smallest_n,
    hopeless="an average that is private for hundreds of changed tuples at once is noise, and the answer is ⊥",
    operations=operations_of,
    sample="towns",
    formula=(
        r"\hat\varepsilon=\frac{\varepsilon}{4k(\ell+1)},\quad \hat\delta=\frac{\delta}{8k\,e^{\varepsilon/2}(\ell+1)},"
        r"\quad \ell=\frac{2m}{\varepsilon}\ln\frac{m}{\beta\delta}"
    ),
)
