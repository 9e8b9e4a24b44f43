"""Trees of details: no row is lost, no count negative, what stands out is kept, and noise alone is spread evenly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.algorithms.auto.view_synopsis import denoise
from tests.cases import for_each

SHAPES = [(1,), (1, 50), (30, 41), (7, 6, 5), (4, 5, 4, 3, 2)]


def noisy(counts, scale, seed=0):
    return counts + np.random.default_rng(seed).laplace(0, scale, counts.shape)


@given(shape=st.sampled_from(SHAPES), scale=st.floats(0.01, 30), total=st.floats(0, 1e5), seed=st.integers(0, 99))
def test_rows_are_neither_lost_nor_negative(shape, scale, total, seed):
    counts = np.random.default_rng(seed).poisson(0.5, shape) ** 3.0
    found, _ = denoise(noisy(counts, scale, seed), np.sqrt(2) * scale, total)
    assert found.shape == shape
    assert found.min() >= 0
    assert found.sum() == pytest.approx(total, rel=1e-9, abs=1e-9)


@for_each("shape", [(500,), (60, 60), (16, 16, 16)])
def test_noise_alone_is_spread_nearly_evenly(shape):
    apart = []
    for seed in range(20):
        found, details = denoise(noisy(np.zeros(shape), 1.0, seed), np.sqrt(2), 1000.0)
        apart.append(np.abs(found - found.mean()).sum() / (2 * found.sum()))
        # Of some hundred blocks a few look like more than noise.
        assert (details.kept + details.shrunk).sum() <= 10
    assert np.median(apart) <= 0.12


def test_a_light_cluster_beside_heavy_ones_keeps_its_rows():
    counts = np.zeros((64, 64))
    counts[8:12, 8:12], counts[40:44, 50:54] = 400.0, 8.0
    light = [
        denoise(noisy(counts, 1.5, s), 1.5 * np.sqrt(2), counts.sum()).counts[38:46, 48:56].sum() for s in range(20)
    ]
    assert 96 <= np.median(light) <= 145


def test_far_noise_is_no_spike():
    """Far from all rows no cell comes near to what its noise shows by chance."""
    counts = np.zeros((64, 64))
    counts[:8, :8] = 50.0
    for seed in range(10):
        drawn = noisy(counts, 2.0, seed)
        found, _ = denoise(drawn, 2 * np.sqrt(2), counts.sum())
        assert found[16:, 16:].max() <= 0.25 * drawn[16:, 16:].max()


def test_details_say_what_was_shared():
    counts = np.zeros((32, 32))
    counts[0, 0], counts[16:, 16:] = 500.0, 10.0
    found, details = denoise(noisy(counts, 0.5), 0.5 * np.sqrt(2), counts.sum())
    assert details.sides.tolist() == [1, 2, 4, 8, 16]
    blocks = np.array([256, 64, 16, 4, 1])
    assert (details.kept + details.shrunk + details.shared == blocks).all()
    assert details.kept[-1] == 1
    assert details.blocks.shape == counts.shape
    assert details.blocks[0, 0] == 1
    assert details.blocks[20, 20] >= 8
    assert set(np.unique(details.blocks)) <= {1, 2, 4, 8, 16, 32}
    assert found[0, 0] == pytest.approx(500, rel=0.1)
