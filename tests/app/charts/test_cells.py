"""Cells fill the box and hold what is nearest; neighbours differ in colour on every map, however many cells it has."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.app.charts.cells import COLORS, LabelBoxes, choose_hues, compute_voronoi_polygons, find_neighbours


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


DIRECTIONS = {"left": (-1, 0), "right": (1, 0), "center": (0, 0), "top": (0, 1), "bottom": (0, -1), "middle": (0, 0)}


@given(turn=st.floats(0, 2 * np.pi), apart=st.floats(24, 80), high=st.sampled_from([210, 300, 420, 670]))
def test_numbers_of_marks_near_each_other_stand_apart_in_a_small_picture_and_in_a_large_one(
    turn: float, apart: float, high: int
) -> None:
    drawn = 0.5 + np.array([[0.0, 0.0], [np.cos(turn), np.sin(turn)]]) * apart / 420
    crowd = LabelBoxes(np.zeros(2), np.ones(2))
    crowd.takes(drawn, 11)
    sides = crowd.places(["12", "9"], drawn, np.zeros((2, 2)), size=11, font=12)
    assert all(sides)
    half = np.array([[7.2, 6.0], [3.6, 6.0]])
    toward = np.array([np.add(*(DIRECTIONS[word] for word in side.split())) for side in sides])
    middles = drawn * high + toward * (11 / 1.6 + 1 + half)
    gap = np.abs(middles[1] - middles[0]) - half.sum(axis=0)
    assert gap.max() > -1e-9, (sides, gap)
