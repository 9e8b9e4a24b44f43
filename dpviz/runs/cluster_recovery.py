"""Which clusters of k-means++ a set of centres has found: the one rule behind every title that says so."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dpviz.algorithms import measure_neighbour_gaps
from dpviz.core import Array, Codes
from dpviz.runs.evaluation import Reference, assign

FOUND_RULE = "found: a centre in a k-means++ cluster’s cloud, at least half of their rows shared"
# A centre this part of the way to the next cluster is on target, even if all rows of its own are at one place; one that
# is half-way belongs to neither.
_ON_TARGET, _HALF_WAY = 0.01, 0.5
# Of the rows that either has, both have so many; and the cloud ends at this part of the rows, the nearest first.
_SHARED, _CLOUD = 0.5, 0.99


class ClusterRecovery(NamedTuple):
    """How many clusters there are, and how many of them were found."""

    found: int
    clusters: int


def measure_recovery(points: Array, centers: Array, reference: Reference) -> ClusterRecovery:
    """How many clusters of ``reference`` on ``points`` (n, d) the ``centers`` (k, d) have found; revealed.

    Parameters
    ----------
    points : array of shape (n, d)
        Unit coordinates; revealed.
    centers : array of shape (k, d)
        Unit coordinates.
    reference : Reference
        k-means++ on the same rows.

    Returns
    -------
    ClusterRecovery
        How many, and which.
    """
    which = find_recovered_clusters(points, centers, reference.centers)
    return ClusterRecovery(int(which.sum()), len(which))


def find_recovered_clusters(points: Array, centers: Array, reference: Array) -> npt.NDArray[np.bool_]:
    """Which clusters of ``reference`` centres (q, d) have been found, shape (q,).

    A cluster is found if one of ``centers`` (k, d) shares its rows and lies in its cloud. It shares them if of the rows
    that either has, both have at least half: so no centre finds two clusters, and label accuracy is high where all are
    found. The cloud reaches from the middle of the cluster as far as 99 in 100 of its rows, at most half-way to the
    nearest other cluster: so the eye agrees.

    Parameters
    ----------
    points : array of shape (n, d)
        Unit coordinates; revealed.
    centers : array of shape (k, d)
        Unit coordinates.
    reference : array of shape (q, d)
        Unit coordinates.

    Returns
    -------
    bool array of shape (q,)
        Revealed.
    """
    if len(points) == 0:
        return np.zeros(len(reference), dtype=np.bool_)
    own, theirs = assign(points, reference), assign(points, centers)
    q, k = len(reference), len(centers)
    both = np.bincount(own * k + theirs, minlength=q * k).reshape(q, k)
    either = both.sum(axis=1)[:, None] + both.sum(axis=0) - both
    nearest = both.argmax(axis=1)
    rows = np.arange(q)
    shared = both[rows, nearest] >= _SHARED * np.maximum(either[rows, nearest], 1)
    gaps = measure_neighbour_gaps(reference)
    cloud = _measure_clouds(points, reference, own)
    reach = np.clip(cloud, _ON_TARGET * gaps, _HALF_WAY * gaps) if q > 1 else cloud
    away = np.linalg.norm(reference - centers[nearest], axis=1)
    which: npt.NDArray[np.bool_] = shared & (away <= reach)
    return which


def _measure_clouds(points: Array, reference: Array, own: Codes) -> Array:
    """How far from each centre nearly all of its rows lie, shape (q,); 0 for one without rows."""
    away = np.sqrt(((points - reference[own]) ** 2).sum(axis=1))
    ordered = away[np.lexsort((away, own))]
    rows = np.bincount(own, minlength=len(reference))
    last = np.cumsum(rows) - rows + np.ceil(_CLOUD * rows).astype(np.int64) - 1
    clouds: Array = np.where(rows > 0, ordered[np.maximum(last, 0)], 0.0)
    return clouds
