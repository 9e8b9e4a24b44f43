"""The waterfall: bars that lead from one end to the other, and a title that names the largest."""

from __future__ import annotations

import numpy as np
import pytest

from dpviz.app.charts.studies.compare import draw_waterfall
from dpviz.runs.error_parts import ErrorParts, compute_error_parts
from dpviz.runs.evaluation import Reference
from dpviz.runs.study.study import Yardstick
from dpviz.words.theme import choose_palette
from tests.app.charts.gallery import subtitle_of
from tests.app.charts.laws import is_sound

LIGHT = choose_palette("light")


def against(kmeans: float, *, clipping: float) -> Yardstick:
    return Yardstick(3, Reference(np.zeros((3, 2)), kmeans, 1), 9.0, 9.0, clipping, clipping / 2)


def parts(kmeans: float = 2.0) -> ErrorParts:
    rows = [
        {"private": 3.0 + shift, "quiet": 2.5, "solved": 2.9 + shift, "quiet_solved": 2.4} for shift in (-0.1, 0.0, 0.2)
    ]
    return compute_error_parts(against(kmeans, clipping=0.1), rows)


def test_each_bar_begins_where_the_one_before_ends() -> None:
    names = ["k-means++", "quantise", "noise", "solver", "interaction", "private"]
    for kmeans in (2.0, 0.0):
        figure = draw_waterfall(parts(kmeans), "EUGkM (su, theta = 3.0)", 0.3).draw(LIGHT).headed(LIGHT)
        is_sound(figure)
        (bars,) = figure.data
        assert list(figure.layout.yaxis.ticktext) == names
        ends = [base + length for base, length in zip(bars.base, bars.x, strict=True)]
        assert list(bars.base[1:-1]) == pytest.approx(ends[:-2])
        assert ends[-2] == pytest.approx(ends[-1])


def test_it_names_the_largest_part() -> None:
    said = draw_waterfall(parts(), "EUGkM", 0.3).words
    assert "loses 50 % on top of k-means++, most of it to noise" in said
    assert "solver +5 %" in said and "interaction" in said
    found = draw_waterfall(parts(), "EUGkM", 0.3).table()
    bars = found.iloc[:-1]["loss per row"]
    assert bars.iloc[:-1].sum() == pytest.approx(bars.iloc[-1])


def test_clipping_stands_beside_the_bars_and_not_among_them() -> None:
    found = parts()
    figure = draw_waterfall(found, "EUGkM", 0.3).draw(LIGHT).headed(LIGHT)
    (bars,) = figure.data
    assert bars.x[-1] == pytest.approx(100 * (3.0 - 2.0) / 2.0)
    for words in (subtitle_of(figure), draw_waterfall(found, "x", 1).words):
        assert "lipping alone moves them by 0.1 a row" in words
    assert draw_waterfall(found, "EUGkM", 0.3).table()["loss per row"].iloc[-1] == 0.1
    rows = [{"private": 2.5, "quiet": 2.0, "solved": 2.5, "quiet_solved": 2.0}]
    inside = compute_error_parts(against(2.0, clipping=0.0), rows)
    assert "The bounds clip no row" in draw_waterfall(inside, "DPLloyd", 1).words


def test_nothing_lost_is_said() -> None:
    rows = [{"private": 2.0, "quiet": 2.0, "solved": float("nan"), "quiet_solved": float("nan")}]
    found = compute_error_parts(against(2.0, clipping=0.0), rows)
    assert "next to nothing" in draw_waterfall(found, "DPLloyd", 10.0).words
    is_sound(draw_waterfall(found, "DPLloyd", 10.0).draw(LIGHT).headed(LIGHT))
