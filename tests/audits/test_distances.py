"""Distances of inputs that are no arrays: what one person can do is at most the sensitivity, and two can do more."""

from math import exp, inf

import numpy as np
import pytest

from benchmarks.auditing.distances import measure_distance
from dpviz.core.accounting import Accounting, Budget
from dpviz.core.domain import Region
from dpviz.core.kernel_draw import DistanceWeights, KernelDraw
from dpviz.core.local_model import LocalNoise, LocalReports, UserAnswers
from dpviz.core.mechanisms import KNorm
from dpviz.core.quantiles import ClippedColumns, ExponentialQuantile, Quantiles
from dpviz.core.queries import Relation, Sensitivity
from dpviz.core.tuples import NoisyCenters, TupleTable
from tests.core.asked import asked
from tests.core.tuple_checks import CHEAP, tight_tuples

SHARE = Budget(Accounting.PURE, 1.0)
BOX = Region.ball(2, 1.0)
ROWS = np.linspace(-0.5, 0.5, 24).reshape(12, 2)
FAR, ACROSS = np.array([[1.0, 0.0]]), np.array([[-1.0, 0.0]])


def _tuples(changed):
    tuples = tight_tuples(CHEAP["number"], dim=1)
    tuples[:changed, 0] += 0.25
    return TupleTable(tuples)


def _columns(rows):
    return ClippedColumns(rows, -np.ones(2), np.ones(2), (0.25, 0.5))


def _messages(rows):
    return UserAnswers(np.arange(len(rows)) % 4, rows)


QUANTILE = ExponentialQuantile.calibrated(
    SHARE, Quantiles(-np.ones(2), np.ones(2), (0.25, 0.5)).sensitivity(Relation.ADD_REMOVE, BOX)
)
REPORTS = LocalReports.calibrated(
    SHARE, Sensitivity(1.0, 1.0, block=2.0), bits=(1, 2), depth=2, groups=np.arange(12) % 2, middle=0
)
PLACES = LocalNoise(KNorm(2.0, 2.0), 12)
TUPLES = NoisyCenters(**CHEAP, far=1400.0)
CASES = {
    "a tuple": (TUPLES, _tuples(0), _tuples(1), 1.0),
    "two tuples": (TUPLES, _tuples(0), _tuples(2), 2.0),
    "tuples of another number": (TUPLES, _tuples(0), TupleTable(_tuples(0).values[1:]), inf),
    "tuples in another order": (TUPLES, _tuples(1), TupleTable(_tuples(1).values[::-1]), 0.0),
    "a row across its place": (
        PLACES,
        TupleTable(np.r_[ROWS[:11], FAR][:, None]),
        TupleTable(np.r_[ROWS[:11], ACROSS][:, None]),
        2.0,
    ),
    "a row less": (PLACES, TupleTable(np.r_[ROWS[:11], FAR][:, None]), TupleTable(ROWS[:11, None]), 1.0),
    "a message": (REPORTS, _messages(ROWS), _messages(np.r_[ROWS[:11], FAR]), 1.0),
    "two messages": (REPORTS, _messages(ROWS), _messages(np.r_[ROWS[:10], FAR, ACROSS]), 2.0),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_moved_is_counted(case):
    mechanism, one, other, distance = CASES[case]
    assert measure_distance(mechanism, one, other) == pytest.approx(distance)
    assert measure_distance(mechanism, other, one) == pytest.approx(distance)


def test_a_value_more_moves_scores_within_their_ranges_and_two_move_them_further():
    more, two = np.r_[ROWS, FAR], np.r_[ROWS, FAR, FAR]
    assert measure_distance(QUANTILE, _columns(ROWS), _columns(more)) <= QUANTILE.sensitivity * (1 + 1e-12)
    assert measure_distance(QUANTILE, _columns(ROWS), _columns(two)) > QUANTILE.sensitivity


def test_a_row_that_comes_moves_a_kernel_by_its_part_of_all_weight_and_less_than_is_claimed():
    kind = DistanceWeights(np.empty((0, 2))).sensitivity(Relation.ADD_REMOVE, BOX)
    kernel = KernelDraw.calibrated(SHARE, kind, public_points=np.zeros((1, 2)), public_weight=3.0)
    nobody, one = (asked(DistanceWeights(np.empty((0, 2))), rows, BOX) for rows in (ROWS[:0], FAR))
    farthest = measure_distance(kernel, nobody, one)
    # Of four parts one moves, from the public point to the row: half of the diameter.
    assert exp(farthest / kernel.scale) == pytest.approx(1 + (exp(1.0 / kernel.scale) - 1) / 4, rel=1e-3)
    assert farthest < kernel.sensitivity
