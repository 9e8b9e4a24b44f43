"""Points that know nothing of the data: uniform starts and pools."""

from __future__ import annotations

import numpy as np

from dpviz.arrays import Array
from dpviz.table.domain import Region


def random_points(number: int, region: Region, rng: np.random.Generator) -> Array:
    """``number`` points uniform in the region's box, shape (number, d), unit coordinates; no row is read.

    Where a ball cuts the box, a point beyond it is drawn anew along its ray, as a point of the ball would be: a box of
    many dimensions is nearly all corners, and clipping would leave every point on the rim.
    """
    points = rng.uniform(-region.half, region.half, (number, region.dim))
    norm = np.linalg.norm(points, axis=1)
    # Drawn whether needed or not, so that the coins that follow do not depend on where the points fell.
    radius = region.radius * rng.random(number) ** (1 / region.dim)
    beyond = norm > region.radius
    points[beyond] *= (radius[beyond] / norm[beyond])[:, None]
    return region.clip(points)
