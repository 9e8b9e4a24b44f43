"""Which clusters are found: against a loop over the words of the rule."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import pairwise_distances_argmin

from dpviz.runs.evaluation import find_recovered_clusters

TWO = np.array([[-0.5, 0.0], [0.5, 0.0]])


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
    points = np.repeat(reference, [5, 20, 40, 80], axis=0) + np.random.default_rng(0).normal(0, noise, (145, 2))
    centers = rng.permutation(reference + rng.normal(0, noise, (4, 2)))
    assert find_recovered_clusters(points, centers, reference).tolist() == by_the_words(points, centers, reference)


def test_nothing_is_found_where_there_are_no_rows() -> None:
    assert not find_recovered_clusters(np.empty((0, 2)), TWO, TWO).any()
    assert find_recovered_clusters(TWO[:1], TWO, TWO).tolist() == [True, False]
