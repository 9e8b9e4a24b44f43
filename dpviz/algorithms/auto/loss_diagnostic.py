"""The loss diagnostic of ``auto``: did a run go well? Told by its synopsis and its last round, without a row.

A run goes wrong where noise hid a group of rows: then another centre has hardly any rows of its own, or the rows that
noise could hide would carry much of the loss if they lay far from every centre. It also does where cells are as wide as
clusters, where one cluster has nearly all of the loss, and where centres still move in the last round. Each of these is
common in runs that went well, too: a light cluster has few rows. So they are weighed together, and a doubt says which
of them there is. One is not: a centre that the last round moved about as far as a row may pull had not arrived. All
this is post-processing: nothing is spent on it.

Constants were chosen on the families of ``benchmarks/families.py``; ``benchmarks/loss_diagnostic.py`` says what they
are worth.
"""

from collections.abc import Sequence
from math import asinh, exp, log, log1p, sqrt
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from dpviz.algorithms.auto.polishing import PolishStep
from dpviz.algorithms.auto.private_projection import ProjectionStep
from dpviz.algorithms.auto.view_synopsis import SynopsisStep
from dpviz.algorithms.card import LossDiagnostic
from dpviz.algorithms.steps import CentersStep, Step
from dpviz.algorithms.tools.solvers import draw_random_points
from dpviz.core import Array, Region, partitions

# What a run says of its loss, fitted by `python -m benchmarks.loss_diagnostic --fit` on the families that do not judge,
# at sizes of all kinds: the evidence, before any symptom, that a run lost more than twice as much as k-means++, and how
# many times each symptom is added to it.
_FITTED_AT_FIRST = 6.99
_FITTED_WEIGHTS = (0.84, -0.46, 1.43, 0.38, 1.88, 1.35, -1.32, -0.80, -4.14)
# Ends of the range of nine runs in ten, in logarithms over what middles of cells say: this at first, so many times what
# cells are wide, what noise may hide, and the noise of the centres; over the rows' own columns, and in a view.
_FITTED_LOW_FLAT, _FITTED_HIGH_FLAT = (-0.50, 0.82, 0.0, 0.0), (0.57, 0.43, 0.95, 0.0)
_FITTED_LOW_VIEW, _FITTED_HIGH_VIEW = (-1.72, 0.05, 0.0, 1.02), (0.34, 1.83, 0.56, 2.24)


# Where symptoms begin.
# Chosen by hand, the first on the families that do not judge; ``python -m benchmarks.loss_diagnostic`` says what they
# are worth.

_DOUBT_EVIDENCE = -1.18  # from this evidence on a run is doubted
# More rows than so many sds of their noise say no more: a group is missed by centres that all have many, too.
_CLEAR_SDS = 20.0
_IDLE_SDS = 3.0  # a centre is idle whose rows are below so many standard deviations of their noise
_UNSEEN_PART = 0.5  # of the rows that a cell needs to stand out, this part may be missed unseen
# A centre that the last round moved so much of its clipping radius, beyond its noise, had not arrived.
_PULLED_PART = 0.7


_PLACES = 512
_LEAST, _TINY = 1e-3, 1e-12


class LossSymptoms(NamedTuple):
    """What was released says: mean squared distances, unit coordinates, of rows to their nearest centre and to one
    centre in the middle of all; what the cells are wide; what rows would add that cells may hide, far from all centres.

    ``rows`` are these rows, ``idlest`` is the centre of the fewest rows in the last round, which are ``clearness``
    standard deviations of their noise. In the last round rows' centres ``moved`` so far, and have so much ``noise``, in
    mean squares. The cluster of the largest loss has ``crowded`` times an even share of it. ``even`` is an even share
    of the rows of one of ``k`` clusters, in standard deviations of the noise on a cell. ``flat``: cells lie over the
    rows' own columns; ``tail``: they follow a tail. The last round moved the centre ``farthest`` by ``pulled`` of its
    clipping radius, beyond its noise.
    """

    loss: float
    of_one: float
    width: float
    hidden: float
    rows: float
    idlest: int
    clearness: float
    moved: float
    noise: float
    crowded: float
    k: int
    even: float
    flat: bool
    tail: bool
    pulled: float
    farthest: int

    @property
    def symptoms(self) -> Array:
        """In logarithms, those that end at 0 with an end: what noise may hide, what cells are wide, what is left of the
        loss of one centre, how far centres moved, all over the loss; crowding, clusters, an even share of the rows. How
        clearly the idlest centre has rows, in a scale that ends; whether there is a tail (9,)."""
        parts = np.array([self.hidden, self.width, self.loss**2 / self.of_one, self.moved]) / self.loss
        others = np.log([max(self.crowded, 1.0), self.k, max(self.even, _LEAST)])
        clear = asinh(min(self.clearness, _CLEAR_SDS))
        return np.concatenate([np.log(parts + _LEAST), others, [clear, float(self.tail)]])


