"""k-median: the median in one dimension, outliers that pull no harder than others, and the loss it is judged by."""

from __future__ import annotations

import numpy as np

from dpviz.algorithms.balcan2017.balcan_variants import draw_medians, list_places, run_median_rounds
from dpviz.core.accounting import Accounting
from dpviz.core.losses import MedianLoss
from dpviz.core.partitions import Voronoi
from dpviz.core.queries import Pull
from tests.contract.sessions import open_seeded
from tests.contract.tables import make_small_table
from tests.core.asked import asked


def _session(values, *, epsilon=1e6):
    table = make_small_table(values, n_public=len(values))
    return open_seeded(table, Accounting.ZCDP, epsilon=epsilon, delta=1e-6)


def _walked(values, start, rounds=50):
    session = _session(values)
    *_, last = run_median_rounds(session, Voronoi(start), start, session.budget, rounds)
    return last.centers


def test_a_tenth_of_outliers_moves_a_mean_and_not_a_median():
    crowd = np.random.default_rng(1).normal(0, 0.02, (900, 2))
    values = np.r_[crowd, np.ones((100, 2))]
    found = _walked(values, np.zeros((1, 2)))
    assert np.linalg.norm(values.mean(axis=0)) > 0.1
    assert np.linalg.norm(found[0]) < 0.02


def test_pulls_are_unit_vectors_and_a_row_on_its_point_does_not_pull():
    at = np.array([[0.0, 0.0], [1.0, 1.0]])
    rows = np.array([[0.3, 0.4], [0.0, 0.0], [1.0, 0.9]])
    cells = Voronoi(at)
    np.testing.assert_allclose(asked(Pull(cells, at), rows), [[0.6, 0.8], [0.0, -1.0]], atol=1e-4)


def test_a_drawn_median_is_the_median():
    """Nearly without noise, to the distance of the places of the last of eight draws; outliers pull no harder."""
    values = np.r_[np.random.default_rng(1).normal(0.2, 0.02, (900, 2)), np.ones((100, 2))]
    session, start = _session(values), np.zeros((1, 2))
    *_, last = draw_medians(session, Voronoi(start), start, session.budget, 8)
    assert np.linalg.norm(last.centers[0] - np.median(values, axis=0)) < 0.01
    assert np.linalg.norm(values.mean(axis=0) - 0.2) > 0.1


def test_places_lie_in_the_ball_and_around_its_middle():
    for dim in (1, 2, 3, 5):
        places = list_places(dim)
        assert (places[0] == 0).all() and (np.linalg.norm(places, axis=1) <= 1 + 1e-9).all()
        assert np.abs(places.sum(axis=0)).max() < 1e-9 and len(np.unique(places, axis=0)) == len(places)


def test_a_move_changes_the_distances_of_its_own_rows():
    """Each cell is apart from the other; the first place is where distances are measured from."""
    cells = Voronoi(np.array([[-0.5, 0.0], [0.5, 0.0]]))
    places = np.array([[[-0.5, 0.0], [-0.25, 0.0]], [[0.5, 0.0], [0.5, 0.5]]])
    rows = np.array([[-0.25, 0.0], [-0.5, 0.0], [0.5, 0.25]])
    np.testing.assert_allclose(asked(MedianLoss(cells, places), rows), [[0.0, 0.0], [0.0, 0.0]], atol=1e-5)
    np.testing.assert_allclose(asked(MedianLoss(cells, places), rows[:1]), [[0.0, -0.25], [0.0, 0.0]], atol=1e-5)
