"""Radii, sums, spreads and moments of residuals, against plain formulas; and noise on single rows."""

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
from dpviz.core.queries import (
    Radii,
    Relation,
    ResidualMoments,
    ResidualSum,
    ScaledResidualSum,
    Sensitivity,
    Spread,
    Tallies,
    read_power_sums,
    unpack_symmetric,
)
from dpviz.core.rows import Rows
from dpviz.core.tuples import TupleTable
from tests.contract.laws import check_scale
from tests.contract.tables import make_blobs
from tests.core.asked import asked

CENTERS = np.array([[0.5, 0.0, 0.1], [-0.5, 0.2, 0.0], [0.0, -0.6, 0.3]])


def _residuals(rows):
    cell = Voronoi(CENTERS).assign(rows)
    return rows - CENTERS[cell], cell


@pytest.mark.parametrize("clipping_radius", [0.2, 10.0])
def test_sums_of_shortened_residuals(clipping_radius):
    rows = make_blobs(300, 3)
    residual, cell = _residuals(rows)
    length = np.linalg.norm(residual, axis=1)
    residual = residual * np.minimum(1, clipping_radius / length)[:, None]
    expected = np.stack([residual[cell == j].sum(axis=0) for j in range(3)])
    assert asked(ResidualSum(Voronoi(CENTERS), CENTERS, clipping_radius), rows) == pytest.approx(expected, abs=1e-2)


def test_sums_of_residuals_over_the_reach_of_their_cluster():
    rows, clipping_radii = make_blobs(300, 3), np.array([0.1, 0.4, 5.0])
    residual, cell = _residuals(rows)
    parts = residual / np.maximum(np.linalg.norm(residual, axis=1), clipping_radii[cell])[:, None]
    expected = np.stack([parts[cell == j].sum(axis=0) for j in range(3)])
    assert asked(ScaledResidualSum(Voronoi(CENTERS), CENTERS, clipping_radii), rows) == pytest.approx(
        expected, abs=1e-2
    )


@pytest.mark.parametrize("axes", [None, 2])
def test_spreads_are_second_moments_along_the_axes(axes):
    rows = make_blobs(300, 3)
    frame = None if axes is None else np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0][:axes]
    residual, cell = _residuals(rows)
    residual = residual * np.minimum(1, 0.4 / np.linalg.norm(residual, axis=1))[:, None]
    seen = residual if frame is None else residual @ frame.T
    expected = np.stack([seen[cell == j].T @ seen[cell == j] for j in range(3)])
    query = Spread(Voronoi(CENTERS), CENTERS, 0.4, frame)
    answer = asked(query, rows)
    assert unpack_symmetric(answer, query.axes) == pytest.approx(expected, abs=1e-2)
    # Flat, with weights, distances are those of the matrices.
    assert np.linalg.norm(answer) == pytest.approx(np.linalg.norm(expected), rel=1e-3)


def test_questions_about_the_same_points_are_answered_together_as_they_are_alone():
    rows, over = make_blobs(300, 3), Voronoi(CENTERS)
    queries = (ResidualSum(over, over.centers, 0.3), Spread(over, over.centers, 0.4), ResidualMoments(over, 0.5))
    chunks = Rows.of(rows, Region.ball(3, 8.0))
    for query, together in zip(queries, chunks.total(Tallies(queries), 20), strict=True):
        np.testing.assert_array_equal(together, chunks.total(Tallies((query,)), 20)[0])


def test_radii_are_a_histogram_whose_last_bin_takes_the_rest():
    rows = np.array([[0.0, 0.0], [0.3, 0.0], [0.0, 0.7], [5.0, 5.0]])
    counts = asked(Radii(Everything(), np.zeros((1, 2)), 1.0, bins=4), rows)
    assert counts.tolist() == [1, 1, 1, 1]


def test_a_finer_beginning_cuts_the_first_bin_alone():
    rows, clipping_radius = make_blobs(400, 2) * np.random.default_rng(1).uniform(0, 1, (400, 1)) ** 4, 2.0
    coarse, fine = (Radii(Everything(), np.zeros((1, 2)), clipping_radius, 10, finer) for finer in (0, 5))
    counts = asked(fine, rows)
    assert counts.tolist() == np.histogram(np.linalg.norm(rows, axis=1), fine.edges)[0].tolist()
    assert [counts[:6].sum(), *counts[6:]] == asked(coarse, rows).tolist()
    ratios = fine.edges[2:8] / fine.edges[1:7]
    assert ratios[:5] == pytest.approx(np.sqrt(2)) and ratios[5] == pytest.approx(2)


def test_a_row_keeps_its_bin_whoever_stands_beside_it():
    rng = np.random.default_rng(0)
    row = rng.normal(size=(1, 17))
    at = rng.normal(size=(1, 17))
    length = float(np.linalg.norm(row - at))
    for clipping_radius in (2 * length, length * 40 / 7):  # the second has the row on the border of two bins
        query = Radii(Everything(), at, clipping_radius)
        alone = asked(query, row).argmax()
        for place in range(9):
            crowd = np.r_[rng.normal(size=(place, 17)), row, rng.normal(size=(3, 17))]
            without = np.delete(crowd, place, axis=0)
            assert (asked(query, crowd) - asked(query, without)).argmax() == alone


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
