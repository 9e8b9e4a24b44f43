"""The counts of a tree of prefixes: every one carries the noise of the ledger, and only noisy counts decide."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from dpviz.core.accounting import Accounting
from dpviz.core.mechanisms import PathCounts, count_below
from dpviz.core.partitions import HashCodes
from dpviz.core.queries import Relation, SparseCount
from tests.contract.laws import check_independent, check_rate, check_scale
from tests.contract.sessions import ask_often, open_seeded
from tests.contract.tables import make_blobs, make_small_table

LAWS = [(Accounting.PURE, stats.laplace), (Accounting.GDP, stats.norm), (Accounting.ZCDP, stats.norm)]
HASHES = HashCodes(np.random.default_rng(3).normal(size=(6, 2)), np.zeros(6))


def _session(accounting, *, seed=0, relation=Relation.ADD_REMOVE):
    table = make_small_table(make_blobs(200), relation=relation)
    return open_seeded(table, accounting, epsilon=3.0, delta=1e-6, seed=seed)


@pytest.mark.some(2)
@pytest.mark.parametrize(
    ("accounting", "law", "relation"),
    [(*law, relation) for law, relation in zip(LAWS, (*Relation, Relation.REPLACE), strict=True)],
    ids=["pure", "gdp", "zcdp"],
)
def test_every_count_on_every_level_carries_the_same_noise(accounting, law, relation):
    session, query = _session(accounting, relation=relation), SparseCount(HASHES)
    (truth,) = session._compute_true_answers([query])
    half = session.budget.fraction(0.5)
    released, entry = ask_often(session, 60, query, PathCounts, half, levels=6, min_branch=-1e9)
    noises = [found.values - count_below(found.codes, truth) for found in released]
    # With every node split, the whole tree is asked: empty nodes like all others.
    np.testing.assert_array_equal(released[0].codes, np.arange(2, 2**7))
    check_scale(np.concatenate(noises), law, entry.scale)
    check_independent(np.array(noises)[:, [0, 1, 2, 6, 60, 120]] / np.std(noises))
    empty = count_below(released[0].codes, truth) == 0
    check_scale(np.array(noises)[:, empty].ravel(), law, entry.scale)
    # Six levels, on each of which the counts move by the sensitivity of one histogram.
    one = session.sensitivity(query)
    price = {
        Accounting.PURE: 6 * one.l1 / entry.scale,
        Accounting.GDP: 6 * (one.l2 / entry.scale) ** 2,
        Accounting.ZCDP: 6 * (one.l2 / entry.scale) ** 2 / 2,
    }
    assert entry.amount == pytest.approx(price[accounting], rel=1e-9)
    assert entry.amount == pytest.approx(session.budget.fraction(0.5).amount, rel=1e-9)


@pytest.mark.some(1)
@pytest.mark.parametrize(("accounting", "law"), LAWS[:2], ids=["pure", "gdp"])
def test_a_node_is_split_by_its_noisy_count_alone(accounting, law):
    session, query = _session(accounting), SparseCount(HASHES)
    (truth,) = session._compute_true_answers([query])
    branch = count_below(np.array([2]), truth)[0]
    split = np.zeros(2)
    fifth = session.budget.fraction(0.2)
    grown, entry = ask_often(session, 500, query, PathCounts, fifth, levels=2, min_branch=branch)
    for found in grown:
        heavy = found.codes[:2][found.values[:2] >= branch]
        np.testing.assert_array_equal(found.codes[2:], (2 * heavy[:, None] + [0, 1]).ravel())
        split += np.isin([2, 3], heavy)
    for node in (0, 1):
        rate = law(scale=entry.scale).sf(branch - count_below(np.array([2 + node]), truth)[0])
        check_rate(int(split[node]), 500, rate)
