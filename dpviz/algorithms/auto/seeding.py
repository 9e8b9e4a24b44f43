"""Seeds of ``auto``: k-means solved on readings of one histogram, and which of the solutions the rows choose.

Solving costs nothing, and the best solution on noisy cells need not be the best for the rows: a histogram over a view
of many columns sums the noise of all of its cells, and says nothing of what lies beside the view.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from dpviz.algorithms.auto.auto_plan import CAP, Paid, SolutionChoice
from dpviz.algorithms.auto.private_projection import ProjectionStep
from dpviz.algorithms.auto.view_synopsis import SynopsisStep
from dpviz.algorithms.tools.solvers import SignedPoints, StartsStep, choose_starts, find_best_of_starts
from dpviz.core import Array, PrivateSession, losses, mechanisms

# How solutions are told apart and compared.
# Chosen by hand on the tuning families of ``benchmarks/families.py``.

# Seeds of the second reading of a histogram are taken if they are so many sds of noise better by its raw counts.
_CLEAR_SDS = 1.0
_SAME_PART = 0.1  # solutions are one whose centres lie within this part of the squared radius of a cluster
_MOST_SOLUTIONS = 16  # solutions that may be chosen from, at most
_AS_GOOD_LOSS = 1.02  # solutions are as good on a synopsis whose losses there are within this factor


_FEW = 32
"""Centres that are compared with those of another solution before the next ones are."""

_LEAST_CAP = 1e-8
"""Of the squared diameter. Noise alone can put all cells onto their centres, and a cap of nothing has no noise."""


class Seeds(NamedTuple):
    """Solutions on a synopsis, in the space of the rows: centres ``every`` (starts, k, d) from each start, the squared
    radii (starts,) of their clusters, and which of them is taken: at first the best on the synopsis."""

    synopsis: SynopsisStep
    solved: StartsStep
    every: Array
    radii2: Array
    taken: int

    @property
    def centers(self) -> Array:
        """Of the solution that is taken, (k, d)."""
        centers: Array = self.every[self.taken]
        return centers

    @property
    def radius2(self) -> float:
        """Mean squared distance of a row to its centre, by the synopsis."""
        return float(self.radii2[self.taken])

    @property
    def distances(self) -> Array:
        """Squared distance of the middle of each cell of the synopsis to the nearest seed, along the view; (m,)."""
        cells, frame = self.synopsis.grid.centers(self.synopsis.codes), self.synopsis.frame
        squared = cdist(cells, self.centers if frame is None else self.centers @ frame.T, "sqeuclidean")
        nearest: Array = squared.min(axis=1)
        return nearest

    def list_distinct(self, most: int) -> list[Seeds]:
        """Up to ``most`` different solutions, the best on the synopsis first.

        Two are one where each centre of the second has one of the first within a part of a cluster's radius.
        """
        kept: list[int] = []
        for start in np.argsort(self.radii2, kind="stable").tolist():
            if all(_differ(self.every[start], self.every[other], _SAME_PART * self.radius2) for other in kept):
                kept.append(start)
        return [self._replace(taken=start) for start in kept[:most]]


def _differ(centers: Array, others: Array, close: float) -> bool:
    """Whether some of ``centers`` has none of the others as ``close``, squared: a few of many often tell."""
    parts = (centers[begin : begin + _FEW] for begin in range(0, len(centers), _FEW))
    return any(cdist(part, others, "sqeuclidean").min(axis=1).max() > close for part in parts)


def solve_seeds(
    session: PrivateSession,
    k: int,
    synopsis: SynopsisStep,
    seen: ProjectionStep | None,
    number: int,
    rng: np.random.Generator,
) -> Seeds:
    """k-means from a ``number`` of starts on the synopsis; unit coordinates."""
    points, weights, region, middle = synopsis.cloud()
    starts = choose_starts(points, weights, k, number, region, rng)
    best = find_best_of_starts(SignedPoints.of(points, weights), starts, region)
    radii2 = np.maximum(best.losses, 0.0) / max(float(weights.sum()), 1.0)
    radii2 += synopsis.spread_in_cell
    centers = np.stack([solution.centers for solution in best.solutions]) + middle
    if seen is not None and synopsis.frame is not None:
        around, frame = seen.projection, synopsis.frame
        centers = around.middle + (centers - frame @ around.middle) @ frame
        radii2 += around.measure_beside(frame)
    elif synopsis.frame is not None:
        # Along thin columns in the middle of the domain, until the first round.
        centers = centers @ synopsis.frame
    every = np.stack([session.region.clip(those) for those in centers])
    solved = replace(StartsStep.of(best, len(points), "cell"), centers=every[best.chosen])
    return Seeds(synopsis, solved, every, radii2, best.chosen)


def choose_best_read(found: list[Seeds]) -> Seeds:
    """The seeds whose loss on the noisy counts themselves is less, by more than its noise; else the first.

    What one reading of a histogram takes for noise the other may have kept. Noisy counts are right on average, so that
    what they say of two sets of centres is, too; its noise is known.
    """
    first, *others = found
    if not others:
        return first
    synopsis, (second,) = first.synopsis, others
    gain = first.distances - second.distances
    clear = float(synopsis.noisy_counts @ gain) > _CLEAR_SDS * synopsis.sd * float(np.linalg.norm(gain))
    return second if clear else first


def choose_by_rows(
    session: PrivateSession, found: list[Seeds], stage: SolutionChoice, shares: Paid, *, tail: bool = False
) -> tuple[Seeds, str]:
    """One of the solutions of all readings, the likelier the less the rows lose under it; and what was done, in words.

    Where there is a ``tail``, rows beyond the cap decide what is best, which their capped losses cannot tell: then rows
    choose among those only that are as good on the synopsis.

    **Guarantee.** The share of the stage, of bounded range. A row counts up to a cap under each solution; the solutions
    and the cap are released.
    """
    candidates = [seeds for one in found for seeds in one.list_distinct(_MOST_SOLUTIONS // len(found))]
    if tail:
        best = min(seeds.radius2 for seeds in candidates)
        candidates = [seeds for seeds in candidates if seeds.radius2 <= _AS_GOOD_LOSS * best]
    widest = session.region.diameter**2
    cap = min(max(CAP * choose_best_read(found).radius2, _LEAST_CAP * widest), widest)
    question = losses.CappedLosses(
        np.stack([seeds.centers for seeds in candidates]), caps=np.full(len(candidates), cap)
    )
    chosen = session.ask(question, mechanisms.Exponential, shares[stage.losses], note="choice of seeds")
    words = f"Of {len(candidates)} solutions that differ the rows choose one: the seeds"
    return candidates[chosen.value], "The solutions are one: the seeds" if len(candidates) == 1 else words
