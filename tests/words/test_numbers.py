"""Released numbers to the digit of their noise: what is told is the number, within what stands behind the ±."""

from itertools import combinations
from math import exp

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dpviz.words.wording import NINE_IN_TEN, format_between, format_edges, format_noisy, format_number

VALUES = st.floats(-1e8, 1e8)
REACHES = st.floats(1e-6, 1e6)


def _read(text: str) -> float:
    return float(text.replace(",", "").replace("−", "-"))


@given(VALUES, REACHES)
def test_a_number_is_told_to_the_digit_of_its_noise(value: float, reach: float) -> None:
    told, behind = map(_read, format_noisy(value, reach).split(" ± "))
    assert abs(behind - reach) <= 0.051 * reach and abs(told - value) <= 0.06 * reach


@given(VALUES, REACHES, REACHES)
def test_an_interval_keeps_its_ends_apart(value: float, below: float, above: float) -> None:
    told, ends = format_between(value - below, value + above, value).rstrip(")").split(" (")
    low, high = map(_read, ends.split(" to "))
    assert low < _read(told) < high


@given(VALUES, REACHES, st.integers(-3, 3))
def test_a_number_has_no_digit_that_its_grid_has_not(value: float, reach: float, digits: int) -> None:
    step, bounds = 10.0**-digits, (value - reach / 2, value + reach / 2)
    for told in (format_noisy(value, reach, step=step), format_noisy(value, reach, step=step, within=bounds)):
        assert len(told.split()[0].partition(".")[2]) <= max(digits, 0)
    assert format_between(*bounds, value, step=step).split()[0] == format_noisy(value, reach / 2, step=step).split()[0]


@given(st.lists(st.floats(0.01, 1e3), min_size=2, max_size=20), st.floats(-1e3, 1e3))
def test_an_edge_of_bins_is_written_in_one_way_whatever_interval_it_ends(widths: list[float], first: float) -> None:
    edges = [first, *(first + np.cumsum(widths)).tolist()]
    told = format_edges(edges)
    assert [*map(_read, told)] == sorted({*map(_read, told)}), "edges keep apart"
    for (low, high), ends in zip(combinations(edges, 2), combinations(told, 2), strict=True):
        assert format_between(low, high, edges=edges) == " to ".join(ends)
        value, between = format_between(low, high, (low + high) / 2, edges=edges)[:-1].split(" (")
        assert between == " to ".join(ends) and _read(ends[0]) <= _read(value) <= _read(ends[1])


def test_what_is_rounded_behind_a_plus_minus_still_holds_nine_in_ten() -> None:
    """Of Laplace noise, of sums of it and of Gaussian noise; two digits round by a twentieth at most."""
    rng, least = np.random.default_rng(0), NINE_IN_TEN * 0.951
    assert 1 - exp(-least * np.sqrt(2)) > 0.9
    for draws in (1, 2, 5, 40):
        sums = rng.laplace(0, 1, (200_000, draws)).sum(axis=1)
        assert np.mean(np.abs(sums) <= least * np.sqrt(2 * draws)) > 0.9


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=1e-12, max_value=1e15))
@example(99.7)
def test_a_number_keeps_three_digits(value: float) -> None:
    shown = format_number(value)
    assert float(shown.replace(",", "").replace("−", "-")) == pytest.approx(float(f"{value:.2e}"), rel=1e-9)
    assert format_number(-value) == "−" + shown
