"""Starts that know nothing of the data: inside, apart, and repeatable; and random points, uniform in a box or ball."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.distance import pdist

from dpviz.algorithms.tools.solvers import draw_random_points, pack_spheres
from dpviz.core.domain import Region
from tests.cases import for_each

REGIONS = {
    "line": Region(np.ones(1), 1.0),
    "square": Region(np.ones(2), np.sqrt(2)),
    "disc": Region.ball(2, 1.0),
    "flat box": Region(np.array([1.0, 0.01]), 1.00005),
    "cube in six dimensions": Region(np.ones(6), np.sqrt(6)),
    "cut box": Region(np.ones(3), 1.2),
}


@for_each("region", REGIONS.values())
@for_each("k", [1, 2, 7, 30])
def test_k_centres_inside(region, k):
    centers = pack_spheres(k, region, np.random.default_rng(0))
    assert centers.shape == (k, region.dim)
    assert (np.abs(centers) <= region.half).all()
    assert (np.linalg.norm(centers, axis=1) <= region.radius * (1 + 1e-12)).all()


@pytest.mark.parametrize("k", [4, 9])
def test_centres_keep_apart_from_each_other_and_from_the_walls(k):
    region = REGIONS["square"]
    packed = [pack_spheres(k, region, np.random.default_rng(seed)) for seed in range(10)]
    gaps = np.array([pdist(centers).min() for centers in packed])
    blind = [pdist(centers).min() for centers in np.random.default_rng(0).uniform(-1, 1, (200, k, 2))]
    assert np.median(gaps) > 1.5 * np.median(blind)
    # The radius that separates centres keeps them from the walls, too.
    walls = np.array([(1 - np.abs(centers)).min() for centers in packed])
    assert (walls >= gaps / 2 * 0.5).mean() > 0.5


def test_one_centre_is_the_middle_and_coins_decide_the_rest():
    region = REGIONS["square"]
    np.testing.assert_array_equal(pack_spheres(1, region, np.random.default_rng(5)), [[0, 0]])
    one, same, other = (pack_spheres(5, region, np.random.default_rng(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()


def test_uniform_in_a_box():
    region = Region(np.array([1.0, 0.25]), float(np.hypot(1.0, 0.25)))
    points = draw_random_points(4000, region, np.random.default_rng(0))
    for axis, half in enumerate(region.half):
        assert stats.kstest(points[:, axis], stats.uniform(-half, 2 * half).cdf).pvalue > 1e-3


@for_each("dim", [1, 2, 30])
def test_uniform_radii_where_a_ball_is_all_there_is(dim):
    region = Region.ball(dim, 0.7)
    norms = np.linalg.norm(draw_random_points(4000, region, np.random.default_rng(1)), axis=1)
    assert norms.max() <= 0.7
    assert (norms > 0.699).mean() < 0.1  # not heaped up on the rim
    if dim == 30:
        # In thirty dimensions hardly a point of the box lies in the ball: all are drawn by radius.
        assert stats.kstest((norms / 0.7) ** dim, "uniform").pvalue > 1e-3


def test_the_coins_that_follow_do_not_depend_on_the_ball():
    after = []
    for radius in (0.1, 9.0):
        rng = np.random.default_rng(2)
        draw_random_points(5, Region(np.ones(3), radius), rng)
        after.append(rng.random())
    assert after[0] == after[1]
