"""Revealed rows as the declared bounds leave them: what algorithms read, and therefore what their losses are read from.

Centres are judged, and k-means++ is run, on these rows. What the bounds cut off is a loss of its own, the same for
every algorithm.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np

from dpviz.core import Array, Codes, PrivateTable, Region, RequestError, Revealed, is_sparse


@dataclass(frozen=True, eq=False)
class ClippedRows:
    """Rows inside the bounds, for their owner's eyes.

    * ``points`` (n, d): unit coordinates.
    * ``kept`` (n,): positions in the loaded table.
    * ``moved`` (n,): how far the bounds moved each row, squared; NaN for rows that are revealed inside the bounds:
      sparse ones, and samples.
    """

    points: Array
    kept: Codes
    moved: Array

    @property
    def clipping(self) -> float:
        """What the bounds alone cost: the mean squared distance that they move a row; NaN where it is not known."""
        return float(self.moved.mean()) if len(self.moved) else 0.0

    @property
    def moved_share(self) -> float:
        """Part of the rows that the bounds move."""
        return float((self.moved > 0).mean()) if len(self.moved) else 0.0

    def unfold(self, points: int) -> ClippedRows:
        """The ``points`` points that stand side by side in each row; each has its part of how far the row was moved."""
        if points == 1:
            return self
        apart = self.points.reshape(-1, self.points.shape[1] // points)
        return ClippedRows(apart, np.repeat(self.kept, points), np.repeat(self.moved / points, points))


def clip_rows(revealed: Revealed, region: Region) -> ClippedRows:
    """``revealed`` rows moved into ``region``, their own; the same array where no row lies outside.

    Parameters
    ----------
    revealed : Revealed
        Rows, data units; whoever has them revealed them knowingly.
    region : Region

    Returns
    -------
    ClippedRows
        Unit coordinates.
    """
    points, n = revealed.points, revealed.points.shape[0]
    if is_sparse(points) or revealed.inside:
        return ClippedRows(points, revealed.kept, np.full(n, nan))
    inside = region.settle_points(points)
    # Clipping into a ball moves by rounding whoever stands on its surface.
    away = np.abs(inside - points).max(axis=1, initial=0.0) > 1e-9 * region.radius
    moved = np.zeros(n)
    moved[away] = ((inside[away] - points[away]) ** 2).sum(axis=1)
    return ClippedRows(inside if away.any() else points, revealed.kept, moved)


@dataclass(frozen=True, eq=False)
class JudgedTable:
    """A table to run on, its clipped rows to judge the runs by, and their known groups, shape (n,), if any."""

    private: PrivateTable
    rows: ClippedRows
    labels: Codes | None

    @classmethod
    def of(cls, private: PrivateTable, revealed: Revealed, labels: Codes | None) -> JudgedTable:
        """A table whose rows have been revealed: here they are clipped, once for everything that is measured.

        ``revealed``: rows, data units; whoever has them revealed them knowingly; ``labels`` (n,), A known grouping, -1
        where a row has none.
        """
        return cls(private, clip_rows(revealed, private.domain.region), labels)

    def subsample(self, n: int | None, *, seed: int) -> JudgedTable:
        """``n`` of the revealed rows, drawn without replacement by (``seed``, ``n``) alone; all rows where n is None.

        What was declared stays: bounds, relation, rows per person. The number of rows is public, as ``n``, where it
        was public before. Whose a row is, is not known of revealed rows: each counts as somebody else's, with the
        noise of as many rows per person as were declared.
        """
        if n is None:
            return self
        whole = self.private
        if n > self.rows.points.shape[0]:
            raise RequestError(f"n is {n:,}, and the table has fewer complete rows: ask for a smaller subsample.")
        rng = np.random.default_rng(np.random.SeedSequence((seed, n)))
        chosen = np.sort(rng.choice(self.rows.points.shape[0], n, replace=False))
        points = self.rows.points[chosen]
        private = PrivateTable(
            points * whole.domain.scale if whole.sparse else whole.domain.to_rows(points),
            whole.domain,
            relation=whole.relation,
            n_public=n if whole.n_public is not None else None,
            persons=np.arange(n) if whole.has_persons else None,
            rows_per_person=whole.rows_per_person,
        )
        labels = None if self.labels is None else self.labels[chosen]
        return JudgedTable(private, ClippedRows(points, np.arange(n), self.rows.moved[chosen]), labels)
