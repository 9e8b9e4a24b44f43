"""Draws of each mechanism, between the pairs of answers that tell most.

Runs of whole algorithms share their ε among many releases, some of which tell little on tiny tables; here each sampler
is on its own. The statistic is the log likelihood ratio, which by Neyman and Pearson tells two answers apart best; only
its frequencies enter the bound, so a wrong sampler shows even where densities are right.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from benchmarks.auditing.bounds import Audit, lower_bound
from dpviz.core.accounting import Accounting, Budget, gdp_epsilon
from dpviz.core.domain import Region
from dpviz.core.kernel_draw import DistanceWeights, KernelDraw
from dpviz.core.mechanisms import (
    Exponential,
    Gaussian,
    KNorm,
    Laplace,
    NoisyExcess,
    NoisyThreshold,
    PathCounts,
    Peeling,
    SparseLaplace,
)
from dpviz.core.noise import StudyNoise
from dpviz.core.quantiles import ClippedColumns, ExponentialQuantile, Medians, Quantiles, SmoothMedian
from dpviz.core.queries import Relation, SparseCounts
from tests.core.asked import asked

EPSILON = 1.5
# Of a claim that holds there are a hundred bounds: together they hold with 95 %.
SURE = 0.9995
LINE, BOUNDS = Region.ball(1, 1.0), (np.array([-1.0]), np.array([1.0]))
# At these the curve of Gaussian noise is looked at.
DELTAS = (0.03, 0.1)
Pair = tuple[Any, Any]


class Case(NamedTuple):
    """A mechanism for every ε, and pairs of answers of neighbouring tables.

    ``thinned`` is how many times too much ε has to be behind it to be refuted: 2, or there is a reason beside it.
    """

    calibrated: Callable[[float], Any]
    pairs: dict[str, Pair]
    thinned: float = 2

    def audit(self) -> Audit:
        """Of the mechanism, and of a twin that is bought with more ε."""
        honest, twins = (
            [Drawn(self.calibrated(EPSILON), self.calibrated(times * EPSILON), pair) for pair in self.pairs.values()]
            for times in (1, self.thinned)
        )
        return Audit(
            lambda draws: max(drawn.refuted(draws) for drawn in honest) - EPSILON,
            # One pair that shows it is enough.
            lambda draws: (
                next((bound for twin in twins if (bound := twin.refuted(draws)) > EPSILON), EPSILON) - EPSILON
            ),
        )


class Drawn:
    """What draws of a mechanism have told so far on either of two answers, by the densities of what it claims to be."""

    def __init__(self, claimed: Any, drawn: Any, pair: Pair) -> None:
        self.claimed, self.drawn, self.pair = claimed, drawn, pair
        self.noises = [StudyNoise(np.random.default_rng(seed)) for seed in (1, 2)]
        self.told: tuple[list[float], list[float]] = ([], [])

    def refuted(self, draws: int, delta: float = 0.0) -> float:
        """The larger of the bounds from both sides, on which a claim that holds can rely."""
        for side, told in enumerate(self.told):
            one, other = self.pair if side == 0 else self.pair[::-1]
            while len(told) < draws:
                released = self.drawn.draw(one, self.noises[side])
                told.append(self.claimed.log_density(released, one) - self.claimed.log_density(released, other))
        # The last bits of a float tell tables apart, whatever the noise: rounding at release is a subject of its own.
        one, other = (np.round(told[:draws], 9) for told in self.told)
        return max(lower_bound(one, -other, delta, confidence=SURE), lower_bound(other, -one, delta, confidence=SURE))


def gaussian_audit() -> Audit:
    """Of the curve of Gaussian noise, and of a twin with half of it."""
    pairs = ((np.zeros(1), np.ones(1)), (np.zeros(2), np.array([0.6, 0.8])))
    honest, twins = ([Drawn(Gaussian(1.0, 1.0), Gaussian(1.0, sd), pair) for pair in pairs] for sd in (1.0, 0.5))

    def excess(of: list[Drawn], draws: int) -> float:
        return max(drawn.refuted(draws, delta) - gdp_epsilon(1.0, delta) for drawn in of for delta in DELTAS)

    return Audit(lambda draws: excess(honest, draws), lambda draws: excess(twins, draws))


def _counts(*held: int) -> SparseCounts:
    """Rows in the cells of a universe of four."""
    codes = np.flatnonzero(held)
    return SparseCounts(codes, np.array(held, dtype=float)[codes], 4)


def _weighed(*rows: float) -> Any:
    return asked(DistanceWeights(np.empty((0, 1))), np.array(rows).reshape(-1, 1))


def _column(*values: float) -> ClippedColumns:
    return ClippedColumns(np.array(values)[:, None], *BOUNDS, (0.5,))


def _kernel(epsilon: float, floor: float) -> KernelDraw:
    sensitivity = DistanceWeights(np.empty((0, 1))).sensitivity(Relation.ADD_REMOVE, LINE)
    options: dict[str, Any] = {"public_points": np.linspace(-1, 1, 9)[:, None], "public_weight": floor}
    return KernelDraw.calibrated(Budget(Accounting.PURE, epsilon), sensitivity, **options)


def _quantile(epsilon: float) -> ExponentialQuantile:
    sensitivity = Quantiles(*BOUNDS, (0.5,)).sensitivity(Relation.REPLACE, LINE)
    return ExponentialQuantile.calibrated(Budget(Accounting.PURE, epsilon), sensitivity)


def _median(epsilon: float) -> SmoothMedian:
    sensitivity = Medians(*BOUNDS).sensitivity(Relation.REPLACE, LINE)
    return SmoothMedian.calibrated(Budget(Accounting.PURE, epsilon), sensitivity)


ONE_CELL = (_counts(1, 0, 0, 0), _counts(0, 0, 0, 0))
ONE_OF_TWO = (_counts(1, 0, 2, 0), _counts(0, 0, 2, 0))
CHOICES = {
    "one of two": (np.array([0.0, 0.0]), np.array([0.0, 1.0])),
    "one of three": (np.array([0.0, 0.5, 0.0]), np.array([0.5, 0.0, 0.5])),
}
MEDIANS = {
    "the only value": (_column(-1), _column(1)),
    "the middle goes": (_column(-1, 0, 1), _column(-1, 1, 1)),
}
CASES = {
    "laplace": Case(
        lambda e: Laplace(1.0, 1 / e),
        {
            "one count": (np.zeros(1), np.ones(1)),
            "two numbers": (np.zeros(2), np.array([0.6, -0.4])),
        },
    ),
    "k-norm": Case(
        lambda e: KNorm(1.0, 1 / e),
        {
            "one vector": (np.zeros((1, 2)), np.array([[0.6, 0.8]])),
            "two vectors": (np.zeros((2, 2)), np.array([[0.5, 0.0], [0.0, -0.5]])),
        },
    ),
    "exponential": Case(lambda e: Exponential(1.0, 1 / e), CHOICES),
    "noisy threshold": Case(
        lambda e: NoisyThreshold(Laplace(1.0, 1 / e), 1.0), {"a lone row": ONE_CELL, "beside others": ONE_OF_TWO}
    ),
    "sparse laplace": Case(
        lambda e: SparseLaplace(Laplace(1.0, 1 / e), 0.5), {"a lone row": ONE_CELL, "beside others": ONE_OF_TWO}
    ),
    "excess": Case(
        lambda e: NoisyExcess(Laplace(1.0, 1 / e), 1.0),
        {"a row above": (_counts(2, 0, 0, 0), _counts(1, 0, 0, 0)), "one of three": (_counts(1, 3), _counts(1, 2))},
    ),
    "path counts": Case(
        lambda e: PathCounts(Laplace(1.0, 2 / e), 2, 0.5), {"a lone row": ONE_CELL, "beside others": ONE_OF_TWO}
    ),
    "peeling": Case(
        lambda e: Peeling(Exponential(1.0, 2 / e), 2),
        {
            "two of four": (np.zeros(4), np.array([0.0, 1.0, 0.0, 1.0])),
            "two of three": (np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 1.0])),
        },
    ),
    "kernel draw, no floor": Case(
        lambda e: _kernel(e, 0.0),
        {"the only row": (_weighed(1.0), _weighed()), "one of two": (_weighed(-1.0, 1.0), _weighed(-1.0))},
    ),
    "kernel draw, a floor": Case(
        lambda e: _kernel(e, 0.2),
        {"the only row": (_weighed(1.0), _weighed()), "one of two": (_weighed(-1.0, 1.0), _weighed(-1.0))},
        thinned=4,  # a fifth of the draws come from the floor, whatever is in the table
    ),
    "exponential quantile": Case(
        _quantile,
        {
            "three values": (_column(-1, 0, 1), _column(-1, 0, -1)),
            "five values": (_column(-1, -1, 0, 1, 1), _column(-1, -1, 0, -1, 1)),
        },
        thinned=4,  # a value that moves changes the ranks on one side only: half of what is paid for
    ),
    "smooth median": Case(
        _median,
        MEDIANS,
        thinned=32,  # the noise of the textbook is five times what its loss needs, and Cauchy's tails are long
    ),
}
