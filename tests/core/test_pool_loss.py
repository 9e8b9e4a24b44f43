"""The range of a pool's losses: no row exceeds it, some row attains it, and it falls with the spread of the pool."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz.core.domain import Region
from dpviz.core.losses import Loss, PoolLoss
from dpviz.core.queries import Relation
from tests.contract.questions import check_move, move, regions, room_over
from tests.core.asked import asked
from tests.examples import examples

ADD_REMOVE, REPLACE = Relation.ADD_REMOVE, Relation.REPLACE


@pytest.mark.parametrize(("where", "part"), [("box", 1e-3), ("ball", 0.5), ("box", 1.0)])
def test_the_range_is_attained_at_every_spread(where, part):
    # A row in one corner; one set in the other corner, the other set nearer to the row by ``part`` of the diameter.
    domain = regions(3)[where]
    far = np.full(3, domain.region.radius / np.sqrt(3))
    query = PoolLoss(np.stack([-far, -far + 2 * part * far])[:, None])
    one, other = (room_over(rows, domain, ADD_REMOVE) for rows in (np.stack([far]), np.empty((0, 3))))
    check_move(query, one, other)
    diameter = domain.region.diameter
    # Points lie on a lattice, and losses are rounded down.
    assert query.spread == pytest.approx(part * diameter, abs=2e-5)
    moved = move(query, one, other).range
    assert moved == pytest.approx(one.sensitivity(query).range, abs=5e-5)
    assert moved == pytest.approx(diameter**2 * part * (2 - part), abs=2e-4)


@pytest.mark.slow
@settings(max_examples=examples(40))
@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 4), dim=st.integers(1, 3), apart=st.floats(1e-4, 1.0))
def test_no_row_exceeds_it_whatever_centre_is_nearest(seed, k, dim, apart):
    rng, region = np.random.default_rng(seed), Region.ball(dim, 1.0)
    middle = rng.uniform(-1, 1, (1, k, dim))
    query = PoolLoss(region.clip(middle + apart * rng.uniform(-1, 1, (4, k, dim))))
    rows = region.clip(rng.uniform(-1, 1, (60, dim)))
    losses = np.stack([asked(query, row[None], region) for row in rows])
    declared = query.sensitivity(ADD_REMOVE, region).range
    assert np.ptp(losses, axis=1).max() <= declared * (1 + 1e-9) + 1e-12
    changes = losses[:, None] - losses[None, :]
    assert np.ptp(changes, axis=2).max() <= query.sensitivity(REPLACE, region).range * (1 + 1e-9) + 1e-12


def test_never_wider_than_without_a_look_at_the_pool():
    region = Region.ball(2, 1.0)
    for sets in (np.zeros((1, 3, 2)), np.zeros((5, 3, 2)), np.eye(2)[:, None], np.stack([np.eye(2), -np.eye(2)])):
        for relation in Relation:
            tight = PoolLoss(sets).sensitivity(relation, region).range
            assert 0 < tight <= Loss(sets).sensitivity(relation, region).range


def test_matching_centres_decides():
    sets = np.array([[[0.9, 0.0], [-0.9, 0.0]], [[-0.9, 0.0], [0.9, 0.0]]])
    assert PoolLoss(sets).spread == pytest.approx(1.8, abs=2e-5)
    assert PoolLoss(np.stack([sets[0], sets[1][::-1]])).spread == 0.0
