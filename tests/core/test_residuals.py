"""Radii, sums and spreads of residuals: against plain formulas, and what shortening does to a far row."""

from __future__ import annotations

import numpy as np
import pytest

from dpviz.core.domain import Region
from dpviz.core.partitions import Everything, Voronoi
from dpviz.core.queries import Radii, ResidualMoments, ResidualSum, ScaledResidualSum, Spread, Tallies, unpack_symmetric
from dpviz.core.rows import Rows
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


def test_no_row_pulls_farther_than_the_reach():
    rows = np.array([[1.0, 1.0, 1.0]]) * 1e3
    pull = asked(ResidualSum(Voronoi(CENTERS), CENTERS, 0.3), rows)
    assert 0.3 - 1e-5 < np.linalg.norm(pull) <= 0.3


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
