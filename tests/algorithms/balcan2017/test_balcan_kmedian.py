"""k-median: the median in one dimension, outliers that pull no harder than others, and the loss it is judged by."""

from __future__ import annotations

import numpy as np
import pytest

from dpviz.algorithms.balcan2017.balcan_variants import draw_medians, list_places, run_median_rounds
from dpviz.algorithms.registry import CARDS
from dpviz.core.accounting import Accounting
from dpviz.core.losses import Loss, MedianLoss
from dpviz.core.partitions import Voronoi
from dpviz.core.queries import Pull
from dpviz.runs.one_run import run
from tests.contract.sessions import open_seeded
from tests.contract.tables import make_blobs, make_small_table
from tests.core.asked import asked

CARD = CARDS["balcan-kmedian"]


def _session(values, *, epsilon=1e6):
    table = make_small_table(values, n_public=len(values))
    return open_seeded(table, Accounting.ZCDP, epsilon=epsilon, delta=1e-6)


def _walked(values, start, rounds=50):
    session = _session(values)
    *_, last = run_median_rounds(session, Voronoi(start), start, session.budget, rounds)
    return last.centers


def test_in_one_dimension_it_is_the_median():
    values = np.random.default_rng(0).beta(2, 5, (4001, 1)) - 0.5
    found = _walked(values, np.array([[0.3]]))
    assert abs(found[0, 0] - np.median(values)) < 0.01
    assert abs(np.mean(values) - np.median(values)) > 0.012


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


def test_draws_are_paid_alike_after_a_tenth_for_the_counts():
    session, start = _session(np.zeros((50, 1)), epsilon=1.0), np.zeros((1, 1))
    assert len([*draw_medians(session, Voronoi(start), start, session.budget, 3)]) == 3
    costs = np.array([entry.amount for entry in session.ledger.entries])
    np.testing.assert_allclose(costs / costs.sum(), [0.1, 0.3, 0.3, 0.3])


def test_a_tenth_of_each_step_buys_the_counts():
    session = _session(np.zeros((50, 1)), epsilon=1.0)
    assert len([*run_median_rounds(session, Voronoi(np.zeros((1, 1))), np.zeros((1, 1)), session.budget, 4)]) == 4
    costs = np.array([entry.amount for entry in session.ledger.entries]).reshape(4, 2)
    np.testing.assert_allclose(costs[:, 0] / costs.sum(axis=1), 0.1)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_without_noise_the_loss_of_distances_is_near_its_least(delta):
    rows = make_blobs(3000, k=3, seed=4)
    table = make_small_table(rows, n_public=3000)
    best = min(
        float(asked(Loss(run(CARD, table, k=3, epsilon=200.0, delta=delta, seed=seed).centers[None], 1), rows)[0])
        for seed in range(3)
    )
    middles = np.random.default_rng(4).uniform(-0.7, 0.7, (3, 2))
    assert best <= 1.05 * float(asked(Loss(middles[None], 1), rows)[0])
