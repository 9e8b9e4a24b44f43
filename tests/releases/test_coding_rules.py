"""Cells become codes of public bins one by one; a code survives its way through the lattice of rows; round ranges."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.core import lattice
from dpviz.core.check import RequestError
from dpviz.core.domain import Region
from dpviz.core.lattice import count_row_bits
from dpviz.core.queries import decode_bins
from dpviz.releases.described_table import EqualBins, Magnitudes, code_rows
from dpviz.tables.codings import MOST_BINS
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


def test_what_is_no_rule_is_refused():
    for make, words in (
        (lambda: EqualBins(1.0, 1.0, 3), "lower one first"),
        (lambda: EqualBins(0.0, np.inf, 3), "finite"),
        (lambda: EqualBins(0.0, 1.0, 0), "bins is 0"),
        (lambda: EqualBins(0.0, 1.0, MOST_BINS), "bins is 4096"),
    ):
        with about(words), pytest.raises(RequestError, match=words):
            make()


RULE = Magnitudes()


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_a_number_lies_in_the_range_of_its_bin(value):
    (code,) = RULE.codes([value]).tolist()
    assert 0 <= code < RULE.number
    if not math.isfinite(value):
        assert code == RULE.number - 1
        return
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


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=20), st.floats())
def test_who_else_is_in_the_column_has_no_say(values, other):
    np.testing.assert_array_equal(RULE.codes([*values, other])[: len(values)], RULE.codes(values))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_it_is_the_same_below_nought(value):
    assert RULE.codes([-value])[0] - RULE.middle == RULE.middle - RULE.codes([value])[0]


def test_round_numbers_are_the_ends_of_bins():
    """A hundred per cent is no reason for a bound of 200."""
    for number in (1, 2, 5, 10, 100, 0.2, 500_000, 1e-6, 5e14):
        (code,) = RULE.codes([number])
        assert RULE.find_range(RULE.middle, code).upper in (number, 0.0)
        assert RULE.codes([np.nextafter(number, np.inf)])[0] == code + 1


def test_bins_are_numbered_in_the_order_of_numbers():
    edges = np.r_[-RULE.ends[::-1], 0.0, RULE.ends]
    codes = RULE.codes(edges)
    assert (np.diff(codes) >= 0).all() and codes[0] == 1 and codes[-1] == RULE.number - 3


def test_every_code_survives_the_lattice():
    every = np.arange(RULE.number)
    for columns in (1, 6, 300):
        points = code_rows(every, np.array(RULE.number), bits=count_row_bits(columns**0.5))
        np.testing.assert_array_equal(decode_bins(points, RULE.number), every)
    assert RULE.number <= MOST_BINS


def test_bins_of_either_sign_mirror_each_other():
    for far in (1, 2, 20):
        above, below = RULE.find_range(RULE.middle + far, RULE.middle + far), RULE.find_range(*[RULE.middle - far] * 2)
        assert below == (-above.upper, -above.lower) and above.lower > 0
