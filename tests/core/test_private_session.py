"""What goes into the session and what comes out: intake of rows, closed doors, reveals, errors that tell nothing."""

import dataclasses

import numpy as np
import pytest

from dpviz.core.accounting import Accounting
from dpviz.core.check import RequestError
from dpviz.core.domain import Domain, Region
from dpviz.core.lattice import MOST_ROWS
from dpviz.core.losses import Loss, SwapLoss
from dpviz.core.mechanisms import Exponential, Laplace, SparseLaplace
from dpviz.core.noise import StudyNoise
from dpviz.core.partitions import CubeTree, Everything, Grid, ProjectedCells, Voronoi
from dpviz.core.private_session import AccessKind, AccessLog, AccessTotals, PrivateTable
from dpviz.core.queries import Count, SparseCount, Sum
from dpviz.core.replay import make_watched_session
from dpviz.core.rows import Rows
from tests.cases import for_each
from tests.contract.sessions import exploding_session, open_seeded
from tests.contract.tables import make_blobs, make_small_table

NAN, INF = np.nan, np.inf
BOX = Domain.of(["age", "pay"], [0, 0], [100, 1000])
VALUES = np.array([[50, 500], [-7, 2000], [NAN, 1], [3, INF], [1e300, -1e300], [100, 0.0]])


def _rows(table):
    return table._rows.values


def _open(table, accounting=Accounting.PURE, *, session=None):
    return open_seeded(table, accounting, delta=1e-6, kind=session)


def test_under_add_remove_a_row_with_a_missing_cell_is_dropped_and_all_others_are_clipped():
    np.testing.assert_allclose(_rows(PrivateTable(VALUES, BOX)), [[0, 0], [-1, 1], [1, -1], [1, -1]])


def test_under_replace_the_middle_of_the_domain_stands_in():
    table = PrivateTable(VALUES, BOX, relation="replace")
    np.testing.assert_allclose(_rows(table), [[0, 0], [-1, 1], [0, 0], [0, 0], [1, -1], [1, -1]])
    assert table.n_public == 6


def test_the_loaded_values_are_neither_changed_nor_handed_out():
    values = VALUES.copy()
    table = PrivateTable(values, BOX, relation="replace")
    np.testing.assert_array_equal(values, VALUES)
    assert not np.shares_memory(_rows(table), values)
    assert not np.shares_memory(table.reveal(note="x").points, _rows(table))


def test_reveals_are_counted_and_not_clipped():
    table = PrivateTable(VALUES, BOX)
    revealed = table.reveal(note="a look")
    assert table.accesses == ["a look"]
    np.testing.assert_array_equal(revealed.kept, [0, 1, 4, 5])
    assert revealed.points[1, 1] == pytest.approx(3.0) and np.abs(revealed.points).max() <= 1e9
    replaced = PrivateTable(VALUES, BOX, relation="replace").reveal(note="a look")
    np.testing.assert_array_equal(replaced.kept, [0, 1, 4, 5])
    apart = replaced.unfold(2)  # points that share a row stand one after the other
    assert apart.points.shape == (8, 1) and apart.kept.tolist() == [0, 0, 1, 1, 4, 4, 5, 5]


@for_each(
    ("declared", "said"),
    [
        *(
            ({"persons": ids}, r"persons holds .*integers")
            for ids in (np.zeros(6), np.full(6, NAN), ["a"] * 6, [True] * 6)
        ),
        ({"rows_per_person": 2}, "no id column"),
        ({"rows_per_person": 0}, "rows_per_person is 0"),
        ({"rows_per_person": 2, "persons": np.zeros(6, int), "relation": "replace"}, "one row a person"),
        ({"persons": np.zeros(6, int), "relation": "replace"}, "choose add_remove"),
        ({"persons": np.zeros(5, int)}, "one id for each row"),
        ({"n_public": 0}, "n_public is 0"),
        ({"relation": "swap"}, "relation is 'swap'"),
    ],
)
def test_declarations_that_contradict_each_other(declared, said):
    with pytest.raises(RequestError, match=said):
        PrivateTable(VALUES, BOX, **declared)


