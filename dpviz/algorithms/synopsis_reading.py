"""A synopsis that is paid for anyway, read once more: how many clusters there are, which segments hang on its noise,
and the best solution on it.

All of it is free post-processing of one release. A noisy histogram serves every k, so that the loss on it may be looked
at for all of them. It falls with every cluster that is really there, and after the last of them only as fast as one
cloud without structure is cut up: there the curve bends. How much of a bend is noise is seen on redraws: noise of the
known law is put on the denoised counts once more, and all is solved again. Segments that such redraws do not find again
could have been others.

Constants were chosen by hand on S1, *Fifteen clusters*, *People* and one cloud; how often k is right:
``benchmarks/bought.py``; how many rows keep their segment in truth: ``benchmarks/stability.py``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, sqrt
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from dpviz.algorithms.auto.view_synopsis import Cloud, SynopsisStep, find_standing_out, project_onto_total
from dpviz.algorithms.auto.zooming import ZoomStep
from dpviz.algorithms.hashes.lsh_coreset import CoresetStep
from dpviz.algorithms.steps import GridStep, Step
from dpviz.algorithms.su2016.eugkm import find_clear_cells, list_all_cells
from dpviz.algorithms.tools.solvers import SignedPoints, choose_starts, draw_kmeans_pp_seeds, find_best_of_starts
from dpviz.core import Array, Codes, Region, check
from dpviz.words import NINE_IN_TEN, render, round_percent

MOST_K = 60
"""Beyond so many clusters the loss is not computed: a synopsis tells no such number of them apart."""


# How losses for each k are computed, and what is a bend of theirs.
# Chosen by hand; ``benchmarks/bought.py`` says how often the k is right.

_STARTS = 6  # starts for each k
_REDRAWS = 12  # times that the noise of the synopsis is drawn again
_STARTS_OF_REDRAW = 3  # for each k, none from the solution before: redraws would agree more than other noise does
_GAINS_AFTER = 3  # a gain is compared with the largest of so many that follow it
_CLEAR_BEND = 2.2  # it is a bend if it is so many times as large as that


_TINY = 1e-12

STABLE = 0.9
"""Segments are stable where so many of the rows keep theirs, in the mean over redraws."""

# Starts of the solver that stands in for the best one: three times those of the reference.
_STARTS_ANEW = 30


@dataclass(frozen=True, eq=False)
class SuggestedK:
    """The loss on a synopsis for each of ``ks`` (m,), unit coordinates squared, and the k at which it bends.

    ``lows`` and ``highs`` (m,) hold nine in ten redraws of the noise. ``bends`` (m,) say how many times as large the
    gain of a k is as what follows it; of all rows the part ``kept`` (m,) stays in its segment in the mean over redraws.
    ``suggested`` is None where nothing stands out. ``agreeing`` of ``redraws`` suggest the same.
    """

    ks: Codes
    losses: Array
    lows: Array
    highs: Array
    bends: Array
    kept: Array
    suggested: int | None
    agreeing: int
    redraws: int

    @property
    def words(self) -> str:
        """What the curve says, and how sure that is."""
        alike = self.ks[1:][self.kept[1:] >= STABLE]
        spans = [one[[0, -1]] for one in np.split(alike, np.flatnonzero(np.diff(alike) > 1) + 1) if len(one)]
        told = {
            "told": self,
            "spans": spans,
            "stable": STABLE,
            "asked": _CLEAR_BEND,
            "percent": round_percent,
            "tiny": _TINY,
        }
        return render("suggested_k.txt.j2", **told).strip()


@dataclass(frozen=True, eq=False)
class Stability:
    """The part of each segment (k,) that is ``kept``, and that of all ``rows``, when the noise of the synopsis is drawn
    again and k-means is solved anew; NaN of a segment in which the synopsis has no weight.
    """

    kept: Array
    rows: float

    @property
    def holds(self) -> bool:
        """Whether nearly all rows stay in their segment."""
        return self.rows >= STABLE

    @property
    def words(self) -> str:
        """Whether the segments hang on the noise, and which one does most."""
        told = {"told": self, "least": int(np.nanargmin(self.kept)), "percent": round_percent}
        return render("stability.txt.j2", **told).strip()


def measure_stability(steps: Sequence[Step], centers: Array) -> Stability | None:
    """How far the segments of ``centers`` (k, d), unit coordinates, hang on the noise of the released synopsis.

    Nothing is charged: only what was released is read. None where no synopsis was released, or it holds one segment.
    """
    step = find_synopsis(steps)
    if step is None:
        return None
    cloud, k, rng = make_cloud(step), len(centers), np.random.default_rng(0)
    seen = centers if not isinstance(step, SynopsisStep) or step.frame is None else centers @ step.frame.T
    seen, kept = seen - cloud.middle, np.zeros(k)
    whole = _weigh_kept(cloud, seen, seen)
    if np.count_nonzero(whole) < 2:
        return None
    for _ in range(_REDRAWS):
        points, weights, region, _ = redraw(cloud, step.sd, rng)
        starts = choose_starts(points, weights, k, _STARTS_OF_REDRAW, region, rng)
        again = find_best_of_starts(SignedPoints.of(points, weights), starts, region).solution.centers
        kept += _weigh_kept(cloud, seen, again) / _REDRAWS
    with np.errstate(invalid="ignore"):
        return Stability(kept / whole, float(kept.sum() / whole.sum()))


def _weigh_kept(cloud: Cloud, centers: Array, others: Array) -> Array:
    """Of each segment of ``centers`` (k, p) the weight (k,) that it shares with its match among those of ``others``."""
    places, other_places = (cdist(cloud.points, one).argmin(axis=1) for one in (centers, others))
    shape = len(centers), len(others)
    pairs, weights = np.ravel_multi_index((places, other_places), shape), np.maximum(cloud.weights, 0.0)
    shared = np.bincount(pairs, weights, shape[0] * shape[1]).astype(np.float64).reshape(shape)
    return shared[linear_sum_assignment(-shared)]


def suggest_k(steps: Sequence[Step], most: int, rng: np.random.Generator) -> SuggestedK:
    """The k from 1 to ``most`` at which the loss on a released synopsis bends. O(most · redraws) solutions of k-means.

    Nothing is charged: only what was released is read. The run that the synopsis is of should be planned with
    k = ``most``, from public knowledge, so that its cells are fine enough for all of them.
    """
    check.within(2, MOST_K, most=most)
    step = find_synopsis(steps)
    if step is None:
        raise check.RequestError("This run has no grid to read k from: run auto or eugkm, which release one.")
    beyond = most + _GAINS_AFTER
    cloud, within = make_cloud(step), step.spread_in_cell
    first = _solve_curve(cloud, within, beyond, _STARTS, rng)
    drawn = [redraw(cloud, step.sd, rng) for _ in range(_REDRAWS)]
    again = [_solve_curve(one, within, beyond, _STARTS_OF_REDRAW, rng) for one in drawn]
    pairs = [zip(first.centers[:most], curve.centers, strict=False) for curve in again]
    kept = np.array([[_weigh_kept(cloud, *pair).sum() for pair in of_redraw] for of_redraw in pairs]).mean(axis=0)
    bends = _measure_bends(first, most)
    suggested = _find_clearest(bends)
    spread = NINE_IN_TEN * np.std([curve.losses for curve in again], axis=0, ddof=1)[:most]
    losses = first.losses[:most]
    return SuggestedK(
        ks=np.arange(1, most + 1),
        losses=losses,
        lows=np.maximum(losses - spread, 0.0),
        highs=losses + spread,
        bends=bends,
        kept=kept / np.maximum(cloud.weights, 0.0).sum(),
        suggested=suggested,
        agreeing=sum(_find_clearest(_measure_bends(curve, most)) == suggested for curve in again),
        redraws=_REDRAWS,
    )


def find_synopsis(steps: Sequence[Step]) -> GridStep | None:
    """The last histogram that a run has released."""
    synopses = [step for step in steps if isinstance(step, GridStep) and not isinstance(step, ZoomStep)]
    return synopses[-1] if synopses else None


def make_cloud(step: GridStep) -> Cloud:
    """The cells of a histogram that stand out of their noise, as in ``auto``; of a cut one all that is listed."""
    if isinstance(step, SynopsisStep):
        return step.cloud()
    noisy, grid = step.noisy_counts, step.grid
    if step.cutoff is None:
        cells, held, _ = find_standing_out(noisy.reshape(grid.cells_per_axis), step.sd, flat=True)
    else:
        cells, held = np.flatnonzero(noisy > 0), noisy[noisy > 0]
    if len(cells) == 0:
        cells, held = np.array([int(noisy.argmax())]), np.ones(1)
    middle = np.zeros(len(grid.half)) if grid.middle is None else grid.middle
    region = Region(grid.half, float(np.linalg.norm(grid.half)))
    return Cloud(grid.centers(step.codes[cells]) - middle, held, region, middle)


def redraw(cloud: Cloud, sd: float, rng: np.random.Generator) -> Cloud:
    """The cloud with new Laplace noise of standard deviation ``sd`` on its weights: none negative, the same sum."""
    # Where neighbours were averaged there is less noise on a weight than that: then the band is too wide.
    noisy = cloud.weights + rng.laplace(0.0, sd / sqrt(2), len(cloud.weights))
    return cloud._replace(weights=project_onto_total(noisy, float(cloud.weights.sum())))


class _Curve(NamedTuple):
    """Loss on a synopsis for k = 1, 2, ... (m,), never rising, the centres of each, and the axes of the synopsis."""

    losses: Array
    centers: list[Array]
    dim: int


def _solve_curve(cloud: Cloud, within: float, most: int, starts: int, rng: np.random.Generator) -> _Curve:
    """Solutions for each k up to ``most``, from so many fresh ``starts`` and some that add a centre.

    ``within`` is the variance of rows within a cell, which no number of centres takes away: without it a centre in
    every cell would look like the best of all clusterings.
    """
    points, weights, region, _ = cloud
    floor = within * float(np.maximum(weights, 0.0).sum())
    data, losses, centers = SignedPoints.of(points, weights), [], [np.zeros((0, points.shape[1]))]
    for k in range(1, most + 1):
        proposed = choose_starts(points, weights, k, starts, region, rng)
        if 1 < k < len(points):
            proposed += _add_one_more(cloud, centers[-1], starts // 2, rng)
        solution = find_best_of_starts(data, proposed, region).solution
        centers.append(solution.centers)
        losses.append(max(solution.loss, 0.0) + floor)
    return _Curve(np.minimum.accumulate(losses), centers[1:], points.shape[1])


def _add_one_more(cloud: Cloud, centers: Array, number: int, rng: np.random.Generator) -> list[Array]:
    """``number`` of starts with ``centers`` and one more, drawn as k-means++ draws it, which can only gain."""
    nearest = ((cloud.points[:, None] - centers) ** 2).sum(axis=2).min(axis=1)
    mass = np.maximum(cloud.weights, 0.0) * nearest
    if len(centers) == 0 or mass.sum() <= 0:
        return []
    drawn = rng.choice(len(mass), number, p=mass / mass.sum())
    return [np.concatenate([centers, cloud.points[[one]]]) for one in drawn]


def _measure_bends(curve: _Curve, most: int) -> Array:
    """For k = 1 ... ``most``, how many times as large the gain of its last cluster is as what follows; 0 at k = 1.

    Gains are falls of the logarithm of the loss. What follows is the largest of the next few gains, or, if that is
    more, what cutting up one cloud gains: in p dimensions its loss falls like k^(-2/p).
    """
    falls = -np.diff(np.log(np.maximum(curve.losses, _TINY * max(curve.losses[0], _TINY))))
    bends = np.zeros(most)
    for k in range(2, most + 1):
        cut_up = 2 / curve.dim * log((k + 1) / k)
        bends[k - 1] = falls[k - 2] / max(float(falls[k - 1 : k - 1 + _GAINS_AFTER].max()), cut_up)
    return bends


def _find_clearest(bends: Array) -> int | None:
    """The k of the largest bend, if that is one."""
    return int(bends.argmax()) + 1 if bends.max() >= _CLEAR_BEND else None


def solve_anew(step: Step, k: int, region: Region, *, exact: bool) -> Array | None:
    """The best of many starts on a synopsis, centres (k, d); None for a step that is none."""
    if isinstance(step, CoresetStep):
        data = SignedPoints.of(step.points, step.weights)
    elif type(step) is not GridStep:
        return None
    else:
        data = list_all_cells(step, region) if exact else find_clear_cells(step, region)
        if not exact and np.count_nonzero(data.weights > 0) < k:
            data = list_all_cells(step, region)
    rng = np.random.default_rng(0)
    points = region.clip(data.columns.T.astype(np.float64))
    seeds = (draw_kmeans_pp_seeds(points, data.weights, k, rng) for _ in range(_STARTS_ANEW))
    return find_best_of_starts(data, [points[seed] for seed in seeds], region).solution.centers
