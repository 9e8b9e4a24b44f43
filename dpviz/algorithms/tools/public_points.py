"""Points and cells that know nothing of the data: centres packed far apart, uniform draws, and grids of cubes."""

from __future__ import annotations

from math import sqrt

import numpy as np
from scipy.spatial.distance import cdist

from dpviz.core import Array, Codes, Region, partitions

_HALVINGS = 25
_REJECTIONS = 100
_BATCH = 128


def pack_spheres(k: int, region: Region, rng: np.random.Generator) -> Array:
    """``k`` centres in ``region``, unit coordinates, shape (k, d), pairwise as far apart as random packing finds.

    A radius a works if k successive uniform draws, a away from the walls, lie 2a apart from all before them, where
    100 rejections in a row fail. The largest such a is found by bisection. No row is read.

    Parameters
    ----------
    k : int
    region : Region
    rng : numpy Generator
        Public coins; what they decide may be known to everybody.

    Returns
    -------
    array of shape (k, d)
        Unit coordinates.

    References
    ----------
    Su et al. 2016, §4.1.1.
    """
    if k == 1:
        return region.settle_points(np.zeros((1, region.dim)))
    if region.blocks is not None:
        return _spread_corners(k, region, rng)
    best = _pack(k, region, 0.0, rng)
    assert best is not None
    low, high = 0.0, float(region.half.min())
    for _ in range(_HALVINGS):
        radius = (low + high) / 2
        packed = _pack(k, region, radius, rng)
        if packed is None:
            high = radius
        else:
            low, best = radius, packed
    return best


def _pack(k: int, region: Region, radius: float, rng: np.random.Generator) -> Array | None:
    """Centres at least ``2 * radius`` apart by sequential rejection, or None; proposals come in batches."""
    inner = Region(np.maximum(region.half - radius, 0), max(region.radius - radius, 0.0))
    packed = np.empty((k, region.dim))
    placed = rejected = 0
    while placed < k:
        proposals = inner.clip(rng.uniform(-inner.half, inner.half, (_BATCH, region.dim)))
        gaps = cdist(proposals, packed[:placed], "sqeuclidean").min(axis=1, initial=np.inf)
        far, at = gaps >= 4 * radius**2, 0
        while placed < k and far[at:].any():
            near = int(far[at:].argmax())
            if rejected + near >= _REJECTIONS:
                return None
            at += near
            packed[placed] = proposals[at]
            far &= cdist(proposals, packed[placed : placed + 1], "sqeuclidean")[:, 0] >= 4 * radius**2
            placed, rejected, at = placed + 1, 0, at + 1
        rejected += _BATCH - at
        if placed < k and rejected >= _REJECTIONS:
            return None
    return packed


def _spread_corners(k: int, region: Region, rng: np.random.Generator) -> Array:
    """Possible rows, each the farthest of fresh ones from those before it: no two categories lie closer than others."""
    packed = draw_random_points(1, region, rng)
    for _ in range(k - 1):
        fresh = draw_random_points(_BATCH, region, rng)
        packed = np.concatenate([packed, fresh[[cdist(fresh, packed).min(axis=1).argmax()]]])
    return packed


def draw_random_points(number: int, region: Region, rng: np.random.Generator) -> Array:
    """``number`` points uniform in the region's box, shape (number, d), unit coordinates; no row is read.

    Of categories each is a corner, as a row is: between there is nobody. Where a ball cuts the box, a point beyond it
    is drawn anew along its ray, as a point of the ball would be: a box of many dimensions is nearly all corners, and
    clipping would leave every point on the rim.

    Parameters
    ----------
    number : int
        How many.
    region : Region
    rng : numpy Generator
        Public coins; what they decide may be known to everybody.

    Returns
    -------
    array of shape (number, d)
        Unit coordinates.
    """
    points = rng.uniform(-region.half, region.half, (number, region.dim))
    norm = np.linalg.norm(points, axis=1)
    # Drawn whether needed or not, so that the coins that follow do not depend on where the points fell.
    radius = region.radius * rng.random(number) ** (1 / region.dim)
    beyond = norm > region.radius
    points[beyond] *= (radius[beyond] / norm[beyond])[:, None]
    return region.clip(points) if region.blocks is None else region.rows(points)


# A narrower axis than this part of the widest is as good as none.
_NARROWEST = 1e-9
# Halvings of the range of sides on a log scale: enough for 2^62 cells to the last bit.
_HALVINGS_OF_SIDES = 70


def make_cube_grid(half: Array, cells: float, middle: Array | None = None) -> partitions.Grid:
    """The finest grid of at most ``cells`` cubes over ``middle`` ± ``half`` (d,); a narrow axis gets few, or one.

    A side is sought for all axes alike, and each is divided by it, rounded. To round the numbers that a side would give
    for exactly so many cells is simpler, but their product misses what is wanted: by a factor of 0.3 to 1.6 over random
    boxes of up to ten columns, where this one stays between 0.5 and 1. The number of cells is what the noise that adds
    up over them, and memory, are planned with: it must not be exceeded. There are at most 2^62, which can be numbered.
    """
    half = np.maximum(half, _NARROWEST * half.max())
    cells = max(1, min(cells, partitions.MOST_CELLS))
    too_fine, coarse = 2 * float(half.max()) / (cells + 1), 2 * float(half.max())
    for _ in range(_HALVINGS_OF_SIDES):
        side = sqrt(too_fine * coarse)
        fits = partitions.Grid(half, _count_along(half, side)).n_cells <= cells
        too_fine, coarse = (too_fine, side) if fits else (side, coarse)
    return partitions.Grid(half, _count_along(half, coarse), middle)


def _count_along(half: Array, side: float) -> Codes:
    return np.maximum(1, np.rint(2 * half / side)).astype(np.int64)
