"""k-median: pulls and moves; sparse rows, kept sparse from the file to the sums."""

import numpy as np
from scipy import sparse

from dpviz.algorithms.balcan2017.balcan import SparseParams, draw_medians, list_places, recover_coordinates
from dpviz.algorithms.registry import CARDS
from dpviz.core.domain import Domain
from dpviz.core.losses import MedianLoss
from dpviz.core.partitions import Voronoi
from dpviz.core.private_session import PrivateTable
from dpviz.core.queries import Pull, Relation
from dpviz.runs.one_run import run
from tests.contract.sessions import open_seeded
from tests.contract.tables import make_small_table
from tests.core.asked import asked


def test_pulls_are_unit_vectors_and_a_row_on_its_point_does_not_pull():
    at = np.array([[0.0, 0.0], [1.0, 1.0]])
    rows = np.array([[0.3, 0.4], [0.0, 0.0], [1.0, 0.9]])
    np.testing.assert_allclose(asked(Pull(Voronoi(at), at), rows), [[0.6, 0.8], [0.0, -1.0]], atol=1e-4)


def test_a_drawn_median_is_that_of_its_rows_and_places_lie_in_the_ball_around_its_middle():
    """Nearly without noise; outliers pull no harder."""
    rows = np.r_[np.random.default_rng(1).normal(0.2, 0.02, (900, 2)), np.ones((100, 2))]
    session, start = open_seeded(make_small_table(rows, n_public=1000), epsilon=1e6), np.zeros((1, 2))
    *_, last = draw_medians(session, Voronoi(start), start, session.budget, 8)
    assert np.linalg.norm(last.centers[0] - np.median(rows, axis=0)) < 0.01
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


CARD = CARDS["balcan-sparse"]


def words(n=400, dim=60, *, nonzeros=5, seed=0):
    """Rows of two topics with ten words each."""
    rng = np.random.default_rng(seed)
    topic = rng.integers(0, 2, n)
    values = np.zeros((n, dim))
    np.put_along_axis(values, 10 * topic[:, None] + rng.integers(0, 10, (n, nonzeros)), 1.0, axis=1)
    return values, topic


def table_of(values, *, relation=Relation.ADD_REMOVE, n_public=None, **domain):
    columns = [f"w{j}" for j in range(values.shape[1])]
    return PrivateTable(values, Domain.of(columns, -1.0, 1.0, **domain), relation=relation, n_public=n_public)


def test_a_run_on_a_sparse_table_is_the_run_on_a_dense_one():
    values, _ = words(1000)
    one, other = (
        run(CARD, table_of(make(values), n_public=1000), k=2, epsilon=5.0, delta=1e-6, seed=3, params={"nonzeros": 5})
        for make in (np.asarray, sparse.csr_array)
    )
    np.testing.assert_allclose(one.unit_centers, other.unit_centers, atol=1e-9)


def test_without_noise_the_words_of_a_topic_are_chosen_and_measured():
    values, topic = words(2000)
    session = open_seeded(table_of(values, n_public=2000), epsilon=1e6).sparsify(5)
    middles = np.stack([values[topic == j].mean(axis=0) for j in (0, 1)])
    step = recover_coordinates(session, Voronoi(middles), session.budget, SparseParams(nonzeros=5, eta=1.0))
    assert [set(chosen) for chosen in step.coordinates] == [set(range(10)), set(range(10, 20))]
    centers = np.zeros((2, 60))
    np.put_along_axis(centers, step.coordinates, step.noisy_means, axis=1)
    np.testing.assert_allclose(centers, middles, atol=1e-3)