def test_a_table_of_another_shape_is_refused_without_telling_its_length():
    for values in (np.zeros(7), np.zeros((7, 3)), np.zeros((7, 2, 1))):
        with pytest.raises(RequestError, match="2 columns") as refused:
            PrivateTable(values, BOX)
        assert "7" not in str(refused.value)


def test_a_table_has_no_more_rows_than_a_total_can_count():
    class Endless(Rows):
        def __len__(self):
            return MOST_ROWS + 1

    with pytest.raises(RequestError, match="take a sample"):
        PrivateTable.over(Endless.of(np.zeros((1, 2)), BOX.region), BOX)


def test_only_known_questions_enter():
    session = _open(make_small_table(), session=exploding_session())
    share = session.budget.fraction(0.1)

    class Custom(Count): ...

    @dataclasses.dataclass(frozen=True, eq=False)
    class Trojan(Voronoi):
        def assign(self, chunk):
            raise AssertionError("foreign code saw rows")

    tree = CubeTree(np.full(2, -1.0), 2.0)
    foreign = Trojan(np.zeros((2, 2)))
    frame, region = np.eye(2), Region.ball(2, 1.0)
    for query in (
        Custom(Everything()),
        Count(foreign),
        Sum(foreign),
        Count(ProjectedCells(foreign, frame, region)),
        Count(ProjectedCells(ProjectedCells(Voronoi(np.zeros((2, 2))), frame, region), frame, region)),
        Count(tree),  # rows outside the tree have no cell: counting them would fail on private values
        Sum(tree),
    ):
        with pytest.raises(RequestError, match="not a question"):
            session.release(query, share, note="x")

    class Cheap(Laplace): ...

    with pytest.raises(RequestError, match="not a mechanism"):
        session.ask(Count(Everything()), Cheap, share, note="x")
    huge = Grid(np.ones(2), np.full(2, 2**32))
    with pytest.raises(RequestError, match=r"2\^62"):
        session.ask(SparseCount(huge), SparseLaplace, share, note="x", cutoff_in_scales=40)
    assert session.ledger.entries == []


def test_losses_have_no_bounded_sum_and_are_not_released():
    for query in (SwapLoss(np.zeros((1, 2)), np.zeros((2, 2))), Loss(np.zeros((2, 1, 2)))):
        for accounting in (Accounting.PURE, Accounting.ZCDP, Accounting.GDP):
            session = _open(make_small_table(), accounting, session=exploding_session())
            with pytest.raises(ValueError):  # noqa: PT011 - any refusal will do, before a row is read
                session.release(query, session.budget.fraction(0.1), note="x")
            assert session.ledger.entries == []


def test_candidates_outside_the_region_are_refused():
    for point in ([1.0, 1.0 + 1e-5], [NAN, 0.0], [INF, 0.0]):
        session = _open(make_small_table(), session=exploding_session())
        question = SwapLoss(np.zeros((1, 2)), np.array([point]))
        with pytest.raises(RequestError, match="outside the region: clip points"):
            session.ask(question, Exponential, session.budget.fraction(0.1), note="x")
        assert session.ledger.entries == []


def test_rows_leave_only_a_room_without_a_guarantee():
    session = _open(make_small_table(), session=exploding_session())
    with pytest.raises(RequestError, match="noisy answers"):
        session.compute_non_private(lambda rows: rows, note="x")
    reference = _open(make_small_table(), Accounting.NONE)
    reference.compute_non_private(len, note="a look")
    assert [entry.mechanism for entry in reference.ledger.entries] == ["reveal"]


def test_whoever_reaches_behind_a_watched_session_is_listed():
    reached: list[str] = []
    session = _open(make_small_table(), session=make_watched_session(reached))
    session.release(Count(Everything()), session.budget, note="x")
    assert reached == []
    assert len(session._rows) and [said.split(" ", 1)[1] for said in reached] == ["reads _rows of the session"]


