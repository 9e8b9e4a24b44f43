"""A synthetic table is what was declared of another one, with made-up rows: settings are tried on nobody."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from dpviz.core import Array
from dpviz.runs.open_table import OpenTable, declare
from dpviz.tables import Declaration, FileKind, LoadedTable, codings, file_format, make_numeric_table, simulate

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
    low, high = (_put_on_scale(declared, ends) for ends in bounds)
    made = simulate(low, high, n, domain.width, k, seed=0, spread=spread, columns=domain.names, name=name)
    if declared.coded:
        made = _make_cells(made, declared, (low, high), k, np.random.default_rng((0, 1)))
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


def _put_on_scale(declared: Declaration, ends: Array) -> Array:
    """Bounds of each declared column on the scale on which it is clustered."""
    each = zip(declared.columns, ends, strict=True)
    return np.array([declared.codings.get(name, codings.NUMBER).stretch(end) for name, end in each])


def _make_cells(
    made: LoadedTable, declared: Declaration, ends: tuple[Array, Array], k: int, rng: np.random.Generator
) -> LoadedTable:
    """The made-up numbers as cells of the declared kinds: amounts, declared values, dates, places of a cycle.

    Which value a cell has follows from where its number lies between the bounds: rows of a cluster mostly share one.
    """
    columns: dict[str, Any] = {}
    for name, low, high in zip(declared.columns, *ends, strict=True):
        part = (made.columns([name])[:, 0] - low) / (high - low)
        columns[name] = declared.codings.get(name, codings.NUMBER).cells(part, low, high, rng)
    return make_numeric_table(pd.DataFrame(columns), name=made.name)
