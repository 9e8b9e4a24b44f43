"""Outlines of cells in a drawn plane: Voronoi cells, boxes, circles, as one polyline with gaps."""

from __future__ import annotations

import numpy as np
from scipy.spatial import Voronoi

from dpviz.core import Array

_CIRCLE = 48


def compute_voronoi_polygons(centers: Array, half: Array) -> list[Array]:
    """The cell of each centre (k, 2) within the box ``[-half, half]``, as closed polygons; copies share one cell.

    Mirror images of all centres behind the four walls make the walls themselves cell borders.

    Parameters
    ----------
    centers : array of shape (k, 2)
        Drawn units.
    half : array of shape (2,)
        Half-widths of the box.

    Returns
    -------
    list of arrays of shape (corners, 2)
        Closed.
    """
    # A centre on a wall would coincide with its own image.
    inside = np.clip(centers, -half * (1 - 1e-6), half * (1 - 1e-6))
    sites, which = np.unique(inside.round(12), axis=0, return_inverse=True)
    left, down = np.array([-1.0, 1.0]), np.array([1.0, -1.0])
    wall = 2 * half * np.array([[1.0, 0.0], [0.0, 1.0]])
    images = [sites * left - wall[0], sites * left + wall[0], sites * down - wall[1], sites * down + wall[1]]
    diagram = Voronoi(np.concatenate([sites, *images]))
    polygons = [diagram.vertices[diagram.regions[diagram.point_region[i]]] for i in range(len(sites))]
    return [np.clip(_close_outline(polygons[i]), -half, half) for i in which.ravel()]


def outline_boxes(low: Array, high: Array) -> Array:
    """Outlines of m boxes with corners ``low`` and ``high`` (m, 2), one polyline with gaps, shape (6 m, 2).

    Parameters
    ----------
    low : array of shape (m, 2)
        Corners.
    high : array of shape (m, 2)
        Opposite corners.

    Returns
    -------
    array of shape (6 m, 2)
        NaN where a gap is.
    """
    x0, y0, x1, y1 = low[:, 0], low[:, 1], high[:, 0], high[:, 1]
    gap = np.full(len(low), np.nan)
    x = np.stack([x0, x1, x1, x0, x0, gap], axis=1)
    y = np.stack([y0, y0, y1, y1, y0, gap], axis=1)
    return np.column_stack([x.ravel(), y.ravel()])


def outline_circles(middles: Array, radii: Array, scale: Array) -> Array:
    """Outlines of ellipses around ``middles`` (m, 2), with gaps.

    Half-axes are ``radii``, (m,) or one for each axis (m, 2), times ``scale`` (2,).

    Parameters
    ----------
    middles : array of shape (m, 2)
        Drawn units.
    radii : array of shape (m,) or (m, 2)
        Unit coordinates.
    scale : array of shape (2,)
        Drawn units in a unit coordinate.

    Returns
    -------
    array of shape (points, 2)
        NaN where a gap is.
    """
    angle = np.linspace(0, 2 * np.pi, _CIRCLE)
    round_ = np.stack([np.cos(angle), np.sin(angle)], axis=1) * scale
    outline = middles[:, None, :] + radii.reshape(len(middles), 1, -1) * round_
    return join_outlines(list(outline))


def outline_segments(start: Array, end: Array) -> Array:
    """Straight lines from ``start`` to ``end`` (m, 2), one polyline with gaps, shape (3 m, 2).

    Parameters
    ----------
    start, end : array of shape (m, 2)
        Drawn units.

    Returns
    -------
    array of shape (3 m, 2)
        NaN where a gap is.
    """
    return np.stack([start, end, np.full_like(start, np.nan)], axis=1).reshape(-1, 2)


def join_outlines(outlines: list[Array]) -> Array:
    """Several polylines as one, with a gap after each."""
    gap = np.full((1, 2), np.nan)
    return np.concatenate([part for outline in outlines for part in (outline, gap)]) if outlines else np.empty((0, 2))


def _close_outline(polygon: Array) -> Array:
    middle = polygon.mean(axis=0)
    order = np.argsort(np.arctan2(*(polygon - middle).T[::-1]))
    around: Array = polygon[np.r_[order, order[:1]]]
    return around
