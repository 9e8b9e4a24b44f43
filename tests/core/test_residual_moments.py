"""Moments around released centres, and noise on single rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from dpviz.core.accounting import Accounting, Budget
from dpviz.core.domain import Region
from dpviz.core.local_model import EachRow, LocalNoise
from dpviz.core.mechanisms import KNorm
from dpviz.core.noise import StudyNoise
from dpviz.core.partitions import Everything, Voronoi
from dpviz.core.queries import Relation, ResidualMoments, Sensitivity, Spread, read_power_sums
from dpviz.core.tuples import TupleTable
from tests.contract.laws import check_scale
from tests.core.asked import asked


@pytest.mark.parametrize("dim", [1, 5])
def test_moments_are_those_of_residuals_moved_within_the_radius(dim):
    rng = np.random.default_rng(dim)
    rows, centers, radius = rng.uniform(-1, 1, (300, dim)), rng.uniform(-1, 1, (3, dim)), 0.7
    over = Voronoi(centers)
    cell = over.assign(rows)
    query = ResidualMoments(over, radius)
    first, second = read_power_sums(asked(query, rows), dim, radius)
    for i in range(3):
        residual = rows[cell == i] - centers[i]
        length = np.linalg.norm(residual, axis=1, keepdims=True)
        residual = np.where(length > radius, residual * radius / length, residual)
        np.testing.assert_allclose(first[i], residual.sum(axis=0), atol=1e-2)
        np.testing.assert_allclose(second[i], residual.T @ residual, atol=1e-2)


@pytest.mark.slow
def test_no_pair_of_unit_vectors_moves_more_than_declared_and_one_does():
    rng = np.random.default_rng(0)
    for dim in (1, 2, 3):
        query, region = ResidualMoments(Voronoi(np.zeros((1, dim))), 1.0), Region.ball(dim, 1.0)
        pairs = region.clip(rng.normal(size=(300, 2, dim)) * 2)
        answers = np.stack([asked(query, row[None], region)[0] for row in pairs.reshape(-1, dim)])
        moved = np.linalg.norm(answers[::2] - answers[1::2], axis=1).max()
        declared = query.sensitivity(Relation.REPLACE, region).l2
        assert 0.98 * declared < moved <= declared * (1 + 1e-12)


def test_each_row_gets_noise_of_its_own_with_the_k_norm_law():
    share = Budget(Accounting.BASIC, 2.0, 1e-6)
    mechanism = LocalNoise.calibrated(share, Sensitivity(np.inf, np.inf, block=2.0), number=3000)
    assert (mechanism.scale, mechanism.cost(Accounting.BASIC)) == (1.0, 2.0)
    rows = TupleTable(np.full((3000, 1, 2), 0.5))
    noisy = mechanism.draw(rows, StudyNoise(np.random.default_rng(0)))
    check_scale(np.linalg.norm(noisy - 0.5, axis=1), stats.gamma, 1.0, 2)


@pytest.mark.parametrize("rows", [0, 5, 90])
def test_the_number_of_places_is_public_whatever_the_number_of_rows(rows):
    class Quiet(StudyNoise):
        def spherical(self, scale, shape):
            return np.zeros(shape)

    table = TupleTable(np.arange(1.0, rows + 1)[:, None, None])
    mechanism = LocalNoise(KNorm(2.0, 1.0), 40)
    places = mechanism.draw(table, Quiet(np.random.default_rng(1)))
    assert places.shape == (40, 1)
    assert (places == 0).sum() == max(0, 40 - rows)
    assert len(set(places[places != 0].tolist())) == min(40, rows)
    # In an order that is not that of the table.
    assert rows < 5 or (np.diff(places[places != 0]) < 0).any()
    assert EachRow().sensitivity(Relation.ADD_REMOVE, Region.ball(2, 0.5)).block == 1.0


def test_in_one_column_two_rows_in_two_cells_move_the_most():
    query, region = ResidualMoments(Voronoi(np.array([[-1.0], [1.0]])), 0.25), Region.ball(1, 1.0)
    one, other = (asked(query, np.array([[row]]), region) for row in (-0.5, 0.5))
    assert np.linalg.norm(one - other) == pytest.approx(2.0, rel=1e-3)
    assert query.sensitivity(Relation.REPLACE, region).l2 == 2.0


def test_under_replace_a_spread_moves_by_two_products_of_its_reach():
    query, region = Spread(Everything(), np.zeros((1, 2)), clipping_radius=0.5), Region.ball(2, 1.0)
    declared = query.sensitivity(Relation.REPLACE, region)
    assert declared.block == 2 * 0.5**2
    assert declared.l2 == pytest.approx(2**0.5 * 0.5**2)
