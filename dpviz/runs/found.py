"""Which clusters of k-means++ a set of centres has found: the one rule behind every title that says so."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dpviz.arrays import Array
from dpviz.runs.evaluation import Reference, assign

FOUND_RULE = "found: a centre within the spread of a k-means++ cluster, with half to twice its rows"
# A centre this part of the way to the next cluster is on target, even if all rows of its own are at one place; one that
# is half-way belongs to neither.
_ON_TARGET, _HALF_WAY = 0.01, 0.5
_FEWEST, _MOST = 0.5, 2.0


class Found(NamedTuple):
    """How many clusters there are, and how many of them were found."""

    found: int
    clusters: int


def found_in(points: Array, centers: Array, reference: Reference) -> Found:
    """How many clusters of ``reference`` on ``points`` (n, d) the ``centers`` (k, d) have found; revealed."""
    which = found_clusters(points, centers, reference.centers)
    return Found(int(which.sum()), len(which))


def found_clusters(points: Array, centers: Array, reference: Array) -> npt.NDArray[np.bool_]:
    """Which clusters of ``reference`` centres (q, d) have been found, shape (q,).

    A cluster is found if the nearest of ``centers`` (k, d) lies within its reach, and has half to twice as many rows as
    the cluster. Its reach is its spread, the root mean squared distance of its rows from their mean, but at most
    half-way to the nearest other cluster: where it is found, its rows lose at most twice as much.
    """
    rows_of, spread = _clusters(points, reference)
    gaps = neighbour_gaps(reference)
    reach = np.clip(spread, _ON_TARGET * gaps, _HALF_WAY * gaps) if len(reference) > 1 else spread
    away = np.linalg.norm(reference[:, None, :] - centers[None, :, :], axis=2)
    nearest = away.argmin(axis=1)
    rows_in = np.bincount(assign(points, centers), minlength=len(centers))[nearest]
    like = (rows_of > 0) & (rows_in >= _FEWEST * rows_of) & (rows_in <= _MOST * rows_of)
    which: npt.NDArray[np.bool_] = like & (away.min(axis=1) <= reach)
    return which


def neighbour_gaps(centers: Array) -> Array:
    """Distance of each centre to its nearest neighbour, shape (k,); infinite for a lone one."""
    squared = ((centers[:, None, :] - centers[None, :, :]) ** 2).sum(axis=2)
    np.fill_diagonal(squared, np.inf)
    gaps: Array = np.sqrt(squared.min(axis=1))
    return gaps


def _clusters(points: Array, reference: Array) -> tuple[Array, Array]:
    """Rows and spread of each cluster, shapes (q,)."""
    own, q = assign(points, reference), len(reference)
    rows = np.bincount(own, minlength=q).astype(np.float64)
    squared = ((points - reference[own]) ** 2).sum(axis=1)
    spread = np.sqrt(np.bincount(own, squared, minlength=q) / np.maximum(rows, 1.0))
    return rows, spread
