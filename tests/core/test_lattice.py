"""The lattice of rows and points: rounding is inward, sums are exact, and what has no room is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.core import lattice
from dpviz.core.check import RequestError
from dpviz.core.domain import Region

SEEDS = st.integers(0, 2**32 - 1)
RADII = st.floats(0.5, 140.0)


@given(SEEDS, RADII, st.integers(1, 6), st.booleans())
def test_rows_lie_in_the_region_and_on_its_lattice_and_rounding_again_changes_nothing(seed, radius, dim, cut):
    rng = np.random.default_rng(seed)
    region = Region(np.full(dim, radius), radius if cut else radius * np.sqrt(dim))
    values = rng.normal(size=(30, dim)) * radius * rng.choice([0.1, 1.0, 10.0])
    rows = region.rows(values)
    np.testing.assert_array_equal(rows * 2.0**region.row_bits, np.trunc(rows * 2.0**region.row_bits))
    assert (np.linalg.norm(rows, axis=1) <= region.radius).all()
    assert (np.abs(rows) <= np.abs(np.clip(values, -region.half, region.half))).all()
    np.testing.assert_allclose(rows, region.clip(values), atol=2.0 ** -(region.row_bits - 1))
    np.testing.assert_array_equal(region.rows(rows), rows)
    np.testing.assert_array_equal(region.rows(values[::-1]), rows[::-1])


@given(SEEDS, RADII)
def test_what_is_declared_fits_into_the_numbers_that_hold_it(seed, radius):
    longest = np.array([radius * 2.0 ** lattice.count_row_bits(radius), radius * 2.0**lattice.POINT_BITS])
    # 2x·c - |c|², in products of their quanta, and squared distances of rows.
    assert 3 * longest.prod() <= 2.0**53 and 4 * longest[0] ** 2 <= 2.0**53
    # A loss of at most the squared diameter, of as many rows as a table holds.
    assert 4 * max(radius, 1.0) ** 2 * 2.0 ** lattice.count_loss_bits(radius) * lattice.MOST_ROWS <= 2.0**62


@given(SEEDS, st.integers(1, 300), st.integers(1, 5))
def test_marks_lie_below_every_affinity(seed, k, dim):
    # From a half to four: there is room for the marks of 300 centres.
    rng, region = np.random.default_rng(seed), Region.ball(dim, 2.0 ** (seed % 4 - 1))
    centers = lattice.round_points(region.clip(rng.normal(size=(k, dim)) * region.radius))
    marks = lattice.count_mark_bits(centers, region.radius, region.row_bits)
    assert marks is not None and 2**marks >= k
    corners = np.r_[centers, -centers] * region.radius / max(1e-9, np.linalg.norm(centers, axis=1).max())
    affinity = np.abs(2 * corners @ centers.T - (centers**2).sum(axis=1)).max()
    assert affinity * 2.0 ** (region.row_bits + lattice.POINT_BITS + marks) < 2.0**53


def test_points_on_the_lattice_are_the_very_same_array():
    for exponent in (-30, -16, 0):
        points = np.ones((2, 2)) * 2.0**exponent
        placed = lattice.round_points(points)
        assert (placed is points) == (exponent >= -lattice.POINT_BITS)
        assert lattice.round_points(placed) is placed


def test_there_is_one_zero():
    assert not np.signbit(lattice.round_inward(np.array([-1e-9, -0.0, 0.0]), 20)).any()


def test_rows_too_long_for_exact_sums_are_refused():
    with pytest.raises(RequestError, match="too long for exact sums: declare a radius"):
        lattice.count_row_bits(1e4)
