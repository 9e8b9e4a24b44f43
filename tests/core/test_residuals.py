"""Radii, sums, spreads and moments of residuals, against plain formulas; and noise on single rows."""

from __future__ import annotations

import numpy as np
import pytest

from dpviz.core.domain import Region
from dpviz.core.local_model import EachRow, LocalNoise
from dpviz.core.mechanisms import KNorm
from dpviz.core.noise import StudyNoise
from dpviz.core.partitions import Everything, Voronoi
from dpviz.core.queries import Radii, Relation, ResidualMoments, ResidualSum, Spread, read_power_sums, unpack_symmetric
from dpviz.core.tuples import TupleTable
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


def test_radii_are_a_histogram_whose_last_bin_takes_the_rest():
    rows = np.array([[0.0, 0.0], [0.3, 0.0], [0.0, 0.7], [5.0, 5.0]])
    counts = asked(Radii(Everything(), np.zeros((1, 2)), 1.0, bins=4), rows)
    assert counts.tolist() == [1, 1, 1, 1]


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


def test_a_finer_beginning_cuts_the_first_bin_alone():
    rows, clipping_radius = make_blobs(400, 2) * np.random.default_rng(1).uniform(0, 1, (400, 1)) ** 4, 2.0
    coarse, fine = (Radii(Everything(), np.zeros((1, 2)), clipping_radius, 10, finer) for finer in (0, 5))
    counts = asked(fine, rows)
    assert counts.tolist() == np.histogram(np.linalg.norm(rows, axis=1), fine.edges)[0].tolist()
    assert [counts[:6].sum(), *counts[6:]] == asked(coarse, rows).tolist()
    ratios = fine.edges[2:8] / fine.edges[1:7]
    assert ratios[:5] == pytest.approx(np.sqrt(2)) and ratios[5] == pytest.approx(2)
