"""The contract of private algorithms where each row is a tuple of points: k side by side, and one row is replaced."""

from itertools import product

import numpy as np
import pytest

from dpviz.algorithms.registry import CARDS
from dpviz.core.accounting import Accounting, Budget
from dpviz.core.check import RequestError
from dpviz.core.domain import Domain
from dpviz.core.partitions import Everything, Voronoi
from dpviz.core.private_session import PrivateTable
from dpviz.core.queries import Count, Relation
from dpviz.runs.audits.contract import check_booked, check_centers, check_loss, check_replayed, record_run, run_card
from dpviz.runs.one_run import run
from tests.cases import about
from tests.contract.checks import list_arrays
from tests.contract.sessions import exploding_session, open_seeded
from tests.contract.tables import make_blobs, make_small_table
from tests.core.tuple_checks import tight_tuples

ENOUGH = 1800
GIVEN = [
    pytest.param(CARDS[card], {"rows": "tuples", "preset": preset}, id=f"{card}-{preset}")
    for card in ("k-noisy-centers", "k-averages")
    for preset in ("practical", "paper")
]
each_setting = pytest.mark.parametrize(("card", "params"), GIVEN)
REQUEST = {"k": 2, "epsilon": 1.0, "delta": 1e-6}


def _table(values: np.ndarray, **more) -> PrivateTable:
    return make_small_table(values, relation=Relation.REPLACE, **more)


def _pairs(number: int = ENOUGH, *, dim: int = 2, seed: int = 0) -> np.ndarray:
    return tight_tuples(number, dim=dim, jitter=1e-6, misfits=3, seed=seed).reshape(number, -1)


@each_setting
def test_entries_add_up_and_steps_come_out_the_same_without_rows_and_hold_none(card, params):
    table = _table(_pairs())
    points = {row.tobytes() for row in table._rows.values.reshape(-1, 2)}
    for epsilon in (0.1, 1.0, 35.0):
        with about(f"ε = {epsilon}"):
            request = {"k": 2, "epsilon": epsilon, "delta": 1e-6, "params": params, "seed": 1}
            first = record_run(card, table, **request)
            check_booked(first)
            check_replayed(card, table, first, **request)
            for frame in first.run.frames:
                for array in list_arrays(frame.step):
                    if array.ndim == 2:
                        assert not points & {row.tobytes() for row in np.ascontiguousarray(array)}


def _neighbours():
    corners = np.tile(np.ones(4), (60, 1))
    for base in (corners, _pairs(60)):
        for new in (-np.ones(4), np.array([-1.0, -1.0, 1.0, 1.0]), np.full(4, np.nan)):
            changed = base.copy()
            changed[17] = new
            yield _table(base), _table(changed)
            yield _table(changed), _table(base)


@each_setting
def test_a_replaced_tuple_moves_the_means_by_what_is_paid_for_and_by_most_of_it(card, params):
    request = {"k": 2, "epsilon": 4.0, "delta": 1e-6, "params": params, "seed": 0}
    # Both points of the replaced row leave one cell for the other: counts move as far as they may.
    assert max(max(check_loss(card, *pair, **request).fractions_of_bound) for pair in _neighbours()) > 0.99


HARD = {
    "disagreeing": make_blobs(50, 4),
    "identical": np.full((40, 4), 0.25),
    "missing": np.full((30, 4), np.nan),
    "far outside": np.full((30, 4), -1e308),
    "one at 1e300": np.r_[make_blobs(20, 4), [[1e300, np.inf, 0, 0]]],
}


@each_setting
def test_k_finite_centres_inside_the_domain_of_a_point(card, params):
    for (name, rows), (k, epsilon, radius) in product(HARD.items(), ((1, 1.0, 0.7), (2, 3.0, None), (4, 1.0, 0.7))):
        with about(name, f"k = {k}"):
            done = run(card, _table(rows, radius=radius), **REQUEST | {"k": k, "epsilon": epsilon}, params=params)
            assert done.domain.dim == 4 // k and done.points_per_row == k
            check_centers(done, k)


@pytest.mark.parametrize("card", ["k-noisy-centers", "k-averages"])
def test_other_declarations_are_refused_before_a_row_is_read(card):
    def refused(table, said, *, k=2):
        with pytest.raises(RequestError, match=said):
            run_card(CARDS[card], table, **REQUEST | {"k": k}, params={"rows": "tuples"}, session=exploding_session())

    refused(make_small_table(_pairs()), "declare the relation replace")
    refused(make_small_table(_pairs(), n_public=ENOUGH), "declare the relation replace")
    refused(_table(_pairs()), "does not hold 3 points", k=3)
    uneven = Domain.of(["x1", "y1", "x2", "y2"], -1.0, [1.0, 1.0, 2.0, 1.0])
    refused(PrivateTable(_pairs(), uneven, relation="replace"), "'x1' and 'x2' .* same bounds for every point")


@pytest.mark.parametrize("relation", Relation, ids=lambda r: r.value)
def test_a_room_over_points_counts_all_of_them_and_pays_for_all_of_a_row(relation):
    table = make_small_table(make_blobs(30, 6), relation=relation, n_public=30)
    session = open_seeded(table, Accounting.BASIC, delta=1e-6)
    points = session.unfold(3)
    assert (points.dim, points.n, points.rows_per_person) == (2, 90, 3)
    query = Count(Voronoi(np.array([[0.5, 0.5], [-0.5, -0.5]])))
    assert points.sensitivity(query).l2 == 3 * session.sensitivity(query).l2
    assert points._rows.total(lambda chunk: [len(chunk)], 1) == [90]
    assert points.release(Count(Everything()), Budget(Accounting.BASIC, 0.5, 1e-7), note="x").sd > 0
    assert session.ledger is points.ledger and len(session.ledger.entries) == 1
    assert session.unfold(1) is session
