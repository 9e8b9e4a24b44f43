"""GkM and sample-and-aggregate: numbers of blocks, ranges, and what is said before any row is read."""

import numpy as np
import pytest

from dpviz.algorithms.baselines.sample_aggregate import Blocking, BlocksStep
from dpviz.algorithms.registry import CARDS
from dpviz.algorithms.su2016.gkm import RangesStep
from dpviz.runs.one_run import run
from tests.cases import for_each
from tests.contract.tables import NeighborSetting, make_blobs

GKM, MEDIANS = CARDS["gkm"], CARDS["sample-aggregate"]


def _run(card, *, n=2000, dim=2, k=3, epsilon=10.0, delta=0.0, case=None, **params):
    table = (case or NeighborSetting("public", n_public=n, dim=dim)).table(make_blobs(n, dim, k=k))
    return run(card, table, k=k, epsilon=epsilon, delta=delta, params=params, seed=1)


@for_each(
    ("card", "params", "number"),
    [
        (GKM, {"preset": "paper"}, round(2000**0.4)),
        (GKM, {"preset": "practical"}, 2000 // 9),
        (GKM, {"preset": "paper", "block": "3k"}, 2000 // 9),
        (MEDIANS, {"preset": "paper"}, 45),
        (MEDIANS, {"preset": "practical"}, 2000 // 9),
        (MEDIANS, {"preset": "practical", "block": "sqrt"}, 45),
    ],
)
def test_how_many_blocks_there_are(card, params, number):
    first = _run(card, **params).frames[0].step
    assert isinstance(first, BlocksStep)
    assert (first.number, first.rows_each) == (number, pytest.approx(2000 / number))


def test_of_few_rows_there_is_one_block():
    assert [Blocking(9).choose_number(n) for n in (0, 8, 17, 18)] == [1, 1, 1, 2]


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_ranges_are_bought_only_where_enough_blocks_tell_them(delta):
    # Pure: number of blocks · ε / (4 k d) >= 10. At 10 a quartile is known to a few ranks, below it is noise.
    number, k, dim = 2000 // 9, 3, 2
    edge = 40 * k * dim / number
    for epsilon, estimated in (
        ((0.98 * edge, False), (1.02 * edge, True)) if delta == 0 else ((0.3, False), (9.0, True))
    ):
        made = _run(GKM, epsilon=epsilon, delta=delta)
        ranges = made.frames[1].step
        assert isinstance(ranges, RangesStep) and ranges.estimated is estimated is not ranges.public
        assert [entry.query for entry in made.entries] == (["Quantiles", "BoxSum"] if estimated else ["Sum"])
        if not estimated:
            np.testing.assert_array_equal(ranges.upper, 1.0)
        if delta == 0 and estimated:
            assert [entry.epsilon / epsilon for entry in made.entries] == pytest.approx([0.5, 0.5])
