"""Beside the clustered coordinates, which stay what they were, stand the codes of the columns that describe."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from dpviz.core import lattice
from dpviz.core.check import RequestError
from dpviz.core.domain import Region
from dpviz.core.partitions import Voronoi
from dpviz.core.queries import SegmentHistogram, decode_bins
from dpviz.releases import described_table
from dpviz.runs.open_table import declare
from dpviz.tables.codings import MISSING_LABEL, MOST_BINS, OTHER, Described
from dpviz.tables.csv_intake import CsvFile, CsvOnDisk
from dpviz.tables.declarations import Declaration
from dpviz.tables.loaded_table import make_numeric_table
from dpviz.tables.sparse_intake import SparseTable
from tests.cases import about
from tests.core.asked import asked
from tests.releases.segment_tables import KINDS, described_mixed, mixed_frame

LINES = (
    "who,x,y,height,region\n"
    "a,0.5,0.5,1.0,North\n"
    "a,0.6,0.1,,South\n"
    "b,-0.5,0.2,2.5,\n"
    "c,0.9,0.9,0.0,elsewhere\n"
    "d,,0.1,1.0,North\n"
)
DECLARED = Declaration(
    columns=("x", "y"),
    lower=(-1.0, -1.0),
    upper=(1.0, 1.0),
    describe={"height": Described(bounds=(0.0, 2.0)), "region": Described(categories=("North", "South"))},
)


def _described(declared: Declaration, lines: str = LINES):
    source = CsvFile("t", lines.encode())
    return described_table.make_described_table(declare(source, declared), source)


@pytest.mark.parametrize(("radius", "scaling"), [(None, "unit"), (0.8, "common")])
def test_clustered_coordinates_are_to_the_bit_what_the_clustering_saw(radius, scaling):
    declared = replace(DECLARED, upper=(1.0, 3.0), scaling=scaling, radius=radius)
    source = CsvFile("t", LINES.encode())
    opened = declare(source, declared)
    table = described_table.make_described_table(opened, source)
    rows, seen = table.private._rows.values, opened.private._rows.values
    np.testing.assert_array_equal(rows[:, :2], seen)
    assert rows.shape == (4, 4) and table.description.width == 4
    assert table.private.domain.region.row_bits == opened.domain.region.row_bits
    np.testing.assert_array_equal(seen @ table.description.frame[:, :2], seen)
    centers = np.array([[0.5, 0.5], [-0.5, 0.0]])
    over = table.description.cells(centers)
    counts = asked(SegmentHistogram(over, 3, 4), rows, table.private.domain.region)
    alone = asked(SegmentHistogram(Voronoi(centers), 0, 4), seen, opened.domain.region)
    np.testing.assert_array_equal(counts.sum(axis=1), alone.sum(axis=1))


def test_coordinates_of_every_kind_are_to_the_bit_what_the_clustering_saw_whatever_they_weigh():
    frame = mixed_frame(90)
    frame.loc[3, "sex"] = "neither"
    more = {"weights": {"region": 4.0, "age": 3.0, "hour": 0.3}, "radius": 1.2}
    alone = described_mixed(frame, **more)
    beside = described_mixed(frame, **more, describe={"town": {"categories": ["X", "Y"]}})
    seen, rows = alone.private._rows.values, beside.private._rows.values
    np.testing.assert_array_equal(rows[:, :-1], seen)
    assert len(seen) == 89 and beside.private.domain.region.row_bits == alone.private.domain.region.row_bits
    names = [column.name for column in beside.description.columns]
    assert names == [*KINDS, "town"] and beside.description.columns[-1].place == alone.description.width
    assert [column.labels for column in alone.description.columns[2:5]] == [
        ("N", "S", OTHER, MISSING_LABEL),
        ("F", "M"),
        ("I", "II", "III"),
    ]


def test_every_bin_is_what_the_cell_says_and_missing_is_a_bin():
    table = _described(DECLARED)
    height, region = table.description.columns[2:]
    assert (height.place, height.may_miss, region.labels[-1]) == (2, True, "(missing)")
    rows, over = table.private._rows.values, Voronoi(np.zeros((1, 4)))
    inside = table.private.domain.region
    coarse = asked(SegmentHistogram(over, height.place, 2 * 4), rows, inside)[0]
    np.testing.assert_array_equal(coarse, [1, 0, 1, 1, 1, 0, 0, 0])  # 0.0; 1.0; 2.5 clipped; one missing
    fine = asked(SegmentHistogram(over, height.place, 2 * described_table.FINEST), rows, inside)[0]
    assert fine[described_table.FINEST] == 1 and fine[described_table.FINEST + 1 :].sum() == 0
    named = asked(SegmentHistogram(over, region.place, len(region.labels)), rows, inside)[0]
    np.testing.assert_array_equal(named, [1, 1, 1, 1])


def test_a_row_counts_as_declared():
    kept = _described(replace(DECLARED, relation="replace")).private
    assert len(kept._rows) == kept.n_public == 5
    assert (kept._rows.values[4, :2] == 0).all() and kept._rows.values[4, 3] == -0.75
    capped = _described(replace(DECLARED, id_column="who")).private
    assert len(capped._rows) == 3 and capped.has_persons
    of_persons = replace(DECLARED, id_column="who", rows_per_person=4)
    beside = _described(of_persons, LINES + ",0.3,0.3,1.0,North\n" * 2).private  # rows of nobody are in no segment
    np.testing.assert_array_equal(beside._rows.values, _described(of_persons).private._rows.values)


def test_what_memory_does_not_hold_is_described_by_its_clustered_columns(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(LINES, encoding="utf-8")
    source = CsvOnDisk(path)
    table = described_table.make_described_table(declare(source, replace(DECLARED, describe={})), source)
    assert not table.private.in_memory and len(table.description.columns) == 2
    thin = SparseTable("t", sparse.csr_array(np.eye(4, 3)))
    of_all = Declaration(
        lower=(-1.0,), upper=(1.0,), scaling="common", describe={"height": DECLARED.describe["height"]}
    )
    for content, declared, why in (
        (source, DECLARED, '"height", "region" would be described'),
        (thin, of_all, "not in memory as one of named columns"),
        (CsvFile("t", LINES.encode()), replace(DECLARED, describe={"regoin": Described(categories=("a",))}), "regoin"),
    ):
        with about(why), pytest.raises(RequestError, match=why):
            described_table.make_described_table(declare(content, declared), content)


def test_of_very_many_columns_none_is_described_and_that_is_said():
    most = described_table.MOST_CLUSTERED
    for columns, described in ((most, most), (most + 1, 0)):
        source = make_numeric_table(np.zeros((3, columns)))
        table = described_table.make_described_table(declare(source, Declaration(lower=(-1.0,), upper=(1.0,))), source)
        assert len(table.description.columns) == described
    assert "none is described" in table.description.notes[0]


# Cells become codes of public bins one by one; a code survives its way through the lattice of rows; round ranges.


@given(st.integers(1, MOST_BINS), st.integers(14, lattice.ROW_BITS), st.data())
def test_a_code_comes_back_from_its_coordinate(number, bits, data):
    every, numbers = np.arange(number)[:, None], np.array([number])
    if number > 2 ** (bits - 1):
        with pytest.raises(RequestError, match="number_of_bins"):
            described_table.code_rows(every[:1], numbers, bits=bits)
        return
    points = described_table.code_rows(every, numbers, bits=bits)
    assert (np.abs(points) < 1).all() and (points * 2.0**bits % 1 == 0).all()
    np.testing.assert_array_equal(decode_bins(points, number), every)
    np.testing.assert_array_equal(Region(np.ones(1), 1.0).rows(points), points)
    assert 0 <= decode_bins(np.array(data.draw(st.floats(-1, 1))), number) < number


@given(st.floats(allow_nan=True, allow_infinity=True), st.floats())
def test_a_number_lies_in_the_range_of_its_bin_whoever_stands_beside_it(value, other):
    code, _ = RULE.codes([value, other]).tolist()
    assert 0 <= code < RULE.number and RULE.codes([value]).tolist() == [code]
    if not math.isfinite(value):
        assert code == RULE.number - 1
        return
    assert RULE.codes([-value])[0] - RULE.middle == RULE.middle - code
    found = RULE.find_range(code, code)
    small, large = RULE.ends[0], RULE.ends[-1]
    if abs(value) <= small:
        assert found == (0.0, 0.0) and code == RULE.middle
    elif abs(value) > large:
        assert abs(value) > min(abs(found.lower), abs(found.upper)) >= large
    else:
        assert found.lower <= value <= found.upper
        # The end that is farther from 0 belongs to the bin.
        assert abs(value) > min(abs(found.lower), abs(found.upper))


RULE = described_table.Magnitudes()
