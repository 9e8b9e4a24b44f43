"""Smaller tables of the same kind: rows drawn from a table whose owner has revealed it to a study."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpviz.arrays import Codes
from dpviz.check import RequestError
from dpviz.privacy.room import PrivateTable, Revealed
from dpviz.runs.clipped_rows import ClippedRows, clipped


@dataclass(frozen=True, eq=False)
class JudgedTable:
    """A table to run on, its clipped rows to judge the runs by, and their known groups, shape (n,), if any."""

    private: PrivateTable
    rows: ClippedRows
    labels: Codes | None

    @classmethod
    def of(cls, private: PrivateTable, revealed: Revealed, labels: Codes | None) -> JudgedTable:
        """A table whose rows have been revealed: here they are clipped, once for everything that is measured."""
        return cls(private, clipped(revealed, private.domain.region), labels)

    def subsample(self, n: int | None, *, seed: int) -> JudgedTable:
        """``n`` of the revealed rows, drawn without replacement by (``seed``, ``n``) alone; all rows where n is None.

        What was declared stays: bounds, relation, rows per person. The number of rows is public, as ``n``, where it
        was public before. Whose a row is, is not known of revealed rows: each counts as somebody else's, with the
        noise of as many rows per person as were declared.

        Raises
        ------
        RequestError
            If there are fewer rows.
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
            points * whole.domain.scale if whole.sparse else whole.domain.from_unit(points),
            whole.domain,
            relation=whole.relation,
            n_public=n if whole.n_public is not None else None,
            persons=np.arange(n) if whole.has_persons else None,
            rows_per_person=whole.rows_per_person,
        )
        labels = None if self.labels is None else self.labels[chosen]
        return JudgedTable(private, ClippedRows(points, np.arange(n), self.rows.moved[chosen]), labels)
