"""A released value knows the mechanism that drew it, and the mechanism knows the value's noise."""

import numpy as np
import pytest

from dpviz.core.accounting import Accounting
from dpviz.core.mechanisms import KNorm, Laplace, Measurement, calibrate_mechanism, choose_noise_kind
from dpviz.core.partitions import Voronoi
from dpviz.core.queries import Sum
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


def test_a_bought_number_of_rows_is_not_public():
    session = open_seeded(make_small_table(np.zeros((50, 2))), needs_n=True)
    assert not session.n_is_public and not session.project(np.eye(2), session.region).n_is_public
    assert _session().n_is_public
