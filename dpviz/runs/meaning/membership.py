"""Membership attacks that are run: was this person in the table? Two attackers, and how often they are right.

The same table with one person in it and without is what the promise of differential privacy compares. One attacker
looks at the released centres: is one of them near the person? The other is the one that the guarantee assumes:
it knows all other rows, reads every released answer, and weighs how likely each was with the person and without."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import log, sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv

from dpviz.core import Array, PrivateTable, RequestError, compute_log_ratio, mechanisms
from dpviz.runs.jobs import brief
from dpviz.runs.meaning.windows import bound_hits
from dpviz.runs.one_run import run_request
from dpviz.runs.open_table import OpenTable
from dpviz.runs.request import Contender, Request
from dpviz.runs.worker import Progress
from dpviz.tables import FileKind, LoadedTable


class NeighboringTables(NamedTuple):
    """Two neighbouring tables, and where the person's rows lie: unit coordinates, shape (m, d)."""

    present: PrivateTable
    absent: PrivateTable
    person: Array


def make_neighbors(table: OpenTable, row: int) -> NeighboringTables:
    """``table`` with whoever the given row belongs to, and without them.

    Their cells become empty: under ``add_remove`` such rows are dropped, under ``replace`` the middle of the bounds
    stands in, so the two tables are neighbours by the table's own relation and unit of privacy.
    """
    if table.kind is FileKind.PRIVATE:
        raise RequestError("An attack knows all rows: choose a public or simulated table.")
    if not isinstance(table.loaded, LoadedTable):
        raise RequestError("An attack needs a table with written-out columns: choose one that is not sparse.")
    declared, persons = table.declaration, None
    values = table.loaded.encode_columns(declared.columns, declared.coded)
    if not 0 <= row < len(values):
        raise RequestError(f"There is no row {row + 1:,}: choose one from 1 to {len(values):,}.")
    theirs = np.arange(len(values)) == row
    if declared.id_column is not None:
        persons = table.loaded.identifiers(declared.id_column)
        if persons[row, 0] >= 0:
            theirs = (persons == persons[row]).all(axis=1)
    without = values.copy()
    without[theirs] = np.nan
    domain = table.domain
    present, absent = (declared.make_private_table(rows, domain, persons) for rows in (values, without))
    person = domain.region.settle_points(domain.to_unit(domain.limit(values[theirs & np.isfinite(values).all(axis=1)])))
    if not len(person):
        raise RequestError("This row has an empty cell and is not used: choose another.")
    return NeighboringTables(present, absent, person)


def find_farthest_row(table: OpenTable) -> int:
    """The row that lies farthest from the middle of all rows, in unit coordinates: the one that is hardest to hide."""
    assert isinstance(table.loaded, LoadedTable)
    values = table.loaded.encode_columns(table.declaration.columns, table.declaration.coded)
    whole = np.flatnonzero(np.isfinite(values).all(axis=1))
    points = table.domain.to_unit(table.domain.limit(values[whole], far=1e9))
    return int(whole[np.linalg.norm(points - points.mean(axis=0), axis=1).argmax()])


# Beyond this a ratio of densities is certainty; it stays finite, so that ratios of several releases add up.
_CERTAIN = 1e6


class AttackTrial(NamedTuple):
    """One run, with the person or without; both scores are larger where the person seems to be in.

    ``centers`` are those it released, unit coordinates, shape (k, d); ``nearness`` is minus the distance of the nearest
    one to the person; ``log_ratio`` is how much likelier all released answers were with the person, or None
    where no density can be written down.
    """

    present: bool
    centers: Array
    nearness: float
    log_ratio: float | None


def run_trials(
    neighbors: NeighboringTables, request: Request, number: int, *, first: int = 0
) -> Iterator[Progress | AttackTrial]:
    """``number`` runs with the person and as many without, in turns.

    **Guarantee.** None: attackers know the rows.
    """
    readable = request.card.private
    yield Progress(0, number, "both tables")
    for place in range(number):
        for turn, present in enumerate((True, False)):
            asked = replace(request, seed=(request.seed or 0) + 2 * (first + place) + turn)
            here, there = (neighbors.present, neighbors.absent) if present else (neighbors.absent, neighbors.present)
            ratio = None
            if readable:
                try:
                    run, ratio = compute_log_ratio(partial(run_request, asked), here, there)
                except mechanisms.NoDensity:
                    readable = False
            if ratio is None:
                run = run_request(asked, here)
            centers = run.unit_centers
            away = float(np.sqrt(((centers[:, None] - neighbors.person[None]) ** 2).sum(axis=-1)).min())
            if ratio is not None:
                ratio = float(np.clip(ratio if present else -ratio, -_CERTAIN, _CERTAIN))
            yield AttackTrial(present, centers, -away, ratio)
        yield Progress(place + 1, number, "both tables")


