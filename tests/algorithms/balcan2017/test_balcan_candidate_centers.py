"""Candidate centres: shares of the shifts, where the middles lie, which cubes are finest, and padding."""

from __future__ import annotations

import numpy as np

from dpviz.algorithms.balcan2017.balcan import Candidates, grow_trees, list_candidates
from dpviz.algorithms.balcan2017.projection import Projection
from dpviz.core.domain import Region
from dpviz.core.partitions import CubeTree
from dpviz.core.private_session import PrivateSession
from tests.cases import for_each
from tests.contract.sessions import open_seeded
from tests.contract.tables import make_blobs, make_small_table


def open_session(values, *, epsilon=1.0, radius=None) -> PrivateSession:
    return open_seeded(make_small_table(values, n_public=100, radius=radius), epsilon=epsilon)


def trees_of(session: PrivateSession, shifts: int, depth: int, *, empty_rate=1e-3, seed=0) -> list[CubeTree]:
    last: dict[int, CubeTree] = {}
    coins = np.random.default_rng(seed)
    for step in grow_trees(Projection(session, None), session.budget, shifts, depth, coins, empty_rate=empty_rate):
        last[step.shift] = step.tree
    return list(last.values())


@for_each("radius", [None, 0.5])
def test_the_shifted_root_contains_the_whole_region(radius):
    session = open_session(make_blobs(), radius=radius)
    for seed in range(50):
        (tree,) = trees_of(session.project(np.eye(2), session.region), 1, depth=1, seed=seed)
        reach = np.minimum(session.region.half, session.region.radius)
        assert (tree.origin <= -reach).all()
        assert (tree.origin + tree.side >= reach).all()
        session.ledger.entries.clear()


def test_candidates_are_the_middles_of_all_cubes_inside_the_region():
    session = open_session(make_blobs(dim=3), epsilon=60.0, radius=1.0)
    trees = trees_of(session, 2, depth=4)
    found = list_candidates(trees, 2, session.region, np.random.default_rng(0))
    cubes = np.concatenate([tree.centers(level) for tree in trees for level in range(5)])
    assert len(found.points) == len(np.unique(session.region.clip(cubes), axis=0)) > 20
    np.testing.assert_array_equal(session.region.clip(found.points), found.points)
    assert len(np.unique(found.points, axis=0)) == len(found.points)
    assert set(found.depths) == set(range(5))


def test_the_finest_cubes_are_those_without_an_active_child():
    tree = CubeTree(np.array([-2.0]), 4.0, (np.array([0, 1]), np.array([2]), np.array([0, 1])))
    found = list_candidates([tree], 1, Region.ball(1, 2.0), np.random.default_rng(0))
    np.testing.assert_allclose(found.points.ravel(), [0, -1, 1, 0.5, 0.25, 0.75])
    np.testing.assert_array_equal(found.depths, [0, 1, 1, 2, 3, 3])
    np.testing.assert_array_equal(found.finest, [False, True, False, False, True, True])


@for_each("k", [1, 2, 9])
def test_too_few_candidates_are_filled_up_without_data(k):
    root_only = CubeTree(np.full(2, -1.8), 4.0)
    found = list_candidates([root_only], k, Region.ball(2, 1.0), np.random.default_rng(0))
    assert len(found.points) == k
    np.testing.assert_array_equal(found.depths, [0] + [-1] * (k - 1))
    assert (np.linalg.norm(found.points, axis=1) <= 1).all()


def test_thinning_keeps_the_finest_first():
    rng = np.random.default_rng(0)
    finest = rng.random(100) < 0.3
    all_of_them = Candidates(rng.normal(size=(100, 2)), np.arange(100), finest)
    few = all_of_them.thin(50, np.random.default_rng(1))
    assert len(few.points) == 50
    assert few.finest.sum() == finest.sum()
    np.testing.assert_array_equal(few.points, all_of_them.points[few.depths])
    assert all_of_them.thin(100, rng) is all_of_them
