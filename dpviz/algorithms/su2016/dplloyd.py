"""DPLloyd: Lloyd's iteration on noisy counts and sums (Su et al. 2016, §4.1.1; Blum et al. 2005)."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt

import numpy as np

from dpviz.algorithms.card import Card, Params, Setting, param_field, read_card
from dpviz.algorithms.steps import CentersStep
from dpviz.algorithms.tools import lloyd_round
from dpviz.algorithms.tools.solvers import draw_random_points, pack_spheres
from dpviz.core import Accounting, PrivateSession

_PAPER_ROUNDS = 5
_SPHERES, _EQUAL = "spheres", "equal"


@dataclass(frozen=True)
class DPLloydParams(Params):
    """Parameters of DPLloyd."""

    preset: str = param_field("tuned", choices=("su", "tuned", "gaussian"))
    rounds: int | None = param_field(None, low=1, high=20)
    start: str = param_field(_SPHERES, choices=(_SPHERES, "uniform"))
    shares: str = param_field(_EQUAL, choices=(_EQUAL, "doubling"))

    def weigh_rounds(self, rounds: int) -> list[float]:
        """The parts of the budget that the rounds get, as weights."""
        return [1.0 if self.shares == _EQUAL else 2.0**t for t in range(rounds)]


def dplloyd(session: PrivateSession, k: int, params: DPLloydParams, rng: np.random.Generator) -> Iterator[CentersStep]:
    """Lloyd's iteration on noisy cell counts and sums: the start, then each round, the last the release. O(T n k d).

    **Guarantee.** Add/remove or replace; ε-DP (``su``, ``tuned``) or μ-GDP (``gaussian``). Bounds are public; n is
    public or bought, and only sets the number of rounds and what counts as idle.
    """
    packed = params.start == _SPHERES
    centers = (pack_spheres if packed else draw_random_points)(k, session.region, rng)
    how = "Sphere packing" if packed else "Points at random"
    yield CentersStep(title=f"{how}: no row has been read", centers=centers)
    rounds = params.rounds or plan_rounds(session, k, params.preset)
    # Su et al. give each of the d sums and the count the same noise: shares in proportion to their sensitivities.
    ratio = 1 / session.region.l1_radius if params.preset == "su" else None
    yield from lloyd_round.run_lloyd_rounds(
        session,
        centers,
        session.budget.rounds(rounds, params.weigh_rounds(rounds)),
        title="Round {t} of {rounds}: means of noisy sums over noisy counts",
        note="round {t}",
        ratio=ratio,
        spherical=params.preset == "tuned",
        rng=None if params.preset == "su" else rng,
    )


def plan_rounds(session: PrivateSession, k: int, preset: str) -> int:
    """Rounds that the budget can feed, from public quantities: 5 (``su``), else 2 to 7.

    References
    ----------
    Su et al. 2017 (journal version), rule for the number of rounds.
    """
    if preset == "su":
        return _PAPER_ROUNDS
    if preset == "gaussian":
        return lloyd_round.plan_gaussian_rounds(session, k)
    dim = session.dim
    least = sqrt(500 * k**3 * (dim + (dim * lloyd_round.TYPICAL_OFFSET**2) ** (1 / 3)) ** 3) / session.n
    return int(np.clip(session.ledger.epsilon / session.rows_per_person / least, 2, 7))


def _compute_smallest_n(setting: Setting, params: DPLloydParams) -> float:
    """Records at which the noise of a mean is half the typical distance between centres (Su et al., Eq. 7)."""
    rounds = params.rounds or _PAPER_ROUNDS
    if params.preset == "gaussian":
        return lloyd_round.compute_gaussian_smallest_n(setting, rounds)
    k, dim = setting.k, setting.dim
    spacing = float(k ** (-1 / dim))
    return k * rounds * (dim + 1) * sqrt(2 * dim * (1 + lloyd_round.TYPICAL_OFFSET**2)) / (setting.epsilon * spacing)


CARD = Card(
    **read_card("dplloyd"),
    params=DPLloydParams,
    plan=dplloyd,
    accounting=lambda params, delta: Accounting.GDP if params.preset == "gaussian" else Accounting.PURE,
    smallest_n=_compute_smallest_n,
    operations=lambda setting, params: (params.rounds or _PAPER_ROUNDS) * setting.rows * setting.k * setting.dim,
)
