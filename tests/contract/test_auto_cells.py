"""Auto keeps the contract where it tries fine cells, where rows choose among its solutions, where it sees a tail, where
all but a few columns are thin, and where it looks at columns of unlike lengths."""

import numpy as np
import pytest

from dpviz.algorithms.registry import CARDS
from dpviz.core.domain import Domain, Scaling
from dpviz.core.partitions import UnevenGrid
from dpviz.core.private_session import PrivateTable
from dpviz.core.queries import Relation
from dpviz.runs.audits.contract import (
    check_booked,
    check_ledger,
    check_loss,
    check_neighbor,
    check_replayed,
    record_run,
)
from tests.contract.tables import NeighborSetting

CARD = CARDS["auto"]
SIX = NeighborSetting("six columns", dim=6, n_public=400)
REPLACED = NeighborSetting("replace, six columns", dim=6, relation=Relation.REPLACE, radius=1.0)
OF_PERSONS = NeighborSetting("persons, six columns", dim=6, n_public=1200, rows_per_person=2, radius=1.0)
IN_A_BALL = NeighborSetting("six columns in a ball", dim=6, n_public=1200, radius=1.0)
APPROX = {"k": 3, "epsilon": 1.0, "delta": 1e-6, "params": {"starts": 2}, "seed": 0}


def table_of(rows: np.ndarray) -> PrivateTable:
    """Rows in many clusters, so that fine cells are tried."""
    domain = Domain.of([f"x{j}" for j in range(rows.shape[1])], -1.0, 1.0, radius=1.0, scaling=Scaling.COMMON)
    return PrivateTable(rows, domain, n_public=2000)


