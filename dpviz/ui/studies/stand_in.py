"""A simulated twin of the open table: same columns, bounds and relation, nobody in it, free to look at."""

from __future__ import annotations

import dataclasses

import numpy as np

from dpviz.runs.open_table import OpenTable, declare
from dpviz.table.declaration import FileKind
from dpviz.table.file_format import PLAIN_FORMAT
from dpviz.table.made_tables import simulate

USUAL_ROWS, MOST_NUMBERS = 10_000, 5_000_000


def rows_for(table: OpenTable) -> int:
    """How many rows a stand-in gets at first: the public number of rows, or a round number; never the true one."""
    most = max(1_000, MOST_NUMBERS // table.domain.dim)
    return min(table.n_public or USUAL_ROWS, most)


def stand_in(table: OpenTable, *, n: int, k: int) -> OpenTable:
    """A mixture of ``k`` clusters with ``n`` rows inside the bounds declared for ``table``.

    Only what was declared is read: columns, bounds, radius, scaling, relation.
    """
    domain = table.domain
    made = simulate(
        domain.lower, domain.upper, n, domain.dim, k, seed=0, columns=domain.columns, name=f"stand-in for {table.title}"
    )
    declaration = dataclasses.replace(
        table.declaration,
        lower=tuple(np.asarray(domain.lower).tolist()),
        upper=tuple(np.asarray(domain.upper).tolist()),
        id_column=None,
        rows_per_person=1,
        n_public=n,
        kind=FileKind.SIMULATED,
        label_column=None,
        numbers=(),
        file=PLAIN_FORMAT,
        proposed=False,
        title=made.name,
    )
    return declare(made, declaration)
