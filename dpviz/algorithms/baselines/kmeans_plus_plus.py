"""The non-private reference: scikit-learn's k-means++ with Lloyd. Never a release."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpviz.algorithms.card import Card, Params, always, param_field, read_card
from dpviz.algorithms.steps import Step
from dpviz.algorithms.tools.solvers import pack_spheres
from dpviz.core import Accounting, Array, PrivateSession, is_sparse

# A table with fewer distinct rows than clusters, which scikit-learn warns about, usually shows in this many rows.
_FEW = 2000


@dataclass(frozen=True, eq=False, kw_only=True)
class ReferenceStep(Step):
    """Centres (k, d) of the non-private reference: revealed, never a release."""

    centers: Array


@dataclass(frozen=True)
class KMeansParams(Params):
    """Parameters of the reference."""

    starts: int = param_field(10, low=1, high=100)


def find_reference_centers(points: Any, k: int, *, starts: int, seed: int) -> Array:
    """Centres of the best of ``starts`` runs of k-means++ and Lloyd on ``points``; exactly k, even if fewer differ.

    Parameters
    ----------
    points : array of shape (n, d)
        Dense or sparse, any coordinates.
    k : int
    starts : int
        How many runs.
    seed : int
        Of the first run.

    Returns
    -------
    array of shape (k, d)
        In the coordinates of the points.
    """
    from sklearn.cluster import KMeans

    head = points[:_FEW]
    distinct = np.unique(head.toarray() if is_sparse(head) else head, axis=0)
    if len(distinct) <= k and points.shape[0] > _FEW and not is_sparse(points):
        distinct = np.unique(points, axis=0)
    if len(distinct) <= k:
        return np.concatenate([distinct, np.repeat(distinct[:1], k - len(distinct), axis=0)])
    return np.asarray(KMeans(k, n_init=starts, random_state=seed).fit(points).cluster_centers_)


def kmeans_plus_plus(
    session: PrivateSession, k: int, params: KMeansParams, rng: np.random.Generator
) -> Iterator[ReferenceStep]:
    """k-means++ seeding and Lloyd's iteration on the rows themselves. **Guarantee.** None."""
    seed = int(rng.integers(2**31))

    def compute(points: Array) -> Array:
        if points.shape[0] == 0:
            return pack_spheres(k, session.region, rng)
        return find_reference_centers(points, k, starts=params.starts, seed=seed)

    centers = session.compute_non_private(compute, note="k-means++ on the rows")
    yield ReferenceStep(title="k-means++: the rows themselves, no privacy", centers=centers)


CARD = Card(
    **read_card("kmeans++"),
    params=KMeansParams,
    plan=kmeans_plus_plus,
    accounting=always(Accounting.NONE),
    operations=lambda setting, params: 8.0 * params.starts * setting.rows * setting.k * setting.dim,
    needs_n=False,
)
