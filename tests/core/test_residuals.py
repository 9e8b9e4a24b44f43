"""Radii and sums of residuals, against plain formulas; and noise on single rows."""

import numpy as np
import pytest

from dpviz.core.domain import Region
from dpviz.core.local_model import EachRow, LocalNoise
from dpviz.core.mechanisms import KNorm
from dpviz.core.noise import StudyNoise
from dpviz.core.partitions import Everything, Voronoi
from dpviz.core.queries import Radii, Relation, ResidualSum
from dpviz.core.tuples import TupleTable
from tests.contract.tables import make_blobs
from tests.core.asked import asked

CENTERS = np.array([[0.5, 0.0, 0.1], [-0.5, 0.2, 0.0], [0.0, -0.6, 0.3]])


@pytest.mark.parametrize("clipping_radius", [0.2, 10.0])
def test_sums_of_shortened_residuals(clipping_radius):
    rows = make_blobs(300, 3)
    cell = Voronoi(CENTERS).assign(rows)
    residual = rows - CENTERS[cell]
    length = np.linalg.norm(residual, axis=1)
    residual = residual * np.minimum(1, clipping_radius / length)[:, None]
    expected = np.stack([residual[cell == j].sum(axis=0) for j in range(3)])
    assert asked(ResidualSum(Voronoi(CENTERS), CENTERS, clipping_radius), rows) == pytest.approx(expected, abs=1e-2)


@pytest.mark.parametrize("rows", [0, 5, 90])
def test_the_number_of_places_is_public_whatever_the_number_of_rows(rows):
    class Quiet(StudyNoise):
        def spherical(self, scale, shape):
            return np.zeros(shape)

    table = TupleTable(np.arange(1.0, rows + 1)[:, None, None])
    mechanism = LocalNoise(KNorm(2.0, 1.0), 40)
    places = mechanism.draw(table, Quiet(np.random.default_rng(1)))
    assert places.shape == (40, 1) and (places == 0).sum() == max(0, 40 - rows)
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
