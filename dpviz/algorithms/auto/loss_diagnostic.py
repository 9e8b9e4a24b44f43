"""The loss diagnostic of ``auto``: did a run go well? Told by its synopsis and its last round, without a row.

A run goes wrong where noise hid a group of rows: then another centre has hardly any rows of its own, or the rows that
noise could hide would carry much of the loss if they lay far from every centre. It also does where cells are as wide as
clusters. Each of these is common in runs that went well, too: a light cluster has few rows. So they are weighed
together, and a doubt says which of them there is. All this is post-processing: nothing is spent on it.

Constants were chosen on the families of ``benchmarks/families.py``; ``benchmarks/loss_diagnostic.py`` says what they
are worth.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import asinh, log, sqrt
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from dpviz.algorithms.auto.private_projection import ProjectionStep
from dpviz.algorithms.auto.view_synopsis import SynopsisStep
from dpviz.algorithms.loss_diagnostic import LossDiagnostic
from dpviz.algorithms.steps import CentersStep, Step
from dpviz.algorithms.tools.public_points import draw_random_points
from dpviz.arrays import Array
from dpviz.table.domain import Region

# The evidence that a run lost more than twice as much as k-means++: this at first, and so many times each symptom.
# Fitted on the families that do not judge: ``python -m benchmarks.loss_diagnostic --fit``.
_AT_FIRST, _WEIGHTS = 6.83, (1.32, 0.86, 1.19, -1.84)
_DOUBTFUL = -1.0
# More rows than so many sds of their noise say no more: a group is missed by centres that all have many of them, too.
_CLEAR = 20.0
# A centre is idle whose rows are below so many standard deviations of their noise.
_IDLE = 3.0
# Of the rows that a cell needs to stand out, so many may be missed unseen.
_UNSEEN = 0.5
# How far the estimate may be off, down and up, beside what cells are wide and what noise may hide.
_DOWN, _UP, _WIDTH_UP = 6.0, 4.0, 0.3
_PLACES = 512
_LEAST, _TINY = 1e-3, 1e-12


class Seen(NamedTuple):
    """What was released says: mean squared distances, unit coordinates, of rows to their nearest centre and to one
    centre in the middle of all; what the cells are wide; what rows would add that cells may hide, far from all centres.

    ``rows`` are these rows, ``idlest`` is the centre of the fewest rows in the last round, which are ``clearness``
    standard deviations of their noise.
    """

    loss: float
    of_one: float
    width: float
    hidden: float
    rows: float
    idlest: int
    clearness: float

    @property
    def symptoms(self) -> Array:
        """What noise may hide and what cells are wide, over the loss, and the loss over that of one centre, in
        logarithms that end somewhere; how clearly the idlest centre has rows, in a scale that ends (4,)."""
        parts = np.array([self.hidden / self.loss, self.width / self.loss, self.loss / self.of_one])
        return np.append(np.log(parts + _LEAST), asinh(min(self.clearness, _CLEAR)))


def diagnose_loss(steps: Sequence[Step], region: Region) -> LossDiagnostic | None:
    """The diagnostic of a finished run, by its ``steps`` over ``region``; None where it has no synopsis or no counts.

    Parameters
    ----------
    steps : sequence of Step
        All that was released.
    region : Region
        Where rows live, unit coordinates.

    Returns
    -------
    LossDiagnostic or None
        Of the loss that is left, over that of one centre.

    **Guarantee.** Post-processing of released values.
    """
    seen = collect_seen(steps, region)
    if seen is None:
        return None
    off = (seen.width + seen.hidden) / seen.loss
    share = seen.loss / seen.of_one
    high = share * (1 + _UP * (_WIDTH_UP * seen.width + seen.hidden) / seen.loss)
    return LossDiagnostic(share, share / (1 + _DOWN * off), high, _list_doubts(seen))


def collect_seen(steps: Sequence[Step], region: Region) -> Seen | None:
    """What ``diagnose_loss`` goes by.

    Parameters
    ----------
    steps : sequence of Step
        All that was released.
    region : Region
        Where rows live, unit coordinates.

    Returns
    -------
    Seen or None
        Unit coordinates; None where something that is needed was not released.
    """
    synopsis = next((step for step in steps if isinstance(step, SynopsisStep)), None)
    look = next((step for step in steps if isinstance(step, ProjectionStep)), None)
    last = steps[-1] if steps else None
    if synopsis is None or not isinstance(last, CentersStep):
        return None
    if last.noisy_counts is None or last.count_noise_sd is None:
        return None
    around_middle, weights, _, middle = synopsis.cloud()
    points, frame, centers = around_middle + middle, synopsis.frame, last.centers
    inside = centers if frame is None else centers @ frame.T
    total = max(float(weights.sum()), 1.0)
    loss = float(weights @ cdist(points, inside, "sqeuclidean").min(axis=1)) / total
    of_one = float(weights @ ((points - weights @ points / total) ** 2).sum(axis=1)) / total
    beside = 0.0 if look is None or frame is None else look.projection.measure_beside(frame)
    anywhere = cdist(draw_random_points(_PLACES, region, np.random.default_rng(0)), centers, "sqeuclidean").min(axis=1)
    rows, idlest = _count_rows_to_stand_out(synopsis), int(last.noisy_counts.argmin())
    return Seen(
        max(loss + beside, _TINY),
        max(of_one + beside, _TINY),
        synopsis.spread_in_cell,
        rows * float(anywhere.mean()) / total,
        rows,
        idlest,
        float(last.noisy_counts[idlest]) / max(last.count_noise_sd, _TINY),
    )


def _count_rows_to_stand_out(synopsis: SynopsisStep) -> float:
    """What a lone cell has to hold to be told from noise, which chance exceeds in about one cell of all."""
    if synopsis.cutoff is not None:
        return synopsis.cutoff
    apart = log(max(len(synopsis.codes), 2))
    return max(sqrt(2 * apart), apart / sqrt(2)) * synopsis.sd


def _list_doubts(seen: Seen) -> tuple[str, ...]:
    if _AT_FIRST + float(seen.symptoms @ _WEIGHTS) <= _DOUBTFUL:
        return ()
    idle = f"Centre {seen.idlest + 1} has hardly more rows than noise would show, as one has where a group was missed."
    hides = f"A group of {_UNSEEN * seen.rows:,.0f} rows could hide in the noise, far from every centre."
    coarse = "The cells of the noisy histogram are about as wide as these clusters."
    return (*((idle,) if seen.clearness < _IDLE else ()), hides if seen.hidden > seen.width else coarse)
