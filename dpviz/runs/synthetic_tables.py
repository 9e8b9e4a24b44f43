"""A synthetic table is what was declared of another one, with made-up rows: settings are tried on nobody.

A dry run is the release that is asked for, tried on several of them; no row and no ε is touched."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from dpviz.core import Array
from dpviz.runs.clipped_rows import clip_rows
from dpviz.runs.evaluation import evaluate, find_reference
from dpviz.runs.jobs import brief
from dpviz.runs.one_run import run_request
from dpviz.runs.open_table import OpenTable, declare
from dpviz.runs.profiles import Profile, make_profile
from dpviz.runs.request import Request
from dpviz.runs.worker import Progress
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

    Only what was declared is read: columns, bounds, radius, scaling, relation. ``spread`` is the width of a cluster as
    a share of the bounds.
    """
    domain, bounds = declared.make_domain(), declared.list_bounds(declared.columns)
    name = f"synthetic table for {declared.title}"
    low, high = (_put_on_scale(declared, ends) for ends in bounds)
    made = simulate(low, high, n, domain.width, k, seed=0, spread=spread, columns=domain.names, name=name)
    if declared.coded:
        made = _make_cells(made, declared, (low, high), k, np.random.default_rng((0, 1)))
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


SPREADS = (0.02, 0.05, 0.1)
"""The shapes: widths of a cluster as a share of the bounds, from groups far apart to groups that overlap."""
RUNS = 4
"""Runs on each."""


@dataclass(frozen=True)
class Tried:
    """One run on a synthetic table: how wide its clusters are, its loss over that of k-means++, what it would
    release."""

    spread: float
    ratio: float
    profile: Profile | None = field(default=None, compare=False)


@brief
def dry_run_work(request: Request, declared: Declaration, n: int) -> Iterator[Progress | Tried]:
    """Runs of what is asked for, with study noise, on synthetic tables of ``n`` rows for what is ``declared``.

    Parameters
    ----------
    request : Request
    declared : Declaration
    n : int

    Yields
    ------
    Progress or Tried
        How far it is, and the loss of each run.
    """
    places = [(spread, seed) for spread in SPREADS for seed in range(RUNS)]
    for spread in SPREADS:
        table = synthesise_declared(declared, n=n, k=request.k, spread=spread)
        rows = clip_rows(table.private.reveal(note="a dry run on made-up rows"), table.domain.region)
        reference = find_reference(rows, request.k)
        for seed in range(RUNS):
            yield Progress(places.index((spread, seed)), len(places), f"clusters of {100 * spread:g} % of the bounds")
            run = run_request(replace(request, seed=seed), table.private)
            made = make_profile(run, reference=reference.centers)
            yield Tried(spread, evaluate(rows, run.unit_centers, reference).ratio, made)
