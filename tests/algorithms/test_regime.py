"""Forecasts in words: the digits tell a median from its tenth and both from 1, and the assumption is said."""

from __future__ import annotations

import doctest
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpviz.algorithms import regime
from dpviz.algorithms.auto.auto import expect_loss, load_stored_table
from dpviz.algorithms.card import Setting
from dpviz.algorithms.regime import Level, format_apart
from dpviz.algorithms.registry import find_card
from dpviz.runs.advice.judgement import judge
from tests.cases import for_each


def test_the_examples_hold() -> None:
    tried = doctest.testmod(regime)
    assert tried.attempted and not tried.failed


@given(st.floats(1.0, 500.0), st.floats(1.0, 500.0))
def test_what_differs_by_a_hundred_thousandth_reads_differently_and_not_as_one(first: float, second: float) -> None:
    one, other = format_apart(first, second)
    if abs(first - second) > 1e-5 * 1.01 and max(first, second) < 9:
        assert one != other
    for value, text in ((first, one), (second, other)):
        assert float(text) == pytest.approx(value, rel=0.006)
        if 1 + 1e-5 * 1.01 < value < 9:
            assert float(text) > 1


SETTINGS = [
    Setting(dim, k, epsilon, delta, n=n)
    for dim in (1, 2, 6, 20)
    for k in (2, 5, 20)
    for epsilon in (0.1, 1.0, 3.0)
    for delta in (0.0, 1e-6)
    for n in (500, 20_000, 1_000_000)
]


@pytest.mark.slow
def test_the_forecast_of_auto_says_the_numbers_it_was_fitted_to() -> None:
    card, close, apart = find_card("auto"), 0, 0
    for setting in SETTINGS:
        regime, numbers = judge(card, setting, card.params()), expect_loss(setting)
        said = re.search(r"(?:about (\S+) × the loss|within 1 %).*?may exceed (\S+) ×(.*)", regime.message)
        assert said is not None, regime.message
        median, tenth = (None if text is None else float(text.replace(",", "")) for text in said.groups()[:2])
        wide = re.search(r"like size, and (\S+) × if some are small", said.group(3))
        assert tenth is not None
        if wide is None:
            assert tenth == pytest.approx(max(numbers.wide, numbers.decile), rel=0.006)
            assert "whatever the sizes of clusters" in said.group(3)
        else:
            apart += 1
            assert tenth == pytest.approx(numbers.decile, rel=0.006)
            assert float(wide.group(1).replace(",", "")) == pytest.approx(numbers.wide, rel=0.006)
        if median is None:
            assert numbers.median <= 1.01
            close += numbers.decile < 1.005
        else:
            assert median == pytest.approx(numbers.median, rel=0.006)
        if numbers.decile > max(1.0, numbers.median) + 1e-4:
            assert tenth > max(1.0, median or 1.0)
        assert "by a study of generated tables" in regime.message
    assert close, "no forecast so near 1 that two digits would not do"
    assert apart, "no setting in which the answer hangs on what nobody knows"


@for_each("algorithm", ["dplloyd", "eugkm", "balcan", "lsh-coreset"])
def test_a_number_of_records_is_said_with_its_assumption(algorithm: str) -> None:
    card = find_card(algorithm)
    for n in (300, 3_000, 300_000):
        regime = judge(card, Setting(2, 5, 1.0, 1e-6, n=n), card.params())
        assert "if clusters are of like size" in regime.message or regime.level is Level.RED


def test_what_is_announced_rises_with_the_noise_and_with_what_is_not_known() -> None:
    for part, lines in load_stored_table().items():
        assert (np.diff(lines, axis=0) >= 0).all(), part
        assert (np.diff(lines[:, 1:], axis=1) >= 0).all() and (lines[:, 1] >= 1).all(), part
