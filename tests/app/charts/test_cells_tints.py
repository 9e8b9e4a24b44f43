"""Neighbours differ in colour on every map, however many cells it has."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.app.charts.cells import COLORS, choose_hues, color_map, compute_voronoi_polygons, find_neighbours


def places(seed: int, k: int, *, shape: str) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if shape == "lattice":
        side = int(np.ceil(np.sqrt(k)))
        return np.stack(np.meshgrid(np.arange(side), np.arange(side)), axis=2).reshape(-1, 2)[:k].astype(float)
    if shape == "line":
        return np.column_stack([np.sort(rng.uniform(-1, 1, k)), np.zeros(k)])
    return rng.normal(0, 1, (k, 2)) * [1.0, 0.05] if shape == "thin" else rng.uniform(-1, 1, (k, 2))


@given(seed=st.integers(0, 10**6), k=st.integers(1, 120), shape=st.sampled_from(["even", "lattice", "line", "thin"]))
def test_no_two_neighbours_share_a_colour(seed: int, k: int, shape: str) -> None:
    drawn = places(seed, k, shape=shape)
    hues = choose_hues(drawn)
    assert hues.shape == (k,) and set(hues.tolist()) <= set(range(COLORS))
    for i, near in enumerate(find_neighbours((drawn - drawn.min(axis=0)) / (np.ptp(drawn, axis=0).max() or 1.0))):
        assert all(hues[i] != hues[j] for j in near)


@pytest.mark.parametrize("k", [5, 100])
def test_cells_that_are_drawn_side_by_side_differ(k: int) -> None:
    centers, half = places(k, k, shape="even"), np.ones(2)
    hues, owners = choose_hues(centers), {}
    for i, polygon in enumerate(compute_voronoi_polygons(centers, half)):
        ends = [tuple(corner) for corner in polygon.round(7)]
        for wall in pairwise(ends):
            owners.setdefault(frozenset(wall), set()).add(i)
    shared = [pair for pair in owners.values() if len(pair) == 2]
    assert len(shared) >= k - 1
    assert all(hues[i] != hues[j] for i, j in shared)


def test_copies_of_a_place_share_its_colour() -> None:
    drawn = np.repeat(places(1, 9, shape="even"), 2, axis=0)
    assert (choose_hues(drawn)[::2] == choose_hues(drawn)[1::2]).all()
    assert choose_hues(np.zeros((0, 2))).shape == (0,)


def test_a_wheel_needs_all_four_colours_and_a_map_uses_them_evenly() -> None:
    spokes = [{0, 1 + (i - 2) % 5, 1 + i % 5} for i in range(1, 6)]
    assert len(set(color_map([set(range(1, 6)), *spokes]))) == 4
    counts = np.bincount(choose_hues(places(3, 120, shape="even")), minlength=COLORS)
    assert counts.min() > 15
