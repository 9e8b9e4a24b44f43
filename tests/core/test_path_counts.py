"""Counts of a tree of prefixes from one histogram."""

import numpy as np
import pytest

from dpviz.core.accounting import Accounting, Budget, LossKind
from dpviz.core.ledger import Entry
from dpviz.core.mechanisms import Gaussian, Laplace, PathCounts, count_below
from dpviz.core.queries import Sensitivity, SparseCounts
from dpviz.runs.meaning.independent_accounting import compute_independent_epsilon

ONE = Sensitivity(1.0, 1.0)
HISTOGRAM = SparseCounts(np.array([0, 3, 12, 13]), np.array([5.0, 1.0, 7.0, 2.0]), 16)


def test_counts_of_all_levels_are_sums_of_one_histogram():
    leaves = HISTOGRAM.get_counts(np.arange(16))
    for level in range(5):
        nodes = np.arange(2**level, 2 ** (level + 1))
        np.testing.assert_array_equal(count_below(nodes, HISTOGRAM), leaves.reshape(2**level, -1).sum(axis=1))


@pytest.mark.parametrize(
    ("accounting", "kind"),
    [(Accounting.PURE, Laplace), (Accounting.GDP, Gaussian), (Accounting.ZCDP, Gaussian), (Accounting.PLD, Laplace)],
)
def test_a_share_buys_noise_for_all_levels_together(accounting, kind):
    mechanism = PathCounts.calibrated(Budget(accounting, 0.6), ONE, levels=12, min_branch=1.0)
    assert isinstance(mechanism.once, kind) and mechanism.cost(accounting) == pytest.approx(0.6)
    assert mechanism.loss is (LossKind.GAUSSIAN if kind is Gaussian else LossKind.LAPLACE_LIKE)
    assert mechanism.name == f"{'gaussian' if kind is Gaussian else 'laplace'} path"
    # The whole path as one draw: what the ledger writes down says as much as the price.
    whole = kind(mechanism.sensitivity, mechanism.scale)
    if accounting is not Accounting.PLD:
        assert whole.cost(accounting) >= mechanism.cost(accounting) * (1 - 1e-9)
    entry = Entry.of(mechanism, "SparseCount", accounting, delta=1e-6, note="")
    assert entry.draws == 12
    if accounting in (Accounting.PURE, Accounting.GDP):
        assert whole.cost(accounting) == pytest.approx(0.6)
        delta = 0.0 if accounting is Accounting.PURE else 1e-6
        assert compute_independent_epsilon([entry], delta=delta) == pytest.approx(entry.epsilon, rel=2e-3)
