"""The pictures of what ε means say what their numbers are."""

from __future__ import annotations

import doctest

import numpy as np
import pytest

from dpviz.app.charts import meaning
from dpviz.app.charts.deployments import UNITS, load_deployments
from dpviz.app.charts.meaning import (
    draw_deployments,
    draw_icon_array,
)
from dpviz.words.theme import choose_palette

LOOKS = [choose_palette("light"), choose_palette("dark")]


def test_doctests():
    tried = doctest.testmod(meaning)
    assert tried.attempted > 0 and tried.failed == 0


def test_a_hundred_people_stand_in_each_array_and_its_title_has_three_digits():
    for look, prior, epsilon in ((LOOKS[0], 0.5, 1.0), (LOOKS[1], 0.01, 0.1), (LOOKS[0], 0.99, 35.0)):
        heads = list(draw_icon_array(prior, epsilon).paint(look).figure().data[::2])
        people = [int(np.isnan(np.asarray(trace.x, dtype=float)).sum()) for trace in heads]
        left = [many for many, trace in zip(people, heads, strict=True) if np.nanmin(trace.x) < 10]
        right = [many for many, trace in zip(people, heads, strict=True) if np.nanmin(trace.x) > 10]
        assert sum(left) == sum(right) == 100
        assert left[0] == round(100 * prior)
    found = {epsilon: draw_icon_array(0.5, epsilon).finding.split()[-2] for epsilon in (0.1, 1, 2, 5)}
    assert found == {0.1: "52.5", 1: "73.1", 2: "88.1", 5: "99.3"}


@pytest.mark.parametrize("look", LOOKS, ids=["light", "dark"])
def test_every_deployment_is_a_dot_and_none_covers_another(look):
    strip = draw_deployments(load_deployments(), 1.0)
    figure = strip.paint(look).figure()
    dots = [(x, y) for trace in figure.data for x, y in zip(trace.x, trace.y, strict=True)]
    assert len(dots) == len(set(dots)) == len(load_deployments())
    assert len(figure.layout.yaxis.tickvals) == len({one.unit for one in load_deployments()} & set(UNITS))
    above = sum(one.epsilon > 1 for one in load_deployments())
    assert strip.finding.startswith(f"{above} of {len(load_deployments())} ")
