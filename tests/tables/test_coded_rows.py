"""Cells become codes of public bins one by one, and a code survives its way through the lattice of rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.core import lattice
from dpviz.core.check import RequestError
from dpviz.core.domain import Region
from dpviz.core.segment_counts import decode_bins
from dpviz.tables.coded_rows import MOST_BINS, Categories, EqualBins, code_rows
from tests.cases import about


@given(st.integers(1, MOST_BINS), st.integers(14, lattice.ROW_BITS), st.data())
def test_a_code_comes_back_from_its_coordinate(number, bits, data):
    if number > 2 ** (bits - 1):
        with pytest.raises(RequestError, match="number_of_bins"):
            code_rows(np.array([[0]]), np.array([number]), bits=bits)
        return
    every = np.arange(number)[:, None]
    points = code_rows(every, np.array([number]), bits=bits)
    assert (np.abs(points) < 1).all() and (points * 2.0**bits % 1 == 0).all()
    np.testing.assert_array_equal(np.floor((points + 1) / 2 * number), every)
    np.testing.assert_array_equal(decode_bins(points, number), every)
    box = Region(np.ones(1), 1.0)
    np.testing.assert_array_equal(box.rows(points), points)
    anywhere = data.draw(st.floats(-1, 1))
    assert 0 <= decode_bins(np.array(anywhere), number) < number


@given(
    st.floats(-1e9, 1e9), st.floats(1e-3, 1e9), st.integers(1, 300), st.lists(st.floats(allow_nan=True), max_size=20)
)
def test_a_number_lies_in_its_bin_whoever_stands_beside_it(lower, width, bins, values):
    rule = EqualBins(lower, lower + width, bins)
    codes = rule.codes(np.array(values))
    assert rule.number == bins + 1
    for value, code in zip(values, codes, strict=True):
        assert rule.codes([value])[0] == code
        if not np.isfinite(value):
            assert code == bins
            continue
        left, right = rule.edges[code], rule.edges[code + 1]
        slack = 1e-9 * (abs(lower) + width)
        assert left - slack <= min(max(value, lower), lower + width) <= right + slack


def test_numbers_beyond_the_bounds_are_in_the_last_bins():
    rule = EqualBins(0.0, 10.0, 5)
    assert rule.codes([-1e300, 0, 1.99, 2, 10, 1e300, np.nan, np.inf]).tolist() == [0, 0, 0, 1, 4, 4, 5, 5]


def test_categories_are_texts_as_people_write_them():
    rule = Categories(("North", "Süd", "7"))
    cells = pd.Series(["North", " North ", "Su\u0308d", "7", "north", "", None, "7.0"], dtype="str")
    assert rule.codes(cells).tolist() == [0, 0, 1, 2, 3, 4, 4, 2]
    assert rule.codes(np.array([7.0, 8.0, np.nan])).tolist() == [2, 3, 4]
    assert rule.number == len(rule.labels) == 5
    assert rule.labels[3:] == ("(any other)", "(missing)")


def test_what_is_no_rule_is_refused():
    for make, words in (
        (lambda: EqualBins(1.0, 1.0, 3), "lower one first"),
        (lambda: EqualBins(0.0, np.inf, 3), "finite"),
        (lambda: EqualBins(0.0, 1.0, 0), "bins is 0"),
        (lambda: EqualBins(0.0, 1.0, MOST_BINS), "bins is 4096"),
        (lambda: Categories(()), "No category"),
        (lambda: Categories(("a", " a")), "repeat"),
        (lambda: Categories(("a", " ")), "is empty"),
        (lambda: Categories(tuple(map(str, range(MOST_BINS)))), "common ones"),
    ):
        with about(words), pytest.raises(RequestError, match=words):
            make()
