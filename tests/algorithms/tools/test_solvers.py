"""The signed Lloyd, against scikit-learn and plain recomputation; and starts that know nothing of the data."""

import numpy as np
import pytest
from sklearn.cluster import KMeans

from dpviz.algorithms.tools import solvers
from dpviz.algorithms.tools.solvers import (
    SignedPoints,
    compute_mean_noise_sd,
    find_best_of_starts,
    pack_spheres,
    run_signed_lloyd,
)
from dpviz.core.domain import Region
from tests.cases import for_each


def cube(dim: int) -> Region:
    return Region(np.ones(dim), float(np.sqrt(dim)))


def plain_loss(points: np.ndarray, weights: np.ndarray, centers: np.ndarray) -> float:
    squared = ((points[:, None] - centers[None]) ** 2).sum(axis=2)
    return float(weights @ squared.min(axis=1))


def scattered(dim: int, seed: int, m: int = 700) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    rng = np.random.default_rng(seed)
    # Single precision is what the solver works in.
    points = rng.uniform(-1, 1, (m, dim)).astype(np.float32).astype(np.float64)
    return points, rng.exponential(1.0, m), rng


@for_each(("dim", "k"), [(1, 3), (2, 1), (2, 7), (6, 5), (20, 40)])
def test_with_weights_above_zero_it_is_scikit_learns_lloyd(dim, k):
    points, weights, rng = scattered(dim, seed=k)
    start = points[rng.choice(len(points), k, replace=False)]
    ours = run_signed_lloyd(SignedPoints.of(points, weights), start, cube(dim))
    theirs = KMeans(k, init=start, n_init=1, tol=0, max_iter=solvers.ITERATIONS).fit(points, sample_weight=weights)
    np.testing.assert_allclose(ours.centers, theirs.cluster_centers_, atol=1e-5)
    assert ours.loss == pytest.approx(theirs.inertia_, rel=1e-6)
    np.testing.assert_array_equal(ours.members, np.bincount(theirs.labels_, minlength=k))
    np.testing.assert_allclose(ours.mass, np.bincount(theirs.labels_, weights, k))


@pytest.mark.parametrize("block", [64, 2**15])
def test_points_that_are_not_measured_again_have_not_changed_their_centre(block, monkeypatch):
    """Labels and sums stay those of a fresh start, however the centres jump; negative weights included."""
    monkeypatch.setattr(solvers, "_BLOCK", block)
    points, weights, rng = scattered(3, seed=0)
    weights -= 1.0
    data = SignedPoints.of(points, weights)
    centers = rng.uniform(-1, 1, (6, 3))
    clusters = solvers._Clusters(data, centers)
    measured = []
    nearest = solvers._find_nearest
    monkeypatch.setattr(solvers, "_find_nearest", lambda c, z: measured.append(c.shape[1]) or nearest(c, z))
    for size in (0.3, 0.1, 0.03, 0.01, 0.003, 0.3, 0.001):
        moved = centers + rng.normal(0, size, centers.shape)
        clusters.follow(centers, moved)
        centers = moved
        fresh = solvers._Clusters(data, centers)
        np.testing.assert_array_equal(clusters._labels, fresh._labels)
        np.testing.assert_allclose(clusters.moments, fresh.moments, atol=1e-9)
        assert clusters.solution(centers).loss == pytest.approx(plain_loss(points, weights, centers), abs=1e-6)
    assert min(measured) < 0.1 * len(points), "nothing was saved"


def test_the_best_centres_seen_are_kept_although_the_loss_goes_up_and_down(monkeypatch):
    seen: list[float] = []
    solution = solvers._Clusters.solution

    def watched(self, centers):
        found = solution(self, centers)
        seen.append(found.loss)
        return found

    monkeypatch.setattr(solvers._Clusters, "solution", watched)
    rose = 0
    for seed in range(10):
        points, weights, rng = scattered(2, seed)
        weights = weights + rng.laplace(0, 3.0, len(weights))
        seen.clear()
        kept = run_signed_lloyd(SignedPoints.of(points, weights, weight_sd=0.5), points[:5], cube(2))
        rose += seen[-1] > min(seen)
        assert kept.loss == min(seen)
        assert kept.loss == pytest.approx(plain_loss(points, weights, kept.centers), abs=1e-6)
    assert rose >= 5, "on these weights Lloyd's iteration must not be monotone"


