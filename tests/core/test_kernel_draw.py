"""A drawn row under noise: its law, its exact density, and that no neighbouring table gains more than was paid."""

import dataclasses
from math import log

import numpy as np
import pytest
from scipy import integrate, stats

from dpviz.core.accounting import Accounting, Budget
from dpviz.core.check import RequestError
from dpviz.core.domain import Region
from dpviz.core.kernel_draw import DistanceWeights, KernelDraw, WeightedRows
from dpviz.core.noise import StudyNoise
from dpviz.core.queries import Relation, Sensitivity
from tests.cases import about
from tests.contract.questions import check_move, move, regions, room_over
from tests.core.asked import asked

PURE = Accounting.PURE
ADD_REMOVE, REPLACE = Relation.ADD_REMOVE, Relation.REPLACE
LINE = Region.ball(1, 1.0)
ENDS = np.array([[-1.0], [1.0]])


def weighed(rows: np.ndarray, *centers: float) -> WeightedRows:
    """Rows on a line with their squared distances to centres."""
    rows = np.asarray(rows, dtype=float).reshape(-1, 1)
    return asked(DistanceWeights(np.array(centers).reshape(-1, 1)), rows)


def calibrated(
    epsilon: float, relation: Relation = ADD_REMOVE, *, floor: float = 0.0, people: int = 1, centers: int = 1
) -> KernelDraw:
    """A draw on the line, for weights of distances to one of its ends, which are the largest."""
    declared = DistanceWeights(np.full((centers, 1), -1.0)).sensitivity(relation, LINE).times(people)
    options = {"public_points": np.linspace(-1, 1, 9)[:, None], "public_weight": floor}
    return KernelDraw.calibrated(Budget(PURE, epsilon), declared, **options)


def worst(draw: KernelDraw, one: WeightedRows, other: WeightedRows) -> float:
    """Largest |log density ratio| over points of the line and far beyond."""
    points = np.r_[np.linspace(-1, 1, 9), -30.0, 30.0][:, None]
    return max(abs(draw.log_density(c, one) - draw.log_density(c, other)) for c in points)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "floor"), [([0.3], 0.0), ([], 2.0), ([-0.9, 0.2, 0.2, 0.8], 2.0)], ids=["1-0.0", "0-2.0", "4-2.0"]
)
def test_the_density_is_that_of_the_sampler(rows, floor):
    draw, truth = calibrated(6.0, floor=floor), weighed(rows, -0.5)
    normaliser = 2 * draw.scale  # of exp(-|z| / b) on a line

    def density(c: float) -> float:
        return float(np.exp(draw.log_density(np.array([c]), truth))) / normaliser

    grid = np.linspace(-10, 10, 2_001)
    values = np.array([density(c) for c in grid])
    assert integrate.simpson(values, x=grid) == pytest.approx(1, abs=1e-3)
    cumulative = integrate.cumulative_simpson(values, x=grid, initial=0)
    noise = StudyNoise(np.random.default_rng(0))
    drawn = np.array([draw.draw(truth, noise)[0] for _ in range(3000)])
    assert stats.kstest(drawn, lambda c: np.interp(c, grid, cumulative)).pvalue > 1e-3
    # Where rows and public points are spread themselves, it takes too many draws to tell scales apart.
    for wrong in (0.8, 1.25) if len(rows) < 2 and not floor else ():
        other = dataclasses.replace(draw, scale=draw.scale * wrong)
        noise = StudyNoise(np.random.default_rng(1))
        drawn = np.array([other.draw(truth, noise)[0] for _ in range(3000)])
        assert stats.kstest(drawn, lambda c: np.interp(c, grid, cumulative)).pvalue < 1e-4


@pytest.mark.parametrize("dim", [2])
def test_rows_are_drawn_by_weight_wherever_they_stand(dim):
    rng = np.random.default_rng(2)
    rows = rng.integers(-1, 2, (40, dim)) / 2  # many share coordinates, and some are the same
    truth = asked(DistanceWeights(np.full((1, dim), 0.5)), rows)
    rows = truth.rows[0]
    declared = DistanceWeights(np.zeros((1, dim))).sensitivity(ADD_REMOVE, Region.ball(dim, 1.0))
    draw = KernelDraw.calibrated(Budget(PURE, 1e6), declared, public_points=np.zeros((1, dim)), public_weight=0.0)
    parts = WeightedRows(tuple(np.split(rows[::-1], [7, 9])), tuple(np.split(truth.weights[0][::-1], [7, 9])))
    picked = []
    for seed in range(500):
        one, other = (draw.draw(where, StudyNoise(np.random.default_rng(seed))) for where in (truth, parts))
        np.testing.assert_allclose(one, other, atol=1e-12)
        picked.append(tuple(np.round(one * 2).astype(int)))
    places, index = np.unique(rows * 2, axis=0, return_inverse=True)
    law = np.bincount(index.ravel(), truth.weights[0])
    counts = np.array([picked.count(tuple(place.astype(int))) for place in places])
    assert counts[law == 0].sum() == 0
    kept = law > 0
    assert stats.chisquare(counts[kept], law[kept] / law.sum() * 500).pvalue > 1e-3


