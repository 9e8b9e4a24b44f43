"""Histograms of segments count what they say, whatever the bins, and losses are cut where they say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.core.check import RequestError
from dpviz.core.domain import Region, Shape
from dpviz.core.lattice import POINT_BITS, count_loss_bits, count_row_bits
from dpviz.core.losses import CappedLosses, Loss
from dpviz.core.partitions import ProjectedCells, Voronoi
from dpviz.core.queries import DistanceScales, Relation, SegmentHistogram
from dpviz.core.rows import convert_to_unit
from dpviz.releases.described_table import code_rows
from dpviz.tables.codings import Closed, Cycle, Nominal, Ordinal, make_coded_domain
from tests.cases import about
from tests.core.asked import asked

SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS, st.integers(1, 4), st.integers(1, 40))
def test_a_histogram_of_codes_is_that_of_the_segments(seed, p, number):
    rng, view = np.random.default_rng(seed), Region(np.ones(p), 0.9)
    points, codes = view.rows(rng.uniform(-1, 1, (200, p))), rng.integers(0, number, (200, 1))
    centers = rng.uniform(-0.5, 0.5, (3, p))
    together = Region(np.ones(p + 1), float(np.sqrt(0.81 + 1)))
    rows = np.concatenate([points, code_rows(codes, np.array([number]))], axis=1)
    over = ProjectedCells(Voronoi(centers), np.eye(p, p + 1), view)
    counts = asked(SegmentHistogram(over, p, number), rows, together)
    cell = ((points[:, None] - Voronoi(centers).centers) ** 2).sum(axis=2).argmin(axis=1)
    expected = [np.bincount(codes[cell == j, 0], minlength=number) for j in range(3)]
    np.testing.assert_array_equal(counts, expected)


def test_bins_are_equal_parts_and_the_last_ones_take_the_rest():
    rows = np.array([[-9.0], [-0.5], [-0.26], [-0.25], [0.0], [0.4999], [0.5], [7.0]])
    counts = asked(SegmentHistogram(Voronoi(np.array([[-8.0], [0.0]])), 0, 4, half=0.5), rows, Region.ball(1, 8.0))
    np.testing.assert_array_equal(counts, [[1, 0, 0, 0], [2, 1, 1, 3]])


def test_bins_of_any_width_begin_at_their_starts():
    rows = np.array([[-9.0], [-1.0], [-0.75], [-0.5], [0.0], [0.49], [0.5], [7.0]])
    query = SegmentHistogram(Voronoi(np.zeros((1, 1))), 0, 3, starts=(0, 128, 384))
    np.testing.assert_array_equal(asked(query, rows, Region.ball(1, 8.0)), [[3, 3, 2]])


def test_a_row_is_in_the_bin_of_its_corner_its_rank_and_its_hour():
    """Whatever the weight: the bins of declared values are the values, and each is counted where it was declared."""
    codings = {"c": Nominal(("a", "b")), "b": Closed(("no", "yes")), "s": Ordinal(tuple("01234")), "h": Cycle(24.0)}
    lower, upper = zip(*(coding.ends for coding in codings.values()), strict=True)
    cells = np.array([[i % 4, i % 2, 1 + i % 5, i % 24] for i in range(240)], dtype=np.float64)
    for weights in ({}, dict.fromkeys(codings, 0.1), dict.fromkeys(codings, 4.0)):
        domain = make_coded_domain(list(codings), lower, upper, codings=codings, weights=weights)
        rows, over = convert_to_unit(cells, domain), Voronoi(np.zeros((1, domain.dim)))
        for j, (column, place) in enumerate(zip(domain.declared, domain.places, strict=True)):
            shape = None if column.coding.shape is Shape.PAIR else column.coding.shape
            bins = len(column.coding.bins)
            query = SegmentHistogram(over, place.start, bins, float(domain.region.half[place.start]), shape=shape)
            of_value = (cells[:, j] - column.lower) // (3 if column.name == "h" else 1)
            expected = np.bincount(of_value.astype(np.int64), minlength=bins)
            with about(column.name, weights):
                np.testing.assert_array_equal(asked(query, rows, domain.region)[0], expected)


@given(SEEDS, st.integers(1, 5))
def test_distances_lie_between_the_edges_of_their_bins(seed, dim):
    rng, region = np.random.default_rng(seed), Region.ball(dim, 2.0)
    values = region.rows(rng.normal(size=(60, dim)) * 10.0 ** rng.uniform(-4, 0, (60, 1)))
    query = DistanceScales(Voronoi(rng.uniform(-1, 1, (3, dim)) * rng.choice([0, 1])), top=4, bins=30)
    values = np.r_[values, query.over.centers[:1]]  # one lies on its centre, in the first bin
    squared = ((values[:, None] - query.over.centers) ** 2).sum(axis=2)
    cell, nearest = squared.argmin(axis=1), squared.min(axis=1)
    counts = asked(query, values, region)
    for j in range(3):
        expected = np.histogram(nearest[cell == j], query.edges)[0]
        np.testing.assert_array_equal(counts[j].cumsum(), expected.cumsum())


@given(SEEDS, st.integers(1, 4))
def test_losses_are_cut_at_their_caps(seed, dim):
    rng = np.random.default_rng(seed)
    sets, rows = rng.uniform(-1, 1, (4, 3, dim)), rng.uniform(-1, 1, (80, dim))
    caps = 2.0 ** rng.integers(-8, 4, 4)
    nearest = ((rows[:, None, None] - sets) ** 2).sum(axis=3).min(axis=2)
    cut = asked(CappedLosses(sets, caps=caps), rows)
    # Rows and centres, 2 apart at most in a coordinate, are moved to their lattices, and a loss is rounded down.
    moved = 4 * dim * (2.0 ** -count_row_bits(8.0) + 2.0**-POINT_BITS) + 2.0 ** -count_loss_bits(8.0)
    np.testing.assert_allclose(cut, np.minimum(nearest, caps).sum(axis=0), atol=80 * moved)
    assert (cut <= 80 * caps).all()
    wide = CappedLosses(sets, caps=np.full(4, 1e6))
    np.testing.assert_array_equal(asked(wide, rows), asked(Loss(sets), rows))


def test_no_cap_is_larger_than_the_region_and_replacing_costs_no_more_than_adding():
    region = Region.ball(2, 1.0)
    query = CappedLosses(np.zeros((2, 1, 2)), caps=np.array([100.0, 0.5]))
    for relation in Relation:
        declared = query.sensitivity(relation, region)
        assert (declared.l1, declared.range) == (4.5, 4.0 * relation.rows)
        assert declared.l2 == pytest.approx(np.hypot(4, 0.5))


def test_what_is_no_cap_is_refused():
    for caps in ([1.0], [0.0, 1.0], [np.inf, 1.0], [np.nan, 1.0]):
        with pytest.raises(RequestError, match="above 0"):
            CappedLosses(np.zeros((2, 1, 2)), caps=np.array(caps))
