"""Magnitudes: round bins of either sign, each cell by itself, and the ranges that are read off them."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dpviz.core.lattice import count_row_bits
from dpviz.core.segment_counts import decode_bins
from dpviz.tables.coded_rows import MOST_BINS, code_rows
from dpviz.tables.magnitudes import Magnitudes

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