def test_the_share_is_spent_and_not_a_bit_more():
    declared = [(relation, floor, 1) for relation in Relation for floor in (0.0, 0.4, 40.0)]
    for relation, floor, people in (*declared, (ADD_REMOVE, 40.0, 5)):
        for epsilon in (1e-4, 0.1, 1.0, 5.0, 60.0, 1e4):
            with about(relation.value, f"floor {floor}, {people} rows a person, ε = {epsilon}"):
                check_share(epsilon, relation, floor, people)


def check_share(epsilon, relation, floor, people):
    draw = calibrated(epsilon, relation, floor=floor, people=people)
    assert (1 - 1e-6) * epsilon <= draw.cost(PURE) <= epsilon
    assert draw.cost(PURE) == pytest.approx(draw.sensitivity / draw.scale)
    of_kernel = draw.change.apart / draw.scale
    if epsilon < 20 and relation is ADD_REMOVE:
        weight = people * 4.0  # m rows of the squared diameter
        part = weight / (weight + floor)
        assert log(1 + part * (np.exp(of_kernel) - 1)) == pytest.approx(epsilon, rel=1e-6)
    assert of_kernel >= epsilon * (1 - 1e-6)
    if floor and relation is ADD_REMOVE:
        assert of_kernel > epsilon * (1 + 1e-6)


@pytest.mark.some(3)
@pytest.mark.parametrize(
    ("relation", "epsilon", "floor"),
    [(ADD_REMOVE, 0.5, 0.0), (ADD_REMOVE, 3.0, 0.4), (ADD_REMOVE, 0.5, 8.0), (REPLACE, 1.0, 0.0), (REPLACE, 1.0, 0.4)],
)
def test_no_row_more_or_less_or_exchanged_shows_by_more_than_was_paid(relation, epsilon, floor):
    draw, rng, reached = calibrated(epsilon, relation, floor=floor), np.random.default_rng(3), 0.0
    for base in ([], [-1.0], [1.0], [-1.0] * 30, rng.uniform(-1, 1, 5)):
        for new in (-1.0, 1.0, 0.0, rng.uniform(-1, 1)):
            for centers in ((-1.0,), (1.0, -1.0), (0.1,)):
                other = [*base, -1.0] if relation is REPLACE else base
                reached = max(reached, worst(draw, weighed(other, *centers), weighed([*base, new], *centers)))
    # Without a floor two rows at the ends lose all of it; with one, the public points are nowhere else than rows.
    assert (0.1 if floor else 0.99) * epsilon <= reached <= epsilon


def test_a_person_with_many_rows():
    draw = calibrated(1.0, floor=8.0, people=4)
    assert worst(draw, weighed([-1.0], -1.0), weighed([-1.0] + [1.0] * 4, -1.0)) <= 1.0
    short = calibrated(1.0, floor=8.0)
    everywhere = dataclasses.replace(short, points=np.array([[-1.0]]))
    assert worst(everywhere, weighed([], -1.0), weighed([1.0] * 4, -1.0)) > 1.0


@pytest.mark.parametrize("where", sorted(regions(2)))
def test_weights_are_squared_distances_and_attain_what_is_declared(where):
    domain = regions(2)[where]
    far = domain.region.clip(np.array([9.0, 0.0])) if "ball" in where else domain.region.half
    rows = domain.from_unit(np.stack([far, far / 3]))
    one, other = room_over(rows, domain, ADD_REMOVE), room_over(rows[1:], domain, ADD_REMOVE)
    for part in (1.0, 0.5, 0.0):  # the centre in the other corner, or nearer to the middle
        query = DistanceWeights(np.stack([-far, -part * far]))
        check_move(query, one, other)
        weight = ((1 + part) * np.linalg.norm(far)) ** 2
        assert move(query, one, other).l1 == pytest.approx(weight, rel=1e-4)
        if where in ("ball", "box"):
            assert one.sensitivity(query).l1 == pytest.approx(weight, rel=1e-4)


def test_a_draw_without_rows_lies_where_public_points_do():
    draw = dataclasses.replace(calibrated(1e6, floor=1.0), scale=1e-9)
    nobody = asked(DistanceWeights(np.full((1, 1), -0.5)), np.empty((0, 1)))
    drawn = {round(float(draw.draw(nobody, StudyNoise(np.random.default_rng(seed)))[0]), 3) for seed in range(99)}
    assert drawn == {*np.linspace(-1, 1, 9).tolist()}


def test_other_questions_are_refused():
    with pytest.raises(RequestError, match="DistanceWeights"):
        KernelDraw.calibrated(Budget(PURE, 1.0), Sensitivity(1.0, 1.0), public_points=ENDS, public_weight=0.0)


def test_weights_of_an_exchange():
    # Under replace one row's weight goes and another's comes: declared as such, or the draw would be sold too cheap.
    query = DistanceWeights(np.full((1, 1), 0.5))
    one, two = (query.sensitivity(relation, LINE) for relation in (ADD_REMOVE, REPLACE))
    assert (one.exchanged, two.exchanged) == (False, True) and (one.l1, two.l1) == pytest.approx((2.25, 4.5))
