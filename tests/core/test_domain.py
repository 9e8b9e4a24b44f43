"""The declared domain: where rows are clipped to, and the way to unit coordinates and back."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.core import lattice
from dpviz.core.check import RequestError
from dpviz.core.domain import Domain, Region
from dpviz.core.losses import bound_distance
from dpviz.tables.codings import Closed, Cycle, Nominal, make_coded_domain
from tests.cases import about

SEEDS = st.integers(0, 2**32 - 1)


def _region(seed: int) -> Region:
    rng = np.random.default_rng(seed)
    half = rng.uniform(0.01, 1, int(rng.integers(1, 9)))
    corner = float(np.linalg.norm(half))
    return Region(half, min(corner, corner * rng.uniform(0.05, 1.5)))


@given(SEEDS)
def test_clipped_points_are_inside_to_the_last_bit_and_stay_where_they_are(seed):
    region, rng = _region(seed), np.random.default_rng(seed)
    inside = region.clip(rng.normal(size=(60, region.dim)) * 10.0 ** rng.integers(-12, 15, (60, 1)))
    assert (np.abs(inside) <= region.half).all()
    # A ball is kept to the last bit; the corner of a box is its radius up to the order of adding squares.
    cut = region.radius < np.linalg.norm(region.half)
    assert (np.linalg.norm(inside, axis=1) <= region.radius * (1 if cut else 1 + 1e-15)).all()
    np.testing.assert_array_equal(region.clip(inside), inside)


def test_unit_scaling_maps_each_column_to_its_own_bounds():
    domain = Domain.of(["a", "b"], [0, -10], [4, 30])
    np.testing.assert_allclose(domain.to_unit(np.array([[0.0, 30.0], [2.0, 10.0]])), [[-1, 1], [0, 0]])
    np.testing.assert_allclose(domain.region.half, [1, 1])
    assert domain.region.radius == pytest.approx(np.sqrt(2))


@given(SEEDS)
def test_there_and_back_again(seed):
    rng = np.random.default_rng(seed)
    low = rng.uniform(-1e6, 1e6, 3)
    domain = Domain.of("abc", low, low + 10.0 ** rng.uniform(-3, 6, 3))
    values = rng.uniform(domain.lower, domain.upper, (30, 3))
    np.testing.assert_allclose(domain.from_unit(domain.to_unit(values)), values, rtol=1e-9, atol=1e-9)
    assert (np.abs(domain.to_unit(values)) <= 1 + 1e-6).all()


def test_a_column_of_which_the_lattice_leaves_a_few_steps_is_told_of():
    narrow, wide = (Domain.of(["x", "y"], 0.0, [1.0, side], scaling="common") for side in (1e-7, 1e-4))
    assert narrow.narrow == ("y",) and "'y' is so much narrower" in narrow.notes[0] and not wide.notes


def test_bounds_that_cannot_be_used_are_refused_in_words():
    for lower, upper, said in (
        (0.0, 0.0, "not below its upper bound"),
        (1.0, -1.0, "declare lower < upper"),
        (0.0, float("nan"), "not finite"),
        (float("-inf"), 0.0, "not finite"),
        (-1e308, 1e308, "not finite"),
        (0.0, 5e-324, "apart"),
        (0.0, 1e-200, "apart"),
        (0.0, 1e200, "apart"),
        ([0, 0, 0], 1.0, "lower has shape"),
    ):
        with about(lower, upper), pytest.raises(RequestError, match=said):
            Domain.of(["age", "pay"], lower, upper)
    for radius in (0.0, -1.0, float("nan"), float("inf"), 1e-12, 1e-200):
        with about(radius), pytest.raises(RequestError, match="radius is"):
            Domain.of(["age"], 0.0, 1.0, radius=radius)


@given(SEEDS)
def test_every_point_of_a_row_lies_in_the_region_of_points(seed):
    rng = np.random.default_rng(seed)
    points, dim = int(rng.integers(1, 5)), int(rng.integers(1, 4))
    half = np.tile(rng.uniform(0.1, 1, dim), points)
    row = Region(half, float(rng.uniform(0.05, 1.2) * np.linalg.norm(half)))
    one = row.unfold(points)
    inside = row.clip(rng.uniform(-2, 2, (40, points * dim))).reshape(-1, dim)
    np.testing.assert_allclose(one.clip(inside), inside, rtol=1e-12)
    assert one.dim == dim and one.radius <= row.radius * (1 + 1e-12)


def test_points_are_named_by_what_their_columns_share_or_else_by_the_first():
    """And they are where their rows are."""
    for columns, names in ((["ae", "an", "be", "bn"], "en"), ([*"abcd"], "ab"), (["x1", "x2"], "x")):
        row = Domain.of(columns, 0.0, 4.0, scaling="common", radius=3.0)
        point, values = row.unfold(len(columns) // len(names)), np.arange(len(columns), dtype=float)
        assert point.columns == (*names,) and point.scaling is row.scaling
        np.testing.assert_array_equal(point.to_unit(values.reshape(-1, point.dim)).ravel(), row.to_unit(values))


def test_rows_that_do_not_hold_points_of_one_kind_are_refused():
    domain = Domain.of(["a", "b", "c", "d"], 0.0, [1.0, 1.0, 1.0, 2.0])
    with pytest.raises(RequestError, match="row of 4 columns does not hold 3 points"):
        domain.unfold(3)
    with pytest.raises(RequestError, match="'b' and 'd' are the same coordinate"):
        domain.unfold(2)


KINDS = {"c": Nominal(("a", "b", "d")), "e": Nominal(("x",)), "b": Closed(("no", "yes")), "h": Cycle(8.0)}
WEIGHTS = {"c": 1.3, "x": 0.8}


def domain(radius: float | None = None, **weights: float) -> Domain:
    """A number beside two categories, an interval and a circle of eight hours."""
    names, ends = ("x", *KINDS), [(0.0, 1.0), *(coding.ends for coding in KINDS.values())]
    lower, upper = zip(*ends, strict=True)
    return make_coded_domain(names, lower, upper, codings=KINDS, weights=weights, radius=radius)


def every_row(of: Domain) -> np.ndarray:
    """All rows at the ends of their numbers, on the lattice."""
    values = [(column.lower, column.upper) if column.name in "xb" else np.arange(column.upper + (column.name != "h"))
              for column in of.declared]  # fmt: skip
    return of.region.rows(of.to_unit(np.array(list(product(*values)))))


def test_radius_norms_and_distances_are_those_of_some_row():
    for one in (domain(), domain(**WEIGHTS), domain(radius=0.25)):
        rows, region = every_row(one), one.region
        gaps = rows[:, None] - rows[None]
        with about(one.radius):
            close = {"rel": 2e-5}
            assert np.linalg.norm(rows, axis=1).max() == pytest.approx(region.radius, **close)
            assert np.abs(rows).sum(axis=1).max() == pytest.approx(region.l1_radius, **close)
            assert np.linalg.norm(gaps, axis=2).max() == pytest.approx(region.apart, **close)
            assert np.abs(gaps).sum(axis=2).max() == pytest.approx(2 * region.l1_radius, **close)
            assert np.linalg.norm(rows, axis=1).max() <= region.radius * (1 + 1e-12)
            assert np.abs(rows).sum(axis=1).max() <= region.l1_radius * (1 + 1e-12)
            assert np.linalg.norm(gaps, axis=2).max() <= region.apart * (1 + 1e-12)
            assert region.apart < 0.999 * region.diameter


@given(st.integers(0, 2**32 - 1))
def test_whatever_is_asked_for_a_row_is_one_corner_of_each_simplex(seed):
    rng = np.random.default_rng(seed)
    region = domain(radius=rng.choice([None, 0.3]), **WEIGHTS).region
    wished = rng.normal(size=(40, region.dim)) * 10.0 ** rng.integers(-9, 9, (40, 1))
    wished[:5], wished[5] = 9.0, 0.0
    rows = region.rows(wished)
    for block in region.blocks.of_shape("simplex"):
        inside = rows[:, block.place]
        assert (np.sort(inside, axis=1)[:, :-1] == 0).all()
        np.testing.assert_array_equal(inside.max(axis=1), region.half[block.start])
    assert np.linalg.norm(rows, axis=1).max() <= region.radius * (1 + 1e-12)
    assert np.abs(rows).sum(axis=1).max() <= region.l1_radius * (1 + 1e-12)
    np.testing.assert_array_equal(region.rows(rows), rows)
    np.testing.assert_array_equal(np.concatenate([region.rows(row[None]) for row in wished]), rows)


@given(st.integers(0, 2**32 - 1))
def test_settled_points_are_mixtures_of_rows_and_the_nearest(seed):
    rng, region = np.random.default_rng(seed), domain(**WEIGHTS).region
    rows = every_row(domain(**WEIGHTS))
    mixed = rng.dirichlet(np.ones(len(rows)), 5) @ rows
    np.testing.assert_allclose(region.settle_points(mixed), mixed, atol=1e-12)
    points = rng.normal(size=(20, region.dim))
    settled = region.settle_points(points)
    for block in region.blocks.of_shape("simplex"):
        inside, side = settled[:, block.place], region.half[block.start]
        np.testing.assert_allclose(inside.sum(axis=1), side)
        assert (inside >= 0).all()
        other = rng.dirichlet(np.ones(block.stop - block.start), 50) * side
        box = np.clip(points, -region.half, region.half)[:, block.place]
        gaps = np.linalg.norm(box[:, None] - other[None], axis=2).min(axis=1)
        assert (np.linalg.norm(box - inside, axis=1) <= gaps + 1e-12).all()
    # Moved onto the lattice of points as released ones are, they still are public points of the region.
    placed = lattice.round_points(settled)
    assert np.abs(region.clip(placed) - placed).max() <= 1e-12 * region.radius


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.sampled_from([None, 0.3]))
def test_no_row_lies_farther_than_the_bound_and_of_one_point_some_does(seed, k, radius):
    rng, one = np.random.default_rng(seed), domain(radius, **WEIGHTS)
    sets, rows = one.region.clip(rng.normal(size=(2, k, one.dim))), every_row(one)
    distances = np.sort(np.linalg.norm(rows[None, :, None] - sets[:, None], axis=3), axis=2)
    for nearest in range(1, k + 1):
        attained = distances[:, :, nearest - 1].max()
        assert attained <= bound_distance(sets, one.region, nearest=nearest)
    if k == 1:
        # Hours in between lie a little farther than the eight that stand here.
        assert distances.max() >= 0.97 * bound_distance(sets, one.region)
        assert bound_distance(sets, one.region) <= bound_distance(sets, Region(one.region.half, one.region.radius))


def test_the_corner_is_the_longest_row_and_points_lead_back_to_what_is_declared():
    of = domain()
    assert of.region.squared_corner == pytest.approx((every_row(of) ** 2).sum(axis=1).max())
    assert Domain.of(["a", "b"], -1, [1, 3]).region.squared_corner == pytest.approx(2.0)
    rows = np.array([[0.25, 1, 0, 1, 3.0], [1.0, 2, 0, 0, 7.0]])
    points = of.to_unit(rows)
    np.testing.assert_allclose(of.to_rows(points), rows)
    np.testing.assert_allclose(of.to_unit_coordinates(of.from_unit(points)), points, atol=1e-12)
    with pytest.raises(RequestError, match="leave out categories"):
        of.unfold(2)
    plain = Domain.of(["a", "b"], [0, -1], [1, 3])
    np.testing.assert_allclose(plain.to_rows(plain.to_unit_coordinates(np.array([[0.5, 2.0]]))), [[0.5, 2.0]])
    assert plain.describe(np.array([0.5, 2.0])) == {"a": 0.5, "b": 2.0}
