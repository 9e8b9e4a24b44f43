"""A sample of the rows: fair to those that repeat, and blind to the order in which they stand."""

import numpy as np
import pytest

from dpviz.core.domain import Region
from dpviz.core.revealed_rows import sample_rows
from dpviz.core.rows import Rows

REGION = Region.ball(2, 1.0)


def rows(n: int = 40_000) -> np.ndarray:
    rng = np.random.default_rng(0)
    values = rng.uniform(-0.7, 0.7, (n, 2))
    values[: n // 5] = 0.25, 0.5
    values[n // 5 : n // 4] = rng.integers(-3, 4, (n // 4 - n // 5, 2)) / 8
    return values


def test_it_does_not_depend_on_order_or_chunks() -> None:
    values = rows()
    order = np.random.default_rng(1).permutation(len(values))
    for most in (1, 100, 3000):
        one = sample_rows(Rows.of(values, REGION), most)
        other = sample_rows(Rows.of(values[order], REGION, block_numbers=5000), most)
        assert one.shape == (most, 2)
        np.testing.assert_array_equal(one, other)


def test_every_row_has_its_share() -> None:
    values = REGION.rows(rows())
    found = sample_rows(Rows.of(values, REGION), 2000)
    for place in ([0.25, 0.5], [0.0, 0.125], [-0.375, 0.375]):
        share = (values == place).all(axis=1).mean()
        assert abs((found == place).all(axis=1).mean() - share) <= 1 / 2000
    left = (values[:, 0] < 0).mean()
    assert (found[:, 0] < 0).mean() == pytest.approx(left, abs=0.03)
