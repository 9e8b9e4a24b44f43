"""The runs behind the pictures of both tables: some of k-means++ without privacy, then of what is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dpviz.runs.meaning.membership import AttackTrial, run_trials
from dpviz.runs.meaning.neighbors import NeighboringTables
from dpviz.runs.request import Contender, Request
from dpviz.runs.scheduler import brief
from dpviz.runs.worker import Progress

PAIRS = 128
"""Runs with the person, and as many without, before anybody asks for more."""
_REFERENCE_PAIRS = 32


@dataclass(frozen=True)
class ReferenceTrial:
    """A trial of k-means++ without privacy."""

    trial: AttackTrial


@brief
def attack_work(
    neighbors: NeighboringTables, request: Request, number: int = PAIRS, first: int = 0
) -> Iterator[Progress | AttackTrial | ReferenceTrial]:
    """Runs of k-means++ on both tables, the first time; then of what is asked for.

    Parameters
    ----------
    neighbors : Worlds
        The table with the person, and without.
    request : Request
        What is asked.
    number : int
        How many pairs.
    first : int
        How many there are already.

    Yields
    ------
    Progress or Trial or Plain
        As they come.

    **Guarantee.** None: attackers know the rows.
    """
    if first == 0:
        without = Request(Contender("kmeans++"), k=request.k, epsilon=request.epsilon, seed=request.seed)
        for item in run_trials(neighbors, without, _REFERENCE_PAIRS):
            if isinstance(item, AttackTrial):
                yield ReferenceTrial(item)
    yield from run_trials(neighbors, request, number, first=first)
