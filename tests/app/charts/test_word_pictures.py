"""Small pictures of the glossary: each is asked for, says what it shows, and shows what it says."""

from __future__ import annotations

from math import e

import numpy as np
import pytest

from dpviz.app.charts.word_pictures import HEIGHT, PICTURES
from dpviz.words.glossary import read_glossary
from dpviz.words.theme import choose_palette

LIGHT = choose_palette("light")


def test_every_picture_is_in_the_glossary_and_every_one_of_the_glossary_is_here():
    assert {term.picture for term in read_glossary().values() if term.picture} == PICTURES.keys()


def test_each_is_small_and_shows_nothing_revealed():
    for place, (name, picture) in enumerate(PICTURES.items()):
        colors = choose_palette(("light", "dark")[place % 2])
        figure = picture.draw(colors).figure()
        assert figure.layout.height == HEIGHT and figure.data, name
        assert len(picture.alt.split()) >= 5, name
        assert colors.revealed not in figure.to_json(), name
        assert {trace.meta for trace in figure.data} <= {"public", "released"}, name


def test_the_odds_are_those_of_epsilon_one():
    shares = [float(trace.x[0]) for trace in PICTURES["odds"].draw(LIGHT).figure().data]
    assert shares == pytest.approx([0.5, e / (1 + e)])
    assert "73.1 %" in PICTURES["odds"].alt


def test_both_curves_of_laplace_noise_are_densities():
    for trace, scale in zip(PICTURES["laplace"].draw(LIGHT).figure().data, (1.0, 2.0), strict=True):
        inside = np.trapezoid(trace.y, trace.x)
        assert inside == pytest.approx(1 - np.exp(-6 / scale), abs=1e-3)
        assert max(trace.y) == pytest.approx(1 / (2 * scale))


def test_two_cells_are_below_zero():
    (cells,) = PICTURES["grid"].draw(LIGHT).figure().data
    assert (np.asarray(cells.z) < 0).sum() == 2 and np.size(cells.z) == 15


def test_weights_of_the_coreset_stand_for_nearly_all_points():
    points, discs = PICTURES["coreset"].draw(LIGHT).figure().data
    weights = ((np.asarray(discs.marker.size) - 3) / 2) ** 2
    assert len(weights) < 0.2 * len(points.x)
    assert 0.8 * len(points.x) < weights.sum() <= len(points.x)
