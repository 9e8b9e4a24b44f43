"""A dry run: the release that is asked for, tried on synthetic tables of several shapes; no row and no ε is touched."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from dpviz.runs.clipped_rows import clip_rows
from dpviz.runs.evaluation import evaluate, find_reference
from dpviz.runs.one_run import run_request
from dpviz.runs.profile import Profile, make_profile
from dpviz.runs.request import Request
from dpviz.runs.scheduler import brief
from dpviz.runs.synthetic_tables import synthesise_declared
from dpviz.runs.worker import Progress
from dpviz.tables import Declaration

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
        What is asked.
    declared : Declaration
        What is declared of the table.
    n : int
        Rows.

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
