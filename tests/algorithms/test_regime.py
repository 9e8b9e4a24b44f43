"""Forecasts in words: the digits tell a median from its tenth and both from 1, and the assumption is said."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.algorithms.auto.auto import expect_loss, load_stored_table
from dpviz.algorithms.card import Level, Setting, format_apart
from dpviz.algorithms.registry import find_card
from dpviz.runs.advice.judgement import Judgement


@given(st.floats(1.0, 500.0), st.floats(1.0, 500.0))
def test_what_differs_by_a_hundred_thousandth_reads_differently_and_not_as_one(first: float, second: float) -> None:
    one, other = format_apart(first, second)
    if abs(first - second) > 1e-5 * 1.01 and max(first, second) < 9:
        assert one != other
    for value, text in ((first, one), (second, other)):
        assert float(text) == pytest.approx(value, rel=0.006)
        if 1 + 1e-5 * 1.01 < value < 9:
            assert float(text) > 1


# Beyond, a loss is said to be beyond.
TOLD = 10.0


def test_light_groups_far_away_have_a_number_only_where_they_are_found() -> None:
    """None of the judging runs with a green light lost them; where there is no such light a number would be wrong."""
    card, found = find_card("auto"), set()
    for n in (1_000, 20_000, 100_000, 1_000_000):
        setting = Setting(6, 5, 1.0, 1e-6, n=n)
        numbers, judged = expect_loss(setting), Judgement.of(card, setting)
        missed = "far from all others may be missed, and how much is lost then cannot be told" in judged.message
        assert missed is (1.3 < numbers.wide < TOLD), judged.message
        assert not (missed and ("lie far apart" in judged.message or judged.level is Level.GREEN))
        found.add(missed)
    assert found == {False, True}


def test_what_is_announced_rises_with_the_noise_and_with_what_is_not_known() -> None:
    for part, lines in load_stored_table().items():
        assert (np.diff(lines, axis=0) >= 0).all(), part
        medians, tenths = lines[:, 1::2], lines[:, 2::2]
        assert (np.diff(medians, axis=1) >= 0).all() and (np.diff(tenths, axis=1) >= 0).all(), part
        assert (tenths >= medians).all() and (lines[:, 1] >= 1).all(), part
