"""What a run lost, and which clusters of k-means++ it found, measured on revealed rows as the bounds leave them.

Nothing here is private or enters a release."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan, nan
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from dpviz.algorithms import find_reference_centers, size_estimates
from dpviz.core import BLOCK_NUMBERS, Array, Codes, compute_squared_norms
from dpviz.runs.clipped_rows import ClippedRows

# Ten starts of the reference, three where one start already takes seconds.
_STARTS, _STARTS_LARGE, _LARGE = 10, 3, 1e8


@dataclass(frozen=True, eq=False)
class Reference:
    """Non-private k-means++ on clipped rows: centres (k, d), unit coordinates, its loss and its distance per row."""

    centers: Array
    nicv: float
    starts: int
    distance: float = float("nan")


@dataclass(frozen=True)
class Scores:
    """Measures of released centres against revealed rows, all but one on these as the bounds leave them.

    ``nicv``, ``nicv_kmeans``: mean squared distance to the nearest centre, unit coordinates squared;
    ``matched_error``: root mean squared distance between centres matched one to one, unit coordinates;
    ``clipping``: what the bounds alone cost, in no other measure: mean squared distance that they move a row; NaN
    if not known.
    """

    nicv: float
    nicv_kmeans: float
    ratio: float
    matched_error: float
    distance_ratio: float
    ari: float
    share_gap: float
    clipping: float

    def to_dict(self) -> dict[str, float]:
        """Plain values; the clipping where it is known."""
        return {name: value for name, value in self.__dict__.items() if name != "clipping" or not isnan(value)}


def nicv(points: Array, centers: Array) -> float:
    """Mean squared distance of ``points`` (n, d) to the nearest of ``centers`` (k, d), unit coordinates; 0 for none."""
    return float(compute_mean_losses(points, centers[None])[0])


def mean_distance(points: Array, centers: Array) -> float:
    """Mean distance, unit coordinates, of ``points`` (n, d) to the nearest of ``centers`` (k, d): that of k-median."""
    return float(compute_mean_losses(points, centers[None], order=1)[0])


def compute_mean_losses(points: Array, sets: Array, *, order: int = 2) -> Array:
    """Mean distance to the power ``order`` of ``points`` (n, d) to the nearest centre, for ``sets`` (q, k, d); (q,)."""
    n_sets, k, dim = sets.shape
    centers = sets.reshape(-1, dim)
    norms, total = np.einsum("md,md->m", centers, centers), np.zeros(n_sets)
    for chunk in _split_chunks(points, n_sets * k):
        squared = np.asarray(chunk @ (-2.0 * centers.T))
        squared += norms
        nearest = squared.reshape(-1, n_sets, k).min(axis=2) + compute_squared_norms(chunk)[:, None]
        np.maximum(nearest, 0.0, out=nearest)
        total += (nearest if order == 2 else np.sqrt(nearest)).sum(axis=0)
    return total / max(1, int(points.shape[0]))


def _split_chunks(points: Array, width: int) -> Iterator[Array]:
    """Consecutive ``points`` (n, d) for a question that needs ``width`` temporary numbers a row; at least one chunk."""
    step = max(64, BLOCK_NUMBERS // width)
    return (points[start : start + step] for start in range(0, max(1, points.shape[0]), step))


def assign(points: Array, centers: Array) -> Codes:
    """The nearest of ``centers`` (k, d) to each of ``points`` (n, d), by index; (n,)."""
    half = np.einsum("kd,kd->k", centers, centers) / 2
    nearest = [np.asarray(chunk @ centers.T - half).argmax(axis=1) for chunk in _split_chunks(points, len(centers))]
    return np.concatenate(nearest)


def find_reference(rows: ClippedRows, k: int, *, known: Array | None = None) -> Reference:
    """The best of several starts of k-means++ on the clipped rows, revealed: what private algorithms read, too.

    ``known``: the centres (k, d) that these starts ended in when somebody made them before.
    """
    points = rows.points
    starts = _STARTS if points.size * k <= _LARGE else _STARTS_LARGE
    if points.shape[0] == 0:
        return Reference(np.zeros((k, points.shape[1])), 0.0, starts, 0.0)
    centers = find_reference_centers(points, k, starts=starts, seed=0) if known is None else known
    return Reference(centers, nicv(points, centers), starts, mean_distance(points, centers))


def evaluate(rows: ClippedRows, centers: Array, reference: Reference) -> Scores:
    """Scores of ``centers`` (k, d), unit coordinates, against the ``reference`` on the same revealed rows."""
    loss = nicv(rows.points, centers)
    pairs = match(centers, reference.centers)
    squared = ((centers - reference.centers[pairs]) ** 2).sum(axis=1)
    own, theirs = assign(rows.points, centers), assign(rows.points, reference.centers)
    own_shares, shares = (np.bincount(each, minlength=len(centers)) / max(1, len(each)) for each in (own, theirs))
    return Scores(
        nicv=loss,
        nicv_kmeans=reference.nicv,
        ratio=_compute_ratio(loss, reference.nicv),
        matched_error=float(np.sqrt(squared.mean())),
        distance_ratio=_compute_ratio(mean_distance(rows.points, centers), reference.distance),
        ari=_compute_adjusted_rand(own, theirs),
        share_gap=float(np.abs(own_shares - shares[pairs]).max()),
        clipping=rows.clipping,
    )


def _compute_adjusted_rand(first: Codes, second: Codes) -> float:
    """Adjusted Rand index of two groupings (n,) of the same rows; 1 for groupings that say the same.

    That of scikit-learn would be loaded for the first picture of a server, which waits for nothing else of it.
    """
    height, width = first.max(initial=0) + 1, second.max(initial=0) + 1
    table = np.bincount(first * width + second, minlength=height * width).reshape(height, width)
    groupings = (table, table.sum(axis=1), table.sum(axis=0), table.sum())
    together, own, theirs, pairs = (float((sizes * (sizes - 1)).sum()) for sizes in groupings)
    by_chance, most = own * theirs / max(1.0, pairs), (own + theirs) / 2
    return 1.0 if most == by_chance else (together - by_chance) / (most - by_chance)


def match(centers: Array, reference: Array) -> Codes:
    """For each of ``centers`` (k, d) its match in ``reference``, one to one, by least total squared distance; (k,)."""
    _, column = linear_sum_assignment(((centers[:, None, :] - reference[None, :, :]) ** 2).sum(axis=2))
    return column.astype(np.int64)


def label_accuracy(labels: Codes, assigned: Codes) -> float:
    """Part of the labelled rows whose cluster's most frequent label is their own; NaN if no row has one.

    A row whose label (n,) is below 0 has none, and is left out; ``assigned`` (n,) is its cluster.
    """
    assigned, labels = assigned[labels >= 0], labels[labels >= 0]
    if len(labels) == 0:
        return nan
    _, label = np.unique(labels, return_inverse=True)
    table = np.zeros((int(assigned.max()) + 1, int(label.max()) + 1))
    flat = np.bincount(assigned * table.shape[1] + label, minlength=table.size)
    return float(flat.reshape(table.shape).max(axis=1).sum() / len(labels))


def label_ceiling(labels: Codes, k: int) -> float:
    """The most that ``label_accuracy`` of k clusters can be: the part of the labelled rows in the k largest groups."""
    known = labels[labels >= 0]
    if len(known) == 0:
        return nan
    return float(np.sort(np.unique(known, return_counts=True)[1])[::-1][:k].sum() / len(known))


def _compute_ratio(loss: float, reference: float) -> float:
    if reference > 0:
        return loss / reference
    return 1.0 if loss == 0 else float("inf")


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
    """How many clusters of ``reference`` on ``points`` (n, d) the ``centers`` (k, d) have found; revealed."""
    which = find_recovered_clusters(points, centers, reference.centers)
    return ClusterRecovery(int(which.sum()), len(which))


def find_recovered_clusters(points: Array, centers: Array, reference: Array) -> npt.NDArray[np.bool_]:
    """Which clusters of ``reference`` centres (q, d) have been found, shape (q,).

    A cluster is found if one of ``centers`` (k, d) shares its rows, revealed ``points`` (n, d), and lies in its cloud.
    It shares them if of the rows that either has, both have at least half: so no centre finds two clusters, and label
    accuracy is high where all are found. The cloud reaches from the middle of the cluster as far as 99 in 100 of its
    rows, at most half-way to the nearest other cluster: so the eye agrees.
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
    gaps = size_estimates.measure_neighbour_gaps(reference)
    away = np.sqrt(((points - reference[own]) ** 2).sum(axis=1))
    ordered = away[np.lexsort((away, own))]
    rows = np.bincount(own, minlength=len(reference))
    last = np.cumsum(rows) - rows + np.ceil(_CLOUD * rows).astype(np.int64) - 1
    cloud = np.where(rows > 0, ordered[np.maximum(last, 0)], 0.0)
    reach = np.clip(cloud, _ON_TARGET * gaps, _HALF_WAY * gaps) if q > 1 else cloud
    away = np.linalg.norm(reference - centers[nearest], axis=1)
    which: npt.NDArray[np.bool_] = shared & (away <= reach)
    return which
