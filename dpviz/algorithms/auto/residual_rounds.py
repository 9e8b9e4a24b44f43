"""Polishing: rounds of Lloyd on shortened residuals, so that noise is in proportion to clusters, not to the domain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpviz.algorithms.auto.auto_plan import AutoPlan
from dpviz.algorithms.auto.split_swap import noise_kinds, split_and_drop
from dpviz.algorithms.steps import CentersStep
from dpviz.arrays import Array
from dpviz.privacy.accounting import Shares
from dpviz.privacy.mechanisms import Gaussian, Laplace
from dpviz.privacy.partitions import Voronoi
from dpviz.privacy.queries import Count
from dpviz.privacy.released import Question, Released
from dpviz.privacy.room import DataRoom
from dpviz.privacy.sums import Radii, ResidualSum

# A count below this many sds of its noise is raised to it; below so many, the centre stays.
_RAISED, _STAYS, _LEAST_COUNT = 3.0, 2.0, 2.0
# The reach follows this quantile of the residuals, and a few bins more.
_QUANTILE, _MORE_BINS, _FULL_BIN = 0.9, 1.5, 1.5
# The spread of a cluster that may be two is measured farther out.
_WIDER = 2.0


@dataclass(frozen=True, eq=False, kw_only=True)
class PolishStep(CentersStep):
    """Centres after a round on residuals, which were shortened to ``reach`` first, unit coordinates."""

    reach: float


def residual_rounds(
    room: DataRoom, start: Array, reach: float, frame: Array | None, plan: AutoPlan, shares: Shares
) -> Iterator[CentersStep]:
    """``plan.rounds`` noisy steps from ``start`` (k, d) to the means of the clusters, unit coordinates.

    Each round reads the rows once: counts, sums of residuals shortened to ``reach``, and, where the reach adapts, a
    histogram of their lengths that sets the next one. A mean whose noise is as long as itself hardly moves its centre.

    **Guarantee.** The shares of all rounds. A residual has length at most ``reach`` in one cluster; the reach is
    released, or follows from releases, before it is used.
    """
    centers = start
    for t in range(1, plan.rounds + 1):
        if t in plan.swap_before:
            wider = (_WIDER if plan.adaptive else 1.0) * reach
            swap = (shares[f"swap_counts_{t}"], shares[f"swap_spread_{t}"])
            split = split_and_drop(room, centers, wider, frame, *swap, gaussian=plan.gaussian, before=t)
            yield split
            centers = split.centers
        step, lengths = _round(room, centers, reach, plan, shares, t)
        yield step
        centers = step.centers
        if lengths is not None:
            reach *= _shrink(lengths)


def _round(
    room: DataRoom, centers: Array, reach: float, plan: AutoPlan, shares: Shares, t: int
) -> tuple[PolishStep, Released[Array, Laplace | Gaussian] | None]:
    """One round, and the noisy lengths of the residuals if the reach adapts."""
    cells, kinds, note = Voronoi(centers), noise_kinds(plan.gaussian), f"round {t}"
    how_many = Question(Count(cells), kinds.counts, shares[f"counts_{t}"])
    where_to = Question(ResidualSum(cells, centers, reach), kinds.vectors, shares[f"sums_{t}"])
    lengths = None
    if plan.adaptive and t < plan.rounds:
        how_far = Question(Radii(cells, centers, reach), kinds.counts, shares[f"radii_{t}"])
        counts, sums, lengths = room.ask_together(how_many, where_to, how_far, note=note)
    else:
        counts, sums = room.ask_together(how_many, where_to, note=note)
    shrunk = np.maximum(0.0, 1 - room.dim * sums.sd**2 / np.maximum((sums.value**2).sum(axis=1), 1e-300))
    size = np.maximum(counts.value, max(_RAISED * counts.sd, _LEAST_COUNT))
    move = _at_most(shrunk[:, None] * sums.value / size[:, None], reach)
    move[counts.value <= _STAYS * counts.sd] = 0.0
    step = PolishStep(
        title=f"Round {t} of {plan.rounds}: reach {reach / room.region.radius:.2g} of the domain's radius",
        centers=room.region.clip(centers + move),
        noisy_counts=counts.value,
        previous=centers,
        center_noise_sd=sums.sd / size,
        count_noise_sd=counts.sd,
        reach=reach,
    )
    return step, lengths


def _shrink(lengths: Released[Array, Laplace | Gaussian]) -> float:
    """The part of the reach within which most residuals lie, at most 1."""
    filled = np.where(lengths.value > _FULL_BIN * lengths.sd, lengths.value, 0.0).cumsum()
    if filled[-1] <= 0:
        return 1.0
    bin_ = int(np.searchsorted(filled, _QUANTILE * filled[-1]))
    return min(1.0, (bin_ + _MORE_BINS) / len(filled))


def _at_most(vectors: Array, length: float) -> Array:
    """``vectors`` (k, d), those that are longer shortened to ``length``."""
    norm = np.linalg.norm(vectors, axis=1, keepdims=True)
    shortened: Array = vectors * np.minimum(1.0, length / np.maximum(norm, 1e-300))
    return shortened
