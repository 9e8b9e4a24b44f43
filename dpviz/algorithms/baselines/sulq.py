"""SuLQ k-means: Lloyd's iteration from random starts with Gaussian noise (Blum, Dwork, McSherry & Nissim 2005)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpviz.algorithms.card import Card, Params, always, param_field, read_card
from dpviz.algorithms.steps import CentersStep
from dpviz.algorithms.tools.lloyd_round import compute_gaussian_smallest_n, plan_gaussian_rounds, run_lloyd_rounds
from dpviz.algorithms.tools.solvers import draw_random_points
from dpviz.core import Accounting, PrivateSession

_PAPER_ROUNDS, _USUAL_ROUNDS = 20, 5


@dataclass(frozen=True)
class SuLQParams(Params):
    """Parameters of SuLQ k-means."""

    preset: str = param_field("tuned", choices=("paper", "tuned"))
    rounds: int | None = param_field(None, low=1, high=40)


def sulq(session: PrivateSession, k: int, params: SuLQParams, rng: np.random.Generator) -> Iterator[CentersStep]:
    """Noisy counts and sums of every cluster, round after round, from k random points. O(T n k d).

    **Guarantee.** Add/remove or replace; μ-GDP for (ε, δ) with δ > 0. Bounds are public; n is public or bought, and
    only sets the number of rounds of ``tuned``.
    """
    centers = draw_random_points(k, session.region, rng)
    yield CentersStep(title="Random starts: no row has been read", centers=centers)
    by_rule = _PAPER_ROUNDS if params.preset == "paper" else plan_gaussian_rounds(session, k)
    budgets = session.budget.rounds(params.rounds or by_rule)
    title = "Round {t} of {rounds}: means of noisy sums over noisy counts"
    yield from run_lloyd_rounds(session, centers, budgets, title=title, note="round {t}")


def _count_rounds(params: SuLQParams) -> int:
    return params.rounds or (_PAPER_ROUNDS if params.preset == "paper" else _USUAL_ROUNDS)


CARD = Card(
    **read_card("sulq"),
    params=SuLQParams,
    plan=sulq,
    accounting=always(Accounting.GDP),
    smallest_n=lambda setting, params: compute_gaussian_smallest_n(setting, _count_rounds(params)),
    operations=lambda setting, params: _count_rounds(params) * setting.rows * setting.k * setting.dim,
)
