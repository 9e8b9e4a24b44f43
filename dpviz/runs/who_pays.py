"""Who pays for privacy: the loss, the rows missed and the error of sizes by cluster and by declared group, over draws.

A mean over all rows hides that small groups pay most: noise is the same for all, and a small group has fewer rows to
average it over. All of this is read from revealed rows: it is told of public and made-up tables only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any, NamedTuple

import numpy as np

from dpviz.core import Array, Codes, RequestError, is_sparse
from dpviz.runs.clipped_rows import JudgedTable
from dpviz.runs.cluster_recovery import find_recovered_clusters
from dpviz.runs.evaluation import Reference, assign, match
from dpviz.runs.one_run import Run, run_request
from dpviz.runs.profile import make_profile
from dpviz.runs.study.grid import StudyGrid
from dpviz.runs.study.study import Yardstick, measure_yardstick
from dpviz.runs.worker import Progress

# A cluster is shown at an ε where it is found in so many draws of all.
_SHOWN = 0.8


class Payer(NamedTuple):
    """A cluster of k-means++, or a declared group, and what a draw costs it in the median.

    Attributes
    ----------
    kind : "cluster" or "group"
    name : str
    rows : int
    loss : float
        Its loss by the released centres over that by k-means++.
    missed : float
        Of a cluster, the part of draws that do not find it; of a group, the part of its rows in such clusters.
    size_error : float
        How far its released size is off, as a part of its rows; NaN of groups, and where no sizes are released.
    """

    kind: str
    name: str
    rows: int
    loss: float
    missed: float
    size_error: float


@dataclass(frozen=True)
class WhoPays:
    """Every payer, the smallest first, and the smallest group that an ε can show.

    Attributes
    ----------
    payers : tuple of Payer
    smallest : float
        By formula, from released values: see ``Profile.smallest_group``; NaN where the noise cannot be told.
    draws : int
    """

    payers: tuple[Payer, ...]
    smallest: float
    draws: int

    @property
    def clusters(self) -> tuple[Payer, ...]:
        """Those that are clusters."""
        return tuple(one for one in self.payers if one.kind == "cluster")

    @property
    def smallest_shown(self) -> int | None:
        """Rows of the smallest cluster that is found in eight of ten draws, as are all larger ones; None if none is."""
        shown = None
        for one in reversed(self.clusters):
            if one.missed > 1 - _SHOWN:
                break
            shown = one.rows
        return shown


def measure_payer_rows(judged: JudgedTable, grid: StudyGrid) -> Iterator[Progress | Yardstick | dict[str, Any]]:
    """Progress, the ``Yardstick``, and for each draw what it costs every cluster and every known group.

    ``grid`` has one point. Losses are read from revealed rows: whoever calls has revealed them knowingly.

    Parameters
    ----------
    judged : JudgedTable
        The table with its rows revealed.
    grid : StudyGrid
        What the study asks.

    Yields
    ------
    Progress or Yardstick or mapping of str to object
        As the study goes on.

    Raises
    ------
    RequestError
        If rows are sparse, or stand for several points each.
    """
    (contender,), (k,), repeats = grid.contenders, grid.ks, grid.repeats
    if contender.settings.points_per_row(k) > 1 or is_sparse(judged.rows.points):
        raise RequestError("Who pays is told of tables whose rows are points, each number in its column.")
    yield Progress(0, repeats + 1, f"k-means++ with k = {k}")
    against = measure_yardstick(judged, k)
    yield against
    for trial in grid.list_trials():
        yield Progress(trial.repeat + 1, repeats + 1, f"{contender.label}, run {trial.repeat + 1} of {repeats}")
        yield {"repeat": trial.repeat} | _measure_paid(
            judged, against.reference, run_request(grid.make_request(trial), judged.private)
        )


def _measure_paid(judged: JudgedTable, reference: Reference, run: Run) -> dict[str, Any]:
    points, centers = judged.rows.points, run.unit_centers
    cluster = assign(points, reference.centers)
    losses, usual = _measure_losses(points, centers), _measure_losses(points, reference.centers)
    found = find_recovered_clusters(points, centers, reference.centers)
    rows = np.bincount(cluster, minlength=len(reference.centers))
    made = make_profile(run)
    sizes = np.full(len(rows), nan)
    if made.sizes is not None and len(centers) == len(rows):
        sizes = np.abs(made.sizes[match(reference.centers, centers)] - rows) / np.maximum(rows, 1)
    paid = {
        "cluster_rows": rows.tolist(),
        "cluster_loss": _compute_ratios(losses, usual, cluster, len(rows)).tolist(),
        "cluster_missed": (~found).astype(float).tolist(),
        "cluster_size_error": sizes.tolist(),
        "smallest": made.smallest_group,
    }
    if judged.labels is None:
        return paid
    names, group = np.unique(judged.labels, return_inverse=True)
    many = np.bincount(group, minlength=len(names))
    missed = np.bincount(group, (~found)[cluster].astype(float), len(names)) / np.maximum(many, 1)
    return paid | {
        "group_names": [str(name) for name in names.tolist()],
        "group_rows": many.tolist(),
        "group_loss": _compute_ratios(losses, usual, group, len(names)).tolist(),
        "group_missed": missed.tolist(),
    }


def _measure_losses(points: Array, centers: Array) -> Array:
    """Squared distance of each row to its nearest centre, shape (n,)."""
    nearest = centers[assign(points, centers)]
    squared: Array = ((points - nearest) ** 2).sum(axis=1)
    return squared


def _compute_ratios(losses: Array, usual: Array, of: Codes, number: int) -> Array:
    """Loss of each group over its loss by k-means++, shape (number,); NaN where it has none."""
    mine, theirs = (np.bincount(of, each, number) for each in (losses, usual))
    return np.where(theirs > 0, mine / np.where(theirs > 0, theirs, 1.0), nan)


def summarise_payers(rows: Sequence[dict[str, Any]]) -> WhoPays:
    """Medians over draws, the smallest payer first."""
    payers = _list_payers(rows, "cluster", [str(place + 1) for place in range(len(rows[0]["cluster_rows"]))])
    if "group_rows" in rows[0]:
        payers += _list_payers(rows, "group", rows[0]["group_names"])
    smallest = np.array([row["smallest"] for row in rows], dtype=np.float64)
    typical = float(np.median(smallest)) if np.isfinite(smallest).all() else nan
    return WhoPays(tuple(sorted(payers, key=lambda one: one.rows)), typical, len(rows))


def _list_payers(rows: Sequence[dict[str, Any]], kind: str, names: Sequence[str]) -> list[Payer]:
    loss, missed = (np.array([row[f"{kind}_{name}"] for row in rows], dtype=np.float64) for name in ("loss", "missed"))
    off = np.array([row.get(f"{kind}_size_error", [nan] * len(names)) for row in rows], dtype=np.float64)
    return [
        Payer(
            kind, name, many, *(float(each[place]) for each in (np.median(loss, 0), missed.mean(0), np.median(off, 0)))
        )
        for place, (name, many) in enumerate(zip(names, rows[0][f"{kind}_rows"], strict=True))
        if many
    ]
