"""A synthetic table is what was declared of another one, with made-up rows: settings are tried on nobody."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from dpviz.runs.open_table import OpenTable, declare
from dpviz.tables import Declaration, FileKind, codings, file_format, make_numeric_table, simulate

USUAL_SPREAD = 0.05


def make_synthetic_table(table: OpenTable, *, n: int, k: int) -> OpenTable:
    """A synthetic table for ``table``; see ``synthesise_declared``.

    Parameters
    ----------
    table : OpenTable
    n : int
    k : int

    Returns
    -------
    OpenTable
        Nobody is in it.
    """
    return synthesise_declared(replace(table.declaration, title=table.title), n=n, k=k)


def synthesise_declared(declared: Declaration, *, n: int, k: int, spread: float = USUAL_SPREAD) -> OpenTable:
    """A mixture of ``k`` clusters with ``n`` rows inside the bounds that are ``declared``, column by column.

    Only what was declared is read: columns, bounds, radius, scaling, relation, how many rows a person has at most: so
    many has everybody there, so that noise is as large. ``spread`` is the width of a cluster as a share of the bounds.
    """
    domain, bounds = declared.make_domain(), declared.list_bounds(declared.columns)
    name = f"synthetic table for {declared.title}"
    # On the scale on which each column is clustered.
    coded = [declared.codings.get(name, codings.NUMBER) for name in declared.columns]
    low, high = (np.array([one.stretch(end) for one, end in zip(coded, ends, strict=True)]) for ends in bounds)
    made = simulate(low, high, n, domain.width, k, seed=0, spread=spread, columns=domain.names, name=name)
    if declared.coded:
        # Cells of the declared kinds: which value one has follows from where its number lies between the bounds, so
        # that rows of a cluster mostly share one.
        rng, columns = np.random.default_rng((0, 1)), dict[str, Any]()
        for name, one, start, end in zip(declared.columns, coded, low, high, strict=True):
            columns[name] = one.cells((made.columns([name])[:, 0] - start) / (end - start), start, end, rng)
        made = make_numeric_table(pd.DataFrame(columns), name=made.name)
    most = declared.rows_per_person
    if most > 1:
        assert declared.id_column is not None
        whose = {declared.id_column: np.arange(n) // most}
        made = make_numeric_table(pd.DataFrame({**made.frame, **whose}), name=made.name)
    declaration = replace(
        declared,
        lower=tuple(bounds.lower.tolist()),
        upper=tuple(bounds.upper.tolist()),
        id_column=declared.id_column if most > 1 else None,
        n_public=n,
        n_range=None,
        kind=FileKind.SIMULATED,
        label_column=None,
        numbers=(),
        describe={},
        file=file_format.PLAIN_FORMAT,
        proposed=False,
        title=made.name,
    )
    return declare(made, declaration)
