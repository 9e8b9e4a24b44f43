"""How far any row of a region can lie from public or released points: what a loss can be at most, before a row is read.

The bounds are proved in ``docs/proofs/sensitivities.md``.

References
----------
Land & Doig 1960 (branch and bound).
"""

from __future__ import annotations

from math import inf

import numpy as np

from dpviz.core.arrays import Array, Codes
from dpviz.core.domain import Region
from dpviz.core.region import Blocks

# A bound is at most this part above the truth, where few boxes are enough to know that.
_CLOSE = 2.0**-8
# Numbers in one temporary block.
_NUMBERS = 2**16
# Sums of squares are rounded: a bound must not fall below what a row attains, nor a box out of a ball that it touches.
_UP, _SLACK = 1 + 2.0**-42, 1 + 1e-9


def bound_distance(sets: Array, region: Region, *, nearest: int = 1) -> float:
    """An upper bound on how far a row lies from the ``nearest``-th nearest point of any of ``sets`` (m, k, d).

    No row is farther from a point p than the corner of the box across, |x_j - p_j| <= half_j + |p_j|, or than the far
    side of the ball, |x - p| <= radius + |p|; the nearest-th smallest of such bounds over the points of a set bounds
    its nearest-th smallest distance. In a smaller box, of middle c and half-widths w, |x_j - p_j| <= |c_j - p_j| + w_j.
    So the region is halved again and again, and the largest bound of all boxes bounds the whole, boxes that are done
    with included. A box is done with where no row in it can be much farther than one that was found. Where there are
    too many boxes, as in many dimensions, what the last ones say stands: it is larger than need be, never too small.
    Of points that are not finite there is no bound. Of categories a row is a corner: coordinates of blocks add their
    own farthest squares, and where that is less than the bound of the whole box it holds.

    Parameters
    ----------
    sets : array of shape (m, k, d)
        Public or released points, unit coordinates.
    region : Region
        Where rows live, unit coordinates.
    nearest : int
        1 for the nearest point of a set, 2 for the second nearest.

    Returns
    -------
    float
        Unit coordinates; not finite where a point is not.
    """
    if not np.isfinite(sets).all():
        return inf
    if region.blocks is not None:
        anywhere = bound_distance(sets, Region(region.half, region.radius), nearest=nearest)
        return min(_bound_blocks(sets, region, region.blocks, nearest), anywhere)
    ball = region.radius + np.linalg.norm(sets, axis=2)
    # Each line is a box of one set: sets whose points are everywhere are soon done with.
    which, closed = np.arange(len(sets)), 0.0
    middle, half = np.zeros((len(sets), region.dim)), np.tile(region.half, (len(sets), 1))
    found = _search_across(sets, region, nearest)
    while True:
        corner = np.linalg.norm(np.abs(middle[:, None] - sets[which]) + half[:, None], axis=2)
        bound = _find_smallest(np.minimum(corner, ball[which]), nearest)
        found = max(found, _measure_largest(region.clip(middle), sets[which], nearest))
        beyond = bound > found * (1 + _CLOSE)
        if not beyond.any() or 2 * int(beyond.sum()) * sets[0].size > _NUMBERS:
            return max(closed, float(bound.max())) * _UP
        closed = max(closed, float(bound.max(where=~beyond, initial=0.0)))
        which, middle, half = _halve(which[beyond], middle[beyond], half[beyond])
        inside = np.linalg.norm(np.maximum(np.abs(middle) - half, 0.0), axis=1) <= region.radius * _SLACK
        which, middle, half = which[inside], middle[inside], half[inside]


def _bound_blocks(sets: Array, region: Region, blocks: Blocks, nearest: int) -> float:
    """The bound that takes the farthest of each block, and the corner or the ball of all other coordinates."""
    free = sets[..., blocks.free]
    corner = ((np.abs(free) + region.half[blocks.free]) ** 2).sum(axis=2)
    ball = (blocks.free_radius + np.linalg.norm(free, axis=2)) ** 2
    bound = np.sqrt(np.minimum(corner, ball) + blocks.bound_squared_distance(sets, region.half))
    return float(_find_smallest(bound, nearest).max()) * _UP


def _search_across(sets: Array, region: Region, nearest: int) -> float:
    """What the rows attain that lie across the points which matter if the region stays whole."""
    corner = np.linalg.norm(np.abs(sets) + region.half, axis=2)
    matters = np.argpartition(np.minimum(corner, region.radius + np.linalg.norm(sets, axis=2)), nearest - 1, axis=1)
    points = sets[np.arange(len(sets)), matters[:, nearest - 1]]
    length = np.linalg.norm(points, axis=1, keepdims=True)
    opposite = -points * (region.radius / np.where(length > 0, length, 1.0))
    corners = np.where(points > 0, -region.half, region.half)
    return max(_measure_largest(region.clip(rows), sets, nearest) for rows in (opposite, corners))


def _measure_largest(rows: Array, sets: Array, nearest: int) -> float:
    """The largest nearest-th smallest distance, each of ``rows`` (m, d) to its own one of ``sets`` (m, k, d)."""
    return float(_find_smallest(np.linalg.norm(rows[:, None] - sets, axis=2), nearest).max())


def _find_smallest(distances: Array, nearest: int) -> Array:
    """The nearest-th smallest of each line."""
    smallest: Array = np.partition(distances, nearest - 1, axis=1)[:, nearest - 1]
    return smallest


def _halve(which: Codes, middle: Array, half: Array) -> tuple[Codes, Array, Array]:
    """Both halves of each box, cut across its longest side."""
    line, longest = np.arange(len(half)), half.argmax(axis=1)
    half = half.copy()
    half[line, longest] /= 2
    step = np.zeros_like(half)
    step[line, longest] = half[line, longest]
    return np.tile(which, 2), np.concatenate([middle - step, middle + step]), np.tile(half, (2, 1))
