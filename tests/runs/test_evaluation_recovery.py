"""Which clusters are found: against a loop over the rule's own words, and on pictures that once deceived it."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import pairwise_distances_argmin

from dpviz.runs.evaluation import find_recovered_clusters

TWO = np.array([[-0.5, 0.0], [0.5, 0.0]])


def rows_around(centers: np.ndarray, number: int | list[int] = 100, sd: float = 0.05) -> np.ndarray:
    rng = np.random.default_rng(0)
    rows = np.repeat(centers, number, axis=0)
    return rows + rng.normal(0, sd, rows.shape)


def by_the_words(points: np.ndarray, centers: np.ndarray, reference: np.ndarray) -> list[bool]:
    """A centre inside the cloud of a cluster, at most half-way to the next one, sharing at least half of their rows."""
    own, theirs = pairwise_distances_argmin(points, centers), pairwise_distances_argmin(points, reference)
    found = []
    for j, middle in enumerate(reference):
        mine = {int(row) for row in np.flatnonzero(theirs == j)}
        sets = [{int(row) for row in np.flatnonzero(own == i)} for i in range(len(centers))]
        best = max(range(len(centers)), key=lambda i: len(mine & sets[i]))
        gap = min(np.linalg.norm(middle - other) for i, other in enumerate(reference) if i != j)
        away = sorted(float(np.linalg.norm(points[row] - middle)) for row in mine)
        cloud = away[int(np.ceil(0.99 * len(away))) - 1] if away else 0.0
        near = np.linalg.norm(centers[best] - middle) <= min(max(cloud, 0.01 * gap), 0.5 * gap)
        found.append(bool(mine and near and 2 * len(mine & sets[best]) >= len(mine | sets[best])))
    return found


@given(st.integers(0, 2**32 - 1), st.floats(0.001, 0.5))
def test_the_rule_is_what_its_words_say(seed: int, noise: float) -> None:
    rng = np.random.default_rng(seed)
    reference = rng.uniform(-1, 1, (4, 2))
    points = rows_around(reference, [5, 20, 40, 80], sd=noise)
    centers = rng.permutation(reference + rng.normal(0, noise, (4, 2)))
    assert find_recovered_clusters(points, centers, reference).tolist() == by_the_words(points, centers, reference)


def test_one_rich_person_is_not_found_from_across_the_picture() -> None:
    """Half-way to its own neighbour is half the picture, where the neighbour is far away: no measure of a target."""
    reference = np.array([[-0.8, -0.8], [-0.7, -0.8], [0.9, 0.9]])
    points = np.concatenate([rows_around(reference[:2], sd=0.01), reference[2:]])
    far, near = (reference + np.array([[0, 0], [0, 0], move]) for move in ([-0.6, -0.5], [-0.01, 0]))
    assert find_recovered_clusters(points, far, reference).tolist() == [True, True, False]
    assert find_recovered_clusters(points, near, reference).all()


def test_a_cluster_that_two_centres_share_or_that_shares_its_centre_is_not_found() -> None:
    points = rows_around(TWO, [300, 100])
    shared = np.array([[-0.53, 0.0], [-0.5, 0.0], [-0.47, 0.0], [0.5, 0.0]])
    assert find_recovered_clusters(points, shared, TWO).tolist() == [False, True]
    assert find_recovered_clusters(points, TWO[1:], TWO).tolist() == [False, False]


def test_nothing_is_found_where_there_are_no_rows() -> None:
    assert not find_recovered_clusters(np.empty((0, 2)), TWO, TWO).any()
    assert find_recovered_clusters(TWO[:1], TWO, TWO).tolist() == [True, False]
