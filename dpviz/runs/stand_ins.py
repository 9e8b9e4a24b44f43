"""A stand-in for a table: what was declared of it, with made-up rows, so that settings can be tried on nobody."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dpviz.runs.open_table import OpenTable, declare, domain_of
from dpviz.table.declaration import Declaration, FileKind
from dpviz.table.file_format import PLAIN_FORMAT
from dpviz.table.made_tables import simulate

USUAL_SPREAD = 0.05


def stand_in(table: OpenTable, *, n: int, k: int) -> OpenTable:
    """A stand-in for ``table``; see ``stand_in_of``."""
    return stand_in_of(replace(table.declaration, title=table.title), n=n, k=k)


def stand_in_of(declared: Declaration, *, n: int, k: int, spread: float = USUAL_SPREAD, seed: int = 0) -> OpenTable:
    """A mixture of ``k`` clusters with ``n`` rows inside the bounds that are ``declared``, column by column.

    Only what was declared is read: columns, bounds, radius, scaling, relation. ``spread`` is the width of a cluster as
    a share of the bounds.
    """
    domain = domain_of(declared)
    name = f"stand-in for {declared.title}"
    made = simulate(
        domain.lower, domain.upper, n, domain.dim, k, seed=seed, spread=spread, columns=domain.columns, name=name
    )
    declaration = replace(
        declared,
        lower=tuple(np.asarray(domain.lower).tolist()),
        upper=tuple(np.asarray(domain.upper).tolist()),
        id_column=None,
        rows_per_person=1,
        n_public=n,
        kind=FileKind.SIMULATED,
        label_column=None,
        numbers=(),
        describe={},
        file=PLAIN_FORMAT,
        proposed=False,
        title=made.name,
    )
    return declare(made, declaration)
