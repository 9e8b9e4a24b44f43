"""A synthetic table: what was declared of another one, with made-up rows, so that settings are tried on nobody."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from dpviz.runs.open_table import OpenTable, declare, make_domain
from dpviz.tables import (
    NUMBER,
    PLAIN_FORMAT,
    Declaration,
    FileKind,
    FloatArray,
    LoadedTable,
    make_numeric_table,
    simulate,
)

USUAL_SPREAD = 0.05


def make_synthetic_table(table: OpenTable, *, n: int, k: int) -> OpenTable:
    """A synthetic table for ``table``; see ``synthesise_declared``.

    Parameters
    ----------
    table : OpenTable
        The table; rows are read by its session only.
    n : int
        Rows.
    k : int
        Clusters.

    Returns
    -------
    OpenTable
        Nobody is in it.
    """
    return synthesise_declared(replace(table.declaration, title=table.title), n=n, k=k)


def synthesise_declared(
    declared: Declaration, *, n: int, k: int, spread: float = USUAL_SPREAD, seed: int = 0
) -> OpenTable:
    """A mixture of ``k`` clusters with ``n`` rows inside the bounds that are ``declared``, column by column.

    Only what was declared is read: columns, bounds, radius, scaling, relation. ``spread`` is the width of a cluster as
    a share of the bounds.

    Parameters
    ----------
    declared : Declaration
        What is declared of the table.
    n : int
        Rows.
    k : int
        Clusters.
    spread : float
        Width of a cluster, as a share of the bounds.
    seed : int
        The same seed gives the same answer.

    Returns
    -------
    OpenTable
        Nobody is in it.
    """
    domain, bounds = make_domain(declared), declared.list_bounds(declared.columns)
    name = f"synthetic table for {declared.title}"
    low, high = (_put_on_scale(declared, ends) for ends in bounds)
    made = simulate(low, high, n, domain.width, k, seed=seed, spread=spread, columns=domain.names, name=name)
    if declared.coded:
        made = _make_cells(made, declared, (low, high), k, np.random.default_rng((seed, 1)))
    declaration = replace(
        declared,
        lower=tuple(bounds.lower.tolist()),
        upper=tuple(bounds.upper.tolist()),
        id_column=None,
        rows_per_person=1,
        n_public=n,
        n_range=None,
        kind=FileKind.SIMULATED,
        label_column=None,
        numbers=(),
        describe={},
        file=PLAIN_FORMAT,
        proposed=False,
        title=made.name,
    )
    return declare(made, declaration)


def _put_on_scale(declared: Declaration, ends: FloatArray) -> FloatArray:
    """Bounds of each declared column on the scale on which it is clustered."""
    each = zip(declared.columns, ends, strict=True)
    return np.array([declared.codings.get(name, NUMBER).stretch(end) for name, end in each])


def _make_cells(
    made: LoadedTable, declared: Declaration, ends: tuple[FloatArray, FloatArray], k: int, rng: np.random.Generator
) -> LoadedTable:
    """The made-up numbers as cells of the declared kinds: amounts, declared values, dates, places of a cycle.

    Which value a cell has follows from where its number lies between the bounds: rows of a cluster mostly share one.
    """
    columns: dict[str, Any] = {}
    for name, low, high in zip(declared.columns, *ends, strict=True):
        part = (made.columns([name])[:, 0] - low) / (high - low)
        columns[name] = declared.codings.get(name, NUMBER).cells(part, low, high, rng)
    return make_numeric_table(pd.DataFrame(columns), name=made.name)
