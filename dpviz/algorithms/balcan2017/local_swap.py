"""Local swap: centres are exchanged against candidates, one private choice at a time (Balcan et al. 2017, Alg. 3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, log

import numpy as np

from dpviz.algorithms.balcan2017.candidate_centers import Candidates
from dpviz.algorithms.balcan2017.projection import Projection
from dpviz.algorithms.steps import Step
from dpviz.algorithms.tools.kmeans_pp import draw_kmeans_pp_seeds
from dpviz.core import Array, Budget, Codes, Region, losses, mechanisms, partitions

# Swaps that are asked for even where none is likely to stand out, and at most.
_LEAST, _MOST = 3, 20
_FILLING = 1e-9


@dataclass(frozen=True, eq=False, kw_only=True)
class SwapStep(Step):
    """One private swap: centre ``removed`` gave way to candidate ``added``; ``centers`` (k, p) after it.

    Where the choice was to stay, ``added`` is the candidate that centre ``removed`` already is.
    """

    candidates: Array
    centers: Array
    previous: Array
    removed: int
    added: int
    region: Region
    frame: Array | None = None


def local_swap(
    view: Projection,
    candidates: Array,
    start: Codes,
    budget: Budget,
    swaps: int,
    *,
    keep: float,
    choose_iterate: bool,
    order: int = 2,
) -> Iterator[SwapStep]:
    """``swaps`` private choices of a centre to remove and a candidate to put in its place. O(T n |C| p).

    Each choice is made by the exponential mechanism over all k·|C| swaps at once. The public prior ``keep`` lies on
    staying as one is: where no gain stands out of the noise, a random swap would only undo a good start.

    **Guarantee.** ``budget``, in equal shares for all choices.

    ``candidates`` (m, p); ``start`` (k,), indices of the first centres; m is above k.

    References
    ----------
    Balcan et al. 2017, Alg. 3. Its range 8Λ² is right for replace and any centres; that of the centres at hand is less.
    """
    held, iterates = start, [start]
    shares = budget.rounds(swaps + choose_iterate)
    for t, share in enumerate(shares[:swaps], start=1):
        question = losses.SwapLoss(candidates[held], candidates, order)
        prior = compute_log_prior(held, len(candidates), keep)
        chosen = view.session.ask(question, mechanisms.Exponential, share, note=f"swap {t}", log_prior=prior).value
        removed, added = divmod(chosen, len(candidates))
        swapped = np.where(np.arange(len(held)) == removed, added, held)
        stays = held[removed] == added
        yield _make_step(
            f"Swap {t} of {swaps}: "
            + ("no gain stands out of the noise, the centres stay" if stays else f"centre {removed + 1} gives way"),
            view,
            candidates,
            held,
            swapped,
            removed,
        )
        held = swapped
        iterates.append(held)
    if choose_iterate:
        of_iterates = losses.Loss(candidates[np.stack(iterates)], order)
        t = view.session.ask(of_iterates, mechanisms.Exponential, shares[-1], note="choice among iterates").value
        yield _make_step(f"Of all iterates, the one after swap {t} is taken", view, candidates, held, iterates[t], 0)


def count_useful_swaps(view: Projection, k: int, n_candidates: int, budget: Budget, *, order: int = 2) -> int:
    """How many swaps can each stand out of the noise, from public and released quantities: 3 to 20, at most k.

    A cluster of n/k rows without a centre loses about their number times the spacing of k centres, to the power of the
    loss. Among m swaps the exponential mechanism finds a gain of its scale times ln m and a few more: of that of
    centres which may lie anywhere, since those to come are not known.
    """
    session = view.session
    at_stake = session.n / k * (session.region.radius * k ** (-1 / session.dim)) ** order
    rim = np.eye(1, session.dim) * session.region.radius
    question = losses.SwapLoss(rim, rim, order)
    for swaps in range(min(k, _MOST), _LEAST, -1):
        scale = session.mechanism(question, mechanisms.Exponential, budget.fraction(1 / swaps)).scale
        if scale * (log(k * n_candidates) + 5) <= at_stake:
            return swaps
    return min(k, _LEAST)


def compute_log_prior(held: Codes, n_candidates: int, keep: float) -> Array:
    """Public prior of every swap, shape (k, n_candidates): C∖Z alike, ``keep`` on exchanging a centre for itself.

    ``held`` (k,), indices of the candidates that are centres now.
    """
    k = len(held)
    prior = np.full((k, n_candidates), log((1 - keep) / (k * (n_candidates - k))))
    prior[:, held] = -inf
    prior[np.arange(k), held] = log(keep / k) if keep > 0 else -inf
    return prior


def start_on_cubes(candidates: Candidates, k: int, rng: np.random.Generator) -> Codes:
    """Indices of k candidates that serve the finest cubes well: free, for these are released already.

    Greedy k-means++ and then the local search itself, over cubes instead of rows; a cube weighs 2^depth, since a
    threshold that is met in half the space is met by a denser cluster.

    Returns (k,), distinct.
    """
    points, cubes = candidates.points, candidates.points[candidates.finest]
    weights = np.where(candidates.finest, np.exp2(candidates.depths), 0.0)
    # Other candidates weigh next to nothing, but enough to fill up where there are fewer finest cubes than clusters.
    held = draw_kmeans_pp_seeds(points, np.maximum(weights, _FILLING), k, rng)
    for _ in range(2 * k):
        centers = points[held]
        gains = losses.compute_swap_gains(
            cubes, weights[candidates.finest], partitions.Voronoi(centers).assign(cubes), centers, points
        )
        gains[:, held] = 0
        best = int(gains.argmin())
        if gains.flat[best] >= -1e-9 * weights.sum():
            break
        held[best // len(points)] = best % len(points)
    return held


def _make_step(title: str, view: Projection, candidates: Array, before: Codes, after: Codes, removed: int) -> SwapStep:
    return SwapStep(
        title=title,
        candidates=candidates,
        centers=candidates[after],
        previous=candidates[before],
        removed=removed,
        added=int(after[removed]),
        region=view.session.region,
        frame=view.frame,
    )
