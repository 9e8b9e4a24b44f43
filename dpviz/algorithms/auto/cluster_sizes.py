"""What a synopsis says of clusters: how many rows each has, and how wide it is. Post-processing: nothing is spent."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from dpviz.algorithms.auto.view_synopsis import SynopsisStep
from dpviz.arrays import Array


class Extents(NamedTuple):
    """Rows of each cluster (k,), and their mean squared distance to its centre along the view (k,)."""

    rows: Array
    radii2: Array


def extents(synopsis: SynopsisStep, centers: Array) -> Extents:
    """Each cell that was kept goes to the centre (k, d) that is nearest to its middle, along the view."""
    points, weights, _, middle = synopsis.cloud()
    inside = centers if synopsis.frame is None else centers @ synopsis.frame.T
    apart = cdist(points + middle, inside, "sqeuclidean")
    own, far, k = apart.argmin(axis=1), apart.min(axis=1), len(centers)
    far[: len(synopsis.kept)] += synopsis.spreads
    rows: Array = np.bincount(own, weights, k).astype(np.float64)
    return Extents(rows, np.bincount(own, weights * far, k) / np.maximum(rows, 1e-9))
