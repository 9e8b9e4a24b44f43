"""How far a row can lie from points: never more than the bound, and some row nearly as far; and ranges made of it."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz.core.domain import Region
from dpviz.core.losses import Loss, PoolLoss, SwapLoss, bound_distance
from dpviz.core.queries import Relation
from tests.cases import about
from tests.contract.questions import check_move, move, regions, room_over
from tests.core.asked import asked
from tests.examples import examples

ADD_REMOVE, REPLACE = Relation.ADD_REMOVE, Relation.REPLACE
BOX, BALL, FLAT = Region(np.ones(2), 2**0.5), Region.ball(2, 1.0), Region(np.array([1.0, 0.25]), 0.9)


def attained(sets: np.ndarray, rows: np.ndarray, nearest: int) -> float:
    """The most that one of ``rows`` lies from the nearest-th nearest point of any set."""
    distances = np.linalg.norm(rows[None, :, None] - sets[:, None], axis=3)
    return float(np.sort(distances, axis=2)[:, :, nearest - 1].max())


@given(
    seed=st.integers(0, 2**32 - 1),
    dim=st.integers(1, 5),
    k=st.integers(1, 9),
    spread=st.sampled_from([0.0, 1e-3, 0.5, 1.0, 3.0]),
    radius=st.sampled_from([0.5, 1.0, 9.0]),
)
def test_no_row_lies_farther(seed, dim, k, spread, radius):
    rng = np.random.default_rng(seed)
    half = rng.choice([0.1, 0.5, 1.0], dim)
    region = Region(half, min(radius, float(np.linalg.norm(half))))
    sets = region.clip(rng.uniform(-spread, spread, (int(rng.integers(1, 4)), k, dim)))
    spots = np.concatenate([rng.uniform(-1, 1, (300, dim)), rng.choice([-1.0, 1.0], (64, dim)), -sets[0] * 99])
    for nearest in range(1, min(k, 3) + 1):
        assert attained(sets, region.clip(spots * half), nearest) <= bound_distance(sets, region, nearest=nearest)


@pytest.mark.parametrize(
    ("region", "nearest"), [(BOX, 2), (BALL, 1), (FLAT, 2)], ids=["box", "ball", "flat box in a ball"]
)
def test_some_row_lies_nearly_as_far(region, nearest):
    axis = np.linspace(-1, 1, 301)
    rows = region.clip(np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2) * region.half)
    rng = np.random.default_rng(7)
    for k in (2, 3, 8, 20):
        sets = region.clip(rng.uniform(-1, 1, (2, k, 2)))
        bound = bound_distance(sets, region, nearest=nearest)
        assert 0.985 * bound <= attained(sets, rows, nearest) <= bound


def test_points_that_are_nowhere_have_no_bound():
    for outside in (np.nan, np.inf, -np.inf):
        assert bound_distance(np.array([[[outside, 0.0], [0.0, 0.0]]]), BOX) == np.inf


def test_many_columns_and_sets_cost_no_more_boxes_than_there_is_room_for():
    rng = np.random.default_rng(0)
    region = Region(np.ones(60), 60**0.5)
    sets = rng.uniform(-0.5, 0.5, (200, 26, 60))
    bound = bound_distance(sets, region)
    assert bound < region.radius + np.linalg.norm(sets, axis=2).min(axis=1).max()
    assert attained(sets[:2], rng.choice([-1.0, 1.0], (50, 60)), 1) <= bound


def _second_closest(where: str, part: float) -> tuple[SwapLoss, np.ndarray]:
    """Two centres and candidates; and the row that is farthest from the centre that lies second closest to 0."""
    far = np.full(3, regions(3)[where].region.radius / np.sqrt(3))
    return SwapLoss(np.stack([np.zeros(3), part * far]), np.stack([-far, part * far])), -far


def test_the_range_of_swaps_is_attained_from_the_second_closest_centre():
    for where, part, order in product(("box", "ball"), (0.0, 0.25, 0.5, 1.0), (1, 2)):
        with about(where, part, order):
            domain, (query, far) = regions(3)[where], _second_closest(where, part)
            query = SwapLoss(query.centers, query.candidates, order)
            tables = (domain.from_unit(rows) for rows in (far[None], np.empty((0, 3))))
            one, other = (room_over(rows, domain, ADD_REMOVE) for rows in tables)
            check_move(query, one, other)
            moved, declared = move(query, one, other).range, one.sensitivity(query).range
            assert moved == pytest.approx(declared, abs=5e-5)
            assert declared == pytest.approx((domain.region.radius * (1 + part)) ** order, rel=1e-4)


@pytest.mark.parametrize("kind", [SwapLoss, Loss])
def test_an_exchange_moves_losses_both_ways(kind):
    # Both centres lie in the middle: one row's loss is all saved by one candidate, the other's by the other.
    domain, ends = regions(3)["box"], np.stack([np.ones(3), -np.ones(3)])
    query = SwapLoss(np.zeros((2, 3)), ends) if kind is SwapLoss else Loss(ends[:, None])
    one, other = (room_over(rows, domain, REPLACE) for rows in (ends[:1], ends[1:]))
    check_move(query, one, other)
    assert move(query, one, other).range == pytest.approx(one.sensitivity(query).range, rel=1e-9)


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