def crowd(dim: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    spots = rng.normal(size=(14, dim))
    return (spots / np.linalg.norm(spots, axis=1, keepdims=True))[rng.integers(0, 14, 2000)] * 0.7


@pytest.mark.parametrize(("dim", "epsilon"), [(5, 8.0), (2, 1.0)], ids=["fine cells of a view", "finer flat cells"])
def test_with_and_without_a_row_in_the_fullest_cell(dim, epsilon):
    rows = crowd(dim)
    check_loss(CARD, table_of(rows), table_of(rows[1:]), **{**APPROX, "k": 14, "epsilon": epsilon})


def test_no_test_of_cells_hangs_on_another():
    # What is left unasked is left unspent: the request is not used up.
    check_ledger(CARD, table_of(crowd(2)), **{**APPROX, "k": 60})


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_a_choice_by_rows(delta):
    # Axes are bought without a δ: with few rows only at an ε that protects nobody.
    request = {**APPROX, "epsilon": 40.0, "params": {"starts": 8}, "seed": 2, "delta": delta}
    rows = np.r_[np.random.default_rng(1).normal(0.3, 0.2, (200, 6)), np.full((1, 6), -0.4)]
    loss = check_loss(CARD, SIX.table(rows), SIX.table(rows[:-1]), **request)
    assert "exponential" in {name for name, _ in loss.per_release}
    first = record_run(CARD, SIX.table(), **request)
    check_booked(first)
    check_replayed(CARD, SIX.table(), first, **request)


def _check_without(make, relation: Relation, rows: np.ndarray, persons: np.ndarray, places, request) -> list:
    """The contract, with and without the person of each of these rows; where one row may be replaced, by its mirror.

    Returns the steps of the run over all rows.
    """
    table = make(rows, persons)
    first = record_run(CARD, table, **request)
    for place in places:
        others = persons != persons[place]
        mirrored = relation is Relation.REPLACE
        other = (np.where(others[:, None], rows, -rows), persons) if mirrored else (rows[others], persons[others])
        check_neighbor(CARD, first, make(*other), **request)
    check_booked(first)
    check_replayed(CARD, table, first, **request)
    return [frame.step for frame in first.run.frames]


@pytest.mark.parametrize(("case", "k"), [(IN_A_BALL, 3), (REPLACED, 3), (OF_PERSONS, 3), (IN_A_BALL, 14)], ids=str)
def test_a_tail(case, k):
    """With and without the row that lies farthest out, and one in the middle: both have a cell and a pull."""
    rng = np.random.default_rng(0)
    rows = np.c_[np.minimum(0.02 * np.exp(1.5 * rng.normal(size=1200)), 0.99), rng.normal(0, 0.004, (1200, 5))]
    request, persons = {**APPROX, "epsilon": 12.0, "k": k}, np.arange(1200) // case.rows_per_person
    places = (int(rows[:, 0].argmax()), int(rows[:, 0].argmin()))
    assert _check_without(case.table, case.relation, rows, persons, places, request)[1].tail is not None


TWO = NeighborSetting("two columns", dim=2, n_public=1200)
TWO_REPLACED = NeighborSetting("replace, two columns", dim=2, relation=Relation.REPLACE)
TWO_OF_PERSONS = NeighborSetting("persons, two columns", dim=2, n_public=1200, rows_per_person=2)


@pytest.mark.parametrize(("case", "far"), [(TWO, 120), (TWO, 8), (TWO_REPLACED, 8), (TWO_OF_PERSONS, 120)], ids=str)
def test_cells_that_widen_outwards(case, far):
    """Around a core, and where 8 rows lie far out around a box: with and without the farthest row, and a middle one."""
    rng = np.random.default_rng(0)
    rows = rng.normal(0.2, 0.01, (1200, 2))
    rows[:far, 0] = rng.uniform(0.4, 0.95, far)
    request, persons = {**APPROX, "epsilon": 6.0}, np.arange(1200) // case.rows_per_person
    places = (int(rows[:, 0].argmax()), far)
    zoomed, synopsis = _check_without(case.table, case.relation, rows, persons, places, request)[1:3]
    uneven = synopsis.grid if zoomed.box is None else synopsis.around.grid
    assert isinstance(uneven, UnevenGrid) and (zoomed.core is None) is (far == 8)


THIN, NARROW = np.array([0.03, 4.0, 0.05, 30.0, 0.02]), np.array([2.0, 6.0, 3.0, 30.0, 9.0])
BOX = np.array([9.0, 12.0, 0.02, 30.0, 6.0])


def table_maker(half, relation, most):
    """Makes tables of 1,200 rows in bounds of ``half`` widths, of persons with up to ``most`` of them, on one scale."""

    def table_of(rows, persons):
        domain = Domain.of([f"x{j}" for j in range(5)], -half, half, scaling=Scaling.COMMON)
        declared = {"persons": persons, "rows_per_person": most} if most > 1 else {}
        return PrivateTable(rows, domain, relation=relation, n_public=1200, **declared)

    return table_of


@pytest.mark.parametrize(
    ("relation", "most", "delta", "half", "wide"),
    [
        (Relation.ADD_REMOVE, 1, 0.0, THIN, [1, 3]),
        (Relation.ADD_REMOVE, 1, 1e-6, NARROW, [1, 3, 4]),
        (Relation.ADD_REMOVE, 2, 0.0, NARROW, [1, 3, 4]),
        (Relation.ADD_REMOVE, 2, 1e-6, THIN, [1, 3]),
        (Relation.REPLACE, 1, 0.0, NARROW, [1, 3, 4]),
        (Relation.REPLACE, 1, 1e-6, NARROW, [1, 3, 4]),
        (Relation.REPLACE, 1, 0.0, BOX, [0, 1, 3, 4]),
        (Relation.ADD_REMOVE, 2, 1e-6, BOX, [0, 1, 3, 4]),
    ],
)
def test_a_grid_over_the_wide_columns(relation, most, delta, half, wide):
    """With and without the person of the row that lies farthest out, also along the others, and of one in the middle.

    Where the others are not too thin for it to matter the middle of the rows along them is bought, and seeds lie there.
    """
    rng = np.random.default_rng(0)
    rows = rng.uniform(-half, half, (1200, 5))
    thin = np.setdiff1d(np.arange(5), wide)
    rows[:, thin] = half[thin] * rng.choice([0.5, 0.9], (1200, len(thin)))
    rows[:1080, 3] = rng.normal(-20.0, 0.3, 1080)
    persons, request = np.arange(1200) // most, {**APPROX, "epsilon": 6.0, "delta": delta}

    table_of = table_maker(half, relation, most)
    far = int(np.linalg.norm(rows[:, thin], axis=1).argmax())
    places = (int(rows[:, 3].argmax()), int(np.abs(rows[:, 3] + 20).argmin()), far)
    zoomed, synopsis, solved = _check_without(table_of, relation, rows, persons, places, request)[1:4]
    assert zoomed.frame.argmax(axis=1).tolist() == synopsis.frame.argmax(axis=1).tolist() == wide
    assert (zoomed.beside is None) is (half is not NARROW)
    middle = 0.0 if zoomed.beside is None else table_of(rows, persons).domain.to_unit(rows).mean(axis=0)[thin]
    assert np.allclose(solved.centers[:, thin], middle, atol=0.01)


UNLIKE = np.array([30.0, 24.0, 24.0, 24.0, 9.0])
ADDED = Relation.ADD_REMOVE


@pytest.mark.parametrize(
    ("relation", "most", "delta"), [(ADDED, 1, 1e-6), (ADDED, 2, 1e-6), (Relation.REPLACE, 1, 1e-6), (ADDED, 1, 0.0)]
)
def test_a_look_at_columns_of_unlike_lengths(relation, most, delta):
    """With and without the person of the row that lies farthest out, and of one in the middle: few bins, few axes."""
    rows = UNLIKE * np.clip(np.random.default_rng(0).normal(0, [0.3, *[0.2] * 4], (1200, 5)), -1, 1)
    away, persons = np.abs(rows[:, 0]), np.arange(1200) // most
    places, request = (int(away.argmax()), int(away.argmin())), {**APPROX, "epsilon": 4.0, "delta": delta}
    look, synopsis = _check_without(table_maker(UNLIKE, relation, most), relation, rows, persons, places, request)[1:3]
    assert 12 <= len(look.noisy_radii) < 40 and (delta == 0 or len(synopsis.frame) < 5)
