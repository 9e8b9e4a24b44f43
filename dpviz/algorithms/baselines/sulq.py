"""SuLQ k-means: Lloyd's iteration from random starts with Gaussian noise (Blum, Dwork, McSherry & Nissim 2005)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpviz.algorithms.card import Card, Guarantee, Params, always, param_field, released_always
from dpviz.algorithms.steps import CentersStep
from dpviz.algorithms.tools.lloyd_round import compute_gaussian_smallest_n, plan_gaussian_rounds, run_lloyd_round
from dpviz.algorithms.tools.public_points import draw_random_points
from dpviz.core import Accounting, PrivateSession, partitions

_PAPER_ROUNDS, _USUAL_ROUNDS = 20, 5


@dataclass(frozen=True)
class SuLQParams(Params):
    """Parameters of SuLQ k-means."""

    preset: str = param_field(
        "tuned",
        help="paper: twenty rounds, as Balcan et al. ran it. tuned: two to seven rounds, as many as the budget feeds.",
        choices=("paper", "tuned"),
    )
    rounds: int | None = param_field(None, help="Rounds of Lloyd; empty: by the preset's rule.", low=1, high=40)


def sulq(session: PrivateSession, k: int, params: SuLQParams, rng: np.random.Generator) -> Iterator[CentersStep]:
    """Noisy counts and sums of every cluster, round after round, from k random points. O(T n k d).

    **Guarantee.** Add/remove or replace; μ-GDP for (ε, δ) with δ > 0. Bounds are public; n is public or bought, and
    only sets the number of rounds of ``tuned``.
    """
    centers = draw_random_points(k, session.region, rng)
    yield CentersStep(title="Random starts: no row has been read", centers=centers)
    by_rule = _PAPER_ROUNDS if params.preset == "paper" else plan_gaussian_rounds(session, k)
    rounds = params.rounds or by_rule
    for t, budget in enumerate(session.budget.rounds(rounds), start=1):
        title = f"Round {t} of {rounds}: means of noisy sums over noisy counts"
        step = run_lloyd_round(
            session, partitions.Voronoi(centers), budget, centers, title=title, note=f"round {t}", ahead=rounds - t
        )
        centers = step.centers
        yield step


def _count_rounds(params: SuLQParams) -> int:
    return params.rounds or (_PAPER_ROUNDS if params.preset == "paper" else _USUAL_ROUNDS)


CARD = Card(
    id="sulq",
    title="SuLQ k-means",
    does="Rounds",
    family="Baselines",
    paper="Blum, Dwork, McSherry & Nissim: Practical Privacy: The SuLQ Framework. PODS 2005; a baseline of Balcan "
    "et al. 2017",
    summary="The first private k-means: Lloyd's iteration from random starts, Gaussian noise on counts and sums.",
    story=(
        "Any program that only asks for noisy sums over the rows is private, and Lloyd's iteration is such a program. "
        "It starts from k random points; each round asks for the size and the coordinate sum of every cluster, adds "
        "Gaussian noise to both, and moves each centre to their quotient. "
        "Twenty rounds divide the budget by twenty, and the noise of each grows with the square root of that. "
        "A random start that falls where no row is counts nothing but noise, and stays where it is. "
        "Most private algorithms since then mend one of these two: fewer rounds, or a better start."
    ),
    when="As a baseline: DPLloyd does the same from a better start and revives idle centres.",
    guarantees=(Guarantee.APPROX,),
    params=SuLQParams,
    plan=sulq,
    accounting=always(Accounting.GDP),
    smallest_n=lambda setting, params: compute_gaussian_smallest_n(setting, _count_rounds(params)),
    hopeless="the noise of a mean exceeds half the spacing of the centres",
    operations=lambda setting, params: _count_rounds(params) * setting.rows * setting.k * setting.dim,
    sample="people",
    formula=r"c_j=\frac{\sum_{i\in C_j}x_i+\mathcal N(0,\sigma_s^2 I)}{|C_j|+\mathcal N(0,\sigma_c^2)},\quad "
    r"\mu^2=\sum_{t=1}^{T}\left(\frac{\Delta_s^2}{\sigma_s^2}+\frac{\Delta_c^2}{\sigma_c^2}\right)",
    release=released_always,
)
