import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpviz.app.charts.pictures.tree import (
    assign_rows,
    compute_activation,
    expect_empty,
    find_asleep_boxes,
    find_band_spans,
    find_drawn_boxes,
)
from dpviz.app.charts.view import make_view
from dpviz.core.partitions import CubeTree
from tests.app.charts.pictures.special import domain, grown, level_of


@given(seed=st.integers(0, 10**6), dim=st.integers(1, 3), depth=st.integers(1, 4))
def test_children_hang_below_their_parent_side_by_side(seed: int, dim: int, depth: int) -> None:
    tree = grown(dim, depth, seed)
    starts, ends = zip(*find_band_spans(tree), strict=True)
    for level in range(1, depth + 1):
        parent = tree.parents(level)
        assert (starts[level] >= starts[level - 1][parent] - 1e-12).all()
        assert (ends[level] <= ends[level - 1][parent] + 1e-12).all()
        assert (starts[level][1:] >= ends[level][:-1] - 1e-12).all()
    assert starts[0][0] == 0 and ends[0][0] == pytest.approx(1)


@given(seed=st.integers(0, 10**6))
def test_each_cube_holds_the_rows_that_lie_in_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree, rows = grown(2, 3, seed), rng.uniform(-1, 1, (40, 2))
    held = assign_rows(tree, rows)
    for level in range(4):
        low = tree.corners(level)
        inside = ((rows[:, None] >= low) & (rows[:, None] < low + tree.edge(level))).all(axis=2).sum(axis=0)
        np.testing.assert_array_equal(held[level], inside)


@given(seed=st.integers(0, 10**6), dim=st.integers(1, 3))
def test_awake_and_asleep_cubes_are_all_that_were_asked(seed: int, dim: int) -> None:
    tree, view = grown(dim, 2, seed, share=0.6), make_view(domain(dim, -1, 1))
    tree = CubeTree(tree.origin / 2, 2.0, tree.levels)
    shown = min(dim, 2)
    parents = np.unique(tree.corners(1)[:, :shown], axis=0)
    awake, asleep = (
        {tuple(place) for place in found.low.round(6).tolist()}
        for found in (find_drawn_boxes(tree, 2, view), find_asleep_boxes(tree, view))
    )
    assert not awake & asleep and len(awake | asleep) == len(parents) << shown


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_activation_is_the_probability_of_the_noisy_decision(noise: str) -> None:
    law = stats.laplace(scale=4.0) if noise == "laplace" else stats.norm(scale=4.0)
    rows = np.array([20.0, 30.0, 36.0])
    step = level_of(grown(2, 1, 0), noise=noise)
    np.testing.assert_allclose(compute_activation(step, rows), law.sf(30 - rows), rtol=1e-6)


def test_empty_cubes_are_expected_of_all_asked() -> None:
    assert expect_empty(level_of(grown(3, 1, 0))) == pytest.approx(8 * np.exp(-30 / 4) / 2)
