"""Cells fill the box and hold what is nearest; neighbours differ in colour on every map, however many cells it has."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.app.charts import cells
from dpviz.app.charts.cells import COLORS, choose_hues, color_map, compute_voronoi_polygons, find_neighbours
from tests.cases import for_each


def area(polygon: np.ndarray) -> float:
    x, y = polygon.T
    return float(abs((x[:-1] * y[1:] - x[1:] * y[:-1]).sum()) / 2)


def holds(polygon: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Which points a convex polygon, in either direction, holds."""
    edge = np.diff(polygon, axis=0)
    side = edge[:, 0] * (points[:, None, 1] - polygon[:-1, 1]) - edge[:, 1] * (points[:, None, 0] - polygon[:-1, 0])
    return (side > -1e-9).all(axis=1) | (side < 1e-9).all(axis=1)


@given(seed=st.integers(0, 10**6), k=st.integers(1, 30), high=st.sampled_from([1.0, 0.1]))
def test_cells_fill_the_box_and_hold_what_is_nearest(seed: int, k: int, high: float) -> None:
    rng, half = np.random.default_rng(seed), np.array([1.0, high])
    centers, points = rng.uniform(-half, half, (k, 2)), rng.uniform(-half, half, (200, 2))
    polygons = compute_voronoi_polygons(centers, half)
    assert sum(area(polygon) for polygon in polygons) == pytest.approx(4 * high, rel=1e-4)
    squared = ((points[:, None] - centers) ** 2).sum(axis=2)
    order = np.sort(squared, axis=1)
    clear = np.ones(200, bool) if k == 1 else order[:, 1] - order[:, 0] > 1e-5
    for j, polygon in enumerate(polygons):
        np.testing.assert_array_equal(holds(polygon, points)[clear], (squared.argmin(axis=1) == j)[clear])


def test_equal_centres_share_a_cell_and_walls_do_no_harm() -> None:
    polygons = compute_voronoi_polygons(np.array([[1.0, 1.0], [1.0, 1.0], [-1.0, 0.0], [0.0, 0.0]]), np.ones(2))
    np.testing.assert_array_equal(polygons[0], polygons[1])
    assert area(polygons[0]) + area(polygons[2]) + area(polygons[3]) == pytest.approx(4, rel=1e-4)
    assert all(np.isfinite(polygon).all() and (abs(polygon) <= 1).all() for polygon in polygons)


def test_outlines_are_one_polyline_with_gaps_and_a_circle_is_an_ellipse_in_data_units() -> None:
    low, high = np.array([[0.0, 0.0], [2.0, 1.0]]), np.array([[1.0, 1.0], [3.0, 4.0]])
    outline = cells.outline_boxes(low, high).reshape(2, 6, 2)
    assert np.isnan(outline[:, 5]).all() and np.isfinite(outline[:, :5]).all()
    np.testing.assert_array_equal(outline[:, :5].min(axis=1), low)
    np.testing.assert_array_equal(outline[:, :5].max(axis=1), high)
    np.testing.assert_array_equal(cells.outline_segments(low, high)[1], high[0])
    circle = cells.outline_circles(np.array([[5.0, 7.0]]), np.array([0.5]), np.array([10.0, 2.0]))[:-1]
    np.testing.assert_allclose((((circle - [5, 7]) / [10, 2]) ** 2).sum(axis=1), 0.25)


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


@for_each("k", [5, 100])
def test_cells_that_are_drawn_side_by_side_differ(k: int) -> None:
    centers = places(k, k, shape="even")
    hues, owners = choose_hues(centers), {}
    for i, polygon in enumerate(compute_voronoi_polygons(centers, np.ones(2))):
        for wall in pairwise(tuple(corner) for corner in polygon.round(7)):
            owners.setdefault(frozenset(wall), set()).add(i)
    shared = [pair for pair in owners.values() if len(pair) == 2]
    assert len(shared) >= k - 1 and all(hues[i] != hues[j] for i, j in shared)


def test_copies_share_a_colour_a_wheel_needs_all_four_and_a_map_uses_them_evenly() -> None:
    drawn = np.repeat(places(1, 9, shape="even"), 2, axis=0)
    assert (choose_hues(drawn)[::2] == choose_hues(drawn)[1::2]).all()
    assert choose_hues(np.zeros((0, 2))).shape == (0,)
    spokes = [{0, 1 + (i - 2) % 5, 1 + i % 5} for i in range(1, 6)]
    assert len(set(color_map([set(range(1, 6)), *spokes]))) == 4
    counts = np.bincount(choose_hues(places(3, 120, shape="even")), minlength=COLORS)
    assert counts.min() > 15