def collect_scores(trials: Sequence[AttackTrial], of: str) -> tuple[list[float], list[float]] | None:
    """The scores called ``of``, with the person and without, as many of each; None where there are none."""
    sides: tuple[list[float], list[float]] = ([], [])
    for trial in trials:
        score = getattr(trial, of)
        if score is None:
            return None
        sides[0 if trial.present else 1].append(score)
    pairs = min(map(len, sides))
    return (sides[0][:pairs], sides[1][:pairs]) if pairs >= 2 else None


class Share(NamedTuple):
    """How often something happened; ``low`` and ``high`` are its Clopper-Pearson limits, 97.5 % sure each.

    >>> share = Share(3, 30)
    >>> share.rate, round(share.low, 3), round(share.high, 3)
    (0.1, 0.021, 0.265)
    """

    times: int
    of: int

    @property
    def rate(self) -> float:
        return self.times / self.of

    @property
    def low(self) -> float:
        return float(betaincinv(self.times, self.of - self.times + 1, 0.025)) if self.times else 0.0

    @property
    def high(self) -> float:
        return float(betaincinv(self.times + 1, self.of - self.times, 0.975)) if self.times < self.of else 1.0


@dataclass(frozen=True)
class Attack:
    """An attacker's record: every threshold on one half of the runs, and the one that the other half chose.

    ``staircase`` (m, 2), shares of false alarms and of hits, from "never" to "always", in the measuring half.
    """

    staircase: Array
    false_alarms: Share
    hits: Share

    @property
    def advantage(self) -> float:
        """Hits less false alarms."""
        return self.hits.rate - self.false_alarms.rate

    @property
    def reach(self) -> float:
        """How far chance moves shares of the staircase, at all thresholds at once: in 19 of 20 records no farther."""
        # Massart 1990, for either side: exp(-2 m reach²) = 1/40 of m runs.
        return sqrt(log(40) / (2 * min(self.hits.of, self.false_alarms.of)))

    def passes(self, *, epsilon: float, delta: float) -> bool:
        """Whether it did better than any attack can, chance apart: of sound releases at most 1 in 20 seems to."""
        return self.hits.low > bound_hits(self.false_alarms.high, epsilon=epsilon, delta=delta)


def attack(present: Sequence[float], absent: Sequence[float]) -> Attack:
    """What an attacker with these scores achieves: its threshold is from every other run, its record from the rest."""
    there, away = np.asarray(present, dtype=np.float64), np.asarray(absent, dtype=np.float64)
    best = _find_best_threshold(there[::2], away[::2])
    there, away = there[1::2], away[1::2]
    false_alarms, hits = (Share(int((side >= best).sum()), len(side)) for side in (away, there))
    return Attack(compute_staircase(there, away), false_alarms, hits)


def compute_staircase(present: Array, absent: Array) -> Array:
    """Shares (m, 2) of false alarms and hits at every threshold, (0, 0) to (1, 1), by scores of runs of both kinds."""
    thresholds = np.unique(np.concatenate([present, absent]))[::-1]
    shares = [1 - np.searchsorted(np.sort(scores), thresholds) / len(scores) for scores in (absent, present)]
    return np.concatenate([np.zeros((1, 2)), np.stack(shares, axis=1)])


def _find_best_threshold(present: Array, absent: Array) -> float:
    """Between the two scores that it tells apart, so that a run a rounding error away falls on the same side."""
    steps = compute_staircase(present, absent)
    place = int(np.argmax(steps[1:, 1] - steps[1:, 0]))
    thresholds = np.unique(np.concatenate([present, absent]))[::-1]
    return float(thresholds[place] + thresholds[min(place + 1, len(thresholds) - 1)]) / 2


PAIRS = 128
"""Runs with the person, and as many without, before anybody asks for more."""


@dataclass(frozen=True)
class ReferenceTrial:
    """A trial of k-means++ without privacy."""

    trial: AttackTrial


@brief
def attack_work(
    neighbors: NeighboringTables, request: Request, number: int = PAIRS, first: int = 0
) -> Iterator[Progress | AttackTrial | ReferenceTrial]:
    """Runs of k-means++ on both tables, the first time; then of what is asked for.

    **Guarantee.** None: attackers know the rows.
    """
    if first == 0:
        without = Request(Contender("kmeans++"), k=request.k, epsilon=request.epsilon, seed=request.seed)
        for item in run_trials(neighbors, without, 32):
            if isinstance(item, AttackTrial):
                yield ReferenceTrial(item)
    yield from run_trials(neighbors, request, number, first=first)
