"""Idle centres get a second chance, from released counts and public coins alone."""

import numpy as np

from dpviz.algorithms.tools.lloyd_round import revive
from dpviz.core.domain import Region
from tests.cases import for_each

REGION = Region(np.ones(2), np.sqrt(2))
CENTERS = np.array([[-0.5, -0.5], [0.5, 0.5], [0.9, -0.9]])


def _revived(counts, *, centers=CENTERS, n=300, region=REGION, seed=0):
    return revive(centers, np.asarray(counts, float), n, region, np.random.default_rng(seed))


def test_an_idle_centre_moves_beside_the_heaviest():
    moved = _revived([100, 200, -3])
    np.testing.assert_array_equal(moved[:2], CENTERS[:2])
    assert 0 < np.linalg.norm(moved[2] - CENTERS[1]) < np.linalg.norm(CENTERS[0] - CENTERS[1]) / 2


@for_each("counts", [[-5, -1, -9], [0, 0, 0], [1e300, -1e300, 0], [300, 0, 0]])
@for_each("region", [REGION, Region.ball(2, 0.3)])
def test_centres_are_finite_and_inside_whatever_the_counts(counts, region):
    moved = _revived(counts, region=region)
    assert np.isfinite(moved).all() and (np.linalg.norm(moved, axis=1) <= region.radius * (1 + 1e-9)).all()
