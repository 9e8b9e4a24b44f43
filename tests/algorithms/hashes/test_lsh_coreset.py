"""The coreset of hashes: what a released tree of noisy counts says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.algorithms.hashes.lsh_coreset import CountedTree, compute_leaf_weights, make_counts_consistent
from dpviz.core.mechanisms import Gaussian, PathCounts, count_below
from dpviz.core.noise import StudyNoise
from dpviz.core.queries import SparseCounts
from dpviz.runs.one_run import run
from tests.contract.tables import PUBLIC, make_blobs


def grown(seed: int, *, sd: float = 8.0, levels: int = 6, branch: float = 60.0, min_node: float = 20.0):
    rng = np.random.default_rng(seed)
    histogram = SparseCounts.of(rng.integers(0, 64, 600) & rng.integers(0, 64, 600), 64)
    released = PathCounts(Gaussian(1.0, sd), levels, branch).draw(histogram, StudyNoise(rng))
    return histogram, CountedTree.of(released, n=600, min_node=min_node)


@given(seed=st.integers(0, 10**6))
def test_leaves_are_kept_and_none_lies_below_another(seed):
    _, tree = grown(seed)
    leaves = {int(node) for node in tree.leaves}
    assert leaves and all(tree.kept[tree.leaf])
    assert not leaves & {node >> up for node in leaves for up in range(1, 21)}


def test_consistency_is_the_weighted_least_squares_solution():
    # All counts of equal noise, the root exact: compare with the normal equations over the ends.
    nodes = np.array([2, 3, 4, 5, 6, 7, 8, 9])
    noisy = np.array([70.0, 44.0, 55.0, 9.0, 30.0, 11.0, 20.0, 33.0])
    tree = CountedTree.of(SparseCounts(nodes, noisy, 32), n=100, min_node=1)
    ends = [5, 6, 7, 8, 9]
    below = {2: [5, 8, 9], 3: [6, 7], 4: [8, 9], 5: [5], 6: [6], 7: [7], 8: [8], 9: [9]}
    design = np.array([[float(end in below[node]) for end in ends] for node in nodes])
    # The exact root as an equation: eliminate the last end.
    reduced = design[:, :-1] - design[:, -1:]
    free = np.linalg.lstsq(reduced, noisy - 100 * design[:, -1], rcond=None)[0]
    found = make_counts_consistent(tree)[np.searchsorted(tree.nodes, ends)]
    np.testing.assert_allclose(found, [*free, 100 - free.sum()])


def test_without_noise_the_leaves_hold_every_row_that_was_not_dropped():
    for seed in range(20):
        histogram, tree = grown(seed, sd=1e-9)
        truth = count_below(tree.nodes, histogram)
        weights = compute_leaf_weights(tree, make_counts_consistent(tree), reassign_lost=False)
        np.testing.assert_allclose(weights, truth[tree.leaf], atol=1e-5)
        dropped = truth[~tree.kept].sum()
        children = np.isin(tree.nodes >> 1, tree.nodes[tree.leaf & tree.split])
        assert weights.sum() == pytest.approx(600 - dropped + truth[children & ~tree.kept].sum(), abs=1e-4)


def test_what_was_dropped_goes_to_the_sibling():
    nodes, noisy = np.array([2, 3, 4, 5, 8, 9]), np.array([90.0, 4.0, 80.0, 9.0, 50.0, 30.0])
    tree = CountedTree.of(SparseCounts(nodes, noisy, 32), n=100, min_node=10)
    assert tree.leaves.tolist() == [8, 9]
    plain = compute_leaf_weights(tree, tree.noisy_counts, reassign_lost=False)
    np.testing.assert_allclose(plain, [50, 30])
    # 100 of the root over 90, then 100 over 80: below it the two leaves share in proportion.
    np.testing.assert_allclose(
        compute_leaf_weights(tree, tree.noisy_counts, reassign_lost=True), plain * 100 / 90 * 90 / 80
    )


def test_points_and_centres_tell_their_noise_and_few_rows_are_read_as_half_of_the_smallest_leaf():
    table, unpolished = PUBLIC.table(make_blobs(300)), {"polishing": 0}
    done = run("lsh-coreset", table, k=6, epsilon=1.0, delta=0.0, params=unpolished, seed=5)
    hashed, coreset, _, found = (frame.step for frame in done.frames[:4])
    sd = coreset.point_noise_sd * np.maximum(make_counts_consistent(hashed.tree)[hashed.tree.leaf], hashed.min_node / 2)
    nearest = np.linalg.norm(coreset.points[:, None] - found.centers, axis=2).argmin(axis=1)
    mass = np.bincount(nearest, coreset.weights)
    assert mass.min() < hashed.min_node / 2
    np.testing.assert_allclose(sd, sd[0])
    noise = sd[0] * np.sqrt(np.bincount(nearest)) / np.maximum(mass, hashed.min_node / 2)
    np.testing.assert_allclose(found.center_noise_sd, noise)
