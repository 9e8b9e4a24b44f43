"""Hybrid: EUGkM on half the budget and a step of DPLloyd on the rest, if a rule says so (Su et al. 2016, §6.3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpviz.algorithms.card import MOST_IN_A_GRID, Card, Guarantee, always, param_field, read_texts, released_always
from dpviz.algorithms.steps import Step
from dpviz.algorithms.su2016.eugkm import (
    GridParams,
    compute_epsilon_per_row,
    compute_smallest_n,
    count_operations,
    run_grid_kmeans,
)
from dpviz.algorithms.tools.lloyd_round import TYPICAL_OFFSET, run_lloyd_round
from dpviz.core import Accounting, Array, PrivateSession, partitions
from dpviz.words import round_percent


@dataclass(frozen=True)
class HybridParams(GridParams):
    """Parameters of Hybrid: those of EUGkM, and how the budget is divided where both branches are used."""

    split: float = param_field(0.5, low=0.05, high=0.95)
    steps: int = param_field(1, low=1, high=10)


def hybrid(session: PrivateSession, k: int, params: HybridParams, rng: np.random.Generator) -> Iterator[Step]:
    """EUGkM, then noisy Lloyd steps from its centres if ε is above ``compute_threshold_epsilon``; else EUGkM alone.

    **Guarantee.** Add/remove or replace; ε-DP. Bounds are public; n is public or bought, and sets the branch and the
    grid size.
    """
    epsilon = compute_epsilon_per_row(session, session.budget)
    least = compute_threshold_epsilon(session.n, k, session.region.half, params)
    rounded = f"{float(f'{least:.2g}'):,g}"
    if epsilon < least:
        why = f"ε = {epsilon:.3g} is below {rounded}: the grid alone, as EUGkM. "
        yield from run_grid_kmeans(session, k, session.budget, params, rng, why=why)
        return
    shares = session.budget.split(grid=params.split, lloyd=1 - params.split)
    bought = round_percent(params.split)
    why = f"ε = {epsilon:.3g} is at least {rounded}: a grid, then Lloyd. {bought} of ε buys the grid. "
    centers = yield from run_grid_kmeans(session, k, shares.grid, params, rng, why=why)
    for t, budget in enumerate(shares.lloyd.rounds(params.steps), start=1):
        step = run_lloyd_round(
            session,
            partitions.Voronoi(centers),
            budget,
            centers,
            title=f"Step {t} of {params.steps} of Lloyd on the rows, from the centres of the grid",
            note=f"Lloyd step {t}",
            ratio=1 / session.region.l1_radius if params.preset == "su" else None,
            spherical=params.preset == "tuned",
        )
        centers = step.centers
        yield step


def compute_threshold_epsilon(n: int, k: int, half: Array, params: HybridParams) -> float:
    """The ε from which the noise of the Lloyd steps is less than the grid's (Eqs. 11-15), by public quantities.

    ``half`` (d,), half-widths of the box, unit coordinates.
    """
    # With a box of half-widths r, an even split and one step this is (X/Y)^((2+d)/(2d)) as printed, with ρ = .225 (2ρ
    # is TYPICAL_OFFSET), which the paper does not state. Eq. 14, more than one round of DPLloyd to compare with, always
    # holds.
    dim, squares = len(half), float((half**2).sum())
    rounds = k * params.steps * (float(half.sum()) + 1) / ((1 - params.split) * n)
    lloyd = 2 * (dim + TYPICAL_OFFSET**2 * squares) * rounds**2
    grid = 2 * squares * k ** ((dim - 2) / dim) / 3 / params.theta ** (2 * dim / (2 + dim)) / n ** (4 / (2 + dim))
    return float((lloyd / grid) ** ((2 + dim) / (2 * dim)))


CARD = Card(
    **read_texts("hybrid"),
    guarantees=(Guarantee.PURE,),
    params=HybridParams,
    plan=hybrid,
    accounting=always(Accounting.PURE),
    smallest_n=compute_smallest_n,
    most_coded=MOST_IN_A_GRID,
    operations=count_operations,
    release=released_always,
)
