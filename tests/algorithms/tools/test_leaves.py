"""Leaves: what they rule out is not among the two nearest centres."""

import numpy as np

from dpviz.algorithms.tools import solvers
from dpviz.algorithms.tools.leaves import Leaves
from tests.cases import for_each


def list_affinities(columns: np.ndarray, centers: np.ndarray) -> np.ndarray:
    return columns.T @ centers.T - np.einsum("kd,kd->k", centers, centers) / 2


def find_all(columns: np.ndarray, centers: np.ndarray, size: int) -> tuple[np.ndarray, ...]:
    leaves, m = Leaves.of(columns, size), columns.shape[1]
    label, best, second = np.full(m, -1), np.empty(m, np.float32), np.empty(m, np.float32)
    half_norms = np.einsum("kd,kd->k", centers, centers) / 2
    for found in leaves.find_nearest(centers, half_norms, np.arange(len(leaves.members))):
        label[found.points], best[found.points], second[found.points] = found[1:]
    return label, best, second


@for_each("dim", [1, 2, 3])
@for_each("k", [8, 100, 301])
def test_boxes_leave_out_no_centre_that_is_one_of_the_two_nearest(dim, k):
    rng = np.random.default_rng(10 * k + dim)
    # On a lattice single precision is exact, many points lie alike and many distances are equal.
    where = rng.uniform(-1, 1, (6, dim))
    columns = (np.round(64 * (where[rng.integers(0, 6, 900)] + rng.normal(0, 0.2, (900, dim)))) / 64).T
    centers = np.round(64 * (where[rng.integers(0, 6, k)] + rng.normal(0, 0.3, (k, dim)))) / 64
    columns, centers = columns.astype(np.float32), centers.astype(np.float32)
    affinity = list_affinities(columns, centers)
    label, best, second = find_all(columns, centers, 16)
    np.testing.assert_array_equal(label, affinity.argmax(axis=1))
    np.testing.assert_array_equal(np.stack([second, best], axis=1), np.sort(affinity, axis=1)[:, -2:])


def test_rounding_leaves_out_no_centre_that_single_precision_takes_for_the_nearest():
    """Two centres on one side of a leaf, one on the other side: at the border of the leaf they are equally near."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        middle, radius, apart = rng.uniform(0.3, 0.7), rng.uniform(0.01, 0.02), rng.uniform(0.03, 0.06)
        columns = np.float32([[middle - radius, middle + radius]])
        other = middle + apart + 2 * radius
        centers = np.float32([other, *[middle - apart] * 2, *np.linspace(-1, -0.9, 12), other])[:, None]
        centers[-1] = np.nextafter(centers[0], np.float32(2))
        affinity = list_affinities(columns, centers)
        label, best, second = find_all(columns, centers, 2)
        np.testing.assert_array_equal(label, affinity.argmax(axis=1))
        np.testing.assert_array_equal(np.stack([second, best], axis=1), np.sort(affinity, axis=1)[:, -2:])


def test_a_run_by_boxes_is_the_run_without(monkeypatch):
    rng = np.random.default_rng(1)
    points = np.round(rng.uniform(-1, 1, (800, 2)), 2)
    data, start = solvers.SignedPoints.of(points, rng.exponential(1.0, 800) - 0.1), points[:150]
    region = solvers.Region(np.ones(2), 1.5)
    found = []
    for worth in (2**62, 1000):
        monkeypatch.setattr(solvers, "_WORTH_LEAVES", worth)
        found.append(solvers.run_signed_lloyd(data, start, region))
        assert ("leaves" in vars(data)) == (worth == 1000)
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
