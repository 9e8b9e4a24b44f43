"""Hybrid: the paper's rule, both branches, and what each of them spends."""

import numpy as np
import pytest

from dpviz.algorithms.su2016.eugkm import HybridParams, compute_threshold_epsilon
from dpviz.core.queries import Relation
from dpviz.runs.one_run import run
from tests.cases import for_each
from tests.contract.tables import make_small_table

SETS = {
    "S1": (5_000, 2, 15, 58),
    "Gowalla": (107_091, 2, 5, 0.30),
    "TIGER": (16_281, 2, 2, 0.32),
    "Image": (34_112, 3, 3, 0.13),
    "Adult": (48_841, 6, 5, 0.068),
    "Lifesci": (26_733, 10, 3, 0.073),
}


@for_each("name", SETS)
def test_the_thresholds_of_the_papers_six_sets(name):
    n, dim, k, wanted = SETS[name]
    assert compute_threshold_epsilon(n, k, np.ones(dim), HybridParams()) == pytest.approx(wanted, rel=0.04)


@for_each("relation", Relation)
@for_each("n_public", [None, 400])
@for_each("preset", ["su", "tuned"])
def test_below_the_threshold_it_is_eugkm_to_the_last_bit(relation, n_public, preset):
    table = make_small_table(relation=relation, n_public=n_public)
    request = {"k": 3, "epsilon": 0.3, "params": {"preset": preset, "starts": 5}, "seed": 4}
    ours, theirs = run("hybrid", table, **request), run("eugkm", table, **request)
    assert "below" in ours.frames[0].step.title and "below" not in theirs.frames[0].step.title
    np.testing.assert_array_equal(ours.frames[0].step.noisy_counts, theirs.frames[0].step.noisy_counts)
    np.testing.assert_array_equal(ours.centers, theirs.centers)
    assert ours.entries == theirs.entries
