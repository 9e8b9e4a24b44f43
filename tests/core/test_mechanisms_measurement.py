"""A released value knows the mechanism that drew it, and the mechanism knows the value's noise."""

from __future__ import annotations

import numpy as np
import pytest

from dpviz.core.accounting import Accounting
from dpviz.core.losses import Loss
from dpviz.core.mechanisms import (
    Exponential,
    KNorm,
    Laplace,
    Measurement,
    Question,
    SparseLaplace,
    calibrate_mechanism,
    choose_noise_kind,
)
from dpviz.core.partitions import Grid, Voronoi
from dpviz.core.queries import Count, SparseCount, Sum
from tests.contract.sessions import open_seeded
from tests.contract.tables import make_small_table

CELLS = Voronoi(np.array([[0.5, 0.5, 0.5], [-0.5, -0.5, -0.5]]))


def _session(accounting=Accounting.PURE, seed=0):
    table = make_small_table(np.random.default_rng(1).uniform(-1, 1, (50, 3)), n_public=50)
    return open_seeded(table, accounting, delta=1e-6, seed=seed)


@pytest.mark.parametrize(
    ("accounting", "spherical"), [(Accounting.PURE, False), (Accounting.PURE, True), (Accounting.GDP, True)]
)
def test_the_mechanism_that_is_planned_with_is_the_one_that_draws_and_is_booked(accounting, spherical):
    session = _session(accounting)
    share, kind = session.budget.fraction(0.5), choose_noise_kind(accounting, spherical=spherical)
    planned = session.mechanism(Sum(CELLS), kind, share)
    assert session.ledger.entries == []
    released = session.release(Sum(CELLS), share, note="x", spherical=spherical)
    assert released.mechanism == planned
    (entry,) = session.ledger.entries
    assert (entry.mechanism, entry.scale) == (planned.name, planned.scale)
    assert released.sd == planned.compute_sd(3)
    assert calibrate_mechanism(Sum(CELLS), kind, share, session.relation, session.region) == planned


def test_k_norm_noise_spreads_over_the_width_of_the_value():
    laplace, k_norm = Laplace(1.0, 2.0), KNorm(1.0, 2.0)
    assert Measurement(np.zeros((4, 3)), k_norm).sd == 2.0 * 4**0.5
    assert Measurement(np.zeros((4, 3)), laplace).sd == Measurement(np.zeros(7), laplace).sd == 2.0 * 2**0.5
    assert k_norm.compute_sd(1) == laplace.compute_sd(1), "on a line they are one law"


def test_one_pass_releases_what_each_door_alone_does():
    session, again = _session(), _session()
    share = session.budget.fraction(0.25)
    together = session.ask_together(
        Question(Count(CELLS), Laplace, share), Question(Sum(CELLS), KNorm, share), note="x"
    )
    alone = (again.release(Count(CELLS), share, note="x"), again.ask(Sum(CELLS), KNorm, share, note="x"))
    for one, other in zip(together, alone, strict=True):
        np.testing.assert_array_equal(one.value, other.value)
        assert one.mechanism == other.mechanism


def test_a_choice_and_a_cut_know_their_mechanism_too():
    session = _session()
    choice = session.ask(Loss(np.zeros((2, 1, 3))), Exponential, session.budget.fraction(0.1), note="x")
    assert choice.value in (0, 1)
    assert choice.mechanism.sensitivity == pytest.approx(session.region.radius**2)
    grid, share = Grid.over(session.region, 4), session.budget.fraction(0.5)
    listed = session.ask(SparseCount(grid), SparseLaplace, share, note="x", cutoff_in_scales=1.0)
    assert listed.sd == listed.mechanism.scale * 2**0.5
    assert (np.abs(listed.value.values) > listed.mechanism.cutoff).all()


def test_a_bought_number_of_rows_is_not_public():
    session = open_seeded(make_small_table(np.zeros((50, 2))), needs_n=True)
    assert not session.n_is_public
    assert not session.project(np.eye(2), session.region).n_is_public
    assert _session().n_is_public
