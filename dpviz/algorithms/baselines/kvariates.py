"""k-variates++: D² seeding whose centres are drawn from noise around the drawn rows (Nock et al. 2016)."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import exp, expm1, sqrt

import numpy as np

from dpviz.algorithms.card import PURE, Card, Params, Setting, param_field, read_card
from dpviz.algorithms.steps import CentersStep, Step
from dpviz.algorithms.tools.lloyd_round import run_lloyd_rounds
from dpviz.algorithms.tools.solvers import draw_random_points
from dpviz.core import Array, DistanceWeights, KernelDraw, PrivateSession, Relation

# Public points that stand in for the uniform law: enough to be everywhere, few enough to add up their densities.
_PUBLIC_POINTS = 256
# Part of the budget for the draws where means follow, and how many rounds of these there are.
_DRAWS, _ROUNDS_OF_MEANS = 0.5, 3
# More records than anybody has, and an ε_K that would need more than that.
_OUT_OF_REACH, _BEYOND = 1e15, 500.0


@dataclass(frozen=True, eq=False, kw_only=True)
class SeedStep(Step):
    """Seeds so far, shape (m, d); the last one was drawn in this step.

    It lies near a row that was drawn by its squared distance to the seeds before, moved by noise of density exp(-length
    / ``kernel_scale``). ``floored``: it may also lie near a public point instead of a row.
    """

    centers: Array
    kernel_scale: float
    floored: bool


@dataclass(frozen=True)
class KVariatesParams(Params):
    """Parameters of k-variates++."""

    preset: str = param_field("capped", choices=("local", "capped"))
    alpha: float = param_field(0.05, low=0.001, high=10.0)
    means: int | None = param_field(None, low=0, high=7)

    @property
    def rounds(self) -> int:
        """Rounds of means."""
        by_rule = _ROUNDS_OF_MEANS if self.preset == "capped" else 0
        return by_rule if self.means is None else self.means


def kvariates(session: PrivateSession, k: int, params: KVariatesParams, rng: np.random.Generator) -> Iterator[Step]:
    """k seeds, each near a row drawn by its squared distance to the seeds before; then noisy means. O(n k² d).

    **Guarantee.** Add/remove or replace; ε-DP. Bounds are public; n is public or bought and sets the public weight of
    ``capped``. The theorem of the paper rests on how far the rows are spread and is not used: see ``KernelDraw``.

    References
    ----------
    Nock, Canyasse, Boreli & Nielsen 2016. Arthur & Vassilvitskii 2007 (D² seeding).
    """
    region = session.region
    points = draw_random_points(_PUBLIC_POINTS, region, rng)
    floor = params.alpha * session.n if params.preset == "capped" else 0.0
    shares = session.budget.split(draws=_DRAWS if params.rounds else 1.0, means=1 - _DRAWS if params.rounds else 0.0)
    seeds, scales = np.empty((0, region.dim)), np.empty(0)
    for i, share in enumerate(shares.draws.rounds(k), start=1):
        question = DistanceWeights(seeds)
        # The first draw weighs every row 1, the others by squared distances: the floor is in the same unit.
        weight = floor * (region.radius**2 if len(seeds) else 1.0)
        drawn = session.ask(question, KernelDraw, share, note=f"seed {i}", public_points=points, public_weight=weight)
        scale = drawn.mechanism.scale
        # What comes next is weighed by distances to points of the region, which bounds how far any row lies from them.
        seeds, scales = np.concatenate([seeds, region.clip(drawn.value)[None]]), np.append(scales, scale)
        yield SeedStep(title=f"Seed {i} of {k}", centers=seeds, kernel_scale=scale, floored=weight > 0)
    if not params.rounds:
        sd = scales * sqrt(region.dim + 1)
        yield CentersStep(title="The seeds themselves are released", centers=seeds, center_noise_sd=sd)
    budgets, title = shares.means.rounds(params.rounds), "Round {t} of {rounds} of noisy means, from the seeds"
    yield from run_lloyd_rounds(session, seeds, budgets, title=title, note="means {t}", spherical=True)


def _compute_smallest_n(setting: Setting, params: KVariatesParams) -> float:
    """Records at which the noise on a coordinate of a seed is half the spacing of the centres.

    Without a floor it does not depend on n at all; with one, ε_K grows like the logarithm of n.
    """
    k, dim = setting.k, setting.dim
    share = setting.epsilon * (_DRAWS if params.rounds else 1.0) / k
    wanted = 2 * sqrt(dim * (dim + 1)) * k ** (1 / dim)
    if params.preset == "local":
        # A person's rows all hide in one kernel: what the card multiplies by their number is 1.
        return 1.0 if share >= wanted else _OUT_OF_REACH
    if setting.relation is Relation.REPLACE:
        if share >= wanted:
            return 1.0
        share /= 2
    if wanted - share > _BEYOND:
        return _OUT_OF_REACH
    # 1 + α n / 4 = (e^ε_K - 1) / (e^ε - 1), in a form that does not overflow where ε is large.
    ratio = exp(wanted - share) * -expm1(-wanted) / -expm1(-share)
    return max(1.0, 4 * (ratio - 1) / params.alpha)


CARD = Card(
    **read_card("kvariates"),
    params=KVariatesParams,
    plan=kvariates,
    accounting=PURE,
    smallest_n=_compute_smallest_n,
    operations=lambda setting, params: setting.rows * setting.dim * setting.k * (setting.k / 2 + params.rounds + 20),
)