def test_a_centre_whose_mass_is_noise_keeps_its_place():
    near, far = np.full((50, 2), 0.5), np.full((50, 2), -0.5)
    points = np.concatenate([near, far]) + np.random.default_rng(0).uniform(-0.1, 0.1, (100, 2))
    weights = np.r_[np.full(50, 10.0), np.full(50, 0.2)]  # 10 in all; the noise of 50 cells is 2 · 1.5 · √50 = 21
    start = np.array([[0.6, 0.6], [-0.7, -0.7]])
    kept = run_signed_lloyd(SignedPoints.of(points, weights, weight_sd=1.5), start, cube(2))
    np.testing.assert_array_equal(kept.centers[1], start[1])
    np.testing.assert_allclose(kept.centers[0], points[:50].mean(axis=0), atol=1e-6)
    moved = run_signed_lloyd(SignedPoints.of(points, weights, weight_sd=0.5), start, cube(2))
    np.testing.assert_allclose(moved.centers[1], points[50:].mean(axis=0), atol=1e-6)


def test_the_start_of_least_loss_is_chosen():
    points, weights, rng = scattered(2, seed=1)
    data = SignedPoints.of(points, weights)
    starts = [rng.uniform(-1, 1, (6, 2)) for _ in range(8)]
    best = find_best_of_starts(data, starts, cube(2))
    alone = [run_signed_lloyd(data, start, cube(2)).loss for start in starts]
    np.testing.assert_allclose(best.losses, alone)
    assert best.chosen == int(np.argmin(alone)) and best.solution.loss == min(alone) < max(alone)
    np.testing.assert_array_equal(best.start, starts[best.chosen])
    again = find_best_of_starts(data, [starts[best.chosen][::-1], *starts], cube(2))
    assert again.chosen == 0, "the same centres in another order are the first of equals"
    assert again.losses[0] == again.losses[best.chosen + 1]


def test_the_noise_of_a_mean_is_what_redrawn_weights_give():
    points, weights, rng = scattered(2, seed=2)
    weights, sd = 20 * weights, 3.0
    data = SignedPoints.of(points, weights, weight_sd=sd)
    solution = run_signed_lloyd(data, points[:4], cube(2))
    labels = ((points[:, None] - solution.centers[None]) ** 2).sum(axis=2).argmin(axis=1)
    means = []
    for _ in range(400):
        noisy = weights + rng.normal(0, sd, len(weights))
        mass = np.bincount(labels, noisy, 4)
        means.append(np.stack([np.bincount(labels, noisy * points[:, j], 4) / mass for j in range(2)], axis=1))
    observed = np.sqrt(np.var(means, axis=0).mean(axis=1))
    np.testing.assert_allclose(compute_mean_noise_sd(data, solution), observed, rtol=0.15)


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
    assert centers.shape == (k, region.dim) and (np.abs(centers) <= region.half).all()
    assert (np.linalg.norm(centers, axis=1) <= region.radius * (1 + 1e-12)).all()


@for_each("k", [2, 31, 32, 33, 70])
def test_many_centres_are_compared_in_groups_as_one_by_one(k, monkeypatch):
    monkeypatch.setattr(solvers, "_CACHED", 2**12)
    points, _, rng = scattered(2, seed=k)
    columns, centers = np.ascontiguousarray(np.round(points, 1).T, np.float32), np.round(rng.uniform(-1, 1, (k, 2)), 1)
    found = []
    for many in (1, 1000):
        monkeypatch.setattr(solvers, "_MANY_CENTERS", many)
        found.append(solvers._find_nearest(columns, centers))
    for in_groups, one_by_one in zip(*found, strict=True):
        np.testing.assert_array_equal(in_groups, one_by_one)
