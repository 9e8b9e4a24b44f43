"""Regions of categories, intervals and circles: a row is a corner, and norms are those that some row has."""

from __future__ import annotations

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
    alone = np.concatenate([region.rows(row[None]) for row in wished])
    np.testing.assert_array_equal(alone, rows)


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


def test_of_categories_alone_the_farthest_corner_is_found_exactly():
    one = make_coded_domain(["c"], [0.0], [4.0], codings={"c": KINDS["c"]}, weights={})
    points = one.region.settle_points(np.random.default_rng(1).normal(size=(9, 5)))
    for point in points:
        true = np.linalg.norm(np.eye(5) / 2 - point, axis=1).max()
        assert bound_distance(point[None, None], one.region) == pytest.approx(true, rel=1e-9)


def test_the_corner_is_the_longest_row_and_points_lead_back_to_what_is_declared():
    of = domain()
    assert of.region.squared_corner == pytest.approx((every_row(of) ** 2).sum(axis=1).max())
    assert Domain.of(["a", "b"], -1, [1, 3]).region.squared_corner == pytest.approx(2.0)
    rows = np.array([[0.25, 1, 0, 1, 3.0], [1.0, 2, 0, 0, 7.0]])
    points = of.to_unit(rows)
    np.testing.assert_allclose(of.to_rows(points), rows)
    np.testing.assert_allclose(of.to_unit_coordinates(of.from_unit(points)), points, atol=1e-12)
    said = of.describe(of.from_unit(points)[0])
    assert [*said] == ["x", "c", "e", "b", "h"] and said["x"] == pytest.approx(0.25)
    assert of.kinds[0] == "number" and len(of.kinds) == of.dim == len(of.center)
    with pytest.raises(RequestError, match="leave out categories"):
        of.unfold(2)
    plain = Domain.of(["a", "b"], [0, -1], [1, 3])
    assert plain.describe(np.array([0.5, 2.0])) == {"a": 0.5, "b": 2.0}
    np.testing.assert_allclose(plain.to_rows(plain.to_unit_coordinates(np.array([[0.5, 2.0]]))), [[0.5, 2.0]])
