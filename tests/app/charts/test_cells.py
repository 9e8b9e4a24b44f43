import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.app.charts.cells import compute_voronoi_polygons, outline_boxes, outline_circles, outline_segments


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
    half = np.ones(2)
    polygons = compute_voronoi_polygons(np.array([[1.0, 1.0], [1.0, 1.0], [-1.0, 0.0], [0.0, 0.0]]), half)
    np.testing.assert_array_equal(polygons[0], polygons[1])
    assert area(polygons[0]) + area(polygons[2]) + area(polygons[3]) == pytest.approx(4, rel=1e-4)
    assert all(np.isfinite(polygon).all() and (abs(polygon) <= 1).all() for polygon in polygons)


def test_outlines_are_one_polyline_with_gaps() -> None:
    low, high = np.array([[0.0, 0.0], [2.0, 1.0]]), np.array([[1.0, 1.0], [3.0, 4.0]])
    outline = outline_boxes(low, high).reshape(2, 6, 2)
    assert np.isnan(outline[:, 5]).all() and np.isfinite(outline[:, :5]).all()
    np.testing.assert_array_equal(outline[:, :5].min(axis=1), low)
    np.testing.assert_array_equal(outline[:, :5].max(axis=1), high)
    np.testing.assert_array_equal(outline_segments(low, high)[1], high[0])


def test_a_circle_is_an_ellipse_in_data_units() -> None:
    outline = outline_circles(np.array([[5.0, 7.0]]), np.array([0.5]), np.array([10.0, 2.0]))[:-1]
    np.testing.assert_allclose((((outline - [5, 7]) / [10, 2]) ** 2).sum(axis=1), 0.25)
