"""Denoising: noise alone is dropped or spread evenly, what stands out is kept, and counts come to their total."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.algorithms.auto.view_synopsis import denoise, project_onto_total, smooth_counts
from tests.cases import for_each


@for_each("shape", [(400,), (60, 60), (12, 12, 12), (8, 8, 8, 8)])
def test_noise_alone_leaves_next_to_nothing(shape):
    rng = np.random.default_rng(0)
    kept = [np.count_nonzero(smooth_counts(rng.laplace(0, 1, shape), np.sqrt(2), caution=1.0)) for _ in range(10)]
    assert np.mean(np.array(kept) > 0.02 * np.prod(shape)) <= 0.2


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=40), st.floats(0.1, 1000))
def test_counts_that_add_up_and_are_nearest(counts, total):
    noisy = np.array(counts)
    found = project_onto_total(noisy, total)
    assert found.min() >= 0 and found.sum() == pytest.approx(total)
    # Nearest: all positive ones moved by the same, and none that was cut would have come out above 0.
    moved = noisy - found
    positive = found > 1e-9 * total
    assert np.ptp(moved[positive]) <= 1e-6 * (1 + total)
    assert (noisy[~positive] - moved[positive].mean() <= 1e-6 * (1 + total)).all()


SHAPES = [(1,), (1, 50), (30, 41), (7, 6, 5), (4, 5, 4, 3, 2)]


def noisy(counts, scale, seed=0):
    return counts + np.random.default_rng(seed).laplace(0, scale, counts.shape)


@given(shape=st.sampled_from(SHAPES), scale=st.floats(0.01, 30), total=st.floats(0, 1e5), seed=st.integers(0, 99))
def test_rows_are_neither_lost_nor_negative(shape, scale, total, seed):
    counts = np.random.default_rng(seed).poisson(0.5, shape) ** 3.0
    found, _ = denoise(noisy(counts, scale, seed), np.sqrt(2) * scale, total)
    assert found.shape == shape
    assert found.min() >= 0 and found.sum() == pytest.approx(total, rel=1e-9, abs=1e-9)


def test_what_lies_across_the_borders_of_blocks_is_told_nearly_as_well():
    wrong = []
    for low in (31, 32):
        counts = np.zeros((64, 64))
        counts[low : low + 2, low : low + 2] = 60.0
        found = (denoise(noisy(counts, 3.0, seed), 3 * np.sqrt(2), counts.sum())[0] for seed in range(20))
        wrong.append(np.mean([np.abs(one - counts).sum() for one in found]))
    assert wrong[0] < 3 * wrong[1]


def test_details_say_what_was_shared():
    counts = np.zeros((32, 32))
    counts[0, 0], counts[16:, 16:] = 500.0, 10.0
    _, details = denoise(noisy(counts, 0.5), 0.5 * np.sqrt(2), counts.sum())
    assert (details.sides.tolist(), details.all.tolist()) == ([1, 2, 4, 8, 16], [256, 64, 16, 4, 1])
    assert details.kept[-1] == 1 and details.shrunk.min() >= 0 and {*details.blocks.flat} <= {1, 2, 4, 8, 16}
    assert details.blocks[0, 0] == 1 and details.blocks[20, 20] >= 8


def test_a_light_cluster_beside_heavy_ones_keeps_its_rows():
    counts = np.zeros((64, 64))
    counts[8:12, 8:12], counts[40:44, 50:54] = 400.0, 8.0
    light = [denoise(noisy(counts, 1.5, s), 1.5 * np.sqrt(2), counts.sum())[0][38:46, 48:56].sum() for s in range(20)]
    assert 96 <= np.median(light) <= 145
