"""PGkM: its rounds and selections, how it breeds, and what it finds."""

from __future__ import annotations

import numpy as np
import pytest

from dpviz.algorithms.steps import CentersStep
from dpviz.algorithms.su2016.pgkm import (
    CARD,
    POOL,
    PGkMParams,
    PoolStep,
    cross_and_mutate,
    draw_first_pool,
    move_centers,
    plan_search,
)
from dpviz.core.domain import Region
from dpviz.runs.evaluation import nicv
from dpviz.runs.one_run import run
from tests.contract.tables import NeighborSetting, make_blobs

PAPER = PGkMParams(preset="paper")
BALL = Region.ball(3, 0.8)


def test_the_paper_makes_seventy_one_selections_in_eight_rounds():
    search = plan_search(1000, 1.0, PAPER)
    assert (search.rounds, search.parents, search.selections) == (8, 10, 71)
    # 1.25e-3 n ε / m' from there on.
    assert plan_search(100_000, 1.0, PAPER).rounds == 12
    assert plan_search(10**9, 1.0, PAPER).rounds == 1000


def test_the_first_pool_is_uniform_and_in_order():
    pool = draw_first_pool(4, BALL, np.random.default_rng(0))
    assert pool.shape == (POOL, 4, 3)
    assert np.linalg.norm(pool, axis=2).max() <= 0.8
    for centers in pool[:20]:
        # No exchange of two centres brings a set nearer to the first one.
        together = ((centers - pool[0]) ** 2).sum()
        for swap in ([1, 0, 2, 3], [0, 1, 3, 2], [3, 1, 2, 0]):
            assert together <= ((centers[swap] - pool[0]) ** 2).sum() + 1e-12


def test_children_are_cut_from_two_parents_and_moved_in_one_coordinate():
    rng = np.random.default_rng(2)
    parents = BALL.clip(rng.uniform(-0.4, 0.4, (3, 2, 3)))
    children = cross_and_mutate(parents, 0.01, BALL, rng).reshape(POOL, 6)
    flat = parents.reshape(3, 6)
    for child in children:
        near = np.abs(child - flat[:, None, :])[:, 0] <= 0.01
        exact = child == flat
        assert near.any(axis=0).all()
        assert exact.any(axis=0).sum() >= 5
        owner = exact.argmax(axis=0)[exact.any(axis=0)]
        assert (np.diff(owner) != 0).sum() <= 2


def test_one_centre_of_a_child_moves_and_parents_live_on():
    rng = np.random.default_rng(3)
    parents = BALL.clip(rng.uniform(-0.4, 0.4, (2, 4, 3)))
    children = move_centers(parents, 0.1, BALL, rng)
    np.testing.assert_array_equal(children[:2], parents)
    moved = (children != parents[np.arange(POOL) % 2]).any(axis=2)
    assert (moved[2:].sum(axis=1) == 1).all()
    assert np.abs(children - parents[np.arange(POOL) % 2]).max() <= 0.1 * 0.8


def test_without_noise_the_best_score_never_gets_worse():
    rows = make_blobs(500, k=3, seed=4)
    table = NeighborSetting("p", n_public=500).table(rows)
    done = run(CARD, table, k=3, epsilon=1e9, params={"rounds": 12}, seed=1)
    scores = [nicv(rows, f.step.sets[f.step.chosen[0]]) for f in done.frames if isinstance(f.step, PoolStep)]
    assert (np.diff(scores) <= 1e-12).all()
    assert scores[-1] < 0.8 * scores[0]
    last = done.frames[-1].step
    assert isinstance(last, CentersStep)
    assert nicv(rows, last.centers) == pytest.approx(scores[-1])
