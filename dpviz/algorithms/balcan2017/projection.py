"""A public random projection to few dimensions, and the way back for points that were chosen there."""

from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np

from dpviz.core import Array, PrivateSession, Region, partitions

Cells = partitions.Voronoi | partitions.ProjectedCells


@dataclass(frozen=True, eq=False)
class Projection:
    """The rows seen in few dimensions, by the linear map ``frame`` (p, d); None where they stay as they are."""

    session: PrivateSession
    frame: Array | None

    def cells(self, centers: Array) -> Cells:
        """The clusters of ``centers`` (k, p): rows of the full space, sorted by where their projection lies."""
        inner = partitions.Voronoi(centers)
        return inner if self.frame is None else partitions.ProjectedCells(inner, self.frame, self.session.region)

    def lift(self, centers: Array, region: Region) -> Array:
        """The shortest points of the full space that project to ``centers`` (k, p), inside ``region``; (k, d)."""
        return centers if self.frame is None else region.clip(centers @ self._back)

    @cached_property
    def _back(self) -> Array:
        assert self.frame is not None
        return np.linalg.pinv(self.frame).T.astype(np.float64)


def project(session: PrivateSession, frame: Array | None) -> Projection:
    """The session seen through the axes ``frame`` (p, d); None: all columns as they are."""
    if frame is None:
        return Projection(session, None)
    return Projection(session.project(frame, Region.ball(len(frame), session.region.radius)), frame)


def draw_orthonormal_frame(p: int, dim: int, rng: np.random.Generator) -> Array:
    """A uniformly random p-dimensional subspace, scaled so that squared norms are kept on average; (p, d)."""
    basis, triangle = np.linalg.qr(rng.normal(size=(dim, p)))
    return (basis * np.sign(np.diag(triangle))).T * sqrt(dim / p)


def draw_gaussian_frame(p: int, dim: int, rng: np.random.Generator) -> Array:
    """Independent normal entries over √p, shape (p, d)."""
    # Balcan et al. print 1/√d (Alg. 4), which would shrink norms by √(p/d); 1/√p is what keeps them on average.
    return rng.normal(size=(p, dim)) / sqrt(p)
