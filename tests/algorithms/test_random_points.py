"""Random points are uniform in a box, and stay off the corners that a ball cuts away."""

from __future__ import annotations

import numpy as np
from scipy import stats

from dpviz.algorithms.tools.public_points import random_points
from dpviz.table.domain import Region
from tests.cases import for_each


def test_uniform_in_a_box():
    region = Region(np.array([1.0, 0.25]), float(np.hypot(1.0, 0.25)))
    points = random_points(4000, region, np.random.default_rng(0))
    for axis, half in enumerate(region.half):
        assert stats.kstest(points[:, axis], stats.uniform(-half, 2 * half).cdf).pvalue > 1e-3


@for_each("dim", [1, 2, 30])
def test_uniform_radii_where_a_ball_is_all_there_is(dim):
    region = Region.ball(dim, 0.7)
    norms = np.linalg.norm(random_points(4000, region, np.random.default_rng(1)), axis=1)
    assert norms.max() <= 0.7
    assert (norms > 0.699).mean() < 0.1  # not heaped up on the rim
    if dim == 30:
        # In thirty dimensions hardly a point of the box lies in the ball: all are drawn by radius.
        assert stats.kstest((norms / 0.7) ** dim, "uniform").pvalue > 1e-3


def test_the_coins_that_follow_do_not_depend_on_the_ball():
    after = []
    for radius in (0.1, 9.0):
        rng = np.random.default_rng(2)
        random_points(5, Region(np.ones(3), radius), rng)
        after.append(rng.random())
    assert after[0] == after[1]