def test_a_number_of_rows_is_bought_once_and_only_where_it_is_needed():
    table = make_small_table(make_blobs(100))
    noise = StudyNoise(np.random.default_rng(0))
    request = {"epsilon": 10.0, "delta": 0.0, "accounting": Accounting.PURE, "noise": noise}
    session = table.open(**request)
    assert [entry.note for entry in session.ledger.entries] == ["number of rows"]
    assert session.budget.amount == pytest.approx(9.8) and isinstance(session.n, int) and session.n >= 1
    assert session.project(np.eye(2), session.region).budget == session.budget
    bought = [make_small_table(np.zeros((0, 2))).open(**request).n for _ in range(20)]
    assert min(bought) == 1 < max(bought), "whatever the noise, there is a row to divide by"
    unneeded = table.open(**request, needs_n=False)
    assert unneeded.ledger.entries == []
    with pytest.raises(RequestError, match="declare n_public"):
        _ = unneeded.n
    public = make_small_table(make_blobs(100), n_public=90).open(**request)
    assert public.n == 90 and public.ledger.entries == []


def test_the_number_of_rows_is_the_number_of_persons_rows_in_use():
    persons = np.repeat(np.arange(30), 10)
    table = make_small_table(make_blobs(300), persons=persons, rows_per_person=2)
    session = _open(table)
    assert len(_rows(table)) == 60 and session.sensitivity(Count(Everything())).l1 == 2
    assert table.unit == "1 person, up to 2 rows"
    assert make_small_table(make_blobs(300), persons=persons).unit == "1 person, up to 1 row"
    assert make_small_table().unit == "1 row"


@pytest.mark.parametrize(("most", "radius"), [(1, None), (2, 6.0)])
def test_rows_of_few_entries_lie_in_the_region_that_is_declared_for_them(most, radius):
    # Columns of one scale and unequal width: the longest row has its entries in the widest ones.
    domain = Domain.of(["a", "b", "c"], [-1, -2, -8], [1, 2, 8], scaling="common", radius=radius)
    rows = np.random.default_rng(0).uniform(-9, 9, (200, 3))
    session = open_seeded(PrivateTable(np.r_[rows, [[1.0, 2.0, 8.0]]], domain, n_public=201)).sparsify(most)
    few = session._rows.values
    assert ((few != 0).sum(axis=1) <= most).all()
    assert np.linalg.norm(few, axis=1).max() <= session.region.radius * (1 + 1e-15)
    assert (np.abs(few) <= session.region.half).all()


def test_what_names_no_table_counts_for_each_and_what_names_one_for_it_alone() -> None:
    log = AccessLog()
    for source in ("mine", "other", ""):
        log.add_look(source, AccessKind.LOSS)
        log.add_study(source)
        log.add_run(source, 0.25)
        log.add_grid_read(source)
    log.add_look("mine", AccessKind.ROWS)
    log.add_run("other", 4.0)
    log.add_study("other")
    log.add_grid_read("mine")
    seen = log.count("mine")
    assert seen == AccessTotals({AccessKind.ROWS: 1, AccessKind.LOSS: 2}, 2, 2, 0.5, 3)
    assert [*seen.looks] == [AccessKind.ROWS, AccessKind.LOSS], "in the order of the kinds, not of the visit"
    assert log.count("a third one") == AccessTotals({AccessKind.LOSS: 1}, 1, 1, 0.25, 1)
    log.clear()
    assert log.count("mine") == AccessTotals({}, 0, 0, 0, 0)


def test_looks_are_told_in_one_order_and_a_proposal_is_one() -> None:
    looks = {AccessKind.LOSS: 2, AccessKind.REFERENCE: 0, AccessKind.ROWS: 1}
    assert [*AccessKind.tabulate(looks, proposed=True).items()] == [("rows", 1), ("loss", 2), ("proposal", 1)]
    assert AccessKind.tabulate({}, proposed=False) == {}