def diagnose_loss(steps: Sequence[Step], region: Region) -> LossDiagnostic | None:
    """The diagnostic of a finished run, by its ``steps`` over ``region``; None where it has no synopsis or no counts.

    **Guarantee.** Post-processing of released values.
    """
    seen = collect_seen(steps, region)
    if seen is None:
        return None
    share = seen.loss / seen.of_one
    # What an estimate by middles of cells may be off: logarithms of one and what cells are wide, what noise may hide
    # and the noise of centres, over the loss.
    parts = [1.0, *(log1p(part / seen.loss) for part in (seen.width, seen.hidden, seen.noise))]
    ends = (_FITTED_LOW_FLAT, _FITTED_HIGH_FLAT) if seen.flat else (_FITTED_LOW_VIEW, _FITTED_HIGH_VIEW)
    low, high = (share * exp(float(np.dot(end, parts))) for end in ends)
    # Rows lie some way from the middle of their cell: an estimate by middles alone would be too low.
    estimate = (seen.loss + seen.width) / (seen.of_one + seen.width)
    return LossDiagnostic(min(max(estimate, low), high), low, high, _list_doubts(seen))


def collect_seen(steps: Sequence[Step], region: Region) -> LossSymptoms | None:
    """What ``diagnose_loss`` goes by, unit coordinates; None where something that is needed was not released."""
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
    apart = cdist(points, inside, "sqeuclidean")
    loss_of_each = np.bincount(apart.argmin(axis=1), weights * apart.min(axis=1), len(centers)) / total
    loss = float(loss_of_each.sum())
    of_one = float(weights @ ((points - weights @ points / total) ** 2).sum(axis=1)) / total
    beside = 0.0 if look is None or frame is None else look.projection.measure_beside(frame)
    anywhere = cdist(draw_random_points(_PLACES, region, np.random.default_rng(0)), centers, "sqeuclidean").min(axis=1)
    rows, idlest = _count_rows_to_stand_out(synopsis), int(last.noisy_counts.argmin())
    held = np.maximum(last.noisy_counts, 0.0) / total
    sds = 0.0 if last.center_noise_sd is None else last.center_noise_sd
    # Centres lie where means of rows can be: what that moves is not on its way.
    before = centers if last.previous is None else region.settle_points(last.previous)
    return LossSymptoms(
        max(loss + beside, _TINY),
        max(of_one + beside, _TINY),
        synopsis.spread_in_cell,
        rows * float(anywhere.mean()) / total,
        rows,
        idlest,
        float(last.noisy_counts[idlest]) / max(last.count_noise_sd, _TINY),
        float(held @ ((centers - before) ** 2).sum(axis=1)),
        float((held * sds**2).sum()) * centers.shape[1],
        float(loss_of_each.max()) * len(centers) / max(loss, _TINY),
        len(centers),
        total / (len(centers) * max(synopsis.sd, _TINY)),
        frame is None,
        isinstance(synopsis.grid, partitions.UnevenGrid),
        *_find_farthest(last, before),
    )


def _find_farthest(last: CentersStep, before: Array) -> tuple[float, int]:
    """How much of its clipping radius the last round moved a centre, beyond its noise, and which one the most."""
    if not isinstance(last, PolishStep) or last.center_noise_sd is None:
        return 0.0, 0
    longest = last.clipping_radius if last.clipping_radii is None else last.clipping_radii
    moved = np.linalg.norm(last.centers - before, axis=1) - sqrt(last.centers.shape[1]) * last.center_noise_sd
    pulled = moved / np.maximum(longest, _TINY)
    return max(float(pulled.max()), 0.0), int(pulled.argmax())


def _count_rows_to_stand_out(synopsis: SynopsisStep) -> float:
    """What a lone cell has to hold to be told from noise, which chance exceeds in about one cell of all."""
    if synopsis.cutoff is not None:
        return synopsis.cutoff
    apart = log(max(len(synopsis.codes), 2))
    return max(sqrt(2 * apart), apart / sqrt(2)) * synopsis.sd


def _list_doubts(seen: LossSymptoms) -> tuple[str, ...]:
    away = f"Centre {seen.farthest + 1} was still on its way: the last round moved it about as far as a row may pull."
    late = (away,) if seen.pulled > _PULLED_PART else ()
    if _FITTED_AT_FIRST + float(seen.symptoms @ _FITTED_WEIGHTS) <= _DOUBT_EVIDENCE:
        return late
    idle = f"Centre {seen.idlest + 1} has hardly more rows than noise would show, as one has where a group was missed."
    hides = f"A group of {_UNSEEN_PART * seen.rows:,.0f} rows could hide in the noise, far from every centre."
    coarse = "The cells of the noisy histogram are about as wide as these clusters."
    return (*late, *((idle,) if seen.clearness < _IDLE_SDS else ()), hides if seen.hidden > seen.width else coarse)
