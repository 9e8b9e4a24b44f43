"""No neighbouring table moves an answer beyond its declared sensitivity, and some pair moves it that far."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz.core.domain import Domain, Region
from dpviz.core.kernel_draw import DistanceWeights
from dpviz.core.local_model import EachRow
from dpviz.core.losses import CappedLosses, Loss, MedianLoss, PoolLoss, SwapLoss
from dpviz.core.partitions import (
    CubeTree,
    Everything,
    Grid,
    HashCodes,
    HashTree,
    ProjectedCells,
    UnevenGrid,
    Voronoi,
    Zoomed,
)
from dpviz.core.private_session import DENSE as KNOWN_DENSE
from dpviz.core.private_session import QUERIES
from dpviz.core.private_session import SPARSE as KNOWN_SPARSE
from dpviz.core.quantiles import Medians, Quantiles
from dpviz.core.queries import (
    BoxSum,
    ChosenSum,
    Count,
    DistanceScales,
    Pull,
    Radii,
    Relation,
    ResidualMoments,
    ResidualSum,
    ScaledResidualSum,
    SegmentHistogram,
    SparseCount,
    Spread,
    Sum,
    Weights,
)
from dpviz.core.rows import Rows
from dpviz.core.tuples import Tuples
from tests.cases import about, for_each
from tests.contract.questions import (
    DENSE,
    NORMS,
    QUESTIONS,
    SPARSE,
    check_move,
    mixed_regions,
    move,
    regions,
    room_over,
)
from tests.examples import examples

ADD_REMOVE, REPLACE = Relation.ADD_REMOVE, Relation.REPLACE
DEAL = {
    "seed": st.integers(0, 2**32 - 1),
    "dim": st.integers(1, 4),
    "where": st.sampled_from(sorted(regions(2))),
    "relation": st.sampled_from(Relation),
    "most": st.integers(1, 3),
    "size": st.integers(1, 70),
}


def _awkward(domain: Domain, rng: np.random.Generator, n: int) -> np.ndarray:
    """Rows in and far beyond the bounds, on corners, in the middle, missing, and not numbers."""
    if domain.declared:
        return _awkward_cells(domain, rng, n)
    rows = rng.uniform(-1.2, 1.2, (n, domain.dim)) * (domain.upper - domain.lower) / 2
    kinds = rng.integers(0, 9, n)
    corner = np.where(rng.random((n, domain.dim)) < 0.5, domain.lower, domain.upper)
    rows[kinds == 0] = corner[kinds == 0]
    rows[kinds == 1] = 1e300 * np.sign(corner[kinds == 1])
    rows[kinds == 2] = 0.0
    rows[kinds == 3, 0] = np.nan
    rows[kinds == 4, -1] = -np.inf
    rows[kinds == 5] = domain.upper
    return rows


def _awkward_cells(domain: Domain, rng: np.random.Generator, n: int) -> np.ndarray:
    """Rows of any declared values, beyond the bounds, and missing ones."""
    lower, upper = np.array([(column.lower, column.upper) for column in domain.declared]).T
    rows = np.rint(rng.uniform(lower - 0.5, upper + 0.5, (n, domain.width)))
    rows[:, 0] = rng.choice([-1e300, -1.0, 0.0, 0.3, 1.0, np.inf, np.nan], n)
    rows[rng.random(n) < 0.1, 2] = np.nan
    return rows


def _pair(domain, relation, rng, size, most):
    """Sessions over two neighbouring tables."""
    rows = _awkward(domain, rng, size)
    if relation is REPLACE:
        other = rows.copy()
        other[int(rng.integers(size))] = _awkward(domain, rng, 1)[0]
        return room_over(rows, domain, relation), room_over(other, domain, relation)
    persons = rng.integers(0, max(1, size // 2), size)
    kept = persons != persons[int(rng.integers(size))]
    shuffled = rng.permutation(size)
    one = room_over(rows, domain, relation, persons=persons, rows_per_person=most)
    left = shuffled[kept[shuffled]]
    return one, room_over(rows[left], domain, relation, persons=persons[left], rows_per_person=most)


@pytest.mark.parametrize("question", QUESTIONS)
@settings(max_examples=examples(40))
@given(**DEAL)
def test_no_neighbour_moves_an_answer_further_than_declared(question, seed, dim, where, relation, most, size):
    _check_question(question, regions(dim)[where], seed, relation, most, size)


@for_each("question", QUESTIONS)
def test_no_neighbour_moves_an_answer_over_categories_further_than_declared(question):
    for seed, (where, relation) in enumerate(product(mixed_regions(), Relation)):
        with about(where, relation.value):
            _check_question(question, mixed_regions()[where], seed, relation, most=2, size=30)


def _check_question(question, domain, seed, relation, most, size):
    rng, dim = np.random.default_rng(seed), domain.dim
    one, other = _pair(domain, relation, rng, size, most)
    if rng.random() < 0.3:  # nor behind a projection
        p = int(rng.integers(1, dim + 1))
        view, frame = Region.ball(p, domain.region.radius), rng.normal(size=(p, dim)) * 3
        check_move(QUESTIONS[question](view, rng), one.project(frame, view), other.project(frame, view))
    else:
        check_move(QUESTIONS[question](domain.region, rng), one, other)


def _farthest(region: Region) -> np.ndarray:
    """The point of the region with the largest l1 norm, which has the largest l2 norm too, found by halving."""
    low, high = 0.0, float(region.half.max())
    for _ in range(200):
        level = (low + high) / 2
        low, high = (level, high) if np.linalg.norm(np.minimum(region.half, level)) < region.radius else (low, level)
    return np.minimum(region.half, high)


def _attained(kind, over, region):
    """A query of that kind and the two rows between which it moves as far as it can."""
    far = _farthest(region)
    # Under replace a count moves furthest between two cells, a sum within one.
    together = Voronoi(np.stack([np.zeros(region.dim), np.full(region.dim, 100.0)]))
    apart = Voronoi(np.stack([far, -far]))
    inner = apart if kind in (Count, SparseCount, SegmentHistogram) else together
    halves = HashCodes(far[None], np.zeros(1))
    partitions = {
        Everything: Everything(),
        Voronoi: inner,
        Grid: Grid.over(region, 2) if kind is not Sum else Grid.over(region, 1),
        UnevenGrid: UnevenGrid.between(
            region.half, [np.zeros(1 if kind is Count else 0)] * region.dim, np.zeros(region.dim)
        ),
        Zoomed: Zoomed(Grid.over(Region.ball(region.dim, 1e-3), 2), Grid.over(region, 2 if kind is Count else 1)),
        ProjectedCells: ProjectedCells(inner, np.eye(region.dim), region),
        CubeTree: CubeTree(np.full(region.dim, -2.0), 4.0),
        HashCodes: halves,
        HashTree: HashTree(halves, np.array([2, 3] if kind is Count else [1])),
    }
    both, near = np.stack([far, -far]), np.full(region.dim, region.half.min() / 9)
    # Seen from here the two rows lie at a right angle, or at 120 degrees: under replace no others move more.
    beside = np.array([1.0, -far[0] / far[1], 0.0])
    beside *= np.linalg.norm(far) / np.linalg.norm(beside)
    furthest = {
        SwapLoss: (SwapLoss(both, both), far),
        # A pull has length 1 from anywhere, or that of the reach: the diagonal has the largest l1 norm.
        Pull: (Pull(together, together.centers), near),
        ResidualSum: (ResidualSum(together, together.centers, region.half.min() / 20), near),
        ScaledResidualSum: (
            ScaledResidualSum(together, together.centers, np.array([region.half.min() / 20, 3.0])),
            near,
        ),
        # A row on one place, as far from the other as any row can be.
        MedianLoss: (MedianLoss(together, np.tile(both, (2, 1, 1))), far),
        Radii: (Radii(Everything(), far[None], region.radius), far),
        Spread: (Spread(Everything(), beside[None], 0.02), far),
        ChosenSum: (ChosenSum(together, np.tile(np.arange(region.dim), (2, 1))), far),
        Loss: (Loss(both[:, None]), far),
        SegmentHistogram: (SegmentHistogram(partitions.get(over, inner), 0, 2), far),
        DistanceScales: (DistanceScales(Voronoi(far[None]), 4, 40), far),
        # One row lies on the only centre of both sets, the other one farther away than either cap.
        CappedLosses: (CappedLosses(np.stack([-far, -far])[:, None], caps=np.array([1.0, 0.125])), far),
        # Without centres every row weighs 1; tests/core/test_kernel_draw.py has the weights of distances.
        DistanceWeights: (DistanceWeights(np.empty((0, region.dim))), far),
        # Where the sets are as far apart as can be; tests/core/test_losses_bounds.py has pools that come together.
        PoolLoss: (PoolLoss(both[:, None]), far),
        BoxSum: (BoxSum(-far, far), far),
        Quantiles: (Quantiles(-far, far, (0.5,)), far),
        Medians: (Medians(-far, far), far),
        ResidualMoments: (ResidualMoments(Voronoi(beside[None] / np.sqrt(3)), 0.02), far),
        EachRow: (EachRow(), far),
        Tuples: (Tuples(1), far),
    }
    return furthest[kind] if kind in furthest else (kind(partitions[over]), far)


KINDS = [
    *((kind, over) for kind in (Count, Sum) for over in DENSE),
    *((SparseCount, over) for over in SPARSE),
    *((SegmentHistogram, over) for over in (Voronoi, ProjectedCells)),
    # As far as a row goes Weights move by another way: see below.
    *((kind, None) for kind in QUERIES if kind not in (Count, Sum, SparseCount, SegmentHistogram, Weights)),
]
DECLARED = ((ADD_REMOVE, 1), (ADD_REMOVE, 3), (REPLACE, 1))


@pytest.mark.parametrize(("kind", "over"), KINDS, ids=lambda kind: getattr(kind, "__name__", "-"))
def test_some_pair_moves_every_answer_as_far_as_declared(kind, over, *there):
    """In every region, by a row, three rows of a person and an exchange; or only ``there``."""
    for where, relation, most in [there] if there else [(w, *how) for w in sorted(regions(2)) for how in DECLARED]:
        # Under replace the number of rows is public: nobody pays for it.
        if not (relation is REPLACE and kind is Count and over is Everything):
            with about(where, relation.value, most):
                check_attained(kind, over, where, relation, most)


def exchange(domain, relation, most, crowd, here, there):
    """Sessions over a crowd and a row that is exchanged for another, or with and without ``most`` rows of a person."""
    if relation is REPLACE:
        return tuple(room_over(np.r_[crowd, row[None]], domain, relation) for row in (here, there))
    persons, whole = np.r_[np.arange(len(crowd)), np.full(most, 999)], np.r_[crowd, np.tile(here, (most, 1))]
    tables = ((whole, persons), (crowd, persons[: len(crowd)]))
    return tuple(room_over(rows, domain, relation, persons=who, rows_per_person=most) for rows, who in tables)


def check_attained(kind, over, where, relation, most):
    domain = regions(3)[where]
    query, far = _attained(kind, over, domain.region)
    crowd = np.tile(domain.from_unit(far / 3), (5, 1))
    one, other = exchange(domain, relation, most, crowd, domain.from_unit(far), domain.from_unit(-far))
    check_move(query, one, other)
    moved, declared_most = move(query, one, other), one.sensitivity(query)
    for norm in NORMS:
        bound = getattr(declared_most, norm)
        elsewhere = (kind, norm) in ((Spread, "l1"), (CappedLosses, "range"))  # reached by other rows: the next tests
        blocks = kind in (Sum, Pull, BoxSum, ChosenSum, ResidualSum, ScaledResidualSum)
        if np.isfinite(bound) and (norm != "block" or blocks) and not elsewhere:
            assert getattr(moved, norm) == pytest.approx(bound, rel=_lost(kind, domain.region)), norm


@for_each("where, relation, most", [(where, *how) for where in mixed_regions() for how in DECLARED])
def test_sums_over_categories_move_as_far_as_declared_in_every_norm(where, relation, most):
    domain = mixed_regions()[where]
    # One hour in the middle of a quarter, and the opposite one: there a circle is longest in the l1 norm.
    far, across = np.array([1.0, 0.0, 1.0, 1.0]), np.array([-1.0, 1.0, 0.0, 5.0])
    one, other = exchange(domain, relation, most, np.empty((0, 4)), far, across)
    query = Sum(Everything())
    check_move(query, one, other)
    moved, declared = move(query, one, other), one.sensitivity(query)
    for norm in ("l1", "l2"):
        assert getattr(moved, norm) == pytest.approx(getattr(declared, norm), rel=1e-4)
    # An exchange within one cell moves less than two rows that come: their block is that of two cells.
    if relation is ADD_REMOVE:
        assert moved.block == pytest.approx(declared.block, rel=1e-4)


@pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE])
def test_spreads_move_as_far_in_the_l1_norm_along_the_diagonal(relation):
    domain = regions(3)["box"]
    at = np.array([[0.5, 0.5, 0.5], [-0.5, -0.5, -0.5]])
    one, other = exchange(domain, relation, 1, np.zeros((5, 3)), at[0] + 0.1, at[1] - 0.1)
    query = Spread(Voronoi(at), at, 0.02)
    assert move(query, one, other).l1 == pytest.approx(one.sensitivity(query).l1, rel=2.0**-10)


def test_spreads_along_axes_that_stretch_move_as_much_further():
    domain = regions(3)["box"]
    one, other = exchange(domain, ADD_REMOVE, 1, np.zeros((5, 3)), domain.upper, None)
    query = Spread(Everything(), np.zeros((1, 3)), 0.02, 3 * np.eye(3))
    assert move(query, one, other).l2 == pytest.approx(one.sensitivity(query).l2, rel=2.0**-10)


@pytest.mark.parametrize(("relation", "most"), DECLARED)
def test_capped_losses_of_two_sets_move_apart_by_the_cap(relation, most):
    """A row on the centre of one set, beyond the cap from the other; under replace a row goes the other way, too."""
    domain = regions(3)["box"]
    far = _farthest(domain.region)
    one, other = exchange(domain, relation, most, np.zeros((5, 3)), far, -far)
    query = CappedLosses(np.stack([-far, far])[:, None], caps=np.array([0.5, 0.5]))
    assert move(query, one, other).range == one.sensitivity(query).range == most * relation.rows * 0.5


def _lost(kind: type, region: Region) -> float:
    """The part of an answer that rounding may take: a few quanta of what it is made of."""
    if kind in (Spread, ResidualMoments, ResidualSum, ScaledResidualSum, MedianLoss):
        return 2.0**-12  # products of small factors, residuals of a small reach, roots that are rounded down
    corners_lie_on_the_lattice = region.rows(_farthest(region)[None]) == _farthest(region)
    return 1e-12 if kind not in (Pull, PoolLoss) and corners_lie_on_the_lattice.all() else 1e-5


@pytest.mark.parametrize("relation", Relation, ids=lambda r: r.value)
def test_a_row_makes_one_magnitude_grow_and_another_shrink(relation):
    # Where the sum of a cell is (+, -), a row (1, 1) moves the magnitudes by +1 and -1: a range of 2 for each cell.
    domain = regions(2)["box"]
    over = Voronoi(np.array([[0.9, 0.9], [-0.9, -0.9]]))
    crowd = np.array([[1.0, -0.5], [1.0, -0.5], [0.5, -1.0], [-0.6, -1.0]])
    if relation is REPLACE:
        crowd = np.r_[crowd, [[-1.0, 0.4], [-1.0, 0.4], [0.4, -1.0]]]
    one, other = exchange(domain, relation, 1, crowd, np.ones(2), -np.ones(2))
    check_move(Weights(over), one, other)
    declared = one.sensitivity(Weights(over)).range
    assert move(Weights(over), one, other).range >= (0.99 if relation is ADD_REMOVE else 0.5) * declared


@settings(max_examples=examples(60))
@given(seed=st.integers(0, 2**32 - 1), dim=st.integers(1, 12), size=st.integers(1, 200))
def test_a_row_keeps_its_cell_whoever_stands_beside_it(seed, dim, size):
    # Rows that lie on the boundary of two cells: a matrix product rounds them by their place in it.
    rng = np.random.default_rng(seed)
    centers = rng.uniform(-1, 1, (int(rng.integers(2, 16)), dim))
    frame = rng.normal(size=(int(rng.integers(1, dim + 1)), dim))
    tied = np.repeat((centers[:1] + centers[1:2]) / 2, size + 1, axis=0)
    ball = Region.ball(dim, 2.0)
    for over in (
        Voronoi(centers),
        ProjectedCells(Voronoi(centers @ frame.T), frame, Region.ball(len(frame), 9.0)),
        Grid.over(ball, 4),
        Zoomed(Grid(ball.half / 3, np.full(dim, 3), tied[0] + ball.half / 3), Grid.over(ball, 2)),
        ProjectedCells(Grid.over(Region.ball(len(frame), 2.0), 3), frame, Region.ball(len(frame), 9.0)),
        CubeTree(np.full(dim, -2.0), 4.0),
        HashCodes(centers[1:2] - centers[:1], (centers[1:2] - centers[:1]) @ (centers[0] + centers[1]) / 2),
    ):
        few, all_of_them = (set(over.find_cells(next(Rows.of(rows, ball).chunks(1)))) for rows in (tied[:size], tied))
        assert len(few | all_of_them) == 1


def test_every_question_and_partition_is_covered():
    assert {type(make(Region.ball(2, 1.0), np.random.default_rng(0))) for make in QUESTIONS.values()} == set(QUERIES)
    assert {*DENSE, *SPARSE} == {*KNOWN_DENSE, *(over for overs in KNOWN_SPARSE.values() for over in overs)}
