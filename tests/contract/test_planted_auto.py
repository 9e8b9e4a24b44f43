"""Mistakes planted into the parts of auto: the contract must turn red for each."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import dpviz.privacy.sums
from dpviz.algorithms.auto import auto_plan
from dpviz.algorithms.registry import CARDS
from dpviz.privacy.ledger import Ledger
from dpviz.privacy.loss_distributions import Draws
from dpviz.privacy.losses import CappedLosses
from dpviz.privacy.mechanisms import Laplace
from dpviz.privacy.partitions import Everything, Grid, Zoomed
from dpviz.privacy.queries import Relation, Sensitivity, SparseCount
from dpviz.privacy.room import DataRoom, PrivateTable
from dpviz.privacy.sparse_mechanisms import NoisyExcess
from dpviz.privacy.sums import Radii, ResidualSum, Spread, _Residuals
from dpviz.table.domain import Domain, Scaling
from tests.contract.checks import check_ledger, check_loss, check_replay
from tests.contract.questions import check_move, regions, room_over
from tests.contract.tables import PUBLIC, REPLACE, World, neighbours

CARD = CARDS["auto"]
SIX = World("six columns", dim=6, n_public=400)
APPROX = {"k": 3, "epsilon": 1.0, "delta": 1e-6, "params": {"starts": 2}, "seed": 0}
PURE = {**APPROX, "delta": 0.0}

caught = pytest.raises(AssertionError)


def losses(world, **request) -> None:
    for one, other in neighbours(world, few=True):
        check_loss(CARD, one, other, **request)


def many_columns(rows: np.ndarray) -> PrivateTable:
    """Rows in many clusters of many columns, so that fine cells are tried."""
    domain = Domain.of([f"x{j}" for j in range(rows.shape[1])], -1.0, 1.0, radius=1.0, scaling=Scaling.COMMON)
    return PrivateTable(rows, domain, n_public=2000)


def crowd(dim: int = 5) -> np.ndarray:
    rng = np.random.default_rng(0)
    spots = rng.normal(size=(14, dim))
    return (spots / np.linalg.norm(spots, axis=1, keepdims=True))[rng.integers(0, 14, 2000)] * 0.7


def fine_losses() -> None:
    """With and without a row that stands in the fullest place."""
    rows = crowd()
    check_loss(CARD, many_columns(rows), many_columns(rows[1:]), **{**APPROX, "k": 14, "epsilon": 8.0})


def finer_losses() -> None:
    """The same over two columns, where finer cells are tried."""
    rows = crowd(2)
    check_loss(CARD, many_columns(rows), many_columns(rows[1:]), **{**APPROX, "k": 14})


# Rows choose the seeds, and axes are bought without a δ: with few rows only at an ε that protects nobody.
CHOOSING = {**APPROX, "epsilon": 40.0, "params": {"starts": 8}, "seed": 2}


def choice_losses(delta: float) -> bool:
    """With and without a row far from the others; whether they chose."""
    rows = np.r_[np.random.default_rng(1).normal(0.3, 0.2, (200, 6)), np.full((1, 6), -0.4)]
    loss = check_loss(CARD, SIX.table(rows), SIX.table(rows[:-1]), **{**CHOOSING, "delta": delta})
    return "exponential" in {name for name, _ in loss.per_release}


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_a_choice_without_a_mistake(delta):
    request = {**CHOOSING, "delta": delta}
    assert choice_losses(delta)
    check_ledger(CARD, SIX.table(), **request)
    check_replay(CARD, SIX.table(), **request)


def test_a_choice_by_losses_that_move_farther_than_is_said(monkeypatch):
    declared = CappedLosses.sensitivity

    def less(self, relation, region):
        whole = declared(self, relation, region)
        return dataclasses.replace(whole, range=whole.range / 1.01)

    domain, row = regions(3)["box"], np.full((1, 3), 0.5)
    query = CappedLosses(np.stack([row, -row]), caps=np.full(2, 0.3))
    rooms = [room_over(rows, domain, Relation.ADD_REMOVE) for rows in (np.r_[row, row], row)]
    check_move(query, *rooms)
    monkeypatch.setattr(CappedLosses, "sensitivity", less)
    with caught:
        check_move(query, *rooms)


@pytest.mark.some(2)
@pytest.mark.parametrize("request_", [APPROX, PURE], ids=["approx", "pure"])
@pytest.mark.parametrize("world", [PUBLIC, REPLACE, SIX], ids=str)
def test_without_a_mistake_all_is_green(world, request_):
    losses(world, **request_)
    check_ledger(CARD, world.table(), **request_)


@pytest.mark.parametrize("losses_of", [fine_losses, finer_losses])
def test_fine_cells_without_a_mistake(losses_of):
    losses_of()


# Pure noise on six columns of so few rows leaves the reach as wide as the domain, as does little ε on two: nothing is
# shortened there.
@pytest.mark.parametrize(
    ("world", "request_"),
    [(PUBLIC, {**APPROX, "epsilon": 8.0}), (PUBLIC, {**PURE, "epsilon": 8.0}), (SIX, APPROX)],
    ids=["approx", "pure", "six columns"],
)
def test_residuals_that_are_not_shortened(world, request_, monkeypatch):
    nobody = np.zeros(0, dtype=np.int64)
    monkeypatch.setattr(_Residuals, "beyond", lambda self, reach: (nobody, self.values[:0]))
    with caught:
        losses(world, **request_)


@pytest.mark.parametrize("query", [ResidualSum, Spread, Radii])
def test_half_the_sensitivity(query, monkeypatch):
    declared = query.sensitivity

    def half(self, relation, region):
        whole = declared(self, relation, region)
        return Sensitivity(whole.l1 / 2, whole.l2 / 2, whole.block / 2, whole.range)

    monkeypatch.setattr(query, "sensitivity", half)
    with caught:
        losses(SIX, **APPROX)


def test_the_square_of_the_reach_forgotten(monkeypatch):
    monkeypatch.setattr(Spread, "sensitivity", lambda self, relation, region: Sensitivity(np.inf, self.reach**2 / 1.5))
    with caught:
        losses(SIX, **APPROX)


def test_moments_off_the_diagonal_not_weighted(monkeypatch):
    # Declared for the matrix, drawn for a triangle whose entries count once: too much noise is the milder mistake. The
    # other way round, entries that count twice, must not pass for the matrix.
    tally = Spread.tally
    monkeypatch.setattr(Spread, "tally", lambda self, chunk, cell: tally(self, chunk, cell) * np.sqrt(2))
    domain, row = regions(3)["box"], np.full((1, 3), 0.5)
    rooms = (room_over(rows, domain, Relation.ADD_REMOVE) for rows in (np.r_[row, row], row))
    with caught:
        check_move(Spread(Everything(), np.zeros((1, 3)), 0.5), *rooms)


def test_axes_that_stretch_what_they_show(monkeypatch):
    monkeypatch.setattr(Spread, "sensitivity", lambda self, relation, region: Sensitivity(np.inf, self.reach**2))
    domain, row = regions(3)["box"], np.full((1, 3), 0.5)
    rooms = (room_over(rows, domain, Relation.ADD_REMOVE) for rows in (np.r_[row, row], row))
    with caught:
        check_move(Spread(Everything(), np.zeros((1, 3)), 0.5, 2 * np.eye(3)), *rooms)


@pytest.mark.parametrize("losses_of", [fine_losses, finer_losses])
def test_the_test_of_fine_cells_for_half_its_price(losses_of, monkeypatch):
    monkeypatch.setattr(
        NoisyExcess,
        "bought",
        classmethod(lambda cls, share, moved, *, threshold: cls(Laplace.bought(share, moved.times(0.5)), threshold)),
    )
    with caught:
        losses_of()


@pytest.mark.parametrize("losses_of", [fine_losses, finer_losses])
def test_the_fullest_cells_weighed_twice(losses_of, monkeypatch):
    monkeypatch.setattr(NoisyExcess, "_excess", lambda self, truth: np.array([2 * truth.values.sum()]))
    with caught:
        losses_of()


def test_a_test_that_is_asked_only_if_the_one_before_said_yes(monkeypatch):
    # What is left unasked is left unspent: the request is not used up.
    asked = DataRoom.ask
    table = many_columns(crowd(2))

    def lazy(self, query, kind, share, **options):
        if kind is NoisyExcess and any(entry.note == options["note"] for entry in self.ledger.entries):
            return asked(self, query, kind, share.fraction(1e-9), **options)
        return asked(self, query, kind, share, **options)

    monkeypatch.setattr(DataRoom, "ask", lazy)
    with caught:
        check_ledger(CARD, table, **{**APPROX, "k": 60})


def test_the_box_that_rows_chose(monkeypatch):
    # Zoomed in on the rows themselves instead of on released cells: the partition differs between neighbours.
    assign = Zoomed.assign
    monkeypatch.setattr(Zoomed, "assign", lambda self, chunk: assign(self, chunk * (0.02 * len(chunk))))
    domain = regions(2)["box"]
    rows = np.random.default_rng(0).uniform(-1, 1, (60, 2))
    over = Zoomed(Grid(domain.region.half / 3, np.full(2, 9)), Grid.over(domain.region, 4))
    with caught:
        check_move(
            dpviz.privacy.queries.Count(over), *(room_over(r, domain, Relation.ADD_REMOVE) for r in (rows, rows[1:]))
        )


def test_the_number_of_rows_used_unpaid(monkeypatch):
    monkeypatch.setattr(DataRoom, "n", property(lambda self: max(1, len(self._rows))))
    for world in (PUBLIC, SIX):
        with pytest.raises((AssertionError, ValueError)):
            check_replay(CARD, world.table(), **APPROX)


def test_a_part_left_out_of_the_calibration(monkeypatch):
    calibrated = DataRoom.calibrated

    def forgetful(self, **draws: Draws):
        last = [*draws][-1]
        shares = calibrated(self, **{name: draw for name, draw in draws.items() if name != last})
        shares[last] = shares[[*draws][-2]]
        return shares

    monkeypatch.setattr(DataRoom, "calibrated", forgetful)
    with pytest.raises(ValueError, match="left"):
        check_ledger(CARD, PUBLIC.table(), **APPROX)


def test_a_round_that_nobody_books(monkeypatch):
    charge = Ledger.charge
    monkeypatch.setattr(Ledger, "charge", lambda self, *entries: charge(self, *entries[:1]))
    with caught:
        check_ledger(CARD, PUBLIC.table(), **APPROX)


def test_a_plan_that_buys_less_than_the_request(monkeypatch):
    shares = auto_plan.AutoPlan.shares
    part = auto_plan.Part("round", "unused", "Laplace", 0.1, 99)
    unused = auto_plan.Round(None, part, part._replace(what="unused too"))
    monkeypatch.setattr(
        auto_plan.AutoPlan,
        "shares",
        lambda self, room: shares(dataclasses.replace(self, polishing=(*self.polishing, unused)), room),
    )
    with caught:
        check_ledger(CARD, PUBLIC.table(), **APPROX)


def test_counts_and_codes_of_other_cells(monkeypatch):
    # A row in two cells at once.
    tally = SparseCount.tally
    monkeypatch.setattr(
        SparseCount, "tally", lambda self, chunk, cell: tally(self, chunk, cell) + tally(self, chunk, (cell + 1) % 7)
    )
    with caught:
        fine_losses()
