"""The picture of k on a synopsis: what its title says is in its numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dpviz.algorithms.synopsis_reading import SuggestedK
from dpviz.app.charts.studies.curves import draw_k_curve
from dpviz.words.theme import choose_palette
from tests.app.charts.laws import is_sound

LIGHT = choose_palette("light")
LOSSES = np.array([900.0, 400.0, 100.0, 90.0, 82.0, 75.0])
READ = SuggestedK(
    ks=np.arange(1, 7),
    losses=LOSSES,
    lows=0.9 * LOSSES,
    highs=1.1 * LOSSES,
    bends=np.array([0, 0.6, 4.1, 1.0, 0.9, 0.8]),
    suggested=3,
    agreeing=11,
    redraws=12,
)
READINGS = [READ, replace(READ, agreeing=4), replace(READ, suggested=None), replace(READ, lows=0 * LOSSES)]


@pytest.mark.parametrize("read", READINGS)
def test_the_title_and_the_figure_say_what_the_numbers_say(read):
    picture = draw_k_curve(read)
    assert len(picture.finding) <= 50
    place = int(read.bends.argmax()) + 1
    if read.suggested is None:
        assert "No number" in picture.finding and str(read.ks[-1]) in picture.finding
    else:
        assert f"k = {place}" in picture.finding
    assert ("unsurely" in picture.finding) == (read.suggested is not None and read.agreeing <= 6)
    assert f"{read.agreeing} of 12" in picture.words
    figure = picture.draw(LIGHT).headed(LIGHT)
    is_sound(figure)
    (line,) = [trace for trace in figure.data if trace.meta == "released"]
    assert line.line.color == LIGHT.released
    np.testing.assert_allclose(line.y, read.losses)
    lines = [shape.x0 for shape in figure.layout.shapes]
    assert lines == ([] if read.suggested is None else [read.suggested])


def test_the_longest_titles_fit():
    losses = np.geomspace(900, 75, 60)
    curves = {"losses": losses, "lows": losses, "highs": losses, "bends": np.ones(60)}
    many = replace(READ, ks=np.arange(1, 61), suggested=60, **curves)
    for change in ({}, {"suggested": None}, {"agreeing": 0}):
        assert len(draw_k_curve(replace(many, **change)).finding) <= 50


def test_the_table_is_the_curve_and_the_words_are_of_the_suggested_k():
    table = draw_k_curve(READ).table()
    np.testing.assert_array_equal(table["loss"], LOSSES)
    assert table.columns.tolist() == ["k", "loss", "low", "high", "bend"]
    assert "falls by 75 %" in READ.words and "from 2 to 3" in READ.words and "4.1 times" in READ.words
