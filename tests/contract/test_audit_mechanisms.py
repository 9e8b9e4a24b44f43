"""A lower bound on ε from many draws of each mechanism, between the pairs of answers that tell most: below the claim,
and above it for half the noise.

Runs of whole algorithms share their ε among many releases, some of which tell little on tiny tables; here each sampler
is on its own. Mechanisms without a density are looked at in test_audit_tuples, messages of users in test_local.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from dpviz.privacy.accounting import Accounting, Budget, gdp_epsilon
from dpviz.privacy.kernel_draw import DistanceWeights, KernelDraw
from dpviz.privacy.known import MECHANISMS
from dpviz.privacy.local_model import LocalNoise, LocalReports
from dpviz.privacy.mechanisms import Exponential, Gaussian, KNorm, Laplace, Peeling
from dpviz.privacy.noise import StudyNoise
from dpviz.privacy.quantiles import Columns, ExponentialQuantile, Medians, Quantiles, SmoothMedian
from dpviz.privacy.queries import Relation, SparseCounts
from dpviz.privacy.sparse_mechanisms import NoisyExcess, NoisyThreshold, PathCounts, SparseLaplace
from dpviz.privacy.tuples.center_noise import NoisyCenters
from dpviz.privacy.tuples.tuple_averages import TupleAverages
from dpviz.table.domain import Region
from tests.contract.test_audit import lower_bound
from tests.privacy.asked import asked

EPSILON, DRAWS = 1.5, 4000
# Of a claim that holds there are a hundred bounds: together they hold with 95 %.
SURE = 0.9995
LINE, BOUNDS = Region.ball(1, 1.0), (np.array([-1.0]), np.array([1.0]))
# At these the curve of Gaussian noise is looked at.
DELTAS = (0.03, 0.1)


class Case(NamedTuple):
    """A mechanism for every ε, and pairs of answers of neighbouring tables.

    ``near`` is the part of the claim that the draws have to show, ``thinned`` how many times too much ε has to be
    behind it to be refuted; other than 0.2 and 2 only with a reason beside them.
    """

    bought: Callable[[float], Any]
    pairs: dict[str, tuple[Any, Any]]
    near: float = 0.2
    thinned: float = 2


def _counts(*held: int) -> SparseCounts:
    """Rows in the cells of a universe of four."""
    codes = np.flatnonzero(held)
    return SparseCounts(codes, np.array(held, dtype=float)[codes], 4)


def _weighed(*rows: float) -> Any:
    return asked(DistanceWeights(np.empty((0, 1))), np.array(rows).reshape(-1, 1))


def _column(*values: float) -> Columns:
    return Columns(np.array(values)[:, None], *BOUNDS, (0.5,))


def _kernel(epsilon: float, floor: float) -> KernelDraw:
    sensitivity = DistanceWeights(np.empty((0, 1))).sensitivity(Relation.ADD_REMOVE, LINE)
    options = {"public_points": np.linspace(-1, 1, 9)[:, None], "public_weight": floor}
    return KernelDraw.bought(Budget(Accounting.PURE, epsilon), sensitivity, **options)


def _quantile(epsilon: float) -> ExponentialQuantile:
    sensitivity = Quantiles((0.5,), *BOUNDS).sensitivity(Relation.REPLACE, LINE)
    return ExponentialQuantile.bought(Budget(Accounting.PURE, epsilon), sensitivity)


def _median(epsilon: float) -> SmoothMedian:
    sensitivity = Medians(*BOUNDS).sensitivity(Relation.REPLACE, LINE)
    return SmoothMedian.bought(Budget(Accounting.PURE, epsilon), sensitivity)


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
        thinned=3,  # a fifth of the draws come from the floor, whatever is in the table
    ),
    "exponential quantile": Case(
        _quantile,
        {
            "three values": (_column(-1, 0, 1), _column(-1, 0, -1)),
            "five values": (_column(-1, -1, 0, 1, 1), _column(-1, -1, 0, -1, 1)),
        },
        near=0.1,  # a value that moves changes the ranks on one side only: half of what is paid for
        thinned=4,
    ),
    "smooth median": Case(
        _median,
        MEDIANS,
        near=0.02,  # the noise of the textbook is five times what its loss needs, and Cauchy's tails are long
        thinned=32,
    ),
}


def _ratios(claimed: Any, drawn: Any, one: Any, other: Any, seed: int) -> np.ndarray:
    """Log likelihood ratios, one over other by ``claimed``, of draws of ``drawn`` from ``one``."""
    noise = StudyNoise(np.random.default_rng(seed))
    released = [drawn.draw(one, noise) for _ in range(DRAWS)]
    ratios = [claimed.log_density(r, one) - claimed.log_density(r, other) for r in released]
    # The last bits of a float tell tables apart, whatever the noise: rounding at release is a subject of its own.
    return np.round(ratios, 9)


def _refuted(claimed: Any, drawn: Any, pair: tuple[Any, Any], delta: float = 0.0) -> float:
    """The larger of the bounds from both sides, on which a claim that holds can rely."""
    one, other = _ratios(claimed, drawn, *pair, 1), _ratios(claimed, drawn, *pair[::-1], 2)
    return max(lower_bound(one, -other, delta, confidence=SURE), lower_bound(other, -one, delta, confidence=SURE))


EVERY_PAIR = pytest.mark.parametrize(
    ("name", "pair"), [(name, pair) for name, case in CASES.items() for pair in case.pairs]
)


@pytest.mark.slow
@EVERY_PAIR
def test_draws_do_not_refute_the_claim_but_come_near(name, pair):
    case = CASES[name]
    mechanism = case.bought(EPSILON)
    assert mechanism.cost(Accounting.PURE) == pytest.approx(EPSILON, rel=1e-6)
    assert case.near * EPSILON < _refuted(mechanism, mechanism, case.pairs[pair]) <= EPSILON


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_draws_refute_half_the_noise(name):
    case = CASES[name]
    drawn = case.bought(case.thinned * EPSILON)
    assert any(_refuted(case.bought(EPSILON), drawn, pair) > EPSILON for pair in case.pairs.values())


@pytest.mark.slow
@pytest.mark.parametrize("pair", [(np.zeros(1), np.ones(1)), (np.zeros(2), np.array([0.6, 0.8]))], ids=["one", "two"])
def test_the_curve_of_gaussian_noise(pair):
    for delta in DELTAS:
        assert _refuted(Gaussian(1.0, 1.0), Gaussian(1.0, 1.0), pair, delta) <= gdp_epsilon(1.0, delta)
        assert _refuted(Gaussian(1.0, 1.0), Gaussian(1.0, 0.5), pair, delta) > gdp_epsilon(1.0, delta)


def test_every_mechanism_is_audited_here_or_elsewhere():
    here = {type(case.bought(1.0)) for case in CASES.values()} | {Gaussian}
    assert here | {LocalNoise, LocalReports, NoisyCenters, TupleAverages} == set(MECHANISMS)
