"""Scores against scikit-learn and against naive loops."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score, pairwise_distances, pairwise_distances_argmin

from dpviz.runs.clipped_rows import ClippedRows
from dpviz.runs.evaluation import evaluate, find_reference, label_accuracy, label_ceiling, match, nicv
from tests.cases import for_each
from tests.contract.tables import make_blobs

SEEDS = st.integers(0, 2**32 - 1)


def _rows(points):
    """Rows that no bounds have moved."""
    return ClippedRows(np.asarray(points, float), np.arange(len(points)), np.zeros(len(points)))


@given(SEEDS)
def test_matching_is_one_to_one_and_cheapest(seed):
    rng = np.random.default_rng(seed)
    one, other = rng.normal(size=(4, 2)), rng.normal(size=(4, 2))
    pairs = match(one, other)
    assert sorted(pairs) == [0, 1, 2, 3]
    costs = [((one - other[list(order)]) ** 2).sum() for order in itertools.permutations(range(4))]
    assert ((one - other[pairs]) ** 2).sum() == pytest.approx(min(costs))
    np.testing.assert_array_equal(match(one, one[[2, 0, 3, 1]]), [1, 3, 0, 2])


def test_scores_are_what_scikit_learn_says():
    points = make_blobs(500, k=4, seed=1)
    rows = _rows(points)
    reference = find_reference(rows, 4)
    centers = reference.centers + np.random.default_rng(0).normal(0, 0.2, (4, 2))
    scores = evaluate(rows, centers, reference)
    labels = [pairwise_distances_argmin(points, c) for c in (centers, reference.centers)]
    assert scores.ari == pytest.approx(adjusted_rand_score(*labels))
    assert scores.ratio == pytest.approx(nicv(points, centers) / nicv(points, reference.centers))
    assert scores.ratio > 1
    distances = [pairwise_distances(points, c).min(axis=1).mean() for c in (centers, reference.centers)]
    assert scores.distance_ratio == pytest.approx(distances[0] / distances[1])
    assert scores.matched_error == pytest.approx(np.sqrt(((centers - reference.centers) ** 2).sum(axis=1).mean()))
    perfect = evaluate(rows, reference.centers[::-1], reference)
    assert (perfect.ratio, perfect.ari) == (pytest.approx(1), 1.0) and perfect.matched_error == pytest.approx(0)
    pairs = match(centers, reference.centers)
    sizes = [np.bincount(each, minlength=4) / 500 for each in labels]
    assert scores.share_gap == pytest.approx(max(abs(sizes[0][i] - sizes[1][pairs[i]]) for i in range(4)))
    assert perfect.share_gap == 0
    against_reference = {"ratio", "matched_error", "distance_ratio", "ari", "share_gap"}
    assert set(scores.to_dict()) == {"nicv", "nicv_kmeans", "clipping"} | against_reference


def test_label_accuracy_counts_the_most_frequent_label_of_each_cluster_and_no_row_without_one():
    labels = np.array([5, 5, 9, 9, 9, 7])
    assert label_accuracy(labels, np.array([0, 0, 0, 2, 2, 2])) == pytest.approx(4 / 6)
    assert label_accuracy(labels, labels) == 1.0 and label_accuracy(labels, np.zeros(6, int)) == 0.5
    some = np.array([5, 5, -1, 9, 9, -1, -1])
    assert label_accuracy(some, np.array([0, 0, 0, 0, 2, 2, 1])) == pytest.approx(3 / 4)
    assert label_ceiling(some, 1) == 0.5 and np.isnan(label_ceiling(np.full(7, -1), 1))
    assert np.isnan(label_accuracy(np.full(7, -1), labels[[0, 1, 2, 3, 4, 5, 5]]))
    assert np.isnan(label_accuracy(np.zeros(0, int), np.zeros(0, int)))


@for_each(
    ("points", "k"),
    [
        (np.empty((0, 2)), 3),
        (np.zeros((1, 2)), 3),
        (np.full((3000, 2), 0.5), 3),
        (np.repeat(np.eye(2), 2500, axis=0), 5),
        (np.full((2, 2), 1e9), 2),
        (make_blobs(2500), 1),
    ],
)
def test_a_reference_has_exactly_k_centres_whatever_the_rows(points, k):
    rows = _rows(points)
    reference = find_reference(rows, k)
    assert reference.centers.shape == (k, 2) and np.isfinite(reference.centers).all()
    assert k == 1 or not reference.nicv > 1e-9
    scores = evaluate(rows, np.zeros((k, 2)), reference)
    assert np.isfinite([scores.nicv, scores.matched_error, scores.ari]).all() and not np.isnan(scores.ratio)
